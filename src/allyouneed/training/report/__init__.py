"""The documents that a run writes for people: the report page and the model card."""

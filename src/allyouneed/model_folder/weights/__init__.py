"""A model's weights by name: the file they are kept in, their shapes, as arrays and as a model."""

"""A model on disk: the folder, its `config.json` and its weights."""

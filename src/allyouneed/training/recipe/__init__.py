"""Recipes: the keys that a TOML file may have, and how the file is read."""

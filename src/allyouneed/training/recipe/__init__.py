"""Recipes: what a TOML file may say, and how it is read."""

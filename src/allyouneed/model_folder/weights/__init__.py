"""Weights by name: the file that stores them, their shapes, and how to read them with or without
torch."""

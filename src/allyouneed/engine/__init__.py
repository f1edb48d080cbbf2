"""Runtimes of a trained model: the fast roads, chosen by name."""

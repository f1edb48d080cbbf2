"""Texts in, translations out: the translator and its results."""

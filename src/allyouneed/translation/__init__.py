"""Texts in, translations out: the translator and what it gives back."""

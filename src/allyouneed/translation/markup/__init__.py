"""Markup carried around a model: taken out of a text, put back on its translation."""

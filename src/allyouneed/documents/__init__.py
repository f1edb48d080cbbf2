"""Readers and writers of document formats: a file in, the same file in another language out."""

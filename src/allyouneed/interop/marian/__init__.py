"""Marian's own files, read and written: models as Firefox and OPUS-MT's zips have them."""

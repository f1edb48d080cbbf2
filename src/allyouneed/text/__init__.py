"""Tokenizers: text to ids, and ids back to text. Also sentence ends, languages and normalisers."""

"""Noise: pairs as people type them, made from pairs as corpora have them."""

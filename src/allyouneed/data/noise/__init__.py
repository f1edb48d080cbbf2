"""Noise: turns clean pairs of a corpus into pairs as people type them."""

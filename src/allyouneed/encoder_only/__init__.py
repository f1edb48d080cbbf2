"""Models without a decoder: texts in; labels, tags, masked words, vectors out."""

"""Models without a decoder: they give labels, tags, masked words and vectors of texts."""

"""Search over any model that speaks the decoding protocol, and scores of what was found."""

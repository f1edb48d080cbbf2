"""Word alignments of sentence pairs, learnt from the pairs themselves."""

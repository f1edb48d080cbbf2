"""Scores of translations (section 6.1), such as BLEU and chrF, and of alignments and tags."""

"""Text in, ids out, and back again without losing a byte."""

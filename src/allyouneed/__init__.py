"""The Transformer of "Attention Is All You Need", and all you need around it."""

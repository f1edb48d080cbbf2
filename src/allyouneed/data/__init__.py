"""Parallel text: reading, filtering, the token store, batches. Import from the submodules."""

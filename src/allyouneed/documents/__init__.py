"""Files that people have, and the same files with their text translated."""

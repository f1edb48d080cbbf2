"""The command line: one verb per file. Results go to standard output, all else to the other."""

"""Models of other projects become ours, and ours theirs."""

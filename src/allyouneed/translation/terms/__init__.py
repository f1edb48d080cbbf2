"""Terms, the words whose translation a user prescribes: reading, finding, spelling, reporting."""

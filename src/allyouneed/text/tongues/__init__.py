"""The words of each language that the rules for texts look for."""

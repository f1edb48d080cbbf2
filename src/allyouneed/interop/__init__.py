"""Imports models of other toolkits and exports ours to them."""

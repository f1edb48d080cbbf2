"""The live view: what Python answers to the page, the notebook and the saved file."""

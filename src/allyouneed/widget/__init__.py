"""The live view: the Python side of the page, the notebook widget and the saved file."""

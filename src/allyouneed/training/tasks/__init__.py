"""What can be learnt: a file for each task, and `table.py`, where a recipe's `task` is looked up.

A task says what its data are, what a batch of them is, what is minimised, how held-out data measure
a model, and what is written into the model folder. Everything else about a run is the same for all.
"""

"""What can be learnt: a file for each task, and `table.py`, where a recipe's `task` is looked up.

A task defines its data, its batches, its training loss, how held-out data measure a model, and the
content of the model folder. Everything else about a run is the same for all tasks.
"""

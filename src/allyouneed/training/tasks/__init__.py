"""The tasks that can be trained, one file each. `table.py` maps a recipe's `task` to its class.

A task defines its data, its batches, its training loss, how held-out data measure a model, and the
content of the model folder. Everything else about a run is the same for all tasks.
"""

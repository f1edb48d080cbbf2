"""The parts of `train.py`: the work, the trainers, the measuring and the report."""

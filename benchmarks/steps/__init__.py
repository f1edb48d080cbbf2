"""The parts of `train.py`: what is trained on, by whom, how it is measured and told."""

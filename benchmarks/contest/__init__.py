"""The parts of `decode.py`: what is decoded, by whom, how it is measured and told."""

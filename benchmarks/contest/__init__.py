"""The parts of `decode.py`: the cells, the engines, the measuring and the report."""

"""The parts of benchmarks/serve.py."""

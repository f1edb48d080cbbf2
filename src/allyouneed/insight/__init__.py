"""Looking inside a model: its attention and states, and the effects of changing its parts.

Everything here works by probes and hooks, which are removed after use.
"""

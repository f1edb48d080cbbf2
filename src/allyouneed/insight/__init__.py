"""Looking inside a model: what it computes, what changes when a part of it is changed, and why.

Everything here listens through probes and hooks that are there only while they are asked for.
"""

"""The Transformer of "Attention Is All You Need" (Vaswani et al. 2017, section 3) in its own words.

Axes are named in every tensor's name: B batch, S source length, T target length, D d_model,
H heads, K head width, F d_ff, V vocabulary, N hypotheses of a sentence, R = B·N rows.
"""

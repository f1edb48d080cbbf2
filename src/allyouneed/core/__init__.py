"""The Transformer of "Attention Is All You Need" (Vaswani et al. 2017, section 3).

Files, classes and arguments have the paper's names:

    attention, residual, feed_forward, positions, embeddings   the parts of a layer
    masks                                                      the causal and the padding mask
    encoder, decoder, transformer                              the stacks and the whole model
    cache                                                      what decoding keeps between steps
    encoder_only, heads                                        an encoder without a decoder (BERT)
    config                                                     sizes and choices of a model

The end of a tensor's name lists its axes: B batch, S source length, T target length, D d_model,
H heads, K head width, F d_ff, V vocabulary, N hypotheses of a sentence, R = B·N rows.
`q_BHTK` is batch × heads × target length × head width.
"""

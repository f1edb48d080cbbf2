"""Where every weight begins, of which the paper says nothing."""

from torch import nn

from allyouneed.core.attention import MultiHeadAttention


def initialise(model: nn.Module) -> None:
    """Glorot & Bengio (2010) uniform for projections, zero biases, norms at one, embeddings
    N(0, 1/d_model), so that √d_model times them has unit variance (section 3.4).

    W_Q, W_K and W_V begin as one matrix that gives all three, so 1/√2 as large as by themselves
    (Nguyen & Salazar 2019 have 0.9 of that): a model whose attention begins nearer to even learns
    sooner, most of all with the paper's post-norm.
    """
    for module in model.modules():
        if isinstance(module, nn.Linear):
            nn.init.xavier_uniform_(module.weight)
            if module.bias is not None:
                nn.init.zeros_(module.bias)
    for module in model.modules():
        if isinstance(module, MultiHeadAttention):
            for projection in (module.W_Q, module.W_K, module.W_V):
                nn.init.xavier_uniform_(projection.weight, gain=0.5**0.5)
    for module in model.modules():  # after the projections: the output may share this matrix
        if isinstance(module, nn.Embedding):
            nn.init.normal_(module.weight, std=module.embedding_dim**-0.5)

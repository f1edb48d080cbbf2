"""Where every weight begins; the paper is silent, so this is what its authors' code does."""

from torch import nn


def initialise(model: nn.Module) -> None:
    """Glorot & Bengio (2010) uniform for projections, zero biases, norms at one, embeddings
    N(0, 1/d_model), so that √d_model times them has unit variance (section 3.4)."""
    for module in model.modules():
        if isinstance(module, nn.Linear):
            nn.init.xavier_uniform_(module.weight)
            if module.bias is not None:
                nn.init.zeros_(module.bias)
    for module in model.modules():  # after the projections: the output may share this matrix
        if isinstance(module, nn.Embedding):
            nn.init.normal_(module.weight, std=module.embedding_dim**-0.5)

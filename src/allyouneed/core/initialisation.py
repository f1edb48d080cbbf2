"""Initial weights. The paper does not give them; these are the ones of its authors' code."""

from torch import nn


def initialise(model: nn.Module) -> None:
    """Draws the initial weights of `model`, in place.

    Projections: uniform after Glorot & Bengio (2010), biases zero. Embeddings: normal with
    variance 1/d_model, so that embeddings times √d_model (section 3.4) have variance 1. Layer
    norms keep PyTorch's scale of one.
    """
    for module in model.modules():
        if isinstance(module, nn.Linear):
            nn.init.xavier_uniform_(module.weight)
            if module.bias is not None:
                nn.init.zeros_(module.bias)
    for module in model.modules():  # embeddings last: the output projection may share their matrix
        if isinstance(module, nn.Embedding):
            nn.init.normal_(module.weight, std=module.embedding_dim**-0.5)

"""What stands on an encoder without a decoder (Devlin et al. 2019, sections 3.1, 4 and 5): heads
that turn its states into masked words, next sentences, labels of texts and tags of tokens.

B batch · S length · D d_model · V vocabulary · L labels · X any axes
"""

from torch import Tensor, nn

from allyouneed.core.dropout import Dropout


class MaskedWordHead(nn.Module):
    """Which word a mask hides: softmax(E · norm(activation(x W)) + b) (Devlin et al. 2019, 3.1).

    E is the matrix of the token embeddings, the very same one; b is its own.
    """

    def __init__(self, tokens: nn.Embedding, activation: nn.Module, norm: nn.Module) -> None:
        super().__init__()
        self.W = nn.Linear(tokens.embedding_dim, tokens.embedding_dim)
        self.activation = activation
        self.norm = norm
        self.output = nn.Linear(tokens.embedding_dim, tokens.num_embeddings)
        self.output.weight = tokens.weight

    def forward(self, states_XD: Tensor) -> Tensor:
        """States XD, of the masked positions or of all, → logits XV."""
        return self.output(self.norm(self.activation(self.W(states_XD))))


class Pooler(nn.Module):
    """tanh(C W + b), where C is the state of the first token, [CLS]: a vector for the whole text.

    It is learned with next sentences (Devlin et al. 2019, 3.1), and starts fine-tuning from there.
    """

    def __init__(self, d_model: int) -> None:
        super().__init__()
        self.W = nn.Linear(d_model, d_model)

    def forward(self, states_BSD: Tensor) -> Tensor:
        """States BSD of texts that begin at position 0 → BD."""
        return self.W(states_BSD[:, 0]).tanh()


class ClassificationHead(nn.Module):
    """One label for a text or a pair of texts: softmax(pooled W) (Devlin et al. 2019, 4.1).

    Without a `pooler` it looks at the state of the first token itself.
    """

    def __init__(
        self, d_model: int, labels: int, pooler: Pooler | None = None, dropout: float = 0.0
    ) -> None:
        super().__init__()
        self.pooler = pooler
        self.dropout = Dropout(dropout)
        self.W = nn.Linear(d_model, labels)

    def forward(self, states_BSD: Tensor) -> Tensor:
        """States BSD of texts that begin at position 0 → logits BL."""
        first_BD = states_BSD[:, 0] if self.pooler is None else self.pooler(states_BSD)
        return self.W(self.dropout(first_BD))


class NextSentenceHead(ClassificationHead):
    """Whether the second segment follows the first in its book (logit 0) or comes from elsewhere
    (logit 1), task 2 of Devlin et al. 2019, 3.1."""

    FOLLOWS, ELSEWHERE = 0, 1

    def __init__(self, d_model: int, pooler: Pooler | None = None) -> None:
        super().__init__(d_model, 2, pooler)


class TaggingHead(nn.Module):
    """A label for each token: softmax(x W) (Devlin et al. 2019, 5.3)."""

    def __init__(self, d_model: int, tags: int, dropout: float = 0.0) -> None:
        super().__init__()
        self.dropout = Dropout(dropout)
        self.W = nn.Linear(d_model, tags)

    def forward(self, states_XD: Tensor) -> Tensor:
        """States XD → logits XL."""
        return self.W(self.dropout(states_XD))

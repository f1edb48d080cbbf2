"""Output heads of an encoder without a decoder (Devlin et al. 2019, sections 3.1, 4 and 5).

A head turns the encoder's states into logits: of masked words, of the next sentence, of labels of
texts or of tags of tokens.

B batch · S length · D d_model · V vocabulary · L labels · X any axes
"""

from torch import Tensor, nn

from allyouneed.core.dropout import Dropout


class MaskedWordHead(nn.Module):
    """Logits of the word that a mask hides: E · norm(activation(x W)) + b.

    This is task 1 of Devlin et al. 2019, section 3.1. E is the matrix of the token embeddings,
    shared with the encoder. The bias b is not shared.
    """

    def __init__(self, tokens: nn.Embedding, activation: nn.Module, norm: nn.Module) -> None:
        super().__init__()
        self.W = nn.Linear(tokens.embedding_dim, tokens.embedding_dim)
        self.activation = activation
        self.norm = norm
        self.output = nn.Linear(tokens.embedding_dim, tokens.num_embeddings)
        self.output.weight = tokens.weight

    def forward(self, states_XD: Tensor) -> Tensor:
        """States XD of any positions, usually the masked ones, → logits XV."""
        return self.output(self.norm(self.activation(self.W(states_XD))))


class Pooler(nn.Module):
    """A vector for the whole text: tanh(C W + b), where C is the state of [CLS], the first token.

    Pre-training learns W and b on the next-sentence task (Devlin et al. 2019, 3.1); fine-tuning
    starts from them.
    """

    def __init__(self, d_model: int) -> None:
        super().__init__()
        self.W = nn.Linear(d_model, d_model)

    def forward(self, states_BSD: Tensor) -> Tensor:
        """States BSD → vectors BD. Texts begin at position 0."""
        return self.W(states_BSD[:, 0]).tanh()


class ClassificationHead(nn.Module):
    """Logits of the label of a text or of a pair of texts: pooled W (Devlin et al. 2019, 4.1).

    Without a `pooler`, the state of the first token takes the place of the pooled vector.
    """

    def __init__(
        self, d_model: int, labels: int, pooler: Pooler | None = None, dropout: float = 0.0
    ) -> None:
        super().__init__()
        self.pooler = pooler
        self.dropout = Dropout(dropout)
        self.W = nn.Linear(d_model, labels)

    def forward(self, states_BSD: Tensor) -> Tensor:
        """States BSD → logits BL. Texts begin at position 0."""
        first_BD = states_BSD[:, 0] if self.pooler is None else self.pooler(states_BSD)
        return self.W(self.dropout(first_BD))


class NextSentenceHead(ClassificationHead):
    """Two logits: the second segment follows the first (0), or comes from elsewhere (1).

    This is task 2 of Devlin et al. 2019, section 3.1.
    """

    FOLLOWS, ELSEWHERE = 0, 1

    def __init__(self, d_model: int, pooler: Pooler | None = None) -> None:
        super().__init__(d_model, 2, pooler)


class TaggingHead(nn.Module):
    """Logits of a tag for each token: x W (Devlin et al. 2019, 5.3)."""

    def __init__(self, d_model: int, tags: int, dropout: float = 0.0) -> None:
        super().__init__()
        self.dropout = Dropout(dropout)
        self.W = nn.Linear(d_model, tags)

    def forward(self, states_XD: Tensor) -> Tensor:
        """States XD → logits XL."""
        return self.W(self.dropout(states_XD))

"""Explains each token that a model wrote by its alternatives and the source words attended to.

H heads · T target tokens · S source tokens
"""

import math
from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import torch

from allyouneed.decoding.scoring import teacher_input
from allyouneed.insight.capture import capture
from allyouneed.insight.tokens import LikelyToken, Token, best_tokens, tokens_of
from allyouneed.translation.translator import Translator


@dataclass(frozen=True, slots=True)
class Look:
    """A word of the source and its share of the attention, from 0 to 1."""

    word: str
    share: float


@dataclass(frozen=True, slots=True)
class Reason:
    """One token of the text: its log-probability, the most probable tokens at its position, and the
    source's words with the most cross-attention, as the mean of heads and layers."""

    token: Token
    log_probability: float
    alternatives: tuple[LikelyToken, ...]
    looks: tuple[Look, ...]

    @property
    def probability(self) -> float:
        """The probability of the token, from 0 to 1."""
        return math.exp(self.log_probability)

    def to_dict(self) -> dict[str, Any]:
        """All fields by name, with values that JSON can hold."""
        return asdict(self)


@torch.no_grad()
def reasons(
    translator: Translator,
    source_ids: Sequence[int],
    target_ids: Sequence[int],
    alternatives: int = 3,
    words: int = 3,
    leave_out: Collection[str] = (),
) -> tuple[Reason, ...]:
    """The reason for each token of a finished target, found by teacher-forcing the core model.

    Probabilities are over the model's whole vocabulary. The share of a word is the sum of its
    tokens' shares. The end token and the words to `leave_out` are not listed.

    Raises:
        ShapeError: the source or target is longer than the model's positions.
    """
    model, tokenizer = translator.model, translator.tokenizer
    source_BS = torch.tensor([source_ids], device=translator.device)
    target_BT = torch.tensor([target_ids], device=translator.device)
    with capture(model) as tape:
        logits_BTV = model(source_BS, teacher_input(model, source_BS, target_BT))
    log_p_TV = logits_BTV[0].float().log_softmax(dim=-1)
    layers = [tape[name][0].mean(dim=0) for name in tape if name.endswith(".cross_attention")]
    weights_TS = torch.stack(layers).mean(dim=0).cpu()
    said_T = log_p_TV.gather(1, target_BT[0, :, None]).squeeze(1).tolist()
    source = tokens_of(tokenizer, source_ids)
    text = tokenizer.decode(source_ids).split()
    return tuple(
        Reason(token, log_p, best, _looks(text, source, shares, leave_out)[:words])
        for token, log_p, best, shares in zip(
            tokens_of(tokenizer.target, target_ids),
            said_T,
            best_tokens(tokenizer.target, log_p_TV, alternatives),
            weights_TS.tolist(),
            strict=True,
        )
    )


def _looks(
    text: Sequence[str],
    source: Sequence[Token],
    shares: Sequence[float],
    leave_out: Collection[str],
) -> tuple[Look, ...]:
    """The words with their shares, the largest share first."""
    of_word = [0.0] * len(text)
    for token, share in zip(source, shares, strict=True):
        if token.word >= 0:
            of_word[token.word] += share
    looks = [Look(*pair) for pair in zip(text, of_word, strict=True) if pair[0] not in leave_out]
    return tuple(sorted(looks, key=lambda look: -look.share))

"""Which source word a target word comes from, read off the decoder's cross-attention.

B batch · S source length · T target length · H heads
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from allyouneed.core.attention import MultiHeadAttention, Site
from allyouneed.core.transformer import Transformer
from allyouneed.decoding.scoring import teacher_input
from allyouneed.errors import UsageError


@torch.inference_mode()
def cross_attention_map(
    model: Transformer, source_BS: Tensor, target_BT: Tensor, layer: int = -1
) -> Tensor:
    """How much each target token looks at each source token, BTS: one decoder layer's
    cross-attention, the mean of its heads, captured while the target is teacher-forced.

    Row t is the attention of the step that produced target token t. `layer` counts from 0, or
    from the last with negative numbers.

    Raises:
        UsageError: a layer that the decoder does not have.
        ShapeError: source and target that are not BS and BT with the same B.
    """
    layers = model.decoder.layers
    if not -len(layers) <= layer < len(layers):
        raise UsageError(f"layer {layer}: the decoder has layers 0 … {len(layers) - 1}")
    attention = layers[layer].cross_attention
    assert isinstance(attention, MultiHeadAttention)
    seen: list[Tensor] = []

    def watch(weights_BHTS: Tensor, site: Site) -> Tensor:
        seen.append(weights_BHTS.mean(dim=1))
        return weights_BHTS

    attention.probes.append(watch)
    try:
        model(source_BS, teacher_input(model, source_BS, target_BT))
    finally:
        attention.probes.remove(watch)
    return seen[0]


def word_groups(text: str, spans: Sequence[tuple[int, int]]) -> list[int | None]:
    """Which word (separated by white space, counted from 0) each token belongs to.

    `spans` are the tokens' character offsets into the text. A token over several words belongs to
    the first; one that holds no letter of a word (the end, white space alone) to none.
    """
    words = -1
    word_at: list[int | None] = []
    for before, character in zip(" " + text, text, strict=False):
        words += before.isspace() and not character.isspace()
        word_at.append(None if character.isspace() else words)
    covered = ([w for w in word_at[start:stop] if w is not None] for start, stop in spans)
    return [words_here[0] if words_here else None for words_here in covered]


def pharaoh(
    attention_TS: Tensor,
    source_groups: Sequence[int | None],
    target_groups: Sequence[int | None],
) -> str:
    """Alignment in Pharaoh format, "0-0 1-2": pairs of source word and target word, from 0.

    The groups name each token's word; None leaves a token out. Each target word gets the source
    word that its tokens look at most.
    """
    weights: dict[int, dict[int, float]] = {}
    for row, target in zip(attention_TS.tolist(), target_groups, strict=False):
        for weight, source in zip(row, source_groups, strict=False):
            if target is not None and source is not None:
                words = weights.setdefault(target, {})
                words[source] = words.get(source, 0.0) + weight
    pairs = sorted((max(words, key=words.__getitem__), t) for t, words in weights.items())
    return " ".join(f"{source}-{target}" for source, target in pairs)

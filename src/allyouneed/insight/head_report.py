"""A report on every head of a model over a corpus: where it looks, and its effect if switched off.

B batch · H heads · T target length · S source length
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from allyouneed.core.transformer import Transformer
from allyouneed.decoding.links import Alignment, word_alignment
from allyouneed.decoding.options import BeamOptions
from allyouneed.engine.torch_engine import core_engine
from allyouneed.errors import UsageError
from allyouneed.evaluation.alignment_error import GoldAlignment, alignment_error_rate
from allyouneed.evaluation.metrics import bleu
from allyouneed.insight.capture import capture
from allyouneed.insight.head_measures import MEASURES, Columns, HeadSums, rarity
from allyouneed.insight.intervene import intervene
from allyouneed.insight.names import attentions, check_name, heads, split_head
from allyouneed.insight.pairs import Pairs, Progress, no_progress
from allyouneed.translation.teacher_forcing import token_scores
from allyouneed.translation.translator import Translator

ALIGNMENT_ERROR, LOSS_CHANGE, BLEU_CHANGE = "alignment_error", "loss_change", "bleu_change"
ALL_MEASURES: Mapping[str, str] = {
    **MEASURES,
    ALIGNMENT_ERROR: "alignment error rate of a cross-attention head against the gold alignments",
    LOSS_CHANGE: "how the loss changes without the head, in nats per target token",
    BLEU_CHANGE: "how greedy search's BLEU changes without the head",
}
KINDS = ("encoder", "decoder", "cross")


@dataclass(frozen=True, slots=True)
class HeadEntry:
    """One head: its name, such as `decoder.layers.3.cross_attention[5]`; its kind, one of `KINDS`;
    its layer and number, from 0; and its measures, by the names of `ALL_MEASURES`."""

    name: str
    kind: str
    layer: int
    head: int
    measures: Mapping[str, float]

    def to_dict(self) -> dict[str, Any]:
        """All fields, with values that JSON can hold."""
        place = {"head": self.name, "kind": self.kind, "layer": self.layer, "number": self.head}
        return {**place, **self.measures}


@dataclass(frozen=True, slots=True)
class HeadReport:
    """The measures of every head of a model, over `sentences` pairs with `target_tokens` tokens
    (end tokens are counted).

    `loss`, in nats per target token, and `bleu` are those of the whole model; None if `importance`
    was not asked for.
    """

    heads: tuple[HeadEntry, ...]
    sentences: int
    target_tokens: int
    loss: float | None = None
    bleu: float | None = None

    def measured(self) -> list[str]:
        """The names of the measures that some head has, in the order of `ALL_MEASURES`."""
        there = {name for head in self.heads for name in head.measures}
        return [name for name in ALL_MEASURES if name in there]

    def grid(self, measure: str, kind: str) -> Tensor:
        """One measure of one kind of attention, layers × heads, with NaN for a missing value.

        Raises:
            UsageError: the report lacks this measure or kind.
        """
        check_name(measure, self.measured(), "in this report")
        check_name(kind, KINDS, "among the kinds of attention")
        here = [head for head in self.heads if head.kind == kind]
        layers = max((head.layer + 1 for head in here), default=0)
        values = torch.full((layers, max((head.head + 1 for head in here), default=0)), math.nan)
        for head in here:
            values[head.layer, head.head] = head.measures.get(measure, math.nan)
        return values

    def grids(self) -> dict[str, dict[str, Tensor]]:
        """Every measure of every kind of attention, as `figures.head_grid` draws them."""
        return {name: {kind: self.grid(name, kind) for kind in KINDS} for name in self.measured()}

    def to_dict(self) -> dict[str, Any]:
        """All fields, with values that JSON can hold."""
        return {
            "sentences": self.sentences,
            "target_tokens": self.target_tokens,
            "loss": self.loss,
            "bleu": self.bleu,
            "heads": [head.to_dict() for head in self.heads],
        }


def head_report(
    translator: Translator,
    sources: Sequence[str],
    targets: Sequence[str],
    *,
    gold: Sequence[str] | None = None,
    importance: bool = False,
    progress: Progress = no_progress,
) -> HeadReport:
    """Measures every head of the translator's core model over pairs of sentences.

    `MEASURES` are always computed. `gold` holds a line of Pharaoh links for each pair ("0-0" sure,
    "1?2" possible, words counted from 0); each head of cross-attention is then read as a word
    alignment, and its error rate is computed (Och & Ney 2003). `importance` switches off each head
    in turn and measures the change of loss and BLEU (Michel et al. 2019). This needs a pass over
    the corpus, and a greedy translation of it, for each head.

    Raises:
        UsageError: there are no pairs, or not one target or gold alignment for each source.
        DataError: a pair does not fit into the model, or a gold link names a word that does not
            exist; the message names the pair's number.
    """
    pairs = Pairs.of(translator, sources, targets)
    wanted = None if gold is None else _gold(pairs, gold)
    model = translator.model
    measured = _measured(model, pairs, progress)
    if wanted is not None:
        crossing = [name for name in heads(model) if "cross_attention" in name]
        lines = _aligned(model, pairs, crossing, progress)
        for name, found in zip(crossing, zip(*lines, strict=True), strict=True):
            measured[name][ALIGNMENT_ERROR] = alignment_error_rate(found, wanted)
    loss = score = None
    if importance:
        loss, score = _importance(model, pairs, measured, progress)
    entries = tuple(_entry(name, values) for name, values in measured.items())
    return HeadReport(entries, len(pairs.sources), pairs.target_tokens, loss, score)


def head_alignments(
    translator: Translator, sources: Sequence[str], targets: Sequence[str], head: str
) -> list[Alignment]:
    """The word alignment of each pair by one head of cross-attention. Each target word is aligned
    with the source word that gets the largest weight from its tokens.

    Raises:
        UsageError: the name is not a head of cross-attention, or the texts are not pairs.
        DataError: a pair does not fit into the model; the message names its number.
    """
    known = [name for name in heads(translator.model) if "cross_attention" in name]
    check_name(head, known, "among the heads of cross-attention")
    pairs = Pairs.of(translator, sources, targets)
    return [line for (line,) in _aligned(translator.model, pairs, [head], no_progress)]


def _measured(model: Transformer, pairs: Pairs, progress: Progress) -> dict[str, dict[str, float]]:
    """`MEASURES` of every head, by its name."""
    config = model.config
    sums = {name: HeadSums(config, _kind(name) == "decoder") for name in attentions(model)}
    source_rarity_V, target_rarity_V = (
        rarity(config, Counter(id for ids in side for id in ids))
        for side in (pairs.sources, pairs.targets)
    )
    for chosen in pairs.batches(progress, "attention"):
        with capture(model, names=list(sums)) as tape:
            source_BS, input_BT = pairs.force(model, chosen)
        source = _columns(source_BS, [len(pairs.sources[n]) for n in chosen], source_rarity_V)
        target = _columns(input_BT, [len(pairs.targets[n]) for n in chosen], target_rarity_V)
        looking = {
            "encoder": (source, source),
            "decoder": (target, target),
            "cross": (target, source),
        }
        for name, one in sums.items():
            rows, columns = looking[_kind(name)]
            one.add(tape[name], rows.real_BS, columns)
    means = {name: one.means() for name, one in sums.items()}
    return {
        f"{name}[{head}]": {
            measure: values[head]
            for measure, values in means[name].items()
            if math.isfinite(values[head])
        }
        for name, part in attentions(model).items()
        for head in range(part.heads)
    }


def _columns(ids_BS: Tensor, lengths: Sequence[int], rarity_V: Tensor) -> Columns:
    places_S = torch.arange(ids_BS.size(1), device=ids_BS.device)
    real_BS = places_S < torch.tensor(lengths, device=ids_BS.device)[:, None]
    return Columns(ids_BS, real_BS, rarity_V.to(ids_BS.device)[ids_BS])


def _gold(pairs: Pairs, lines: Sequence[str]) -> list[GoldAlignment]:
    """The gold alignments, checked against the words of each pair."""
    if len(lines) != len(pairs.sources):
        raise UsageError(f"{len(lines):,} gold alignments for {len(pairs.sources):,} pairs")
    found = [GoldAlignment.of(line, f"gold alignment {n}") for n, line in enumerate(lines, 1)]
    for number, one in enumerate(found):
        source, target = (max(numbers, default=-1) + 1 for numbers in pairs.words(number))
        one.check(source, target, f"gold alignment {number + 1}")
    return found


def _aligned(
    model: Transformer, pairs: Pairs, names: Sequence[str], progress: Progress
) -> list[list[Alignment]]:
    """For each pair the alignments of the named heads."""
    found: dict[int, list[Alignment]] = {}
    for chosen in pairs.batches(progress, "alignments"):
        with capture(model, names=sorted({split_head(name)[0] for name in names})) as tape:
            pairs.force(model, chosen)
        looks = [tape[name] for name in names]
        for row, number in enumerate(chosen):
            words = pairs.words(number)
            found[number] = [word_alignment(weights_BTS[row], *words) for weights_BTS in looks]
    return [found[number] for number in range(len(pairs.sources))]


def _importance(
    model: Transformer,
    pairs: Pairs,
    measured: Mapping[str, dict[str, float]],
    progress: Progress,
) -> tuple[float, float]:
    """Loss and BLEU of the whole model. Writes their changes without each head to `measured`."""
    loss, score = _loss(model, pairs), _bleu(model, pairs)
    for done, (name, values) in enumerate(measured.items()):
        progress("heads off", done, len(measured))
        with intervene(model, switch_off=[name]):
            values[LOSS_CHANGE] = _loss(model, pairs) - loss
            values[BLEU_CHANGE] = _bleu(model, pairs) - score
    progress("heads off", len(measured), len(measured))
    return loss, score


def _loss(model: Transformer, pairs: Pairs) -> float:
    scores = token_scores(model, pairs.sources, pairs.targets)
    return -math.fsum(score for one in scores for score in one) / pairs.target_tokens


def _bleu(model: Transformer, pairs: Pairs) -> float:
    found = core_engine(model).search(pairs.sources, BeamOptions(beam=1))
    texts = [pairs.tokenizer.target.decode(hypotheses[0].ids).strip() for hypotheses in found]
    return bleu(texts, pairs.references, resamples=0).score


def _kind(name: str) -> str:
    if "cross_attention" in name:
        return "cross"
    return "encoder" if name.startswith("encoder") else "decoder"


def _entry(name: str, measures: Mapping[str, float]) -> HeadEntry:
    module, head = split_head(name)
    assert head is not None
    return HeadEntry(name, _kind(name), int(module.split(".")[2]), head, measures)

"""Traces one translation: tokens, alternatives, attention, beam tree, and every layer.

H heads · T target tokens · S source tokens · V vocabulary
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from time import perf_counter
from typing import Any, Literal

import torch
from torch import Tensor

from allyouneed.checks import expect
from allyouneed.core.transformer import Transformer
from allyouneed.decoding.hypothesis import Hypothesis
from allyouneed.decoding.options import BeamOptions, at_least
from allyouneed.decoding.scoring import teacher_input
from allyouneed.engine.torch_engine import core_engine
from allyouneed.errors import UsageError
from allyouneed.insight.beam_tree import BeamTree, TreeWatch
from allyouneed.insight.capture import Tape, capture
from allyouneed.insight.lens import logit_lens
from allyouneed.insight.tokens import LikelyToken, Token, best_tokens, tokens_of, tokens_of_text
from allyouneed.text.clean import clean
from allyouneed.text.protocol import AnyTokenizer
from allyouneed.translation.assembly import CUT_OFF
from allyouneed.translation.confidence import SentenceConfidence, doubtful_words, doubts
from allyouneed.translation.faults import told
from allyouneed.translation.found import Found
from allyouneed.translation.job import ids_of_prefix
from allyouneed.translation.markup.emphasis import has_emphasis
from allyouneed.translation.markup.plain_text import ALWAYS
from allyouneed.translation.segments import Segment
from allyouneed.translation.translator import Translator

Kind = Literal["encoder", "decoder", "cross"]
MODULES = {
    "encoder": "encoder.layers.{}.self_attention",
    "decoder": "decoder.layers.{}.self_attention",
    "cross": "decoder.layers.{}.cross_attention",
}


@dataclass(frozen=True, slots=True)
class Step:
    """One target token's log-probability, and the most probable tokens there."""

    log_probability: float
    alternatives: tuple[LikelyToken, ...]


@dataclass(frozen=True, slots=True)
class LensCell:
    """One place and position: the tokens that the decoder would have predicted there, the
    log-probability of the token that it finally wrote, and cross-attention's share of that token's
    logit (see `lens.Place`)."""

    top: tuple[LikelyToken, ...]
    log_probability: float
    cross_share: float


@dataclass(frozen=True, slots=True)
class LensRow:
    """One place in the decoder, by its sub-layer's name (first `decoder.embeddings`), with a cell
    for each target token."""

    name: str
    cells: tuple[LensCell, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Trace:
    """One translation with the details of its search and its forward pass.

    `source` and `target` are tokens, including the end tokens; their spans count characters of
    `source_text` and `text`. `steps` has one entry for each target token. `score` is the
    log-probability divided by the length penalty. `weights` holds attention HTS by the module's
    name, see `attention`. `lens` has the places of the decoder from the lowest up, and is empty if
    it was not asked for. `seconds` is the time of the whole trace, `search_seconds` of the search.
    `notes` tell how the trace differs from the translator's own translation.
    """

    source_text: str
    text: str
    source: tuple[Token, ...]
    target: tuple[Token, ...]
    score: float
    log_probability: float
    steps: tuple[Step, ...]
    beam_tree: BeamTree
    lens: tuple[LensRow, ...]
    weights: Mapping[str, Tensor]
    seconds: float
    search_seconds: float
    notes: tuple[str, ...]

    def attention(self, kind: Kind, layer: int) -> Tensor:
        """Attention weights HTS of one layer. `kind` is "encoder", "decoder" for the decoder's
        self-attention, or "cross". `layer` counts from 0, or from the last layer if negative.

        In the decoder, row t is the step that produced `target[t]`. The columns of its
        self-attention are the start token, `target[0]`, `target[1]`, …

        Raises:
            UsageError: the kind or layer does not exist.
        """
        if kind not in MODULES:
            raise UsageError(f"attention {kind!r} is not one of {', '.join(MODULES)}")
        module = MODULES[kind]
        layers = sum(module.format(number) in self.weights for number in range(len(self.weights)))
        if not -layers <= layer < layers:
            raise UsageError(f"layer {layer}: {kind} attention has layers 0 … {layers - 1}")
        return self.weights[module.format(layer % layers)]

    def to_dict(self) -> dict[str, Any]:
        """All fields by name as JSON values, except the attention weights."""
        names = [field.name for field in fields(self) if field.name != "weights"]
        return {name: _plain(getattr(self, name)) for name in names}


@torch.no_grad()
def trace(
    translator: Translator,
    text: str,
    beam: int = 4,
    alternatives: int = 5,
    prefix: str = "",
    lens: bool = True,
) -> Trace:
    """Translates a text with the core model and returns the trace of the translation.

    The text is translated as one piece, even if it has several lines; a note tells if the
    translator would split it. `beam` and `prefix` are as in the translator. `alternatives` is the
    number of tokens listed at each step and place. `lens=False` leaves the lens out. Probabilities
    are the model's own over its whole vocabulary. Interventions that are active affect the trace.

    Raises:
        UsageError: the text is blank or has more tokens than the model has positions, or the beam,
            prefix or number of alternatives cannot be used.
        AllYouNeedError: the model's probabilities are not finite.
    """
    began = perf_counter()
    expect(translator, Translator, "translator", 'a translator, such as allyouneed.load("en-de")')
    at_least("alternatives", alternatives, 1)
    text, notes = clean(text)
    tokenizer, model = translator.tokenizer, translator.model
    segmenter = translator.segmenter
    languages = translator.directions[0] if len(translator.directions) == 1 else ("", "")
    segment = Segment.of(text, segmenter.normaliser, with_edges=bool(prefix.strip()))
    segment = segment.spelt_out(languages, segmenter.normaliser)
    ids = _ids(translator, segment.seen)
    notes += _differences(translator, segment.text, len(ids))
    source_BS = torch.tensor([ids], device=translator.device)
    options = translator.rules.searching(BeamOptions(beam=beam))
    watch = TreeWatch(options, tokenizer.target, model.config.end)
    prefix_ids = ids_of_prefix(tokenizer, prefix)
    [[best]] = core_engine(model).search(
        [ids], options, [prefix_ids] if prefix_ids else None, watch=watch
    )
    search_seconds = perf_counter() - began
    written = tokenizer.target.decode(best.ids).strip()
    dressed = segment.finished(
        segmenter.written(segment, written, languages), segmenter.dresser(text, prefix.lstrip())
    )
    notes += _about(translator, segment, ids, best, dressed)
    notes += _second_search(translator, segment, written, options)
    if dressed != written:
        notes.append(
            "shows the quotes, dashes and numbers that the model writes; translate restores others"
        )
    tape, log_p_TV = _forced(model, source_BS, best, lens)
    before = segment.before + segment.opening
    return Trace(
        source_text=text,
        text=f"{before}{written}{segment.closing}{segment.after}",
        source=tokens_of_text(tokenizer, segment.text, segment.plain, len(segment.before)),
        target=tokens_of(tokenizer.target, best.ids, len(before)),
        score=best.score,
        log_probability=best.log_probability,
        steps=_steps(tokenizer.target, log_p_TV, best.ids, alternatives),
        beam_tree=watch.tree(best.ids),
        lens=_lens(model, tokenizer.target, tape, best.ids, alternatives) if lens else (),
        weights={name: tape[name][0].cpu() for name in tape},
        seconds=perf_counter() - began,
        search_seconds=search_seconds,
        notes=tuple(notes),
    )


def _about(
    translator: Translator, segment: Segment, ids: Sequence[int], best: Hypothesis, dressed: str
) -> list[str]:
    """The notes on a translation: whether it was cut off, repeats itself, or is doubtful. `ids`
    are the source tokens."""
    notes = [] if best.finished else [CUT_OFF]
    notes += told(segment.text, dressed)
    found = Found([best], source_ids=ids, calibration=translator.rules.calibration)
    written = found.text(best, translator.tokenizer, 0)
    if (sure := found.sureness(best, translator.tokenizer, 0, segment.seen, written)) is not None:
        words = doubtful_words(sure[1], written)
        notes += doubts([SentenceConfidence(segment.text, dressed, sure[0], len(best.ids), words)])
    return notes


def _second_search(
    translator: Translator, segment: Segment, written: str, options: BeamOptions
) -> list[str]:
    """A note if the translator would search a second time (`JobSearch`), which a trace does not."""
    if options.beam == 1 or len(translator.directions) != 1:
        return []
    faults = translator.segmenter.lost(segment, written, translator.directions[0])
    return [
        f"this translation {fault}; translate would search again, with a wider beam"
        for fault in faults
    ]


def _ids(translator: Translator, text: str) -> list[int]:
    if not text:
        raise UsageError("the text is blank; there is nothing to trace")
    [ids] = translator.tokenizer.encode_ids([text])
    positions = translator.config.max_positions
    if len(ids) > positions:
        raise UsageError(
            f"the text has {len(ids)} tokens, more than the model's {positions} positions; "
            "trace a part of it"
        )
    return ids


def _several_parts(translator: Translator, text: str, length: int, parts: int) -> str:
    """A note for a text that the translator would split into parts."""
    if "\n" in text:
        what = "has several lines and is traced as one piece"
    elif length > translator.known_length:
        what = f"is longer than the {translator.known_length} tokens that the model was trained on"
    else:
        what = "has several sentences and is traced as one piece"
    return (
        f"This text {what}, so this translation is unreliable. `allyouneed translate` splits it "
        f"into {parts} parts."
    )


def _differences(translator: Translator, text: str, length: int) -> list[str]:
    """Notes on why the translator itself may give another translation."""
    notes: list[str] = []
    parts = len(list(translator.segmenter.cut(text).with_text()))
    if parts > 1:
        notes.append(_several_parts(translator, text, length, parts))
    source = translator.directions[0][0] if translator.directions else ""
    if ALWAYS.is_needed(text) or has_emphasis(text, source):
        notes.append("translate gives the model other words for addresses, code and stressed words")
    if translator.engine.name != "core":
        notes.append(f"traced on the core engine; {translator.engine.name} may round differently")
    if translator.engine.selection is not None:
        notes.append("traced with the whole vocabulary, not the selected one")
    return notes


def _forced(
    model: Transformer, source_BS: Tensor, best: Hypothesis, lens: bool
) -> tuple[Tape, Tensor]:
    """Runs the model over the translation by teacher forcing. Returns the tape, and log P (TV) of
    every token at every position."""
    target_BT = torch.tensor([best.ids], device=source_BS.device)
    with capture(model, residuals=lens) as tape:
        logits_BTV = model(source_BS, teacher_input(model, source_BS, target_BT))
    return tape, logits_BTV[0].float().log_softmax(dim=-1)


def _steps(
    tokenizer: AnyTokenizer, log_p_TV: Tensor, ids: Sequence[int], count: int
) -> tuple[Step, ...]:
    ids_T1 = torch.tensor(ids, device=log_p_TV.device)[:, None]
    said = log_p_TV.gather(1, ids_T1).squeeze(1).tolist()
    return tuple(map(Step, said, best_tokens(tokenizer, log_p_TV, count)))


def _lens(
    model: Transformer, tokenizer: AnyTokenizer, tape: Tape, ids: Sequence[int], count: int
) -> tuple[LensRow, ...]:
    target_BT = torch.tensor([ids], device=tape.residuals["decoder.embeddings"].device)
    rows: list[LensRow] = []
    for place in logit_lens(model, tape, target_BT):
        shares = place.cross_share()[0].tolist()
        said = _steps(tokenizer, place.log_p_BTV[0], ids, count)
        cells = (
            LensCell(step.alternatives, step.log_probability, share)
            for step, share in zip(said, shares, strict=True)
        )
        rows.append(LensRow(place.name, tuple(cells)))
    return tuple(rows)


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_plain(one) for one in value]
    return asdict(value) if hasattr(value, "__dataclass_fields__") else value

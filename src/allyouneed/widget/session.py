"""A session answers the view's questions: one or two translators and their last translations."""

import hashlib
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import PurePath
from threading import Lock
from typing import Any

import torch
from torch import Tensor

from allyouneed import __version__
from allyouneed.core.transformer import Transformer
from allyouneed.errors import AllYouNeedError, UsageError
from allyouneed.insight.trace import Kind, Trace, trace
from allyouneed.translation.translator import Translator
from allyouneed.widget import answers
from allyouneed.widget.calculator import calculate
from allyouneed.widget.disturbance import Source, disturbed, source_of
from allyouneed.widget.effects import effect
from allyouneed.widget.lenses import Layers, layers_seen
from allyouneed.widget.packing import ViewAnswer, compact
from allyouneed.widget.positions import positions
from allyouneed.widget.questions import (
    QUESTIONS,
    AttentionOf,
    Calculator,
    Effects,
    Maps,
    OfTranslation,
    PartText,
    Payload,
    Translate,
    ViewState,
    read,
)

KEPT = 8  # translations; 256 tokens in a base model have about 40 MB of attention
ALTERNATIVES = 5


class Obsolete(Exception):
    """A newer request has made this one obsolete."""


@dataclass(frozen=True, slots=True)
class KeptTranslation:
    """A translation that the view may ask about.

    `state` has the part of the text that was translated as its `text`, `parts` are all parts,
    `source` is the translated text with its replaced tokens, and `lenses` holds the attention
    through each lens that was asked for.
    """

    id: str
    state: ViewState
    parts: tuple[str, ...]
    source: Source
    trace: Trace
    lenses: dict[str, Layers] = field(default_factory=dict)


def told_apart(names: Sequence[str]) -> list[str]:
    """A short and unique name for each model: the last part of its path, or the run's name if that
    part is a run's folder "model". Equal names are numbered."""
    parts = [PurePath(name).parts or (name,) for name in names]
    short = [one[-2] if one[-1] == "model" and len(one) > 1 else one[-1] for one in parts]
    if len({*short}) == len(short):
        return short
    return [f"{name} ({number})" for number, name in enumerate(short, start=1)]


class Session:
    """Answers every kind of question of the view. Any thread may ask; answers are made one at a
    time.

    The core model answers, in float32, whatever engine a translator has. Several pages may ask at
    the same time. When a pane of a page asks for a translation, its older requests stop at their
    next step.
    """

    def __init__(
        self,
        translators: Sequence[Translator],
        names: Sequence[str],
        on_failure: Callable[[Exception], None] = lambda error: None,
    ) -> None:
        """`names` are the models' names or folders; the view shows their last parts. Unexpected
        errors are passed to `on_failure`, and the view shows them in one line."""
        self.on_failure = on_failure
        self.translators, self.names = translators, told_apart(names)
        self._busy = Lock()
        self._newest: dict[int, dict[int, int]] = {}  # request of each pane of each page
        self._kept: OrderedDict[str, KeptTranslation] = OrderedDict()
        self._answers: dict[str, Callable[[Any, int], ViewAnswer]] = {
            "about": lambda _, __: ViewAnswer(self._about()),
            "translate": self._translate,
            "part": self._part_text,
            "attention": lambda asked, _: self._attention(asked),
            "maps": lambda asked, _: self._maps(asked),
            "metrics": lambda asked, _: self._metrics(asked),
            "effects": self._effects,
            "lens": lambda asked, _: self._lens(asked),
            "calculator": lambda asked, _: self._calculator(asked),
            "positions": lambda _, __: ViewAnswer(positions(self.translators[0].model)),
        }

    def ask(self, kind: str, payload: Any, page: int = 0) -> ViewAnswer:
        """The answer to a question. The answer is {"error": why} for a question that is wrong, and
        {"obsolete": true} where a newer request has replaced it."""
        return self.hear(kind, payload, page)()

    def hear(self, kind: str, payload: Any, page: int = 0) -> Callable[[], ViewAnswer]:
        """Registers a question, which may make older questions obsolete. The function returned
        answers it as `ask` does."""
        try:
            asked = read(kind, payload)
        except UsageError as error:
            refusal = ViewAnswer({"error": str(error)})
            return lambda: refusal
        if isinstance(asked, Translate):
            panes = self._newest.setdefault(page, {})
            panes[asked.pane] = max(asked.request, panes.get(asked.pane, 0))
        return lambda: self._answer(kind, asked, page)

    def _answer(self, kind: str, asked: Payload, page: int) -> ViewAnswer:
        try:
            with self._busy:
                return self._answers[kind](asked, page)
        except Obsolete:
            return ViewAnswer({"obsolete": True})
        except AllYouNeedError as error:
            return ViewAnswer({"error": str(error)})
        except Exception as error:
            self.on_failure(error)
            return ViewAnswer({"error": f"{type(error).__name__}: {error}"})

    def _about(self) -> dict[str, Any]:
        models = [
            {"name": name, "engine": "core", "config": asdict(translator.config)}
            for name, translator in zip(self.names, self.translators, strict=True)
        ]
        return {"models": models, "version": __version__, "live": True, "asks": [*QUESTIONS]}

    def _translate(self, asked: Translate, page: int) -> ViewAnswer:
        wanted = self._wanted(asked.request, page)
        if not wanted():
            raise Obsolete
        found = self.kept(asked.state, wanted)
        baseline = None
        if asked.state.disturbed:
            baseline = self.kept(asked.state.undisturbed(), wanted).trace
        told = answers.translation(found.id, found.trace, found.source, baseline, found.parts)
        return ViewAnswer(told)

    def _part_text(self, asked: PartText, page: int) -> ViewAnswer:
        """The translation of another part, with the same heads switched off."""
        kept = self._asked_about(asked)
        if asked.part >= len(kept.parts):
            raise _no_part(asked.part, len(kept.parts))
        state = kept.state.of_part(asked.part)
        translator = self._translator(state)
        wanted = self._wanted(asked.request, page)
        with _while_wanted(translator.model, wanted), disturbed(translator.model, state):
            return ViewAnswer({"text": translator(kept.parts[asked.part], beam=state.beam).text})

    def kept(self, state: ViewState, wanted: Callable[[], bool] = lambda: True) -> KeptTranslation:
        """The translation of a state. It is made now unless the session still has it.

        Raises:
            UsageError: a state that does not fit the text or the model.
            Obsolete: `wanted` became false meanwhile.
        """
        id = _id_of(state)
        if id not in self._kept:
            translator, parts = self._translator(state), self.parts(state)
            if state.part >= len(parts):
                raise _no_part(state.part, len(parts))
            shown = state.model_copy(update={"text": parts[state.part]})
            source = source_of(shown, translator.tokenizer, translator.segmenter.normaliser)
            with _while_wanted(translator.model, wanted), disturbed(translator.model, shown):
                found = self._traced(shown, source)
            self._kept[id] = KeptTranslation(id, shown, parts, source, found)
            while len(self._kept) > KEPT:
                self._kept.popitem(last=False)
        self._kept.move_to_end(id)
        return self._kept[id]

    def parts(self, state: ViewState) -> tuple[str, ...]:
        """The parts that the translator cuts the state's text into, without blank ones. A text
        that is not cut is one part, as it is.

        Raises:
            UsageError: a model that is not there, or a blank text.
        """
        translator = self._translator(state)
        segments = translator.segmenter.cut(state.text).with_text()
        parts = tuple(one.code + one.text for one in segments)
        return parts if len(parts) > 1 else (state.text,)

    def _wanted(self, request: int, page: int) -> Callable[[], bool]:
        """Returns whether a request is still the newest one of any pane of the page."""
        return lambda: not request or request in self._newest.get(page, {}).values()

    def _traced(self, state: ViewState, source: Source, lens: bool = False) -> Trace:
        return trace(
            self._translator(state),
            source.text,
            beam=state.beam,
            alternatives=ALTERNATIVES,
            prefix=state.prefix,
            lens=lens,
        )

    def _translator(self, state: ViewState) -> Translator:
        if state.model >= len(self.translators):
            raise UsageError(
                f"state.model={state.model}: the models have the numbers 0 … "
                f"{len(self.translators) - 1}; open the view with a second model"
            )
        if not state.text.strip():
            raise UsageError("state.text is blank; type a sentence")
        return self.translators[state.model]

    def _asked_about(self, asked: OfTranslation) -> KeptTranslation:
        if asked.id not in self._kept:
            raise UsageError(
                f"translation {asked.id!r} is no longer stored, because only the last {KEPT} are; "
                "translate the sentence again"
            )
        self._kept.move_to_end(asked.id)
        return self._kept[asked.id]

    @contextmanager
    def _as_translated(self, kept: KeptTranslation) -> Iterator[Transformer]:
        """The model with the changes that it had when the translation was made."""
        model = self._translator(kept.state).model
        with disturbed(model, kept.state):
            yield model

    def _attention(self, asked: AttentionOf) -> ViewAnswer:
        layers = self._layers(self._asked_about(asked), asked.lens, asked.kind)
        if asked.layer >= len(layers):
            raise UsageError(
                f"attention.layer={asked.layer}: {asked.kind} has the layers 0 … {len(layers) - 1}"
            )
        return answers.attention(layers[asked.layer])

    def _maps(self, asked: Maps) -> ViewAnswer:
        return answers.maps(self._layers(self._asked_about(asked), asked.lens, asked.kind))

    def _layers(self, kept: KeptTranslation, lens: str, kind: Kind) -> Sequence[Tensor]:
        """The weights HTS of every layer of this kind."""
        if lens not in kept.lenses:
            with self._as_translated(kept) as model:
                kept.lenses[lens] = layers_seen(model, kept.trace, lens)
        return kept.lenses[lens][kind]

    def _metrics(self, asked: OfTranslation) -> ViewAnswer:
        kept = self._asked_about(asked)
        return ViewAnswer(answers.metrics(kept.trace, self._translator(kept.state).config))

    def _effects(self, asked: Effects, page: int) -> ViewAnswer:
        """The effect of each head alone, in addition to the heads that the state switches off."""
        kept = self._asked_about(asked)
        translator = self._translator(kept.state)

        wanted = self._wanted(asked.request, page)
        effects = []
        for head in asked.heads:
            with (
                _while_wanted(translator.model, wanted),
                disturbed(translator.model, kept.state.without(head)),
            ):
                change, text = effect(translator, kept.trace, kept.state)
            effects.append({"name": head, "change": change, "text": text})
        return ViewAnswer({"effects": effects})

    def _lens(self, asked: OfTranslation) -> ViewAnswer:
        kept = self._asked_about(asked)
        with self._as_translated(kept):
            return ViewAnswer(answers.lens(self._traced(kept.state, kept.source, lens=True)))

    def _calculator(self, asked: Calculator) -> ViewAnswer:
        kept = self._asked_about(asked)
        source, target = (
            [one.id for one in side] for side in (kept.trace.source, kept.trace.target)
        )
        with self._as_translated(kept) as model:
            return calculate(model, source, target, asked.module, asked.head, asked.query)


def _no_part(part: int, parts: int) -> UsageError:
    return UsageError(f"part {part}: the text has the parts 0 … {parts - 1}; choose one of these")


def _id_of(state: ViewState) -> str:
    """An id that is the same for equal states, so that a link, a step back and a saved page find
    the translation again."""
    return hashlib.sha256(compact(state.to_json()).encode()).hexdigest()[:16]


@contextmanager
def _while_wanted(model: Transformer, wanted: Callable[[], bool]) -> Iterator[None]:
    """Stops the model inside the `with` block as soon as `wanted` is false: before its next pass
    through the encoder or its next step of the decoder.

    Raises:
        Obsolete: `wanted` is false.
    """

    def check(_: torch.nn.Module, __: Any) -> None:
        if not wanted():
            raise Obsolete

    check(model, ())
    with ExitStack() as stack:
        for embeddings in (model.encoder.embeddings, model.decoder.embeddings):
            stack.callback(embeddings.register_forward_pre_hook(check).remove)
        yield

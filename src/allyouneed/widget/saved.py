"""Saves the view as one file, with the answers about a few sentences and with each head off.

The answers are packed as one answer. Its JSON maps the canonical JSON of each question
{kind, payload} to the answer's own JSON and to the names of its arrays in the packed answer.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from allyouneed.errors import AllYouNeedError, DataError
from allyouneed.files import write_whole
from allyouneed.insight.names import heads, split_head
from allyouneed.insight.trace import Kind
from allyouneed.widget.answers import KINDS, layers_of
from allyouneed.widget.packing import ViewAnswer, compact, pack
from allyouneed.widget.page import Start, saved_page
from allyouneed.widget.questions import ViewState
from allyouneed.widget.session import Session

LENSES = ("raw", "value-weighted", "rollout", "gradient")
BUDGET = 1_200_000  # bytes, before compression, for attention through other lenses than "raw"
HALF = 2  # bytes of a float16 number

Progress = Callable[[int, int], None]
"""progress(done, of): the number of translations made, and of all that will be made."""


class Collected:
    """Questions with their answers. `kinds` are the kinds of question among them."""

    def __init__(self) -> None:
        self.kinds: set[str] = set()
        self._found: dict[str, Any] = {}
        self._arrays: dict[str, NDArray[Any]] = {}

    def add(self, kind: str, payload: dict[str, Any], answer: ViewAnswer) -> None:
        """Keeps an answer.

        Raises:
            AllYouNeedError: the answer is an error.
        """
        if "error" in answer.json:
            raise AllYouNeedError(answer.json["error"])
        places = {name: self._place(name) for name in answer.arrays}
        self._arrays |= {places[name]: array for name, array in answer.arrays.items()}
        self._keep(kind, payload, answer.json, {name: [places[name], None] for name in places})

    def add_layers(self, payload: dict[str, Any], maps: ViewAnswer) -> None:
        """Keeps small maps, and answers for each layer's attention with one of them, because maps
        of a short sentence are the attention itself."""
        place = self._place("maps")
        self.add("maps", payload, maps)
        for layer in range(len(maps.arrays["maps"])):
            self._keep("attention", {**payload, "layer": layer}, {}, {"weights": [place, layer]})

    def _place(self, name: str) -> str:
        """A name for the next array that no other array has."""
        return f"{len(self._arrays)}/{name}"

    def packed(self) -> bytes:
        """All questions and answers as bytes."""
        return pack(ViewAnswer(self._found, self._arrays))

    def _keep(
        self, kind: str, payload: dict[str, Any], answer: Any, places: dict[str, list[Any]]
    ) -> None:
        self.kinds.add(kind)
        question = compact({"kind": kind, "payload": payload})
        self._found[question] = {"json": answer, "arrays": places}


class Saving:
    """Asks a session every question that the saved view may ask about a few states, and collects
    the answers."""

    def __init__(self, session: Session, states: Sequence[ViewState], progress: Progress) -> None:
        self.session, self._progress = session, progress
        parts = [
            state if number == state.part else state.of_part(number)
            for state in states
            for number in range(len(session.parts(state)))
        ]
        self.states = [state for n, state in enumerate(parts) if state not in parts[:n]]
        self.collected = Collected()
        self._room = BUDGET
        self._done, self._of = 0, sum(1 + len(self._heads(state)) for state in self.states)

    def collect(self) -> bytes:
        """All answers, packed.

        Raises:
            AllYouNeedError: a state cannot be translated.
        """
        self._ask("positions", {})
        ids = [self._translated(state) for state in self.states]
        for state, id in zip(self.states, ids, strict=True):
            if state.disturbed:
                self._translated(state.undisturbed())
            self._tick()
            for kind in ("metrics", "lens"):
                self._ask(kind, {"id": id})
            for number in self._other_parts(state):
                self._ask("part", {"id": id, "part": number})
            for lens in LENSES:
                self._attention(state, id, lens)
        for state, id in zip(self.states, ids, strict=True):
            # The session keeps only its last few translations, and has made many since this one.
            self.session.ask("translate", {"state": state.to_json()})
            kinds = self._kinds_with_room(state, id)
            for head in self._heads(state):
                self._head_off(state, id, head, kinds)
                self._tick()
        asks = sorted({"about", *self.collected.kinds})
        about = {**self.session.ask("about", {}).json, "live": False, "asks": asks}
        self.collected.add("about", {}, ViewAnswer(about))
        return self.collected.packed()

    def _kinds_with_room(self, state: ViewState, id: str) -> list[Kind]:
        """The kinds of attention that the budget has room for, for all translations with one head
        switched off."""
        kinds: list[Kind] = []
        for kind in ("cross", "decoder", "encoder"):
            numbers = sum(
                one.arrays["weights"].size for one in self._layers(state, id, kind, "raw")
            )
            size = numbers * HALF * len(self._heads(state))
            if size <= self._room:
                self._room -= size
                kinds.append(kind)
        return kinds

    def _head_off(self, state: ViewState, id: str, head: str, kinds: Sequence[Kind]) -> None:
        """Keeps one head's effect, and the translation without this head."""
        self._translated(state)  # keeps it among the session's last few translations
        self._ask("effects", {"id": id, "heads": [head]})
        alone = self.session.translators[state.model].config.heads == 1
        other = self._translated(state.without(split_head(head)[0] if alone else head))
        self._ask("metrics", {"id": other})
        for kind in kinds:
            self._add_attention(other, kind, "raw", *self._seen(state, other, kind, "raw"))

    def _translated(self, state: ViewState) -> str:
        return str(self._ask("translate", {"state": state.to_json()}).json["id"])

    def _attention(self, state: ViewState, id: str, lens: str) -> None:
        """Keeps all layers of all kinds through one lens. Lenses other than the raw one are kept as
        far as the budget has room."""
        for kind in KINDS:
            maps, layers = self._seen(state, id, kind, lens)
            if lens != "raw":
                size = HALF * sum(one.arrays["weights"].size for one in layers)
                if size > self._room:
                    continue
                self._room -= size
            self._add_attention(id, kind, lens, maps, layers)

    def _add_attention(
        self, id: str, kind: Kind, lens: str, maps: ViewAnswer, layers: Sequence[ViewAnswer]
    ) -> None:
        asked = {"id": id, "kind": kind, "lens": lens}
        shape = maps.arrays["maps"].shape[1:]
        if all(layer.arrays["weights"].shape == shape for layer in layers):
            self.collected.add_layers(asked, maps)
            return
        self.collected.add("maps", asked, maps)
        for number, layer in enumerate(layers):
            self.collected.add("attention", {**asked, "layer": number}, layer)

    def _seen(
        self, state: ViewState, id: str, kind: Kind, lens: str
    ) -> tuple[ViewAnswer, list[ViewAnswer]]:
        """The small maps of all layers, and the attention of each layer."""
        maps = self.session.ask("maps", {"id": id, "kind": kind, "lens": lens})
        return maps, self._layers(state, id, kind, lens)

    def _layers(self, state: ViewState, id: str, kind: Kind, lens: str) -> list[ViewAnswer]:
        config = self.session.translators[state.model].config
        asked = {"id": id, "kind": kind, "lens": lens}
        return [
            self.session.ask("attention", {**asked, "layer": number})
            for number in range(layers_of(config, kind))
        ]

    def _ask(self, kind: str, payload: dict[str, Any]) -> ViewAnswer:
        answer = self.session.ask(kind, payload)
        self.collected.add(kind, payload, answer)
        return answer

    def _other_parts(self, state: ViewState) -> list[int]:
        return [n for n in range(len(self.session.parts(state))) if n != state.part]

    def _heads(self, state: ViewState) -> list[str]:
        return heads(self.session.translators[state.model].model)

    def _tick(self) -> None:
        self._done += 1
        self._progress(self._done, self._of)


def save(session: Session, start: Start, path: Path, progress: Progress = lambda *_: None) -> None:
    """Writes the view of some states as one HTML file, which needs no model.

    The file holds the translation of each state, and of the state without its changes; the
    translation with each head switched off by itself; and the raw attention. Up to 1.2 MB it also
    holds the other lenses, and the attention with each head switched off. The page hides
    everything that it does not hold.

    Raises:
        DataError: the file cannot be written.
        AllYouNeedError: a state cannot be translated.
    """
    if not path.parent.is_dir():  # checked first, because the answers take a while
        raise DataError(f"{path}: there is no folder {path.parent}; make it, or choose another")
    answers = Saving(session, start.states, progress).collect()
    write(path, saved_page(start.options(), answers))


def write(path: Path, text: str) -> None:
    """Writes a file as a whole or not at all.

    Raises:
        DataError: the file cannot be written.
    """
    try:
        write_whole(path, text)
    except OSError as error:
        raise DataError(
            f"{path} could not be written: {error.strerror}; choose another place"
        ) from error

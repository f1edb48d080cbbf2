"""The view as one file: everything about a few sentences, and each of their heads switched off.

The answers travel as one packed answer. Its JSON has, under the canonical JSON of each question
{kind, payload}, the answer's own JSON and for each of its arrays the name that it has there.
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
from allyouneed.widget.packing import Answer, compact, pack
from allyouneed.widget.page import Start, saved_page
from allyouneed.widget.questions import State
from allyouneed.widget.session import Session

LENSES = ("raw", "value-weighted", "rollout", "gradient")
BUDGET = 1_200_000  # bytes of attention, before compression, beyond that of the raw lens
HALF = 2  # bytes of a number
ANSWERED = ("about", "translate", "attention", "maps", "metrics", "effects", "lens", "positions")

Progress = Callable[[int, int], None]
"""progress(done, of): how many translations are made, of how many."""


class Collected:
    """Questions with their answers, as one."""

    def __init__(self) -> None:
        self._found: dict[str, Any] = {}
        self._arrays: dict[str, NDArray[Any]] = {}

    def add(self, kind: str, payload: dict[str, Any], answer: Answer) -> None:
        """Keeps an answer.

        Raises:
            AllYouNeedError: it says why there is none.
        """
        if "error" in answer.json:
            raise AllYouNeedError(answer.json["error"])
        places = {name: self._place(name) for name in answer.arrays}
        self._arrays |= {places[name]: array for name, array in answer.arrays.items()}
        self._keep(kind, payload, answer.json, {name: [places[name], None] for name in places})

    def add_layers(self, payload: dict[str, Any], maps: Answer) -> None:
        """Keeps small maps, and each layer's attention as what it is: one of them."""
        place = self._place("maps")
        self.add("maps", payload, maps)
        for layer in range(len(maps.arrays["maps"])):
            self._keep("attention", {**payload, "layer": layer}, {}, {"weights": [place, layer]})

    def _place(self, name: str) -> str:
        """What the next array is kept as; no other has this name."""
        return f"{len(self._arrays)}/{name}"

    def packed(self) -> bytes:
        """All of it."""
        return pack(Answer(self._found, self._arrays))

    def _keep(
        self, kind: str, payload: dict[str, Any], answer: Any, places: dict[str, list[Any]]
    ) -> None:
        question = compact({"kind": kind, "payload": payload})
        self._found[question] = {"json": answer, "arrays": places}


class Saving:
    """Asks a session what the view may ask about a few states, and collects the answers."""

    def __init__(self, session: Session, states: Sequence[State], progress: Progress) -> None:
        self.session, self._progress = session, progress
        self.states = [state for n, state in enumerate(states) if state not in states[:n]]
        self.collected = Collected()
        self._room = BUDGET
        self._done, self._of = 0, sum(1 + len(self._heads(state)) for state in self.states)

    def collect(self) -> bytes:
        """Everything, packed. Raises AllYouNeedError for a state that cannot be translated."""
        about = {**self.session.ask("about", {}).json, "live": False, "asks": [*ANSWERED]}
        self.collected.add("about", {}, Answer(about))
        self._ask("positions", {})
        ids = [self._translated(state) for state in self.states]
        for state, id in zip(self.states, ids, strict=True):
            if state.disturbed:
                self._translated(state.undisturbed())
            self._tick()
            for kind in ("metrics", "lens"):
                self._ask(kind, {"id": id})
            for lens in LENSES:
                self._attention(state, id, lens)
        for state, id in zip(self.states, ids, strict=True):
            # A session keeps the last few alone, and there are the heads of the state before.
            self.session.ask("translate", {"state": state.to_json()})
            kinds = self._kinds_with_room(state, id)
            for head in self._heads(state):
                self._head_off(state, id, head, kinds)
                self._tick()
        return self.collected.packed()

    def _kinds_with_room(self, state: State, id: str) -> list[Kind]:
        """Of which kinds there is room for the raw attention without each of the heads."""
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

    def _head_off(self, state: State, id: str, head: str, kinds: Sequence[Kind]) -> None:
        """What one head does, and the translation without it."""
        self._translated(state)  # so it stays among the last few that are kept
        self._ask("effects", {"id": id, "heads": [head]})
        alone = self.session.translators[state.model].config.heads == 1
        other = self._translated(state.without(split_head(head)[0] if alone else head))
        self._ask("metrics", {"id": other})
        for kind in kinds:
            self._add_attention(other, kind, "raw", *self._seen(state, other, kind, "raw"))

    def _translated(self, state: State) -> str:
        return str(self._ask("translate", {"state": state.to_json()}).json["id"])

    def _attention(self, state: State, id: str, lens: str) -> None:
        """All layers of all kinds through one lens; where it is not the raw one, what fits."""
        for kind in KINDS:
            maps, layers = self._seen(state, id, kind, lens)
            if lens != "raw":
                size = HALF * sum(one.arrays["weights"].size for one in layers)
                if size > self._room:
                    continue
                self._room -= size
            self._add_attention(id, kind, lens, maps, layers)

    def _add_attention(
        self, id: str, kind: Kind, lens: str, maps: Answer, layers: Sequence[Answer]
    ) -> None:
        asked = {"id": id, "kind": kind, "lens": lens}
        shape = maps.arrays["maps"].shape[1:]
        if all(layer.arrays["weights"].shape == shape for layer in layers):
            self.collected.add_layers(asked, maps)
            return
        self.collected.add("maps", asked, maps)
        for number, layer in enumerate(layers):
            self.collected.add("attention", {**asked, "layer": number}, layer)

    def _seen(self, state: State, id: str, kind: Kind, lens: str) -> tuple[Answer, list[Answer]]:
        """The small maps, and the attention of each layer."""
        maps = self.session.ask("maps", {"id": id, "kind": kind, "lens": lens})
        return maps, self._layers(state, id, kind, lens)

    def _layers(self, state: State, id: str, kind: Kind, lens: str) -> list[Answer]:
        config = self.session.translators[state.model].config
        asked = {"id": id, "kind": kind, "lens": lens}
        return [
            self.session.ask("attention", {**asked, "layer": number})
            for number in range(layers_of(config, kind))
        ]

    def _ask(self, kind: str, payload: dict[str, Any]) -> Answer:
        answer = self.session.ask(kind, payload)
        self.collected.add(kind, payload, answer)
        return answer

    def _heads(self, state: State) -> list[str]:
        return heads(self.session.translators[state.model].model)

    def _tick(self) -> None:
        self._done += 1
        self._progress(self._done, self._of)


def save(session: Session, start: Start, path: Path, progress: Progress = lambda *_: None) -> None:
    """Writes the view of its first states as one HTML file, beside it first and then renamed.

    The file answers without a model: the states and, where they disturb, what is undisturbed;
    every head off, by itself, in each of them; raw attention, and as far as 1.2 MB of it reach,
    other lenses and the attention without each head. Of the rest the file says that it needs a
    live model.

    Raises:
        DataError: a place that cannot be written.
        AllYouNeedError: a state that cannot be translated.
    """
    if not path.parent.is_dir():  # said before all is computed
        raise DataError(f"{path}: there is no folder {path.parent}; make it, or choose another")
    answers = Saving(session, start.states, progress).collect()
    write(path, saved_page(start.options(), answers))


def write(path: Path, text: str) -> None:
    """Writes a file as a whole or not at all.

    Raises:
        DataError: a place that cannot be written.
    """
    try:
        write_whole(path, text)
    except OSError as error:
        raise DataError(
            f"{path} could not be written: {error.strerror}; choose another place"
        ) from error

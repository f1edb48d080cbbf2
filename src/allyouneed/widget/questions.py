"""What the view may ask, checked key by key: its state, and one payload for each kind."""

import json
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator
from pydantic.alias_generators import to_camel

from allyouneed.errors import UsageError, nearest
from allyouneed.text.clean import clean

Attention = Literal["encoder", "decoder", "cross"]
Lens = Literal["raw", "value-weighted", "rollout", "gradient"]
Count = Annotated[int, Field(ge=0)]
LARGEST_BEAM = 64
LONGEST_TEXT = 20_000  # characters, far beyond any model's positions


class Payload(BaseModel):
    """Frozen, strict, no unknown keys; names are written in camel case outside."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, strict=True, alias_generator=to_camel, populate_by_name=True
    )


class Edit(Payload):
    """What is done to one head's weights; `cells` are (target position, source position)."""

    head: str
    kind: Literal["uniform", "diagonal", "block", "force"]
    cells: tuple[tuple[Count, Count], ...] | None = None

    @model_validator(mode="after")
    def _cells_where_needed(self) -> "Edit":
        if (self.cells is not None) != (self.kind in ("block", "force")):
            raise ValueError(f"cells belong to block and force, and only there; not {self.kind}")
        return self


class State(Payload):
    """A text and all that is done to it. `replaced` maps numbers of source tokens to new text,
    `prefix` is what the translation has to begin with, `model` the number of the translator."""

    text: Annotated[str, Field(max_length=LONGEST_TEXT)]
    beam: Annotated[int, Field(ge=1, le=LARGEST_BEAM)] = 4
    switched_off: tuple[str, ...] = ()
    edits: tuple[Edit, ...] = ()
    replaced: dict[Annotated[int, Field(strict=False, ge=0)], str] = {}
    prefix: Annotated[str, Field(max_length=LONGEST_TEXT)] = ""
    model: Count = 0

    @property
    def disturbed(self) -> bool:
        """Whether anything is done to the text or to the model."""
        return self != self.undisturbed()

    def undisturbed(self) -> "State":
        """The same text, with nothing done to it."""
        return State(text=self.text, beam=self.beam, model=self.model)

    def without(self, head: str) -> "State":
        """The same with this head or module off as well."""
        return self.model_copy(update={"switched_off": (*sorted({*self.switched_off, head}),)})

    def to_json(self) -> dict[str, Any]:
        """As the view writes it, every key there."""
        value: dict[str, Any] = self.model_dump(mode="json", by_alias=True)
        value["edits"] = [edit.model_dump(mode="json", exclude_none=True) for edit in self.edits]
        return value


class About(Payload):
    """Which models there are."""


class Translate(Payload):
    """Translates; a newer `request` for the same `pane` of a page makes older ones obsolete."""

    state: State
    request: Count = 0
    pane: Count = 0


class OfTranslation(Payload):
    """Something about a translation, by its id."""

    id: str


class AttentionOf(OfTranslation):
    """The attention of one layer, every head of it."""

    kind: Attention
    layer: Count
    lens: Lens = "raw"


class Maps(OfTranslation):
    """The attention of every layer of one kind, made small."""

    kind: Attention
    lens: Lens = "raw"


class Effects(OfTranslation):
    """What each of these heads does, by switching it off alone; `request` is the number that the
    translation was asked for with, and they are obsolete with it."""

    heads: Annotated[tuple[str, ...], Field(max_length=4096)]
    request: Count = 0


class Calculator(OfTranslation):
    """Every number of one query's attention in one head."""

    module: str
    head: Count
    query: Count


QUESTIONS: dict[str, type[Payload]] = {
    "about": About,
    "translate": Translate,
    "attention": AttentionOf,
    "maps": Maps,
    "metrics": OfTranslation,
    "effects": Effects,
    "lens": OfTranslation,
    "calculator": Calculator,
    "positions": About,
}
Kind = TypeVar("Kind", bound=Payload)


def read(kind: str, payload: Any) -> Payload:
    """The payload of a question, checked.

    Raises:
        UsageError: an unknown kind or key, or a value out of range, by its place.
    """
    if kind not in QUESTIONS:
        guess = nearest(str(kind), QUESTIONS)
        raise UsageError(
            f"there is no question {kind!r}"
            + (f"; did you mean {guess}?" if guess else f"; there is: {', '.join(QUESTIONS)}")
        )
    return checked(QUESTIONS[kind], payload, kind)


def checked(model: type[Kind], value: Any, place: str) -> Kind:
    """The value as this model, lone surrogates as U+FFFD; `place` is how an error names it.

    Raises:
        UsageError: a key or value that does not fit, by its place.
    """
    try:
        return model.model_validate_json(clean(json.dumps(value, ensure_ascii=False))[0])
    except ValidationError as error:
        problem = error.errors(include_url=False)[0]
        where = ".".join(map(str, (place, *problem["loc"])))
        if problem["type"] == "extra_forbidden":
            raise UsageError(f"{where} is not known; leave it out") from error
        given = "" if problem["type"] == "missing" else f" = {_shown(problem['input'])}"
        raise UsageError(
            f"{where}{given}: {problem['msg'].removeprefix('Value error, ')}"
        ) from error


def _shown(value: Any, limit: int = 60) -> str:
    text = repr(value)
    return text if len(text) <= limit else f"{text[: limit - 1]}…"

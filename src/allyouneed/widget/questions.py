"""The questions that the view may ask, checked key by key: its state, and a payload for each
kind."""

import json
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator
from pydantic.alias_generators import to_camel

from allyouneed.checks import shortened
from allyouneed.errors import UsageError, nearest
from allyouneed.text.clean import clean

Attention = Literal["encoder", "decoder", "cross"]
Lens = Literal["raw", "value-weighted", "rollout", "gradient"]
Count = Annotated[int, Field(ge=0)]
LARGEST_BEAM = 64
LONGEST_TEXT = 20_000  # characters, far beyond any model's positions


class Payload(BaseModel):
    """The base of all payloads: frozen, strict, without unknown keys. JSON names are camel case."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, strict=True, alias_generator=to_camel, populate_by_name=True
    )


class Edit(Payload):
    """An edit of one head's weights. `cells` are pairs (target position, source position)."""

    head: str
    kind: Literal["uniform", "diagonal", "block", "force"]
    cells: tuple[tuple[Count, Count], ...] | None = None

    @model_validator(mode="after")
    def _cells_where_needed(self) -> "Edit":
        if (self.cells is not None) != (self.kind in ("block", "force")):
            raise ValueError(f"block and force need cells, other edits have none; not {self.kind}")
        return self


class ViewState(Payload):
    """A text with all changes to it and to the model.

    A long text is translated in parts; `part` is the number of the part that the view shows.
    `replaced` maps numbers of the part's source tokens to new text. The translation of the part
    must begin with `prefix`. `model` is the number of the translator.
    """

    text: Annotated[str, Field(max_length=LONGEST_TEXT)]
    beam: Annotated[int, Field(ge=1, le=LARGEST_BEAM)] = 4
    switched_off: tuple[str, ...] = ()
    edits: tuple[Edit, ...] = ()
    replaced: dict[Annotated[int, Field(strict=False, ge=0)], str] = {}
    prefix: Annotated[str, Field(max_length=LONGEST_TEXT)] = ""
    model: Count = 0
    part: Count = 0

    @property
    def disturbed(self) -> bool:
        """Whether anything is changed in the text or in the model."""
        return self != self.undisturbed()

    def undisturbed(self) -> "ViewState":
        """The same part of the same text, without any change."""
        return ViewState(text=self.text, beam=self.beam, model=self.model, part=self.part)

    def of_part(self, part: int) -> "ViewState":
        """The same heads in another part. Changes that belong to positions of this part are
        left out: replaced tokens, the prefix, and edits of cells."""
        edits = tuple(edit for edit in self.edits if edit.cells is None)
        left_out = {"edits": edits, "replaced": {}, "prefix": ""} if part != self.part else {}
        return self.model_copy(update={**left_out, "part": part})

    def without(self, head: str) -> "ViewState":
        """The same state with this head or module off as well."""
        return self.model_copy(update={"switched_off": (*sorted({*self.switched_off, head}),)})

    def to_json(self) -> dict[str, Any]:
        """The state as JSON with every key, as the view writes it."""
        value: dict[str, Any] = self.model_dump(mode="json", by_alias=True)
        value["edits"] = [edit.model_dump(mode="json", exclude_none=True) for edit in self.edits]
        return value


class About(Payload):
    """Asks which models there are, or about the first model's positions."""


class Translate(Payload):
    """Asks for a translation. A newer `request` for the same `pane` of a page makes older requests
    obsolete."""

    state: ViewState
    request: Count = 0
    pane: Count = 0


class OfTranslation(Payload):
    """Asks about a translation, by its id."""

    id: str


class AttentionOf(OfTranslation):
    """Asks for the attention of one layer, all its heads."""

    kind: Attention
    layer: Count
    lens: Lens = "raw"


class Maps(OfTranslation):
    """Asks for small maps of the attention of every layer of one kind."""

    kind: Attention
    lens: Lens = "raw"


class PartText(OfTranslation):
    """Asks for the translation of another part of the same text. The answer is obsolete as soon as
    `request`, the number of the request for the translation, is."""

    part: Count
    request: Count = 0


class Effects(OfTranslation):
    """Asks for the effect of each of these heads: what changes when this head alone is switched
    off. The answer is obsolete as soon as `request`, the number of the request for the
    translation, is."""

    heads: Annotated[tuple[str, ...], Field(max_length=4096)]
    request: Count = 0


class Calculator(OfTranslation):
    """Asks for every number of one query's attention in one head."""

    module: str
    head: Count
    query: Count


QUESTIONS: dict[str, type[Payload]] = {
    "about": About,
    "translate": Translate,
    "part": PartText,
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
        UsageError: a kind or key is unknown, or a value is out of range; the message names its
            place.
    """
    if kind not in QUESTIONS:
        guess = nearest(str(kind), QUESTIONS)
        raise UsageError(
            f"there is no question {kind!r}"
            + (f"; did you mean {guess}?" if guess else f"; the kinds are {', '.join(QUESTIONS)}")
        )
    return checked(QUESTIONS[kind], payload, kind)


def checked(model: type[Kind], value: Any, place: str) -> Kind:
    """The value as this model, with lone surrogates replaced by U+FFFD. `place` names the value in
    errors.

    Raises:
        UsageError: a key or value does not fit; the message names its place.
    """
    try:
        return model.model_validate_json(clean(json.dumps(value, ensure_ascii=False))[0])
    except ValidationError as error:
        problem = error.errors(include_url=False)[0]
        where = ".".join(map(str, (place, *problem["loc"])))
        if problem["type"] == "extra_forbidden":
            raise UsageError(f"{where} is not known; leave it out") from error
        given = "" if problem["type"] == "missing" else f" = {shortened(problem['input'])}"
        raise UsageError(
            f"{where}{given}: {problem['msg'].removeprefix('Value error, ')}"
        ) from error

"""Reports which terms a translation uses, and where."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from allyouneed.text.normaliser import Normaliser
from allyouneed.translation.terms.glossary import FoundTerm
from allyouneed.translation.terms.spelling import is_word

Span = tuple[int, int]
SHOWN = 5  # forms in a note


@dataclass(frozen=True, slots=True)
class TermUse:
    """The use of a term that stands at one place of a text.

    `source` is the place (begin, end) of the term in the text, in characters. `term` and `forms`
    are those of the glossary; `forms` is empty if the words stay as they are. `form` is the form in
    the translation and `target` its place there; both are None if the translation has no form. In
    texts with markup, `source` and `target` are None, because no characters are counted.
    """

    source: Span | None
    term: str
    forms: tuple[str, ...]
    form: str | None = None
    target: Span | None = None

    @property
    def used(self) -> bool:
        """Whether the translation has one of the forms."""
        return self.form is not None

    def moved(self, source: int, target: int) -> "TermUse":
        """The same use, where `source` and `target` more characters stand before it."""
        return replace(self, source=_moved(self.source, source), target=_moved(self.target, target))

    def to_dict(self) -> dict[str, Any]:
        """All fields by name, with values that JSON can hold."""
        return {
            "source": self.source and list(self.source),
            "term": self.term,
            "form": self.form,
            "target": self.target and list(self.target),
        }


def _moved(span: Span | None, by: int) -> Span | None:
    return span and (span[0] + by, span[1] + by)


def uses(
    found: Sequence[FoundTerm], spans: Sequence[Span], translation: str, normaliser: Normaliser
) -> list[TermUse]:
    """The use of each term of `found`, which stand at the places `spans` of the source, in order. A
    form counts as a whole word only. Each place of the translation counts for one term; long forms
    are looked for first."""
    plain = normaliser.plain(translation)
    wanted = [
        (-len(form), place, form)
        for place, one in enumerate(found)
        for form in (normaliser.plain(each).text for each in one.forms())
    ]
    taken: dict[int, tuple[str, Span]] = {}
    free = list(plain.text)
    for _, place, form in sorted(wanted):
        if place not in taken and (span := _free_place(form, "".join(free))):
            taken[place] = plain.text[slice(*span)], plain.typed(*span)
            free[slice(*span)] = "\0" * (span[1] - span[0])
    return [
        TermUse(span, one.term.source, one.term.forms, *taken.get(place, (None, None)))
        for place, (one, span) in enumerate(zip(found, spans, strict=True))
    ]


def _free_place(form: str, text: str) -> Span | None:
    """The first place of a form in a text as a whole word; None if there is none."""
    for match in re.finditer(re.escape(form), text):
        begin, end = match.span()
        before = is_word(form[0]) and is_word(text[begin - 1 : begin] if begin else "")
        behind = is_word(form[-1]) and is_word(text[end : end + 1])
        if not before and not behind:
            return begin, end
    return None


def unused_note(use: TermUse, *, inflected: bool = False) -> str:
    """The note about a term that was not used, or that the model may have `inflected`."""
    forms = " or ".join(map(repr, use.forms[:SHOWN])) or "it"
    if inflected:
        return (
            f"the term {use.term!r}: the translation does not have {forms}; the model may have "
            "inflected it"
        )
    return f"the term {use.term!r} was not used: the translation does not have {forms}"

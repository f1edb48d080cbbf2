"""The plural forms of a message of gettext."""

from collections.abc import Callable, Sequence
from itertools import pairwise

from allyouneed.documents.plural_forms import is_singular
from allyouneed.documents.po_header import PoHeader
from allyouneed.translation.markup.passage import Passage


class PoForms:
    """The lines of a message from the text of its first plural form to that of its last one. Once
    they are translated, there are as many forms as the `header` says."""

    def __init__(
        self,
        text: str,
        spans: Sequence[tuple[int, int]],
        read: Callable[[bool, tuple[int, int]], Passage],
        header: PoHeader | None,
    ) -> None:
        """`spans` are the places of the forms in `text`, in order. read(is_singular, span) is the
        passage of the form at a place."""
        self._raw = text[spans[0][0] : spans[-1][1]]
        self._leads = ["", *(text[one[1] : other[0]] for one, other in pairwise(spans))]
        self._singular, self._plural = read(True, spans[0]), read(False, spans[-1])
        self._header = header

    @property
    def passages(self) -> list[Passage]:
        """The texts to translate: that of the singular only where there is a form for it."""
        return [self._singular, self._plural] if len(self._leads) > 1 else [self._plural]

    def written(self) -> str:
        """The lines with their translations; the old ones as long as there are none."""
        if self._singular.target is None and self._plural.target is None:
            return self._raw
        count = (self._header and self._header.count) or len(self._leads)
        return "".join(self._form(number, count) for number in range(count))

    def _form(self, number: int, count: int) -> str:
        newline = "\r\n" if "\r\n" in self._raw else "\n"
        is_known = number < len(self._leads)
        lead = self._leads[number] if is_known else f"{newline}msgstr[{number}] "
        has_own = is_singular(number, count) and self._singular.target is not None
        return lead + (self._singular if has_own else self._plural).written()

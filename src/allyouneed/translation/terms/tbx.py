"""Reads TBX (ISO 30042), the exchange format of term bases, in its versions of 2008 and 2019."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from xml.parsers import expat

from allyouneed.errors import DataError
from allyouneed.text.language_names import code_of
from allyouneed.translation.terms.glossary import BETWEEN_FORMS

_ENTRY = {"termEntry", "conceptEntry"}
_LANGUAGE = {"langSet", "langSec"}
_STATUS = "administrativeStatus"
_OUT_OF_USE = {
    "deprecatedTerm-admn-sts",
    "supersededTerm-admn-sts",
    "deprecatedTerm",
    "supersededTerm",
}
_OF_A_TERM = {"tig", "ntig", "termSec"}


@dataclass(slots=True)
class _Word:
    """A term of one language, with the number of its line."""

    line: int
    text: str = ""
    in_use: bool = True


@dataclass(slots=True)
class _Entry:
    """A concept: its terms by language."""

    words: dict[str, list[_Word]] = field(default_factory=dict)

    def of(self, language: str) -> Iterator[_Word]:
        """The terms of a language in all its regions."""
        for code, words in self.words.items():
            if _same(language, code):
                yield from (word for word in words if word.text.strip())


def read_tbx(
    name: str, data: bytes, source: str = "", target: str = ""
) -> Iterator[tuple[int, str, str]]:
    """The (line, source, forms) of the terms in two languages.

    The forms of a source are all current target terms of all concepts that contain the source. The
    languages are codes or English names; regions are ignored. If the file has two languages and
    the call names none, the first is the source.

    Raises:
        DataError: the data is not XML, declares entities, or lacks one of the languages.
    """
    entries = _Reader(name).read(data)
    languages = list(dict.fromkeys(code for entry in entries for code in entry.words))
    if not (source and target):
        if len(languages) != 2:
            raise DataError(
                f"{name}: terms in {', '.join(languages) or 'no language'}; name the two to take "
                "(--from, --to)"
            )
        source, target = languages
    for wanted in (source, target):
        if not any(_same(wanted, code) for code in languages):
            raise DataError(
                f"{name}: no terms in {wanted!r}; it has {', '.join(languages) or 'none at all'}"
            )
    found: dict[str, tuple[int, list[str]]] = {}
    for entry in entries:
        forms = [word.text for word in entry.of(target) if word.in_use]
        for word in entry.of(source) if forms else ():
            found.setdefault(" ".join(word.text.split()), (word.line, []))[1].extend(forms)
    for text, (line, forms) in found.items():
        yield line, text, BETWEEN_FORMS.join(dict.fromkeys(forms))


def _same(one: str, other: str) -> bool:
    """Whether two codes name the same language. Regions are ignored."""
    return _base(one) == _base(other)


def _base(language: str) -> str:
    """The code of a language without its region; models name languages in English, too."""
    return code_of(language).replace("_", "-").partition("-")[0].lower()


class _Reader:
    """Collects the entries of a file from its XML elements."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.entries: list[_Entry] = []
        self._parser = expat.ParserCreate()
        self._parser.buffer_text = True
        self._parser.StartElementHandler = self._begin
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._text
        self._parser.EntityDeclHandler = self._entity
        self._language = ""
        self._word: _Word | None = None  # the last one of this language
        self._reading: str | None = None  # what text belongs to

    def read(self, data: bytes) -> list[_Entry]:
        try:
            self._parser.Parse(data, True)
        except expat.ExpatError as error:
            raise DataError(
                f"{self.name}:{error.lineno}: no XML: {expat.errors.messages[error.code]}; "
                "export the term base as TBX again, or as TSV"
            ) from error
        if not self.entries:
            raise DataError(f"{self.name}: XML without a termEntry or conceptEntry; this is no TBX")
        return self.entries

    def _entity(self, *_: object) -> None:
        raise DataError(
            f"{self.name}:{self._parser.CurrentLineNumber}: it declares entities of its own, which "
            "are not read; export the term base without them"
        )

    def _begin(self, tag: str, attributes: dict[str, str]) -> None:
        tag = tag.rpartition(":")[2]
        if tag in _ENTRY:
            self.entries.append(_Entry())
        elif tag in _LANGUAGE:
            self._language = attributes.get("xml:lang") or attributes.get("lang") or ""
        elif tag in _OF_A_TERM:
            self._word = None
        elif tag == "term" and self.entries and self._language:
            self._word = _Word(self._parser.CurrentLineNumber)
            self.entries[-1].words.setdefault(self._language, []).append(self._word)
            self._reading = tag
        elif attributes.get("type") == _STATUS or tag == _STATUS:
            self._reading = _STATUS

    def _end(self, tag: str) -> None:
        tag = tag.rpartition(":")[2]
        if tag != "hi":  # emphasis within a term
            self._reading = None
        if tag in _LANGUAGE:
            self._language, self._word = "", None

    def _text(self, text: str) -> None:
        if self._word is None or self._reading is None:
            return
        if self._reading == "term":
            self._word.text += text
        elif text.strip() in _OUT_OF_USE:
            self._word.in_use = False

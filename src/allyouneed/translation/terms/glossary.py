"""Glossaries: terms with their prescribed translations."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from allyouneed.errors import UsageError
from allyouneed.text.atoms import Atom, atoms
from allyouneed.text.normaliser import AS_TYPED, Normaliser

BETWEEN_FORMS = "|"


@dataclass(frozen=True, slots=True)
class Term:
    """Words of a source text, and the forms of their translation; one of the forms is used.

    Without forms the words stay as they are. A source in small letters also matches words with
    capitals. A source with capitals matches words in the same case, or in all capitals.
    """

    source: str
    forms: tuple[str, ...] = ()

    @classmethod
    def of(cls, source: str, target: str | Sequence[str]) -> "Term":
        """The term for a target such as "Rad|Rads|Räder", or for a list of forms. With a target
        that is empty or equal to the source, the words stay as they are.

        Raises:
            UsageError: the source or a form has no letter or digit, or is not a str.
        """
        forms = target.split(BETWEEN_FORMS) if isinstance(target, str) else target
        for text in (source, *forms) if isinstance(forms, list | tuple) else (source, forms):
            if not isinstance(text, str):
                raise UsageError(f"{text!r} is no term; give a str")
        source = " ".join(source.split())
        if not any(map(str.isalnum, source)):
            raise UsageError(
                f"the source {source!r} of a term has no letter or digit; give a word or more"
            )
        tidy = dict.fromkeys(" ".join(form.split()) for form in forms)
        kept = tuple(form for form in tidy if form)
        if empty := [form for form in kept if not any(map(str.isalnum, form))]:
            raise UsageError(f"the form {empty[0]!r} of the term {source!r} has no letter or digit")
        return cls(source, () if kept == (source,) else kept)


@dataclass(frozen=True, slots=True)
class FoundTerm:
    """A term at one place of a text, where text[begin:end] is `words`."""

    term: Term
    begin: int
    end: int
    words: str

    def forms(self) -> tuple[str, ...]:
        """The forms that the translation may have here, the likeliest case first.

        A form in small letters may get a capital, because it may begin the sentence. If the words
        are all in capitals and the source of the term is not, the forms are all in capitals.
        """
        if not self.term.forms:
            return (self.words,)
        shouted = self.words.isupper() and len(self.words) > 1 and not self.term.source.isupper()
        if shouted:
            return tuple(dict.fromkeys(form.upper() for form in self.term.forms))
        capital = (form[0].upper() + form[1:] for form in self.term.forms)
        return tuple(dict.fromkeys([*self.term.forms, *capital]))

    def within(self, text: str) -> "FoundTerm":
        """The term at the same place of a text that differs only in its capitals."""
        return FoundTerm(self.term, self.begin, self.end, text[self.begin : self.end])


_Key = tuple[str, ...]


class Glossary:
    """Terms that can be found in texts. The time to find them does not grow with their number,
    because they are indexed by their first word."""

    def __init__(self, terms: Iterable[Term]) -> None:
        """`terms` may repeat a source only with the same forms.

        Raises:
            UsageError: a source has two translations.
        """
        self.terms = tuple(terms)
        by_source: dict[str, Term] = {}
        for term in self.terms:
            if by_source.setdefault(term.source, term).forms != term.forms:
                one, other = (_shown(each) for each in (by_source[term.source], term))
                raise UsageError(
                    f"the term {term.source!r} has two translations, {one} and {other}; write "
                    f"them as forms of one: {one}{BETWEEN_FORMS}{other}"
                )
        self._indexes: dict[str | None, _Index] = {}

    @classmethod
    def of(cls, terms: Mapping[str, str | Sequence[str]]) -> "Glossary":
        """The glossary of a mapping from source to target; `Term.of` reads the targets.

        Raises:
            UsageError: a term is not valid, or `terms` is not a mapping.
        """
        if not isinstance(terms, Mapping):
            raise UsageError(f"terms={terms!r} must be a mapping, a Glossary or a file's path")
        return cls(Term.of(one, other) for one, other in terms.items())

    def __len__(self) -> int:
        return len(self.terms)

    def find(self, text: str, normaliser: Normaliser = AS_TYPED) -> tuple[FoundTerm, ...]:
        """The terms in a normalised text, in order. At each place the longest term counts; terms
        are whole words and do not overlap."""
        if normaliser.name not in self._indexes:
            self._indexes[normaliser.name] = _Index(self.terms, normaliser)
        return tuple(self._indexes[normaliser.name].find(text))


class _Index:
    """Finds terms in texts of one normaliser. The terms are stored by the words of their
    sources."""

    def __init__(self, terms: Iterable[Term], normaliser: Normaliser) -> None:
        self._terms: dict[_Key, list[tuple[str, Term]]] = {}
        lengths: dict[str, set[int]] = {}
        for term in terms:
            source = normaliser.plain(term.source).text
            key = _key(atoms(source))
            if key:
                self._terms.setdefault(key, []).append((source, term))
                lengths.setdefault(key[0], set()).add(len(key))
        self._lengths = {word: sorted(own, reverse=True) for word, own in lengths.items()}

    def find(self, text: str) -> Iterator[FoundTerm]:
        words = atoms(text)
        number = 0
        while number < len(words):
            found = None
            for length in self._lengths.get(words[number].text.casefold(), ()):
                here = words[number : number + length]
                if found := self._term(text, here):
                    yield FoundTerm(
                        found, here[0].begin, here[-1].end, text[here[0].begin : here[-1].end]
                    )
                    break
            number += length if found else 1

    def _term(self, text: str, here: Sequence[Atom]) -> Term | None:
        """The term that has these words as its source. If there are several, the one that is
        written in the same case is preferred."""
        candidates = self._terms.get(_key(here))
        if candidates is None:
            return None
        written = " ".join(text[here[0].begin : here[-1].end].split())
        for source, term in candidates:
            if source == written:
                return term
        shouted = written.isupper() and len(written) > 1
        for source, term in candidates:
            if source == source.lower() or shouted:
                return term
        return None


def _key(words: Iterable[Atom]) -> _Key:
    return tuple(word.text.casefold() for word in words)


def _shown(term: Term) -> str:
    return BETWEEN_FORMS.join(term.forms) or "as it is"

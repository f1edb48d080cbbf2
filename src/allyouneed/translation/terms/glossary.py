"""A glossary: how certain words are to be translated."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from allyouneed.errors import UsageError
from allyouneed.text.atoms import Atom, atoms
from allyouneed.text.normaliser import AS_TYPED, Normaliser

BETWEEN_FORMS = "|"


@dataclass(frozen=True, slots=True)
class Term:
    """Words of the source, and the forms of which a translation has to have one.

    Without forms the words stay as they are. A source in small letters stands for words with
    capitals too; one with capitals is found as it is written, and in a text all in capitals.
    """

    source: str
    forms: tuple[str, ...] = ()

    @classmethod
    def of(cls, source: str, target: str | Sequence[str]) -> "Term":
        """A term as people write it: "Rad|Rads|Räder", or the forms one by one. A target that is
        empty or equal to the source says that the words stay as they are.

        Raises:
            UsageError: a source or a form without letters or digits; something that is no text.
        """
        forms = target.split(BETWEEN_FORMS) if isinstance(target, str) else target
        for text in (source, *forms) if isinstance(forms, list | tuple) else (source, forms):
            if not isinstance(text, str):
                raise UsageError(f"{text!r} is no term; give a str")
        source = " ".join(source.split())
        if not any(map(str.isalnum, source)):
            raise UsageError(f"the source {source!r} of a term has no letter; write the words here")
        tidy = dict.fromkeys(" ".join(form.split()) for form in forms)
        kept = tuple(form for form in tidy if form)
        if empty := [form for form in kept if not any(map(str.isalnum, form))]:
            raise UsageError(f"the form {empty[0]!r} of the term {source!r} has no letter")
        return cls(source, () if kept == (source,) else kept)


@dataclass(frozen=True, slots=True)
class FoundTerm:
    """A term at one place of a text, text[begin:end] being `words`."""

    term: Term
    begin: int
    end: int
    words: str

    def forms(self) -> tuple[str, ...]:
        """The forms that its translation may have here, the likeliest case first.

        A form in small letters may begin with a capital, as it may begin the sentence. Words all in
        capitals have forms all in capitals, unless the glossary writes them so itself.
        """
        if not self.term.forms:
            return (self.words,)
        shouted = self.words.isupper() and len(self.words) > 1 and not self.term.source.isupper()
        if shouted:
            return tuple(dict.fromkeys(form.upper() for form in self.term.forms))
        capital = (form[0].upper() + form[1:] for form in self.term.forms)
        return tuple(dict.fromkeys([*self.term.forms, *capital]))

    def within(self, text: str) -> "FoundTerm":
        """The same place of a text that differs in capitals alone."""
        return FoundTerm(self.term, self.begin, self.end, text[self.begin : self.end])


_Key = tuple[str, ...]


class Glossary:
    """Terms, found in a text by the words that they begin with: their number costs no time."""

    def __init__(self, terms: Iterable[Term]) -> None:
        """Terms whose sources differ.

        Raises:
            UsageError: a source that has two translations.
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
        """A glossary as people write it: from source to target, as `Term.of` takes them.

        Raises:
            UsageError: a term that cannot be one, or something that holds no terms.
        """
        if not isinstance(terms, Mapping):
            raise UsageError(f"terms={terms!r} must be a mapping, a Glossary or a file's path")
        return cls(Term.of(one, other) for one, other in terms.items())

    def __len__(self) -> int:
        return len(self.terms)

    def find(self, text: str, normaliser: Normaliser = AS_TYPED) -> tuple[FoundTerm, ...]:
        """The terms in a text as the normaliser writes it, in order: the longest at each place,
        whole words only, none within another."""
        if normaliser.name not in self._indexes:
            self._indexes[normaliser.name] = _Index(self.terms, normaliser)
        return tuple(self._indexes[normaliser.name].find(text))


class _Index:
    """Terms by the words of their sources, for texts of one normaliser."""

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
        """The term whose source these words are: one that is written like them before others."""
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

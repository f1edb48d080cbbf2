"""Spells terms for the search: their forms as ids."""

import unicodedata
from collections.abc import Sequence
from functools import cached_property

from allyouneed.decoding.alignment_heads import AlignmentHeads
from allyouneed.decoding.terms import JOINS, LETTER_LAST, MOST_TERMS, WantedTerm, WantedTerms
from allyouneed.text.atoms import is_unspaced
from allyouneed.text.normaliser import Normaliser
from allyouneed.text.protocol import AnyTokenizer
from allyouneed.translation.terms.glossary import FoundTerm

Span = tuple[int, int]
_BRACKET = "("  # a form after it has no space before it, and other ids
_MOST_KEPT = 100_000  # spellings that are remembered


class TermSpeller:
    """Spells forms with the tokenizer of translations."""

    def __init__(self, tokenizer: AnyTokenizer, normaliser: Normaliser) -> None:
        self._tokenizer, self._normaliser = tokenizer, normaliser
        self._spelt: dict[str, tuple[tuple[int, ...], ...]] = {}

    def wanted(
        self,
        sentences: Sequence[Sequence[FoundTerm]],
        sources: Sequence[Sequence[Span]],
        heads: AlignmentHeads,
    ) -> WantedTerms:
        """The terms that a search must use for these sentences. `sources` has the places of each
        sentence's source tokens, in the text in which the terms were found."""
        both = zip(sentences, sources, strict=True)
        wanted = [[self._term(one, spans) for one in terms[:MOST_TERMS]] for terms, spans in both]
        return WantedTerms(wanted, self.edges, heads)

    def _term(self, found: FoundTerm, spans: Sequence[Span]) -> WantedTerm:
        spelt = [ids for form in found.forms() for ids in self._spellings(form)]
        touched = (
            n for n, (begin, end) in enumerate(spans) if begin < found.end and end > found.begin
        )
        return WantedTerm(tuple(dict.fromkeys(spelt)), tuple(touched))

    def _spellings(self, form: str) -> tuple[tuple[int, ...], ...]:
        """The ids of a form after a space, and its ids right after another sign."""
        if form not in self._spelt:
            if len(self._spelt) >= _MOST_KEPT:
                self._spelt.clear()
            plain = self._normaliser.plain(form).text
            spaced, bracket, behind = self._tokenizer.encode_ids(
                [plain, _BRACKET, _BRACKET + plain]
            )
            spelt = [tuple(spaced[:-1])]
            if behind[: len(bracket) - 1] == bracket[:-1]:
                spelt.append(tuple(behind[len(bracket) - 1 : -1]))
            self._spelt[form] = tuple(ids for ids in spelt if ids)
        return self._spelt[form]

    @cached_property
    def edges(self) -> bytes:
        """`WantedTerms.edges` of the vocabulary, by the text that each piece adds after a word."""
        decode = self._tokenizer.decode
        [before] = self._tokenizer.encode_ids(["a"])
        before, begin = before[:-1], len(decode(before[:-1]))
        added = (decode([*before, id])[begin:] for id in range(len(self._tokenizer)))
        return bytes(JOINS * is_word(text[:1]) + LETTER_LAST * is_word(text[-1:]) for text in added)


def is_word(sign: str) -> bool:
    """Whether a character and a letter beside it make one word. An incomplete character does."""
    if not sign or is_unspaced(sign):
        return False
    return sign.isalnum() or sign in "_\ufffd" or unicodedata.combining(sign) != 0

"""fairseq's text rules: Moses splits a text into words, byte-pair codes split words into pieces,
and each side has a dictionary of pieces.

The kind "fairseq" of tokenizer.json holds the unchanged dictionaries and codes.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from allyouneed.checks import expect_list
from allyouneed.errors import AllYouNeedError, ModelFolderError, UsageError
from allyouneed.text.byte_pair_codes import BytePairCodes
from allyouneed.text.clean import clean
from allyouneed.text.concatenating import IDS
from allyouneed.text.encoding import Encoding
from allyouneed.text.moses import Moses, Place, Spaces
from allyouneed.text.stored import StoredTokenizer

KIND = "fairseq"
JOINER = "@@"  # ends every piece of a word but the last
SPECIALS = ("<s>", "<pad>", "</s>", "<unk>")

Rules = Moses | Spaces


class FairseqTokenizer(StoredTokenizer):
    """One side of a fairseq model: its dictionary, its codes and its rules for words.

    The id of the unknown piece is decoded as `<unk>`, as in fairseq.
    """

    START, PAD, END, UNKNOWN = range(len(SPECIALS))

    def __init__(
        self,
        symbols: Sequence[str],
        rules: Rules,
        codes: BytePairCodes | None,
        *,
        whole: str,
        target: "FairseqTokenizer | None" = None,
    ) -> None:
        """`symbols` are the dictionary's symbols in the order of their ids, special ones first.

        Without `codes` words are not split. `whole` is the JSON of both sides. `target` is the
        tokenizer of translations; None means that this is it.
        """
        self._symbols = list(symbols)
        self._ids = {symbol: id for id, symbol in enumerate(self._symbols)}  # the last one wins
        self._rules = rules
        self._codes = codes
        self._json = whole
        self._target = target

    @classmethod
    def of_sides(
        cls,
        symbols: tuple[Sequence[str], Sequence[str]],
        languages: tuple[str, str],
        *,
        moses: Mapping[str, bool] | None,
        codes: str | None,
        origin: str = "the codes",
    ) -> "FairseqTokenizer":
        """The tokenizer of sources, whose `target` is the tokenizer of translations.

        `symbols` and `languages` are pairs (source, target). `moses` has the arguments "escapes"
        and "hyphens" of `Moses`; None means that spaces separate all words and signs. `codes` is
        the content of the file `origin`.

        Raises:
            DataError: the codes cannot be read.
            UsageError: the package `sacremoses` is not installed.
        """
        same = list(symbols[0]) == list(symbols[1])
        whole = json.dumps(
            {
                "kind": KIND,
                "languages": list(languages),
                "moses": None if moses is None else dict(moses),
                "codes": codes,
                "source": list(symbols[0]),
                "target": None if same else list(symbols[1]),
            },
            ensure_ascii=False,
            separators=(",", ":"),
        )
        cut = None if codes is None else BytePairCodes(codes, origin)
        rules: list[Rules] = [
            Spaces() if moses is None else Moses(language, **moses) for language in languages
        ]
        target = cls(symbols[1], rules[1], cut, whole=whole)
        return cls(symbols[0], rules[0], cut, whole=whole, target=target)

    @property
    def target(self) -> "FairseqTokenizer":
        """The tokenizer of translations."""
        return self._target or self

    def __len__(self) -> int:
        return len(self._symbols)

    def encode(self, text: str) -> Encoding:
        """One text's ids, pieces and spans. Surrogates count as U+FFFD."""
        text, _ = clean(text)
        words = self._rules.words(text)
        pieces: list[str] = []
        spans: list[tuple[int, int]] = []
        places = self._rules.places(words, text, escapes=self._rules.escapes)
        for word, place in zip(words, places, strict=True):
            cut = self._cut(word)
            pieces += cut
            spans += _touched(cut, place)
        ids = [self._ids.get(piece, self.UNKNOWN) for piece in pieces]
        ids.append(self.END)
        spans.append((len(text), len(text)))
        return Encoding(ids, [self.piece(id) for id in ids], spans)

    def encode_ids(self, texts: Sequence[str]) -> list[list[int]]:
        """Many texts' ids; every list ends in `END`."""
        expect_list(texts, "texts", "a list of texts")
        return [
            [
                *(
                    self._ids.get(piece, self.UNKNOWN)
                    for word in self._rules.words(clean(text)[0])
                    for piece in self._cut(word)
                ),
                self.END,
            ]
            for text in texts
        ]

    def decode(self, ids: Iterable[int]) -> str:
        """The text of the ids, joined by Moses' rules. Padding, start and end have no text.

        Raises:
            UsageError: an id outside the vocabulary.
        """
        expect_list(ids, "ids", IDS)
        return self._rules.text([word for word, _ in self._words(ids)])

    def spans(self, ids: Iterable[int]) -> list[tuple[int, int]]:
        """For each id the characters of `decode(ids)` that its piece touches: (begin, end).

        Raises:
            UsageError: an id outside the vocabulary.
        """
        expect_list(ids, "ids", IDS)
        ids = list(ids)
        words = self._words(ids)
        spelt = [word for word, _ in words]
        text = self._rules.text(spelt)
        found = [(len(text), len(text))] * len(ids)
        escapes = isinstance(self._rules, Moses)  # Moses always undoes escapes when it joins words
        places = self._rules.places(spelt, text, escapes=escapes)
        for (_, numbers), place in zip(words, places, strict=True):
            cut = [self._symbols[ids[number]] for number in numbers]
            for number, span in zip(numbers, _touched(cut, place), strict=True):
                found[number] = span
        return found

    def growing(self) -> "JoinedText":
        """A decoder that takes one id at a time; it returns the whole text at the end."""
        return JoinedText(self.decode)

    def piece(self, id: int) -> str:
        """One piece as the dictionary spells it.

        Raises:
            UsageError: an id outside the vocabulary.
        """
        if not self._has(id):
            raise self._outside(id)
        return self._symbols[id]

    def to_json(self) -> str:
        """The whole tokenizer, both sides, as JSON."""
        return self._json

    def _cut(self, word: str) -> list[str]:
        """The pieces of a word as the dictionary spells them."""
        if self._codes is None:
            return [word]
        *parts, last = self._codes.split(word)
        return [*(part + JOINER for part in parts), last]

    def _words(self, ids: Iterable[int]) -> list[tuple[str, list[int]]]:
        """The words that the ids spell, each with the indices of its ids."""
        words: list[tuple[str, list[int]]] = []
        unfinished = False
        for number, id in enumerate(ids):
            piece = self.piece(id)
            if id in (self.START, self.PAD, self.END):
                continue
            part = piece.removesuffix(JOINER) if self._codes else piece
            if unfinished:
                word, numbers = words[-1]
                words[-1] = (word + part, [*numbers, number])
            else:
                words.append((part, [number]))
            unfinished = len(part) < len(piece)
        return words


class JoinedText:
    """A decoder for text rules that need the whole text: only `end` returns text."""

    def __init__(self, decode: Callable[[Iterable[int]], str]) -> None:
        self._decode = decode
        self._ids: list[int] = []

    def add(self, id: int) -> str:
        """Keeps the id and returns ""."""
        self._ids.append(id)
        return ""

    def end(self) -> str:
        """The whole text without white space at its ends."""
        return self._decode(self._ids).strip()


def read_fairseq_tokenizer(contents: Mapping[str, Any], origin: str) -> FairseqTokenizer:
    """The tokenizer that `FairseqTokenizer.to_json` wrote; errors name the file `origin`.

    Raises:
        ModelFolderError: the contents are damaged.
        UsageError: the package `sacremoses` is not installed.
    """
    try:
        source, moses, codes = contents["source"], contents["moses"], contents["codes"]
        target = source if contents["target"] is None else contents["target"]
        for symbols in (source, target):
            if tuple(symbols[: len(SPECIALS)][1:]) != SPECIALS[1:]:
                raise ValueError(f"a dictionary begins with {symbols[: len(SPECIALS)]}")
        languages = (str(contents["languages"][0]), str(contents["languages"][1]))
        return FairseqTokenizer.of_sides((source, target), languages, moses=moses, codes=codes)
    except UsageError:
        raise
    except (KeyError, TypeError, IndexError, ValueError, AllYouNeedError) as error:
        raise ModelFolderError(f"{origin} is damaged: {error}; import the model again") from error


def _touched(pieces: Sequence[str], place: Place) -> list[tuple[int, int]]:
    """The span of each piece of one word. `place` has the text position of each character."""
    spans: list[tuple[int, int]] = []
    at = 0
    for number, piece in enumerate(pieces, 1):
        here = place[at : at + len(piece) - (len(JOINER) if number < len(pieces) else 0)]
        spans.append((here[0], here[-1] + 1) if here else (0, 0))
        at += len(here)
    return spans

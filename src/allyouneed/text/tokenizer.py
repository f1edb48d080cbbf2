"""Byte-level byte-pair encoding with one vocabulary for both languages (section 5.1; Sennrich et
al. 2016). The library `tokenizers` learns vocabularies; `byte_level` cuts texts as it would.

`encode` puts one space before the text, so that a word has the same piece at the start of a text as
inside it. It then cuts the text's bytes into pieces. Every byte has a piece, so no text is unknown,
and `decode` gives back exactly the text that was encoded.
"""

import json
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Self

from allyouneed.checks import expect, expect_list, expect_path, shortened
from allyouneed.errors import ConfigError, ModelFolderError, UsageError, needs_torch
from allyouneed.pipeline import processors
from allyouneed.text.byte_level import ByteLevel
from allyouneed.text.clean import clean
from allyouneed.text.concatenating import ConcatenatingTokenizer
from allyouneed.text.encoding import Encoding, spans
from allyouneed.text.spellings import Spellings, readable
from allyouneed.text.tokenizer_file import (
    BYTE_ALPHABET,
    SPECIALS,
    MisfitError,
    check,
    document,
    read_text,
)
from allyouneed.text.tokenizers_library import is_installed, learnt, opened
from allyouneed.text.word_memory import WordMemory

if TYPE_CHECKING:
    import tokenizers

# Up to this number of cores, `WordMemory` on one core is faster than the library on all of them. On
# one core it takes a third of the library's time.
FEW = 3
MOST_PIECES = 2**32  # ids have 32 bits


class Tokenizer(ConcatenatingTokenizer):
    """The project's own tokenizer: a vocabulary of byte pieces, from text to ids and back."""

    PAD, START, END, UNKNOWN = range(len(SPECIALS))
    specials: tuple[str, ...] = SPECIALS

    def __init__(
        self,
        vocabulary: dict[str, int],
        merges: list[tuple[str, str]],
        languages: Sequence[str] = (),
    ) -> None:
        """`vocabulary` maps pieces, spelt in the byte alphabet, to ids 0..n-1.

        `merges` are in the order in which they were learnt.

        Raises:
            MisfitError: not a byte-level vocabulary with this project's special ids.
        """
        self.languages = tuple(languages)
        self.specials = _with_marks(type(self).specials, languages)
        check(vocabulary, merges, self.specials)
        self._pieces = sorted(vocabulary, key=vocabulary.__getitem__)  # by id, spelt in bytes
        self._bytes = Spellings(self._pieces)
        self._bytes |= dict.fromkeys((self.PAD, self.START, self.END), b"")
        self._bytes |= {self.mark(code): b"" for code in self.languages}
        self._bytes[self.UNKNOWN] = "\ufffd".encode()
        self._byte_level = ByteLevel(vocabulary, merges)
        self._memory = WordMemory(self._encode_all)

    @cached_property
    def _library(self) -> "tokenizers.Tokenizer":
        """The same tokenizer in the library, which cuts many texts on all cores."""
        return opened(self._json)

    @cached_property
    def _json(self) -> str:
        merges = [(self._pieces[a], self._pieces[b]) for a, b, _ in self._byte_level.merges()]
        ids = {piece: id for id, piece in enumerate(self._pieces)}
        contents = document(ids, merges, self.specials)
        return json.dumps(contents, ensure_ascii=False, separators=(",", ":"))

    @classmethod
    def train(cls, texts: Iterable[str], vocabulary: int, languages: Sequence[str] = ()) -> Self:
        """A tokenizer with up to `vocabulary` pieces, learnt from texts of all languages together.

        The same texts give the same pieces. Learning stops early, with fewer pieces, when no pair
        of pieces occurs twice.

        Raises:
            ConfigError: `vocabulary` cannot hold the bytes and the special pieces, or is above
                4 billion.
            UsageError: `texts` are not texts, or `vocabulary` is no whole number.
            MissingPackage: the library `tokenizers` is not installed.
        """
        expect_list(texts, "texts", "a list of texts")
        expect(vocabulary, int, "vocabulary", "the number of pieces")
        specials = _with_marks(cls.specials, languages)
        smallest = len(specials) + len(BYTE_ALPHABET)
        if vocabulary < smallest:
            raise ConfigError(
                f"a vocabulary of {vocabulary} cannot hold the 256 bytes and "
                f"{len(specials)} special pieces; the smallest is {smallest}"
            )
        if vocabulary > MOST_PIECES:
            raise ConfigError(
                f"vocabulary={vocabulary} is more than ids of 32 bits can count; "
                f"the largest is {MOST_PIECES}"
            )
        with needs_torch("learning a vocabulary"):
            found, merges = learnt((clean(text)[0] for text in texts), vocabulary, specials)
        return cls(found, merges, languages=languages)

    @classmethod
    def from_json(cls, text: str, origin: str = "the tokenizer") -> Self:
        """The tokenizer that `to_json` wrote as `text`; errors name the file `origin`.

        Raises:
            ModelFolderError: not JSON, or not a tokenizer of this kind.
        """
        try:
            contents = json.loads(text)
            model = contents["model"]
            vocabulary = dict(model["vocab"])
            merges = [(left, right) for left, right in model["merges"]]
            specials = tuple(str(added["content"]) for added in contents["added_tokens"])
            languages = _marked_languages(specials[len(cls.specials) :])
            if specials != _with_marks(cls.specials, languages) or contents != document(
                vocabulary, [list(merge) for merge in merges], specials
            ):
                raise MisfitError("its settings differ from those this project writes")
            return cls(vocabulary, merges, languages)
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            reason = str(error) if isinstance(error, MisfitError) else "it is damaged"
            raise ModelFolderError(
                f"{origin} is not a tokenizer of this project: {reason}; "
                "copy it again from the model folder it belongs to, or train the model again"
            ) from error

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """The tokenizer of a `tokenizer.json`.

        Raises:
            ModelFolderError: no such file, unreadable, or not a tokenizer of this kind.
            UsageError: `path` is no path.
        """
        expect_path(path, "path", "the path of a tokenizer.json")
        return cls.from_json(read_text(path), str(path))

    def to_json(self) -> str:
        """The whole tokenizer as one line of JSON. The library `tokenizers` can read it too."""
        return self._json

    def __reduce__(self) -> tuple[Callable[[str], Self], tuple[str]]:
        """Copies are made from the JSON. A copy made by the library would read a `</s>` in a text
        as the end of the sentence."""
        return type(self).from_json, (self._json,)

    def __len__(self) -> int:
        return len(self._pieces)

    @property
    def target(self) -> Self:
        """The tokenizer of translations: this one, since both languages share one vocabulary."""
        return self

    def encode(self, text: str) -> Encoding:
        """One text's ids, pieces and spans. Surrogates count as U+FFFD (see `clean`).

        Raises:
            UsageError: the text is not a str.
        """
        text, _ = clean(text)
        ids = [*self._encode(text), self.END]
        pieces = [self.piece(i) for i in ids]
        lengths = [len(self._bytes[i]) for i in ids]
        return Encoding(ids, pieces, list(spans(text, lengths)))

    def encode_ids(self, texts: Sequence[str]) -> list[list[int]]:
        """Many texts' ids; every list ends in `END`.

        On few cores a memory of words is faster; on many cores the library is, as it uses them all.
        """
        expect_list(texts, "texts", "a list of texts")
        cleaned = [clean(text)[0] for text in texts]
        if processors() <= FEW or not is_installed():
            ids = self._memory.ids(cleaned)
        else:
            encodings = self._library.encode_batch_fast(cleaned, add_special_tokens=False)
            ids = [encoding.ids for encoding in encodings]
        for one in ids:
            one.append(self.END)
        return ids

    def _encode(self, text: str) -> list[int]:
        """One text's ids, without `END`; a space is put before the text."""
        return self._byte_level.ids(f" {text}") if text else []

    def _encode_all(self, texts: list[str]) -> list[list[int]]:
        return [self._encode(text) for text in texts]

    def piece(self, id: int) -> str:
        """One piece as readable text. A byte of an incomplete character is written as `<0xF0>`.

        Raises:
            UsageError: an id outside the vocabulary.
        """
        spelling = self.spelling(id)
        if id < len(self.specials):
            return self.specials[id]
        return readable(spelling)

    def mark(self, language: str) -> int:
        """The id that says that the translation is meant to be in this language.

        Raises:
            UsageError: this vocabulary has no mark for the language.
        """
        if language not in self.languages:
            raise UsageError(
                f"this vocabulary has no mark for the language {shortened(language)}; it has "
                f"{', '.join(self.languages) or 'none'}"
            )
        return len(type(self).specials) + self.languages.index(language)

    def halves(self) -> dict[int, tuple[int, int]]:
        """The merge tree: each piece longer than one byte → the two pieces it was merged from."""
        tree: dict[int, tuple[int, int]] = {}
        for left, right, merged in self._byte_level.merges():
            tree.setdefault(merged, (left, right))
        return tree

    def spelling(self, id: int) -> bytes:
        """The bytes that one piece adds to a text; none for padding, start and end.

        Raises:
            UsageError: an id outside the vocabulary.
        """
        try:
            return self._bytes[id]
        except (KeyError, TypeError):  # TypeError: a list, which cannot be a key
            raise self._outside(id) from None


def _with_marks(specials: tuple[str, ...], languages: Sequence[str]) -> tuple[str, ...]:
    """The special pieces, with a mark for each language behind them: "<2de>" for German."""
    return (*specials, *(f"<2{code}>" for code in languages))


def _marked_languages(marks: Sequence[str]) -> tuple[str, ...]:
    return tuple(mark.removeprefix("<2").removesuffix(">") for mark in marks)

"""Joint byte-level byte-pair encoding (section 5.1; Sennrich et al. 2016) over `tokenizers`.

A text is given one leading space, so that a word at its start shares its piece with the same
word further in, and is then spelt in bytes: nothing is unknown, and decoding gives back exactly
what was encoded.
"""

import functools
import hashlib
import itertools
import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import ClassVar, Self

import tokenizers

from allyouneed.errors import ConfigError, ModelFolderError, UsageError
from allyouneed.files import write_whole
from allyouneed.pipeline import processors
from allyouneed.text.clean import clean
from allyouneed.text.spelt import Spelt
from allyouneed.text.tokenizer_file import (
    BYTE_ALPHABET,
    SPECIALS,
    MisfitError,
    check,
    document,
    spell,
)
from allyouneed.text.word_memory import WordMemory

FEW = 3  # cores: a text's words are put together on one of them, in a third of the library's time


@dataclass(frozen=True, slots=True)
class Encoding:
    """A tokenised text; the three lists are of one length and end with the end of the sentence.

    `pieces` are the vocabulary's, made readable, so the first usually shows the added space.
    `spans` are character offsets into the text: piece i touches `text[spans[i][0]:spans[i][1]]`.
    Pieces that share a character both cover it; the added space and the end cover none.
    """

    ids: list[int]
    pieces: list[str]
    spans: list[tuple[int, int]]


class _Spellings(dict[int, bytes]):
    """The bytes of each piece by its id, found when an id is first asked for.

    Raises:
        KeyError: an id outside the vocabulary.
    """

    def __init__(self, ids: Iterable[str]) -> None:
        self._pieces = dict(enumerate(ids))

    def __missing__(self, id: int) -> bytes:
        self[id] = spell(self._pieces[id])
        return self[id]


class Tokenizer(Spelt):
    """A vocabulary of byte pieces, and the way from text to ids and back."""

    PAD, START, END, UNKNOWN = range(len(SPECIALS))
    specials: ClassVar[tuple[str, ...]] = SPECIALS

    def __init__(
        self, vocabulary: dict[str, int], merges: list[tuple[str, str]], text: str | None = None
    ) -> None:
        """`vocabulary` maps pieces, spelt in the byte alphabet, to ids 0..n-1; `merges` in order.

        `text` is a file that holds just these, where one was read.

        Raises:
            MisfitError: the two are no byte-level vocabulary with this project's special ids.
        """
        check(vocabulary, merges, self.specials)
        self._ids = dict(sorted(vocabulary.items(), key=lambda entry: entry[1]))
        self._merges = merges
        self._bytes = _Spellings(self._ids)
        self._bytes |= dict.fromkeys((self.PAD, self.START, self.END), b"")
        self._bytes[self.UNKNOWN] = "\ufffd".encode()
        self._library = tokenizers.Tokenizer.from_str(text or self._json)
        self._library.encode_special_tokens = True  # the file format does not keep it
        self._memory = WordMemory(self._encode_all)
        stay_quiet_after_fork()

    @cached_property
    def _json(self) -> str:
        contents = document(self._ids, self._merges, self.specials)
        return json.dumps(contents, ensure_ascii=False, separators=(",", ":"))

    @classmethod
    def train(cls, texts: Iterable[str], vocabulary: int) -> Self:
        """Learns up to `vocabulary` pieces from texts of all languages together.

        The same texts give the same pieces. There are fewer than asked for when no pair of
        pieces is left that occurs twice.

        Raises:
            ConfigError: `vocabulary` cannot hold the bytes and the special pieces.
        """
        smallest = len(cls.specials) + len(BYTE_ALPHABET)
        if vocabulary < smallest:
            raise ConfigError(
                f"a vocabulary of {vocabulary} cannot hold the 256 bytes and "
                f"{len(cls.specials)} special pieces; the smallest is {smallest}"
            )
        trainer = tokenizers.trainers.BpeTrainer(
            vocab_size=vocabulary,
            min_frequency=2,
            special_tokens=list(cls.specials),
            initial_alphabet=sorted(BYTE_ALPHABET),
            show_progress=False,
        )
        empty: dict[str, int] = {piece: i for i, piece in enumerate(cls.specials)}
        library = tokenizers.Tokenizer.from_str(json.dumps(document(empty, [], cls.specials)))
        library.encode_special_tokens = True
        library.train_from_iterator((clean(text)[0] for text in texts), trainer)
        learnt = json.loads(library.to_str())["model"]
        return cls(learnt["vocab"], [(left, right) for left, right in learnt["merges"]])

    @classmethod
    def from_json(cls, text: str, origin: str = "the tokenizer") -> Self:
        """Reads what `to_json` wrote; `origin` is how an error names it.

        Raises:
            ModelFolderError: it is not JSON, or not a tokenizer of this shape.
        """
        try:
            contents = json.loads(text)
            model = contents["model"]
            vocabulary = dict(model["vocab"])
            merges = [(left, right) for left, right in model["merges"]]
            if contents != document(vocabulary, [list(merge) for merge in merges], cls.specials):
                raise MisfitError("its settings are not those of byte-level text here")
            return cls(vocabulary, merges, text)
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            reason = str(error) if isinstance(error, MisfitError) else "it is damaged"
            raise ModelFolderError(
                f"{origin} is no tokenizer of this project: {reason}; "
                "copy it again from the model folder it belongs to, or train the model anew"
            ) from error

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Reads a `tokenizer.json`.

        Raises:
            ModelFolderError: no such file, unreadable, or not a tokenizer of this shape.
        """
        return cls.from_json(read_text(path), str(path))

    def save(self, path: str | Path) -> None:
        """Writes `tokenizer.json`, beside first and then renamed: never half there.

        Raises:
            OSError: no room or no permission; a file that was there stays as it was.
        """
        write_whole(path, self._json)

    def to_json(self) -> str:
        """The whole tokenizer as one line of JSON, which the `tokenizers` library reads too."""
        return self._json

    def fingerprint(self) -> str:
        """SHA-256 of the JSON, in hexadecimal: equal for equal tokenizers, whatever the library."""
        return hashlib.sha256(self._json.encode()).hexdigest()

    def __reduce__(self) -> tuple[Callable[[str], Self], tuple[str]]:
        """Copies are read anew: the library's own would no longer take `</s>` for text."""
        return type(self).from_json, (self._json,)

    def __len__(self) -> int:
        return len(self._ids)

    @property
    def target(self) -> Self:
        """The tokenizer of translations: this one, as both languages share a vocabulary."""
        return self

    def encode(self, text: str) -> Encoding:
        """Tokenises one text; surrogates count as U+FFFD (`clean` has the note about them)."""
        text, _ = clean(text)
        ids: list[int] = self._library.encode(text).ids
        pieces = [self.piece(i) for i in ids]
        return Encoding(ids, pieces, list(self._spans(text, ids)))

    def encode_ids(self, texts: Sequence[str]) -> list[list[int]]:
        """Tokenises many texts at once, ids only; every list ends in `END`.

        On few cores by words that are remembered; on many the library is faster, as it takes all.
        """
        cleaned = [clean(text)[0] for text in texts]
        ids = (self._memory.ids if processors() <= FEW else self._encode_all)(cleaned)
        for one in ids:
            one.append(self.END)
        return ids

    def _encode_all(self, texts: list[str]) -> list[list[int]]:
        """By the library, without `END`."""
        encodings = self._library.encode_batch_fast(texts, add_special_tokens=False)
        return [encoding.ids for encoding in encodings]

    def decode(self, ids: Iterable[int]) -> str:
        """The text of the ids; for those of `encode(text)`, exactly the (clean) text.

        Padding, start and end have no text; an unknown piece and bytes that are no UTF-8, which
        a model may write, become U+FFFD. One space at the very start is the one added by encoding.

        Raises:
            UsageError: an id outside the vocabulary.
        """
        text = b"".join([self.spelling(i) for i in ids])
        return text.removeprefix(b" ").decode(errors="replace")

    def piece(self, id: int) -> str:
        """One piece made readable; bytes that are no whole character are written `<0xF0>`.

        Raises:
            UsageError: an id outside the vocabulary.
        """
        spelling = self.spelling(id)
        if id < len(self.specials):
            return self.specials[id]
        half_read = spelling.decode(errors="surrogateescape")  # byte b becomes U+DC00 + b
        return re.sub("[\udc80-\udcff]", lambda byte: f"<0x{ord(byte[0]) - 0xDC00:02X}>", half_read)

    def halves(self) -> dict[int, tuple[int, int]]:
        """The merge tree: for every piece that is no single byte, the two it was merged from."""
        tree: dict[int, tuple[int, int]] = {}
        for left, right in self._merges:
            tree.setdefault(self._ids[left + right], (self._ids[left], self._ids[right]))
        return tree

    def spelling(self, id: int) -> bytes:
        """The bytes of one piece; none for padding, start and end.

        Raises:
            UsageError: an id outside the vocabulary.
        """
        try:
            return self._bytes[id]
        except KeyError:
            raise UsageError(
                f"id {id} is outside this vocabulary of {len(self)} pieces; "
                "use the tokenizer.json of the model that wrote it"
            ) from None

    def _spans(self, text: str, ids: Sequence[int]) -> Iterator[tuple[int, int]]:
        """Where each piece lies in the text, from the bytes it spells; one byte was added ahead."""
        ends = list(itertools.accumulate(len(self._bytes[i]) for i in ids))
        starts = [0, *ends[:-1]]
        character = _characters(text)
        for start, end in zip(starts, ends, strict=True):
            first = character[max(start - 1, 0)]
            last = first if end <= max(start, 1) else character[end - 2] + 1
            yield first, last


def read_text(path: str | Path) -> str:
    """A `tokenizer.json` as text.

    Raises:
        ModelFolderError: no such file, unreadable, or no UTF-8.
    """
    try:
        return Path(path).read_bytes().decode()
    except UnicodeDecodeError as error:
        raise ModelFolderError(
            f"{path} is not UTF-8 at byte {error.start}; "
            "copy it again from the model folder it belongs to"
        ) from error
    except OSError as error:
        raise ModelFolderError(
            f"{path} cannot be read ({error.strerror}); give the tokenizer.json of a model folder"
        ) from error


def _characters(text: str) -> Sequence[int]:
    """For each byte of the text in UTF-8, and for the byte after, its character's number."""
    if text.isascii():
        return range(len(text) + 1)
    widths = (len(character.encode()) for character in text)
    numbers = [n for n, width in enumerate(widths) for _ in range(width)]
    return [*numbers, len(text)]


@functools.cache
def stay_quiet_after_fork() -> None:
    """Lets a forked process tokenise on one core, without a warning from older libraries.

    Their threads do not live on in a fork, and they look at the environment while forking: so
    the variable is there for that moment only. One that the user has set is left alone.
    """
    name = "TOKENIZERS_PARALLELISM"
    if name in os.environ or not hasattr(os, "register_at_fork"):  # Windows has no forks
        return

    def before() -> None:
        os.environ[name] = "false"

    def after_in_parent() -> None:
        os.environ.pop(name, None)

    os.register_at_fork(before=before, after_in_parent=after_in_parent)

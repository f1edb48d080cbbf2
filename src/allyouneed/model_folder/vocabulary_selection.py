"""Vocabulary selection: the target ids that the translation of a source sentence can need.

The output layer is the widest product of a decoding step, and most of its columns are words that
have nothing to do with the sentence. With a selection, the layer is computed for some hundred
columns (Jean et al. 2015; L'Hostis et al. 2016).

V vocabulary · C candidates of all source ids together · A ids that every sentence gets
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import safe_open
from safetensors.numpy import save_file

from allyouneed.errors import ModelFolderError, UsageError
from allyouneed.files import whole_file
from allyouneed.model_folder.folder import VOCABULARY_SELECTION, ModelFolder
from allyouneed.model_folder.weights.file import reading
from allyouneed.text.protocol import AnyTokenizer
from allyouneed.text.tokenizer import Tokenizer

FORMAT = "allyouneed vocabulary selection"
FORMAT_VERSION = 1
LARGE = 32_000  # pieces: the output layer of a larger vocabulary takes most of a step
DTYPES = {"offsets": "I64", "ids": "I32", "always": "I32"}

Ids = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class VocabularySelection:
    """The target ids that each source id can need, and the target ids that every sentence gets.

    Source id s can need `ids_C[offsets[s] : offsets[s + 1]]`. `always_A` holds the special ids, the
    most frequent target ids and the single bytes, with which any word can be spelled.
    """

    offsets: Ids
    ids_C: NDArray[np.int32]
    always_A: NDArray[np.int32]

    @property
    def vocabulary(self) -> int:
        """The number of source ids."""
        return len(self.offsets) - 1

    @cached_property
    def _always_V(self) -> NDArray[np.bool_]:
        highest = max(self.ids_C.max(initial=0), self.always_A.max(initial=0))
        always_V = np.zeros(highest + 1, bool)
        always_V[self.always_A] = True
        return always_V

    def ids(self, sources: Sequence[Sequence[int]]) -> Ids:
        """The target ids that at least one of these sentences can need, sorted.

        `sources` are lists of source ids, with or without padding and end.
        """
        needed_V = self._always_V.copy()
        named = {id_ for source in sources for id_ in source}
        if named:
            slices = [self.ids_C[self.offsets[id_] : self.offsets[id_ + 1]] for id_ in named]
            needed_V[np.concatenate(slices)] = True
        return needed_V.nonzero()[0]

    def rows(
        self,
        sources: Sequence[Sequence[int]],
        prefixes: Sequence[Sequence[int]] | None = None,
    ) -> list[Ids]:
        """For each sentence the target ids it can need, with the ids of its forced prefix, sorted.

        Engines normalise log-probabilities over the sentence's own row; every other id has
        probability 0. A translation therefore does not depend on the other sentences of its batch.
        """
        rows = [self.ids([source]) for source in sources]
        if prefixes is None:
            return rows
        return [
            np.union1d(row, np.asarray(prefix, np.int64))
            for row, prefix in zip(rows, prefixes, strict=True)
        ]

    def save(self, path: Path, tokenizer: AnyTokenizer) -> None:
        """Writes a new file and renames it to `path`. The file names the tokenizer's fingerprint.

        Raises:
            ModelFolderError: the file cannot be written. A file already at `path` is unchanged.
        """
        arrays: dict[str, NDArray[Any]] = {
            "offsets": self.offsets,
            "ids": self.ids_C,
            "always": self.always_A,
        }
        description = {
            "format": FORMAT,
            "format_version": str(FORMAT_VERSION),
            "tokenizer": tokenizer.fingerprint(),
        }
        try:
            with whole_file(path) as beside:
                save_file(arrays, beside, description)
        except OSError as error:
            raise ModelFolderError(
                f"{path} could not be written: {error}; make room, or write to another folder"
            ) from error
        finally:
            beside.unlink(missing_ok=True)

    @classmethod
    def load(cls, path: Path, tokenizer: AnyTokenizer) -> "VocabularySelection":
        """The selection that `save` wrote for this tokenizer.

        Raises:
            ModelFolderError: the file is missing, damaged, of a later format, or was made for
                another tokenizer.
        """
        with reading(path), safe_open(path, "numpy") as file:
            _check_description(path, file.metadata() or {}, tokenizer)
            names = file.keys()
            found = {name: file.get_slice(name).get_dtype() for name in names}
            if found != DTYPES:
                raise _damaged(path, f"it holds {found or 'nothing'}, not {DTYPES}")
            offsets, ids_C, always_A = (file.get_tensor(name) for name in DTYPES)
        _check_arrays(path, offsets, ids_C, always_A, tokenizer)
        return cls(offsets, ids_C, always_A)


def open_vocabulary_selection(folder: ModelFolder) -> VocabularySelection:
    """The vocabulary selection of a model folder.

    Raises:
        UsageError: the folder has none.
        ModelFolderError: as in `VocabularySelection.load`.
    """
    path = folder.path / VOCABULARY_SELECTION
    if not path.exists():
        raise UsageError(
            f"{folder.path} has no {VOCABULARY_SELECTION}; learn it from pairs of sentences with "
            "allyouneed select-vocabulary, or translate without vocabulary selection"
        )
    return VocabularySelection.load(path, folder.tokenizer)


def suggestion(folder: ModelFolder) -> str | None:
    """A hint that a vocabulary selection would make this model faster; None if its vocabulary is
    small, or it has a selection or no decoder."""
    pieces = folder.config.vocabulary
    has_one = (folder.path / VOCABULARY_SELECTION).exists()
    if pieces < LARGE or has_one or folder.heads is not None:
        return None
    return (
        f"its vocabulary has {pieces:,} pieces: `allyouneed select-vocabulary --model "
        f"{folder.path} --source TEXT` learns which of them a sentence can need, and "
        "--vocabulary-selection then translates faster"
    )


def indispensable(tokenizer: AnyTokenizer) -> Ids:
    """The target ids that every selection must hold: the special ids and, with this project's own
    tokenizer, the single bytes, of which every piece is made."""
    if isinstance(tokenizer, Tokenizer):
        return np.array(sorted(set(range(len(tokenizer))) - tokenizer.halves().keys()), np.int64)
    target = tokenizer.target
    return np.unique([target.PAD, target.START, target.END])


def _check_description(path: Path, description: dict[str, str], tokenizer: AnyTokenizer) -> None:
    if description.get("format") != FORMAT:
        raise _damaged(path, f"its metadata lack format={FORMAT!r}")
    version = description.get("format_version", "")
    if not version.isdecimal() or int(version) < 1:
        raise _damaged(path, f"its format_version={version!r} must be 1 or more")
    if int(version) > FORMAT_VERSION:
        raise ModelFolderError(
            f"{path} has format version {version}; this allyouneed reads up to {FORMAT_VERSION}: "
            "upgrade it with pip install -U allyouneed"
        )
    if description.get("tokenizer") != tokenizer.fingerprint():
        raise ModelFolderError(
            f"{path} was made for another tokenizer; "
            "make it again with allyouneed select-vocabulary"
        )


def _check_arrays(
    path: Path,
    offsets: NDArray[np.int64],
    ids_C: NDArray[np.int32],
    always_A: NDArray[np.int32],
    tokenizer: AnyTokenizer,
) -> None:
    if {offsets.ndim, ids_C.ndim, always_A.ndim} != {1}:
        raise _damaged(path, "its arrays have more than one axis")
    if len(offsets) != len(tokenizer) + 1 or offsets[0] != 0 or offsets[-1] != len(ids_C):
        raise _damaged(
            path, f"its offsets do not divide {len(ids_C)} ids among {len(tokenizer)} pieces"
        )
    if (np.diff(offsets) < 0).any():
        raise _damaged(path, "its offsets are not in ascending order")
    targets = len(tokenizer.target)
    for name, ids in (("ids", ids_C), ("always", always_A)):
        wrong = ids[(ids < 0) | (ids >= targets)]
        if len(wrong):
            raise _damaged(path, f"{name} holds {wrong[0]}, which is not in 0 … {targets - 1}")
    missing = np.setdiff1d(indispensable(tokenizer), always_A)
    if len(missing):
        raise _damaged(
            path, f"always lacks {len(missing)} special ids or bytes, {missing[0]} first"
        )


def _damaged(path: Path, reason: str) -> ModelFolderError:
    return ModelFolderError(
        f"{path} is not a vocabulary selection: {reason}; "
        "make it again with allyouneed select-vocabulary"
    )

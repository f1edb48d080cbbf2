"""A corpus in many files: folders of shards, read in the order of their names."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from allyouneed.data.corpus import Corpus
from allyouneed.errors import DataError


def shards(corpus: Corpus) -> list[Corpus]:
    """The corpus itself, or, if its paths are folders, one corpus for every shard.

    If both sides are folders, the first file of one belongs to the first file of the other, and so
    on. If `source` holds both sides, each file is read in the corpus' format or by its own suffix.
    Files whose names begin with "." or "_" are skipped, because programs give such names to files
    of their own. Each shard has the weight of the corpus.

    Raises:
        DataError: a folder has no file or contains a folder, or the two folders have different
            numbers of files.
    """
    folders = [path for path in corpus.files if path.is_dir()]
    if not folders:
        return [corpus]
    if len(folders) < len(corpus.files):
        (file,) = set(corpus.files) - set(folders)
        raise DataError(
            f"{folders[0]} is a folder and {file} is a file; name two folders with as many files, "
            "or two files"
        )
    sides = [_files(folder) for folder in folders]
    if len(sides) == 1:
        return [replace(corpus, source=path) for path in sides[0]]
    _check_as_many(folders, sides)
    return [
        replace(corpus, source=source, target=target, format="text")
        for source, target in zip(*sides, strict=True)
    ]


def _files(folder: Path) -> list[Path]:
    """The files of the folder, ordered by name."""
    found = sorted(path for path in folder.iterdir() if not path.name.startswith((".", "_")))
    for path in found:
        if not path.is_file():
            raise DataError(
                f"{path} is not a file, but a folder of shards must hold files only; name {path} "
                "as a corpus of its own, or move it away"
            )
    if not found:
        raise DataError(f"{folder} has no files; put the shards there, or remove the corpus")
    return found


def _check_as_many(folders: Sequence[Path], sides: Sequence[Sequence[Path]]) -> None:
    if len(sides[0]) == len(sides[1]):
        return
    few, many = sorted((0, 1), key=lambda n: len(sides[n]))
    raise DataError(
        f"{folders[many]} has {len(sides[many]):,} files, {folders[few]} has {len(sides[few]):,}: "
        f"{sides[many][len(sides[few])].name} is the first without a partner; both folders need "
        "the same number of files, in the same order of names"
    )

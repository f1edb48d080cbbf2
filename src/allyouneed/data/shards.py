"""A corpus in many files: folders of shards, taken in the order of their names."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from allyouneed.data.corpus import Corpus
from allyouneed.errors import DataError


def shards(corpus: Corpus) -> list[Corpus]:
    """The corpus itself, or one for every shard when its files are folders.

    Where both sides have a folder, the first file of one belongs to the first of the other, and
    so on; where `source` holds both sides, each file is read by the corpus' format or its own
    suffix. Files whose names begin with "." or "_" are no shards: that is how programs name what
    they put beside them. The weight is that of the whole.

    Raises DataError for folders of different numbers of files, or without any, and for what is no
    file.
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
    """What is in the folder, by name."""
    found = sorted(path for path in folder.iterdir() if not path.name.startswith((".", "_")))
    for path in found:
        if not path.is_file():
            raise DataError(
                f"{path} is no file: a folder of shards holds files alone; name {path} as a corpus "
                "of its own, or move it away"
            )
    if not found:
        raise DataError(f"{folder} holds no file; put the shards there, or take the corpus out")
    return found


def _check_as_many(folders: Sequence[Path], sides: Sequence[Sequence[Path]]) -> None:
    if len(sides[0]) == len(sides[1]):
        return
    few, many = sorted((0, 1), key=lambda n: len(sides[n]))
    raise DataError(
        f"{folders[many]} has {len(sides[many]):,} files, {folders[few]} has {len(sides[few]):,}: "
        f"{sides[many][len(sides[few])].name} is the first without a partner; both folders need "
        "one file for each of the other's, in the same order of names"
    )

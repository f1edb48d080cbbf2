"""Stores of examples that are not pairs of sentences: input ids, and the labels to predict."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Protocol

from allyouneed.data.contents import ContentHashes
from allyouneed.data.report import DataReport
from allyouneed.data.store import VERSION, Content, TokenStore, keep_store
from allyouneed.data.store_writer import Progress, StoreFiles
from allyouneed.errors import DataError

AT_ONCE = 8192  # examples written together


@dataclass(frozen=True, slots=True)
class Example:
    """An example: the ids stored as a pair's source and target, and the line where it begins."""

    source: list[int]
    target: list[int]
    line: int


class Files(Protocol):
    """The part of a corpus that its store uses."""

    @property
    def name(self) -> str: ...
    @property
    def files(self) -> list[Path]: ...


# (number of the corpus, report for lines that are left out) → the corpus' examples
Examples = Callable[[int, DataReport], Iterator[Example]]


def example_store(
    corpora: Sequence[Files],
    examples: Examples,
    settings: Mapping[str, Any],
    vocabulary: int,
    cache_dir: Path,
    progress: Progress,
    unit: str,
) -> TokenStore:
    """The store of these examples. It is opened if it is in `cache_dir`, otherwise made there.

    `settings` are all settings that the examples depend on, apart from the files' contents, as JSON
    values. Ids are below `vocabulary`. `unit` names the items that the report counts.

    Raises:
        DataError: a corpus cannot be read, no example is left, or `cache_dir` cannot be written.
    """
    names = [corpus.name for corpus in corpora]

    def described(content: ContentHashes) -> list[Any]:
        files = [[content(path) for path in corpus.files] for corpus in corpora]
        return [VERSION, dict(settings), files, unit]

    def write(folder: Path, progress: Progress) -> None:
        report = DataReport(names, [0] * len(names), unit=unit)
        with StoreFiles(folder, vocabulary) as files:
            for number, name in enumerate(names):
                found = examples(number, report)
                while chunk := list(islice(found, AT_ONCE)):
                    files.append(
                        [example.source for example in chunk],
                        [example.target for example in chunk],
                        [example.line for example in chunk],
                    )
                    report.kept_by_corpus[number] += len(chunk)
                    progress(f"tokenising {name}", 0, None)
        if report.kept == 0:
            raise DataError(f"{', '.join(names)}: no example is left; {report.summary()}")
        (folder / "report.json").write_text(json.dumps(report.to_dict(), indent=1))
        (folder / "store.json").write_text(json.dumps(files.description(), indent=1))

    files = [path for corpus in corpora for path in corpus.files]
    return keep_store(Content(names, files, described, write), cache_dir, progress)

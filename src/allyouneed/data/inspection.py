"""Checks corpora before training: are the files complete, and do their sides match?"""

from collections.abc import Callable, Sequence

from allyouneed.data.corpus import Corpus
from allyouneed.data.lines import count_lines
from allyouneed.data.readers import out_of_step, read_pairs
from allyouneed.data.report import DataReport
from allyouneed.errors import DataError


def inspect_corpora(corpora: Sequence[Corpus], note: Callable[[str], None]) -> None:
    """Reads every file of the corpora once, without tokenising it.

    `note` receives a line about a corpus whose two sides are the same file.

    Raises:
        DataError: a file is missing, damaged, cut short or empty, or the two sides have different
            numbers of lines.
    """
    for corpus in corpora:
        if corpus.made is not None:
            continue
        if corpus.source == corpus.target:
            note(f"{corpus.source} is both source and target: a model learns to copy from it")
        if corpus.resolved_format == "text" and corpus.target is not None:
            _check_sides(corpus)
        elif corpus.resolved_format != "parquet":
            for file in corpus.files:
                count_lines(file)
        if next(read_pairs(corpus, DataReport([corpus.name])), None) is None:
            raise DataError(f"{corpus.name} holds no pair of sentences; remove the corpus")


def _check_sides(corpus: Corpus) -> None:
    source, target = corpus.files
    counts = count_lines(source), count_lines(target)
    if counts[0] != counts[1]:
        raise out_of_step((source, counts[0]), (target, counts[1]))

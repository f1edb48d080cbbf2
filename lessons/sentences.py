"""Sentence pairs that several lessons use: some written for them, and larger sets where the data
folder is there (the one in ALLYOUNEED_DATA, or shared/data beside the project's folder)."""

from itertools import islice
from pathlib import Path

from allyouneed.data.corpus import Corpus
from allyouneed.data.readers import read_pairs
from allyouneed.data.root import resolve
from allyouneed.errors import DataError

HERE = Path(__file__).resolve().parent
BESIDE = HERE.parents[1] / "shared" / "data"

PAIRS = [(pair.source, pair.target) for pair in read_pairs(Corpus(HERE / "sentences.en-de.tsv"))]
"""Everyday sentences, most of them longer than those of Tatoeba."""

ALIGNED = [
    tuple(line.split("\t"))
    for line in (HERE / "alignments.en-de.tsv").read_text("utf-8").split("\n")[:-1]
]
"""Source, target, and links of their words: 0-0 is sure, 0?0 possible."""


def data_file(name: str) -> Path | None:
    """A file of the data folder, or None, and a word on why, where there is none."""
    try:
        return resolve(Path(name), BESIDE)
    except DataError as error:
        print(f"({error})")
        return None


def tatoeba(every: int) -> list[tuple[str, str]]:
    """One in `every` pairs of those that the bundled model was trained on; an empty list where the
    data folder is not there."""
    path = data_file("tatoeba/train.en-de.tsv.gz")
    if path is None:
        return []
    pairs = islice(read_pairs(Corpus(path)), 0, None, every)
    return [(pair.source, pair.target) for pair in pairs]

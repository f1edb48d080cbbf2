"""Word alignments of sentences given as texts. White space separates the words."""

from collections.abc import Iterable, Sequence
from itertools import chain

from allyouneed.data.alignment.aligner import Aligner, Progress
from allyouneed.data.alignment.symmetrise import Link, linked
from allyouneed.text.atoms import Atom, atoms
from allyouneed.text.words import words

Texts = tuple[str, str]


def align_texts(
    pairs: Sequence[Texts],
    more: Iterable[Texts] = (),
    progress: Progress = lambda stage, done, total: None,
) -> list[list[Link]]:
    """Links of words for each of these pairs, learnt from them and from `more`.

    Words and punctuation are aligned separately; in scripts without spaces, each character is
    aligned separately. A word gets all links of its parts. A punctuation mark gives a link only to
    a word that consists of such marks.

    Raises DataError where no pair has words on both sides.
    """
    split = [(atoms(source), atoms(target)) for source, target in pairs]
    rest = ((atoms(source), atoms(target)) for source, target in more)
    aligner = Aligner.learn(map(_texts, chain(split, rest)), progress)
    return [
        linked(links, _owners(source, split_pair[0]), _owners(target, split_pair[1]))
        for links, (source, target), split_pair in zip(
            aligner.align(map(_texts, split)), pairs, split, strict=True
        )
    ]


def _texts(pair: tuple[Sequence[Atom], Sequence[Atom]]) -> tuple[list[str], list[str]]:
    source, target = pair
    return [atom.text for atom in source], [atom.text for atom in target]


def _owners(text: str, parts: Sequence[Atom]) -> list[int]:
    """The number of the word that each atom belongs to; -1 for punctuation in a word with letters
    or digits."""
    spans = words(text)
    lettered = {n for n, (begin, end) in enumerate(spans) if any(map(str.isalnum, text[begin:end]))}
    found: list[int] = []
    number = 0
    for atom in parts:
        while spans[number][1] <= atom.begin:
            number += 1
        found.append(-1 if number in lettered and not atom.is_word else number)
    return found

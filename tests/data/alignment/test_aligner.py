"""Alignments of made languages, whose links are known, and of people's sentences."""

import random
from pathlib import Path

import pytest

from allyouneed.data.alignment import direction
from allyouneed.data.alignment.aligner import Aligner
from allyouneed.data.alignment.blocks import LONGEST
from allyouneed.data.alignment.texts import align_texts
from allyouneed.data.corpus import Corpus
from allyouneed.data.readers import read_pairs
from allyouneed.data.report import DataReport
from allyouneed.data.root import resolve
from allyouneed.errors import DataError
from allyouneed.evaluation.alignment_error import GoldAlignment, alignment_error_rate

BENCHMARK = Path(__file__).parents[3] / "benchmarks" / "alignment"


def made(count: int, seed: int = 1) -> list[tuple[list[str], list[str]]]:
    """The target is the source in other words, with the last word first and an article before each
    word that begins with "n"."""
    chance = random.Random(seed)
    kinds = [f"n{n}" for n in range(30)] + [f"w{n}" for n in range(30)]
    pairs = []
    for _ in range(count):
        source = [chance.choice(kinds) for _ in range(chance.randint(2, 9))]
        target = []
        for word in [source[-1], *source[:-1]]:
            target += ["der", word.upper() + "X"] if word[0] == "n" else [word.upper() + "X"]
        pairs.append((source, target))
    return pairs


def truth(source: list[str], target: list[str]) -> set[tuple[int, int]]:
    order = [len(source) - 1, *range(len(source) - 1)]
    places = [n for n, word in enumerate(target) if word != "der"]
    return set(zip(order, places, strict=True))


def test_a_made_language_is_aligned() -> None:
    pairs = made(2000)
    aligner = Aligner.learn(pairs)
    wanted = found = right = 0
    for (source, target), links in zip(pairs[:300], aligner.align(pairs[:300]), strict=True):
        content = {link for link in links if target[link[1]] != "der"}
        wanted, found = wanted + len(source), found + len(content)
        right += len(content & truth(source, target))
    assert right / wanted > 0.98
    assert right / found > 0.98


def test_the_same_pairs_give_the_same_links() -> None:
    pairs = made(300)
    first, second = (list(Aligner.learn(pairs).align(pairs)) for _ in range(2))
    assert first == second


def test_a_pair_is_aligned_alike_in_whatever_company() -> None:
    pairs = made(300)
    aligner = Aligner.learn(pairs)
    together = list(aligner.align(pairs[:50]))
    assert together == [next(aligner.align([pair])) for pair in pairs[:50]]


def test_case_does_not_matter() -> None:
    pairs = made(300)
    aligner = Aligner.learn(pairs)
    capitals = [([word.upper() for word in source], target) for source, target in pairs[:20]]
    assert list(aligner.align(capitals)) == list(aligner.align(pairs[:20]))


def test_unknown_words_are_linked_where_they_are_the_same() -> None:
    aligner = Aligner.learn(made(500))
    (links,) = aligner.align([(["w1", "Grzegorz", "w2"], ["W2X", "W1X", "Grzegorz"])])
    assert (1, 2) in links


def test_empty_and_endless_sides_have_no_links() -> None:
    aligner = Aligner.learn([*made(50), ([], ["X"]), (["w"] * (LONGEST + 1), ["X"])])
    endless = (["w1"] * (LONGEST + 1), ["W1X"])
    assert list(aligner.align([([], ["X"]), endless, (["w1"], [])])) == [[], [], []]


def test_nothing_to_learn_from() -> None:
    with pytest.raises(DataError, match="no pair has words on both sides"):
        Aligner.learn([([], ["x"])])


def test_more_pairs_than_memory_takes_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []
    learn = direction.DirectionChances.learn.__func__  # type: ignore[attr-defined]

    def watch(cls: type, sources: list[list[str]], *rest: object) -> object:
        seen.append(len(sources))
        return learn(cls, sources, *rest)

    monkeypatch.setattr(direction.DirectionChances, "learn", classmethod(watch))
    monkeypatch.setattr("allyouneed.data.alignment.aligner.MOST_CELLS", 40)
    Aligner.learn([(["a", "b"], ["c", "d"])] * 30)
    assert seen == [10, 10]


def test_signs_do_not_link_words_and_characters_are_words_where_there_are_no_spaces() -> None:
    pairs = [("the dog.", "der Hund."), ("the cat!", "die Katze!"), ("a dog", "ein Hund")] * 30
    found = align_texts(pairs)
    assert found[0] == [(0, 0), (1, 1)]
    assert align_texts([("one two", "一 二"), ("two one", "二 一"), ("one", "一")] * 30)[0] == [
        (0, 0),
        (1, 1),
    ]


def test_people_would_align_alike() -> None:
    """Learnt from 15,000 pairs of Tatoeba; 100 others are compared."""
    try:
        file = resolve(Path("tatoeba/train.en-de.tsv.gz"), None)
    except DataError as error:
        pytest.skip(f"needs Tatoeba in the folder of data: {error}")
    lines = (BENCHMARK / "pairs.en-de.tsv").read_text("utf-8").split("\n")[:-1]
    pairs = [(source, target) for source, target in (line.split("\t") for line in lines)]
    gold = [
        GoldAlignment.of(line)
        for line in (BENCHMARK / "links.en-de.talp").read_text("utf-8").split("\n")[:-1]
    ]
    for links, (source, target) in zip(gold, pairs, strict=True):
        links.check(len(source.split()), len(target.split()), source)
    assert len(gold) == 100
    corpus = read_pairs(Corpus(source=file), DataReport([str(file)]))
    more = [(pair.source, pair.target) for pair, _ in zip(corpus, range(150_000), strict=False)]
    assert alignment_error_rate(align_texts(pairs, more[::10]), gold) < 0.16

"""Pairs as people type them: each kind of noise, its share, and what it follows from."""

from pathlib import Path
from random import Random

import pytest

from allyouneed.data.corpus import Corpus, Pair
from allyouneed.data.filters import Filters
from allyouneed.data.noise import added, case, spans, typed
from allyouneed.data.noise.noise import Noise
from allyouneed.data.store import build_store
from allyouneed.errors import DataError
from allyouneed.text.tokenizer import Tokenizer

PAIR = "Tom's dog sleeps in Berlin.", "Toms Hund schläft in Berlin."
PAIRS = [
    Pair(f"The dog number {n} sleeps well.", f"Der Hund Nummer {n} schläft gut.", n)
    for n in range(10, 1010)
]


def test_capitals_are_on_both_sides_and_spare_what_is_copied() -> None:
    texts = "See www.a.de and {name}, straße.", "Siehe www.a.de und {name}, Straße."
    assert case.capitals(texts) == (
        "SEE www.a.de AND {name}, STRASSE.",
        "SIEHE www.a.de UND {name}, STRASSE.",
    )


def test_title_case_and_small_letters_change_the_source_alone() -> None:
    assert case.title_case(PAIR) == ("Tom's Dog Sleeps In Berlin.", PAIR[1])
    assert case.small_letters(PAIR) == ("tom's dog sleeps in berlin.", PAIR[1])


def test_the_end_mark_goes_on_both_sides_or_on_none() -> None:
    assert typed.no_end_mark(("Go!", "Geh!")) == ("Go", "Geh")
    for texts in (("Go!", "Geh"), ("Go...", "Geh..."), ("", ""), ("?", "?!")):
        assert typed.no_end_mark(texts) == texts


@pytest.mark.parametrize("seed", range(20))
def test_a_typing_error_is_a_small_one(seed: int) -> None:
    source, target = typed.typing_errors(("The little dog sleeps here.", "x"), Random(seed))
    assert target == "x"
    assert source != "The little dog sleeps here."
    assert len(source.split()) == 5
    assert abs(len(source) - 27) <= 3
    assert source.split()[0] == "The"  # too short to be mistyped
    assert typed.mistyped("can't", Random(seed)) == "cant"


def test_a_word_by_itself_gets_no_typing_error() -> None:
    for seed in range(50):
        assert typed.typing_errors(("Cave", "Höhle"), Random(seed)) == ("Cave", "Höhle")


def test_accents_go_in_the_source() -> None:
    found = {typed.no_accents(("Über Straßen, à côté.", "ö"), Random(n)) for n in range(9)}
    assert found == {("Ueber Strassen, a cote.", "ö"), ("Uber Strassen, a cote.", "ö")}


def test_spaces_are_doubled() -> None:
    source, target = typed.doubled_spaces(("a b c d e f g h", "x  y"), Random(1))
    assert source.split() == ["a", "b", "c", "d", "e", "f", "g", "h"]
    assert "  " in source
    assert target == "x  y"


@pytest.mark.parametrize("seed", range(30))
def test_what_is_copied_stands_on_both_sides(seed: int) -> None:
    for texts in (PAIR, ("It is 2017.", "Es ist 2017."), ("Why not", "Warum nicht")):
        source, target = added.copied(texts, Random(seed))
        assert (source, target) != texts
        new = set(source.split()) - set(texts[0].split())
        words = {word.strip('().:"') for word in new} - {""}
        assert any(word in target for word in words)
    if seed < 3:
        assert "Tom's" in added.copied(PAIR, Random(seed))[0]  # another word in German


@pytest.mark.parametrize("kind", spans.KINDS)
def test_spans_vary_and_hold_no_space_at_their_ends(kind: "spans.Kind") -> None:
    made = {kind(Random(seed)) for seed in range(200)}
    assert len(made) > 40
    assert all(one and one == one.strip() for one in made)


def test_placeholders_are_whole() -> None:
    made = {spans.placeholder(Random(seed)) for seed in range(300)}
    assert {"%s", "%d", "%1$s", "{}"} <= made
    assert not any("\0" in one for one in made)


def test_joined_sentences_both_end_and_stay_short() -> None:
    assert added.joined(("Hi.", "Hallo."), ("Go!", "Geh!")) == ("Hi. Go!", "Hallo. Geh!")
    assert added.joined(("Hi", "Hallo"), ("Go!", "Geh!")) == ("Hi", "Hallo")
    long = "x" * 500 + "."
    assert added.joined((long, long), ("Go!", "Geh!")) == (long, long)


def test_foreign_words_are_quoted_on_both_sides() -> None:
    source, target = added.foreign(("Hi.", "Hallo."), ("The dog", "Der Hund"), Random(1))
    assert source.removeprefix("Hi. ") == target.removeprefix("Hallo. ") == '"Der Hund"'


def test_shares_are_what_was_asked_for() -> None:
    told: dict[str, int] = {}
    noise = Noise(capitals=0.1, title_case=0.2, no_end_mark=0.3, joined=0.5)
    found = noise.of(PAIRS, lambda kind, pair: told.update({kind: told.get(kind, 0) + 1}))
    assert len(found) == len(PAIRS)
    shares = {kind: round(count / len(PAIRS), 2) for kind, count in told.items()}
    for kind, share in noise.shares().items():
        assert shares.get(kind, 0) == pytest.approx(share, abs=0.05)
    assert sum(pair.source.isupper() for pair in found) == told["capitals"]


def test_noise_follows_from_seed_copy_and_line() -> None:
    noise = Noise(seed=3, copies=2, typing_errors=1.0)
    found = noise.of(PAIRS)
    assert found == noise.of(PAIRS)
    assert found[: len(PAIRS)] != found[len(PAIRS) :]
    assert Noise(seed=4, copies=2, typing_errors=1.0).of(PAIRS) != found
    assert noise.of(PAIRS[5:6])[0] == found[5]


def test_without_a_share_pairs_stay_as_they_are() -> None:
    assert Noise().of(PAIRS) == PAIRS


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"emoji": 1.5}, r"noise.emoji=1.5 must be a number"),
        ({"capitals": 0.6, "title_case": 0.6}, r"add up to 1.2"),
        ({"copies": 0}, r"noise.copies=0 must be at least 1"),
    ],
)
def test_impossible_noise_is_told(wrong: dict[str, float], said: str) -> None:
    with pytest.raises(DataError, match=said):
        Noise(**wrong)  # type: ignore[arg-type]


def test_a_store_keeps_the_copies_and_tells_of_the_noise(
    tmp_path: Path, tokenizer: Tokenizer
) -> None:
    file = tmp_path / "a.tsv"
    lines = [f"{pair.source}\t{pair.target}\n" for pair in [*PAIRS[:100], PAIRS[0]]]
    file.write_text("".join(lines))
    noise = Noise(seed=1, copies=3, capitals=0.2)
    plain = build_store([Corpus(file)], tokenizer, Filters(), tmp_path / "cache")
    store = build_store([Corpus(file)], tokenizer, Filters(), tmp_path / "cache", noise=noise)
    assert (len(plain), len(store)) == (100, 300)  # the line that came twice is left out once
    capitals = [
        number
        for number in range(300)
        if store.pair(number)[0].tolist() != plain.pair(number % 100)[0].tolist()
    ]
    assert store.report.notes["noise: capitals"].count == len(capitals)
    assert 30 < len(capitals) < 90


def test_a_corpus_is_read_in_plain_marks(tmp_path: Path, tokenizer: Tokenizer) -> None:
    from allyouneed.data.readers import read_pairs

    file = tmp_path / "a.tsv"
    file.write_text("“It’s”\u00a0so\t„So“ ist’s\n")
    corpus = Corpus(file, normaliser="plain-marks")
    assert list(read_pairs(corpus)) == [Pair('"It\'s" so', '"So" ist\'s', 1)]
    stores = [
        build_store([one], tokenizer, Filters(), tmp_path / "cache")
        for one in (corpus, Corpus(file))
    ]
    assert stores[0].folder != stores[1].folder

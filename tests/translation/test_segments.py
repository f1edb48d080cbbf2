from itertools import product

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from allyouneed.decoding.hypothesis import Hypothesis
from allyouneed.text.normaliser import AS_TYPED, PlainMarks
from allyouneed.text.tokenizer import Tokenizer
from allyouneed.translation.assembly import best_combinations
from allyouneed.translation.segments import Segment, Segmenter
from allyouneed.translation.terms.glossary import Glossary
from allyouneed.translation.words import WordCounter, units_at, word_numbers

FEW = settings(max_examples=50, deadline=None)
SPACED = st.text(alphabet=list("ab.é字 \t\n\u00a0\u3000"), max_size=60)


@pytest.fixture(scope="session")
def segmenter(small_tokenizer: Tokenizer) -> Segmenter:
    return Segmenter(small_tokenizer, known_length=12)


@FEW
@given(text=SPACED)
def test_parts_joined_are_the_text_and_fit(text: str, segmenter: Segmenter) -> None:
    segments = segmenter.cut(text).segments
    assert "".join(s.before + s.text + s.after for s in segments) == text
    for segment in segments:
        assert segment.text == segment.text.strip()
        assert not (segment.before + segment.after).strip()
        assert len(segmenter.tokenizer.encode(segment.text).ids) <= 12


def parts(segmenter: Segmenter, text: str) -> list[str]:
    return [segment.text for segment in segmenter.cut(text).segments]


def test_line_that_the_model_knows_stays_whole(segmenter: Segmenter) -> None:
    text = "Go. Stop."
    assert parts(segmenter, text) == [text]
    assert segmenter.cut(text).notes == ()


def test_sentences_of_a_short_line_are_parts_without_a_note(small_tokenizer: Tokenizer) -> None:
    text = "Abc. Def. Ghi."
    segmenter = Segmenter(small_tokenizer, known_length=64)
    assert parts(segmenter, text) == ["Abc.", "Def.", "Ghi."]
    assert segmenter.cut(text).notes == ()
    whole = Segmenter(small_tokenizer, known_length=64, by_sentence=False)
    assert parts(whole, text) == [text]


def test_longer_line_is_cut_into_sentences(segmenter: Segmenter) -> None:
    text = "Abc. Def. Ghi."
    assert len(segmenter.tokenizer.encode(text).ids) > 12
    assert parts(segmenter, text) == ["Abc.", "Def.", "Ghi."]
    assert segmenter.cut(f"{text}\nok\n{text}").notes == (
        "longer than the 12 tokens that the model knows: translated in 6 parts",
    )


def test_longer_sentence_is_cut_at_its_clauses_or_words(segmenter: Segmenter) -> None:
    assert parts(segmenter, "abcdefg, hi jk lm") == ["abcdefg,", "hi jk lm"]
    assert parts(segmenter, "abcdefg hijklmn") == ["abcdefg", "hijklmn"]


def test_bytes_count_not_characters(segmenter: Segmenter) -> None:
    assert parts(segmenter, "字" * 8) == ["字" * 3, "字" * 3, "字" * 2]  # 3 tokens each


def test_white_space_around_a_line_takes_no_room(segmenter: Segmenter) -> None:
    text = f"{' ' * 50}Go.{' ' * 50}\n\n  Stop.\n"
    cut = segmenter.cut(text)
    assert [(s.before, s.text, s.after) for s in cut.segments] == [
        (" " * 50, "Go.", " " * 50 + "\n"),
        ("", "", "\n"),
        ("  ", "Stop.", "\n"),
        ("", "", ""),
    ]
    assert cut.notes == ()


def test_only_line_feeds_end_lines(segmenter: Segmenter) -> None:
    assert parts(segmenter, "a\rb\x85c\u2028d") == ["a\rb\x85c\u2028d"]


@FEW
@given(text=SPACED)
@example(text="a \u00a0")  # after the first byte of the last character, it looks like a word
def test_word_numbers_are_those_of_split(text: str, small_tokenizer: Tokenizer) -> None:
    encoding = small_tokenizer.encode(text)
    numbers = word_numbers(small_tokenizer, encoding.ids)
    words = text.split()
    seen = set()
    for number, (begin, end) in zip(numbers, encoding.spans, strict=True):
        assert number < len(words)
        if covered := text[begin:end].strip():
            assert covered in words[number]
            seen.add(number)
        elif begin == end or text[begin:end].isascii():  # else a part of a space of several bytes
            assert number == -1
    assert seen == set(range(len(words)))


@FEW
@given(ids=st.lists(st.integers(0, 299), max_size=20))
def test_word_numbers_of_any_ids_are_words(ids: list[int], small_tokenizer: Tokenizer) -> None:
    words = len(small_tokenizer.decode(ids).split())
    numbers = word_numbers(small_tokenizer, ids)
    assert len(numbers) == len(ids)
    assert all(-1 <= number < words for number in numbers)


@FEW
@given(pieces=st.lists(st.text(alphabet="ab \t\u3000", max_size=4), max_size=8))
def test_words_are_counted_across_pieces(pieces: list[str]) -> None:
    counter = WordCounter()
    for n, piece in enumerate(pieces):
        so_far = "".join(pieces[:n])
        assert counter.next == len(f"{so_far}x".split()) - 1
        counter.add(piece)
    assert counter.words == len("".join(pieces).split())


@pytest.mark.parametrize(
    ("text", "spans", "numbers", "units"),
    [
        ("one two", [(0, 1), (1, 3), (3, 7), (7, 7)], [0, 0, 1, -1], [(0, 3), (4, 7)]),
        ("去年巴黎", [(0, 2), (2, 3), (3, 4)], [0, 1, 2], [(0, 2), (2, 3), (3, 4)]),
        ("去年巴黎", [(0, 1), (0, 1), (1, 4)], [0, 0, 1], [(0, 1), (1, 4)]),  # two bytes of one
        ("x去 Tom", [(0, 1), (1, 2), (2, 4), (4, 6)], [0, 1, 2, 2], [(0, 1), (1, 2), (3, 6)]),
    ],
)
def test_units_are_words_or_tokens_of_characters(
    text: str, spans: list[tuple[int, int]], numbers: list[int], units: list[tuple[int, int]]
) -> None:
    assert units_at(text, spans) == (numbers, units)


class Weights(list[list[float]]):
    def tolist(self) -> list[list[float]]:
        return self


def test_texts_without_spaces_have_links_of_characters(segmenter: Segmenter) -> None:
    tokenizer = segmenter.tokenizer
    [segment] = segmenter.cut("a 字é").segments
    source, target = tokenizer.encode(segment.seen), tokenizer.encode("字a")
    texts = [segment.seen[b:e].strip() for b, e in source.spans]
    said = ["字a"[b:e] for b, e in target.spans]
    weights = Weights([[float(s == t) + 0.01 for s in texts] for t in said])
    found = segment.aligned(weights, source.ids, target.ids, tokenizer)
    assert set(found.characters) == {((2, 3), (0, 1)), ((0, 1), (1, 2))}
    [spaced] = segmenter.cut("a é").segments
    ids = tokenizer.encode(spaced.seen).ids
    assert not spaced.aligned(
        Weights([[1.0] * len(ids)] * len(ids)), ids, ids, tokenizer
    ).characters


def hypothesis(score: float) -> Hypothesis:
    return Hypothesis((5, 2), (score, 0.0), score, score, True)


@FEW
@given(
    scores=st.lists(st.lists(st.integers(-50, 0), min_size=1, max_size=4), max_size=4),
    count=st.integers(1, 6),
)
def test_best_combinations_are_the_best_of_all(scores: list[list[int]], count: int) -> None:
    lists = [[hypothesis(s) for s in sorted(row, reverse=True)] for row in scores]
    found = best_combinations(lists, count)
    everything = sorted((sum(h.score for h in way) for way in product(*lists)), reverse=True)
    assert [sum(h.score for h in way) for way in found] == everything[:count]
    assert found[0] == tuple(row[0] for row in lists)
    assert len({tuple(map(id, way)) for way in found}) == len(found)


def test_a_part_in_another_language_is_told(small_tokenizer: Tokenizer) -> None:
    segmenter = Segmenter(small_tokenizer, 200)
    german = "Zwei Frauen unterhalten sich auf der Straße."
    english = "Two women are talking to each other in the street."

    def notes(text: str, source: str = "en") -> tuple[str, ...]:
        return segmenter.cut(text).with_language_checked(source).notes

    assert notes(german) == ("the text reads like German, not English; check the source language",)
    assert notes(f"{english}\n{german}") == (
        (
            "'Zwei Frauen unterhalten sich auf der…' reads like German, not English; "
            "check the source language"
        ),
    )
    assert notes(english) == notes(german, "de") == notes(german, "") == notes("\n \n") == ()


def test_short_forms_and_times_are_spelt_out_in_their_places() -> None:
    segment = Segment.of("Thx, come at 7:30 pm.", PlainMarks())
    spelt = segment.spelt_out(("en", "de"), PlainMarks())
    assert spelt.seen == "Thanks, come at 19:30."
    assert [spelt.typed(0, 6), spelt.typed(16, 21)] == [(0, 3), (13, 20)]
    assert segment.spelt_out(("de", "en"), PlainMarks()) == segment
    assert segment.spelt_out(("en", "de"), AS_TYPED) == segment


def test_terms_of_the_glossary_are_not_spelt_out() -> None:
    segment = Segment.of("Thx, come at 7:30 pm, approx. now.", PlainMarks())
    for term, seen in [
        ("approx.", "Thanks, come at 19:30, approx. now."),
        ("Thx", "Thx, come at 19:30, about now."),
        ("7:30 pm", "Thanks, come at 7:30 pm, about now."),
    ]:
        glossary = Glossary.of({term: "x"})
        assert segment.spelt_out(("en", "de"), PlainMarks(), glossary).seen == seen

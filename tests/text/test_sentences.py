import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from allyouneed.text.sentences import split_long, split_sentences

texts = st.text(st.characters()) | st.lists(
    st.sampled_from(
        [
            "Dr.",
            " ",
            "The ",
            "man",
            ".",
            "...",
            "?!",
            "\n",
            "。",
            "」",
            "と",
            "3. ",
            "U.S.",
            '"',
            ", ",
        ]
    ),
    max_size=60,
).map("".join)


@given(texts)
@settings(max_examples=300, deadline=None)
def test_the_sentences_are_the_text(text: str) -> None:
    sentences = split_sentences(text)
    assert "".join(sentences) == text
    assert all(sentences)
    assert all(not sentence[0].isspace() for sentence in sentences[1:])


@pytest.mark.parametrize(
    "sentences",
    [
        ["He came. ", "She went! ", "Why? ", "Nobody knows."],
        ["What?! ", "No way... ", "Really."],
        ["Well... maybe so. ", "Wait… what? ", "Yes."],
        ['"Stop!" he said. ', '"Go home!" ', "She went."],
        ["(He came.) ", "[She went.] ", "Done."],
        ["„Komm her.“ ", "»Nein!« ", "Er ging."],
        ["Mr. Smith met Dr. Brown and Mrs. Jones at St. Mary. ", "They left."],
        ["El Sr. García conoció a la Sra. López y a D. Juan. ", "Se fueron."],
        ["M. Dupont, Mme. Martin et Mlles. Roux. ", "Ils sont là."],
        ["Dhr. Jansen en mevr. De Vries, d.w.z. Piet en An. ", "Zij zijn er."],
        ["Bijv. Amsterdam, t.a.v. Anna, zie blz. 5. ", "Klaar."],
        ["Bl.a. Stockholm, t.ex. Gamla stan, kl. 15. ", "Slut."],
        ["Np. Kraków, tzn. Wawel, ul. Długa 5, o godz. 15. ", "Koniec."],
        ["Prof. Nowak, mgr Lis i inż. Wilk. ", "To wszyscy."],
        ["Hij slaapt. ", "'s Middags werkt hij. ", "’t Is laat, ’t is 's avonds. ", "Ja."],
        ["Het kost 5 mln. Euro. ", "Ja."],
        ["P. ej. Madrid, p.ex. Paris. ", "Fin."],
        ["J. R. R. Tolkien wrote it. ", "J.K. Rowling did not. ", "Yes."],
        ["The U.S. Army came. ", "He lives in the U.S. ", "She does not."],
        ["We met at 5 p.m. ", "Everybody was there."],
        ["See e.g. Smith, i.e. him, cf. Jones vs. Brown. ", "Fine."],
        ["Pi is 3.14. ", "It costs 1.000.000 euros. ", "Go to example.com. ", "Now."],
        ["See No. 5 and Fig. 3 on p. 12. ", "No. ", "I do not."],
        ["Am 3. Oktober kam er. ", "Es war der 2. Weltkrieg. ", "Im 19. Jahrhundert nicht."],
        ["Am 3. 10. 2020 kam er. ", "Gut."],
        ["Ich bin 30. ", "Du bist 28. ", "That was in 1990. ", "Then he left."],
        ["Das ist z.B. Herr Meier. ", "Das ist z. B. Die Zeit, d. h. Papier. ", "Bzw. Holz."],
        ["Das kostet 5 Mio. Euro. ", "Hr. Dr. Maier zahlt evtl. Steuern usw. ", "Er nicht."],
        ["So do I. ", "Now go."],
        ["これは本です。", "あれは？", "「はい。」と言った。", "「いいえ。」", "終わり"],
        [
            "これは（例：本。）です。",
            "「行く。」って聞いた。",
            "（雨。）",
            "それでも行く！",
            "本当？！",
            "うん",
        ],
        [
            "“你好吗？”她问。",
            "「不。」小王回答说。",
            "我很好！",
            "（真的。）",
            "价格是3．5元．",
            "再见．",
        ],
        ["他来了。)", "她走了。】 ", "《好！》", "完"],
        ["Привет. ", "Как дела? ", "Хорошо."],
        ["كيف حالك؟ ", "بخير."],
        ["यह है। ", "वह है।"],
        ["「はい。」\n", "って何？"],
        ["A heading\n", "no stop at the end of a line\n\n", "Next.\r\n", "Last.\n"],
        ["1. Introduction\n", "2. The model. ", "Then more."],
        ["  \n Space ahead stays with the first.  ", "Second. \t "],
        ["She has a Ph.D. in physics. ", "He has none."],
        ["You are 5! ", "– Yes. ", "– No! – he said."],
        ["..."],
        ["   "],
        [],
    ],
)
def test_sentences_of_two_languages_and_more(sentences: list[str]) -> None:
    assert split_sentences("".join(sentences)) == sentences


def at_most(limit: int):
    return lambda text: len(text) <= limit


@given(texts, st.integers(1, 40))
@settings(max_examples=300, deadline=None)
def test_the_pieces_are_the_text_and_fit(text: str, limit: int) -> None:
    pieces = split_long(text, at_most(limit))
    assert "".join(pieces) == text
    assert all(0 < len(piece) <= limit for piece in pieces)


@given(texts, st.integers(1, 12))
@settings(max_examples=100, deadline=None)
def test_pieces_are_cut_by_bytes_too(text: str, limit: int) -> None:
    """Where one character alone does not fit, it stands alone."""
    pieces = split_long(text, lambda part: len(part.encode(errors="replace")) <= limit)
    assert "".join(pieces) == text
    assert all(len(p) == 1 or len(p.encode(errors="replace")) <= limit for p in pieces)


def test_what_fits_stays_whole() -> None:
    text = "One. Two. Three."
    assert split_long(text, at_most(16)) == [text]
    assert split_long("", at_most(16)) == []


def test_one_sentence_is_one_piece() -> None:
    text = "It rains. He sleeps. She reads a long book."
    assert split_long(text, at_most(40)) == ["It rains. ", "He sleeps. ", "She reads a long book."]


def test_what_has_hardly_a_letter_goes_with_the_next() -> None:
    assert split_long("- Yes. (2.) The man. * * *! Ok then.", at_most(20)) == [
        "- Yes. ",
        "(2.) The man. ",
        "* * *! Ok then.",
    ]
    assert split_long("5! Incomprehensibilities. 7!", at_most(24)) == [
        "5! ",
        "Incomprehensibilities. ",
        "7!",
    ]


def test_a_long_sentence_is_cut_at_clauses_then_spaces_then_anywhere() -> None:
    assert split_long("one two three, four five six", at_most(20)) == [
        "one two three, ",
        "four five six",
    ]
    assert split_long("one two three four five six", at_most(20)) == [
        "one two three four ",
        "five six",
    ]
    assert split_long("a, one two three four five", at_most(20)) == [
        "a, one two three ",  # the mark is too near the start
        "four five",
    ]
    assert split_long("x" * 25, at_most(10)) == ["x" * 10, "x" * 10, "x" * 5]


LONG = {
    "letters": "a" * 100_000,
    "emoji": "😀" * 100_000,
    "stops": "." * 400_000,
    "stops and spaces": ". " * 50_000,
    "lines": "!\n" * 50_000,
    "titles": "Dr. " * 25_000,
    "space": " " * 100_000,
    "clauses": "hello, world " * 8_000,
    "brackets": "a.)" * 33_000,
    "quotes": '."' * 50_000,
    "dashes": "! -" * 33_000,
    "sentences": "The man is here. " * 6_000,
    "ideographic stops": "。と" + "。" * 200_000 + "と",
    "ideographic stops and brackets": "。」" * 100_000 + "な" * 100_000,
    "full-width stops": "．" * 200_000,
}


@pytest.mark.parametrize("text", LONG.values(), ids=LONG.keys())
def test_time_and_questions_grow_with_the_length_only(text: str) -> None:
    asked = 0

    def fits(part: str) -> bool:
        nonlocal asked
        asked += len(part)
        return len(part) <= 500

    began = time.process_time()
    pieces = split_long(text, fits)
    seconds = time.process_time() - began
    assert "".join(pieces) == text
    assert asked < 60 * len(text)
    assert seconds < 10  # one second at most; quadratic behaviour takes minutes

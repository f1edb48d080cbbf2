from pathlib import Path

import pytest

from allyouneed.data.conversations import ConversationLine, replies_in_pairs, replies_in_turns
from allyouneed.data.corpus import Corpus, Pair
from allyouneed.data.filters import Filters
from allyouneed.data.readers import read_pairs
from allyouneed.data.report import DataReport
from allyouneed.data.root import resolve
from allyouneed.data.store import build_store
from allyouneed.errors import DataError
from allyouneed.text.conversation import History

WINDOW = History(turns=3, marks=(">", "<"))


def texts(pairs: object) -> list[tuple[str, str]]:
    return [(pair.source, pair.target) for pair in pairs]  # type: ignore[attr-defined]


def spoken(*lines: tuple[str, str, str]) -> list[ConversationLine]:
    return [ConversationLine(*line, line=number) for number, line in enumerate(lines, start=1)]


def test_a_pair_goes_on_where_its_turn_is_the_reply_before() -> None:
    pairs = [Pair("a", "b", 1), Pair("b", "c", 2), Pair("c", "d", 3), Pair("x", "y", 4)]
    assert texts(replies_in_pairs(pairs, WINDOW, one_conversation=False)) == [
        ("> a", "b"),
        ("< a > b", "c"),
        ("> a < b > c", "d"),
        ("> x", "y"),
    ]


def test_pairs_of_one_conversation_keep_the_speakers_parts() -> None:
    pairs = [Pair("a", "b", 1), Pair("c", "d", 2), Pair("d", "e", 3)]
    assert texts(replies_in_pairs(pairs, WINDOW, one_conversation=True)) == [
        ("> a", "b"),
        ("> a < b > c", "d"),
        ("> c < d > d", "e"),
    ]


def test_a_window_of_one_turn_takes_every_pair_by_itself() -> None:
    pairs = [Pair("a", "b", 1), Pair("b", "c", 2)]
    bare = History(turns=1, marks=("", ""))
    assert texts(replies_in_pairs(pairs, bare, one_conversation=False)) == [("a", "b"), ("b", "c")]


def test_an_empty_turn_is_an_empty_source() -> None:
    found = texts(replies_in_pairs([Pair(" ", "b", 1), Pair("b", "", 2)], WINDOW, False))
    assert found == [("", "b"), ("> b", "")]


def test_every_turn_but_the_first_is_a_reply() -> None:
    lines = spoken(("1", "x", "a"), ("1", "y", "b"), ("1", "x", "c"), ("2", "y", "d"))
    assert texts(replies_in_turns(lines, WINDOW)) == [("> a", "b"), ("< a > b", "c")]


def test_what_one_says_in_several_lines_is_one_turn() -> None:
    lines = spoken(("1", "x", "a"), ("1", "x", "b"), ("1", "y", "c"), ("1", "y", " "))
    [pair] = replies_in_turns(lines, WINDOW)
    assert pair == Pair("> a b", "c", 3)


def test_the_same_speaker_in_the_next_dialogue_begins_anew() -> None:
    lines = spoken(("1", "x", "a"), ("2", "x", "b"), ("2", "y", "c"))
    assert texts(replies_in_turns(lines, WINDOW)) == [("> b", "c")]


def test_turns_are_read_from_columns(tmp_path: Path) -> None:
    (tmp_path / "talk.tsv").write_text("1\t0\tx\tWhy ?\n1\t1\ty\tNo .\nbroken\n")
    (tmp_path / "talk.csv").write_text('who,text,id\nx,"Why, then ?",1\ny,No .,1\n')
    report = DataReport(["talk"])
    by_number = Corpus(
        tmp_path / "talk.tsv", history=WINDOW, turn_fields=("1", "3", "4"), spaced=True
    )
    assert texts(read_pairs(by_number, report)) == [("> Why?", "No.")]
    assert report.left_out["malformed"].count == 1
    by_name = Corpus(tmp_path / "talk.csv", history=WINDOW, turn_fields=("id", "who", "text"))
    assert texts(read_pairs(by_name)) == [("> Why, then ?", "No .")]


def test_made_pairs_are_turns_and_replies_too() -> None:
    [pair] = read_pairs(Corpus(made="copy", pairs=1, history=WINDOW))
    assert pair.source == f"> {pair.target}"


@pytest.mark.parametrize(
    ("name", "wrong", "said"),
    [
        ("t.tsv", {"turn_fields": ("id", "who", "text")}, 'counted from "1"'),
        ("t.tsv", {"turn_fields": ("1", "2", "3"), "one_conversation": True}, "leave target"),
        ("t.jsonl", {"turn_fields": ("1", "2", "3")}, "needs TSV or CSV"),
    ],
)
def test_columns_that_do_not_fit(name: str, wrong: dict[str, object], said: str) -> None:
    with pytest.raises(DataError, match=said):
        Corpus(Path(name), history=WINDOW, **wrong)  # type: ignore[arg-type]


def test_the_window_decides_what_a_store_holds(tmp_path: Path, tokenizer: object) -> None:
    (tmp_path / "a.tsv").write_text("a\tb\nb\tc\n")

    def folder(**more: object) -> Path:
        corpus = Corpus(tmp_path / "a.tsv", **more)  # type: ignore[arg-type]
        return build_store([corpus], tokenizer, Filters(), tmp_path / "cache").folder  # type: ignore[arg-type]

    windows = [{}, {"history": WINDOW}, {"history": History(turns=1)}]
    windows.append({"history": WINDOW, "one_conversation": True})
    assert len({folder(**window) for window in windows}) == len(windows)
    assert folder(history=WINDOW) == folder(history=WINDOW)


def in_data(name: str) -> Path:
    try:
        return resolve(Path("dialog") / name, None)
    except DataError as error:
        pytest.skip(f"needs the conversations in the folder of data: {error}")


def test_the_documents_csv_is_read() -> None:
    path = in_data("chloebot_chat_pairs.csv.gz")
    fields = {"source_field": "input_text", "target_field": "output_text"}
    pairs = texts(read_pairs(Corpus(path, history=History(turns=1), **fields)))
    assert len(pairs) == 21
    assert pairs[2] == ("▸ who are you?", "i am chloe")


def test_turns_of_customers_and_agents_are_read() -> None:
    corpus = Corpus(
        in_data("bcontrast.en-de.dev.tsv.gz"), history=WINDOW, turn_fields=("1", "3", "4")
    )
    first, second, *rest = texts(read_pairs(corpus))
    assert first == ("> Hello.", "Hi, how can I help you?")
    assert second[0] == "< Hello. > Hi, how can I help you?"
    assert 1000 < len(rest) < 1902


def test_linked_pairs_are_conversations() -> None:
    path = in_data("dailydialog_en.dev.pairs.tsv.gz")
    pairs = texts(read_pairs(Corpus(path, history=WINDOW, spaced=True)))
    assert len(pairs) == 6996
    assert pairs[1] == (
        "< Can you manage chopsticks? > Why not? See.",
        "Good mastery. How do you like our Chinese food?",
    )
    with_history = [source for source, _ in pairs if source.count(" > ") + source.count(" < ")]
    assert len(with_history) > 0.8 * len(pairs)

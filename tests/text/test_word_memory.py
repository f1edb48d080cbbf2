from collections.abc import Callable

import pytest

from allyouneed.text import word_memory
from allyouneed.text.word_memory import LONGEST, WordMemory


@pytest.fixture
def asked() -> list[str]:
    return []


@pytest.fixture
def memory(asked: list[str]) -> WordMemory:
    return WordMemory(spelling(asked))


def spelling(asked: list[str]) -> Callable[[list[str]], list[list[int]]]:
    """A tokenizer of characters that writes down what it is asked."""

    def encode(texts: list[str]) -> list[list[int]]:
        asked.extend(texts)
        return [[ord(letter) for letter in text if letter != " "] for text in texts]

    return encode


def test_a_word_is_tokenised_once(memory: WordMemory, asked: list[str]) -> None:
    assert memory.ids(["ab ab c", "c"]) == [[97, 98, 97, 98, 99], [99]]
    assert memory.ids(["c ab", "d"]) == [[99, 97, 98], [100]]
    assert sorted(asked) == ["ab", "c", "d"]


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        " a",
        "a ",
        "a  b",
        "a\tb",
        "a b\n",
        "a\u00a0b c",
        "a\u2028 b",
        "a " + "x" * (LONGEST + 1),
    ],
)
def test_what_other_than_single_spaces_part_is_given_whole(
    memory: WordMemory, asked: list[str], text: str
) -> None:
    for _ in range(2):
        assert len(memory.ids(["b", text, "a b"])) == 3
    assert asked.count(text) == 2
    assert set(asked) - {text} <= {"a", "b", "c"}


def test_each_text_gets_its_own_list(memory: WordMemory) -> None:
    first, second = memory.ids(["ab", "ab"])
    first.append(0)
    assert second == memory.ids(["ab"])[0] == [97, 98]


def test_once_it_is_full_texts_with_new_words_are_given_whole(
    memory: WordMemory, asked: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(word_memory, "WORDS", 2)
    for _ in range(2):
        assert memory.ids(["a b"]) == [[97, 98]]
        assert memory.ids(["b", "a c", "c"]) == [[98], [97, 99], [99]]
    assert sorted(asked) == ["a", "a c", "a c", "b", "c", "c"]


def test_no_call_learns_more_than_there_is_room_for(
    memory: WordMemory, asked: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(word_memory, "WORDS", 2)
    texts = ["a b", "c d", "e"]
    assert memory.ids(texts) == memory.ids(texts) == [[97, 98], [99, 100], [101]]
    assert sum(len(word) == 1 and word != "e" for word in asked) <= 2


def test_words_of_another_language_replace_a_full_memory(
    memory: WordMemory, asked: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(word_memory, "WORDS", 2)
    for _ in range(2):
        assert memory.ids(["a b"]) == [[97, 98]]
    for _ in range(2):
        assert memory.ids(["c d", "d"]) == [[99, 100], [100]]
    assert sorted(asked) == ["a", "b", "c", "d"]


def test_another_thread_may_learn_meanwhile(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(word_memory, "WORDS", 3)

    def encode(texts: list[str]) -> list[list[int]]:
        if texts == ["late"]:
            memory.ids(["c d e"])
        return [[len(word) for word in text.split()] for text in texts]

    memory = WordMemory(encode)
    memory.ids(["a bb"])
    assert memory.ids(["a late bb c ddd"]) == memory.ids(["a late bb c ddd"]) == [[1, 4, 2, 1, 3]]

import copy
import json
import pickle
import subprocess
import sys
from collections.abc import Iterator

import pytest
import tokenizers
from hypothesis import example, given, settings
from hypothesis import strategies as st

import allyouneed.text.tokenizer
from allyouneed.errors import ConfigError, UsageError
from allyouneed.text.clean import clean
from allyouneed.text.tokenizer import Tokenizer

AWKWARD = [
    "",
    " ",
    "  two spaces ahead",
    "behind  ",
    "\n",
    "\nline\r\n\r",
    "▁",
    "▁a ▁b",
    "Ġa",
    "</s>",
    " </s>",
    "a</s><s><pad><unk> b",
    "\0",
    "a\0b",
    "😀",
    "👨‍👩‍👧 é é",
    "שלום עולם",
    "日本語。",
    "\u2028\u0085\x1c",
    "'s don't 'S",
    "\ufeff\ufffd",
]
any_text = st.text(st.characters()) | st.lists(
    st.sampled_from([*AWKWARD, "<", "/s", ">", "s>", "pad", " man", "fährt"])
).map("".join)


@pytest.mark.parametrize("text", AWKWARD)
def test_awkward_text_comes_back(tokenizer: Tokenizer, text: str) -> None:
    assert tokenizer.decode(tokenizer.encode(text).ids) == text
    assert tokenizer.decode(tokenizer.encode_ids([text])[0]) == text


@given(any_text)
@settings(max_examples=300, deadline=None)
def test_any_text_comes_back(tokenizer: Tokenizer, text: str) -> None:
    ids = tokenizer.encode(text).ids
    assert tokenizer.decode(ids) == clean(text)[0]
    assert ids[-1] == Tokenizer.END
    assert not {0, 1, 2, 3} & set(ids[:-1])


@given(any_text)
@settings(max_examples=100, deadline=None)
def test_the_library_decodes_the_file_alike(tokenizer: Tokenizer, text: str) -> None:
    """Two roads: our decoding, and that which tokenizer.json tells others to do."""
    library = tokenizers.Tokenizer.from_str(tokenizer.to_json())
    library.encode_special_tokens = True
    text, _ = clean(text)
    encoding = library.encode(text)
    assert encoding.ids == tokenizer.encode(text).ids
    assert library.decode(encoding.ids, skip_special_tokens=True) == text


@given(st.lists(any_text, max_size=5))
@settings(max_examples=50, deadline=None)
def test_many_at_once_are_as_one_by_one(tokenizer: Tokenizer, texts: list[str]) -> None:
    assert tokenizer.encode_ids(texts) == [tokenizer.encode(text).ids for text in texts]


@pytest.fixture(scope="module", autouse=True)
def few_cores() -> Iterator[None]:
    """However many there are, texts are put together of their words."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(allyouneed.text.tokenizer, "FEW", 1 << 20)
        yield


def test_many_cores_change_nothing(tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = tokenizer.encode_ids(AWKWARD)
    monkeypatch.setattr(allyouneed.text.tokenizer, "FEW", 0)
    assert tokenizer.encode_ids(AWKWARD) == expected


words = ["a", "man", "fährt", "'s", "</s>", "don't", "\t", "\u00a0", "\u180e", "", "x" * 40]
spaced_text = st.lists(
    st.sampled_from(words) | st.text(st.characters(), max_size=3), max_size=8
).map(" ".join)


@given(st.lists(st.lists(spaced_text, max_size=5), max_size=3))
@settings(max_examples=200, deadline=None)
def test_words_seen_before_change_nothing(tokenizer: Tokenizer, calls: list[list[str]]) -> None:
    """Two roads: texts out of remembered words, and the library's of whole ones."""
    tokenizer = Tokenizer.from_json(tokenizer.to_json())
    for texts in calls:
        assert tokenizer.encode_ids(texts) == [tokenizer.encode(text).ids for text in texts]


def test_any_character_at_a_words_edges(tokenizer: Tokenizer) -> None:
    """Whatever the library takes for white space, letter, or sign."""
    characters = [*map(chr, range(0x3100)), *map(chr, range(0xFE00, 0x10000)), "😀"]
    texts = [text for one in characters for text in (f"a {one}b", f"a{one} b", f"{one} {one}")]
    assert tokenizer.encode_ids(texts) == [tokenizer.encode(text).ids for text in texts]


def test_the_empty_text_is_the_end_alone(tokenizer: Tokenizer) -> None:
    encoding = tokenizer.encode("")
    assert (encoding.ids, encoding.pieces, encoding.spans) == ([2], ["</s>"], [(0, 0)])
    assert tokenizer.decode([]) == ""


def test_a_word_is_the_same_piece_at_the_start_and_further_in(tokenizer: Tokenizer) -> None:
    first, second, _ = tokenizer.encode("man man").ids
    assert first == second
    assert tokenizer.piece(first) == " man"


@given(any_text)
@example("")
@example("\nfährt 😀😀")
@settings(max_examples=200, deadline=None)
def test_spans_lie_where_the_pieces_do(tokenizer: Tokenizer, text: str) -> None:
    encoding = tokenizer.encode(text)
    assert len(encoding.ids) == len(encoding.pieces) == len(encoding.spans)
    assert encoding.spans[-1] == (len(text), len(text))
    reached = 0
    for start, end in encoding.spans[:-1]:  # no gap, and never backwards
        assert reached - 1 <= start <= reached <= end <= len(text)
        reached = end
    assert reached == len(text)


@given(any_text)
@example("fährt 😀😀 über")
@settings(max_examples=200, deadline=None)
def test_spans_are_those_of_the_library(tokenizer: Tokenizer, text: str) -> None:
    """But for a piece that is the added space alone: the library lays it on the first character."""
    text, _ = clean(text)
    library = tokenizers.Tokenizer.from_str(tokenizer.to_json())
    library.encode_special_tokens = True
    theirs = library.encode(text).offsets[:-1]
    for ours, other in zip(tokenizer.encode(text).spans[:-1], theirs, strict=True):
        assert ours == other or (ours == (0, 0) and other == (0, 1))


def test_spans_of_a_sentence(tokenizer: Tokenizer) -> None:
    text = "Der Mann fährt"
    encoding = tokenizer.encode(text)
    assert [text[a:b] for a, b in encoding.spans] == ["Der", " Mann", " fährt", ""]


def test_pieces_show_bytes_of_a_part_of_a_character(tokenizer: Tokenizer) -> None:
    encoding = tokenizer.encode("🤖")
    assert "".join(encoding.pieces) == " <0xF0><0x9F><0xA4><0x96></s>"
    shown = [
        span for piece, span in zip(encoding.pieces, encoding.spans, strict=True) if "<0x" in piece
    ]
    assert len(shown) > 1
    assert set(shown) == {(0, 1)}
    assert [tokenizer.piece(i) for i in range(4)] == ["<pad>", "<s>", "</s>", "<unk>"]


def test_decoding_skips_what_is_no_text(tokenizer: Tokenizer) -> None:
    man = tokenizer.encode(" man").ids[:-1]
    assert tokenizer.decode([1, *man, 2, 0, 0]) == " man"
    assert tokenizer.decode([*man, 3]) == " man\ufffd"
    robot = tokenizer.encode("🤖").ids
    assert tokenizer.decode(robot[:-2]) == "\ufffd"


@pytest.mark.parametrize("outside", [-1, 10**6])
def test_an_id_outside_the_vocabulary_is_named(tokenizer: Tokenizer, outside: int) -> None:
    for read in (tokenizer.piece, lambda i: tokenizer.decode([i])):
        with pytest.raises(UsageError, match=f"id {outside} .* {len(tokenizer)} pieces"):
            read(outside)


def test_training_is_deterministic() -> None:
    """Every pair of letters occurs as often as any other, so ties decide each merge."""
    letters = "abcdefghij"
    lines = [f"{a}{b} {b}{a}" for a in letters for b in letters] * 2
    fingerprints = {Tokenizer.train(iter(lines), 320).fingerprint() for _ in range(5)}
    assert len(fingerprints) == 1
    assert fingerprints != {Tokenizer.train(lines[:50], 320).fingerprint()}


def test_training_on_special_literals_keeps_their_ids_apart() -> None:
    lines = ["</s>", "a</s>", " </s></s>", "<s><s>", "<pad> <unk>", "s>/s>"] * 50
    tokenizer = Tokenizer.train(lines, 400)
    assert len(tokenizer) < 400  # all that can be merged is merged
    for line in lines[:6]:
        ids = tokenizer.encode(line).ids
        assert not {0, 1, 2, 3} & set(ids[:-1])
        assert tokenizer.decode(ids) == line


def test_training_takes_any_text_and_as_many_pieces_as_there_are() -> None:
    assert len(Tokenizer.train([], 1000)) == 4 + 256
    assert len(Tokenizer.train(["\ud800\0", ""], 1000)) == 4 + 256
    assert len(Tokenizer.train(["abcdefgh " * 9] * 9, 262)) == 262


def test_an_error_in_the_texts_is_not_swallowed() -> None:
    def texts():
        yield "a"
        raise RuntimeError("the corpus broke off")

    with pytest.raises(RuntimeError, match="broke off"):
        Tokenizer.train(texts(), 300)


def test_a_vocabulary_too_small_for_the_bytes_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"259.*smallest is 260"):
        Tokenizer.train(["a"], 259)
    assert len(Tokenizer.train(["a"], 260)) == 260


def test_copies_still_take_special_literals_for_text(tokenizer: Tokenizer) -> None:
    for other in (pickle.loads(pickle.dumps(tokenizer)), copy.deepcopy(tokenizer)):
        assert other.encode("</s> <pad>") == tokenizer.encode("</s> <pad>")
        assert other.fingerprint() == tokenizer.fingerprint()


def test_others_that_read_the_file_get_the_end(tokenizer: Tokenizer) -> None:
    library = tokenizers.Tokenizer.from_str(tokenizer.to_json())
    assert library.encode("a man").tokens[-1] == "</s>"
    assert json.loads(tokenizer.to_json())["model"]["type"] == "BPE"


FORK = """
import os
from allyouneed.text.tokenizer import Tokenizer
assert "TOKENIZERS_PARALLELISM" not in os.environ
tokenizer = Tokenizer.train(["a man"] * 9, 270)
many = [f"a man rides bike {n}" for n in range(2000)]
here = tokenizer.encode_ids(many)
again = Tokenizer.from_json(tokenizer.to_json())
child = os.fork()
if child == 0:
    alone = os.environ["TOKENIZERS_PARALLELISM"] == "false"  # older libraries warn without it
    os._exit(0 if alone and again.encode_ids(many) == here else 1)
assert os.waitpid(child, 0)[1] == 0
assert "TOKENIZERS_PARALLELISM" not in os.environ
assert again.encode_ids(many) == here
"""


def test_a_fork_tokenises_without_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TOKENIZERS_PARALLELISM", raising=False)
    command = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", FORK]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")

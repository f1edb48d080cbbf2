import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from allyouneed.errors import ModelFolderError
from allyouneed.text.tokenizer import Tokenizer

Contents = dict[str, Any]


def test_saved_and_loaded_is_the_same(tokenizer: Tokenizer, tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    tokenizer.save(path)
    loaded = Tokenizer.load(path)
    assert loaded.to_json() == tokenizer.to_json() == path.read_text("utf-8")
    assert loaded.fingerprint() == tokenizer.fingerprint()
    assert len(loaded) == len(tokenizer)
    text = "</s> fährt 😀 <pad>"
    assert loaded.encode(text) == tokenizer.encode(text)
    assert loaded.encode_ids([text]) == [tokenizer.encode(text).ids]
    assert loaded.halves() == tokenizer.halves()


def test_the_fingerprint_is_of_the_contents(tokenizer: Tokenizer) -> None:
    """Neither the layout of the file nor the order of the vocabulary in it counts."""
    contents = json.loads(tokenizer.to_json())
    contents["model"]["vocab"] = dict(reversed(contents["model"]["vocab"].items()))
    again = Tokenizer.from_json(json.dumps(contents, indent=2))
    assert again.fingerprint() == tokenizer.fingerprint()


def test_a_broken_save_leaves_the_old_file(
    tokenizer: Tokenizer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "tokenizer.json"
    path.write_text("what was there")

    def no_room(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", no_room)
    with pytest.raises(OSError, match="No space"):
        tokenizer.save(path)
    assert path.read_text() == "what was there"
    assert list(tmp_path.iterdir()) == [path]


def vocabulary_without(piece: str) -> Callable[[Contents], None]:
    def change(contents: Contents) -> None:
        last = len(contents["model"]["vocab"]) - 1
        hole = contents["model"]["vocab"].pop(piece)
        for other, i in contents["model"]["vocab"].items():
            if i == last:
                contents["model"]["vocab"][other] = hole

    return change


def merge(*parts: Any) -> Callable[[Contents], None]:
    return lambda contents: contents["model"]["merges"].append(list(parts))


def at(*keys: str, value: Any) -> Callable[[Contents], None]:
    def change(contents: Contents) -> None:
        for key in keys[:-1]:
            contents = contents[key]
        contents[keys[-1]] = value

    return change


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (at("model", "vocab", "a", value=10**6), "its ids are not 0 to"),
        (at("model", "vocab", "a", value=1.0), "not all whole numbers"),
        (at("model", "vocab", value=["a"]), "damaged"),
        (at("model", value=[]), "damaged"),
        (at("model", "type", value="WordPiece"), "settings"),
        (at("model", "dropout", value=0.1), "settings"),
        (at("normalizer", value=None), "settings"),
        (at("something", value=None), "settings"),
        (vocabulary_without("!"), "lacks 1 of the 256 bytes"),
        (vocabulary_without("Ġman"), "is not in the vocabulary"),
        (merge("a", "zzz"), "is not in the vocabulary"),
        (merge("a"), "damaged"),
        (merge(1, 2), "is not in the vocabulary"),
        (merge("</", "s>"), "is not in the vocabulary"),
    ],
)
def test_a_file_of_another_shape_is_refused(
    tokenizer: Tokenizer, tmp_path: Path, change: Callable[[Contents], None], reason: str
) -> None:
    path = tmp_path / "tokenizer.json"
    contents = json.loads(tokenizer.to_json())
    change(contents)
    path.write_text(json.dumps(contents))
    with pytest.raises(ModelFolderError, match=reason) as caught:
        Tokenizer.load(path)
    assert_one_line_with_a_remedy(caught.value, path)


def test_swapped_special_ids_are_refused(tokenizer: Tokenizer) -> None:
    contents = json.loads(tokenizer.to_json())
    vocabulary = contents["model"]["vocab"]
    vocabulary["<pad>"], vocabulary["<s>"] = 1, 0
    with pytest.raises(ModelFolderError, match="<pad> must have id 0, not 1"):
        Tokenizer.from_json(json.dumps(contents))


def test_a_merge_that_spells_a_special_piece_is_refused() -> None:
    """Such a merge would turn the text `</s>` into the end of the sentence."""
    contents = json.loads(Tokenizer.train(["</ </ s> s>"] * 9, 300).to_json())
    model = contents["model"]
    model["vocab"] |= {"s>": len(model["vocab"])}
    model["merges"] += [["s", ">"], ["</", "s>"]]
    with pytest.raises(ModelFolderError, match="would turn text into a special piece"):
        Tokenizer.from_json(json.dumps(contents))


def test_a_piece_that_is_not_bytes_is_refused(tokenizer: Tokenizer) -> None:
    contents = json.loads(tokenizer.to_json())
    contents["model"]["vocab"]["▁the"] = len(tokenizer)
    with pytest.raises(ModelFolderError, match="'▁the' is not spelt in bytes"):
        Tokenizer.from_json(json.dumps(contents))


@pytest.mark.parametrize(
    "content", [b"", b"{", b"null", b"[]", b'"text"', b"\x80\x04pickle", b"[" * 100_000, b"{}"]
)
def test_a_damaged_file_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "tokenizer.json"
    path.write_bytes(content)
    with pytest.raises(ModelFolderError) as caught:
        Tokenizer.load(path)
    assert_one_line_with_a_remedy(caught.value, path)


def test_a_truncated_file_is_refused(tokenizer: Tokenizer, tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    path.write_text(tokenizer.to_json()[:-100], encoding="utf-8")
    with pytest.raises(ModelFolderError, match="damaged"):
        Tokenizer.load(path)


def test_a_missing_file_and_a_folder_are_named(tmp_path: Path) -> None:
    with pytest.raises(ModelFolderError, match="No such file") as caught:
        Tokenizer.load(tmp_path / "none.json")
    assert_one_line_with_a_remedy(caught.value, tmp_path / "none.json")
    with pytest.raises(ModelFolderError, match="directory"):
        Tokenizer.load(tmp_path)


def assert_one_line_with_a_remedy(error: ModelFolderError, path: Path) -> None:
    message = str(error)
    assert message.startswith(str(path))
    assert "\n" not in message
    assert "; copy it again" in message or "; give the tokenizer.json" in message

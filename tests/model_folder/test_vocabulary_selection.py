"""A vocabulary selection: what it selects, how it is learned, and the file that it is kept in."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from allyouneed.engine.lexical_translation import TokenPair, learn_lexical_translation
from allyouneed.engine.selection_learning import Coverage, coverage, likeliest
from allyouneed.errors import DataError, ModelFolderError, UsageError
from allyouneed.model_folder.folder import VOCABULARY_SELECTION, open_model_folder
from allyouneed.model_folder.vocabulary_selection import (
    VocabularySelection,
    indispensable,
    open_vocabulary_selection,
)
from allyouneed.text.tokenizer import Tokenizer

PAIRS = [
    ("The dog sleeps.", "Der Hund schläft."),
    ("Where is the station?", "Wo ist der Bahnhof?"),
    ("A man rides a bike.", "Ein Mann fährt Fahrrad."),
    ("Where is the dog?", "Wo ist der Hund?"),
    ("The man sleeps.", "Der Mann schläft."),
]


@pytest.fixture(scope="module")
def token_pairs(small_tokenizer: Tokenizer) -> list[TokenPair]:
    encode = small_tokenizer.encode_ids
    sides = (encode([pair[side] for pair in PAIRS]) for side in (0, 1))
    return list(zip(*sides, strict=True))


@pytest.fixture(scope="module")
def selection(small_tokenizer: Tokenizer, token_pairs: list[TokenPair]) -> VocabularySelection:
    lexical = learn_lexical_translation(token_pairs, len(small_tokenizer))
    return likeliest(lexical, small_tokenizer, candidates=20)


@pytest.fixture
def tiny() -> VocabularySelection:
    """Ten ids; 0 … 3 always; 4 needs 5 and 6, 7 needs 8."""
    offsets = np.array([0, 0, 0, 0, 0, 2, 2, 2, 3, 3, 3], np.int64)
    return VocabularySelection(offsets, np.array([6, 5, 8], np.int32), np.arange(4, dtype=np.int32))


def test_ids_of_one_sentence_and_of_a_batch(tiny: VocabularySelection) -> None:
    assert tiny.vocabulary == 10
    assert tiny.ids([[4, 2]]).tolist() == [0, 1, 2, 3, 5, 6]
    assert tiny.ids([[9], []]).tolist() == [0, 1, 2, 3]
    both = tiny.ids([[4, 2], [7, 7]])
    assert both.tolist() == [0, 1, 2, 3, 5, 6, 8]
    assert both.dtype == np.int64


def test_rows_are_each_sentences_own_with_its_prefix(tiny: VocabularySelection) -> None:
    rows = tiny.rows([[4], [7]])
    assert [row.tolist() for row in rows] == [[0, 1, 2, 3, 5, 6], [0, 1, 2, 3, 8]]
    forced = tiny.rows([[4], [7]], [[], [9, 4, 8]])
    assert [row.tolist() for row in forced] == [[0, 1, 2, 3, 5, 6], [0, 1, 2, 3, 4, 8, 9]]
    assert forced[1].dtype == np.int64


def test_what_every_piece_is_made_of_is_always_there(
    small_tokenizer: Tokenizer, selection: VocabularySelection
) -> None:
    needed = indispensable(small_tokenizer)
    assert len(needed) == 260
    anything = small_tokenizer.encode("Q").ids
    strange = "\u4f60\u597d, \U0001f600!"
    assert set(needed.tolist()) <= set(selection.ids([anything]).tolist())
    assert small_tokenizer.decode(needed[4:]) != ""
    assert set(small_tokenizer.encode(strange).ids) <= set(selection.ids([anything]).tolist())


def test_the_most_frequent_targets_are_always_there(small_tokenizer: Tokenizer) -> None:
    (word, rare), source = small_tokenizer.encode(" Hund der").ids[-3:-1], 20
    pairs: list[TokenPair] = [([source], [word])] * 3 + [([source], [rare])]
    lexical = learn_lexical_translation(pairs, len(small_tokenizer))
    assert word in likeliest(lexical, small_tokenizer).always_A


def test_candidates_are_the_best_and_no_more(small_tokenizer: Tokenizer) -> None:
    best, second, third = 290, 291, 292
    pairs: list[TokenPair] = [([10], [best])] * 5 + [([10], [second])] * 3 + [([10], [third])]
    lexical = learn_lexical_translation(pairs, len(small_tokenizer))
    learnt = likeliest(lexical, small_tokenizer, candidates=2)
    assert learnt.ids_C[learnt.offsets[10] : learnt.offsets[11]].tolist() == [best, second]
    assert len(learnt.ids_C) == 2, "neither other sources nor the null word have candidates"


def test_it_covers_what_it_was_learned_from(
    small_tokenizer: Tokenizer, selection: VocabularySelection, token_pairs: list[TokenPair]
) -> None:
    assert coverage(selection, token_pairs).covered == 1
    assert coverage(selection, token_pairs).sentences == len(PAIRS)


def test_coverage_counts_tokens(tiny: VocabularySelection) -> None:
    measured = coverage(tiny, [([4, 2], [5, 6, 9, 2]), ([7], [8, 5, 2])])
    assert measured == Coverage(sentences=2, selected=5.5, covered=pytest.approx(5 / 7))


def test_coverage_of_nothing(tiny: VocabularySelection) -> None:
    with pytest.raises(DataError, match="no pairs"):
        coverage(tiny, [])


def test_the_file_gives_back_what_it_was_given(
    selection: VocabularySelection, small_tokenizer: Tokenizer, tmp_path: Path
) -> None:
    path = tmp_path / "s.safetensors"
    selection.save(path, small_tokenizer)
    again = VocabularySelection.load(path, small_tokenizer)
    for name in ("offsets", "ids_C", "always_A"):
        before, after = getattr(selection, name), getattr(again, name)
        assert before.dtype == after.dtype
        assert np.array_equal(before, after)
    assert [entry.name for entry in tmp_path.iterdir()] == ["s.safetensors"]
    (tmp_path / "other").touch()
    assert path.stat().st_mode == (tmp_path / "other").stat().st_mode


@pytest.mark.usefixtures("full_disk")
def test_a_file_that_cannot_be_written_leaves_the_old_one(
    selection: VocabularySelection, small_tokenizer: Tokenizer, tmp_path: Path
) -> None:
    path = tmp_path / "s.safetensors"
    path.write_bytes(b"old")
    with pytest.raises(ModelFolderError, match="No space left"):
        selection.save(path, small_tokenizer)
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_model_folder_without_one(model_folder: Path) -> None:
    with pytest.raises(UsageError, match="select-vocabulary"):
        open_vocabulary_selection(open_model_folder(model_folder))


def test_a_model_folder_with_one(selection: VocabularySelection, model_folder: Path) -> None:
    folder = open_model_folder(model_folder)
    selection.save(folder.path / VOCABULARY_SELECTION, folder.tokenizer)
    assert np.array_equal(open_vocabulary_selection(folder).ids_C, selection.ids_C)


def test_the_file_of_another_tokenizer_is_refused(
    selection: VocabularySelection, small_tokenizer: Tokenizer, tmp_path: Path
) -> None:
    path = tmp_path / "s.safetensors"
    selection.save(path, small_tokenizer)
    other = Tokenizer.train(["something else"] * 2, vocabulary=262)
    with pytest.raises(ModelFolderError, match=r"another tokenizer.*select-vocabulary"):
        VocabularySelection.load(path, other)


Damage = Callable[[dict[str, Any], dict[str, str]], None]


def with_array(name: str, change: Callable[[Any], Any]) -> Damage:
    return lambda arrays, description: arrays.update({name: change(arrays[name])})


def with_value(array: Any, place: int, value: int) -> Any:
    array[place] = value
    return array


DAMAGES: dict[str, tuple[Damage, str]] = {
    "no metadata": (lambda a, d: d.clear(), "lack format"),
    "format": (lambda a, d: d.update(format="other"), "lack format"),
    "later": (lambda a, d: d.update(format_version="2"), "format version 2.*upgrade"),
    "version 0": (lambda a, d: d.update(format_version="0"), "format_version='0'"),
    "no version": (lambda a, d: d.pop("format_version"), "format_version=''"),
    "no tokenizer": (lambda a, d: d.pop("tokenizer"), "another tokenizer"),
    "array missing": (lambda a, d: a.pop("always"), "it holds"),
    "array unknown": (lambda a, d: a.update(more=np.zeros(1)), "it holds.*more"),
    "float ids": (with_array("ids", lambda ids: ids.astype(np.float32)), "'ids': 'F32'"),
    "wide ids": (with_array("ids", lambda ids: ids.astype(np.int64)), "'ids': 'I64'"),
    "narrow offsets": (with_array("offsets", lambda o: o.astype(np.int32)), "'offsets': 'I32'"),
    "matrix": (with_array("ids", lambda ids: ids[None]), "more than one axis"),
    "too few offsets": (with_array("offsets", lambda o: o[1:]), "do not divide"),
    "late start": (with_array("offsets", lambda o: np.maximum(o, 1)), "do not divide"),
    "early end": (with_array("ids", lambda ids: ids[:-1]), "do not divide"),
    "back": (with_array("offsets", lambda o: with_value(o, 1, o[-1])), "not in ascending order"),
    "id too high": (with_array("ids", lambda ids: with_value(ids, 3, 300)), "ids holds 300"),
    "id below 0": (with_array("ids", lambda ids: with_value(ids, 0, -1)), "ids holds -1"),
    "always too high": (with_array("always", lambda a: with_value(a, -1, 999)), "always holds 999"),
    "no end": (with_array("always", lambda a: a[a != 2]), "lacks 1 special ids or bytes, 2 first"),
}


@pytest.mark.parametrize("name", DAMAGES)
def test_a_damaged_file_is_refused(
    name: str, selection: VocabularySelection, small_tokenizer: Tokenizer, tmp_path: Path
) -> None:
    damage, complaint = DAMAGES[name]
    path = tmp_path / "s.safetensors"
    selection.save(path, small_tokenizer)
    arrays = {name: array.copy() for name, array in load_file(path).items()}
    header = path.read_bytes()
    size = int.from_bytes(header[:8], "little")
    description = json.loads(header[8 : 8 + size])["__metadata__"]
    damage(arrays, description)
    save_file(arrays, path, description)
    with pytest.raises(ModelFolderError, match=complaint) as refused:
        VocabularySelection.load(path, small_tokenizer)
    assert str(path) in str(refused.value)


@pytest.mark.parametrize("content", [b"", b"nonsense" * 20, None])
def test_what_is_no_safetensors_is_refused(
    content: bytes | None,
    selection: VocabularySelection,
    small_tokenizer: Tokenizer,
    tmp_path: Path,
) -> None:
    path = tmp_path / "s.safetensors"
    selection.save(path, small_tokenizer)
    path.write_bytes(path.read_bytes()[:-40] if content is None else content)
    with pytest.raises(ModelFolderError, match="damaged or cut short"):
        VocabularySelection.load(path, small_tokenizer)

"""What a run needs before its first step: made once, kept, and remade when it has to be."""

import errno
import os
from pathlib import Path
from typing import Any

import pytest

from allyouneed.data import store as store_module
from allyouneed.errors import DataError
from allyouneed.text.tokenizer import Tokenizer
from allyouneed.training import preparation
from allyouneed.training.preparation import Material, prepare


class Prepared:
    """`prepare` with its notes and with how often it learnt a vocabulary and wrote a store."""

    def __init__(self, runs: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        self.runs = runs
        self.notes: list[str] = []
        self.done: list[str] = []
        train, write = Tokenizer.train, store_module.write_store

        def learn(*arguments: Any) -> Tokenizer:
            self.done.append("vocabulary")
            return train(*arguments)

        def store(*arguments: Any) -> None:
            self.done.append("store")
            write(*arguments)

        monkeypatch.setattr(preparation.Tokenizer, "train", learn)
        monkeypatch.setattr(store_module, "write_store", store)

    def __call__(self, *overrides: str) -> Material:
        self.notes, self.done = [], []
        return prepare(self.runs.recipe(*overrides), self.runs.root / "run", self.notes.append)


@pytest.fixture
def prepared(runs: Any, monkeypatch: pytest.MonkeyPatch) -> Prepared:
    return Prepared(runs, monkeypatch)


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    path = tmp_path / "pairs.tsv"
    path.write_text("".join(f"{n} one\tein {n}\n" for n in range(40)), encoding="utf-8")
    return path


def test_a_second_start_makes_nothing_anew(prepared: Prepared) -> None:
    first = prepared()
    assert prepared.done == ["vocabulary", "store", "store"]
    second = prepared()
    assert prepared.done == []
    assert second.tokenizer.fingerprint() == first.tokenizer.fingerprint()
    assert second.train.folder == first.train.folder


@pytest.mark.parametrize("change", ["vocabulary.size=270", "data.train.0.seed=3"])
def test_another_size_or_other_texts_make_another_vocabulary(
    prepared: Prepared, change: str
) -> None:
    first = prepared()
    second = prepared(change)
    assert "vocabulary" in prepared.done
    assert second.tokenizer.fingerprint() != first.tokenizer.fingerprint()
    assert prepared().tokenizer.fingerprint() == first.tokenizer.fingerprint()
    assert prepared.done == []


def test_a_changed_file_makes_another_vocabulary(prepared: Prepared, corpus: Path) -> None:
    files = f'data.train=[{{source = "{corpus}"}}]'
    first = prepared(files)
    corpus.write_text(corpus.read_text() + "more more\tmehr mehr\n", encoding="utf-8")
    assert prepared(files).tokenizer.fingerprint() != first.tokenizer.fingerprint()


def test_a_damaged_vocabulary_is_learnt_anew_with_a_note(prepared: Prepared) -> None:
    first = prepared()
    (kept,) = (prepared.runs.root / "run" / "cache").glob("tokenizer-*.json")
    kept.write_text(kept.read_text()[:1000])
    second = prepared()
    assert prepared.done == ["vocabulary"]
    assert prepared.notes[0] == f"{kept} is damaged and is written again"
    assert second.tokenizer.fingerprint() == first.tokenizer.fingerprint()


def test_a_vocabulary_that_a_full_disk_does_not_take(
    prepared: Prepared, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(tokenizer: Tokenizer, path: Path) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(Tokenizer, "save", full)
        with pytest.raises(DataError, match=r"tokenizer-.*No space left.*; free some space or"):
            prepared()
    assert len(prepared().train) > 0


def test_a_tokenizer_of_ones_own(prepared: Prepared, tmp_path: Path) -> None:
    own = Tokenizer.train(["a b c d e f g h"] * 3, 262)
    own.save(tmp_path / "own.json")
    material = prepared("vocabulary.tokenizer=own.json", "vocabulary.size=300")
    assert "vocabulary" not in prepared.done
    assert material.tokenizer.fingerprint() == own.fingerprint()
    assert material.config.vocabulary == len(own)


def test_the_notes_say_what_was_done(prepared: Prepared, corpus: Path) -> None:
    with corpus.open("a", encoding="utf-8") as file:
        file.write("\tnothing\n0 one\tein 0\n")
    prepared(f'data.train=[{{source = "{corpus}"}}]')
    assert prepared.notes[0] == "learning a vocabulary of 280 from the training text"
    said = " ".join(prepared.notes)
    assert "train: kept 40 of 42 pairs" in said
    assert "empty source" in said
    assert "duplicate" in said
    assert "valid: kept 20 of 20 pairs" in said


def test_validation_keeps_what_training_filters_out(prepared: Prepared, corpus: Path) -> None:
    corpus.write_text("a\tb\na\tb\nc\t" + "d " * 20 + "\n", encoding="utf-8")
    files = f'data.valid=[{{source = "{corpus}"}}]'
    limits = ("data.filters.max_tokens=12", "data.filters.ratio_slack=0")
    assert len(prepared(files, *limits).valid) == 3
    other_way = f'data.train=[{{source = "{corpus}"}}]'
    assert len(prepared(other_way, "data.filters.max_ratio=2", *limits).train) == 1


def test_texts_of_validation_are_left_out_of_training(
    prepared: Prepared, corpus: Path, tmp_path: Path
) -> None:
    valid = tmp_path / "valid.tsv"
    valid.write_text("3 one\tanything\nanything\tein 5\n", encoding="utf-8")
    files = (f"data.train=[{{source = '{corpus}'}}]", f"data.valid=[{{source = '{valid}'}}]")
    assert len(prepared(*files).train) == 40
    material = prepared(*files, "data.filters.drop_validation=true")
    sources = {material.tokenizer.decode(material.train.pair(n)[0].tolist()) for n in range(38)}
    assert len(material.train) == 38
    assert not sources & {"3 one", "5 one"}
    assert any("source in validation: 1" in note for note in prepared.notes)


def test_nothing_is_longer_than_the_model_has_positions_for(prepared: Prepared) -> None:
    material = prepared("model.max_positions=7")
    assert max(length.max() for length in material.train.lengths()) == 7
    assert max(length.max() for length in material.valid.lengths()) == 7
    assert any("too long" in note and "max_tokens=7" in note for note in prepared.notes)


def test_translated_pairs_come_from_every_corpus(prepared: Prepared, corpus: Path) -> None:
    both = f'data.valid=[{{source = "{corpus}"}}, {{made = "copy", pairs = 9}}]'
    pairs = prepared(both, "validation.sentences=6").valid_pairs
    assert pairs[:3] == [("0 one", "ein 0"), ("1 one", "ein 1"), ("2 one", "ein 2")]
    assert len(pairs) == 6
    assert all(source == target for source, target in pairs[3:])


def test_a_folder_of_shards_whose_name_has_a_dot_is_found_in_the_data_folder(
    prepared: Prepared, corpus: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = prepared.runs.root / "data"
    (data / "europarl-v7.de-en").mkdir(parents=True)
    corpus.rename(data / "europarl-v7.de-en" / "1.tsv")
    monkeypatch.setenv("ALLYOUNEED_DATA", str(data))
    assert len(prepared('data.train=[{source = "europarl-v7.de-en"}]').train) == 40
    with pytest.raises(DataError, match=r"absent\.de-en: no such file"):
        prepared('data.train=[{source = "absent.de-en"}]')
    (data / "europarl.en").write_text("a\n")
    with pytest.raises(DataError, match=r"europarl\.en: the target sentences are missing"):
        prepared('data.train=[{source = "europarl.en"}]')


def test_a_missing_corpus_is_named(prepared: Prepared) -> None:
    with pytest.raises(DataError, match=r"nowhere\.tsv"):
        prepared('data.train=[{source = "nowhere.tsv"}]')


def test_noise_comes_to_training_pairs_alone_and_is_told(prepared: Prepared) -> None:
    plain = prepared()
    noisy = prepared("noise.copies=2", "noise.capitals=0.5")
    assert len(noisy.train) == 2 * len(plain.train)
    assert noisy.valid.folder == plain.valid.folder
    assert noisy.tokenizer.fingerprint() == plain.tokenizer.fingerprint()  # learnt without it
    assert any("noise: capitals" in note for note in prepared.notes)


def test_a_normaliser_writes_what_is_learnt_and_references_stay_as_they_are(
    prepared: Prepared, tmp_path: Path
) -> None:
    path = tmp_path / "pairs.tsv"
    path.write_text("".join(f"It’s\u00a0{n}\t„{n}“\n" for n in range(40)), encoding="utf-8")
    files = [f"data.train=[{{source={str(path)!r}}}]", f"data.valid=[{{source={str(path)!r}}}]"]
    found = prepared(*files, 'data.normaliser="plain-marks"', "validation.sentences=2")
    source, target = found.train.pair(0)
    assert found.tokenizer.decode(source) == "It's 0"
    assert found.tokenizer.decode(target) == '"0"'
    assert found.valid_pairs[0] == ("It’s\u00a00", "„0“")


def test_corpora_are_looked_over_before_a_vocabulary_is_learnt(runs: Any, tmp_path: Path) -> None:
    (tmp_path / "a.en").write_text("a\nb\n")
    (tmp_path / "a.de").write_text("a\n")
    notes: list[str] = []
    held_out = f'data.valid=[{{source = "{tmp_path}/a.en", target = "{tmp_path}/a.de"}}]'
    with pytest.raises(DataError, match="line 2 is the first without a partner"):
        prepare(runs.recipe(held_out), tmp_path / "run", notes.append)
    assert notes == []
    (tmp_path / "a.de").write_text("")
    (tmp_path / "a.en").write_text("")
    with pytest.raises(DataError, match="holds no pair of sentences"):
        prepare(runs.recipe(held_out), tmp_path / "run", notes.append)

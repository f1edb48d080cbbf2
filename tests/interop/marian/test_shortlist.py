"""Marian's shortlists become vocabulary selections, which give a sentence the same ids alone and in
any batch."""

import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import allyouneed
from allyouneed.decoding.options import BeamOptions
from allyouneed.errors import ModelFolderError
from allyouneed.interop.marian.shortlist import read_shortlist
from allyouneed.model_folder.vocabulary_selection import open_vocabulary_selection

Make = Callable[..., Path]
Import = Callable[..., Any]
OPTIONS = BeamOptions(beam=1, max_length=10, loop_guard=False, min_length=0)


def lists(size: int, seed: int = 0) -> list[list[int]]:
    rng = np.random.default_rng(seed)
    return [sorted(set(rng.integers(2, size, rng.integers(0, 9)).tolist())) for _ in range(size)]


def model_files(toys: Any, **more: bytes) -> tuple[Any, dict[str, bytes], int]:
    size = len(toys.pieces(toys.spm()))
    model = toys.toy((size, size))
    files = {"model.ende.npz": toys.npz_file(model), "vocab.ende.spm": toys.spm(), **more}
    return model, files, size


@pytest.mark.parametrize("packed", ["", ".gz"])
@pytest.mark.parametrize("engine", ["core", "cpu-float32"])
def test_the_search_stays_within_the_list(
    toys: Any, folder: Make, imported: Import, engine: str, packed: str
) -> None:
    model, files, size = model_files(toys)
    chosen = lists(size)
    files[f"lex.50.50.ende.s2t.bin{packed}"] = toys.lex_file(range(20), chosen)
    ours, notes = imported(folder(files))
    assert any("--vocabulary-selection" in note for note in notes)
    translator = allyouneed.load(str(ours.path), engine=engine, vocabulary_selection=True)
    sources = [translator.tokenizer.encode(line).ids for line in toys.LINES]
    reference = toys.Reference(model)
    wanted = []
    for source in sources:
        allowed = {0, *range(20), *source, *(id_ for s in source for id_ in chosen[s])}
        wanted.append(reference.greedy(source, 10, sorted(allowed)))
        [[alone]] = translator.engine.search([source], OPTIONS)
        assert list(alone.ids) == wanted[-1]
    together = translator.engine.search(sources, OPTIONS)
    assert [list(found.ids) for [found] in together] == wanted


def test_with_vocabularies_apart_no_source_id_is_copied(
    toys: Any, folder: Make, imported: Import
) -> None:
    source, target = toys.spm(), toys.spm(360)
    sizes = len(toys.pieces(source)), len(toys.pieces(target))
    files = {
        "model.enja.npz": toys.npz_file(toys.toy(sizes, tied="target")),
        "srcvocab.enja.spm": source,
        "trgvocab.enja.spm": target,
        "lex.bin": toys.lex_file(range(3), [[sizes[1] - 1]] * sizes[0]),
    }
    ours, _ = imported(folder(files))
    selection = open_vocabulary_selection(ours)
    pad = ours.config.pad
    assert selection.ids([[7, 8]]).tolist() == [0, 1, 2, sizes[1] - 1, pad]


def test_text_is_read_as_the_binary_that_is_made_of_it(
    toys: Any, folder: Make, imported: Import
) -> None:
    _, files, size = model_files(toys)
    names = [toys.pieces(toys.spm()).id_to_piece(id_) for id_ in range(size)]
    rng = np.random.default_rng(3)
    rows = [
        (target, source, rng.random())
        for source in range(2, size)
        for target in rng.permutation(range(2, size))[:60]
    ]
    text = "".join(f"{names[t]} {names[s]} {p:.9f}\n" for t, s, p in rows) + "NULL NULL 0.5\n"
    best = [
        sorted(t for t, *_ in sorted((r for r in rows if r[1] == s), key=lambda r: -r[2])[:50])
        for s in range(size)
    ]
    text += "no-such-piece-here \u2581the 0.9\n"
    ours, _ = imported(folder({**files, "lex.s2t.txt": text.encode()}, "a"), "of text")
    theirs, _ = imported(
        folder({**files, "lex.s2t.bin": toys.lex_file(range(50), best)}, "b"), "of binary"
    )
    found, wanted = open_vocabulary_selection(ours), open_vocabulary_selection(theirs)
    for source in range(2, size):
        assert found.ids([[source]]).tolist() == wanted.ids([[source]]).tolist()
    folder({"lex.txt": b"three words 0.5\nonly two\n"}, "c")
    with pytest.raises(ModelFolderError, match=r"lex\.txt: line 2"):
        read_shortlist(ours.path.parent / "c" / "lex.txt", ours.tokenizer, True)


def test_a_checksum_that_is_wrong(toys: Any, folder: Make, imported: Import) -> None:
    _, files, size = model_files(toys)
    content = bytearray(toys.lex_file(range(9), lists(size)))
    content[8:16] = struct.pack("<Q", 5)
    with pytest.raises(ModelFolderError, match="checksum is not that of its content"):
        imported(folder({**files, "lex.bin": bytes(content)}))

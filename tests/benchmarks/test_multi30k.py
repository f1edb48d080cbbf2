"""The score of Multi30k is computed as the published one was."""

import gzip
import json
import math
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace

import pytest

from allyouneed.data.root import data_root

ROOT = Path(__file__).parents[2]
pytest.importorskip("sacremoses", reason="the extra dev is not installed")

REFERENCES = [
    "Ein Mann in einem blauen Hemd steht auf einer Leiter und putzt ein Fenster.",
    "Zwei Hunde („Max“ und „Rex“) spielen im Schnee.",
    "Leute reparieren das Dach eines Hauses – es regnet nicht.",
]
TRANSLATIONS = [
    "ein Mann in blauem Hemd steht auf einer Leiter und putzt ein Fenster .",
    'Zwei Hunde ("Max" und "Rex") spielen im Schnee.',
    "Menschen reparieren das Dach eines Hauses - es regnet.",
]


@pytest.fixture(autouse=True)
def parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(ROOT / "benchmarks")


def multi_bleu(translations: Sequence[str], references: Sequence[str]) -> float:
    """Papineni et al. 2002 over tokens that spaces part, written out."""
    found, total = [0] * 4, [0] * 4
    length = reference_length = 0
    for translation, reference in zip(translations, references, strict=True):
        ours, theirs = translation.split(), reference.split()
        length, reference_length = length + len(ours), reference_length + len(theirs)
        for n in range(1, 5):
            grams, known = (
                Counter(tuple(side[i : i + n]) for i in range(len(side) - n + 1))
                for side in (ours, theirs)
            )
            found[n - 1] += sum((grams & known).values())
            total[n - 1] += sum(grams.values())
    precision = sum(math.log(f / t) for f, t in zip(found, total, strict=True)) / 4
    return 100 * math.exp(precision + min(0.0, 1 - reference_length / length))


def test_both_sides_are_lower_cased_normalised_and_tokenised() -> None:
    from multi30k import prepared

    assert prepared([REFERENCES[1], TRANSLATIONS[1], "Ein  Mann,\u00a0allein!  "]) == [
        "zwei hunde ( &quot; max &quot; und &quot; rex &quot; ) spielen im schnee .",
        "zwei hunde ( &quot; max &quot; und &quot; rex &quot; ) spielen im schnee .",
        "ein mann , allein !",
    ]


def test_it_is_multi_bleu_of_the_tokens() -> None:
    from multi30k import as_published, prepared

    figure = as_published(TRANSLATIONS, REFERENCES)
    by_hand = multi_bleu(prepared(TRANSLATIONS), prepared(REFERENCES))
    assert 40 < by_hand < 90
    assert figure["score"] == pytest.approx(by_hand, rel=1e-9)
    assert figure["brevity_penalty"] < 1
    assert as_published(REFERENCES, REFERENCES)["score"] == pytest.approx(100)
    upper = [text.upper() for text in TRANSLATIONS]
    assert as_published(upper, REFERENCES)["score"] == figure["score"]


def test_the_published_references_are_met_token_for_token() -> None:
    """Multi30k's own test_2016_flickr.lc.norm.tok.de has 12,103 tokens and no capitals."""
    from multi30k import prepared

    path = (data_root() or Path("nowhere")) / "multi30k" / "test_2016_flickr.de.gz"
    if not path.is_file():
        pytest.skip(f"{path} is not there; `allyouneed fetch multi30k` brings it")
    texts = prepared(gzip.decompress(path.read_bytes()).decode().split("\n")[:-1])
    assert sum(len(text.split()) for text in texts) == 12_103
    assert not any(letter.isupper() for text in texts for letter in text)


FILE = ["--translations", "mine.de"]
ONE = ["--engine", "core", "--beam", "2"]
TWO = ["--model", "en-de", "en-de", "--beam", "2"]


@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("allyouneed train toy seed=3", "toy-seed-3"),
        ("allyouneed train toy model.dropout=0.3 seed=3", "toy-seed-3-model.dropout=0.3"),
        ("allyouneed train ../my/toy.toml 'data.x=[\"a b\"]'", "toy-seed-3-data.x=_a_b_"),
        ("allyouneed train runs/mine/recipe.toml", "recipe-seed-3"),
    ],
)
def test_figures_are_called_by_what_was_set(
    command: str, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import multi30k

    facts = {"command": command, "recipe": {"name": "toy", "seed": 3}}
    (tmp_path / "training.json").write_text(json.dumps(facts), encoding="utf-8")
    folder = SimpleNamespace(path=tmp_path)
    monkeypatch.setattr(multi30k, "open_model_folder", lambda model: folder)
    assert multi30k.facts_of("a model") == {"name": name, "command": command}


@pytest.mark.parametrize(
    ("given", "name", "parameters"),
    [
        (FILE, "mine", None),
        (ONE, "en-de-seed-1", 7_313_920),
        (TWO, "ensemble-of-2", 2 * 7_313_920),
    ],
    ids=["a-file", "a-model", "two-models"],
)
def test_it_writes_its_figures(
    given: list[str], name: str, parameters: int | None, tmp_path: Path
) -> None:
    folder = tmp_path / "multi30k"
    folder.mkdir()
    english = ["A man cleans a window.", "Two dogs play.", "People repair the roof of a house."]
    for side, texts in (("en", english), ("de", REFERENCES)):
        content = gzip.compress("\n".join([*texts, ""]).encode())
        (folder / f"test_2016_flickr.{side}.gz").write_bytes(content)
    (tmp_path / "mine.de").write_text("\n".join([*TRANSLATIONS, ""]), encoding="utf-8")
    table = tmp_path / "results" / "table.jsonl"
    table.parent.mkdir()
    earlier = {"name": name, "set": "val", "beam": 5, "length_penalty": 0.6}
    table.write_text(json.dumps(earlier) + "\n")
    done = subprocess.run(
        [sys.executable, ROOT / "benchmarks" / "multi30k.py", *given, "--results", table],
        cwd=tmp_path,
        env={**os.environ, "ALLYOUNEED_DATA": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    kept, document = map(json.loads, table.read_text().splitlines())
    assert kept == earlier
    assert (document["name"], document["set"]) == (name, "test_2016_flickr")
    scores = {figure["metric"]: figure for figure in document["scores"]}
    assert list(scores) == [
        "BLEU lower-cased, normalised, tokenised",
        "BLEU",
        "BLEU lower-cased",
        "chrF",
    ]
    published, cased, *_ = scores.values()
    assert "tok:none" in published["signature"]
    assert "case:mixed" in cased["signature"]
    assert "tok:13a" in cased["signature"]
    for figure in scores.values():
        assert f"{figure['score']:6.2f}  {figure['metric']}" in done.stdout
    assert " 41.02  published" in done.stdout
    assert document.get("parameters") == parameters
    assert document.get("beam") == (2 if parameters else None)


def test_a_run_takes_the_place_of_its_earlier_row(tmp_path: Path) -> None:
    from multi30k import record

    for score in (1, 2):
        for name in ("a", "b"):
            record({"name": name, "set": "val", "beam": 5, "scores": [score]}, tmp_path / "t.jsonl")
    rows = [json.loads(line) for line in (tmp_path / "t.jsonl").read_text().splitlines()]
    assert [(row["name"], row["scores"]) for row in rows] == [("a", [2]), ("b", [2])]

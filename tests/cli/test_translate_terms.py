"""`allyouneed translate --terms`, with a model that gives back what it is given."""

import json
from pathlib import Path


def test_terms_of_a_file(call, copier_folder: Path, tmp_path: Path) -> None:
    terms = tmp_path / "terms.csv"
    terms.write_text("dog,Hund\n")
    told = ("--model", copier_folder, "--terms", terms)
    done = call("translate", *told, "--json", "A dog runs.")
    assert done.code == 0
    [use] = json.loads(done.lines[0])["terms"]
    assert (use["source"], use["term"], use["form"]) == ([2, 5], "dog", "Hund")

    short = call("translate", *told, "--max-length", "2", "A dog runs.")
    assert "the term 'dog' was not used: the translation does not have 'Hund'" in short.err

    text, translated = tmp_path / "a.md", tmp_path / "b.md"
    text.write_text("# The *dog*\n")
    assert call("translate", *told, text, "--to", translated).code == 0
    assert "Hund" in translated.read_text()


def test_a_bad_file_is_named_with_its_line(call, copier_folder: Path, tmp_path: Path) -> None:
    terms = tmp_path / "terms.tsv"
    terms.write_text("dog\tHund\ncat Katze\n")
    done = call("translate", "--model", copier_folder, "--terms", terms, "A dog.")
    assert done.code == 1
    assert f"{terms}:2: no tab in 'cat Katze'" in done.err


def test_terms_and_stream(call, copier_folder: Path, tmp_path: Path) -> None:
    done = call("translate", "--model", copier_folder, "--terms", "a.tsv", "--stream", "A dog.")
    assert done.code == 2
    assert "leave out --stream or --terms" in done.err

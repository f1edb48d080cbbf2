"""`allyouneed align`: Pharaoh lines, JSON, an error rate, and calls that are wrong."""

import json
from pathlib import Path

import pytest

PAIRS = "the dog\tder Hund\nthe cat\tdie Katze\na dog\tein Hund\na cat sleeps\teine Katze schläft\n"


@pytest.fixture
def tsv(tmp_path: Path) -> Path:
    path = tmp_path / "pairs.tsv"
    path.write_text(PAIRS, encoding="utf-8")
    return path


def test_a_line_of_links_for_each_pair(call, tsv: Path, tmp_path: Path) -> None:
    (tmp_path / "more.tsv").write_text(PAIRS * 20, encoding="utf-8")
    done = call("align", "--tsv", tsv, "--corpus", tmp_path / "more.tsv")
    assert (done.code, done.err) == (0, "")
    assert done.lines == ["0-0 1-1", "0-0 1-1", "0-0 1-1", "0-0 1-1 2-2"]


def test_json(call, tsv: Path) -> None:
    done = call("align", "--tsv", tsv, "--json")
    lines = [json.loads(line) for line in done.lines]
    assert [line["source"] for line in lines] == ["the dog", "the cat", "a dog", "a cat sleeps"]
    assert [1, 1] in lines[0]["alignment"]


def test_the_error_rate(call, tsv: Path, tmp_path: Path) -> None:
    links = ["0-0 1-1", "0-0 1-1", "0-0 1-1", "0-0 1-1 2-2"]
    gold = tmp_path / "gold"
    gold.write_text("\n".join(links) + "\n", encoding="utf-8")
    (tmp_path / "more.tsv").write_text(PAIRS * 20, encoding="utf-8")
    wanted = ("--tsv", tsv, "--corpus", tmp_path / "more.tsv", "--gold", gold)
    assert call("align", *wanted).lines == ["AER 0.000 over 4 pairs"]
    gold.write_text("\n".join(["0-1 1-0", *links[1:]]) + "\n", encoding="utf-8")
    found = json.loads(call("align", *wanted, "--json").out)
    assert found == {"alignment_error_rate": pytest.approx(1 - 14 / 18), "pairs": 4}


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ("0-0\n", ["gold has 1 lines for 4 pairs"]),
        ("0-0\n0-0\n0=0\n0-0\n", ["gold:3: '0=0' is not a link"]),
        ("0-0\n5-0\n0-0\n0-0\n", ["gold:2: link 5-0, but there are 2 source"]),
    ],
)
def test_links_by_people_that_do_not_fit(
    call, tsv: Path, tmp_path: Path, lines: str, words: list[str]
) -> None:
    (tmp_path / "gold").write_text(lines, encoding="utf-8")
    done = call("align", "--tsv", tsv, "--gold", tmp_path / "gold")
    assert (done.code, done.out) == (1, "")
    assert all(word in done.err for word in words)


def test_a_file_without_words(call, tmp_path: Path) -> None:
    (tmp_path / "empty.tsv").write_text("\t\n", encoding="utf-8")
    done = call("align", "--tsv", tmp_path / "empty.tsv")
    assert done.code == 1
    assert "no pair has words on both sides" in done.err

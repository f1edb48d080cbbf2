"""`allyouneed keys`: made, listed, removed."""

import json
from pathlib import Path
from typing import Any

Call = Any  # see conftest


def test_a_key_is_made_listed_and_removed(call: Call, tmp_path: Path) -> None:
    file = ("--keys", tmp_path / "keys.sqlite")
    made = call("keys", "add", "weblate", "--characters", 5000, *file)
    assert made.code == 0
    [key] = made.lines
    assert key.startswith("ayn_")
    assert len(key) > 40
    listed = call("keys", "list", *file)
    assert listed.lines[0].startswith("weblate\t")
    assert "0 of 5,000 characters" in listed.lines[0]
    assert key not in listed.out
    told = json.loads(call("keys", "list", "--json", *file).out)
    assert (told["name"], told["characters"], told["used_requests"]) == ("weblate", 5000, 0)
    assert call("keys", "remove", "weblate", *file).code == 0
    assert "there are no keys" in call("keys", "list", *file).err


def test_mistakes_are_said(call: Call, tmp_path: Path) -> None:
    file = ("--keys", tmp_path / "keys.sqlite")
    gone = call("keys", "remove", "nobody", *file)
    assert (gone.code, gone.out) == (2, "")
    assert "there is no key named 'nobody'" in gone.err
    call("keys", "add", "a", *file)
    assert "already" in call("keys", "add", "a", *file).err

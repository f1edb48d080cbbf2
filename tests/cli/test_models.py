"""`allyouneed models` names languages alike, however a model's folder names them."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from allyouneed.model_folder.folder import CONFIG

Call = Callable[..., Any]


@pytest.fixture
def named(
    model_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[[str, str, str], None]:
    """`named("fr-en", "French", "en")` imports a model whose config.json says these languages."""
    places = tmp_path / "places"
    monkeypatch.setenv("ALLYOUNEED_MODELS", str(places))

    def make(name: str, source: str, target: str) -> None:
        shutil.copytree(model_folder, places / name)
        file = places / name / CONFIG
        config = json.loads(file.read_text("utf-8"))
        config |= {"source_language": source, "target_language": target}
        file.write_text(json.dumps(config), "utf-8")

    return make


def rows(call: Call) -> dict[str, Any]:
    found = [json.loads(line) for line in call("models", "--json").out.splitlines()]
    return {row["name"]: row for row in found}


def test_codes_and_names_are_alike_for_every_model(
    named: Callable[[str, str, str], None], call: Call
) -> None:
    named("by-code", "nb", "en")
    named("by-name", "French", "English")
    named("unknown", "tlh", "en")
    named("none", "", "")
    found = rows(call)
    facts = {
        name: (row["languages"], row["directions"], row["names"]) for name, row in found.items()
    }
    english = {"en": "English"}
    assert facts["by-code"] == (["en", "nb"], [["nb", "en"]], {"nb": "Norwegian Bokmål", **english})
    assert facts["by-name"] == (["en", "fr"], [["fr", "en"]], {"fr": "French", **english})
    assert facts["unknown"] == (["en", "tlh"], [["tlh", "en"]], {"tlh": "tlh", **english})
    assert facts["none"] == ([], [], {})
    assert facts["en-de"] == (["de", "en"], [["en", "de"]], {"de": "German", **english})
    assert facts["de-en"] == (["de", "en"], [["de", "en"]], {"de": "German", **english})


def test_the_table_has_names(named: Callable[[str, str, str], None], call: Call) -> None:
    named("by-code", "nb", "en")
    [line] = [line for line in call("models").out.splitlines() if line.startswith(" by-code")]
    assert line.split("  ")[0].strip() == "by-code"
    assert "Norwegian Bokmål" in line
    assert "English" in line

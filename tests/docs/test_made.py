"""The pages that the package writes itself leave nothing out; docstrings are read as Markdown."""

from pathlib import Path
from typing import Any

import pytest
import typer
from docstrings import as_restructured_text
from made import MADE, command_line, filled, modules, paper, recipe_keys

import allyouneed
from allyouneed.cli.app import build
from allyouneed.training.recipe.data_sections import FiltersSection
from allyouneed.training.recipe.sections import TrainingSection
from allyouneed.training.recipe.toml_file import SCHEMAS

DOCS = Path(__file__).resolve().parents[2] / "docs"
PACKAGE = Path(allyouneed.__file__).parent


def test_every_verb_and_option_is_in_the_page() -> None:
    page = command_line()
    group: Any = typer.main.get_command(build())
    for name, verb in group.commands.items():
        part = page.split(
            f"\n## {name}\n" if not page.startswith(f"## {name}\n") else f"## {name}\n"
        )
        text = part[-1].split("\n## ")[0]
        assert verb.help in text
        for option in verb.params:
            assert option.opts[0] in text, (name, option.opts)


def test_every_key_of_every_task_is_in_the_page() -> None:
    page = recipe_keys()
    assert "<class" not in page
    assert "NoneType" not in page
    for schema in SCHEMAS.values():
        for field in schema.model_fields:
            assert f"`{field}`" in page or f"[{field}]" in page or f"[{field}[]" in page, field
    for section in (TrainingSection, FiltersSection):
        for name, field in section.model_fields.items():
            assert f"| `{name}` |" in page
            assert (field.description or "").replace("|", "\\|").replace("<", "&lt;") in page


def test_a_table_that_one_task_has_says_so() -> None:
    assert "## `[reply]` · reply" in recipe_keys()
    assert recipe_keys().count("## `[optimizer]`\n") == 1


def test_every_module_is_in_the_reference() -> None:
    pages = "".join(path.read_text("utf-8") for path in (DOCS / "reference").glob("*.md"))
    folders = {path.parent for path in PACKAGE.rglob("*.py")} - {PACKAGE / "cli"}
    named = {
        PACKAGE / line.split(" ")[-1] for line in pages.splitlines() if "made: modules" in line
    }
    assert folders == named
    assert "automodule:: allyouneed.core.attention\n" in modules("core")
    assert "__init__" not in modules("core")


def test_symbols_of_the_paper_lead_to_what_the_reference_describes() -> None:
    page = paper()
    assert "{py:obj}`core/attention.py:attention <allyouneed.core.attention.attention>`" in page
    assert "{py:obj}`core/config.py:BASE <allyouneed.core.config>`" in page  # a value has no entry


def test_marks_give_way_and_unknown_ones_are_errors() -> None:
    assert filled("a\n% made: changes\nb").startswith("a\n\nWhat changed for people")
    assert filled("100 % made: by hand") == "100 % made: by hand"
    assert filled("[3 · A](../lessons/03_a.py)") == "{doc}`3 · A </lessons/03_a>`"
    with pytest.raises(KeyError):
        filled("% made: nothing")


def test_every_mark_of_the_pages_is_known() -> None:
    lines = [line for page in DOCS.rglob("*.md") for line in page.read_text("utf-8").splitlines()]
    marks = {line.split()[2] for line in lines if line.startswith("% made: ")}
    assert marks == set(MADE)


def test_indented_examples_are_code_and_signs_mean_themselves() -> None:
    lines = [
        "|Y| counts *all*, `a|b` too:",
        "",
        "    model(**inputs)",
        "",
        "Raises:",
        "    Error: x",
    ]
    assert as_restructured_text(lines) == [
        *(r"\|Y\| counts \*all\*, `a|b` too:", "", "::", "", "    model(**inputs)", ""),
        *("Raises:", "    Error: x"),
    ]

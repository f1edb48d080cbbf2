"""What the tests of the architecture look at: the source of every module of the package."""

from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[2] / "src" / "allyouneed"


def module_name(path: Path) -> str:
    """`.../allyouneed/core/masks.py` → `allyouneed.core.masks`; a package by its folder's name."""
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@pytest.fixture(scope="session")
def sources() -> dict[str, str]:
    """The source text of each module, by dotted name."""
    found = {module_name(path): path.read_text("utf-8") for path in PACKAGE.rglob("*.py")}
    assert "allyouneed.errors" in found
    return dict(sorted(found.items()))

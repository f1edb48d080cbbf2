"""The formats of other toolkits' models that can become model folders, and how each is told."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from allyouneed.errors import UsageError
from allyouneed.model_folder import CONFIG, ModelFolder

Note = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Format:
    """`what` such a model looks like, in words; `holds` whether a path is one, told by what lies
    there; `read` makes it a model folder. `read` takes the source, the folder to write, `note`,
    and, by keyword, those of the verb's options that `options` names."""

    what: str
    holds: Callable[[Path], bool]
    read: Callable[..., ModelFolder]
    options: tuple[str, ...] = ()


FORMATS: dict[str, Format] = {}


def model_type(path: Path) -> str | None:
    """What config.json of a Hugging Face folder says that it is; None: there is no such thing."""
    try:
        config: Any = json.loads((path / CONFIG).read_bytes())
    except (OSError, ValueError, RecursionError):
        return None
    found = config.get("model_type") if isinstance(config, dict) else None
    return found if isinstance(found, str) else None


def format_of(source: Path) -> str:
    """The name of the format that `source` is of.

    Raises:
        UsageError: none of these formats; it says what can be read, and what this is instead.
    """
    for name, form in FORMATS.items():
        if form.holds(source):
            return name
    if not source.exists():
        raise UsageError(f"there is no {source}; give what the other toolkit saved")
    known = "; ".join(f"{name} ({form.what})" for name, form in FORMATS.items())
    kind = model_type(source)
    found = f"a folder with model_type={kind!r}" if kind else "nothing that is known"
    raise UsageError(f"{source} is {found}; what can be imported: {known}")

"""Decides whether `translate` is called for documents, and where their translations are written.

Every call needs this decision, so this module does not import the code that reads documents.
"""

import glob
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from allyouneed.errors import UsageError

_NAMES = (
    "txt text md markdown mkd html htm xhtml srt vtt ass ssa docx dotx pptx potx ppsx xlsx xltx "
    "odt odp ods odg ott epub pdf po pot xlf xliff tmx json jsonl ndjson yaml "
    "yml arb properties strings ftl xml resx ts"
)
ENDINGS = frozenset(_NAMES.split())  # a test compares these with the formats
DOCUMENTS_ALONE = "--n-best, --prefix, --stream, --scores, --alignments and --json are for text"


def is_path(name: str | None) -> bool:
    """Whether the value of `--to` is a file or a folder, and not a language."""
    if not name:
        return False
    return _has_ending(name) or os.sep in name or "/" in name or Path(name).is_dir()


def document_place(
    texts: Sequence[str] | None, to: str | None, output: Path | None, options: Mapping[str, Any]
) -> Path | None:
    """The path for the translations of documents; None if the call is for text. `options` are those
    that apply to documents only.

    Raises:
        UsageError: `to` is a path, but the texts are not files; or an option applies to documents
            only, and there are none.
    """
    asked = [name for name, value in options.items() if value]
    given = bool(texts) and all(_is_there(text) for text in texts or ())
    if is_path(to):
        if not given:
            missing = next((text for text in texts or () if not _is_there(text)), None)
            if missing is None:
                raise UsageError(f"--to {to} is for documents; name the file to translate, too")
            raise UsageError(
                f"--to {to} is for documents, but {missing!r} is not a file or folder that is "
                "there; correct its name"
            )
        return Path(str(to))
    if given and output is not None:
        return output
    if asked:
        option = asked[0].replace("_", "-")
        raise UsageError(f"--{option} is for documents; name files, and --to FILE or --to FOLDER")
    return None


def matching(pattern: str) -> list[Path]:
    """The files and folders that a pattern with `*` or `?` names, sorted."""
    if not glob.has_magic(pattern):
        return []
    return sorted(map(Path, glob.glob(pattern, recursive=True)))  # noqa: PTH207 (may be absolute)


def _is_there(name: str) -> bool:
    try:
        return Path(name).exists() or bool(matching(name))
    except (OSError, ValueError):  # too long for a name, or with a NUL in it
        return False


def _has_ending(name: str) -> bool:
    return Path(name).suffix.lower().lstrip(".") in ENDINGS

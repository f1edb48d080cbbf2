"""Decides whether `translate` is called for documents, and where their translations are written.

Every call needs this decision, so this module does not import the code that reads documents.
"""

import glob
import os
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from allyouneed.errors import UsageError
from allyouneed.text.language_names import is_known

_NAMES = (
    "txt text md markdown mkd html htm xhtml srt vtt ass ssa docx dotx pptx potx ppsx xlsx xltx "
    "odt odp ods odg ott epub pdf po pot xlf xliff tmx csv tsv tab json jsonl ndjson yaml "
    "yml arb properties strings ftl xml resx ts"
)
ENDINGS = frozenset(_NAMES.split())  # a test compares these with the formats
# report.fr, messages_fr, values-fr, fr, pt-BR, fr_FR; and Apple's fr.lproj
_CODE_AT_THE_END = re.compile(r"(?:.*[._-])??([a-zA-Z]{2})(?:[-_][a-zA-Z]{2})?(?:\.lproj)?")
DOCUMENTS_ALONE = "--n-best, --prefix, --stream, --scores, --alignments and --json are for text"


def language_asked(to: str | None, place: Path | None) -> str | None:
    """The language of `--to`; None if `--to` is the `place` of documents."""
    return None if to is None or place == Path(to) else to


def document_place(
    texts: Sequence[str] | None, to: str | None, output: Path | None, options: Mapping[str, Any]
) -> Path | None:
    """The path for the translations of documents; None if the call is for text. `options` are those
    that apply to documents only. `--to de` is a language even where a folder is called de, unless
    there are documents that have no other place.

    Raises:
        UsageError: `to` is a path, but the texts are not files; or an option applies to documents
            only, and there are none.
    """
    asked = [name for name, value in options.items() if value]
    given = bool(texts) and all(is_there(text) for text in texts or ())
    if to and _is_path(to) and not (is_known(to) and (output or not given)):
        if not given:
            missing = next((text for text in texts or () if not is_there(text)), None)
            if missing is None:
                raise UsageError(f"--to {to} is for documents; name the file to translate, too")
            raise UsageError(
                f"--to {to} is for documents, but {missing!r} is not a file or folder that is "
                "there; correct its name"
            )
        return _place(to)
    if given and output is not None:
        return output
    if given and to and not is_known(to):
        found = [path for text in texts or () for path in named_by(text)]
        if len(found) > 1 or found[0].is_dir():
            return Path(to)  # a folder that does not exist yet
        if Path(to).suffix:
            return Path(to)  # of no known format, which the reading of the file says
    if asked:
        option = asked[0].replace("_", "-")
        raise UsageError(f"--{option} is for documents; name files, and --to FILE or --to FOLDER")
    return None


def codes_in_names(place: Path) -> list[str]:
    """Two letters each that may be the code of a language, the likeliest first. They are looked for
    at the end of a file's name before its ending, or of a folder's name; then at the end of the
    names of the two folders above."""
    own = place.stem if has_ending(place.name) else place.name
    names = [own, *(folder.name for folder in list(place.parents)[:2])]
    found = map(_CODE_AT_THE_END.fullmatch, names)
    return [match[1].lower() for match in found if match is not None]


def named_by(name: str) -> list[Path]:
    """The file or folder with this name. Without one, the files and folders that the name means as
    a pattern with `*` or `?`, sorted; an empty list, if there are none."""
    try:
        if Path(name).exists():
            return [Path(name)]
        if not glob.has_magic(name):
            return []
        return sorted(map(Path, glob.glob(name, recursive=True)))  # noqa: PTH207 (may be absolute)
    except (OSError, ValueError):  # too long for a name, or with a NUL in it
        return []


def is_there(name: str) -> bool:
    """Whether a name is that of a file or folder, or a pattern that names some."""
    return bool(named_by(name))


def has_ending(name: str) -> bool:
    """Whether a name has the ending of a format of documents."""
    return Path(name).suffix.lower().lstrip(".") in ENDINGS


def _place(name: str) -> Path:
    """The path that `--to` names. A slash at its end says that it is a folder; it is made here,
    because a path keeps no such slash."""
    if name.endswith(("/", os.sep)):
        with suppress(OSError):  # a file has this name, which is told later
            Path(name).mkdir(parents=True, exist_ok=True)
    return Path(name)


def _is_path(name: str) -> bool:
    return has_ending(name) or os.sep in name or "/" in name or Path(name).is_dir()

"""Translations that are shown while they grow."""

import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from allyouneed.cli.loading import tell
from allyouneed.errors import UsageError

if TYPE_CHECKING:
    from allyouneed.translation.request import Options
    from allyouneed.translation.translator import Translator


def check_streamed(beam: int | None, n_best: int, refused: Mapping[str, Any]) -> None:
    """Raises UsageError for what is known only when a translation is whole; `refused` are such
    options, each true where it was typed."""
    if beam not in (None, 1) or n_best != 1:
        typed = f"--beam {beam}" if n_best == 1 else f"--n-best {n_best}"
        raise UsageError(
            f"--stream shows each word as soon as it is found, and {typed} may change earlier "
            "ones until the end; leave out one of them (--stream is greedy, or takes --sample)"
        )
    for name, typed in refused.items():
        if typed:
            raise UsageError(
                f"--{name} needs the whole translation, and --stream shows it as it grows; "
                "leave out one of them"
            )


def show_growing(
    translator: "Translator",
    texts: Iterable[str],
    options: "Options",
    prefix: str,
    one_line: bool,
    source: str | None = None,
    target: str | None = None,
    protect: bool | Sequence[str] = True,
) -> None:
    """Writes each translation piece by piece, and a newline at its end."""
    languages = {"source": source, "target": target}
    for text in texts:
        stream = translator.stream(text, options, prefix=prefix, protect=protect, **languages)
        for piece in stream:
            if piece:
                sys.stdout.write(piece.replace("\n", " ") if one_line else piece)
                sys.stdout.flush()
        sys.stdout.write("\n")
        sys.stdout.flush()
        tell(stream)

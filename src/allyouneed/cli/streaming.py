"""Shows translations while they are being found."""

import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from allyouneed.cli.loading import tell
from allyouneed.errors import UsageError

if TYPE_CHECKING:
    from allyouneed.translation.request import Options
    from allyouneed.translation.translator import Translator


def check_streamed(beam: int | None, n_best: int, refused: Mapping[str, Any]) -> None:
    """Raises UsageError for options that need the whole translation. `refused` holds such options,
    with true for those that were typed."""
    if beam not in (None, 1) or n_best != 1:
        typed = f"--beam {beam}" if n_best == 1 else f"--n-best {n_best}"
        raise UsageError(
            f"--stream shows each word as soon as it is found, but {typed} may change earlier "
            "words until the end; leave one of them out (--stream is greedy, or uses --sample)"
        )
    for name, typed in refused.items():
        if typed:
            raise UsageError(
                f"--{name} needs the whole translation, but --stream shows it word by word; "
                "leave one of them out"
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

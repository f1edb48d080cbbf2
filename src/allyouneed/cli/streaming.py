"""Shows translations while they are being found."""

import sys
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from allyouneed.cli.loading import tell

if TYPE_CHECKING:
    from allyouneed.translation.pivot import Relay
    from allyouneed.translation.translator import Translator


def show_growing(
    translator: "Translator | Relay", texts: Iterable[str], how: Mapping[str, Any], one_line: bool
) -> None:
    """Writes each translation piece by piece, and a newline at its end. `how` holds keywords for
    the translator; terms are not among them."""
    keywords = {name: value for name, value in how.items() if name != "terms"}
    for text in texts:
        stream = translator.stream(text, **keywords)
        for piece in stream:
            if piece:
                sys.stdout.write(piece.replace("\n", " ") if one_line else piece)
                sys.stdout.flush()
        sys.stdout.write("\n")
        sys.stdout.flush()
        tell(stream)

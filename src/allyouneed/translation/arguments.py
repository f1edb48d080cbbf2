"""Checks of the arguments of a translator's call."""

from collections.abc import Iterable, Sequence

from allyouneed.errors import UsageError

SHOWN = 60  # characters of a value in a message


def texts_of(text: str | Iterable[str], prefix: str = "") -> list[str]:
    """The texts of a call as a list.

    Raises:
        UsageError: a text or the prefix is not a str.
    """
    if isinstance(text, bytes) or not isinstance(text, Iterable):
        raise UsageError(f"{text!r} is no text; give a str, or a list of them")
    texts = [text] if isinstance(text, str) else list(text)
    for one in (*texts, prefix):
        if not isinstance(one, str):
            raise UsageError(f"{one!r} is no text; give a str, or a list of them")
    return texts


def check_many(method: str, *texts: Iterable[str]) -> None:
    """Raises UsageError for a single text, which Python would iterate letter by letter, and for a
    value that is not a list."""
    for one in texts:
        if isinstance(one, str | bytes) or not isinstance(one, Iterable):
            raise UsageError(
                f"{method} takes lists of texts, not {shortened(one)}; put a single one in brackets"
            )


def shortened(value: object) -> str:
    """The repr of a value, cut to fit into a message."""
    written = repr(value)
    return written if len(written) <= SHOWN else f"{written[:SHOWN]}..."


def check_tags(
    markup: str | None, ignore_tags: Sequence[str], protect: bool | Sequence[str], whole: bool
) -> None:
    """Raises UsageError for options that cannot be combined with tags. `whole` is true if the call
    has n_best, a prefix or alignments."""
    if markup in (None, "text"):
        raise UsageError(
            f"ignore_tags={list(ignore_tags)!r} is for texts with tags; say which kind: "
            'markup="html" or "xml"'
        )
    if protect is False:
        raise UsageError(
            "protect=False is for plain text; with markup, tags and addresses are always protected"
        )
    if whole:
        raise UsageError(
            "n_best, prefix and alignments are for plain text; leave them out with markup"
        )

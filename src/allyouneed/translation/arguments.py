"""What a call of a translator may be given, checked."""

from collections.abc import Iterable, Sequence

from allyouneed.errors import UsageError

SHOWN = 60  # characters of a value in a message


def texts_of(text: str | Iterable[str], prefix: str = "") -> list[str]:
    """The texts of a call.

    Raises:
        UsageError: something that is no text.
    """
    if isinstance(text, bytes) or not isinstance(text, Iterable):
        raise UsageError(f"{text!r} is no text; give a str, or a list of them")
    texts = [text] if isinstance(text, str) else list(text)
    for one in (*texts, prefix):
        if not isinstance(one, str):
            raise UsageError(f"{one!r} is no text; give a str, or a list of them")
    return texts


def check_many(method: str, *texts: Iterable[str]) -> None:
    """Raises UsageError for a single text, whose letters Python would take, and for what is no
    list."""
    for one in texts:
        if isinstance(one, str | bytes) or not isinstance(one, Iterable):
            raise UsageError(
                f"{method} takes lists of texts, not {shortened(one)}; put a single one in brackets"
            )


def shortened(value: object) -> str:
    """The value as Python writes it, cut to fit into a message."""
    written = repr(value)
    return written if len(written) <= SHOWN else f"{written[:SHOWN]}..."


def check_tags(
    markup: str | None, ignore_tags: Sequence[str], protect: bool | Sequence[str], whole: bool
) -> None:
    """Raises UsageError for options that texts with tags do not go with; `whole` says that n_best,
    a prefix or alignments were asked for."""
    if markup in (None, "text"):
        raise UsageError(
            f"ignore_tags={list(ignore_tags)!r} is for texts with tags; say which kind: "
            'markup="html" or "xml"'
        )
    if protect is False:
        raise UsageError(
            "protect=False is of plain text; with tags, what they hold has to be carried"
        )
    if whole:
        raise UsageError(
            "n_best, prefix and alignments are of plain text; leave them out with markup"
        )

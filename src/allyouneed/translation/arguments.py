"""Checks of the arguments of a translator's call."""

from collections.abc import Iterable, Mapping, Sequence

from allyouneed.checks import expect, expect_list, shortened
from allyouneed.errors import UsageError


def texts_of(text: str | Iterable[str]) -> list[str]:
    """The texts of a call as a list.

    Raises:
        UsageError: a text is not a str, or the texts are a set or a mapping.
    """
    if isinstance(text, bytes | set | frozenset | Mapping) or not isinstance(text, Iterable):
        raise UsageError(f"{shortened(text)} is no text; give a str, or a list of them")
    texts = [text] if isinstance(text, str) else list(text)
    for one in texts:
        if not isinstance(one, str):
            raise UsageError(f"{shortened(one)} is no text; give a str, or a list of them")
    return texts


def check_prefix(prefix: str) -> None:
    """Raises UsageError for a prefix that is not a str."""
    if not isinstance(prefix, str):
        raise UsageError(f"prefix={shortened(prefix)} is no text; give a str")


def check_many(method: str, *texts: Iterable[str]) -> None:
    """Raises UsageError for a single text, which Python would iterate letter by letter, and for a
    value that is not a list."""
    for one in texts:
        if isinstance(one, str | bytes) or not isinstance(one, Iterable):
            raise UsageError(
                f"{method} takes lists of texts, not {shortened(one)}; put a single one in brackets"
            )


def check_tags(
    markup: str | None, ignore_tags: Sequence[str], protect: bool | Sequence[str], whole: bool
) -> None:
    """Raises UsageError for options that cannot be combined with tags. `whole` is true if the call
    has n_best, a prefix or alignments."""
    expect_list(ignore_tags, "ignore_tags", 'a list of names of elements, such as ["code"]')
    for tag in ignore_tags:
        expect(tag, str, "a name in ignore_tags", 'the name of an element, such as "code"')
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

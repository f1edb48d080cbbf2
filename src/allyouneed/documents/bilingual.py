"""A document's sentences beside their translations, for reviewers."""

from collections.abc import Callable, Iterable
from pathlib import Path

from allyouneed.documents.memory import tmx
from allyouneed.documents.xml_tree import escape
from allyouneed.errors import UsageError
from allyouneed.translation.markup.carrying import Pair
from allyouneed.translation.markup.passage import Passage

_STYLE = (
    "body{font:16px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:75rem;padding:0 1rem}"
    "table{border-collapse:collapse;width:100%}td,th{border-bottom:1px solid #8886;padding:.4rem;"
    "text-align:start;vertical-align:top;width:48%}td:first-child,th:first-child{width:4%}"
    "small{color:#666}@media(prefers-color-scheme:dark){body{background:#111;color:#eee}"
    "small{color:#aaa}}"
)


def side_by_side(passages: Iterable[Passage], source: str, target: str, title: str) -> str:
    """An HTML page with a row for each sentence, and the notes of its passage below it."""
    rows = []
    for passage in passages:
        notes = "".join(f"<br><small>{escape(note)}</small>" for note in passage.notes)
        for number, pair in enumerate(passage.pairs):
            told = notes if number + 1 == len(passage.pairs) else ""
            rows.append(
                f"<tr><td><small>{escape(passage.where)}</small><td lang='{source}' dir='auto'>"
                f"{escape(pair.source)}<td lang='{target}' dir='auto'>{escape(pair.target)}{told}\n"
            )
    return (
        f"<!doctype html>\n<html lang='{target}'>\n<meta charset='utf-8'>\n"
        f"<meta name='viewport' content='width=device-width'>\n<title>{escape(title)}</title>\n"
        f"<style>{_STYLE}</style>\n<h1>{escape(title)}</h1>\n<table>\n<thead><tr><th>"
        f"<th>{source}<th>{target}\n<tbody>\n{''.join(rows)}</table>\n"
    )


def memory_of(passages: Iterable[Passage], source: str, target: str, title: str) -> str:
    """A TMX file with a unit for each sentence."""
    return tmx(((pair.source, pair.target) for pair in pairs_of(passages)), source, target)


def xliff(passages: Iterable[Passage], source: str, target: str, title: str) -> str:
    """An XLIFF 1.2 file with a unit for each sentence, marked as to be reviewed."""
    units = []
    number = 0
    for passage in passages:
        notes = "".join(f"<note>{escape(note)}</note>" for note in (passage.where, *passage.notes))
        for pair in passage.pairs:
            number += 1
            state = "final" if pair.recalled else "needs-review-translation"
            units.append(
                f'<trans-unit id="{number}"><source>{escape(pair.source)}</source>'
                f'<target state="{state}">{escape(pair.target)}</target>{notes}</trans-unit>\n'
            )
    name = escape(title).replace('"', "&quot;")
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n<xliff version="1.2" '
        'xmlns="urn:oasis:names:tc:xliff:document:1.2">\n'
        f'<file original="{name}" source-language="{source}" target-language="{target}" '
        f'datatype="plaintext"><body>\n{"".join(units)}</body></file>\n</xliff>\n'
    )


def pairs_of(passages: Iterable[Passage]) -> Iterable[Pair]:
    """All sentences with their translations."""
    return (pair for passage in passages for pair in passage.pairs)


Writer = Callable[[Iterable[Passage], str, str, str], str]
WRITERS: dict[str, Writer] = {
    ".html": side_by_side,
    ".tmx": memory_of,
    ".xlf": xliff,
    ".xliff": xliff,
}


def writer_for(path: Path) -> Writer:
    """The function that writes a file with this ending.

    Raises:
        UsageError: the ending is not known.
    """
    found = WRITERS.get(path.suffix.lower())
    if found is None:
        raise UsageError(f"--bilingual {path} must end in {', '.join(WRITERS)}")
    return found

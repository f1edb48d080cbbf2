"""The links between built pages lead to pages, and to places in them, that exist."""

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote

if TYPE_CHECKING:
    from sphinx.application import Sphinx

ELSEWHERE = re.compile(r"[a-z][a-z0-9+.-]*:|//", re.IGNORECASE)


class _Page(HTMLParser):
    """Collects the links of a page, and the ids that links can lead to."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.ids: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        self.ids |= {place for place in (values.get("id"), values.get("name")) if place}
        self.links += [link for link in (values.get("href"), values.get("src")) if link]


def broken_links(site: Path) -> Iterator[str]:
    """ "PAGE: LINK" for every link to a file or a place of the site that does not exist."""
    site = site.resolve()
    files = [path for path in sorted(site.rglob("*.html")) if "_static" not in path.parts]
    pages = {path: _Page(path.read_text("utf-8")) for path in files}
    for path, page in pages.items():
        for link in sorted({*page.links}):
            name, _, place = unquote(link).partition("#")
            target = (path.parent / name.partition("?")[0]).resolve() if name else path
            if ELSEWHERE.match(link):
                continue
            if not target.exists() or (target in pages and place not in {"", *pages[target].ids}):
                yield f"{path.relative_to(site)}: {link}"


def _check(app: "Sphinx", exception: Exception | None) -> None:
    if exception is None and app.builder.format == "html":
        found = list(broken_links(Path(app.outdir)))
        if found:
            raise RuntimeError("broken links:\n" + "\n".join(found))


def setup(app: "Sphinx") -> dict[str, bool]:
    # After lesson_pages has written the files that lessons offer.
    app.connect("build-finished", _check, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

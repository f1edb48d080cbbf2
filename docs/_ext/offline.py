"""The built pages load nothing from the network: links lead elsewhere, resources never do."""

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sphinx.application import Sphinx


REMOTE = re.compile(r"\s*(https?:)?//", re.IGNORECASE)
LOADING = {"src", "srcset", "poster", "data", "background"}
LINKS_THAT_DO_NOT_LOAD = {"canonical", "alternate", "author", "license", "next", "prev", "search"}
IN_STYLES = re.compile(r"""@import\s+["']([^"']+)|url\(\s*["']?([^"')]+)""", re.IGNORECASE)
IN_SCRIPTS = re.compile(
    r"""(?:\bimport\s*\(?|\bfrom|\bfetch\s*\(|\bimportScripts\s*\(|\.src\s*=)\s*["'](https?:[^"']+)"""
)


def addresses_loaded(page: str) -> list[str]:
    """The addresses of other hosts that a browser would load to show this page."""
    reader = _Reader()
    reader.feed(page)
    return [address for address in reader.found if REMOTE.match(address)]


def addresses_in_styles(sheet: str) -> list[str]:
    """The same of a style sheet."""
    found = (first or second for first, second in IN_STYLES.findall(sheet))
    return [address for address in found if REMOTE.match(address)]


def addresses_in_scripts(script: str) -> list[str]:
    """The addresses that a script plainly imports, fetches, or gives to an element."""
    return IN_SCRIPTS.findall(script)


class _Reader(HTMLParser):
    """Collects what a page's elements, styles and scripts name to be loaded."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self._inside = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._inside = tag
        values = {name: value or "" for name, value in attrs}
        relations = set(values.get("rel", "").lower().split())
        if tag == "link" and not (relations and relations <= LINKS_THAT_DO_NOT_LOAD):
            self.found.append(values.get("href", ""))
        if tag in ("use", "image"):  # of SVG
            self.found += [values.get("href", ""), values.get("xlink:href", "")]
        for name in LOADING & set(values):
            parts = values[name].split(",") if name == "srcset" else [values[name]]
            self.found += [part.strip() for part in parts]
        self.found += addresses_in_styles(values.get("style", ""))
        if "srcdoc" in values:
            self.found += addresses_loaded(values["srcdoc"])

    def handle_endtag(self, tag: str) -> None:
        self._inside = ""

    def handle_data(self, data: str) -> None:
        if self._inside == "style":
            self.found += addresses_in_styles(data)
        if self._inside == "script":
            self.found += addresses_in_scripts(data)


def remote_resources(site: Path) -> Iterator[str]:
    """ "FILE: address" for everything that the files of a built site load from elsewhere."""
    readers = {
        ".html": addresses_loaded,
        ".svg": addresses_loaded,
        ".css": addresses_in_styles,
        ".js": addresses_in_scripts,
    }
    for path in sorted(site.rglob("*")):
        if path.suffix in readers:
            for address in readers[path.suffix](path.read_text("utf-8")):
                yield f"{path.relative_to(site)}: {address}"


def _check(app: "Sphinx", exception: Exception | None) -> None:
    if exception is None and app.builder.format == "html":
        found = list(remote_resources(Path(app.outdir)))
        if found:
            raise RuntimeError("loaded from the network:\n" + "\n".join(found))


def setup(app: "Sphinx") -> dict[str, bool]:
    app.connect("build-finished", _check)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

"""The files of the page. The page loads nothing from other sites."""

from importlib.resources import files

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src 'self' data: blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "cache-control": "no-cache",
    "cross-origin-opener-policy": "same-origin",
}
KINDS = {"html": "text/html", "css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}
PARTS = {
    "/": "page.html",
    "/page.css": "page.css",
    "/page.js": "page.js",
    "/words.js": "words.js",
    "/service.js": "service.js",
    "/reasons.js": "reasons.js",
    "/files.js": "files.js",
    "/glossary.js": "glossary.js",
    "/icon.svg": "icon.svg",
}


class Page:
    """The files of the page, a fixed list: no request can name another file."""

    def __init__(self) -> None:
        folder = files("allyouneed.serving") / "static"
        self._parts = {
            path: (KINDS[name.rpartition(".")[2]], (folder / name).read_bytes())
            for path, name in PARTS.items()
        }

    def routes(self) -> list[Route]:
        """A route for each part."""
        return [Route(path, self.part, methods=["GET"]) for path in self._parts]

    async def part(self, request: Request) -> Response:
        """One part."""
        kind, content = self._parts[request.url.path]
        return Response(content, media_type=kind, headers=HEADERS)

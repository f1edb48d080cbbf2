"""The HTML documents of the view: the page that a server serves, and the saved page.

The user's texts are never part of the markup. They are JSON in a script of their own.
"""

import base64
import gzip
import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from typing import Any

from allyouneed.errors import UsageError
from allyouneed.widget.questions import ViewState, checked

KINDS = {"view.js": "text/javascript", "view.css": "text/css"}

HEAD = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="data:,">
"""
TITLE = "<title>allyouneed: look inside</title>\n"
BODY = """</head>
<body>
<main id="view"><noscript>The view is a script; allow scripts to see it.</noscript></main>
"""


@dataclass(frozen=True, slots=True)
class Start:
    """The view's first content: up to two sentences side by side."""

    states: Sequence[ViewState]

    @classmethod
    def of(cls, texts: Sequence[str], beam: int, models: int) -> "Start":
        """A start with each text, or with one text translated by each of two models.

        Raises:
            UsageError: there are too many texts or models, or a text or the beam is out of range.
        """
        if len(texts) > 2 or len(texts) * models > 2:
            raise UsageError(
                f"{len(texts)} sentences with {models} models are too many: the view shows two "
                "sentences side by side, or one sentence by two models; leave some out"
            )
        given = [{"text": text, "model": number} for text in texts for number in range(models)]
        return cls([checked(ViewState, {**one, "beam": beam}, "look") for one in given])

    def options(self) -> dict[str, Any]:
        """The options for the module's `mount`."""
        return {"states": [state.to_json() for state in self.states]}


def static(name: str) -> tuple[str, bytes]:
    """A shipped file of the view: its media type and bytes. Raises KeyError for any other name."""
    return KINDS[name], (resources.files("allyouneed") / "widget" / "static" / name).read_bytes()


def live_page() -> str:
    """The page that asks the server it comes from."""
    return (
        f'{HEAD}{TITLE}<link rel="stylesheet" href="view.css">\n'
        f'<script type="module" src="start.js"></script>\n{BODY}</body>\n</html>\n'
    )


def start_script(start: Start, page: int, link: bool = True) -> str:
    """Opens the view in the live page; `page` is the number that its questions come with. With
    `link` the page's address follows the view, text and all."""
    options = start.options() if link else {**start.options(), "link": False}
    return (
        'import { httpTransport, mount } from "./view.js";\n'
        f'mount(document.getElementById("view"), httpTransport("ask?page={page}"), '
        f"{script_json(options)});\n"
    )


def saved_page(options: Mapping[str, Any], answers: bytes) -> str:
    """One HTML document that contains the module, its style and all answers.

    `options` are the options of `mount`; `answers` is the packed answer from `saved.py`. The policy
    of the document allows its scripts by their hashes, so that no other script can run in it.
    """
    module = inline(static("view.js")[1].decode())
    names = exported(module)
    style = static("view.css")[1].decode().replace("</", "<\\/")
    data = base64.b64encode(gzip.compress(answers, mtime=0)).decode()
    opening = (
        "\nconst element = document.getElementById.bind(document);\n"
        f'{names["mount"]}(element("view"), {names["savedTransport"]}'
        f'({names["readSaved"]}(element("answers").textContent)), '
        f"{script_json(options)});\n"
    )
    script = f"{module}{opening}"
    policy = (
        f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'; "
        "img-src data: blob:; base-uri 'none'; form-action 'none'"
    )
    return (
        f'{HEAD}<meta http-equiv="Content-Security-Policy" content="{policy}">\n{TITLE}'
        f"<style>{style}</style>\n{BODY}"
        f'<script type="text/plain" id="answers">{data}</script>\n'
        f'<script type="module">{script}</script>\n</body>\n</html>\n'
    )


def exported(module: str) -> dict[str, str]:
    """The exported names of a module, each with its internal name."""
    listed = re.findall(r"^export \{([^}]*)\}", module, re.MULTILINE)[-1]
    pairs = (name.split(" as ") for name in (part.strip() for part in listed.split(",")))
    return {pair[-1]: pair[0] for pair in pairs}


def script_json(value: Mapping[str, Any]) -> str:
    """JSON for use inside a script: it cannot end the script or begin a comment."""
    return json.dumps(value).replace("<", "\\u003c").replace(">", "\\u003e")


def inline(module: str) -> str:
    """A module's text for use between the tags of a script."""
    return module.replace("</script", "<\\/script").replace("<!--", "<\\!--")


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"

"""The documents around the view: what is typed stays text, and one file holds everything."""

import base64
import gzip
import hashlib
import json
import re
from html.parser import HTMLParser
from typing import Any

import pytest

from allyouneed.errors import UsageError
from allyouneed.widget.page import (
    Start,
    exported,
    inline,
    live_page,
    saved_page,
    script_json,
    start_script,
    static,
)

HOSTILE = [
    "</script><script>alert(1)</script>",
    "<!-- <script>",
    "\"'`${alert(1)}\\",
    "\u202etxt.exe\u2066",
    "\u2028\u2029",
    "]]>&lt;",
]


class Reader(HTMLParser):
    """What a browser makes of a document: its scripts and styles, and its policy."""

    def __init__(self, document: str) -> None:
        super().__init__()
        self.scripts: list[tuple[dict[str, str | None], str]] = []
        self.tags: list[str] = []
        self.texts: dict[str, str] = {}
        self.policy = ""
        self._inside = ""
        self.feed(document)
        self.close()

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self._inside = tag
        found = dict(attributes)
        if tag == "script":
            self.scripts.append((found, ""))
        if found.get("http-equiv") == "Content-Security-Policy":
            self.policy = str(found["content"])

    def handle_data(self, data: str) -> None:
        if self._inside == "script":
            attributes, text = self.scripts[-1]
            self.scripts[-1] = (attributes, text + data)
        self.texts[self._inside] = self.texts.get(self._inside, "") + data

    def handle_endtag(self, tag: str) -> None:
        self._inside = ""


def hashed(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def test_the_live_page_runs_nothing_inline() -> None:
    reader = Reader(live_page())
    assert [(found.get("type"), found.get("src"), text) for found, text in reader.scripts] == [
        ("module", "start.js", "")
    ]
    assert "style" not in reader.tags
    assert not re.search(r"https?://|\son\w+=", live_page())


@pytest.mark.parametrize("text", HOSTILE)
def test_a_text_cannot_leave_its_script(text: str) -> None:
    start = Start.of([text], 4, 1)
    script = start_script(start, 3)
    options = script[script.rindex("page=3") :].partition(", ")[2].strip().removesuffix(");")
    assert json.loads(options)["states"][0]["text"] == text
    assert "<" not in options
    for reader in (Reader(f"<script>{script}</script>"), Reader(saved_page(start.options(), b"x"))):
        assert reader.tags.count("script") == (1 if len(reader.tags) == 1 else 2)


def test_what_is_inlined_cannot_end_its_script() -> None:
    module = 'x = "</script>"; y = "</SCRIPT >"; z = "<!--"'
    assert Reader(f"<script>{inline(module)}</script>").tags == ["script"]
    assert inline("a < b; c /script/") == "a < b; c /script/"


def test_the_saved_page_allows_its_own_script_and_style_alone() -> None:
    document = saved_page(Start.of(["A man."], 4, 1).options(), b"answers")
    reader = Reader(document)
    (data, answers), (module, script) = reader.scripts
    assert (data, module) == ({"type": "text/plain", "id": "answers"}, {"type": "module"})
    assert gzip.decompress(base64.b64decode(answers)) == b"answers"
    directives = dict(part.strip().split(" ", 1) for part in reader.policy.split(";"))
    assert directives["default-src"] == "'none'"
    assert directives["script-src"] == hashed(script)
    assert directives["style-src"] == hashed(reader.texts["style"])
    assert "connect-src" not in directives


def test_the_saved_page_is_the_same_for_the_same_answers() -> None:
    start = Start.of(["A man."], 4, 1)
    assert saved_page(start.options(), b"answers") == saved_page(start.options(), b"answers")


def test_the_module_has_what_the_pages_call() -> None:
    names = exported(static("view.js")[1].decode())
    assert {"mount", "httpTransport", "savedTransport", "readSaved", "default"} <= {*names}
    assert exported("export { a };\nexport {\n  b2 as b,\n  c\n};\n") == {"b": "b2", "c": "c"}


def test_nothing_but_the_views_files_is_static() -> None:
    assert static("view.css")[0] == "text/css"
    with pytest.raises(KeyError):
        static("../page.py")


@pytest.mark.parametrize(
    ("texts", "models", "expected"),
    [
        (["a"], 1, [("a", 0)]),
        (["a", "b"], 1, [("a", 0), ("b", 0)]),
        (["a"], 2, [("a", 0), ("a", 1)]),
    ],
)
def test_what_is_shown_first(
    texts: list[str], models: int, expected: list[tuple[str, int]]
) -> None:
    states: list[dict[str, Any]] = Start.of(texts, 3, models).options()["states"]
    assert [(state["text"], state["model"]) for state in states] == expected
    assert {state["beam"] for state in states} == {3}


@pytest.mark.parametrize(("texts", "models"), [(["a", "b", "c"], 1), (["a", "b"], 2)])
def test_more_than_two_do_not_fit(texts: list[str], models: int) -> None:
    with pytest.raises(UsageError, match="leave some out"):
        Start.of(texts, 4, models)


def test_json_in_a_script_is_json() -> None:
    value = {"a": HOSTILE}
    assert json.loads(script_json(value)) == value

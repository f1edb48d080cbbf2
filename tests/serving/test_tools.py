"""`allyouneed mcp`: the official client of the Model Context Protocol starts it and asks it."""

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from allyouneed.core.config import BASE
from allyouneed.engine.native import why_not
from allyouneed.serving.settings import Settings

mcp = pytest.importorskip("mcp")
stdio = pytest.importorskip("mcp.client.stdio")


def asked(server: Any, ask: Callable[[Any], Awaitable[Any]]) -> Any:
    """What `ask` returns of a client that is connected to the server."""

    async def connected() -> Any:
        async with mcp.Client(server) as client:
            return await ask(client)

    return asyncio.run(connected())


@pytest.fixture
def server(shelf: Any) -> Callable[[], Any]:
    """Gives a server that can be run once."""
    from allyouneed.serving.tools import Tools

    settings = Settings(model=["copier"], threads=1, max_characters=10_000)
    return lambda: Tools(settings, shelf).server


def call(server: Callable[[], Any], tool: str, **values: Any) -> Any:
    found = asked(server(), lambda client: client.call_tool(tool, values))
    return found.content[0].text if found.is_error else found.structured_content


def test_there_are_three_tools_that_change_nothing(server: Callable[[], Any]) -> None:
    listed = asked(server(), lambda client: client.list_tools()).tools
    assert [tool.name for tool in listed] == ["translate", "detect", "languages"]
    assert all(tool.annotations.read_only_hint and tool.description for tool in listed)
    values = listed[0].input_schema["properties"]
    assert all(value["description"] for value in values.values())
    assert listed[0].input_schema["required"] == ["text", "target"]
    assert not any(tool.input_schema["additionalProperties"] for tool in listed)


def test_a_text_keeps_its_lines(server: Callable[[], Any]) -> None:
    found = call(server, "translate", text="Hello.\n\nThe dog sleeps.", target="de", source="en")
    assert found["translation"] == "Hello.\n\nThe dog sleeps."
    assert (found["source"], found["detected_confidence"]) == ("en", None)


def test_markup_and_alternatives(server: Callable[[], Any]) -> None:
    values = {"source": "en", "target": "de"}
    found = call(server, "translate", text="The <b>dog</b> sleeps.", markup="html", **values)
    assert found["translation"].count("<b>") == 1
    found = call(server, "translate", text="Hello.", alternatives=2, **values)
    assert len(found["alternatives"]) == 2
    refused = call(server, "translate", text="x", alternatives=2, markup="html", **values)
    assert "leave one of the two out" in refused


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"target": "zz"}, "zz is not supported"),
        ({"target": "de", "source": "zz"}, "zz is not supported"),
        ({"target": "de", "text": "a" * 10_001}, "exceeds text limit (10000)"),
        ({"target": "de", "alternatives": 11}, "alternatives"),
        ({"target": "de", "formality": "more"}, "formality"),
    ],
)
def test_what_cannot_be_done_is_said(
    server: Callable[[], Any], values: dict[str, Any], message: str
) -> None:
    assert message in call(server, "translate", **{"text": "Hello.", "source": "en", **values})


def test_the_language_is_detected(server: Callable[[], Any]) -> None:
    pytest.importorskip("py3langid")
    [first, second] = call(server, "detect", text="Der Hund schläft unter dem Tisch.")["result"]
    assert (first["language"], first["name"], second["language"]) == ("de", "German", "en")
    assert first["confidence"] > 0.9


def test_calls_at_the_same_time_get_their_own_answers(server: Callable[[], Any]) -> None:
    texts = [f"Text {n}." for n in range(16)]

    async def ask(client: Any) -> list[str]:
        values = {"source": "en", "target": "de"}
        found = await asyncio.gather(
            *(client.call_tool("translate", {"text": text, **values}) for text in texts)
        )
        return [one.structured_content["translation"] for one in found]

    alone = [
        call(server, "translate", text=text, source="en", target="de")["translation"]
        for text in texts[:3]
    ]
    assert asked(server(), ask)[:3] == alone


@pytest.mark.skipif(why_not(BASE) is not None, reason="the native engine does not run here")
def test_over_standard_input_and_output() -> None:
    command = stdio.StdioServerParameters(
        command=sys.executable, args=["-m", "allyouneed", "mcp"], env=dict(os.environ)
    )

    async def ask(client: Any) -> Any:
        return [
            await client.call_tool("languages", {}),
            await client.call_tool("translate", {"text": "Good morning.", "target": "de"}),
        ]

    languages, translated = asked(command, ask)
    assert languages.structured_content["result"][0] == {
        "code": "de",
        "name": "German",
        "targets": ["en", "es", "fr", "it", "nl", "pt", "sv"],
    }
    assert translated.structured_content["translation"] == "Guten Morgen."
    assert translated.structured_content["source"] == "en"

"""DeepL's API, version 2: what its operations have in common."""

import asyncio
from collections.abc import Mapping
from typing import Any

from starlette.requests import Request

from allyouneed.serving.desk import AUTO, Desk
from allyouneed.serving.glossaries import Glossaries
from allyouneed.serving.guard import Guard
from allyouneed.serving.keys import Key
from allyouneed.serving.reading import FORM
from allyouneed.serving.refusal import Refused
from allyouneed.text.language_names import match
from allyouneed.translation.terms.glossary import Glossary

KINDS = ("application/json", FORM)
NOT_SUPPORTED = (
    *("splitting_tags", "non_splitting_tags", "output_format", "glossary_ids", "style_id"),
    *("custom_instructions", "translation_memory_id", "translation_memory_threshold"),
)
EMPTY: tuple[Any, ...] = (None, "", [])  # what a client may send for an option that it does not use
FORMALITIES = ("default", "prefer_more", "prefer_less")  # that every model can serve


class DeepLRequest:
    """Reads the values that several of DeepL's operations take."""

    def __init__(self, desk: Desk, guard: Guard, glossaries: Glossaries) -> None:
        self.desk, self.guard, self.glossaries = desk, guard, glossaries

    def source(self, code: str | None) -> str:
        """The source language that a client's code means; AUTO without a code.

        Raises:
            Refused: no model translates from it.
        """
        if not code:
            return self.desk.source(AUTO)
        return _known("source_lang", code, self.desk.shelf.sources)

    def target(self, code: str) -> str:
        """The target language that a client's code means.

        Raises:
            Refused: no model translates into it.
        """
        return _known("target_lang", code, self.desk.shelf.targets)

    def owner(self, request: Request) -> str:
        """The owner of the glossaries that a request may use.

        Raises:
            Refused: as `Guard.key_of`.
        """
        return owner_of(self.guard.key_of(request))

    async def terms(
        self, glossary_id: str | None, key: Key | None, source: str, target: str
    ) -> Glossary | None:
        """The terms of the glossary that a request names; None if it names none.

        Raises:
            Refused: the key has no such glossary, or the glossary is for other languages.
        """
        if not glossary_id:
            return None
        if source == AUTO:
            raise Refused(400, "a glossary needs source_lang; name the language of the text")
        return await asyncio.to_thread(
            self.glossaries.terms, glossary_id, owner_of(key), source, target
        )


def supported(values: Mapping[str, Any]) -> dict[str, Any]:
    """The values of a request, without options that the service does not carry out and that the
    request leaves empty.

    Raises:
        Refused: a value that no model here can serve.
    """
    for name in NOT_SUPPORTED:
        if values.get(name) not in EMPTY:
            raise Refused(400, f"{name} is not supported; leave it out")
    if values.get("formality", "default") not in FORMALITIES:
        raise Refused(
            400,
            f"Target language {str(values.get('target_lang'))[:20]} does not support formality; "
            "leave it out, or use prefer_more or prefer_less",
        )
    return {name: value for name, value in values.items() if name not in NOT_SUPPORTED}


def owner_of(key: Key | None) -> str:
    """The name of a key; "" where no keys are needed."""
    return key.name if key else ""


def _known(name: str, code: str, known: list[str]) -> str:
    found = match(code, known)
    if found is None:
        raise Refused(400, f"Value for '{name}' not supported: {code[:20]}")
    return found

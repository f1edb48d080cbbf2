"""Texts with tags, whose sentences are translated with those of all other requests."""

import asyncio
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from allyouneed.errors import UsageError
from allyouneed.serving.desk import AUTO, Desk, TranslatedText
from allyouneed.serving.detection import Guess
from allyouneed.serving.refusal import Refused
from allyouneed.serving.visit import Visit
from allyouneed.translation.request import TranslationRequest
from allyouneed.translation.result import Translation

if TYPE_CHECKING:
    from allyouneed.translation.markup.carrying import Translate


class MarkedTexts:
    """Translates texts in HTML or XML: tags come back around the words that they belong to."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk

    async def translate(
        self,
        texts: Sequence[str],
        markup: str,
        source: str,
        target: str,
        asked: TranslationRequest,
        visit: Visit,
        ignore_tags: Collection[str] = (),
    ) -> list[TranslatedText]:
        """The translations, in order; with AUTO each text has a language of its own, which is
        detected from what is not a tag.

        Raises:
            As `Desk.translate`.
        """
        loop = asyncio.get_running_loop()
        detected: list[Guess | None] = [None] * len(texts)
        if source == AUTO:
            seen = await loop.run_in_executor(self.desk.readers, _without_tags, texts, markup)
            ranked = await asyncio.gather(*(self.desk.detect(text, visit) for text in seen))
            detected = [guesses[0] for guesses in ranked]
        languages = [guess.language if guess else source for guess in detected]
        found: list[TranslatedText | None] = [None] * len(texts)
        for language in dict.fromkeys(languages):
            numbers = [n for n, one in enumerate(languages) if one == language]
            mine = [texts[number] for number in numbers]
            translate = self.desk.from_thread(language, target, asked, visit)
            made = await loop.run_in_executor(
                self.desk.readers,
                _translated,
                translate,
                mine,
                markup,
                ignore_tags,
                (language, target),
            )
            for number, translation in zip(numbers, made, strict=True):
                found[number] = TranslatedText(translation, language, detected[number])
        return [one for one in found if one is not None]


def _translated(
    translate: "Translate",
    texts: Sequence[str],
    markup: str,
    ignore_tags: Collection[str],
    languages: tuple[str, str],
) -> list[Translation]:
    """Translates marked texts; runs in a thread of the pool. The reader of tags is imported here,
    because the service would start later with it."""
    from allyouneed.translation.markup.marked_text import translate_marked

    try:
        return translate_marked(
            translate, texts, markup, ignore_tags=ignore_tags, languages=languages
        )
    except UsageError as error:
        raise Refused(400, str(error)) from error


def _without_tags(texts: Sequence[str], markup: str) -> list[str]:
    from allyouneed.translation.markup.marked_text import rules_of
    from allyouneed.translation.markup.nodes import plain
    from allyouneed.translation.markup.passage import passages
    from allyouneed.translation.markup.reading import read_markup

    rules = rules_of(markup)
    return [
        " ".join(plain(one.nodes) for one in passages(read_markup(text, rules))) for text in texts
    ]

"""Translations that are given out while they grow."""

import asyncio
import sys
from collections.abc import AsyncIterator
from dataclasses import replace

from allyouneed.decoding.options import BeamOptions
from allyouneed.serving.desk import AUTO, Desk, TranslatedText, copied
from allyouneed.serving.visit import Visit
from allyouneed.translation.joining import joined
from allyouneed.translation.markup.plain_text import Sifted
from allyouneed.translation.request import TranslationRequest
from allyouneed.translation.result import Translation

Growing = AsyncIterator[str | TranslatedText]


async def grow(
    desk: Desk, text: str, source: str, target: str, asked: TranslationRequest, visit: Visit
) -> Growing:
    """The translation of a text in pieces, as it grows, and at the end all about it.

    A text with something to protect, or with a number that has to be there, grows by lines. A text
    that goes through a third language comes in one piece.

    Raises:
        As `Desk.translate`.
    """
    detected = (await desk.detect(text, visit))[0] if source == AUTO else None
    language = detected.language if detected else source
    if language == target:
        yield text
        yield TranslatedText(copied(text), language, detected)
        return
    if (language, target) in desk.shelf.pivoted:
        [found] = await desk.translate([text], language, target, asked, visit)
        yield found.translation.text
        yield replace(found, detected=detected)
        return
    sifted = await desk.sifted([text], language, target, asked)
    if sifted.is_parted:
        async for one in _lines(desk, sifted, language, target, visit):
            yield one if isinstance(one, str) else replace(one, detected=detected)
        return
    grown = asyncio.Event()
    ticket = await desk.intake.take(desk.model(language, target), [text], asked, visit, grown)
    try:
        while not ticket.answer.done():
            grown.clear()
            if piece := ticket.order.grown():
                yield piece
            await ticket.wait(grown)
        if piece := ticket.order.grown():
            yield piece
        yield TranslatedText(ticket.order.translations[0], language, detected)
    finally:
        desk.intake.withdraw([ticket], sys.exception())


async def _lines(desk: Desk, sifted: Sifted, source: str, target: str, visit: Visit) -> Growing:
    """As `grow`, for a text in lines, which are translated at the same time."""
    [text], asked = sifted.texts, sifted.request
    several = isinstance(asked.options, BeamOptions) and asked.options.n_best > 1
    if asked.alignments or several:  # are known of the whole alone
        [found] = await desk.translate([text], source, target, asked, visit)
        yield found.translation.text
        yield found
        return
    lines = [(line, end) for line, end, _ in sifted.growing_lines()]
    tasks = [
        asyncio.create_task(desk.translate([line], source, target, asked, visit))
        for line, _ in lines
    ]
    made: list[Translation] = []
    try:
        for task, (_, end) in zip(tasks, lines, strict=True):
            [one] = await task
            made.append(one.translation)
            yield one.translation.text + end
    finally:
        for task in tasks:
            task.cancel()
    ends = [end for _, end in lines]
    yield TranslatedText(joined(text, made, ends, sifted.notes[0]), source, None)

"""Other ways to go on after the beginning of a translation."""

import asyncio
import math
from dataclasses import dataclass

from allyouneed.decoding.options import BeamOptions
from allyouneed.serving.desk import Desk
from allyouneed.serving.visit import Visit
from allyouneed.translation.job import ids_of_prefix
from allyouneed.translation.request import TranslationRequest
from allyouneed.translation.result import Translation

LEAST_PROBABLE = 0.002  # the probability below which a piece is not offered


@dataclass(frozen=True, slots=True)
class NextWord:
    """A word that may follow, how probable its first piece is, and the whole translation."""

    word: str
    probability: float
    translation: Translation


async def ways_to_go_on(
    desk: Desk, text: str, source: str, target: str, prefix: str, most: int, visit: Visit
) -> list[NextWord]:
    """Words that may follow `prefix` in the translation of a text of one line, the most probable
    first, each with the best translation that begins so.

    The model says which pieces may follow; each is then forced and the rest decoded anew.

    Raises:
        As `Desk.translate`.
    """
    prefix = prefix.rstrip()
    tokenizer = desk.model(source, target).translator.tokenizer
    length = len(ids_of_prefix(tokenizer, prefix))
    one_step = BeamOptions(beam=2 * most, n_best=2 * most, max_length=max(length, 1) + 1)
    [found] = await desk.translate(
        [text], source, target, TranslationRequest(one_step, prefix, judged=False), visit
    )
    beginnings: dict[str, float] = {}
    for step in found.translation.alternatives:
        log_ps = step.token_log_probabilities[length : length + 1]
        if len(log_ps) and math.exp(log_ps[0]) >= LEAST_PROBABLE:
            beginning = "".join(step.tokens[: length + 1])
            beginnings.setdefault(beginning, math.exp(log_ps[0]))
    chosen = sorted(beginnings, key=lambda one: -beginnings[one])[:most]
    options = BeamOptions(beam=desk.settings.beam)
    asked = [TranslationRequest(options, beginning, judged=False) for beginning in chosen]
    wholes = await asyncio.gather(
        *(desk.translate([text], source, target, one, visit) for one in asked)
    )
    ways: dict[str, NextWord] = {}
    for beginning, [whole] in zip(chosen, wholes, strict=True):
        rest = whole.translation.text[len(prefix) :]
        if (not prefix or rest[:1].isspace()) and rest.strip():
            word = rest.split()[0]
            ways.setdefault(word, NextWord(word, beginnings[beginning], whole.translation))
    return list(ways.values())

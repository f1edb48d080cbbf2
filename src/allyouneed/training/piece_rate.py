"""Tokens per character: how finely a vocabulary cuts each language, compared with English."""

import math
from collections.abc import Iterable, Mapping

from allyouneed.text.tokenizer import Tokenizer

MOST = 2.0  # times the tokens per character of English
ENGLISH = "en"


def tokens_per_character(
    tokenizer: Tokenizer, texts: Iterable[tuple[str, str]]
) -> dict[str, float]:
    """The mean number of tokens per character in each language, from pairs (language, text). End
    tokens are not counted."""
    by_language: dict[str, list[str]] = {}
    for language, text in texts:
        if text.strip():
            by_language.setdefault(language, []).append(text)
    return {
        language: sum(len(ids) - 1 for ids in tokenizer.encode_ids(some)) / sum(map(len, some))
        for language, some in sorted(by_language.items())
    }


def told(rates: Mapping[str, float]) -> list[str]:
    """Notes for the user: the rates of all languages, and the languages whose rate exceeds `MOST`
    times the rate of English."""
    notes = [
        "tokens per character: "
        + ", ".join(f"{language} {rate:.2f}" for language, rate in rates.items())
    ]
    english = rates.get(ENGLISH, math.inf)
    many = {code: rate / english for code, rate in rates.items() if rate > MOST * english}
    if many:
        named = ", ".join(f"{code} {times:.1f} times" for code, times in many.items())
        notes.append(
            f"more than {MOST:g} times the tokens per character of English: {named}; sentences in "
            "these languages are long for the model. Languages that write a word in one or two "
            "signs always have more; for others, raise vocabulary.size"
        )
    return notes

"""Noise that adds or exchanges spans which a translation copies unchanged.

Each function takes both texts of a pair and a source of random numbers, and returns both texts.
"""

import re
from random import Random

from allyouneed.data.noise.case import Texts
from allyouneed.data.noise.spans import name, number, span

EMOJI = (
    "😀",
    "😂",
    "🙂",
    "😍",
    "😢",
    "😡",
    "👍",
    "🙏",
    "🎉",
    "🔥",
    "✅",
    "🚀",
    "😉",
    ":)",
    ";)",
    ":-)",
    "<3",
)
LONGEST_JOINED = 400  # characters of both sentences together; longer ones are not joined

_NAME = re.compile(r"(?<![\w'-])[A-Z][a-z]{2,}(?![\w'-])")
_NUMBER = re.compile(r"(?<![\w.,:/-])\d{2,}(?![\w.,:/-]*\w)")


def copied(texts: Texts, chance: Random) -> Texts:
    """Replaces a name that both sides contain by another name, or a number by another number. If
    there is neither, both sides get a span to copy: an address, number, placeholder, code or
    name."""
    source, target = texts
    for common, other in ((_NAME, name), (_NUMBER, number)):
        # the first word is skipped: its capital does not mean that it is a name
        shared = [
            found[0]
            for found in common.finditer(source)
            if source.count(found[0]) == 1 and target.count(found[0]) == 1
        ]
        if shared:
            old = chance.choice(shared)
            new = other(chance) if chance.random() < 0.75 else span(chance)
            return source.replace(old, new), target.replace(old, new)
    return with_span(texts, span(chance), chance)


def with_span(texts: Texts, put_in: str, chance: Random) -> Texts:
    """Adds the same words to both sides: before, after, or in brackets before the end mark."""
    source, target = texts
    match chance.randrange(4):
        case 0:
            return f"{put_in}: {source}", f"{put_in}: {target}"
        case 1 if all(text[-1:] in set(".!?") for text in texts):
            return (
                f"{source[:-1]} ({put_in}){source[-1]}",
                f"{target[:-1]} ({put_in}){target[-1]}",
            )
        case 2:
            return f'{source} "{put_in}"', f'{target} "{put_in}"'
        case _:
            return f"{source} {put_in}", f"{target} {put_in}"


def emoji(texts: Texts, chance: Random) -> Texts:
    """Adds the same emoji to the end of both sides."""
    sign = chance.choice(EMOJI) * chance.choice((1, 1, 1, 2, 3))
    return f"{texts[0]} {sign}", f"{texts[1]} {sign}"


def joined(texts: Texts, other: Texts) -> Texts:
    """Joins two pairs into one line, if all texts end in a mark and are not too long together."""
    ends = set(".!?\"'")
    if any(text[-1:] not in ends for text in texts):
        return texts
    if any(len(one) + len(more) > LONGEST_JOINED for one, more in zip(texts, other, strict=True)):
        return texts
    return f"{texts[0]} {other[0]}", f"{texts[1]} {other[1]}"


def foreign(texts: Texts, other: Texts, chance: Random) -> Texts:
    """Adds a few words of the other pair's target, in quotes, to both sides."""
    words = other[1].split()
    begin = chance.randrange(max(1, len(words) - 2))
    piece = " ".join(words[begin : begin + chance.randint(2, 5)]).strip(" .,;:!?\"'")
    return (f'{texts[0]} "{piece}"', f'{texts[1]} "{piece}"') if piece else texts

"""Removes the spaces that some corpora put between words and punctuation."""

import re

QUOTE = "['’]"
RULES = (
    (re.compile(rf"(?<=\w) ?{QUOTE} ?(?=(?:s|m|d|t|re|ve|ll)\b)", re.IGNORECASE), "'"),
    (re.compile(r"(?<=\w) (?=n['’]t\b)", re.IGNORECASE), ""),
    (re.compile(r" +(?=[.,?!;:%)\]…])"), ""),
    (re.compile(r"(?<=[(\[$£€#]) +"), ""),
)
ENDINGS = re.compile(r"(?<=\w')(?:S|M|D|T|Re|Ve|Ll)\b")


def unspaced(text: str) -> str:
    """The English text without spaces before closing signs, after opening signs, and around the
    apostrophe of "I'm" or "don't": "Why not ? I ’ m here ." gives "Why not? I'm here."

    Spaces around quotation marks are kept, because opening and closing marks look the same.
    """
    for pattern, replacement in RULES:
        text = pattern.sub(replacement, text)
    return ENDINGS.sub(lambda ending: ending[0].lower(), text)

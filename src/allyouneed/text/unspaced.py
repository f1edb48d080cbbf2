"""Text whose words and signs a corpus sets apart by spaces, written as people do."""

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
    """The text without spaces before closing signs, behind opening ones, and around the apostrophe
    of "I'm" or "don't": "Why not ? I ’ m here ." gives "Why not? I'm here."

    For English; quotation marks stay as they are, since nothing tells an opening one from a
    closing one.
    """
    for pattern, replacement in RULES:
        text = pattern.sub(replacement, text)
    return ENDINGS.sub(lambda ending: ending[0].lower(), text)

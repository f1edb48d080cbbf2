"""Full-width Latin letters, digits and signs, and half-width kana, in their usual width.

Input methods for Chinese and Japanese type Latin letters and digits as wide as a Chinese sign, and
old systems write kana half as wide. A model seldom saw these forms.
"""

import re
import unicodedata
from collections.abc import Iterator

SUSPECT = "\uff01-\uff9f"  # for a class of a regular expression
_SIGNS = "！＃＄％＆（）＊＋，．／：；＜＝＞？＠［＼］＾＿｀｛｜｝～。、"
_PLAIN = {
    **{sign: chr(ord(sign) - 0xFEE0) for sign in _SIGNS if sign >= "\uff01"},
    "。": ".",
    "、": ",",
}
_LETTERS = re.compile(r"(?P<letters>[Ａ-Ｚａ-ｚ０-９]+)|(?P<kana>[\uff65-\uff9f]+)")
_IN_NUMBERS = re.compile(r"(?<=\d)[，．：／](?=\d)")
_WITH_CHINESE = r"[\u3040-\u30ff\u3100-\u312f\u3400-\u9fff\uac00-\ud7af\uff66-\uff9f]"
_MARKS = re.compile(f"[{re.escape(_SIGNS)}]")
_SPACE_AFTER = "！，．：；？）］｝。、％"


def in_usual_width(text: str) -> Iterator[tuple[int, int, str]]:
    """(begin, end, new) for each part of the text that is replaced by `new`.

    Full-width letters and digits become those of a keyboard, and half-width kana become full-width.
    Full-width signs stay in a text with Chinese signs, kana or Hangul, where they belong, except
    within a number. Elsewhere they become those of a keyboard, with a space before a next word.
    """
    marks = _IN_NUMBERS if re.search(_WITH_CHINESE, text) else _MARKS
    found = [*_LETTERS.finditer(text), *marks.finditer(text)]
    for one in sorted(found, key=re.Match.start):
        begin, end = one.span()
        if one.re is _LETTERS:
            yield begin, end, unicodedata.normalize("NFKC", one[0])
            continue
        is_closing = one.re is _MARKS and one[0] in _SPACE_AFTER
        before, after = text[max(0, begin - 1) : begin], text[end : end + 1]
        within_number = before.isdigit() and after.isdigit()
        space = " " if is_closing and after.isalnum() and not within_number else ""
        yield begin, end, _PLAIN[one[0]] + space

"""Tells whether a translation lacks the quotes or the brackets of its sentence."""

import re

_DOUBLE = re.compile(r'"([^"]*)"')
_SINGLE = re.compile(r"(?<!\w)'(?=\w)[^']*(?<=[\w.,!?])'(?!\w)")  # a quotation, no apostrophe
_LABEL = re.compile(r"[^\W\da-z_][^\"'.,;:!?]*")  # "Save as": no end mark, so it is no speech
_CAPITALISED = re.compile(r"(?<=[\w,;)] )[^\W\d_]\w+")
_ENDING = re.compile(r"(?<=\w)\(\w{1,2}\)")  # "file(s)"
_SHORT_FORM = re.compile(r"\(([A-Z][A-Z\d]+)\)")  # "(FTE)"


def marks_lost(source: str, target: str) -> bool:
    """Whether the quotes or brackets of a source come in pairs, and those of the target do not, or
    are not there. Both texts are in plain marks.

    Quotes of the other kind count. Labels, such as "Save as", may stand there with a capital letter
    and without quotes. The brackets of "file(s)" may be left out, and those of a short form that
    the target has outside of brackets.
    """
    return _quotes_lost(source, target) or _brackets_lost(source, target)


def _quotes_lost(source: str, target: str) -> bool:
    quotes, left = source.count('"'), target.count('"')
    if quotes and quotes % 2 == 0:
        if left % 2:
            return True
        return not left and not _SINGLE.search(target) and not _are_labels(source, target)
    single = "'" in source and not left and _SINGLE.search(source) and not _SINGLE.search(target)
    return bool(single)


def _are_labels(source: str, target: str) -> bool:
    """Whether all quotations are labels, and the target has a new capitalised word for each."""
    quoted = _DOUBLE.findall(source)
    if not all(map(_LABEL.fullmatch, quoted)):
        return False
    known = set(re.findall(r"\w+", _DOUBLE.sub(" ", source)))
    new = [one for one in _CAPITALISED.findall(target) if one[0].isupper() and one not in known]
    return len(new) >= len(quoted)


def _brackets_lost(source: str, target: str) -> bool:
    source = _ENDING.sub("", source)
    bare = re.sub(r"\([^()]*\)", " ", target)
    source = _SHORT_FORM.sub(lambda short: "" if short[1] in bare else short[0], source)
    return any(
        source.count(opening) == source.count(closing)
        and (
            target.count(opening) != target.count(closing)
            or (opening in source) > (opening in target)
        )
        for opening, closing in ("()", "[]")
    )

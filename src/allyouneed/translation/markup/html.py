"""Rules for the tags of HTML: which end a sentence, and which hold text."""

from collections.abc import Collection, Mapping

from allyouneed.translation.markup.rules import Rules


def _named(names: str) -> frozenset[str]:
    return frozenset(names.split())


BLOCK = _named(
    "address article aside audio blockquote body br button canvas caption center col colgroup dd "
    "details dialog dir div dl dt fieldset figcaption figure footer form frame frameset h1 h2 h3 "
    "h4 h5 h6 head header hgroup hr html legend li link main menu menuitem meta nav noframes "
    "noscript object ol optgroup option p param pre search section select source summary table "
    "tbody td template textarea tfoot th thead title tr track ul video"
)
VOID = _named(
    "area base basefont bgsound br col embed frame hr img input keygen link meta param source "
    "track wbr"
)
RAW = _named("script style xmp iframe noembed plaintext")
PREFORMATTED = _named("pre textarea listing")
SKIPPED = _named("code kbd samp var tt math svg")
UNSEEN = _named("rp rt")  # how signs are pronounced
NAMES = (BLOCK | VOID | RAW | PREFORMATTED | SKIPPED | UNSEEN) | _named(
    "a abbr b bdi bdo big cite data del dfn em font i ins label map mark meter output picture "
    "progress q rt ruby s slot small span strike strong sub sup time u"
)
"""The names of all elements."""
ENDED_BY = {
    "p": BLOCK - VOID - {"button"},
    "li": {"li"},
    "dt": _named("dt dd"),
    "dd": _named("dt dd"),
    "tr": {"tr"},
    "td": _named("td th tr"),
    "th": _named("td th tr"),
    "option": _named("option optgroup"),
}  # elements whose end tag may be missing, and what ends them
TEXT_ATTRIBUTES = _named("alt title placeholder aria-label aria-description label")
TEXT_META = _named(
    "description og:title og:description og:image:alt twitter:title twitter:description"
)
BUTTONS = _named("submit button reset")


def html_rules(ignore_tags: Collection[str] = ()) -> Rules:
    """The rules of HTML. The content of elements named in `ignore_tags` also stays as it is."""
    return Rules(
        block=BLOCK,
        skipped=SKIPPED | {name.lower() for name in ignore_tags},
        unseen=UNSEEN,
        preformatted=PREFORMATTED,
        void=VOID,
        raw=RAW,
        ended_by=ENDED_BY,
        lower_case=True,
        untouched=_untouched,
        attributes=_attributes,
        language=_language,
    )


def _untouched(name: str, attributes: Mapping[str, str]) -> bool:
    return (
        attributes.get("translate", "").lower() == "no"
        or "notranslate" in attributes.get("class", "").split()
    )


def _attributes(name: str, attributes: Mapping[str, str]) -> Collection[str]:
    if _untouched(name, attributes):
        return ()
    if name == "meta":
        kind = attributes.get("name", attributes.get("property", "")).lower()
        return ("content",) if kind in TEXT_META else ()
    if name == "input" and attributes.get("type", "").lower() in BUTTONS:
        return (*TEXT_ATTRIBUTES, "value")
    return TEXT_ATTRIBUTES


def _language(name: str, attributes: Mapping[str, str]) -> str:
    """The language that a tag names. What a page says of itself as a whole does not count, because
    the page is to be translated in any case."""
    if name in ("html", "body"):
        return ""
    return attributes.get("lang", "") or attributes.get("xml:lang", "")

"""Translates texts with tags; the translations have the same tags."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from itertools import chain
from typing import Literal, get_args

from allyouneed.errors import UsageError
from allyouneed.translation.confidence import confidence_of, doubts, without_doubts
from allyouneed.translation.joining import scored_tokens
from allyouneed.translation.markup.carrying import Carrier, Translate, sentences_of
from allyouneed.translation.markup.html import html_rules
from allyouneed.translation.markup.nodes import joined
from allyouneed.translation.markup.passage import passages
from allyouneed.translation.markup.protected import Protection
from allyouneed.translation.markup.reading import read_markup
from allyouneed.translation.markup.rules import Rules
from allyouneed.translation.markup.xml import xml_rules
from allyouneed.translation.result import Translation

Markup = Literal["html", "xml", "text"]


def rules_of(markup: str, ignore_tags: Collection[str] = ()) -> Rules:
    """The rules for the tags of a kind of markup, "html" or "xml".

    Raises:
        UsageError: the kind is not known.
    """
    if markup not in get_args(Markup):
        raise UsageError(f"markup={markup!r} is not one of {', '.join(get_args(Markup))}")
    return html_rules(ignore_tags) if markup == "html" else xml_rules(ignore_tags)


def translate_marked(
    translate: Translate,
    texts: Sequence[str],
    markup: str,
    *,
    ignore_tags: Collection[str] = (),
    protect: Sequence[str] = (),
    languages: tuple[str, str] = ("", ""),
) -> list[Translation]:
    """The translations of texts with tags ("html" or "xml"), in order.

    The model sees whole sentences without tags. Every tag is put back once, inside the same tags as
    before, around the words that come from its words. Three things stay as they are: code, the
    content of elements named in `ignore_tags`, and text that matches a regular expression of
    `protect`. `languages` are the codes of source and target, "" where they are not known: with
    them, a tag does not take in an article or a preposition that stood outside. A translation has
    the tokens of its sentences and no alignment. Its notes name the places that the user should
    check.

    Raises:
        UsageError: the kind of markup is not known, or an expression is not a regular expression.
    """
    rules, protection = rules_of(markup, ignore_tags), Protection(protect)
    read = [read_markup(text, rules) for text in texts]
    found = [list(passages(parts)) for parts in read]
    every = [passage for some in found for passage in some]
    carried = Carrier(translate, protection, languages=languages).carry(
        [passage.nodes for passage in every]
    )
    for passage, one in zip(every, carried, strict=True):
        passage.take(one)
    results = []
    for text, parts, some in zip(texts, read, found, strict=True):
        sentences = tuple(sure for one in some for sure in sentences_of(one.pairs))
        notes = [without_doubts(one.notes, sentences_of(one.pairs)) for one in some]
        made = [pair.translation for one in some for pair in one.pairs if pair.translation]
        results.append(
            Translation(
                source=text,
                text=joined(parts),
                **scored_tokens(made),
                terms=tuple(
                    replace(use, source=None, target=None) for one in made for use in one.terms
                ),
                confidence=confidence_of(sentences),
                sentence_confidences=sentences,
                notes=(*dict.fromkeys(chain(*notes)), *doubts(sentences)),
            )
        )
    return results

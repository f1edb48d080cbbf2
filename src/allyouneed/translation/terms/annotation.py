"""Terms written into a source as ids, for models that were trained to read them (Dinu et al. 2019,
"Training Neural Machine Translation to Apply Terminology Constraints", their method "append").

After the words of a term stands its translation between two marks: "I like my bike ‖Fahrrad‖." The
model learns to copy it, and to inflect it as the sentence needs. The mark is an id that no text is
encoded to.
"""

from collections.abc import Sequence

from allyouneed.decoding.terms import MOST_TERMS
from allyouneed.text.normaliser import Normaliser
from allyouneed.text.protocol import AnyTokenizer
from allyouneed.translation.terms.glossary import FoundTerm


def annotated(
    ids: Sequence[int],
    text: str,
    terms: Sequence[FoundTerm],
    mark: int,
    tokenizer: AnyTokenizer,
    normaliser: Normaliser,
    longest: int,
) -> list[int]:
    """`ids`, which encode `text`, with the first form of each term behind the term's words.

    `terms` are in the order of the text. A term is left out if its words do not end where a token
    ends, or if more than `longest` ids would result.
    """
    terms = terms[:MOST_TERMS]
    until = tokenizer.encode_ids([text[: one.end] for one in terms])
    forms = tokenizer.encode_ids([normaliser.plain(one.forms()[0]).text for one in terms])
    found: list[int] = []
    done, room = 0, longest - len(ids)
    for (*words, _), (*form, _) in zip(until, forms, strict=True):
        if words == [*ids[: len(words)]] and len(form) + 2 <= room:
            found += [*ids[done : len(words)], mark, *form, mark]
            done, room = len(words), room - len(form) - 2
    return [*found, *ids[done:]]


def without_terms(ids: Sequence[int], mark: int) -> tuple[list[int], list[int]]:
    """Of annotated ids, those that encode the text, and for every annotated id its place among
    them. An id between marks has the place of the term's last token."""
    text: list[int] = []
    places: list[int] = []
    inside = False
    for id in ids:
        if id == mark:
            inside = not inside
        elif not inside:
            text.append(id)
        places.append(len(text) - 1)
    return text, places

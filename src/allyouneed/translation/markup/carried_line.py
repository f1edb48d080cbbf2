"""A line of plain text that was carried over as one passage, as a translation: its text, its scores
and its word links."""

import re
from collections.abc import Sequence
from difflib import SequenceMatcher

from allyouneed.decoding.links import Alignment
from allyouneed.text.amounts import amounts_written
from allyouneed.text.sums import power_behind, sum_written
from allyouneed.translation.confidence import confidence_of, moved, words_of
from allyouneed.translation.joining import scored_tokens
from allyouneed.translation.markup.carrying import Carried
from allyouneed.translation.markup.emphasis import in_loud_letters
from allyouneed.translation.markup.nodes import Kept, Node, leaves, plain, tidy
from allyouneed.translation.markup.passage import escaped
from allyouneed.translation.markup.placement import placed
from allyouneed.translation.markup.protected import Protection
from allyouneed.translation.result import Translation

_WORD = re.compile(r"\S+")


def line_of(
    source: str, carried: Carried, protection: Protection, languages: tuple[str, str]
) -> Translation:
    """The translation of a line, `source`, that was carried as one passage. `languages` are the
    codes of source and target: they decide how sums of money are written."""
    made = [pair.translation for pair in carried.pairs if pair.translation]
    nodes = in_loud_letters(placed(carried.nodes, carried.transfer), languages)
    copied = escaped(nodes, str)
    text = escaped(_with_amounts(nodes, protection, languages), str)
    confidence = confidence_of(carried.sentences)
    words = (
        moved(
            pair.translation.word_confidences if pair.translation else (),
            pair.translation.text if pair.translation else "",
            pair.target,
        )
        for pair in carried.pairs
    )
    return Translation(
        source=source,
        text=text,
        **scored_tokens(made),
        notes=carried.notes,
        confidence=confidence,
        sentence_confidences=carried.sentences,
        word_confidences=() if confidence is None else moved(words_of(words, copied), copied, text),
    )


def _with_amounts(
    nodes: Sequence[Node], protection: Protection, languages: tuple[str, str]
) -> tuple[Node, ...]:
    """The nodes of a translation, with its sums of money and its amounts as the target language
    writes them. What a user's expression protects stays."""
    found = [*nodes, ""]
    for n, node in enumerate(nodes):
        if not isinstance(node, Kept) or protection.is_of_user(node.text):
            continue
        following = found[n + 1]
        power = power_behind(following, languages[1]) if isinstance(following, str) else ""
        written = sum_written(node.text, languages, power)
        if written is not None:
            found[n] = Kept(written)
            if isinstance(following, str) and power:
                found[n + 1] = following.lstrip().removeprefix(power)
        elif node.text.lstrip("+-−–")[:1].isdigit():  # an amount
            found[n] = Kept(amounts_written(node.text, node.text, languages))
    return tidy(found)


def alignment_of(carried: Carried, target: str) -> Alignment:
    """The word links of a line and its translation. A copied word is linked to itself, and the
    other words as in the model's own alignment."""
    transfer = carried.transfer
    words = [match.span() for match in _WORD.finditer(plain(carried.nodes))]
    said = [match.span() for match in _WORD.finditer(transfer.text)]
    comes_from: dict[int, int] = {}
    ties = [
        ((begin, end), (transfer.literals or {})[node])
        for node, begin, end in leaves(carried.nodes)
        if not isinstance(node, str) and node in (transfer.literals or {})
    ]
    for there, here in [*((link.source, link.target) for link in transfer.links), *ties]:
        sources, targets = _within(words, there), _within(said, here)
        for place, n in enumerate(targets):
            if sources:
                comes_from[n] = sources[min(place, len(sources) - 1)]
    final = _same_words(transfer.text, target)
    return tuple(sorted((s, final[t]) for t, s in comes_from.items() if t in final))


def _within(words: Sequence[tuple[int, int]], span: tuple[int, int]) -> list[int]:
    """The numbers of the words that have a character within a span."""
    return [n for n, (begin, end) in enumerate(words) if begin < span[1] and span[0] < end]


def _same_words(before: str, after: str) -> dict[int, int]:
    """The new number of each word of a text into which other words were put, or in which sums were
    written anew."""
    old, new = before.split(), after.split()
    if old == new:
        return {n: n for n in range(len(old))}
    changes = SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    return {
        n: min(n - begin + new_begin, new_end - 1)
        for _, begin, end, new_begin, new_end in changes
        for n in range(begin, end)
        if new_begin < new_end
    }

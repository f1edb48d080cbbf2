"""Hard spaces, U+00A0 and U+202F: spaces at which no line may end."""

from dataclasses import replace
from itertools import pairwise

from allyouneed.translation.markup.aligned_atoms import AlignedAtoms
from allyouneed.translation.markup.nodes import Nodes, leaves, plain
from allyouneed.translation.markup.transfer import Transfer

HARD_SPACES = ("\u00a0", "\u202f")


def has_hard_space(nodes: Nodes) -> bool:
    """Whether the text that is translated has a hard space."""
    texts = (node for node, _, _ in leaves(nodes) if isinstance(node, str))
    return any(space in text for text in texts for space in HARD_SPACES)


def with_hard_spaces(nodes: Nodes, transfer: Transfer) -> Transfer:
    """The translation with the hard spaces of the source, which the model does not write.

    Two words of the source have a hard space between them. Where the two words that come from them
    stand side by side in the translation, they get the same hard space. Elsewhere it is left out.
    """
    if not has_hard_space(nodes):
        return transfer
    source, text = plain(nodes), list(transfer.text)
    aligned = AlignedAtoms(nodes, transfer, ())
    s_words = [n for n, atom in enumerate(aligned.s_atoms) if atom.is_word]
    held = {
        frozenset(pair): space
        for pair in pairwise(s_words)
        for space in HARD_SPACES
        if space in source[aligned.s_atoms[pair[0]].end : aligned.s_atoms[pair[1]].begin]
    }
    t_words = [n for n, atom in enumerate(aligned.t_atoms) if atom.is_word]
    for before, after in pairwise(t_words):
        gap = range(aligned.t_atoms[before].end, aligned.t_atoms[after].begin)
        space = held.get(frozenset((aligned.origin[before], aligned.origin[after])))
        for place in gap:
            if space is not None and text[place] == " ":
                text[place] = space
    return replace(transfer, text="".join(text))

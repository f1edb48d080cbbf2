"""Elements in another language than the text around them stay as they are."""

from dataclasses import replace

from allyouneed.text.language_names import primary
from allyouneed.translation.markup.nodes import Around, Bound, Node, Nodes, plain

_UNKNOWN = ("", "und", "mul")


def with_foreign_bound(nodes: Nodes, language: str) -> tuple[Node, ...]:
    """The nodes, with each element whose tag names another language than `language` as a literal,
    such as `<i lang="fr">` in English. If either language is not known, the element stays text."""
    own = primary(language)
    if own in _UNKNOWN:
        return tuple(nodes)
    found: list[Node] = []
    for node in nodes:
        if isinstance(node, Around):
            text = plain([node])
            if primary(node.language) not in (*_UNKNOWN, own) and any(map(str.isalpha, text)):
                node = Bound((node,), text)
            else:
                node = replace(node, inside=with_foreign_bound(node.inside, language))
        found.append(node)
    return tuple(found)

"""Rules for the tags of XML, as the user gives them."""

from collections.abc import Collection

from allyouneed.translation.markup.reading import Rules


def xml_rules(
    ignore_tags: Collection[str] = (),
    splitting_tags: Collection[str] = (),
    text_attributes: Collection[str] = (),
) -> Rules:
    """The rules of XML. `splitting_tags` end a sentence; other tags stand within one. The content
    of elements that `ignore_tags` names, or that have `translate="no"`, stays as it is. The values
    of `text_attributes` are translated."""
    return Rules(
        block=frozenset(splitting_tags),
        skipped=frozenset(ignore_tags),
        untouched=lambda name, attributes: attributes.get("translate") == "no",
        attributes=lambda name, attributes: frozenset(text_attributes),
    )

"""What the tags of XML mean for a translation: nothing but what the user says of them."""

from collections.abc import Collection

from allyouneed.translation.markup.reading import Rules


def xml_rules(
    ignore_tags: Collection[str] = (),
    splitting_tags: Collection[str] = (),
    text_attributes: Collection[str] = (),
) -> Rules:
    """Every tag stands within a sentence, but `splitting_tags` end one; what elements named in
    `ignore_tags`, or with `translate="no"`, hold is left as it is; `text_attributes` are
    translated."""
    return Rules(
        block=frozenset(splitting_tags),
        skipped=frozenset(ignore_tags),
        untouched=lambda name, attributes: attributes.get("translate") == "no",
        attributes=lambda name, attributes: frozenset(text_attributes),
    )

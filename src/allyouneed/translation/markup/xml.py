"""Rules for the tags of XML, as the user gives them."""

from collections.abc import Collection

from allyouneed.translation.markup.rules import Rules

XHTML = (
    "address article aside blockquote body caption dd details div dl dt fieldset figcaption figure "
    "footer form h1 h2 h3 h4 h5 h6 head header li main nav ol p pre section summary table tbody td "
    "tfoot th thead title tr ul"
)
DITA_AND_DOCBOOK = (
    "abstract chapter entry fig itemizedlist lines listitem navtitle note orderedlist para postreq "
    "prereq row shortdesc simpara simpletable sl sli stentry step steps strow substep substeps "
    "topic variablelist varlistentry"
)
BLOCK = frozenset(f"{XHTML} {DITA_AND_DOCBOOK}".split())
"""Elements of common vocabularies that hold paragraphs, items or cells."""


def xml_rules(ignore_tags: Collection[str] = ()) -> Rules:
    """The rules of XML. Paragraphs, items of lists and cells end a sentence, if they have the names
    that XHTML, DITA or DocBook give them; other tags stand within one. The content of elements that
    `ignore_tags` names, or that have `translate="no"`, stays as it is."""
    return Rules(
        block=BLOCK,
        breaks=frozenset({"br"}),
        skipped=frozenset(ignore_tags),
        untouched=lambda name, attributes: attributes.get("translate") == "no",
    )

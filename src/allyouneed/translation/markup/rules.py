"""The rules for the tags of a format."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, kw_only=True)
class Rules:
    """The rules for the tags of a format.

    A tag named in `block`, or one that contains such a tag, ends a sentence. All other tags stand
    within sentences. Empty elements named in `breaks` begin a new line. The content of `skipped`
    elements stays as it is, and so does the content of elements for which
    `untouched(name, attributes)` is true. `unseen` elements also stay unchanged; the model does not
    see them. Each line of a `preformatted` element is a passage of its own. `void` elements have no
    end tag. `raw` elements hold no markup. `ended_by` maps an element that may lack its end tag to
    the elements whose start tags close it. `attributes(name, attributes)` names the attributes
    whose values are translated. `language(name, attributes)` is the code of the language of an
    element's text, "" if the tag names none.
    """

    block: Collection[str] = ()
    breaks: Collection[str] = ()
    skipped: Collection[str] = ()
    unseen: Collection[str] = ()
    preformatted: Collection[str] = ()
    void: Collection[str] = ()
    raw: Collection[str] = ()
    ended_by: Mapping[str, Collection[str]] = field(default_factory=dict)
    lower_case: bool = False
    untouched: Callable[[str, Mapping[str, str]], bool] = lambda name, attributes: False
    attributes: Callable[[str, Mapping[str, str]], Collection[str]] = lambda name, attributes: ()
    language: Callable[[str, Mapping[str, str]], str] = lambda name, attributes: ""

    def leaves(self, name: str, attributes: Mapping[str, str]) -> bool:
        """Whether an element stays as it is, with its content."""
        return name in self.skipped or name in self.unseen or self.untouched(name, attributes)

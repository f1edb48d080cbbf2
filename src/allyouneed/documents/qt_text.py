"""Qt's translations (ts): messages without a translation get one, with all plural forms."""

from collections.abc import Iterator
from functools import partial

from allyouneed.documents.messages import message_nodes
from allyouneed.documents.mnemonic import Mnemonic, with_mnemonic, without_mnemonic
from allyouneed.documents.paired_strings import PairText
from allyouneed.documents.plural_forms import forms_of, is_singular, plural_of, singular_of
from allyouneed.documents.xml_tree import Element, escape
from allyouneed.translation.markup.nodes import Node, Nodes, Part
from allyouneed.translation.markup.passage import Passage, escaped, has_words


class QtText(PairText):
    """Reads Qt's translations. A message with plural forms has as many as lupdate has put there,
    else as many as the file's language has. The singular comes from "file", the other forms from
    "files", where the source says "file(s)"."""

    root = "TS"
    units = ("message",)
    target = "translation"

    def nodes(self, element: Element) -> list[Node]:
        """The text of a source as nodes. Tags in it are escaped in the file."""
        return list(message_nodes(self.tree.content(element)))

    def text_of(self, nodes: Nodes) -> str:
        """The nodes of a translation, with escaped tags."""
        return escape(escaped(nodes, str))

    def written(self, name: str, text: str, target: Element | None) -> str:
        """The translation's element, without a mark that it is unfinished."""
        return f"<{name}>{text}</{name}>"

    def _of(self, element: Element) -> Iterator[Part]:
        pair = self.pair(element) if "numerus" in element.attributes else None
        if element.local != "message" or pair is None:
            yield from super()._of(element)
            return
        source, target = pair
        text = self.tree.content(source)
        if self.is_left(element) or not has_words(text) or not self.wants(element, target):
            yield self.tree.raw(element)
            return
        begin, end = (target.begin, target.end) if target else (source.end, source.end)
        yield self.tree.text[element.begin : begin]
        yield from self._forms(text, target, self.counted())
        yield self.tree.text[end : element.end]

    def _forms(self, text: str, target: Element | None, where: str) -> Iterator[Passage]:
        """A passage for each plural form; joined, they are the element of the translation."""
        pieces = list(self._pieces(target))
        for form, (raw, before, behind) in enumerate(pieces):
            number = singular_of if is_singular(form, len(pieces)) else plural_of
            nodes, mnemonic = without_mnemonic(message_nodes(number(text)))
            write = partial(self._form, before, behind, mnemonic)
            yield Passage(nodes, (raw,), escape, f"{where}, form {form}", write)

    def _form(self, before: str, behind: str, mnemonic: Mnemonic | None, passage: Passage) -> str:
        return f"{before}{self.text_of(with_mnemonic(passage.target or (), mnemonic))}{behind}"

    def _pieces(self, target: Element | None) -> Iterator[tuple[str, str, str]]:
        """For each form its piece of the file, and what is written before and behind its text."""
        opening, closing = f"<{self.target}>", f"</{self.target}>"
        forms = [one for one in target.children if one.local == "numerusform"] if target else []
        if target is None or not forms:
            last = forms_of(self.tree.attribute(self.tree.root, "language")) - 1
            for form in range(last + 1):
                raw = self.tree.raw(target) if target and form == 0 else ""
                yield (
                    raw,
                    opening * (form == 0) + "<numerusform>",
                    "</numerusform>" + closing * (form == last),
                )
            return
        place = target.begin
        for one in forms:
            between = self.tree.text[target.inner if one is forms[0] else place : one.begin]
            tail = self.tree.text[one.end : target.end] if one is forms[-1] else ""
            raw = self.tree.text[place : one.end] + tail
            before = opening * (one is forms[0]) + between + "<numerusform>"
            yield raw, before, "</numerusform>" + tail
            place = one.end

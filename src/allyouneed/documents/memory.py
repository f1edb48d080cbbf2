"""Translation memory: sentences that people have translated, in TMX files."""

from collections.abc import Iterable, Mapping
from html import unescape
from pathlib import Path

from allyouneed.documents.xml_tree import Element, Tree, escape, read_tree
from allyouneed.errors import DataError, UsageError
from allyouneed.files import write_whole

LIKE = 75.0  # per cent: from here on, two sentences are similar
Pairs = Mapping[str, str]


class TranslationMemory:
    """Sentences with translations. A call with a sentence returns its translation, or None."""

    def __init__(self, pairs: Pairs, languages: tuple[str, str] | None = None) -> None:
        """`languages` are the codes of source and target in the file."""
        self.pairs = dict(pairs)
        self.languages = languages
        self._sources: list[str] | None = None

    def __call__(self, sentence: str) -> str | None:
        """The translation of this sentence; white space does not count. None if it is not known."""
        return self.pairs.get(" ".join(sentence.split()))

    def like(self, sentence: str) -> tuple[float, str, str] | None:
        """The most similar sentence: (per cent, sentence, translation). None if no sentence is
        similar by at least `LIKE` per cent.

        Raises:
            UsageError: rapidfuzz is not installed.
        """
        try:
            from rapidfuzz import fuzz, process
        except ImportError as error:
            raise UsageError(
                "similar sentences need rapidfuzz; install it: pip install 'allyouneed[memory]'"
            ) from error
        if self._sources is None:
            self._sources = list(self.pairs)
        found = process.extractOne(sentence, self._sources, scorer=fuzz.ratio, score_cutoff=LIKE)
        return (found[1], found[0], self.pairs[found[0]]) if found else None


def read_tmx(path: Path, source: str | None = None, target: str | None = None) -> TranslationMemory:
    """The memory in a TMX file, from one language into another.

    Without `source`, the source is the language that the file names. Without `target`, it is the
    first other language of each unit. Codes match without their countries: "de" takes "de-AT".

    Raises:
        DataError: the file is damaged, or has no unit in these languages.
        OSError: there is no such file.
    """
    tree, _ = read_tree(path.read_bytes(), str(path))
    header = tree.root.child("header")
    wanted = source or (tree.attribute(header, "srclang") if header else "")
    if wanted == "*all*":
        wanted = ""
    if target == source:  # a model that rewrites texts in one language; the memory may have two
        target = None
    pairs: dict[str, str] = {}
    languages = None
    for unit in tree.root.walk():
        if unit.local != "tu":
            continue
        texts = _texts(tree, unit)
        codes = list(texts)
        first = next((code for code in codes if _is(code, wanted)), None)
        others = (code for code in codes if code != first and (not target or _is(code, target)))
        second = next(others, None)
        if first is not None and second is not None:
            pairs[" ".join(texts[first].split())] = texts[second]
            languages = first, second
    if not pairs and any(element.local == "tu" for element in tree.root.walk()):
        raise DataError(
            f"{path} has no unit from {wanted or 'its language'} into {target or 'another'}"
        )
    return TranslationMemory(pairs, languages)


def _texts(tree: Tree, unit: Element) -> dict[str, str]:
    texts: dict[str, str] = {}
    for variant in unit.children:
        segment = variant.child("seg") if variant.local == "tuv" else None
        if segment is not None:
            code = tree.attribute(variant, "xml:lang") or tree.attribute(variant, "lang")
            texts[code.lower()] = _bare(tree, segment)
    return texts


def _bare(tree: Tree, segment: Element) -> str:
    """The text of a segment without its elements, which hold codes of another format; highlighted
    text (`hi`) is kept."""
    parts, place = [], segment.inner
    for child in segment.children:
        parts.append(tree.text[place : child.begin])
        if child.local == "hi":
            parts.append(escape(_bare(tree, child)))
        place = child.end
    text = "".join([*parts, tree.text[place : segment.inner_end]])
    return unescape(text)


def _is(code: str, wanted: str) -> bool:
    return not wanted or code.split("-")[0] == wanted.lower().replace("_", "-").split("-")[0]


def tmx(pairs: Iterable[tuple[str, str]], source: str, target: str) -> str:
    """Sentences with their translations as a TMX file."""
    units = tmx_units(pairs, source, target)
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n<tmx version="1.4">\n'
        '  <header creationtool="allyouneed" creationtoolversion="1" segtype="sentence" '
        f'o-tmf="allyouneed" adminlang="en" srclang="{source}" datatype="plaintext"/>\n'
        f"  <body>\n{units}  </body>\n</tmx>\n"
    )


def tmx_units(pairs: Iterable[tuple[str, str]], source: str, target: str) -> str:
    """Sentences with their translations as units of a TMX file's body."""
    return "".join(
        f'    <tu><tuv xml:lang="{source}"><seg>{escape(one)}</seg></tuv>'
        f'<tuv xml:lang="{target}"><seg>{escape(other)}</seg></tuv></tu>\n'
        for one, other in pairs
    )


def update_tmx(
    path: Path, memory: TranslationMemory, new: Iterable[tuple[str, str]], source: str, target: str
) -> int:
    """Adds the pairs that the memory lacks to its TMX file, and returns their number. The other
    contents of the file stay. The file is written whole or not at all."""
    found: dict[str, str] = {}
    for one, other in new:
        key = " ".join(one.split())
        if key not in memory.pairs:
            found.setdefault(key, other)
    codes = memory.languages or (source, target)
    if not path.exists():
        write_whole(path, tmx(found.items(), *codes))
    elif found:
        tree, codec = read_tree(path.read_bytes(), str(path))
        body = tree.root.child("body")
        if body is None:
            raise DataError(f"{path} has no <body>, so it is not a TMX file; name another one")
        units = tmx_units(found.items(), *codes)
        text = tree.text[: body.inner_end] + units + tree.text[body.inner_end :]
        write_whole(path, text.encode(codec))
    return len(found)

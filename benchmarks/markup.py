"""What becomes of inline tags: the bundled model over sentences of documentation with tags.

The set is Salesforce's (localization-xml-mt, en-de): sentences with inline XML, each with a
reference that has the same tags. Three ways are compared, with one model:

- around: tags out, the whole sentence translated, tags back by alignment (what we do)
- apart: every piece of text between tags translated by itself, as LibreTranslate does
- given: tags put on the reference's own words, so that the model's translation plays no part; for
  the lines that are one passage

and measured by:

- accuracy: the output is well-formed
- multiset: it has the tags of the source, each as often
- match: its tree of tags is the reference's (order of neighbours counts)
- match, all: the same share of all lines of the set, as Salesforce's own script counts; a line
  without tags always matches
- F1: words within each tag beside the reference's words within it (micro average, by occurrence)
- best F1: the highest F1 with the same words in the translation, if each tag were around the row of
  words that suits it best. Only another translation could pass it. A piece that is translated by
  itself stands in its tag whole, so the F1 of "apart" measures the words and not the places.
- BLEU: of the text without tags; "plain" is the same model on sources without tags

    python benchmarks/markup.py [--sentences N] [--model en-de] [--beam 4]

Needs $ALLYOUNEED_DATA, or ../shared/data. Takes about two minutes on two cores.
"""

import argparse
import gzip
import json
import os
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from xml.parsers import expat

import sacrebleu

import allyouneed
from allyouneed.translation.markup.links import links_of_words
from allyouneed.translation.markup.marked_text import rules_of, translate_marked
from allyouneed.translation.markup.passage import Passage, escaped, passages
from allyouneed.translation.markup.placement import Transfer, placed
from allyouneed.translation.markup.reading import read_markup
from allyouneed.translation.result import Translation
from allyouneed.translation.segments import word_numbers
from allyouneed.translation.translator import Translator

DATA = Path(os.environ.get("ALLYOUNEED_DATA", "../shared/data"))
TAG = re.compile(r"<(/?)([\w-]+)[^>]*?(/?)>")
RESULTS = Path(__file__).parent / "results"


def main() -> None:
    """Prints the table and writes it beside the others."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--sentences", type=int, default=10_000)
    parser.add_argument("--model", default="en-de")
    parser.add_argument("--beam", type=int, default=4)
    asked = parser.parse_args()
    lines, sources, references = tagged(asked.sentences)
    translator = allyouneed.load(asked.model)

    def translate(texts: list[str], alignments: bool) -> Sequence[Translation]:
        return translator(texts, beam=asked.beam, alignments=alignments, protect=False)

    around = [one.text for one in translate_marked(translate, sources, "xml")]
    outputs = {
        "around": around,
        "apart": [apart(source, translate) for source in sources],
    }
    plain = [one.text for one in translate([bare(source) for source in sources], False)]
    found = {name: measures(lines, sources, output, references) for name, output in outputs.items()}
    put = given(translator, sources, references)
    own = [[texts[n] for n in put] for texts in (sources, references)]
    found["given"] = measures(len(put), own[0], [*put.values()], own[1])
    del found["given"]["BLEU"], found["given"]["match, all"]
    found["plain"] = {"BLEU": bleu(plain, references)}
    for name, values in found.items():
        print(name, "  ".join(f"{key} {value:.2f}" for key, value in values.items()))
    result = {"sentences": len(sources), "model": asked.model, "beam": asked.beam, "found": found}
    (RESULTS / "markup.json").write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


def tagged(most: int) -> tuple[int, list[str], list[str]]:
    """The number of lines of the set, and the sources and references of the lines with tags that
    are well-formed on both sides."""
    with gzip.open(
        DATA / "markup" / "salesforce-inline.en-de.tsv.gz", "rt", encoding="utf-8"
    ) as file:
        pairs = [line.rstrip("\n").split("\t") for line in file]
    kept = [
        (source, reference)
        for source, reference in pairs
        if TAG.search(source) and is_well_formed(source) and is_well_formed(reference)
    ][:most]
    return len(pairs), [source for source, _ in kept], [reference for _, reference in kept]


def apart(text: str, translate: object) -> str:
    """The text, each piece between tags translated by itself."""
    pieces = re.split(r"(<[^>]*>)", text)
    for n, piece in enumerate(pieces):
        words = piece.strip()
        if n % 2 == 0 and any(map(str.isalpha, words)):
            [found] = translate_marked(translate, [words], "xml")  # type: ignore[arg-type]
            pieces[n] = piece.replace(words, found.text)
    return "".join(pieces)


def given(
    translator: Translator, sources: Sequence[str], references: Sequence[str]
) -> dict[int, str]:
    """The references of lines that are one passage, by number, with the sources' tags put on their
    words by the model's attention."""
    outputs = {}
    for number, (source, reference) in enumerate(zip(sources, references, strict=True)):
        parts = read_markup(source, rules_of("xml"))
        text = bare(reference)
        if len(found := list(passages(parts))) == 1:
            [passage] = found
            links = links_of_words(passage.text, text, aligned(translator, passage.text, text))
            passage.target = placed(passage.nodes, Transfer(text, tuple(links)))
            outputs[number] = "".join(map(written, parts))
    return outputs


def written(part: object) -> str:
    """A part of a text, with the tags that were put on it."""
    if isinstance(part, Passage) and part.target is not None:
        return escaped(part.target, escape)
    return str(part)


def aligned(translator: Translator, source: str, target: str) -> list[tuple[int, int]]:
    """Linked words of a pair of texts."""
    from allyouneed.translation.teacher_forcing import attention_map

    ids = translator.tokenizer.encode_ids([source])[0]
    target_ids = translator.tokenizer.target.encode_ids([target])[0]
    if max(len(ids), len(target_ids)) > translator.config.max_positions:
        return []
    weights_TS = attention_map(translator.model, ids, target_ids, translator.alignment_heads)
    s_words = word_numbers(translator.tokenizer, ids)
    t_words = word_numbers(translator.tokenizer.target, target_ids)
    sums: dict[int, Counter[int]] = {}
    for row, t in zip(weights_TS.tolist(), t_words, strict=True):
        for weight, s in zip(row, s_words, strict=True):
            if s >= 0 and t >= 0:
                sums.setdefault(t, Counter())[s] += weight
    return [(words.most_common(1)[0][0], t) for t, words in sums.items()]


def measures(
    lines: int, sources: Sequence[str], outputs: Sequence[str], references: Sequence[str]
) -> dict[str, float]:
    """All measures of one way, in per cent."""
    count = len(sources)
    overlaps, best = [], []
    for output, reference in zip(outputs, references, strict=True):
        overlaps.append(overlap(contents(output), contents(reference)))
        best.append(best_overlap(bare(output), contents(reference)))
    matches = sum(tree(a) == tree(b) for a, b in zip(outputs, references, strict=True))
    same = sum(
        Counter(TAG.findall(a)) == Counter(TAG.findall(b))
        for a, b in zip(sources, outputs, strict=True)
    )
    return {
        "accuracy": 100 * sum(map(is_well_formed, outputs)) / count,
        "multiset": 100 * same / count,
        "match": 100 * matches / count,
        "match, all": 100 * (lines - count + matches) / lines,
        "F1": f1(overlaps),
        "best F1": f1(best),
        "BLEU": bleu([bare(output) for output in outputs], references),
    }


def bleu(outputs: Sequence[str], references: Sequence[str]) -> float:
    """BLEU of texts without tags."""
    return float(sacrebleu.corpus_bleu(list(outputs), [[bare(one) for one in references]]).score)


def contents(text: str) -> dict[tuple[str, int], Counter[str]]:
    """The words within each tag, by its name and its number among those of this name."""
    found: dict[tuple[str, int], Counter[str]] = {}
    open_tags: list[tuple[str, int, int]] = []
    numbers: Counter[str] = Counter()
    for match in TAG.finditer(text):
        close, name, alone = match.groups()
        if close:
            name, number, begin = open_tags.pop()
            found[name, number] = Counter(re.findall(r"\w+", bare(text[begin : match.start()])))
        elif not alone:
            open_tags.append((name, numbers[name], match.end()))
            numbers[name] += 1
    return found


Contents = dict[tuple[str, int], Counter[str]]


def overlap(output: Contents, reference: Contents) -> tuple[int, int, int]:
    """Words in the same tag of both, in that of the output alone, and of the reference alone."""
    right = wrong = missed = 0
    for key in output.keys() | reference.keys():
        one, other = output.get(key, Counter()), reference.get(key, Counter())
        right += (one & other).total()
        wrong += (one - other).total()
        missed += (other - one).total()
    return right, wrong, missed


def best_overlap(output: str, reference: Contents) -> tuple[int, int, int]:
    """The overlap if each tag were around the row of words of the output that suits it best."""
    words = re.findall(r"\w+", output)
    found = Counter[int]()
    for wanted in reference.values():
        best = (0, 0, wanted.total())
        for begin in range(len(words)):
            row: Counter[str] = Counter()
            hit = 0
            for end, word in enumerate(words[begin : begin + 2 * wanted.total() + 2], 1):
                row[word] += 1
                hit += row[word] <= wanted[word]
                one = (hit, end - hit, wanted.total() - hit)
                best = max(best, one, key=lambda one: (f1([one]), -one[1]))
        found.update(dict(enumerate(best)))
    return found[0], found[1], found[2]


def f1(overlaps: Sequence[tuple[int, int, int]]) -> float:
    """The F1 of all these overlaps together, in per cent."""
    right, wrong, missed = (sum(column) for column in zip(*overlaps, strict=True))
    return 200 * right / max(2 * right + wrong + missed, 1)


def tree(text: str) -> list[tuple[str, ...]]:
    """The tags in order, which is the tree."""
    return [match.groups() for match in TAG.finditer(text)]


def is_well_formed(text: str) -> bool:
    """Whether a parser of XML takes the text."""
    parser = expat.ParserCreate()
    try:
        parser.Parse(f"<!DOCTYPE x [<!ENTITY nbsp ' '>]><x>{text}</x>", True)
    except expat.ExpatError:
        return False
    return True


def bare(text: str) -> str:
    """The text without tags, its references read."""
    from html import unescape

    return " ".join(unescape(TAG.sub("", text)).split())


def escape(text: str) -> str:
    """Text as XML."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


if __name__ == "__main__":
    main()

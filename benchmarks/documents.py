"""Speed of a Word file beside its plain text: the same paragraphs, translated by the same model.

Makes a docx as Word writes one: headings, paragraphs of five sentences whose runs break anywhere,
a bold or linked word in every third paragraph, and a table on every fifth page. Two ways alternate:

- text: the paragraphs as lines, as `allyouneed translate < report.txt` reads them
- docx: the file read, translated and written, as `allyouneed translate report.docx --to ...` does

Prints the words per second of each round, and the medians of the rounds' ratios. The ratio of
processor time does not suffer from other programs on the machine.

    python benchmarks/documents.py [--pages 60] [--rounds 3] [--threads 1] [--profile]

Needs $ALLYOUNEED_DATA, or ../shared/data. Takes about four minutes on one core.
"""

import argparse
import cProfile
import gzip
import io
import os
import pstats
import random
import statistics
import time
import zipfile
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path

import allyouneed
from allyouneed.documents.office import read_docx
from allyouneed.documents.translating import translate_document
from allyouneed.documents.xml_tree import escape
from allyouneed.translation.result import Translation
from allyouneed.translation.translator import Translator

DATA = Path(os.environ.get("ALLYOUNEED_DATA", "../shared/data"))
CORPUS = DATA / "parallel" / "en-de.msdocs-business.tsv.gz"
WORDS_OF_A_PAGE = 450
SENTENCES = 5  # of a paragraph
CELLS = ("Name", "Number", "Description", "Yes", "No", "Not available", "See the note below")
SHOWN = 40  # lines of a profile
W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
BREAK = '</w:t></w:r><w:r w:rsidR="00A1"><w:t xml:space="preserve">'
BOLD = '</w:t></w:r><w:r><w:rPr><w:b/></w:rPr><w:t xml:space="preserve">{}</w:t></w:r>'
LINK = '</w:t></w:r><w:hyperlink w:anchor="x"><w:r><w:t xml:space="preserve">{}</w:t></w:r>'
AGAIN = '<w:r><w:t xml:space="preserve">'


def main() -> None:
    """Prints the speed of both ways, round by round."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--pages", type=int, default=60)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--profile", action="store_true", help="where the docx's time is spent")
    asked = parser.parse_args()
    lines = list(islice(paragraphs(), 10 * asked.pages))
    pages = [*paged(lines, asked.pages)]
    lines = [line for page in pages for line in page]
    words = sum(len(line.split()) for line in lines)
    data = docx(lines)
    translator = allyouneed.load("en-de", threads=asked.threads)
    ways: dict[str, Callable[[], object]] = {
        "text": lambda: list(translator.translate_lines(lines)),
        "docx": lambda: translated(data, translator),
    }
    translator(lines[:20])  # warm
    if asked.profile:
        profile = cProfile.Profile(time.process_time)
        profile.runcall(ways["docx"])
        pstats.Stats(profile).sort_stats("tottime").print_stats(SHOWN)
        return
    print(f"{len(pages)} pages, {len(lines):,} paragraphs, {words:,} words")
    ratios = []
    for number in range(asked.rounds):
        order = sorted(ways, reverse=number % 2 == 0)
        taken = {name: timed(ways[name]) for name in order}
        speeds = "  ".join(f"{name} {words / taken[name][0]:,.0f} words/s" for name in ways)
        ratios.append(
            [text / docx for text, docx in zip(taken["text"], taken["docx"], strict=True)]
        )
        print(f"{speeds}  ratio {ratios[-1][0]:.2f}, of processor time {ratios[-1][1]:.2f}")
    medians = [statistics.median(some) for some in zip(*ratios, strict=True)]
    print(f"docx/text: median {medians[0]:.2f}, of processor time {medians[1]:.2f}")


def paragraphs() -> Iterator[str]:
    """Headings, paragraphs and cells, one after the other."""
    generator = random.Random(0)
    with gzip.open(CORPUS, "rt", encoding="utf-8") as file:
        sentences = (line.partition("\t")[0] for line in file)
        number = 0
        while some := list(islice(sentences, SENTENCES)):
            yield " ".join(one if one.endswith(".") else f"{one}." for one in some)
            number += 1
            if number % 5 == 0:
                yield next(sentences)
            if number % 20 == 0:
                yield from generator.choices(CELLS, k=12)


def paged(lines: Sequence[str], most: int) -> Iterator[list[str]]:
    """The lines in pages of about equally many words, at most so many pages."""
    page: list[str] = []
    for line in lines:
        page.append(line)
        if sum(len(one.split()) for one in page) >= WORDS_OF_A_PAGE and most:
            yield page
            most, page = most - 1, []


def docx(lines: Sequence[str]) -> bytes:
    """A Word file of these paragraphs."""
    generator = random.Random(1)
    body = "".join(
        f"<w:p>{runs(line, generator, n % 3 == 0)}</w:p>" for n, line in enumerate(lines)
    )
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("word/document.xml", f"<w:document {W}><w:body>{body}</w:body></w:document>")
    return target.getvalue()


def runs(line: str, generator: random.Random, marked: bool) -> str:
    """A paragraph's runs, one with a bold or a linked word if it is marked."""
    words = [escape(word) for word in line.split(" ")]
    chosen = generator.randrange(len(words)) if marked else -1
    text = ""
    for n, word in enumerate(words):
        space = " " if n else ""
        if n == chosen:
            kind, end = generator.choice(((BOLD, ""), (LINK, "</w:hyperlink>")))
            text += space + kind.format(word) + end + AGAIN
        else:
            text += space + (BREAK if generator.random() < 0.1 else "") + word
    return f'<w:r><w:t xml:space="preserve">{text}</w:t></w:r>'


def translated(data: bytes, translator: Translator) -> bytes:
    """The file again, translated."""

    def translate(texts: list[str], alignments: bool) -> Iterator[Translation]:
        return translator.translate_lines(texts, alignments=alignments, protect=False)

    document = read_docx(data)
    translate_document(document, translate)
    return document.written()


def timed(work: Callable[[], object]) -> tuple[float, float]:
    """The seconds that it takes, and the seconds of processors that it uses."""
    begin = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - begin[0], time.process_time() - begin[1]


if __name__ == "__main__":
    main()

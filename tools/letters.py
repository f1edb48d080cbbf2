"""Makes text/letters.txt, the letter trigrams of languages, and measures the check made of them.

Counts the trigrams of parallel corpora (../shared/data/README.md): of each kind of text at most
400,000 trigrams of a language. Some lines of Tatoeba, the whole of PUD and the held-out
documentation are left for the measurement: for each language, how many of its own lines are taken
for another language, and how many lines in the others are told.

    python tools/letters.py ../shared/data            # makes the file, then measures
    python tools/letters.py ../shared/data --measure
"""

import gzip
import math
import random
import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from allyouneed.text.language_check import FLOOR, SPACE, misfit, trigrams

FILE = Path(__file__).parent.parent / "src/allyouneed/text/letters.txt"
OTHERS = ["cs", "de", "es", "fr", "it", "nl", "pl", "pt", "ro", "ru", "sv", "tr", "uk", "vi"]
KINDS = ["tatoeba", "msdocs", "msdocs-business", "appstrings", "osguide", "pawsx"]
MOST = 400_000  # trigrams of a kind of text
KEPT = 1500  # trigrams of a language
STEP = 0.5  # nats; log-probabilities are rounded to multiples
HELD_OUT = 1000  # lines of a language's Tatoeba


def main() -> None:
    """Writes the file and prints the figures."""
    data = Path(sys.argv[1])
    if "--measure" not in sys.argv:
        write(data)
    measure(data)


def write(data: Path) -> None:
    """Counts the corpora and writes the file."""
    counts: dict[str, Counter[str]] = {code: Counter() for code in (*OTHERS, "en")}
    for code in OTHERS:
        for kind in KINDS:
            pairs = pairs_of(data, code, kind)[HELD_OUT if kind == "tatoeba" else 0 :]
            counts[code] += counted(other for _, other in pairs)
            if code in ("de", "fr"):
                counts["en"] += counted(english for english, _ in pairs)
    lines = []
    for code, count in sorted(counts.items()):
        levels: dict[float, list[str]] = {}
        for trigram, number in count.most_common(KEPT):
            log_p = math.log(number / count.total())
            levels.setdefault(max(FLOOR, round(log_p / STEP) * STEP), []).append(trigram)
        for level, found in levels.items():
            lines.append(f"{code}\t{level:g}\t{''.join(sorted(found)).replace(' ', SPACE)}\n")
    FILE.write_text("".join(lines), "utf-8")


def counted(texts: Iterable[str]) -> Counter[str]:
    """The trigrams of the first texts, `MOST` of them."""
    found: Counter[str] = Counter()
    number = 0
    for text in texts:
        some = trigrams(text)
        found.update(some)
        number += len(some)
        if number > MOST:
            break
    return found


def pairs_of(data: Path, code: str, kind: str) -> list[tuple[str, str]]:
    """The pairs (English, other) of a corpus in an order from a seed; none where it is missing."""
    file = data / f"parallel/en-{code}.{kind}.tsv.gz"
    if (code, kind) == ("de", "tatoeba"):
        file = data / "tatoeba/train.en-de.tsv.gz"
    pairs = read(file) if file.is_file() else []
    random.Random(0).shuffle(pairs)
    return pairs


def read(file: Path) -> list[tuple[str, str]]:
    """The pairs of a file."""
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        cells = [line.rstrip("\n").split("\t") for line in lines]
    return [(one[0], one[1]) for one in cells if len(one) > 1]


def measure(data: Path) -> None:
    """Prints the shares of lines that the check tells, per language that is asked for."""
    sets: dict[tuple[str, str], list[str]] = {}
    for code in OTHERS:
        sets[code, "tatoeba"] = [b for _, b in pairs_of(data, code, "tatoeba")[:HELD_OUT]]
        docs = data / f"heldout/msdocs/heldout.en-{code}.tsv.gz"
        sets[code, "docs"] = [b for _, b in read(docs)] if docs.is_file() else []
    sets["de", "tatoeba"] = [b for _, b in read(data / "tatoeba/valid.en-de.tsv.gz")]
    sets["en", "tatoeba"] = [a for a, _ in read(data / "tatoeba/valid.en-de.tsv.gz")]
    sets["en", "docs"] = [a for a, _ in read(data / "heldout/msdocs/heldout.en-de.tsv.gz")]
    for file in sorted((data / "heldout/pud").glob("??.txt.gz")):
        with gzip.open(file, "rt", encoding="utf-8") as lines:
            sets[file.name[:2], "pud"] = [line.rstrip("\n") for line in lines]
    for (code, kind), texts in sorted(sets.items()):
        if not texts:
            continue
        shares = [f"as {code} {share_told(texts, code):.2%}"]
        shares += [f"as {one} {share_told(texts, one):.1%}" for one in ("en", "de") if one != code]
        print(f"{code} {kind} ({len(texts):,} lines): {', '.join(shares)}")


def share_told(texts: list[str], language: str) -> float:
    """The share of texts that are said not to be in a language."""
    return sum(misfit(text, language) is not None for text in texts) / len(texts)


if __name__ == "__main__":
    main()

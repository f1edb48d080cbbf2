"""Makes short.en-de.tsv and short.de-en.tsv: words, numbers, phrases that stand by themselves.

Tatoeba has sentences, hardly a word alone, so a model that learns from it alone answers "Monday"
with a sentence. The pairs are written by hand (words.tsv, phrases.tsv), found in Tatoeba's training
pairs (words that are each other's likeliest translation by IBM Model 1, both ways), or made from a
seed (numbers, dates and addresses, which stay what they are; decimals and thousands change sides).
From German every text has one translation too, the first: "apple" for "Apfel", not "Apple".

    python tools/short_pairs.py ../shared/data/tatoeba/train.en-de.tsv.gz
"""

import gzip
import random
import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from allyouneed.engine.lexical_translation import learn_lexical_translation

HERE = Path(__file__).parent
RECIPES = HERE.parent / "src/allyouneed/recipes"
WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
SURE = 0.4  # both ways, of a pair of words
SEEN = 6  # times, each of them

NAMES = """
    Anna Maria Peter Paul Thomas Michael Julia Laura Sophie Emma Lukas Felix Max David Daniel Sarah
    Berlin Hamburg Paris London Madrid Smith Müller Johnson Schmidt Brown Google Microsoft Python
    Linux Windows Wikipedia Tatoeba BMW IBM USB PDF WLAN CD DVD NATO UNO HTML JSON
"""


def main() -> None:
    """Writes the files and says how many pairs of each kind they hold."""
    corpus = read(Path(sys.argv[1]))
    generator = random.Random(1)
    kinds = {
        "written by hand": list(by_hand()),
        "found": [pair for word in found(corpus) for pair in standing_alone(*word)],
        "made": list(made(generator)),
        "without their full stop": without_full_stop(corpus, 2000, generator),
    }
    pairs: dict[str, str] = {}
    for kind, new in kinds.items():
        before = len(pairs)
        for source, target in new:
            pairs.setdefault(source, target)  # what is written by hand comes first, and stays
        print(f"{kind}: {len(pairs) - before:,}")
    write("short.en-de.tsv", pairs)
    back: dict[str, str] = {}
    for english, german in pairs.items():
        back.setdefault(german, english)
    write("short.de-en.tsv", back)


def write(name: str, pairs: Mapping[str, str]) -> None:
    """One of the two files."""
    text = "".join(f"{source}\t{target}\n" for source, target in pairs.items())
    (RECIPES / name).write_text(text, encoding="utf-8")
    print(f"{name}: {len(pairs):,} pairs, {len(text.encode()):,} bytes")


def read(path: Path) -> list[tuple[str, str]]:
    """The pairs of a TSV file, gzipped or not."""
    unpacked = gzip.open if path.suffix == ".gz" else open
    with unpacked(path, "rt", encoding="utf-8") as file:
        rows = (line.rstrip("\n").split("\t") for line in file)
        return [(row[0], row[1]) for row in rows]


def by_hand() -> Iterator[tuple[str, str]]:
    """Phrases as they are, words in all their forms, and names, which stay what they are."""
    yield from read(HERE / "phrases.tsv")
    for source, target in read(HERE / "words.tsv"):
        yield from standing_alone(source, target)
    for name in NAMES.split():
        yield name, name


def standing_alone(source: str, target: str) -> Iterator[tuple[str, str]]:
    """A word as it is, with a capital, and as a sentence."""
    yield source, target
    above = target if source[0].isupper() else target[0].upper() + target[1:]
    yield source[0].upper() + source[1:], above
    yield source[0].upper() + source[1:] + ".", target[0].upper() + target[1:] + "."


def found(corpus: Sequence[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Words that are each other's likeliest translation; German ones as they stand in the middle of
    a sentence, English ones in small letters unless they are hardly ever written so."""
    inner = Counter(word for _, target in corpus for word in WORD.findall(target)[1:])
    english = Counter(word for source, _ in corpus for word in WORD.findall(source)[1:])
    rows = [
        (
            [word.lower() for word in WORD.findall(source)],
            [in_the_middle(word, n, inner) for n, word in enumerate(WORD.findall(target))],
        )
        for source, target in corpus
    ]
    counts = [Counter(word for row in rows for word in row[side]) for side in (0, 1)]
    names = [(side, word) for side in (0, 1) for word, n in counts[side].items() if n >= SEEN]
    number = {name: n for n, name in enumerate(names)}
    pairs = [
        tuple(
            [number[side, word] for word in row[side] if (side, word) in number] for side in (0, 1)
        )
        for row in rows
    ]
    forth = best(pairs, len(names))
    back = best([(target, source) for source, target in pairs], len(names))
    for source, (target, sure) in forth.items():
        other, also_sure = back.get(target, (-1, 0.0))
        if other == source and min(sure, also_sure) >= SURE:
            word = names[source][1]
            small = english[word] >= english[word[0].upper() + word[1:]]
            yield (word if small else word[0].upper() + word[1:]), names[target][1]


def in_the_middle(word: str, place: int, inner: Counter[str]) -> str:
    """A word as it would be written if it did not begin its sentence."""
    small = word[0].lower() + word[1:]
    return small if place == 0 and inner[small] > inner[word] else word


def best(pairs: Sequence[tuple[list[int], ...]], vocabulary: int) -> dict[int, tuple[int, float]]:
    """For each word its likeliest translation, and how likely it is."""
    learned = learn_lexical_translation(
        [(pair[0], pair[1]) for pair in pairs], vocabulary, rounds=8
    )
    first = learned.ranks_K == 0
    return {
        int(source): (int(target), float(sure))
        for source, target, sure in zip(
            learned.sources_K[first],
            learned.targets_K[first],
            learned.probabilities_K[first],
            strict=True,
        )
        if source < vocabulary  # the null word is none
    }


def made(generator: random.Random) -> Iterator[tuple[str, str]]:
    """Numbers, times, dates, addresses."""
    for number in range(101):
        yield str(number), str(number)
    many = (generator.randrange(10**digits) for digits in range(2, 8) for _ in range(80))
    for number in many:
        end = generator.choice(("", "", ".", "%"))
        yield f"{number}{end}", f"{number}{' %' if end == '%' else end}"
    for _ in range(150):
        whole, part = (
            generator.randrange(1000),
            f"{generator.randrange(1000):03}"[: generator.randint(1, 3)],
        )
        yield f"{whole}.{part}", f"{whole},{part}"
        thousands = generator.randrange(1000, 10**7)
        yield f"{thousands:,}", f"{thousands:,}".replace(",", ".")
        year, month, day = (
            generator.randrange(1800, 2040),
            generator.randint(1, 12),
            generator.randint(1, 28),
        )
        clock = f"{generator.randrange(24)}:{generator.randrange(60):02}"
        word = generator.choice(
            ("example", "news", "my-shop", "open", "data", "university", "photos")
        )
        ending = generator.choice(("com", "org", "de", "net", "eu"))
        for kept in (
            f"{year}-{month:02}-{day:02}",
            clock,
            str(year),
            f"{generator.randrange(10)} + {generator.randrange(10)}",
            f"www.{word}.{ending}",
            f"https://{word}.{ending}/{generator.choice(('', 'index.html', 'a', 'en/2024'))}",
            f"{generator.choice(NAMES.split()).lower()}@{word}.{ending}",
            "".join(
                generator.choices("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", k=generator.randint(2, 6))
            ),
        ):
            yield kept, kept


def without_full_stop(
    corpus: Sequence[tuple[str, str]], count: int, generator: random.Random
) -> list[tuple[str, str]]:
    """Short sentences whose full stop was forgotten."""
    short = [
        (source[:-1], target[:-1])
        for source, target in corpus
        if source[-1:] == target[-1:] == "." and len(source.split()) <= 6
    ]
    return generator.sample(short, count)


if __name__ == "__main__":
    main()

"""Makes short.en-XX.tsv of a language: words, numbers, phrases that stand alone.

Tatoeba has sentences, hardly a word alone, so a model that learns from it alone answers "Monday"
with a sentence. The pairs are written by hand (words.tsv and phrases.tsv are the German ones),
found in Tatoeba's training pairs (words that are each other's likeliest translation by IBM Model 1,
both ways), or made from a seed (numbers, dates and addresses, which mostly stay what they are;
decimals, thousands and times get the signs of the language). German has short.de-en.tsv too, where
every text has one translation, the first: "apple" for "Apfel", not "Apple". Recipes read the files
of the other languages in both directions. Pairs of valid.en-XX.tsv are left out. Without a corpus
(Italian and Portuguese have none) the pairs are those written by hand and made.

    python tools/short_pairs.py de ../shared/data/tatoeba/train.en-de.tsv.gz
    python tools/short_pairs.py fr ../shared/data/parallel/en-fr.tatoeba.tsv.gz
"""

import gzip
import random
import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from allyouneed.engine.lexical_translation import learn_lexical_translation

HERE = Path(__file__).parent
RECIPES = HERE.parent / "src/allyouneed/recipes"
WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
ELIDED = re.compile(  # "l'ami" is two words
    r"[Aa]ujourd['’]hui|[Qq]uelqu['’]une?|[^\W\d_]+(?:-[^\W\d_]+)*"
)
SURE = 0.4  # both ways, of a pair of words
SEEN = 6  # times, each of them

NAMES = """
    Anna Maria Peter Paul Thomas Michael Julia Laura Sophie Emma Lukas Felix Max David Daniel Sarah
    Berlin Hamburg Paris London Madrid Smith Müller Johnson Schmidt Brown Google Microsoft Python
    Linux Windows Wikipedia Tatoeba BMW IBM USB PDF WLAN CD DVD NATO UNO HTML JSON
"""


@dataclass(frozen=True)
class Language:
    """What the short texts of a language have of their own."""

    phrases: str
    words: str
    word: re.Pattern[str] = WORD
    thousands: str = "."
    percent: str = " %"
    clock: str = ":"
    capital_nouns: bool = False
    way_back: bool = False  # a file of its own leads back to English


LANGUAGES = {
    "de": Language("phrases.tsv", "words.tsv", capital_nouns=True, way_back=True),
    "fr": Language("phrases.en-fr.tsv", "words.en-fr.tsv", word=ELIDED, thousands=" ", clock=" h "),
    "es": Language("phrases.en-es.tsv", "words.en-es.tsv", percent="%"),
    "nl": Language("phrases.en-nl.tsv", "words.en-nl.tsv", percent="%"),
    "sv": Language("phrases.en-sv.tsv", "words.en-sv.tsv", thousands=" "),
    "pl": Language("phrases.en-pl.tsv", "words.en-pl.tsv", thousands=" ", percent="%"),
    "tr": Language("phrases.en-tr.tsv", "words.en-tr.tsv", clock="."),
    "it": Language("phrases.en-it.tsv", "words.en-it.tsv", percent="%"),
    "pt": Language("phrases.en-pt.tsv", "words.en-pt.tsv", percent="%", clock="h"),
}


def main() -> None:
    """Writes the files and says how many pairs of each kind they hold."""
    code, *paths = sys.argv[1:]
    language = LANGUAGES[code]
    corpus = without_held_out([pair for path in paths for pair in read(Path(path))], code)
    generator = random.Random(1)
    kinds = {
        "written by hand": list(by_hand(language)),
        "found": [pair for word in found(corpus, language) for pair in standing_alone(*word)],
        "made": list(made(generator, language)),
        "without their full stop": without_full_stop(corpus, 2000, generator),
    }
    pairs: dict[str, str] = {}
    for kind, new in kinds.items():
        before = len(pairs)
        for source, target in new:
            pairs.setdefault(source, target)  # what is written by hand comes first, and stays
        print(f"{kind}: {len(pairs) - before:,}")
    write(f"short.en-{code}.tsv", pairs)
    if language.way_back:
        back: dict[str, str] = {}
        for english, other in pairs.items():
            back.setdefault(other, english)
        write(f"short.{code}-en.tsv", back)


def write(name: str, pairs: Mapping[str, str]) -> None:
    """One of the files."""
    text = "".join(f"{source}\t{target}\n" for source, target in pairs.items())
    (RECIPES / name).write_text(text, encoding="utf-8")
    print(f"{name}: {len(pairs):,} pairs, {len(text.encode()):,} bytes")


def read(path: Path) -> list[tuple[str, str]]:
    """The pairs of a TSV file, gzipped or not."""
    unpacked = gzip.open if path.suffix == ".gz" else open
    with unpacked(path, "rt", encoding="utf-8") as file:
        rows = (line.rstrip("\n").split("\t") for line in file)
        return [(row[0], row[1]) for row in rows]


def without_held_out(corpus: Sequence[tuple[str, str]], code: str) -> list[tuple[str, str]]:
    """The pairs that share no text with the validation set of the recipe."""
    path = RECIPES / f"valid.en-{code}.tsv"
    held_out = {text for pair in read(path) for text in pair} if path.exists() else set()
    return [pair for pair in corpus if not held_out & set(pair)]


def by_hand(language: Language) -> Iterator[tuple[str, str]]:
    """Phrases as they are, words in all their forms, and names, which stay what they are."""
    yield from read(HERE / language.phrases)
    for source, target in read(HERE / language.words):
        yield from standing_alone(source, target)
    for name in NAMES.split():
        yield name, name


def standing_alone(source: str, target: str) -> Iterator[tuple[str, str]]:
    """A word as it is, with a capital, and as a sentence."""
    yield source, target
    above = target if source[0].isupper() else target[0].upper() + target[1:]
    yield source[0].upper() + source[1:], above
    yield source[0].upper() + source[1:] + ".", target[0].upper() + target[1:] + "."


def found(corpus: Sequence[tuple[str, str]], language: Language) -> Iterator[tuple[str, str]]:
    """Words that are each other's likeliest translation; English ones in small letters unless they
    are hardly ever written so, the others as they stand in the middle of a sentence."""
    if not corpus:
        return
    inner = Counter(word for _, target in corpus for word in language.word.findall(target)[1:])
    english = Counter(word for source, _ in corpus for word in WORD.findall(source)[1:])
    rows = [
        (
            [word.lower() for word in WORD.findall(source)],
            [
                in_the_middle(word, inner, language) if n == 0 else word
                for n, word in enumerate(language.word.findall(target))
            ],
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


def in_the_middle(word: str, inner: Counter[str], language: Language) -> str:
    """A sentence's first word as it would be written further on."""
    small = word[0].lower() + word[1:]
    unseen = inner[small] == inner[word] and not language.capital_nouns
    return small if unseen or inner[small] > inner[word] else word


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


def made(generator: random.Random, language: Language) -> Iterator[tuple[str, str]]:
    """Numbers, times, dates, addresses."""
    for number in range(101):
        yield str(number), str(number)
    many = (generator.randrange(10**digits) for digits in range(2, 8) for _ in range(80))
    for number in many:
        end = generator.choice(("", "", ".", "%"))
        yield f"{number}{end}", f"{number}{language.percent if end == '%' else end}"
    for _ in range(150):
        whole, part = (
            generator.randrange(1000),
            f"{generator.randrange(1000):03}"[: generator.randint(1, 3)],
        )
        yield f"{whole}.{part}", f"{whole},{part}"
        thousands = generator.randrange(1000, 10**7)
        yield f"{thousands:,}", f"{thousands:,}".replace(",", language.thousands)
        year, month, day = (
            generator.randrange(1800, 2040),
            generator.randint(1, 12),
            generator.randint(1, 28),
        )
        clock = f"{generator.randrange(24)}:{generator.randrange(60):02}"
        date = f"{year}-{month:02}-{day:02}"
        yield date, date
        yield clock, clock.replace(":", language.clock)
        word = generator.choice(
            ("example", "news", "my-shop", "open", "data", "university", "photos")
        )
        ending = generator.choice(("com", "org", "de", "net", "eu"))
        for kept in (
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
    return generator.sample(short, min(count, len(short)))


if __name__ == "__main__":
    main()

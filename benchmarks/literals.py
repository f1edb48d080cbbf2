"""How many addresses, placeholders and numbers come through a translation to the letter.

Spans of four kinds are put into everyday English sentences at random places: URLs, e-mail
addresses, placeholders and numbers of two to five digits. For each kind the share that stands in
the translation to the letter, with `protect` (the default) and without.

    python benchmarks/literals.py [--sentences 1000] [--model en-de]

Needs $ALLYOUNEED_DATA, or ../shared/data. Takes half a minute.
"""

import argparse
import gzip
import random
import re
import string
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from allyouneed import load
from allyouneed.data.root import data_root
from allyouneed.translation.translator import Translator

FILE = Path("tatoeba", "valid.en-de.tsv.gz")
KINDS = ("URL", "e-mail", "placeholder", "number")
LETTERS = string.ascii_letters + string.digits  # of which sites make their names of pages
PLACEHOLDERS = ("{name}", "%s", "${x}", "{count}", "%1$s", "{{ value }}", "%(user)s", "%d")


def main() -> None:
    """Prints a line for each kind."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--sentences", type=int, default=1000, help="how many (1000)")
    parser.add_argument("--model", default="en-de", help="name or folder (en-de)")
    arguments = parser.parse_args()
    root = data_root()
    if root is None or not (root / FILE).is_file():
        sys.exit("set ALLYOUNEED_DATA to the folder that holds tatoeba/valid.en-de.tsv.gz")
    translator = load(arguments.model, kind=Translator)
    sentences = everyday(root / FILE)
    print("kind\tsentences\tprotected\tnot protected")
    for kind in KINDS:
        asked = list(with_spans(sentences, kind, arguments.sentences))
        protected, free = (share(translator, asked, protect) for protect in (True, False))
        print(f"{kind}\t{len(asked)}\t{protected:.1%}\t{free:.1%}", flush=True)


def everyday(file: Path) -> list[str]:
    """The English sentences of a corpus."""
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        return [line.split("\t")[0] for line in lines]


def with_spans(
    sentences: Sequence[str], kind: str, count: int, seed: int = 7
) -> Iterator[tuple[str, str]]:
    """Sentences with a span of this kind put in before one of their words, and the span."""
    rng = random.Random(f"{kind} {seed}")
    for n, sentence in enumerate(rng.sample(sentences, min(count, len(sentences)))):
        page = "".join(rng.choices(LETTERS, k=11))
        span = {
            "URL": f"https://www.example.org/{n}/watch?v={page}&l=en",
            "e-mail": f"user.{n}@mail{n % 7}.example.com",
            "placeholder": rng.choice(PLACEHOLDERS),
            "number": str(rng.randint(10, 10 ** rng.randint(2, 5) - 1)),
        }[kind]
        words = sentence.split()
        words.insert(rng.randrange(len(words)), span)
        yield " ".join(words), span


def share(translator: Translator, asked: Sequence[tuple[str, str]], protect: bool) -> float:
    """The share of spans that stand in the translations, apart from other letters and digits."""
    found = translator([sentence for sentence, _ in asked], protect=protect)
    return sum(
        re.search(rf"(?<!\w){re.escape(span)}(?!\w)", one.text) is not None
        for one, (_, span) in zip(found, asked, strict=True)
    ) / len(asked)


if __name__ == "__main__":
    main()

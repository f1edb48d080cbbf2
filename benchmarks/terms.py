"""How many prescribed terms a translation uses, what that does to BLEU, and what it costs in time.

Terms are drawn from the references of held-out sentences. A word aligner links the words of sources
and references. A pair of words may become a term if the two are linked to each other alone, here
and at least three times in the corpus. One or two are drawn from a sentence, by a seed. The IATE
set (Dinu et al. 2019) brings its own terms. Every sentence is translated with its terms and
without, in turns, with a beam of 4.

For each set: the share of terms used (whole words; a form in small letters may begin with a
capital), the share that is there without being prescribed, the BLEU with and without, and the time
with terms over that without.

    python benchmarks/terms.py [--sentences 1000] [--sets tatoeba,msdocs,iate] [--model en-de]

Needs $ALLYOUNEED_DATA, or ../shared/data. Takes about five minutes on one core.
"""

import argparse
import gzip
import json
import random
import re
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from statistics import median

from allyouneed import load
from allyouneed.data.alignment.aligner import Aligner
from allyouneed.data.root import data_root
from allyouneed.decoding.options import BeamOptions
from allyouneed.evaluation.metrics import bleu
from allyouneed.translation.job import Job
from allyouneed.translation.request import TranslationRequest
from allyouneed.translation.result import Translation
from allyouneed.translation.terms.glossary import Glossary
from allyouneed.translation.terms.use import uses
from allyouneed.translation.translator import Translator

SETS = {
    "tatoeba": ("tatoeba/valid.en-de.tsv.gz", "tatoeba/train.en-de.tsv.gz"),
    "msdocs": (
        "heldout/msdocs/heldout.en-de.tsv.gz",
        "parallel/en-de.msdocs-business.tsv.gz",
    ),
    "iate": ("terms/iate.en-de.tsv.gz", ""),
}
LEARNT_FROM = 30_000  # pairs, beside those of the set
LONGEST = 60  # words of a sentence that is taken
OFTEN = 3  # links of two words that make them a term
_WORD = re.compile(r"\w+|[^\w\s]")


@dataclass(frozen=True, slots=True)
class Asked:
    """A sentence, its reference, and the terms to use."""

    source: str
    reference: str
    terms: dict[str, str]


def main() -> None:
    """Prints a line for each set, and writes it as JSON where that is asked for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--sentences", type=int, default=1000, help="of each set (1000)")
    parser.add_argument("--sets", default=",".join(SETS), help=f"of {', '.join(SETS)}")
    parser.add_argument("--model", default="en-de", help="name or folder (en-de)")
    parser.add_argument("--rounds", type=int, default=3, help="for the times (3)")
    parser.add_argument("--output", type=Path, help="a file for the figures, as JSON")
    arguments = parser.parse_args()
    root = data_root()
    if root is None:
        sys.exit("set ALLYOUNEED_DATA to the folder that holds tatoeba/valid.en-de.tsv.gz")
    translator = load(arguments.model, kind=Translator)
    results = []
    print("set\tsentences\tterms\tused\tused if not asked for\tBLEU\tBLEU without\ttime")
    for name in arguments.sets.split(","):
        asked = list(islice(sentences(root, name), arguments.sentences))
        result = {"set": name, **measured(translator, asked, arguments.rounds)}
        results.append(result)
        print(
            f"{name}\t{result['sentences']}\t{result['terms']}\t{result['used']:.1%}\t"
            f"{result['used_without']:.1%}\t{result['bleu']:.2f}\t{result['bleu_without']:.2f}\t"
            f"x {result['time']:.2f}",
            flush=True,
        )
    if arguments.output:
        arguments.output.write_text(json.dumps(results, indent=2) + "\n", encoding="utf-8")


def sentences(root: Path, name: str) -> Iterator[Asked]:
    """The sentences of a set that have terms."""
    held_out, corpus = SETS[name]
    pairs = list(read(root / held_out))
    if not corpus:
        for source, reference, terms in pairs:
            pairs_of_words = (term.split("=") for term in terms.split("|"))
            yield Asked(source, reference, {one.strip(): other for one, other in pairs_of_words})
        return
    taught = [*pairs, *islice(read(root / corpus), LEARNT_FROM)]
    yield from drawn([(row[0], row[1]) for row in taught], len(pairs))


def read(path: Path) -> Iterator[list[str]]:
    """The columns of a file's lines."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            yield line.rstrip("\n").split("\t")


def drawn(pairs: Sequence[tuple[str, str]], held_out: int, seed: int = 7) -> Iterator[Asked]:
    """The first pairs, `held_out` of them, that have terms, each with one or two."""
    words = [(_WORD.findall(one), _WORD.findall(other)) for one, other in pairs]
    links = list(Aligner.learn(words).align(words))
    often: Counter[tuple[str, str]] = Counter()
    for (one, other), own in zip(words, links, strict=True):
        often.update((one[i].casefold(), other[j].casefold()) for i, j in own)
    rng = random.Random(seed)
    for (source, reference), (one, other), own in zip(
        pairs[:held_out], words[:held_out], links[:held_out], strict=True
    ):
        alone = [
            (one[i], other[j])
            for i, j in own
            if sum(i == a or j == b for a, b in own) == 1
            and min(len(one[i]), len(other[j])) >= 4
            and one[i].isalpha()
            and other[j].isalpha()
            and one.count(one[i]) == 1
            and often[one[i].casefold(), other[j].casefold()] >= OFTEN
        ]
        if alone and len(one) <= LONGEST:
            yield Asked(
                source, reference, dict(rng.sample(alone, min(len(alone), rng.randint(1, 2))))
            )


def measured(translator: Translator, asked: Sequence[Asked], rounds: int) -> dict[str, float]:
    """The figures of a set."""
    glossaries = [Glossary.of(one.terms) for one in asked]
    jobs = [job(translator, asked, glossaries), job(translator, asked, [None] * len(asked))]
    found: list[list[Translation]] = []
    seconds: list[list[float]] = [[], []]
    for turn in range(rounds):
        for which, one in enumerate(jobs):
            began = time.perf_counter()
            searched = translator.search(one)
            seconds[which].append(time.perf_counter() - began)
            if not turn:
                found.append(one.translations(searched, translator.segmenter))
    references = [one.reference for one in asked]
    ratio = median(a / b for a, b in zip(*seconds, strict=True))
    with_terms, without = found
    counts = [used(translator, asked, glossaries, some) for some in found]
    return {
        "sentences": len(asked),
        "terms": counts[0][1],
        "used": counts[0][0] / counts[0][1],
        "used_without": counts[1][0] / counts[1][1],
        "bleu": bleu([one.text for one in with_terms], references).score,
        "bleu_without": bleu([one.text for one in without], references).score,
        "time": ratio,
    }


def job(
    translator: Translator, asked: Sequence[Asked], glossaries: Sequence[Glossary | None]
) -> Job:
    """All sentences as one job, each with a glossary of its own."""
    direction = translator.speaks.direction(None, None)
    jobs = [
        Job.of(
            [one.source],
            TranslationRequest(BeamOptions(), direction=direction, terms=glossary),
            translator.segmenter,
        )
        for one, glossary in zip(asked, glossaries, strict=True)
    ]
    return Job(
        jobs[0].request,
        [text for one in jobs for text in one.texts],
        [cut for one in jobs for cut in one.cuts],
        [segment for one in jobs for segment in one.segments],
        [ids for one in jobs for ids in one.ids],
        None,
    )


def used(
    translator: Translator,
    asked: Sequence[Asked],
    glossaries: Sequence[Glossary],
    translations: Sequence[Translation],
) -> tuple[int, int]:
    """How many terms stand in the translations, and how many there are."""
    normaliser = translator.segmenter.normaliser
    total = there = 0
    for one, glossary, translation in zip(asked, glossaries, translations, strict=True):
        terms = glossary.find(normaliser.plain(one.source).text, normaliser)
        spans = [(term.begin, term.end) for term in terms]
        total += len(terms)
        there += sum(use.used for use in uses(terms, spans, translation.text, normaliser))
    return there, total


if __name__ == "__main__":
    main()

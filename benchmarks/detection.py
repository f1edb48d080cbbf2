"""How often the service's detector names a wrong language, beside py3langid and langdetect.

Three sets: sentences, most of them of Tatoeba; single words of the recipes' short texts; and the
texts that users of LibreTranslate reported because their language was not seen. The languages are
those of the bundled models. Of each language up to 300 texts are drawn, by a seed. A word that
stands in the lists of several languages may be told as any of them. The models learnt from these
lists, so the detector with the models knows most of the words.

The columns: the detector by letters alone, as `Detector.rank`; with the models' help, as the
service answers; py3langid and langdetect as they come, and restricted to the same languages.

    python benchmarks/detection.py [--texts 300] [--output FILE]

Needs $ALLYOUNEED_DATA, or ../shared/data; the extra `detect`; langdetect, if that is to be
measured. Takes half a minute, two minutes with langdetect.
"""

import argparse
import asyncio
import gzip
import json
import random
import re
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from allyouneed.data.root import data_root
from allyouneed.serving.crew import Crew
from allyouneed.serving.desk import Desk
from allyouneed.serving.detection import Detector
from allyouneed.serving.metrics import Metrics
from allyouneed.serving.queue import Queue
from allyouneed.serving.settings import Settings
from allyouneed.serving.shelf import open_shelf
from allyouneed.serving.visit import Visit

LANGUAGES = ("de", "en", "es", "fr", "it", "nl", "pt", "sv")
SENTENCES = {  # the file of each language, below the data's folder or the recipes', and its column
    "de": ("tatoeba/valid.en-de.tsv.gz", 1),
    "en": ("tatoeba/valid.en-de.tsv.gz", 0),
    "es": ("parallel/en-es.tatoeba.tsv.gz", 1),
    "fr": ("parallel/en-fr.tatoeba.tsv.gz", 1),
    "it": ("valid.en-it.tsv", 1),
    "nl": ("parallel/en-nl.tatoeba.tsv.gz", 1),
    "pt": ("valid.en-pt.tsv", 1),
    "sv": ("parallel/en-sv.tatoeba.tsv.gz", 1),
}
THREADS = {  # texts of LibreTranslate's threads 247, 395, 396, 508, 779 and 902
    "hello handsome": "en",
    "hello handsome man": "en",
    "La tua password non è corretta": "it",
    "Tout philosophe a deux philosophies : la sienne et celle de Spinoza.": "fr",
    "Pfannkuchen": "de",
    "Ciao, mi chiamo Carlo e ho 18 anni.": "it",
    "Dopo aver incontrato il mio amico Marco prendo alle 7:40 l'autobus che mi porta a scuola.": (
        "it"
    ),
    "Je m’appelle Jessica. Je suis une fille, je suis française et j’ai treize ans.": "fr",
}
RECIPES = Path(str(files("allyouneed"))) / "recipes"
PATIENCE = 600.0  # seconds that the models may take for all texts
_WORD = re.compile(r"([^\W\d_]{2,})[.!?]?")

Texts = Mapping[str, frozenset[str]]  # the languages that each text may be told as
Detect = Callable[[Sequence[str]], list[str]]  # the codes of the languages of texts


def main() -> None:
    """Prints a line for each set and language, and writes them as JSON where that is asked for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--texts", type=int, default=300, help="of each language and set (300)")
    parser.add_argument("--output", type=Path, help="a file for the figures, as JSON")
    arguments = parser.parse_args()
    root = data_root()
    if root is None:
        sys.exit("set ALLYOUNEED_DATA to the folder that holds tatoeba/valid.en-de.tsv.gz")
    sets = {
        "sentences": sentences(root, arguments.texts),
        "words": words(arguments.texts),
        "threads": {text: frozenset({code}) for text, code in THREADS.items()},
    }
    with detectors() as named:
        rows = [row for name, texts in sets.items() for row in measured(name, texts, named)]
        print("set\tlanguage\ttexts\t" + "\t".join(named))
    for row in rows:
        wrong = "\t".join(f"{row['wrong'][one] / row['texts']:.1%}" for one in row["wrong"])
        print(f"{row['set']}\t{row['language']}\t{row['texts']}\t{wrong}")
    if arguments.output:
        arguments.output.write_text(json.dumps(rows, indent=2) + "\n", encoding="utf-8")


def sentences(root: Path, most: int) -> Texts:
    """Sentences of each language."""
    by_language = {}
    for code, (place, column) in SENTENCES.items():
        path = RECIPES / place if "/" not in place else root / place
        by_language[code] = sorted({row[column] for row in rows(path)})
    return drawn(by_language, most)


def words(most: int) -> Texts:
    """Single words of each language: English ones from all lists."""
    by_language: dict[str, set[str]] = {code: set() for code in LANGUAGES}
    for code in LANGUAGES:
        if code != "en":
            for row in rows(RECIPES / f"short.en-{code}.tsv"):
                for found, language in zip(row, ("en", code), strict=True):
                    if word := _WORD.fullmatch(found):
                        by_language[language].add(word[1])
    return drawn({code: sorted(found) for code, found in by_language.items()}, most)


def rows(path: Path) -> Iterator[list[str]]:
    """The cells of a file's lines."""
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            yield line.rstrip("\n").split("\t")


def drawn(by_language: Mapping[str, Sequence[str]], most: int, seed: int = 7) -> Texts:
    """Up to `most` texts of each language, and the languages that have each of them."""
    known = {code: {text.casefold() for text in texts} for code, texts in by_language.items()}
    rng = random.Random(seed)
    found = [
        text for texts in by_language.values() for text in rng.sample(texts, min(most, len(texts)))
    ]
    return {
        text: frozenset(code for code in known if text.casefold() in known[code]) for text in found
    }


@contextmanager
def detectors() -> Iterator[dict[str, Detect]]:
    """The detectors by their names. One that is not installed is left out, and named."""
    settings = Settings(deadline=PATIENCE)
    shelf = open_shelf(settings.model)
    queue = Queue()
    metrics = Metrics(queue)
    crew = Crew(queue, 1, metrics.on_batch)
    desk = Desk(settings, shelf, queue, Detector(shelf.sources), metrics)
    found: dict[str, Detect] = {
        "letters": lambda texts: [desk.detector.rank(text)[0].language for text in texts],
        "with models": lambda texts: asyncio.run(with_models(desk, texts)),
    }
    for name, peer in {"py3langid": py3langid, "langdetect": langdetect}.items():
        if find_spec(name) is None:
            print(f"{name} is not installed, and is left out", file=sys.stderr)
        else:
            found |= {name: peer(None), f"{name}, restricted": peer(LANGUAGES)}
    crew.start()
    try:
        yield found
    finally:
        crew.stop()


async def with_models(desk: Desk, texts: Sequence[str]) -> list[str]:
    """As the service answers."""
    desk.intake.post = None  # each call has an event loop of its own
    visit = Visit(None, "", time.monotonic() + PATIENCE)
    try:
        found = await asyncio.gather(*(desk.detect(text, visit) for text in texts))
    finally:
        visit.end()
    return [guesses[0].language for guesses in found]


def py3langid(languages: Sequence[str] | None) -> Detect:
    """The library, restricted to these languages if any are given."""
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    identifier = LanguageIdentifier.from_model_file(MODEL_FILE)
    if languages:
        identifier.set_languages([*languages])
    return lambda texts: [identifier.classify(text)[0] for text in texts]


def langdetect(languages: Sequence[str] | None) -> Detect:
    """The library, with a seed; restricted to these languages if any are given."""
    from langdetect import DetectorFactory, detector_factory
    from langdetect.lang_detect_exception import LangDetectException

    DetectorFactory.seed = 0
    detector_factory.init_factory()

    def detect(text: str) -> str:
        detector = detector_factory._factory.create()
        if languages:
            detector.set_prior_map(dict.fromkeys(languages, 1.0))
        detector.append(text)
        try:
            return str(detector.detect())
        except LangDetectException:  # there is no letter in the text that it knows
            return ""

    return lambda texts: [detect(text) for text in texts]


def measured(name: str, texts: Texts, named: Mapping[str, Detect]) -> list[dict[str, Any]]:
    """How many texts of a set each detector gets wrong, for each language and for all. A text that
    several languages have counts for each of them."""
    right = {
        one: [code in texts[text] for text, code in zip(texts, detect([*texts]), strict=True)]
        for one, detect in named.items()
    }
    found = []
    for language in (*LANGUAGES, "all"):
        mine = [language == "all" or language in codes for codes in texts.values()]
        if count := sum(mine):
            wrong = {
                one: sum(own and not is_right for own, is_right in zip(mine, those, strict=True))
                for one, those in right.items()
            }
            found.append({"set": name, "language": language, "texts": count, "wrong": wrong})
    return found


if __name__ == "__main__":
    main()

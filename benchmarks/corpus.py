"""Measures a corpus that does not fit into memory: the speed of tokenising it, the memory of
training on it, and the time until a run is resumed.

Makes pairs of random sentences (words of syllables with the frequencies of real words) in a folder
that is removed afterwards. Trains a tiny model on a small and on a large part of them, each run in
a process of its own. Prints

- the pairs tokenised per second, by the tokenizer library alone and by the project on the same
  text, alternating; only their ratio is meaningful;
- the peak of RssAnon (the process's own memory without mapped files) in training, in bytes for each
  additional pair of the large corpus;
- the seconds from the call to the first update of a resumed run: the median and the maximum of
  several starts.

    python benchmarks/corpus.py [--pairs 1000000] [--folder DIR] [--results DIR]

10 million pairs take about 4 GB of disk.
"""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import tokenizers

PARTS = ("small", "large")
SMALL_PAIRS = 50_000  # enough to fill all chunks that are processed at the same time
VOCABULARY = 8000
LEARNT_FROM = 50_000  # pairs
TOKENISED = 200_000  # pairs per round: enough that the start of the pipeline does not matter
ROUNDS = 5
STARTS = 5  # resumed runs from the same checkpoint
CHUNK = 8192  # pairs that are tokenised together
SHOTS_S = 0.005  # seconds between two measurements of the memory

RECIPE = """
name = "corpus"
[[data.train]]
source = "{folder}/source.{part}"
target = "{folder}/target.{part}"
[[data.valid]]
made = "copy"
pairs = 10
[data.filters]
max_tokens = 512
[vocabulary]
tokenizer = "{folder}/tokenizer.json"
[model]
preset = "tiny"
d_model = 32
heads = 2
d_ff = 32
encoder_layers = 1
decoder_layers = 1
[training]
steps = 30
batch_tokens = 512          # small: what a batch takes is not what is measured
checkpoint_every_steps = 15
validate_every_steps = 1000
average_last = 0
log_every = 1
[validation]
sentences = 0
"""


def main() -> None:
    """Makes the corpus, measures, prints the figures, and removes the corpus."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=1_000_000)
    parser.add_argument(
        "--folder", type=Path, help="where to make the corpus; by default a temporary folder"
    )
    parser.add_argument(
        "--results", type=Path, help="a folder that corpus-PAIRS.json is written to"
    )
    parser.add_argument("--run", nargs=2, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.run:
        print(json.dumps(run(Path(chosen.run[0]), chosen.run[1])))
        return
    if chosen.folder:
        chosen.folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=chosen.folder) as name:
        folder = Path(name)
        check_disk(folder, chosen.pairs)
        for part, pairs in zip(PARTS, (SMALL_PAIRS, chosen.pairs), strict=True):
            make_text(folder, part, pairs)
        figures = {"pairs": chosen.pairs, "cores": os.cpu_count(), **tokenising(folder)}
        figures |= training(folder, chosen.pairs)
    for key, value in figures.items():
        print(f"{key.replace('_', ' ')}: {value:,}")
    if chosen.results:
        chosen.results.mkdir(parents=True, exist_ok=True)
        path = chosen.results / f"corpus-{chosen.pairs}.json"
        path.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")


def check_disk(folder: Path, pairs: int) -> None:
    """Ends the program if the corpus and its store would not fit on the disk."""
    needed, free = 450 * pairs + (1 << 28), shutil.disk_usage(folder).free
    if needed > free:
        sys.exit(f"{folder} needs {needed:,} bytes of disk, and {free:,} are free; see --folder")


def make_text(folder: Path, part: str, pairs: int) -> None:
    """Writes source.PART and target.PART with about 12 words per line, drawn by Zipf's law."""
    rng = np.random.default_rng(0)
    syllables = [c + v for c in "bdfgklmnprstvz" for v in "aeiou"]
    words = ["".join(rng.choice(syllables, rng.integers(1, 5))) for _ in range(30_000)]
    chances = np.cumsum(1 / np.arange(1, len(words) + 1))
    with (folder / f"source.{part}").open("w") as one, (folder / f"target.{part}").open("w") as two:
        for first in range(0, pairs, CHUNK):
            rows = min(CHUNK, pairs - first)
            source = np.clip(rng.lognormal(2.4, 0.4, rows), 3, 60).astype(int)
            target = np.clip(source * rng.lognormal(0, 0.15, rows), 3, 60).astype(int)
            for file, lengths in ((one, source), (two, target)):
                drawn = np.searchsorted(chances, rng.random(lengths.sum()) * chances[-1])
                text = [words[n] for n in drawn]
                ends = np.cumsum(lengths).tolist()
                lines = zip([0, *ends], ends, strict=False)
                file.writelines(" ".join(text[a:b]) + "\n" for a, b in lines)


def tokenising(folder: Path) -> dict[str, Any]:
    """Pairs per second of the library alone (including its lists of ids) and of writing a store."""
    from allyouneed.data.corpus import Corpus
    from allyouneed.data.filters import Filters
    from allyouneed.data.store import build_store
    from allyouneed.text.tokenizer import Tokenizer

    texts = [pair for _, pair in zip(range(TOKENISED), lines(folder, "large"), strict=False)]
    learnt_from = (side for pair in texts[:LEARNT_FROM] for side in pair)
    tokenizer = Tokenizer.train(learnt_from, VOCABULARY)
    tokenizer.save(folder / "tokenizer.json")
    library = tokenizers.Tokenizer.from_str(tokenizer.to_json())
    corpus = Corpus(folder / "source.some", folder / "target.some")
    for side in (0, 1):
        corpus.files[side].write_text("".join(pair[side] + "\n" for pair in texts))
    alone, ours, ratios = [], [], []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        for first in range(0, len(texts), CHUNK):
            chunk = texts[first : first + CHUNK]
            sides = [pair[side] for side in (0, 1) for pair in chunk]
            [encoding.ids for encoding in library.encode_batch_fast(sides)]
        alone.append(len(texts) / (time.perf_counter() - began))
        stages = [time.perf_counter()]

        def progress(
            stage: str, done: int, total: int | None, stages: list[float] = stages
        ) -> None:
            if stage == "reading":
                stages[0] = time.perf_counter()

        build_store([corpus], tokenizer, Filters(max_tokens=512), folder / "cache", progress)
        ours.append(len(texts) / (time.perf_counter() - stages[0]))
        ratios.append(ours[-1] / alone[-1])
        shutil.rmtree(folder / "cache")
    return {
        "library_pairs_a_second": round(statistics.median(alone)),
        "our_pairs_a_second": round(statistics.median(ours)),
        "ours_to_library": round(statistics.median(ratios), 3),
    }


def lines(folder: Path, part: str) -> Iterator[tuple[str, str]]:
    """The pairs of a part."""
    with (folder / f"source.{part}").open() as one, (folder / f"target.{part}").open() as two:
        for source, target in zip(one, two, strict=True):
            yield source[:-1], target[:-1]


def training(folder: Path, pairs: int) -> dict[str, Any]:
    """Memory and times of training runs on both corpora, each in a process of its own."""
    found = {}
    for part in PARTS:
        (folder / f"{part}.toml").write_text(RECIPE.format(folder=folder, part=part))
        found[part, "start"] = [apart(folder, f"{part} start")]
        checkpoints, kept = folder / f"run-{part}" / "checkpoints", folder / f"kept-{part}"
        checkpoints.rename(kept)
        found[part, "again"] = []
        for _ in range(STARTS):
            shutil.rmtree(checkpoints, ignore_errors=True)
            shutil.copytree(kept, checkpoints)
            found[part, "again"].append(apart(folder, f"{part} again"))
    more = pairs - SMALL_PAIRS
    anonymous = {key: max(one["anonymous_bytes"] for one in runs) for key, runs in found.items()}
    soon = {part: sorted(one["first_step_s"] for one in found[part, "again"]) for part in PARTS}
    return {
        "seconds_until_tokenised": found["large", "start"][0]["prepared_s"],
        **{
            f"anonymous_bytes_a_pair_{name}": round(
                (anonymous["large", what] - anonymous["small", what]) / more, 2
            )
            for name, what in (("first_start", "start"), ("started_again", "again"))
        },
        "anonymous_megabytes_small": round(anonymous["small", "start"] / 1e6),
        "anonymous_megabytes_large": round(anonymous["large", "start"] / 1e6),
        "seconds_to_the_first_step_again": statistics.median(soon["large"]),
        "seconds_to_the_first_step_again_slowest": soon["large"][-1],
        "seconds_to_the_first_step_again_small": statistics.median(soon["small"]),
    }


def apart(folder: Path, what: str) -> dict[str, Any]:
    """`run` in a process of its own."""
    command = [sys.executable, __file__, "--run", str(folder), what]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def run(folder: Path, what: str) -> dict[str, Any]:
    """Trains the first half of the recipe's steps, or resumes and trains the second half."""
    part, start = what.split()
    began = time.monotonic()
    from allyouneed.training.run import train  # its import is part of the start

    seen: dict[str, float] = {}

    def report(record: Any) -> None:
        if record["event"] == "data":
            seen.setdefault("prepared_s", round(time.monotonic() - began, 2))
        elif record["event"] == "step":
            seen.setdefault("first_step_s", round(time.monotonic() - began, 2))

    highest = Highest()
    changes = ("training.steps=15",) if start == "start" else ()
    with highest:
        train(
            folder / f"{part}.toml",
            folder / f"run-{part}",
            overrides=changes,
            resume=start == "again",
            device="cpu",
            report=report,
        )
    return {"anonymous_bytes": highest.found, **seen}


class Highest:
    """Measures the highest RssAnon of this process, in bytes, in its `with` block."""

    def __init__(self) -> None:
        self.found = 0
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch)

    def __enter__(self) -> "Highest":
        self._thread.start()
        return self

    def __exit__(self, *ended: object) -> None:
        self._over.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._over.wait(SHOTS_S):
            for line in Path("/proc/self/status").read_text().splitlines():
                if line.startswith("RssAnon:"):
                    self.found = max(self.found, 1024 * int(line.split()[1]))


if __name__ == "__main__":
    main()

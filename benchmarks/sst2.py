"""Measures the accuracy of trained encoders on SST-2's sentiment, and of a bag of words.

The bag of words is logistic regression over the one- and two-word sequences of a text, each counted
once, with an L2 penalty. Two strengths are reported: the usual one (C = 1, that is 1 / texts), and
the one that is best on the validation texts themselves, which favours the bag of words. This takes
minutes and is measured only once; later runs take the figures from the results file.

Encoders predict with the public function `allyouneed.load(folder).predict(texts)`.

    python benchmarks/sst2.py --models from-nothing=runs/sst2/model [NAME=FOLDER ...]

Needs the data in $ALLYOUNEED_DATA: sst2/train.tsv.gz and sst2/valid.tsv.gz.
"""

import argparse
import json
import time
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

import allyouneed
from allyouneed.data.labelled import LabelledCorpus, LabelledText, read_labelled
from allyouneed.data.report import DataReport
from allyouneed.data.root import resolve

RESULTS = Path(__file__).parent / "results"
USUAL = 1.0  # C of the penalty
STRENGTHS = (0.5, 1.0, 2.0, 5.0, 16.0)
UPDATES = 60  # of L-BFGS; after these the loss no longer falls


def main() -> None:
    """Measures all models, prints the figures and writes them."""
    arguments = parsed()
    torch.set_num_threads(arguments.threads)
    train, valid = (texts(part) for part in ("train", "valid"))
    path = arguments.results / "sst2.json"
    before = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    shared = {one.texts for one in train} & {one.texts for one in valid}
    document: dict[str, Any] = {
        "train_texts": len(train),
        "valid_texts": len(valid),
        "valid_texts_that_are_in_train": len(shared),
        "bag_of_words": before.get("bag_of_words") or bag_of_words(train, valid, STRENGTHS),
        "encoders": [encoder(name, folder, valid) for name, folder in arguments.models],
    }
    found = document["bag_of_words"]
    print(f"{found['usual']:.1%}  bag of words, C = {USUAL:g}")
    print(f"{found['best']:.1%}  bag of words, C = {found['best_strength']:g}, the best here")
    for one in document["encoders"]:
        print(f"{one['accuracy']:.1%}  {one['name']}: {one['parameters']:,} parameters")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")


def parsed() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", nargs="*", type=named, default=[], metavar="NAME=FOLDER")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--results", type=Path, default=RESULTS)
    return parser.parse_args()


def named(text: str) -> tuple[str, Path]:
    """Name and folder from NAME=FOLDER."""
    name, _, folder = text.partition("=")
    return name, Path(folder)


def texts(part: str) -> list[LabelledText]:
    """The labelled texts of a part."""
    path = resolve(Path(f"sst2/{part}.tsv.gz"), None)
    return list(read_labelled(LabelledCorpus(path), DataReport([str(path)])))


def encoder(name: str, folder: Path, valid: Sequence[LabelledText]) -> dict[str, Any]:
    """The accuracy of a model folder, and facts about its training."""
    model = allyouneed.load(folder)
    found = model.predict([one.texts[0] for one in valid])
    right = sum(a.label == b.label for a, b in zip(found, valid, strict=True))
    facts = json.loads((folder / "training.json").read_text(encoding="utf-8"))
    recipe = facts["recipe"]
    return {
        "name": name,
        "accuracy": right / len(valid),
        **{key: facts[key] for key in ("parameters", "steps", "epochs", "minutes", "weights")},
        "command": facts["command"],
        "model": recipe["model"],
        "started_from": "an encoder" if recipe["training"].get("init") else "nothing",
    }


# The bag of words


def grams(text: LabelledText) -> set[tuple[str, ...]]:
    """The words of a text, and its pairs of neighbours."""
    words = text.texts[0].split()
    return {(word,) for word in words} | set(pairwise(words))


def bag_of_words(
    train: Sequence[LabelledText], valid: Sequence[LabelledText], strengths: Sequence[float]
) -> dict[str, Any]:
    """The accuracy of logistic regression with each strength of its penalty."""
    known: dict[tuple[str, ...], int] = {}
    for text in train:
        for gram in sorted(grams(text)):
            known.setdefault(gram, len(known))
    began = time.perf_counter()
    seen, unseen = bags(train, known), bags(valid, known)
    accuracy = {}
    for strength in {*strengths, USUAL}:
        weights, bias = fitted(seen, len(known), 1 / (strength * len(train)))
        scores_B = nn.functional.embedding_bag(unseen[0], weights, unseen[1], mode="sum")[:, 0]
        right_B = (scores_B + bias > 0) == (unseen[2] > 0.5)
        accuracy[strength] = float(right_B.float().mean())
    best = max(accuracy, key=lambda strength: accuracy[strength])
    return {
        "features": len(known),
        "usual": accuracy[USUAL],
        "best": accuracy[best],
        "best_strength": best,
        "by_strength": {str(strength): accuracy[strength] for strength in sorted(accuracy)},
        "seconds": round(time.perf_counter() - began, 1),
    }


def bags(
    texts: Sequence[LabelledText], known: dict[tuple[str, ...], int]
) -> tuple[Tensor, Tensor, Tensor]:
    """(the numbers of all texts' grams, the start of each text in them, the labels as 0 or 1)."""
    numbers = [[known[gram] for gram in sorted(grams(text)) if gram in known] for text in texts]
    begins = torch.tensor([0, *map(len, numbers)]).cumsum(0)[:-1]
    labels_B = torch.tensor([float(text.label == "1") for text in texts])
    return torch.tensor([one for each in numbers for one in each]), begins, labels_B


def fitted(
    bags: tuple[Tensor, Tensor, Tensor], features: int, penalty: float
) -> tuple[Tensor, Tensor]:
    """The weights and the bias that minimise mean cross-entropy + penalty / 2 · weights²."""
    weights = torch.zeros(features, 1, requires_grad=True)
    bias = torch.zeros(1, requires_grad=True)
    optimizer = torch.optim.LBFGS(
        [weights, bias], max_iter=UPDATES, history_size=10, line_search_fn="strong_wolfe"
    )

    def loss() -> Tensor:
        optimizer.zero_grad()
        scores_B = nn.functional.embedding_bag(bags[0], weights, bags[1], mode="sum")[:, 0]
        mean = nn.functional.binary_cross_entropy_with_logits(scores_B + bias, bags[2])
        total: Tensor = mean + penalty / 2 * (weights**2).sum()
        total.backward()
        return total

    optimizer.step(loss)
    return weights.detach(), bias.detach()


if __name__ == "__main__":
    main()

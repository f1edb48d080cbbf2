"""Measures the loss of a masked language model, in nats, on held-out pages, and the loss of
predicting the same words by their frequency.

The seed of the validation hides the same words every time. Two unigram losses are printed with the
model's loss. One uses the counts of the training pages, with 1 added to each; the other uses the
counts of the hidden words themselves, and is the lowest loss that a unigram model can have.

    python benchmarks/masked_words.py --run runs/masked-lm

Needs the texts that the run's recipe names.
"""

import argparse
import json
from pathlib import Path

import numpy as np
import torch

from allyouneed.model_folder.folder import open_model_folder
from allyouneed.training.recipe.encoder_schema import MaskedLanguageRecipe
from allyouneed.training.recipe.toml_file import load_recipe
from allyouneed.training.tasks.masked_lm import VALIDATION, MaskedLanguageModel, MaskedValidation
from allyouneed.training.tasks.task import RunStart
from allyouneed.training.validation import validate
from allyouneed.training.workers import ALONE

RESULTS = Path(__file__).parent / "results"


def main() -> None:
    """Measures, prints the figures and writes them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--run", type=Path, required=True, help="the run's folder")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--results", type=Path, default=RESULTS)
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    recipe = load_recipe(arguments.run / "recipe.toml")
    assert isinstance(recipe, MaskedLanguageRecipe), "the run is of another task"
    place = torch.device("cpu")
    start = RunStart(arguments.run, place, ALONE, lambda text: None, lambda *news: None)
    task = MaskedLanguageModel.prepared(recipe, start)
    folder = open_model_folder(arguments.run / "model")
    found = validate(folder.load_encoder(), task, place)
    assert isinstance(found, MaskedValidation)
    hidden = [task.masked(task.valid, pairs, VALIDATION).labels_P for pairs in task.valid_batches()]
    counts = np.unique(torch.cat(hidden).numpy(), return_counts=True)[1]
    shares = counts / counts.sum()
    own = float(-(shares * np.log(shares)).sum())
    facts = json.loads((arguments.run / "model" / "training.json").read_text(encoding="utf-8"))
    document = {
        "hidden_words": int(counts.sum()),
        "loss": found.loss,
        "accuracy": found.accuracy,
        "unigram_of_training_pages": found.unigram,
        "loss_by_it": found.of_unigram,
        "unigram_of_the_hidden_words": own,
        "loss_by_that": found.loss / own,
        **{key: facts[key] for key in ("parameters", "steps", "epochs", "minutes", "command")},
        "vocabulary": len(folder.tokenizer),
        "held_out": recipe.data.held_out,
        "model": facts["recipe"]["model"],
        "masking": facts["recipe"]["masking"],
    }
    for key in ("loss", "unigram_of_training_pages", "unigram_of_the_hidden_words"):
        print(f"{document[key]:.3f}  {key.replace('_', ' ')}")
    print(f"{found.of_unigram:.3f}  loss / unigram of training pages")
    path = arguments.results / "masked-words.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

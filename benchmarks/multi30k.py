"""Scores a model's translations of Multi30k in the same way as published results.

Text-only models of this size are compared by BLEU over lower-cased, normalised, tokenised text:
fairseq's Transformer-Tiny has 41.02 on test2016. Output and reference are lower-cased, normalised
and tokenised with Moses' rules (sacremoses), and their tokens are compared as in `multi-bleu.perl`.
Cased sacreBLEU of plain text is printed too. The two scores cannot be compared with each other.

    python benchmarks/multi30k.py [--model FOLDER ...] [--set test_2016_flickr] [--beam 5]
        [--length-penalty 0.6]
    python benchmarks/multi30k.py --translations FILE

Several models translate as an ensemble. Needs sacremoses, and the data:
`allyouneed fetch multi30k`, or the folder in $ALLYOUNEED_DATA.
"""

import argparse
import json
import re
import shlex
import sys
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import sacrebleu

from allyouneed.data.lines import read_lines
from allyouneed.data.root import resolve
from allyouneed.decoding.length_penalty import Wu
from allyouneed.decoding.options import BeamOptions
from allyouneed.errors import DataError
from allyouneed.evaluation.metrics import bleu, chrf
from allyouneed.files import write_whole
from allyouneed.loading import load, load_ensemble
from allyouneed.model_folder.folder import open_model_folder

RESULTS = Path(__file__).parent / "results" / "multi30k.jsonl"
PUBLISHED = {"test_2016_flickr": 41.02}  # fairseq Transformer-Tiny, beam 5, average of 10


def main() -> None:
    """Translates, scores, prints the figures and writes them."""
    arguments = parsed()
    sources, references = (lines(arguments.set, side) for side in ("en", "de"))
    if arguments.translations is None:
        names = arguments.model
        several = len(names) > 1
        translator = load_ensemble(names) if several else load(*names, engine=arguments.engine)
        penalty = Wu(arguments.length_penalty)
        options = BeamOptions(beam=arguments.beam, length_penalty=penalty)
        found = translator(sources, options=options)
        translations = [translation.text for translation in found]
        about: dict[str, Any] = {
            "beam": arguments.beam,
            "length_penalty": arguments.length_penalty,
            "engine": translator.engine.description,
            **trained(names),
        }
    else:
        translations = [*read_lines(arguments.translations, lambda *note: None)]
        about = {"name": arguments.translations.stem}
    document = {"set": arguments.set, **about, "scores": scores(translations, references)}
    for figure in document["scores"]:
        print(f"{figure['score']:6.2f}  {figure['metric']}  {figure['signature']}")
    if arguments.set in PUBLISHED:
        print(f"{PUBLISHED[arguments.set]:6.2f}  published, comparable with the first score")
    record(document, arguments.results)
    print(f"written: {arguments.results}", file=sys.stderr)


def record(document: Mapping[str, Any], table: Path) -> None:
    """Writes a run to the table, which holds one JSON object per line. It replaces an earlier row
    of the same model, set and search."""
    key = ("name", "set", "beam", "length_penalty")
    lines = table.read_text("utf-8").splitlines() if table.is_file() else []
    rows = [json.loads(line) for line in lines]
    kept = [row for row in rows if [row.get(k) for k in key] != [document.get(k) for k in key]]
    written = (json.dumps(row, ensure_ascii=False) + "\n" for row in [*kept, document])
    write_whole(table, "".join(written))


def parsed() -> argparse.Namespace:
    """The command line's options."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--model", nargs="+", default=["en-de"], help="folders or bundled names (en-de)"
    )
    parser.add_argument("--translations", type=Path, help="a file to score instead, line by line")
    parser.add_argument("--set", default="test_2016_flickr", help="(%(default)s)")
    parser.add_argument("--beam", type=int, default=5, help="(%(default)s)")
    parser.add_argument(
        "--length-penalty", type=float, default=0.6, help="Wu's alpha (%(default)s)"
    )
    parser.add_argument("--engine", default="auto", help="of a single model (%(default)s)")
    parser.add_argument(
        "--results", type=Path, default=RESULTS, help="the table to write to (%(default)s)"
    )
    if not find_spec("sacremoses"):
        sys.exit("sacremoses is not installed; install it with: pip install sacremoses")
    return parser.parse_args()


def lines(name: str, side: str) -> list[str]:
    """One side of a set."""
    try:
        path = resolve(Path("multi30k") / f"{name}.{side}.gz", None)
    except DataError as error:
        sys.exit(str(error))
    return [*read_lines(path, lambda *note: None)]


def trained(models: Sequence[str]) -> dict[str, Any]:
    """Facts about the training of a model, or of each of several models."""
    each = [facts_of(model) for model in models]
    if len(each) == 1:
        return each[0]
    parameters = sum(one.get("parameters", 0) for one in each)
    return {"name": f"ensemble-of-{len(each)}", "parameters": parameters, "models": each}


def facts_of(model: str) -> dict[str, Any]:
    """Facts about a model's training from its folder. `name` is the name of its recipe, with its
    seed and its overrides."""
    folder = open_model_folder(model)
    facts = json.loads((folder.path / "training.json").read_text(encoding="utf-8"))
    recipe = facts.get("recipe", {})
    name = folder.path.name
    if recipe:
        _, _, start, *overrides = shlex.split(facts["command"])
        others = [word for word in overrides if not word.startswith("seed=")]
        name = "-".join([Path(start).stem, f"seed-{recipe['seed']}", *others])
        name = re.sub(r"[^\w.=-]+", "_", name)
    told = ("parameters", "steps", "epochs", "minutes", "weights", "validation_loss", "command")
    return {"name": name, **{key: facts[key] for key in told if key in facts}}


def scores(translations: Sequence[str], references: Sequence[str]) -> list[dict[str, Any]]:
    """The score for comparison with published ones, followed by the scores of plain text."""
    published = as_published(translations, references)
    rows = [bleu(translations, references), bleu(translations, references, lowercase=True)]
    plain = [*rows, chrf(translations, references)]
    return [published, *(score.to_dict() for score in plain)]


def as_published(translations: Sequence[str], references: Sequence[str]) -> dict[str, Any]:
    """BLEU over lower-cased, normalised, tokenised text, without smoothing."""
    metric = sacrebleu.BLEU(tokenize="none", smooth_method="none", force=True)
    result = metric.corpus_score(prepared(translations), [prepared(references)])
    return {
        "metric": "BLEU lower-cased, normalised, tokenised",
        "score": result.score,
        "signature": f"{metric.get_signature()}|on:lc.norm.tok.de (sacremoses)",
        "brevity_penalty": result.bp,
        "precisions": result.precisions,
        "tokens": result.sys_len,
        "reference_tokens": result.ref_len,
    }


def prepared(texts: Sequence[str]) -> list[str]:
    """The texts lower-cased, normalised and tokenised, like Multi30k's own files
    `lc.norm.tok.de`."""
    from sacremoses import MosesPunctNormalizer, MosesTokenizer

    normalizer, tokenizer = MosesPunctNormalizer("de"), MosesTokenizer("de")
    return [
        tokenizer.tokenize(normalizer.normalize(text.strip().lower()), return_str=True)
        for text in texts
    ]


if __name__ == "__main__":
    main()

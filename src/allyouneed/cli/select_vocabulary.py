"""`allyouneed select-vocabulary`: learns which target pieces a source sentence can need."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from allyouneed.cli.bar import bar
from allyouneed.cli.options import Beam, Json, PairFiles, Running
from allyouneed.cli.output import as_json, note, result
from allyouneed.cli.pairs import file_lines, file_pairs
from allyouneed.cli.search import beam_options
from allyouneed.cli.tables import comparison_table, coverage_table, print_result
from allyouneed.cli.translating_corpus import translate_corpus
from allyouneed.errors import UsageError

if TYPE_CHECKING:
    from allyouneed.data.corpus import Pair
    from allyouneed.engine.selection_learning import Coverage, LearnedSelection, TextPair
    from allyouneed.evaluation.comparison import Comparison
    from allyouneed.model_folder.folder import ModelFolder
    from allyouneed.text.normaliser import Plain
    from allyouneed.text.tokenizer import Tokenizer
    from allyouneed.translation.translator import Translator


Candidates = Annotated[
    int | None,
    typer.Option(help="Largest number of target pieces for each source piece (100).", min=1),
]
TestSet = Annotated[
    tuple[Path, Path] | None,
    typer.Option(
        help="A test set to measure the selection's loss of quality on.",
        metavar="SOURCE REFERENCE",
    ),
]


def select_vocabulary(
    *,
    model: Annotated[str, typer.Option(help="The model folder to add it to.", metavar="FOLDER")],
    files: PairFiles,
    candidates: Candidates = None,
    evaluate: TestSet = None,
    beam: Beam = None,
    json: Json = False,
    running: Running,
) -> None:
    """Learn vocabulary selection: which target pieces a source sentence can need.

    **Examples**

    - `allyouneed select-vocabulary --model my-model --source train.en --target train.de`
    - `allyouneed select-vocabulary --model my-model --tsv train.tsv --evaluate test.en test.de`
    - `allyouneed select-vocabulary --model my-model --source any-text.en`
    - `allyouneed translate --model my-model --vocabulary-selection < input.txt`

    If possible, give the training data. --source alone needs no pairs: the model translates these
    sentences itself, greedily unless --beam is given, and the selection is learnt from its own
    translations. Take sentences of the kind that will be translated.

    Writes vocabulary_selection.safetensors to the model folder. `translate --vocabulary-selection`
    then computes the output layer over the selected pieces only. This is faster with a large
    vocabulary (not with 8,000 pieces), but it can miss a word. "Covered" is the share of the
    reference's pieces that are selected, measured on every 100th pair, which is not learnt from.
    """
    from allyouneed.engine.selection_learning import CANDIDATES, coverage, tokenised
    from allyouneed.model_folder.folder import VOCABULARY_SELECTION, open_model_folder
    from allyouneed.text.normaliser import normaliser_named
    from allyouneed.text.opening import own_tokenizer

    folder = open_model_folder(model)
    folder.check_translates()
    check_not_bundled(folder)
    tokenizer = own_tokenizer(folder.tokenizer, "vocabulary selection")
    test_set = list(file_pairs(*evaluate, None)) if evaluate else []
    plain = normaliser_named(folder.normaliser).plain
    alone = files.source if not (files.target or files.tsv) else None
    found = _own_pairs(running.translator(model), alone, beam or 1) if alone else files.pairs()
    pairs = _plain(plain, found)
    learned = learned_from(pairs, tokenizer, folder.config.max_positions, candidates or CANDIDATES)
    written = folder.path / VOCABULARY_SELECTION
    learned.selection.save(written, tokenizer)
    covered = {"held out": learned.held_out} if learned.held_out else {}
    if not covered:
        note("there are fewer than 100 pairs, so the coverage is not measured")
    outcome: Comparison | None = None
    if evaluate:
        ids = tokenised(_plain(plain, test_set), tokenizer)
        covered[str(evaluate[0])] = coverage(learned.selection, ids)
        outcome = _loss_of_quality(model, running, test_set, beam)
    if json:
        result(as_json(as_values(learned, covered, outcome)))
        return
    title = f"{written}, learned from {learned.pairs:,} pairs"
    if covered:
        print_result(coverage_table(covered, learned.selection.vocabulary, title), ())
    else:
        result(title)
    if outcome:
        _print_loss(outcome)


def _own_pairs(translator: "Translator", source: Path, beam: int) -> "Iterator[Pair]":
    """The sentences of a file with the model's own translations."""
    from allyouneed.data.corpus import Pair

    lines = [line for line in file_lines(source) if line.strip()]
    own = translate_corpus(translator, lines, beam_options(1, {"beam": beam}, {}))
    return (Pair(*both, line=0) for both in zip(lines, own, strict=True))


def _loss_of_quality(
    model: str, running: Running, test_set: "Sequence[Pair]", beam: int | None
) -> "Comparison":
    """Translations by the selected pieces, compared with translations by all pieces."""
    from allyouneed.evaluation.comparison import compare

    sources = [pair.source for pair in test_set]
    options = beam_options(1, {"beam": beam}, {})
    all_pieces, selected = (
        translate_corpus(running.translator(model, selection), sources, options)
        for selection in (False, True)
    )
    return compare(all_pieces, selected, [pair.target for pair in test_set])


def _print_loss(outcome: "Comparison") -> None:
    table = comparison_table(outcome, "all pieces", "selected pieces")
    print_result(table, [one.system for one in outcome.metrics])


def check_not_bundled(folder: "ModelFolder") -> None:
    """Raises UsageError for a model of the package, because installed files are not changed."""
    if folder.path.parent == Path(str(resources.files("allyouneed") / "models")):
        name = folder.path.name
        raise UsageError(
            f"{name} is part of the package and must not be changed; copy it with "
            f"cp -r {folder.path} {name}, then use --model ./{name}"
        )


def _plain(plain: "Callable[[str], Plain]", pairs: Iterable["Pair"]) -> "Iterator[TextPair]":
    """Both sides of the pairs in the form that the model reads."""
    return ((plain(pair.source).text, plain(pair.target).text) for pair in pairs)


def learned_from(
    pairs: "Iterable[TextPair]", tokenizer: "Tokenizer", longest: int, candidates: int
) -> "LearnedSelection":
    """The selection learnt from these pairs. Shows the progress, and notes on pairs left out."""
    from allyouneed.engine.selection_learning import learn_vocabulary_selection

    with bar("reading") as show:
        learned = learn_vocabulary_selection(pairs, tokenizer, longest, candidates, show)
    for reason, count in learned.left_out.items():
        note(f"pairs left out ({reason}): {count:,}")
    return learned


def as_values(
    learned: "LearnedSelection", covered: "Mapping[str, Coverage]", outcome: "Comparison | None"
) -> dict[str, Any]:
    """The results as JSON values."""
    values = {
        "pairs": learned.pairs,
        "left_out": learned.left_out,
        "vocabulary": learned.selection.vocabulary,
        "coverage": {name: asdict(one) for name, one in covered.items()},
    }
    return values | ({"evaluation": outcome.to_dict()} if outcome else {})

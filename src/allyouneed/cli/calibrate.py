"""`allyouneed calibrate`: fits the confidence of a model's translations."""

import re
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from allyouneed.cli.bar import bar
from allyouneed.cli.options import DEFAULT_MODEL, Json, LanguageOptions, Model, Running
from allyouneed.cli.output import as_json, note, result
from allyouneed.cli.pairs import file_pairs
from allyouneed.cli.select_vocabulary import check_not_bundled
from allyouneed.cli.tables import print_result
from allyouneed.errors import UsageError

if TYPE_CHECKING:
    from allyouneed.insight.calibrating import CalibrationReport, Examples
    from allyouneed.model_folder.confidence import Calibration
    from allyouneed.text.languages import Direction
    from allyouneed.translation.translator import Translator


HeldOut = Annotated[
    list[Path],
    typer.Option(
        metavar="FILE.tsv",
        help="Held-out lines of source, tab, translation; .gz too; repeatable. For a model of "
        "several languages each file may name its direction: fr-en=FILE.tsv.",
    ),
]
Into = Annotated[
    Path | None,
    typer.Option(metavar="FOLDER", help="The model folder to write to (the one of --model)."),
]


@dataclass(frozen=True, kw_only=True)
class UsedPairs:
    """The pairs of each file that are used."""

    first: Annotated[
        int | None, typer.Option(min=1, help="Use only so many pairs of each file.")
    ] = None
    skip: Annotated[int, typer.Option(min=0, help="Skip so many pairs of each file first.")] = 0
    swap: Annotated[bool, typer.Option("--swap", help="The files have the translation first.")] = (
        False
    )

    def of(self, file: Path) -> list[tuple[str, str]]:
        """Source and translation of the chosen pairs of a file."""
        end = None if self.first is None else self.skip + self.first
        chosen = islice(file_pairs(None, None, file), self.skip, end)
        sides = [(one.source, one.target) for one in chosen]
        return [(target, source) for source, target in sides] if self.swap else sides


def calibrate(
    *,
    pairs: HeldOut,
    model: Model = DEFAULT_MODEL,
    into: Into = None,
    part: UsedPairs,
    threshold: Annotated[
        float,
        typer.Option(min=1, max=99, help="The lowest chrF of an acceptable translation."),
    ] = 50.0,
    evaluate: Annotated[
        bool,
        typer.Option("--evaluate", help="Measure the folder's calibration; write nothing."),
    ] = False,
    languages: LanguageOptions,
    json: Json = False,
    running: Running,
) -> None:
    """Fit the confidence of translations: the probability that a reader accepts them.

    **Examples**

    - `allyouneed calibrate --model my-model --pairs valid.en-de.tsv --pairs news.en-de.tsv`
    - `allyouneed calibrate --model my-model --pairs test.en-de.tsv --evaluate`
    - `allyouneed calibrate --model de-en --swap --pairs valid.en-de.tsv --into copy-of-de-en`
    - `allyouneed calibrate --model of-many --pairs en-fr=fr.tsv --pairs en-es=es.tsv`

    Use pairs that the model was not trained on: several kinds of text, difficult ones too, some
    hundred pairs of each. The command writes confidence.json and a section of README.md to the
    model folder. `translate --scores` then shows the confidence, and doubtful translations have a
    note. AUROC is how often the acceptable one of two translations has the higher confidence. ECE
    is the mean distance of the confidence from the share of acceptable translations. Both are
    cross-validated, except with --evaluate. H is the mean log-probability of a token, which needs
    no calibration.
    """
    from allyouneed.insight.calibrating import fit, measured
    from allyouneed.model_folder.folder import open_model_folder

    folder = open_model_folder(model)
    folder.check_translates()
    place = into or folder.path
    if not evaluate and into is None:
        check_not_bundled(folder)
    if into is not None and not evaluate:
        open_model_folder(into).check_translates()
    translator = running.translator(model)
    known = translator.rules.calibration
    if evaluate and known is None:
        raise UsageError(f"{folder.path} has no calibration yet; leave --evaluate out to fit one")
    named = translator.speaks.direction
    usual = (languages.from_, languages.to)
    sets = {}
    for given in pairs:
        languages_of, file = _parted(given)
        direction = named(*(languages_of or usual))
        name = "-".join((*languages_of, file.name))
        sets[name] = _examples(translator, file, part.of(file), direction)
    if evaluate and known is not None:
        report = measured(known, sets)
    else:
        calibration, report = fit(sets, threshold)
        _save(place, calibration, report)
    if json:
        result(as_json({name: one.to_dict() for name, one in report.items()}))
        return
    print_result(_table(report, folder.path.name), ())


def _parted(given: Path) -> tuple[tuple[str, ...], Path]:
    """The languages that stand before a file, as in "fr-en=FILE.tsv", and the file."""
    languages, equals, file = str(given).partition("=")
    if given.exists() or not equals or not re.fullmatch(r"[A-Za-z]+(?:_[A-Za-z]+)?-\w+", languages):
        return (), given
    source, _, target = languages.partition("-")
    return (source, target), Path(file)


def _save(place: Path, calibration: "Calibration", report: "dict[str, CalibrationReport]") -> None:
    """Writes the calibration into a model folder, and the measurements into its README.md."""
    from allyouneed.files import write_whole
    from allyouneed.insight.calibrating import card_with
    from allyouneed.model_folder.confidence import save_calibration
    from allyouneed.model_folder.folder import CARD

    save_calibration(calibration, place)
    card = place / CARD
    if card.is_file():
        write_whole(card, card_with(card.read_text(encoding="utf-8"), calibration, report))
    note(f"{place}: its translations have a confidence from now on")


def _examples(
    translator: "Translator", file: Path, pairs: list[tuple[str, str]], direction: "Direction"
) -> "Examples":
    """Translates the pairs of a file, with a progress bar."""
    from allyouneed.insight.calibrating import examples_of

    with bar(file.name, len(pairs)) as show:
        found = examples_of(
            translator, pairs, direction, lambda done: show(file.name, done, len(pairs))
        )
    if left := len(pairs) - len(found):
        note(f"{file}: {left:,} pairs left out, because they are blank or translated in parts")
    return found


def _table(report: "dict[str, CalibrationReport]", title: str) -> Table:
    table = Table(title=title)
    columns = ("pairs", "acceptable", "ECE", "AUROC", "Spearman", "AUROC of H", "Spearman of H")
    for name in ("pairs of", *columns, "ECE, words", "AUROC, words"):
        table.add_column(name, justify="left" if name == "pairs of" else "right")
    for name, one in report.items():
        numbers = (
            one.confidence.ece,
            one.confidence.auroc,
            one.confidence.spearman,
            one.plain.auroc,
            one.plain.spearman,
            one.words.ece,
            one.words.auroc,
        )
        table.add_row(
            name,
            f"{one.pairs:,}",
            f"{one.acceptable:.0%}",
            *("–" if number is None else f"{number:.3f}" for number in numbers),
        )
    return table

"""The report of a run: one HTML page without external parts, made from the run's folder."""

import json
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import asdict
from importlib import resources
from pathlib import Path
from typing import Any

from allyouneed.data.report import DataReport, Tally
from allyouneed.errors import TrainingError
from allyouneed.files import write_whole
from allyouneed.training.log import read_log
from allyouneed.training.recipe.schema import CommonRecipe
from allyouneed.training.recipe.toml_file import load_recipe
from allyouneed.training.report.chart import Line, line_chart
from allyouneed.training.report.markup import Content, Markup, element, joined
from allyouneed.training.report.measures import Measure, measured, measures_of

Records = Sequence[dict[str, Any]]

# The policy forbids scripts and external content, even if a sentence of the corpus contains HTML.
HEAD = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
"""


def write_report(run: Path) -> Path:
    """Writes `report.html` from the run's log, recipe and model, and returns its path.

    The report of a run that is not finished shows the results so far.

    Raises:
        TrainingError: the file cannot be written.
        RecipeError: the folder holds no run.
    """
    recipe_file = run / "recipe.toml"
    recipe = load_recipe(recipe_file)
    records = read_log(run)
    body = element(
        "main",
        _header(recipe, run, records),
        _curves(recipe, run, records),
        _validations(records),
        _directions(records),
        _samples(recipe, records),
        _data(records),
        _recipe(recipe_file.read_text(encoding="utf-8")),
        _notes(records),
        element(
            "footer", "Made from log.jsonl by allyouneed. This page loads nothing from elsewhere."
        ),
    )
    style = resources.files("allyouneed.training.report").joinpath("report.css").read_text("utf-8")
    page = (
        f"{HEAD}{element('title', f'{recipe.name}: training report')}\n<style>\n{style}</style>\n"
    )
    path = run / "report.html"
    try:
        write_whole(path, f"{page}</head>\n{element('body', body)}\n</html>\n")
    except OSError as error:
        raise TrainingError(f"{path} could not be written: {error.strerror}") from error
    return path


def _of(records: Records, event: str) -> Records:
    return [record for record in records if record["event"] == event]


def _header(recipe: CommonRecipe, run: Path, records: Records) -> Markup:
    languages = " → ".join(filter(None, (recipe.source_language, recipe.target_language)))
    kicker = " · ".join(filter(None, ("Training report", languages)))
    final = next(reversed(_of(records, "final")), None)
    return element(
        "header",
        element("p", kicker, class_="quiet"),
        element("h1", recipe.name),
        element("p", recipe.description) if recipe.description else "",
        element(
            "dl",
            (
                element("div", element("dt", name), element("dd", value))
                for name, value in _facts(run, records)
            ),
            class_="facts",
        ),
        element("p", f"The final model is {final['origin']}.", class_="quiet") if final else "",
    )


def _facts(run: Path, records: Records) -> Iterable[tuple[str, str]]:
    validated = [*_of(records, "validation"), *_of(records, "final")]
    steps = _of(records, "step")
    if validated:
        for measure, value in measured(validated[-1]):
            yield f"validation {measure.name}", measure.written(value)
        yield "validation loss", f"{validated[-1]['loss']:.3f}"
    if steps:
        yield "steps", f"{steps[-1]['step']:,}"
        yield f"{_unit(steps)}s seen", f"{steps[-1]['tokens']:,}"
        yield "time", duration(steps[-1]["seconds"])
    facts, weights = run / "model" / "training.json", run / "model" / "model.safetensors"
    if facts.is_file() and weights.is_file():
        parameters = json.loads(facts.read_text(encoding="utf-8"))["parameters"]
        yield "parameters", f"{parameters:,}"
        yield "weights on disk", f"{weights.stat().st_size / 1e6:.1f} MB"


def duration(seconds: float) -> str:
    """The duration as a text, such as 45 s, 12 min or 3 h 20 min."""
    if round(seconds) < 60:
        return f"{seconds:.0f} s"
    hours, minutes = divmod(round(seconds / 60), 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min"


def _curves(recipe: CommonRecipe, run: Path, records: Records) -> Markup:
    steps, validations = _of(records, "step"), _of(records, "validation")
    training = Line("training", 1, _points(steps, "loss"))
    held_out = Line("validation", 2, _points(validations, "loss"))
    figures = [
        _figure(
            "Loss",
            _why_losses_differ(recipe, run),
            line_chart([training, held_out], f"nats per {_unit(steps)}", from_zero=False),
            [line for line in (training, held_out) if line.points],
        )
    ]
    for title, text, unit, event, key in (
        *(
            (one.name, _signature(records, one), one.name, validations, one.key)
            for one in measures_of(validations)
        ),
        ("Learning rate", "As the schedule says.", "learning rate", steps, "learning_rate"),
        (
            "Speed",
            "Validation not counted.",
            f"{_unit(steps)}s per second",
            steps,
            "tokens_per_second",
        ),
    ):
        line = Line(title, 1, _points(event, key))
        figures.append(_figure(title, text, line_chart([line], unit, from_zero=True), []))
    return _section("Curves", element("div", figures, class_="charts"))


def _why_losses_differ(recipe: CommonRecipe, run: Path) -> str:
    """A sentence on how the training loss is computed otherwise than the validation loss; empty if
    it is not."""
    config = _shape(recipe, run)
    dropout = any(config[f"{part}dropout"] for part in ("", "attention_", "activation_"))
    training = recipe.training
    parts = [
        *(["dropout"] if dropout else []),
        *(["hidden words"] if training.word_dropout else []),
        *(["smoothed labels"] if training.label_smoothing else []),
    ]
    if not parts:
        return ""
    *most, last = parts
    together = f"{', '.join(most)} and {last}" if most else last
    return f"The training loss includes {together}; the validation loss does not."


def _shape(recipe: CommonRecipe, run: Path) -> dict[str, Any]:
    """The model's configuration: that of a model of the run, or else that of the recipe."""
    for name in ("model", "best"):
        with suppress(OSError, ValueError, KeyError):
            config = json.loads((run / name / "config.json").read_text(encoding="utf-8"))
            return dict(config["model"])
    return asdict(recipe.model.config(recipe.vocabulary.size))


def _points(records: Records, key: str) -> list[tuple[float, float]]:
    return [(record["step"], record[key]) for record in records if record.get(key) is not None]


def _signature(records: Records, measure: Measure) -> str:
    if measure.key != "bleu":
        return "On the validation data."
    signatures = [record.get("signature") for record in _of(records, "validation")]
    return next((signature for signature in signatures if signature), "")


def _unit(steps: Records) -> str:
    """The unit that the loss is a mean over; "target token" for logs of older versions."""
    return str(steps[-1].get("unit", "target token")) if steps else "target token"


def _figure(title: str, text: str, chart: Markup | None, lines: Sequence[Line]) -> Markup:
    if chart is None:
        chart = element("p", "Nothing was recorded.", class_="quiet")
    keys = [element("span", line.name, class_=f"key key-{line.colour}") for line in lines]
    return element("figure", element("figcaption", title, element("small", text), keys), chart)


def _validations(records: Records) -> Markup:
    validations = _of(records, "validation")
    if not validations:
        return Markup()
    shown = measures_of(validations)
    rows = [
        [
            f"{record['step']:,}",
            str(record["epoch"]),
            f"{record['loss']:.3f}" + (" (best so far)" if record["best"] else ""),
            *("" if record.get(one.key) is None else one.written(record[one.key]) for one in shown),
        ]
        for record in validations
    ]
    unit = _unit(_of(records, "step"))
    heads = ["step", "epochs done", f"loss, nats per {unit}", *(one.name for one in shown)]
    return _section("Validations", _table(heads, rows))


SHOWN = 8  # columns of a table of directions


def _directions(records: Records) -> Markup:
    """BLEU and loss of each direction: a table each with the latest validations, and a curve for
    each direction. Nothing for a model of one direction."""
    return joined(
        _by_direction(records, title, f"{key}_by_direction", unit, digits)
        for title, key, unit, digits in (
            ("BLEU by direction", "bleu", "BLEU", 1),
            ("Loss by direction", "loss", "nats per target token", 3),
        )
    )


def _by_direction(records: Records, title: str, key: str, unit: str, digits: int) -> Markup:
    found = [
        record
        for record in [*_of(records, "validation"), *_of(records, "final")]
        if record.get(key)
    ]
    if not found:
        return Markup()
    every = -(-len(found) // SHOWN)
    shown = found[::-1][::every][::-1]
    heads = [
        "direction",
        *("final model" if one["event"] == "final" else f"step {one['step']:,}" for one in shown),
    ]
    names = sorted({name for one in found for name in one[key]})

    def written(value: float | None) -> str:
        return "" if value is None else f"{value:.{digits}f}"

    rows = [[name, *(written(one[key].get(name)) for one in shown)] for name in names]
    curve = [one for one in found if one["event"] == "validation"]
    curves = (
        (name, [(one["step"], one[key][name]) for one in curve if name in one[key]])
        for name in names
    )
    figures = [
        _figure(name, "", line_chart([Line(name, 1, points)], unit, from_zero=key[0] == "b"), [])
        for name, points in curves
    ]
    return _section(title, _table(heads, rows), element("div", figures, class_="charts"))


def _samples(recipe: CommonRecipe, records: Records) -> Markup:
    """Every sample with its translation at each validation, to show the progress."""
    seen: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for record in [*_of(records, "validation"), *_of(records, "final")]:
        label = "final model" if record["event"] == "final" else f"{record['step']:,}"
        for source, reference, hypothesis in record["samples"]:
            seen.setdefault((source, reference), []).append((label, hypothesis))
    if not seen:
        return Markup()
    return _section(
        "Sample translations" if recipe.task == "translate" else "Samples",
        [
            element(
                "article",
                element("p", source, class_="text source", dir="auto"),
                element(
                    "p", reference, element("span", " (reference)", class_="quiet"), dir="auto"
                ),
                element("table", element("tbody", map(_translation, _runs(translations)))),
                class_="sentence",
            )
            for (source, reference), translations in seen.items()
        ],
    )


def _runs(translations: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """(step, translation) with equal neighbours joined: the same translation at several validations
    in a row is shown once, as "1,000 to 3,000"."""
    runs: list[tuple[str, str, str]] = []
    for label, text in translations:
        if runs and runs[-1][2] == text:
            runs[-1] = (runs[-1][0], label, text)
        else:
            runs.append((label, label, text))
    return [(f"{a} to {b}" if a != b else a, text) for a, b, text in runs]


def _translation(row: tuple[str, str]) -> Markup:
    label, text = row
    shown = label if label == "final model" else f"step {label}"
    return element(
        "tr",
        element("th", shown, scope="row"),
        element("td", text or "(nothing)", class_="text", dir="auto"),
    )


def _data(records: Records) -> Markup:
    parts = []
    for record in _of(records, "data"):
        report = DataReport.from_dict(record["report"])
        parts.append(element("h3", {"train": "Training", "valid": "Validation"}[record["part"]]))
        parts.append(element("p", f"Kept {report.kept:,} of {report.read:,} {report.unit}."))
        if len(report.corpora) > 1:
            counts = zip(report.corpora, report.kept_by_corpus, strict=True)
            parts.append(_table(["corpus", "kept"], [[name, f"{kept:,}"] for name, kept in counts]))
        for title, tallies in (("left out", report.left_out), ("noted", report.notes)):
            if tallies:
                rows = [_tally(report, what, tally) for what, tally in tallies.items()]
                parts.append(_table([title, "how many", "for example"], rows))
        parts += [element("p", remark) for remark in report.remarks]
    return _section("Data", parts) if parts else Markup()


def _tally(report: DataReport, what: str, tally: Tally) -> list[str]:
    places = [f"{report.corpora[corpus]}:{line} {text}" for corpus, line, text in tally.examples]
    return [what, f"{tally.count:,}", "\n".join(places)]


def _recipe(text: str) -> Markup:
    code = element("pre", element("code", text), tabindex=0)
    return _section("Recipe", element("p", "The resolved recipe, with every key."), code)


def _notes(records: Records) -> Markup:
    notes = [f"Step {record['step']:,}: {record['text']}" for record in _of(records, "note")]
    items = [element("li", note, class_="text") for note in notes]
    return _section("Notes of the run", element("ul", items)) if items else Markup()


def _section(title: str, *content: Content) -> Markup:
    return element("section", element("h2", title), *content)


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> Markup:
    """A table. Its last column wraps long texts; the other columns do not break words."""
    body = [
        element("tr", [element("td", cell) for cell in cells], element("td", last, class_="text"))
        for *cells, last in rows
    ]
    head = element("tr", [element("th", head, scope="col") for head in heads])
    table = element("table", element("thead", head), element("tbody", body))
    return element("div", table, class_="wide", tabindex=0)

"""Options that mean the same in every verb, and the groups in which verbs take them."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from allyouneed.cli.loading import DEFAULT_MODEL, VIA, opened, opened_encoder
from allyouneed.cli.pairs import file_pairs
from allyouneed.cli.settings import CallSettings

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from allyouneed.data.corpus import Pair
    from allyouneed.encoder_only.model import EncoderModel
    from allyouneed.translation.pivot import Relay
    from allyouneed.translation.translator import Translator

__all__ = ["DEFAULT_MODEL"]  # the default of `Model`


def _remember_debug(context: typer.Context, value: bool) -> bool:
    if value:
        context.find_object(CallSettings).debug = True  # type: ignore[union-attr]
    return value


RUNNING = "How it runs"
SEARCH = "Search"

Model = Annotated[
    str,
    typer.Option(
        help="A model by name (`allyouneed models` lists them), or a model folder.",
        metavar="NAME|FOLDER",
    ),
]
EncoderFolder = Annotated[
    str | None, typer.Option("--model", help="A folder of an encoder-only model.", metavar="FOLDER")
]
Beam = Annotated[
    int | None,
    typer.Option(
        help="Hypotheses kept at each step (4; 1 is greedy, at most 1000).", rich_help_panel=SEARCH
    ),
]
LengthPenalty = Annotated[
    float | None,
    typer.Option(
        help="Alpha of Wu et al. 2016; 0 is no penalty. Without it: the model's own, else 0.6.",
        rich_help_panel=SEARCH,
    ),
]
Device = Annotated[
    str | None,
    typer.Option(help="The device: cpu, cuda, cuda:1, ...", rich_help_panel=RUNNING),
]
Threads = Annotated[
    int | None,
    typer.Option(help="Number of cores; by default all.", min=1, rich_help_panel=RUNNING),
]
From = Annotated[
    str | None,
    typer.Option(
        "--from",
        metavar="LANGUAGE",
        help="The texts' language, for a model of several languages: de, fr, ...",
    ),
]
To = Annotated[
    str | None,
    typer.Option(
        "--to",
        metavar="LANGUAGE",
        help="The target language, for a model of several languages.",
    ),
]
VocabularySelection = Annotated[
    bool,
    typer.Option(
        "--vocabulary-selection",
        help="Restrict the output to the pieces that select-vocabulary learned for the source's "
        "pieces. Faster for large vocabularies; no gain with 8,000 pieces.",
        rich_help_panel=SEARCH,
    ),
]
Engine = Annotated[
    str,
    typer.Option(
        help="The engine that runs the model: core (the paper's code, any device), cpu-float32 "
        "(the same results, faster), cpu-int8 (the fastest on a CPU; a word may differ), cuda. "
        "auto chooses the fastest for the device; --debug names it.",
        rich_help_panel=RUNNING,
    ),
]
Output = Annotated[
    Path | None,
    typer.Option(
        help="Write the results to this file instead of printing them. It appears only when "
        "complete.",
        metavar="FILE",
        rich_help_panel=RUNNING,
    ),
]
Json = Annotated[
    bool, typer.Option("--json", help="One JSON object per line.", rich_help_panel=RUNNING)
]
Debug = Annotated[
    bool,
    typer.Option(
        "--debug",
        help="Name the engine that runs the model, and show the traceback of an error.",
        callback=_remember_debug,
        is_eager=True,
        rich_help_panel=RUNNING,
    ),
]


@dataclass(frozen=True, kw_only=True)
class Running:
    """How a verb runs a model."""

    device: Device = None
    threads: Threads = None
    engine: Engine = "auto"
    debug: Debug = False

    def translator(self, model: str, vocabulary_selection: bool = False) -> "Translator":
        """The translator of a model; raises as `loading.opened`."""
        return opened(
            model, self.engine, self.device, self.threads, self.debug, vocabulary_selection
        )

    def translators(
        self,
        models: "Sequence[str]",
        source: str | None,
        target: str | None,
        vocabulary_selection: bool = False,
    ) -> "Translator | Relay":
        """The translator of a model, or of two models in turn (`loading.models_of_direction`)."""
        first, *rest = (self.translator(model, vocabulary_selection) for model in models)
        if not rest:
            return first
        from allyouneed.translation.pivot import Relay

        return Relay(first, *rest, source=str(source), via=VIA, target=str(target))

    def encoder(self, model: str | None, recipe: str) -> "EncoderModel":
        """The model without a decoder; raises as `loading.opened_encoder`."""
        return opened_encoder(model, self.device, self.threads, recipe)


@dataclass(frozen=True, kw_only=True)
class RunningOnCore(Running):
    """How a verb runs a model that only the paper's code can run: there is no --engine."""

    engine: str = field(default="core", init=False)


@dataclass(frozen=True, kw_only=True)
class LanguageOptions:
    """The languages of a call."""

    from_: From = None
    to: To = None


@dataclass(frozen=True, kw_only=True)
class PairFiles:
    """The files that hold pairs of sentences."""

    source: Annotated[
        Path | None, typer.Option(help="Sentences, one per line; .gz, .xz, .zst too.")
    ] = None
    target: Annotated[Path | None, typer.Option(help="Their translations, line by line.")] = None
    tsv: Annotated[
        Path | None, typer.Option(help="Both in one file: source, tab, translation.")
    ] = None

    def pairs(self) -> "Iterator[Pair]":
        """The pairs in the order of the files; raises as `pairs.file_pairs`."""
        return file_pairs(self.source, self.target, self.tsv)

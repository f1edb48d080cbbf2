"""`allyouneed import`: makes a model folder from a model of another toolkit."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated

import typer

from allyouneed.cli.options import Debug
from allyouneed.cli.output import note
from allyouneed.cli.transfers import Transfers
from allyouneed.errors import UsageError

FIREFOX, HUB = "firefox:", "hf:"


Source = Annotated[
    str,
    typer.Argument(
        help="The other toolkit's model: a folder, a file or a zip; or firefox:PAIR or "
        "hf:ORG/NAME, which are downloaded."
    ),
]
Into = Annotated[
    Path | None,
    typer.Option(
        help="The model folder to write, new or empty. By default a folder with the "
        "model's name in $ALLYOUNEED_MODELS or ~/.local/share/allyouneed/models, where "
        "`allyouneed models` lists it."
    ),
]
Format = Annotated[
    str | None,
    typer.Option("--from", help="The format; by default it is recognised from SOURCE."),
]


@dataclass(frozen=True, kw_only=True)
class FormatOptions:
    """Options that apply to models of certain formats only."""

    dictionaries: Annotated[
        Path | None,
        typer.Option(help="fairseq only: the folder of `dict.*.txt` (SOURCE's folder)."),
    ] = None
    codes: Annotated[
        Path | None,
        typer.Option(help="fairseq only: the file of BPE codes (bpecodes in SOURCE's folder)."),
    ] = None

    def of(self, format: str) -> dict[str, object]:
        """The options that the format takes.

        Raises:
            UsageError: another option was typed.
        """
        from allyouneed.interop.formats import FORMATS

        taken = FORMATS[format].options
        options = asdict(self)
        for option, value in options.items():
            if value is not None and option not in taken:
                raise UsageError(
                    f"--{option} does not apply to a model from {format}; leave it out"
                )
        return {option: options[option] for option in taken}


def import_model(
    *,
    source: Source,
    into: Into = None,
    from_: Format = None,
    options: FormatOptions,
    debug: Debug = False,
) -> None:
    """Make a model folder from another toolkit's model.

    **Examples**

    - `allyouneed import firefox:en-fr`
    - `allyouneed translate --model firefox-en-fr "A man rides a bike."`
    - `allyouneed import hf:facebook/m2m100_418M --into m2m`
    - `allyouneed translate --model ./m2m --from en --to ja "A man rides a bike."`
    - `allyouneed import translate-en_de-1_0.argosmodel`
    - `allyouneed import opus-mt-en-fr --into en-fr`
    - `allyouneed import JoC_Transformer.pt --dictionaries data --codes data/code --into joc`

    firefox:PAIR is one of Mozilla's models for Firefox, as listed in this package's register;
    firefox:PAIR:tiny also names the kind. hf:ORG/NAME is a model of the Hugging Face Hub with
    weights that are not a pickle; it needs the extra: pip install 'allyouneed[hub]'. Both are
    downloaded once and checked; afterwards no network is needed. Nothing else is ever downloaded.

    marian is a folder written by `MarianMTModel.save_pretrained`, the form in which OPUS-MT is
    published: config.json, the weights, vocab.json, source.spm, target.spm.

    marian-files are the files of Marian itself: a folder of a Firefox model (`model.*.bin`,
    `vocab.*.spm`, `lex.*.bin`, gzipped or not), or the contents of an OPUS-MT zip (`*.npz`,
    source.spm, target.spm, `*.vocab.yml`, decoder.yml). translate --vocabulary-selection uses the
    shortlist `lex.*.bin`.

    m2m is a folder of M2M-100, SMaLL-100 or NLLB-200: config.json, the weights,
    sentencepiece.bpe.model and, for the first two, vocab.json.

    ctranslate2 is a folder with model.bin, its vocabularies, and its tokenizer: source.spm and
    target.spm, sentencepiece.bpe.model, or sentencepiece.model. argos is a package of Argos
    Translate and LibreTranslate, .argosmodel or unpacked.

    fairseq is a checkpoint of fairseq or of NVIDIA's Transformer, with its dictionaries and codes.
    Its tokenizer follows Moses' rules, which need the extra: pip install 'allyouneed[moses]'.

    bert is a folder of `BertModel`, or of a class with heads on it: for masked words, next
    sentences, labels of texts or tags of tokens. Use it with predict, fill and encode.

    No code in the files is ever executed.
    """
    from allyouneed.interop.formats import FORMATS, format_of
    from allyouneed.model_folder.places import models_home
    from allyouneed.model_folder.vocabulary_selection import suggestion

    if from_ is not None and from_ not in FORMATS:
        raise UsageError(f"--from {from_} is not one of {', '.join(FORMATS)}")
    target = models_home() / named(source) if into is None else into
    with _here(source) as path:
        name = from_ or format_of(path)
        folder = FORMATS[name].read(path, target, note=note, **options.of(name))
    if hint := suggestion(folder):
        note(hint)
    use = "translate" if folder.heads is None else "predict, fill or encode"
    called = target.name if into is None else folder.path
    note(f"written to {folder.path}; {use} with it: --model {called}")


def named(source: str) -> str:
    """The name of a model without --into: "firefox-en-fr", or the last part of a path without its
    suffix.

    Raises:
        UsageError: the source gives no name for a folder.
    """
    if source.startswith(FIREFOX):
        name = source.replace(":", "-")
    else:
        last = Path(source.removeprefix(HUB).partition("@")[0]).resolve().name
        name = re.sub(r"\.(zip|argosmodel|pt|npz|bin)$", "", last)
    name = re.sub(r"[^\w.-]+", "-", name).strip("-.")
    if not name:
        raise UsageError(f"{source} gives the model no name; name a folder with --into")
    return name


@contextmanager
def _here(source: str) -> Iterator[Path]:
    """The source as a path on this machine, downloaded and unpacked if necessary."""
    from allyouneed.interop.archive import unpacked

    if source.startswith(FIREFOX):
        from allyouneed.interop.firefox import fetch, find
        from allyouneed.model_folder.places import fetched_home

        model = find(source.removeprefix(FIREFOX))
        note(f"{source}: {model.kind}, {model.size / 1e6:,.0f} MB, licence MPL-2.0 (Mozilla)")
        with Transfers() as transfers:
            place = fetch(model, fetched_home() / "firefox", transfers.show)
        yield place
    elif source.startswith(HUB):
        from allyouneed.interop.hub import fetch as fetch_from_hub

        yield fetch_from_hub(source.removeprefix(HUB))
    else:
        with unpacked(Path(source)) as path:
            yield path

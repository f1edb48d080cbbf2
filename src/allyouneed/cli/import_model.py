"""`allyouneed import`: a model of another toolkit becomes a model folder."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from allyouneed.cli.options import Debug
from allyouneed.cli.output import note
from allyouneed.cli.transfers import Transfers
from allyouneed.errors import UsageError

FIREFOX, HUB = "firefox:", "hf:"


def import_model(
    source: Annotated[
        str,
        typer.Argument(
            help="What the other toolkit saved: a folder, a file or a zip; or firefox:PAIR or "
            "hf:ORG/NAME, which are fetched."
        ),
    ],
    into: Annotated[
        Path | None,
        typer.Option(
            help="The model folder to write; it must not be in use. Without it, a folder of the "
            "model's name among those that `allyouneed models` lists ($ALLYOUNEED_MODELS, or "
            "~/.local/share/allyouneed/models)."
        ),
    ] = None,
    from_: Annotated[
        str | None,
        typer.Option(
            "--from",
            help="The format; without it, told by what SOURCE is.",
        ),
    ] = None,
    dictionaries: Annotated[
        Path | None,
        typer.Option(help="fairseq only: the folder of dict.*.txt (where SOURCE is)."),
    ] = None,
    codes: Annotated[
        Path | None,
        typer.Option(help="fairseq only: the codes that cut words (bpecodes, where SOURCE is)."),
    ] = None,
    debug: Debug = False,
) -> None:
    """Make a model folder of another toolkit's model, to use it here.

    **Examples**

    - `allyouneed import firefox:en-fr`
    - `allyouneed translate --model firefox-en-fr "A man rides a bike."`
    - `allyouneed import hf:facebook/m2m100_418M --into m2m`
    - `allyouneed translate --model ./m2m --from en --to ja "A man rides a bike."`
    - `allyouneed import translate-en_de-1_0.argosmodel`
    - `allyouneed import opus-mt-en-fr --into en-fr`
    - `allyouneed import JoC_Transformer.pt --dictionaries data --codes data/code --into joc`

    firefox:PAIR is one of Mozilla's models for Firefox, by the register in this package;
    firefox:PAIR:tiny names its kind too. hf:ORG/NAME is a model of the Hugging Face Hub, whose
    weights are no pickle; it needs the extra: pip install 'allyouneed[hub]'. Both are fetched
    once, checked, and used without a network from then on. Nothing else is ever fetched.

    marian is a folder as `MarianMTModel.save_pretrained` writes it and OPUS-MT is handed out:
    config.json, the weights, vocab.json, source.spm, target.spm.

    marian-files are those of Marian itself: a folder as Firefox keeps a model (model.*.bin,
    vocab.*.spm, lex.*.bin, gzipped or not), or as a zip of OPUS-MT holds it (*.npz, source.spm,
    target.spm, *.vocab.yml, decoder.yml). A shortlist is used with translate
    --vocabulary-selection.

    m2m is a folder of M2M-100, SMaLL-100 or NLLB-200: config.json, the weights,
    sentencepiece.bpe.model and, of the first two, vocab.json.

    ctranslate2 is a folder with model.bin, its vocabularies, and the tokenizer beside them:
    source.spm and target.spm, sentencepiece.bpe.model, or sentencepiece.model. argos is a package
    of Argos Translate and LibreTranslate, .argosmodel or unpacked.

    fairseq is a checkpoint of fairseq or of NVIDIA's Transformer, with its dictionaries and codes.
    Its text follows Moses' rules, which need the extra: pip install 'allyouneed[moses]'.

    bert is a folder of `BertModel`, or of a class with heads on it: for masked words, next
    sentences, labels of texts or tags of tokens. It is used by predict, fill and encode.

    Nothing that a file holds is run.
    """
    from allyouneed.interop.formats import FORMATS, format_of
    from allyouneed.model_folder.places import models_home

    if from_ is not None and from_ not in FORMATS:
        raise UsageError(f"--from {from_} is not one of {', '.join(FORMATS)}")
    options: dict[str, object] = {"dictionaries": dictionaries, "codes": codes}
    with _here(source) as path:
        name = from_ or format_of(path)
        for option, value in options.items():
            if value is not None and option not in FORMATS[name].options:
                raise UsageError(f"--{option} says nothing about a model from {name}; leave it out")
        given = {option: options[option] for option in FORMATS[name].options}
        home = models_home()
        target = home / named(source) if into is None else into
        folder = FORMATS[name].read(path, target, note=note, **given)
    use = "translate" if folder.heads is None else "predict, fill or encode"
    called = target.name if into is None else folder.path
    note(f"written to {folder.path}; {use} with it: --model {called}")


def named(source: str) -> str:
    """What a model is called where --into does not say it: "firefox-en-fr", or the last part of a
    path without its ending.

    Raises:
        UsageError: nothing is left that a folder could be called.
    """
    if source.startswith(FIREFOX):
        name = source.replace(":", "-")
    else:
        last = Path(source.removeprefix(HUB).partition("@")[0]).resolve().name
        name = re.sub(r"\.(zip|argosmodel|pt|npz|bin)$", "", last)
    name = re.sub(r"[^\w.-]+", "-", name).strip("-.")
    if not name:
        raise UsageError(f"{source} has no name; say by --into where the model goes")
    return name


@contextmanager
def _here(source: str) -> Iterator[Path]:
    """The source as a path on this machine, fetched and unpacked where that is due."""
    from allyouneed.interop.archive import unpacked

    if source.startswith(FIREFOX):
        from allyouneed.interop.firefox import fetch, find
        from allyouneed.model_folder.places import fetched_home

        model = find(source.removeprefix(FIREFOX))
        note(f"{source}: {model.kind}, {model.size / 1e6:,.0f} MB, MPL-2.0 as Mozilla says")
        with Transfers() as transfers:
            place = fetch(model, fetched_home() / "firefox", transfers.show)
        yield place
    elif source.startswith(HUB):
        from allyouneed.interop.hub import fetch as fetch_from_hub

        yield fetch_from_hub(source.removeprefix(HUB))
    else:
        with unpacked(Path(source)) as path:
            yield path

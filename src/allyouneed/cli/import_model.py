"""`allyouneed import`: a model of another toolkit becomes a model folder."""

from pathlib import Path
from typing import Annotated

import typer

from allyouneed.cli.options import Debug
from allyouneed.cli.output import note
from allyouneed.errors import UsageError


def import_model(
    source: Annotated[Path, typer.Argument(help="What the other toolkit saved.")],
    into: Annotated[Path, typer.Option(help="The model folder to write; it must not be in use.")],
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

    - `allyouneed import opus-mt-en-fr --into en-fr`
    - `allyouneed translate --model ./en-fr "A man rides a bike."`
    - `allyouneed import firefox/ende --into en-de-firefox`
    - `allyouneed import wmt14.en-fr/model.pt --into big-en-fr`
    - `allyouneed import JoC_Transformer.pt --dictionaries data --codes data/code --into joc`

    marian is a folder as `MarianMTModel.save_pretrained` writes it and OPUS-MT is handed out:
    config.json, the weights, vocab.json, source.spm, target.spm.

    marian-files are those of Marian itself: a folder as Firefox keeps a model (model.*.bin,
    vocab.*.spm, lex.*.bin, gzipped or not), or as a zip of OPUS-MT holds it (*.npz, source.spm,
    target.spm, *.vocab.yml, decoder.yml). A shortlist is used with translate
    --vocabulary-selection.

    fairseq is a checkpoint of fairseq or of NVIDIA's Transformer, with its dictionaries and codes.
    Its text follows Moses' rules, which need the extra: pip install 'allyouneed[moses]'.

    bert is a folder of `BertModel`, or of a class with heads on it: for masked words, next
    sentences, labels of texts or tags of tokens. It is used by predict, fill and encode.

    Nothing is fetched, and nothing that a file holds is run.
    """
    from allyouneed.interop.formats import FORMATS, format_of

    if from_ is not None and from_ not in FORMATS:
        raise UsageError(f"--from {from_} is not one of {', '.join(FORMATS)}")
    options: dict[str, object] = {"dictionaries": dictionaries, "codes": codes}
    name = from_ or format_of(source)
    for option, value in options.items():
        if value is not None and option not in FORMATS[name].options:
            raise UsageError(f"--{option} says nothing about a model from {name}; leave it out")
    given = {option: options[option] for option in FORMATS[name].options}
    folder = FORMATS[name].read(source, into, note=note, **given)
    use = "translate" if folder.heads is None else "predict, fill or encode"
    note(f"written to {folder.path}; {use} with it: --model {folder.path}")

"""`allyouneed export`: writes a model for another toolkit."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from allyouneed.cli.options import DEFAULT_MODEL, Debug, Model
from allyouneed.cli.output import note
from allyouneed.errors import UsageError

if TYPE_CHECKING:
    from allyouneed.model_folder.folder import ModelFolder

TARGETS = ("ctranslate2", "huggingface", "marian", "onnx")


def export(
    folder: Annotated[Path, typer.Argument(help="The folder to write, new or empty.")],
    to: Annotated[str, typer.Option(help=f"The toolkit: {', '.join(TARGETS)}.")],
    model: Model = DEFAULT_MODEL,
    quantization: Annotated[
        str | None,
        typer.Option(
            help="Store weights as float32 (the default) or int8; ctranslate2 also float16."
        ),
    ] = None,
    sentences: Annotated[
        Path | None,
        typer.Option(
            help="marian in int8 only: a file of source sentences that set the ranges of "
            "activations.",
            exists=True,
            dir_okay=False,
        ),
    ] = None,
    debug: Debug = False,
) -> None:
    """Write a model as a folder that another toolkit loads, with the same weights.

    **Examples**

    - `allyouneed export --to ctranslate2 en-de-ct2`
    - `allyouneed export --model runs/mine/model --to ctranslate2 --quantization int8 mine-ct2`
    - `allyouneed export --to huggingface en-de-marian`
    - `allyouneed export --model firefox-en-fr --to marian en-fr-npz`
    - `allyouneed export --model small --to marian --quantization int8 --sentences dev.en firefox`
    - `allyouneed export --to onnx en-de-onnx`

    ctranslate2 needs an extra: pip install 'allyouneed[interop]'. onnx writes the encoder and a
    decoder step as two graphs, and needs 'allyouneed[onnx]'. huggingface is for MarianMTModel; an
    encoder-only model is for BertModel and its classes with heads. marian writes the files that
    Marian, Bergamot and fxtranslate read: .npz, or .bin in 8 bits; fxtranslate needs --sentences.
    The README.md in the folder says how to use it.
    """
    if to not in TARGETS:
        raise UsageError(f"--to {to} is not one of {', '.join(TARGETS)}")
    if quantization is not None and to not in ("ctranslate2", "marian"):
        raise UsageError(
            f"--quantization needs --to ctranslate2 or --to marian; leave it out with --to {to}"
        )
    if sentences is not None and (to != "marian" or quantization != "int8"):
        raise UsageError("--sentences needs --to marian --quantization int8; leave it out")
    from allyouneed.model_folder.folder import open_model_folder

    lines = sentences.read_text("utf-8").split("\n") if sentences else ()
    _write(open_model_folder(model), folder, to, quantization or "float32", lines)
    note(f"written to {folder}; its README.md says how to use it")


def _write(
    opened: "ModelFolder", folder: Path, to: str, quantization: str, sentences: Sequence[str]
) -> None:
    match to:
        case "ctranslate2":
            from allyouneed.interop.ctranslate2 import export_ctranslate2

            export_ctranslate2(opened, folder, quantization)
        case "huggingface":
            if opened.heads is None:
                from allyouneed.interop.huggingface_folder import export_huggingface

                export_huggingface(opened, folder)
            else:
                from allyouneed.interop.bert_folder import export_bert

                export_bert(opened, folder)
        case "marian":
            from allyouneed.interop.marian.exporting import check_quantization, export_marian

            export_marian(opened, folder, check_quantization(quantization), sentences)
        case "onnx":
            from allyouneed.interop.onnx_folder import export_onnx

            export_onnx(opened, folder)

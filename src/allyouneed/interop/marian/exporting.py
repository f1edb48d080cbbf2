"""Exports a model folder to Marian's own files: `allyouneed export --to marian`."""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from allyouneed.core.config import TransformerConfig
from allyouneed.core.transformer import Transformer
from allyouneed.errors import ConfigError, UsageError
from allyouneed.interop.marian.alphas import measured_alphas
from allyouneed.interop.marian.our_model import MarianExpression, express, inexpressible
from allyouneed.interop.marian.shortlist import binary_shortlist
from allyouneed.interop.marian.writing import write_binary, write_npz, yaml_text
from allyouneed.interop.new_folder import new_folder
from allyouneed.model_folder.folder import CARD, VOCABULARY_SELECTION, ModelFolder
from allyouneed.model_folder.vocabulary_selection import open_vocabulary_selection
from allyouneed.model_folder.weights.model import check_finite, untied_weights
from allyouneed.text.marian_tokenizer import MarianTokenizer
from allyouneed.text.sentencepiece_model import SentencePieceModel

Quantization = Literal["float32", "int8"]
QUANTIZATIONS: tuple[Quantization, ...] = ("float32", "int8")
MULTIPLE_OF_VOCABULARY, MULTIPLE_OF_WIDTH = 8, 64  # of intgemm
README = """\
# {name} for Marian

Exported by allyouneed: `{model}`{others}. `decoder.yml` names them and says how to search.

{reads}

{text}

Differences from allyouneed: Marian translates a line as one piece{length}. It stops at
`max-length-factor` times the length of the source. {differs}
"""
MARIAN_ALONE = (
    "Marian and Bergamot read it. fxtranslate, Firefox's newer engine, does not, because it has "
    "{why}."
)
NEW_MARIAN = (
    "Marian from version 1.12.31 on reads it. Bergamot, fxtranslate and older versions of Marian "
    "compute {why} in another way, and would translate badly."
)
EVERYBODY = "Marian, Bergamot and fxtranslate, Firefox's newer engine, read it."


def export_marian(
    folder: ModelFolder,
    path: Path,
    quantization: Quantization = "float32",
    sentences: Iterable[str] = (),
) -> None:
    """Writes the model of `folder` to `path`, which must be empty or must not exist, for Marian.

    "float32" gives a `.npz`, "int8" a `.bin` in 8 bits. `sentences` of the source language are
    translated to measure the ranges of activations, which fxtranslate needs. A vocabulary selection
    becomes a shortlist.

    Raises:
        ConfigError: Marian cannot represent the model.
        ModelFolderError: the weights cannot be read or contain NaN, or `path` cannot be written.
        UsageError: the quantization is unknown, or `path` is in use.
    """
    check_quantization(quantization)
    with new_folder(path) as beside:
        model = folder.load_model()
        check_finite(model)
        weights = _arrays(model)
        vocabulary = _Vocabulary(folder.config, _tokenizer(folder, model, weights))
        found = express(folder.config, weights, vocabulary.rows)
        alphas = _alphas(folder, model, found, sentences) if quantization == "int8" else {}
        name = _write_model(beside, folder, found, alphas, quantization)
        others = vocabulary.write(beside)
        if shortlist := _write_shortlist(beside, folder, vocabulary.rows):
            others.append(shortlist)
        decoder = _decoder(name, vocabulary.files, shortlist, quantization, bool(alphas))
        (beside / "decoder.yml").write_text(yaml_text(decoder), "utf-8")
        card = _card(folder, vocabulary, name, others, alphas, quantization)
        (beside / CARD).write_text(card, "utf-8")


def check_quantization(name: str) -> Quantization:
    """The name, which must be one of `QUANTIZATIONS`.

    Raises:
        UsageError: it is not.
    """
    for known in QUANTIZATIONS:
        if name == known:
            return known
    raise UsageError(f"quantization={name!r} is not one of {', '.join(QUANTIZATIONS)}")


def _tokenizer(
    folder: ModelFolder, model: Transformer, weights: Mapping[str, NDArray[np.float32]]
) -> MarianTokenizer:
    """The model's tokenizer.

    Raises:
        ConfigError: Marian cannot represent the model or its tokenizer; it lists all reasons.
    """
    reasons = list(inexpressible(folder.config, weights, _tables(model)))
    if isinstance(folder.tokenizer, MarianTokenizer):
        if not reasons:
            return folder.tokenizer
    else:
        reasons.append("its vocabulary of byte pairs, as Marian cuts texts by SentencePiece")
    others = "onnx" if folder.config.decoder == "ssru" else "ctranslate2 or --to onnx"
    raise ConfigError(
        f"Marian cannot represent {folder.path.name} without changing its translations: "
        f"{'; '.join(reasons)}. Export it with --to {others}. Models imported from Marian's own "
        "files can go back to Marian"
    )


class _Vocabulary:
    """The pieces in Marian's form. `files` are the vocabularies of source and target."""

    def __init__(self, config: TransformerConfig, tokenizer: MarianTokenizer) -> None:
        self.rows = _rows(config)
        self.text = ""
        self._contents: dict[str, bytes] = {}
        sides = (tokenizer, tokenizer.target)
        files = tokenizer.files()
        spms = (files["source.spm"], files["target.spm"])
        if all(_ids_are_the_files(side.ids, spm) for side, spm in zip(sides, spms, strict=True)):
            self.rows = (_pieces(spms[0]), _pieces(spms[1]))
            names = ("vocab.spm",) * 2 if spms[0] == spms[1] else ("srcvocab.spm", "trgvocab.spm")
            self.files = (names[0], names[1])
            self._contents = dict(zip(names, spms, strict=True))
            self.text = "Marian cuts texts itself, by the SentencePiece models."
        else:
            self._tables(
                (_below(sides[0].ids, self.rows[0]), _below(sides[1].ids, self.rows[1])),
                {"source.spm": spms[0], "target.spm": spms[1]},
            )
            self.text = (
                "Texts are cut with source.spm first (`spm_encode`), and what comes out is joined "
                "with target.spm (`spm_decode`), as with OPUS-MT's own models."
            )

    def _tables(self, sides: Sequence[Mapping[str, int]], more: dict[str, bytes]) -> None:
        names = (
            ["vocab.yml"] * 2 if sides[0] == sides[1] else ["source.vocab.yml", "target.vocab.yml"]
        )
        self.files = (names[0], names[1])
        for name, ids in zip(names, sides, strict=True):
            lines = (f"{json.dumps(piece)}: {id_}\n" for piece, id_ in ids.items())
            self._contents[name] = "".join(lines).encode()
        self._contents |= more

    @property
    def cuts_texts(self) -> bool:
        """Whether Marian tokenises texts itself."""
        return self.files[0].endswith(".spm")

    def write(self, folder: Path) -> list[str]:
        """Writes all files; returns their names."""
        for name, content in self._contents.items():
            (folder / name).write_bytes(content)
        return list(self._contents)


def _rows(config: TransformerConfig) -> tuple[int, int]:
    """The number of ids on each side, without a pad at the end, which Marian does not have."""
    sizes = (config.source_vocabulary or config.vocabulary, config.vocabulary)
    last = all(size - 1 == config.pad == config.start for size in sizes)
    return (sizes[0] - 1, sizes[1] - 1) if last else sizes


def _below(ids: Mapping[str, int], rows: int) -> dict[str, int]:
    return {piece: id_ for piece, id_ in ids.items() if id_ < rows}


def _ids_are_the_files(ids: Mapping[str, int], spm: bytes) -> bool:
    pieces = SentencePieceModel(spm).pieces
    return all(ids.get(piece) == id_ for id_, piece in enumerate(pieces))


def _pieces(spm: bytes) -> int:
    return len(SentencePieceModel(spm).pieces)


def _arrays(model: Transformer) -> dict[str, NDArray[np.float32]]:
    return {name: w.detach().float().cpu().numpy() for name, w in untied_weights(model).items()}


def _tables(model: Transformer) -> dict[str, NDArray[np.float32]]:
    """Positions of the two sides, PD; zeros where the model has none."""
    found = {}
    for side in ("encoder", "decoder"):
        positions = getattr(model, side).embeddings.positions
        table = getattr(positions, "table", getattr(positions, "weight", None))
        shape = (model.config.max_positions, model.config.d_model)
        found[side] = np.zeros(shape, np.float32) if table is None else table.detach().cpu().numpy()
    return found


def _alphas(
    folder: ModelFolder, model: Transformer, found: MarianExpression, sentences: Iterable[str]
) -> dict[str, float]:
    longest = folder.config.max_positions
    ids = (folder.tokenizer.encode(sentence).ids for sentence in sentences if sentence.strip())
    return measured_alphas(model, (source for source in ids if len(source) <= longest), found.names)


def _write_model(
    path: Path,
    folder: ModelFolder,
    found: MarianExpression,
    alphas: Mapping[str, float],
    quantization: Quantization,
) -> str:
    pair = "".join(folder.languages)
    stem = f"model.{pair}" if pair else "model"
    if quantization == "float32":
        write_npz(path / f"{stem}.npz", found.settings, found.arrays)
        return f"{stem}.npz"
    _check_multiples(folder.config, found.settings["dim-vocabs"])
    name = f"{stem}.intgemm.alphas.bin" if alphas else f"{stem}.intgemm8.bin"
    write_binary(path / name, found.settings, found.arrays, alphas, int8=True)
    return name


def _check_multiples(config: TransformerConfig, rows: Sequence[int]) -> None:
    """Raises ConfigError for sizes that Marian's 8-bit products do not support."""
    for what, size, of in (
        ("d_model", config.d_model, MULTIPLE_OF_WIDTH),
        ("d_ff", config.d_ff, MULTIPLE_OF_WIDTH),
        *(("vocabulary", count, MULTIPLE_OF_VOCABULARY) for count in rows),
    ):
        if size % of:
            raise ConfigError(
                f"{what}={size} is no multiple of {of}, which Marian's products in 8 bits need; "
                "export it with --quantization float32"
            )


def _write_shortlist(path: Path, folder: ModelFolder, rows: tuple[int, int]) -> str | None:
    if not (folder.path / VOCABULARY_SELECTION).exists():
        return None
    name = f"lex.50.50.{''.join(folder.languages) or 'model'}.s2t.bin"
    selection = open_vocabulary_selection(folder)
    (path / name).write_bytes(binary_shortlist(selection, rows, folder.config.end))
    return name


def _decoder(
    model: str,
    vocabularies: tuple[str, str],
    shortlist: str | None,
    quantization: Quantization,
    alphas: bool,
) -> dict[str, Any]:
    precision = "int8shiftAlphaAll" if alphas else "int8shiftAll"
    return {
        "relative-paths": True,
        "models": [model],
        "vocabs": list(vocabularies),
        **({"shortlist": [shortlist, False]} if shortlist else {}),
        "beam-size": 1,
        "normalize": 1.0,
        "word-penalty": 0,
        "max-length-break": 128,
        "mini-batch-words": 1024,
        "max-length-factor": 2.0,
        "skip-cost": True,
        "cpu-threads": 1,
        "quiet": True,
        "gemm-precision": "float32" if quantization == "float32" else precision,
    }


def _card(
    folder: ModelFolder,
    vocabulary: _Vocabulary,
    model: str,
    others: Sequence[str],
    alphas: Mapping[str, float],
    quantization: Quantization,
) -> str:
    reasons = {
        "self-attention in the decoder": folder.config.decoder != "ssru",
        "no measured sizes of its inner numbers (export it with --sentences)": not alphas,
        "a vocabulary that is cut beforehand": not vocabulary.cuts_texts,
    }
    why = [reason for reason, there in reasons.items() if there]
    corrected = {
        "pre-norm layers": folder.config.residual == "pre-norm",
        "GELU": folder.config.activation == "gelu",
    }
    reads = EVERYBODY
    if any(corrected.values()):
        named = [name for name, there in corrected.items() if there]
        reads = NEW_MARIAN.format(why=" and ".join(named))
    elif why:
        reads = MARIAN_ALONE.format(why=", ".join(why))
    cut = folder.trained_length
    differs = (
        "Its weights are rounded to 8 bits by one factor for a whole matrix, so a few translations "
        "may differ."
        if quantization == "int8"
        else "Greedy translations are otherwise the same."
    )
    return README.format(
        name=folder.path.resolve().name,
        model=model,
        others="".join(f", `{name}`" for name in others),
        reads=reads,
        text=vocabulary.text,
        length=f"; allyouneed cuts it where it has more than {cut} tokens" if cut else "",
        differs=differs,
    )

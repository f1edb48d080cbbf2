"""Finds the files of a Marian model by their names in Firefox's folders and OPUS-MT's zips."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from allyouneed.errors import ModelFolderError, UsageError
from allyouneed.interop.marian.packed_file import read_file
from allyouneed.interop.marian.yaml_lines import read_yaml
from allyouneed.model_folder.config import unreadable

GZ = ".gz"
MODEL = (".npz", ".bin")
SETTINGS_SIZE = 4 << 20  # bytes of a decoder.yml
PAIR = re.compile(r"\.([a-z]{2,3})([a-z]{2,3})\.")  # as model.ende.intgemm.alphas.bin has it


@dataclass(frozen=True, slots=True)
class MarianFiles:
    """The files of one model. `spms` are the SentencePiece models of source and target, the same
    file twice if both sides share it. `tables` are files like vocab.yml, None if the ids are those
    of the `.spm` files. `decoder` is the content of decoder.yml, `unread` are the other files."""

    path: Path
    model: Path
    spms: tuple[Path, Path]
    tables: tuple[Path, Path] | None
    shortlist: Path | None
    decoder: Mapping[str, Any]
    unread: tuple[str, ...]


def is_marian(path: Path) -> bool:
    """Whether a path holds a model in Marian's own files, judged by their names."""
    if path.is_file():
        return _plain(path).endswith(MODEL)
    try:
        return path.is_dir() and bool(_models(path.iterdir()))
    except OSError:
        return False


def find_files(path: Path) -> MarianFiles:
    """The files of the model at `path`: a folder, or the one with the weights in it.

    Raises:
        ModelFolderError: a file is missing or cannot be read.
        UsageError: the folder holds several models; the message lists them.
    """
    folder = path if path.is_dir() else path.parent
    try:
        files = sorted(file for file in folder.iterdir() if file.is_file())
    except OSError as error:
        raise unreadable(folder, error) from error
    settings = _one(files, lambda name: name in ("decoder.yml", "config.yml"))
    decoder = _settings(settings) if settings else {}
    model = path if path.is_file() else _model(folder, files, decoder)
    spms = [file for file in files if _plain(file).endswith(".spm")]
    tables = [file for file in files if re.search(r"vocab.*\.(yml|yaml|json)$", _plain(file))]
    pair = _sides(folder, spms, ("source", "src", "target", "trg"), ".spm")
    shortlist = _shortlist(files, decoder, folder)
    used = {model, *pair, *tables, shortlist, settings}
    return MarianFiles(
        path=folder,
        model=model,
        spms=pair,
        tables=_sides(folder, tables, ("source", "src", "target", "trg"), "vocab.yml")
        if tables
        else None,
        shortlist=shortlist,
        decoder=decoder,
        unread=tuple(file.name for file in files if file not in used),
    )


def languages(files: MarianFiles, metadata: Mapping[str, Any]) -> tuple[str, str]:
    """The codes of source and target language; empty if neither metadata.json nor a file's name
    tells them."""
    told = (metadata.get("sourceLanguage"), metadata.get("targetLanguage"))
    if all(isinstance(code, str) and code for code in told):
        return str(told[0]), str(told[1])
    found = PAIR.search(files.model.name)
    if found and len(found[1]) == len(found[2]):
        return found[1], found[2]
    return "", ""


def _plain(file: Path) -> str:
    return file.name.removesuffix(GZ)


def _models(files: Iterable[Path]) -> list[Path]:
    return [
        file
        for file in files
        if _plain(file).endswith(MODEL)
        and not _plain(file).startswith(("lex", "pytorch_model"))
        and not _plain(file).endswith(".optimizer.npz")
    ]


def _model(folder: Path, files: list[Path], decoder: Mapping[str, Any]) -> Path:
    named = decoder.get("models")
    if isinstance(named, list) and named:
        if len(named) > 1:
            raise UsageError(f"{folder}: decoder.yml names {len(named)} models; import one of them")
        wanted = Path(str(named[0])).name
        if found := _one(files, lambda name: name == wanted):
            return found
    models = _models(files)
    if len(models) == 1:
        return models[0]
    if not models:
        raise ModelFolderError(f"{folder} has no .npz or .bin with a model's weights")
    names = ", ".join(file.name for file in models)
    raise UsageError(f"{folder} has several models; give the path of one: {names}")


def _sides(folder: Path, files: list[Path], marks: tuple[str, ...], what: str) -> tuple[Path, Path]:
    """The files of the source and of the target language; a single file is both."""
    source = [file for file in files if file.name.startswith(marks[:2])]
    target = [file for file in files if file.name.startswith(marks[2:])]
    if len(source) == len(target) == 1:
        return source[0], target[0]
    if len(files) == 1:
        return files[0], files[0]
    if not files:
        codes = [file.name for file in folder.glob("*.bpe*")]
        why = f"; {codes[0]} is of another kind, which is not read" if codes else ""
        raise ModelFolderError(f"{folder} has no {what} file{why}")
    names = ", ".join(file.name for file in files)
    raise ModelFolderError(f"{folder} has {names}: which is the source's, which the target's?")


def _shortlist(files: list[Path], decoder: Mapping[str, Any], folder: Path) -> Path | None:
    named = decoder.get("shortlist")
    if isinstance(named, list) and named:
        wanted = Path(str(named[0])).name
        return _one(files, lambda name: name in (wanted, wanted.removesuffix(GZ)))
    found = [
        f for f in files if _plain(f).startswith("lex") and _plain(f).endswith((".bin", ".txt"))
    ]
    if len(found) > 1:
        names = ", ".join(file.name for file in found)
        raise UsageError(f"{folder} has several shortlists; leave one of them: {names}")
    return found[0] if found else None


def _settings(file: Path) -> Mapping[str, Any]:
    content = read_file(file, SETTINGS_SIZE)
    try:
        return read_yaml(content.decode())
    except ValueError as error:
        raise ModelFolderError(f"{file}: {error}; correct it, or move it away") from error


def _one(files: Iterable[Path], fits: Any) -> Path | None:
    return next((file for file in files if fits(_plain(file)) or fits(file.name)), None)

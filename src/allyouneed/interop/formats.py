"""The formats that can be imported, and how each is recognised."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from allyouneed.errors import UsageError
from allyouneed.interop.families import (
    is_argos,
    is_ctranslate2,
    is_model_folder,
    model_type,
    set_apart,
)
from allyouneed.interop.marian.folder import is_marian
from allyouneed.model_folder.folder import ModelFolder
from allyouneed.model_folder.weights.file import PICKLE_STARTS

Note = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class ModelFormat:
    """A format. `what` describes it; `holds` tells whether a path has this format; `read` imports
    it. `read` takes the source, the folder to write, `note`, and, as keywords, the options of the
    verb that `options` names."""

    what: str
    holds: Callable[[Path], bool]
    read: Callable[..., ModelFolder]
    options: tuple[str, ...] = ()


def _read_marian(source: Path, into: Path, *, note: Note) -> ModelFolder:
    from allyouneed.interop.marian_folder import import_marian

    return import_marian(source, into, note=note)


def _read_marian_files(source: Path, into: Path, *, note: Note) -> ModelFolder:
    from allyouneed.interop.marian.importing import import_marian_files

    return import_marian_files(source, into, note=note)


def _read_m2m(source: Path, into: Path, *, note: Note) -> ModelFolder:
    from allyouneed.interop.m2m_folder import import_m2m

    return import_m2m(source, into, note=note)


def _read_ctranslate2(source: Path, into: Path, *, note: Note) -> ModelFolder:
    from allyouneed.interop.ctranslate2_folder import import_ctranslate2

    return import_ctranslate2(source, into, note=note)


def _read_fairseq(
    source: Path, into: Path, *, note: Note, dictionaries: Path | None, codes: Path | None
) -> ModelFolder:
    from allyouneed.interop.fairseq import import_fairseq

    return import_fairseq(source, into, dictionaries=dictionaries, codes=codes, note=note)


def _read_bert(source: Path, into: Path, *, note: Note) -> ModelFolder:
    from allyouneed.interop.bert_folder import import_bert

    return import_bert(source, into, note=note)


FORMATS: dict[str, ModelFormat] = {
    "marian": ModelFormat(
        "a folder of Hugging Face's MarianMTModel, as OPUS-MT has them",
        lambda path: model_type(path) == "marian",
        _read_marian,
    ),
    "argos": ModelFormat(
        "a package of Argos Translate (.argosmodel)",
        is_argos,
        _read_ctranslate2,
    ),
    "ctranslate2": ModelFormat(
        "a folder of CTranslate2: model.bin, its vocabularies and the tokenizer",
        is_ctranslate2,
        _read_ctranslate2,
    ),
    "marian-files": ModelFormat(
        "Marian's own files as Firefox and OPUS-MT's zips have them: .npz or .bin, .spm",
        is_marian,
        _read_marian_files,
    ),
    "m2m": ModelFormat(
        "a folder of Hugging Face's M2M-100, SMaLL-100 or NLLB-200",
        lambda path: model_type(path) == "m2m_100",
        _read_m2m,
    ),
    "fairseq": ModelFormat(
        "a checkpoint of fairseq or of NVIDIA's Transformer, such as model.pt",
        lambda path: path.is_file() and _begins_as_pickle(path),
        _read_fairseq,
        options=("dictionaries", "codes"),
    ),
    "bert": ModelFormat(
        "a folder of Hugging Face's BertModel, or of one of its classes with heads",
        lambda path: model_type(path) == "bert",
        _read_bert,
    ),
}


def _begins_as_pickle(file: Path) -> bool:
    try:
        with file.open("rb") as beginning:
            return beginning.read(8).startswith(PICKLE_STARTS)
    except OSError:
        return True  # the reader of this format raises an error that names the reason


def format_of(source: Path) -> str:
    """The name of the format of `source`.

    Raises:
        UsageError: it has none of these formats; the message lists them.
    """
    for name, form in FORMATS.items():
        if form.holds(source):
            return name
    if not source.exists():
        raise UsageError(f"there is no {source}; give a file or folder of the other toolkit")
    if is_model_folder(source):
        raise UsageError(f"{source} already is a model folder; use it with --model {source}")
    known = "; ".join(f"{name} ({form.what})" for name, form in FORMATS.items())
    kind = model_type(source)
    found = f" (model_type={kind!r}{set_apart(kind)})" if kind else ""
    raise UsageError(f"{source} is of no format that can be imported{found}; there are: {known}")

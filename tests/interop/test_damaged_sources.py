"""Files of every format, damaged at random: the import gives a model or one of our errors."""

import json
import os
import random
import shutil
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from transformers import BertConfig, BertForMaskedLM, BertTokenizer

from allyouneed.core.transformer import Transformer
from allyouneed.errors import AllYouNeedError
from allyouneed.interop.archive import unpacked
from allyouneed.interop.ctranslate2 import export_ctranslate2
from allyouneed.interop.formats import FORMATS, format_of
from allyouneed.interop.huggingface_folder import export_huggingface
from allyouneed.model_folder.folder import open_model_folder, save_model_folder
from allyouneed.text.tokenizer import Tokenizer

FAIRSEQ = Path(__file__).with_name("fairseq")
ODD: tuple[Any, ...] = (None, -1, 0, 1 << 40, 1e300, "", "\x00", [], {}, [[]], True, "💥" * 99)
KINDS = ("marian", "ctranslate2", "argos", "fairseq", "m2m", "bert")


@pytest.fixture
def source(
    request: pytest.FixtureRequest,
    small_model: Callable[..., Transformer],
    small_tokenizer: Tokenizer,
    m2m_folder: Callable[..., Path],
    tmp_path: Path,
) -> Path:
    """A folder of that kind. For Marian's own files see marian/test_hostile_files.py."""
    kind, path = request.param, tmp_path / request.param
    if kind == "fairseq":
        shutil.copytree(FAIRSEQ / "joined", path)
        shutil.copy(FAIRSEQ / "codes", path)
        shutil.copy(FAIRSEQ / "post-norm.pt", path / "model.pt")
    elif kind == "m2m":
        m2m_folder().rename(path)
    elif kind == "bert":
        bert_folder(path)
    else:
        save_model_folder(tmp_path / "ours", small_model(), small_tokenizer)
        folder = open_model_folder(tmp_path / "ours")
        if kind == "marian":
            export_huggingface(folder, path)
        elif kind == "ctranslate2":
            export_ctranslate2(folder, path, "int8")
        else:
            export_ctranslate2(folder, path / "model", "int8")
            (path / "metadata.json").write_text('{"from_code": "en", "to_code": "de"}')
    return path


def bert_folder(path: Path) -> None:
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "the", "man", "##s", "."]
    shape = {"hidden_size": 16, "num_attention_heads": 4, "intermediate_size": 24}
    config = BertConfig(vocab_size=len(pieces), num_hidden_layers=1, **shape)
    BertForMaskedLM(config).save_pretrained(path)
    BertTokenizer(vocab={piece: id for id, piece in enumerate(pieces)}).save_pretrained(path)


@pytest.mark.parametrize(
    ("source", "name", "value"),
    [
        ("marian", "activation_function", [[]]),
        ("m2m", "activation_function", {}),
        ("bert", "hidden_act", []),
        ("bert", "max_position_embeddings", 1 << 40),
        ("bert", "type_vocab_size", 1 << 40),
        ("bert", "hidden_size", 1 << 40),
    ],
    indirect=["source"],
)
def test_odd_settings_are_named(source: Path, name: str, value: Any, tmp_path: Path) -> None:
    config = json.loads((source / "config.json").read_text())
    (source / "config.json").write_text(json.dumps(config | {name: value}))
    named = {"max_position_embeddings": "max_positions", "type_vocab_size": "segments"}
    named["hidden_size"] = "d_model"
    with pytest.raises(AllYouNeedError, match=named.get(name, name)):
        read(source, source.name, tmp_path / "into")


@pytest.mark.parametrize("source", ["bert"], indirect=True)
@pytest.mark.parametrize("value", [1e300, -1, {}, "BertModel"])
def test_odd_names_of_classes_do_not_matter(value: Any, source: Path, tmp_path: Path) -> None:
    config = json.loads((source / "config.json").read_text())
    (source / "config.json").write_text(json.dumps(config | {"architectures": value}))
    read(source, source.name, tmp_path / "into")
    assert open_model_folder(tmp_path / "into").heads is not None


@pytest.mark.parametrize("source", ["fairseq"], indirect=True)
def test_every_cut_of_a_checkpoint_is_refused(source: Path, tmp_path: Path) -> None:
    whole = (source / "model.pt").read_bytes()
    for size in [*range(1, 400), *range(400, len(whole), 997)]:
        (source / "model.pt").write_bytes(whole[:size])
        with pytest.raises(AllYouNeedError):
            read(source, source.name, tmp_path / "into")


def damage(path: Path, draw: random.Random) -> str:
    """Damages one file of the folder; returns what was done."""
    file = draw.choice(sorted(found for found in path.rglob("*") if found.is_file()))
    content = bytearray(file.read_bytes())
    kind = draw.choice(["cut", "bits", "number", "value", "remove", "text"])
    if kind == "value" and file.suffix == ".json":
        changed = json.loads(content)
        holder = draw.choice(list(holders(changed)))
        key = draw.choice(list(holder) if isinstance(holder, dict) else range(len(holder)))
        holder[key] = draw.choice(ODD)
        file.write_text(json.dumps(changed))
        return f"{file.name}: {key!r} = {holder[key]!r}"
    if kind == "remove":
        file.unlink()
    elif kind == "cut":
        file.write_bytes(content[: draw.randrange(len(content))])
    elif kind == "text":
        file.write_bytes(draw.choice([b"", b"{}", b"[]", b"null", b"[" * 9999, bytes(64)]))
    else:
        # Most of what counts is at the beginning.
        at = draw.randrange(draw.choice([len(content), min(200, len(content))]))
        odd = draw.choice([b"\xff" * 8, bytes(8), (1 << 62).to_bytes(8, "little"), b"\x7f\xff"])
        many = odd if kind == "number" else bytes([content[at] ^ 1 << draw.randrange(8)])
        content[at : at + len(many)] = many
        file.write_bytes(content)
    return f"{file.name}: {kind}"


def holders(value: Any) -> Iterator[Any]:
    """The objects and lists in a value of JSON that have entries."""
    if isinstance(value, dict | list) and value:
        yield value
        for inner in value.values() if isinstance(value, dict) else value:
            yield from holders(inner)


@pytest.mark.parametrize("source", KINDS, indirect=True)
def test_damaged_sources(source: Path, tmp_path: Path) -> None:
    """$ALLYOUNEED_ROUNDS asks for more rounds than the test's own 40."""
    draw = random.Random(source.name)
    wrong, refused = [], 0
    for _ in range(int(os.environ.get("ALLYOUNEED_ROUNDS", "40"))):
        copy = Path(shutil.copytree(source, tmp_path / "copy"))
        done = damage(copy, draw)
        try:
            read(copy, source.name, tmp_path / "into")
        except AllYouNeedError:
            refused += 1
        except Exception as error:
            wrong.append(f"{done}: {error!r}")
        for place in (copy, tmp_path / "into"):
            shutil.rmtree(place, ignore_errors=True)
    assert not wrong, "\n".join(wrong)
    assert refused > 4


def read(copy: Path, kind: str, into: Path) -> None:
    """Imports the folder as `allyouneed import` does."""
    given, options = copy, {}
    if kind == "fairseq":
        given, options = copy / "model.pt", {"dictionaries": copy, "codes": copy / "codes"}
    elif kind == "argos":
        given = copy.with_suffix(".argosmodel")
        with zipfile.ZipFile(given, "w") as archive:
            for found in sorted(copy.rglob("*")):
                archive.write(found, found.relative_to(copy))
    with unpacked(given) as path:
        FORMATS[format_of(path)].read(path, into, note=lambda _: None, **options)

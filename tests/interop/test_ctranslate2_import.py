"""Folders of CTranslate2 and packages of Argos become model folders that translate as they do."""

import io
import json
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from sentencepiece import SentencePieceProcessor, SentencePieceTrainer

from allyouneed.core.transformer import Transformer
from allyouneed.decoding.length_penalty import Average
from allyouneed.decoding.options import BeamOptions
from allyouneed.errors import AllYouNeedError, ConfigError, ModelFolderError
from allyouneed.interop.archive import unpacked
from allyouneed.interop.ctranslate2 import export_ctranslate2
from allyouneed.interop.ctranslate2_folder import import_ctranslate2
from allyouneed.interop.ctranslate2_weights import Variables
from allyouneed.interop.formats import format_of
from allyouneed.loading import load
from allyouneed.model_folder.folder import open_model_folder, save_model_folder
from allyouneed.model_folder.traits import Traits
from allyouneed.text.languages import Languages
from allyouneed.text.tokenizer import Tokenizer
from allyouneed.translation.translator import Translator

ctranslate2 = pytest.importorskip("ctranslate2", reason="the extra interop is not installed")

Make = Callable[..., Transformer]


def _english() -> bytes:
    file = io.BytesIO()
    SentencePieceTrainer.train(
        sentence_iterator=iter(TEXTS * 5 + ["The dog sleeps in the garden, she said."] * 3),
        model_writer=file,
        vocab_size=60,
        hard_vocab_limit=False,
        minloglevel=2,
        num_threads=1,
    )
    return file.getvalue()


TEXTS = ["A man rides a bike.", "Where is the station? Where is it?", "The dog"]
ENGLISH_SPM = _english()
QUANTIZED = ["float32", "int8", "int16", "float16", "bfloat16"]


def imported(source: Path, into: Path, engine: str = "core") -> tuple[Translator, list[str]]:
    notes: list[str] = []
    import_ctranslate2(source, into, note=notes.append)
    return load(into, engine, kind=Translator), notes


def end_sooner(model: Transformer) -> Transformer:
    with torch.no_grad():
        if model.output.bias is not None:
            model.output.bias[model.config.end] += 3
    return model


@pytest.mark.parametrize(
    "changes",
    [
        {"output_bias": True},
        {"residual": "pre-norm", "encoder_layers": 2, "decoder_layers": 3},
        {"norm": "rms", "norm_epsilon": 0.1},
        {"activation": "gelu", "shared_embeddings": "output"},
        {"activation": "swiglu", "shared_embeddings": "none"},
        {"positions": "learned", "bias": False},
        {"positions": "rotary"},
        {"head_width": 12, "normalise_embeddings": True, "scale_embeddings": False},
    ],
)
def test_our_export_comes_back(
    changes: dict[str, Any], small_model: Make, small_tokenizer: Tokenizer, tmp_path: Path
) -> None:
    model = end_sooner(small_model(**changes))
    save_model_folder(tmp_path / "ours", model, small_tokenizer)
    export_ctranslate2(open_model_folder(tmp_path / "ours"), tmp_path / "ct2")
    back, _ = imported(tmp_path / "ct2", tmp_path / "back")
    source_BS = torch.tensor([[5, 20, 30, 2], [9, 8, 2, 0]])
    target_BT = torch.tensor([[1, 7, 60], [1, 20, 90]])
    with torch.inference_mode():
        torch.testing.assert_close(
            back.model(source_BS, target_BT), model(source_BS, target_BT), atol=1e-5, rtol=1e-5
        )
    first = load(tmp_path / "ours", "core", kind=Translator)
    options = BeamOptions(max_length=10)
    for text in TEXTS:
        assert back(text, options=options).tokens == first(text, options=options).tokens
    assert format_of(tmp_path / "ct2") == "ctranslate2"


def test_a_model_of_several_directions_keeps_its_marks(
    small_model: Make, small_tokenizer: Tokenizer, tmp_path: Path
) -> None:
    languages = Languages(
        sources=("de", "en"),
        targets=("de", "en"),
        marks={"de": (30,), "en": (31,)},
        source_begins_with="target",
        only=frozenset({("de", "en"), ("en", "de")}),
    )
    save_model_folder(
        tmp_path / "ours", small_model(), small_tokenizer, Traits(multilingual=languages)
    )
    export_ctranslate2(open_model_folder(tmp_path / "ours"), tmp_path / "ct2")
    card = (tmp_path / "ct2" / "README.md").read_text("utf-8")
    assert "several directions (de-en, en-de)" in card
    assert f"`{small_tokenizer.piece(30)}` for de, `{small_tokenizer.piece(31)}` for en" in card
    back, _ = imported(tmp_path / "ct2", tmp_path / "back")
    assert back.speaks == languages
    about = tmp_path / "ct2" / "allyouneed.json"
    about.write_text(about.read_text("utf-8").replace('"sources"', '"sorces"'), "utf-8")
    with pytest.raises(ModelFolderError, match=r"allyouneed\.json: languages: unknown key sorces"):
        imported(tmp_path / "ct2", tmp_path / "again")


@pytest.mark.parametrize("quantization", QUANTIZED)
def test_translations_are_those_of_ctranslate2(
    quantization: str, small_model: Make, small_tokenizer: Tokenizer, tmp_path: Path
) -> None:
    from allyouneed.interop.ctranslate2 import to_ctranslate2

    model = end_sooner(small_model(d_model=32, output_bias=True, shared_embeddings="output"))
    spec = to_ctranslate2(model, small_tokenizer)
    spec.optimize(quantization)
    folder = tmp_path / "ct2"
    folder.mkdir()
    spec.save(str(folder))
    small_tokenizer.save(folder / "tokenizer.json")
    back, _ = imported(folder, tmp_path / "back", "cpu-float32")
    theirs = ctranslate2.Translator(str(folder), compute_type="float32", intra_threads=1)
    ids = json.loads(small_tokenizer.to_json())["model"]["vocab"]
    pieces = sorted(ids, key=ids.__getitem__)
    for beam in (1, 4):
        options = BeamOptions(beam=beam, max_length=12, length_penalty=Average(), loop_guard=False)
        for text in TEXTS:
            given = [pieces[id] for id in back.tokenizer.encode(text).ids]
            [there] = theirs.translate_batch(
                [given],
                beam_size=beam,
                max_decoding_length=12,
                length_penalty=1,
                return_scores=True,
                min_decoding_length=1,
                patience=4,
                return_end_token=True,
            )
            [[best]] = back.engine.search([back.tokenizer.encode(text).ids], options)
            assert [pieces[id] for id in best.ids] == there.hypotheses[0]
    assert (back.model.state_dict()["output.bias"] - model.output.bias).abs().max() < 0.05


@pytest.mark.parametrize("quantization", [None, "int8"])
def test_a_converted_opus_mt(
    quantization: str | None, marian_folder: Callable[..., Path], tmp_path: Path
) -> None:
    source = marian_folder()
    copied = ["source.spm", "target.spm"]
    ctranslate2.converters.TransformersConverter(str(source), copy_files=copied).convert(
        str(tmp_path / "ct2"), quantization=quantization
    )
    back, _ = imported(tmp_path / "ct2", tmp_path / "back", "cpu-float32")
    theirs = ctranslate2.Translator(str(tmp_path / "ct2"), compute_type="float32")
    english = SentencePieceProcessor(model_proto=(source / "source.spm").read_bytes())
    for text in TEXTS:
        given = [*english.encode(text, out_type=str), "</s>"]
        [there] = theirs.translate_batch(
            [given], beam_size=1, max_decoding_length=12, return_end_token=True
        )
        options = BeamOptions(beam=1, max_length=12, loop_guard=False)
        found = back(text, options=options)
        assert [token.replace(" ", "▁") for token in found.tokens] == there.hypotheses[0]


def package(path: Path, small_model: Make, **metadata: str) -> Path:
    """A package of Argos, zipped: sources without an end, a pad called <blank>."""
    processor = SentencePieceProcessor(model_proto=ENGLISH_SPM)
    own = [processor.id_to_piece(id) for id in range(processor.get_piece_size())]
    special = ["<unk>", "<s>", "</s>", "<blank>"]
    pieces = [*special, *(piece for piece in own if piece not in special)]
    model = end_sooner(
        small_model(
            vocabulary=len(pieces),
            output_bias=True,
            pad=3,
            start=1,
            end=2,
            d_model=32,
            shared_embeddings="none",
        )
    )
    from allyouneed.interop import ctranslate2 as exporter

    specs = exporter._specs()
    spec = exporter._empty_spec(specs, model.config)
    for theirs, ours in ((spec.encoder, model.encoder), (spec.decoder, model.decoder)):
        for layer, our_layer in zip(theirs.layer, ours.layers, strict=True):
            exporter._fill_layer(layer, our_layer)
        theirs.scale_embeddings = True
        theirs.position_encodings.encodings = exporter._position_table(
            ours.embeddings.positions, model.config
        )
    spec.encoder.embeddings[0].weight = exporter._array(model.encoder.embeddings.tokens.weight)
    spec.decoder.embeddings.weight = exporter._array(model.decoder.embeddings.tokens.weight)
    exporter._fill_linear(spec.decoder.projection, model.output)
    spec.register_source_vocabulary(pieces)
    spec.register_target_vocabulary(pieces)
    spec.validate()
    spec.optimize("int8")
    inside = path / "translate-en_de-1_0"
    (inside / "model").mkdir(parents=True)
    spec.save(str(inside / "model"))
    (inside / "sentencepiece.model").write_bytes(ENGLISH_SPM)
    (inside / "metadata.json").write_text(
        json.dumps({"from_code": "en", "to_code": "de", "package_version": "1.0", **metadata})
    )
    file = path / "translate-en_de.argosmodel"
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for found in sorted(inside.rglob("*")):
            archive.write(found, found.relative_to(path))
    return file


def test_a_package_of_argos(small_model: Make, tmp_path: Path) -> None:
    file = package(tmp_path, small_model, name="English to German")
    with unpacked(file) as folder:
        assert format_of(folder) == "argos"
        back, notes = imported(folder, tmp_path / "back", "cpu-float32")
    assert not folder.exists()
    assert notes == ["sources get no end token, because OpenNMT trained the model without one"]
    assert back.directions == (("en", "de"),)
    inside = tmp_path / "translate-en_de-1_0"
    theirs = ctranslate2.Translator(str(inside / "model"), compute_type="float32")
    processor = SentencePieceProcessor(model_proto=ENGLISH_SPM)
    said = set()
    for text in TEXTS:
        given = processor.encode(text, out_type=str)
        [there] = theirs.translate_batch(
            [given], beam_size=1, max_decoding_length=12, return_end_token=True
        )
        options = BeamOptions(beam=1, max_length=12, loop_guard=False)
        core = load(tmp_path / "back", "core", kind=Translator)(text, options=options)
        found = back(text, options=options)
        assert [t.replace(" ", "▁") for t in found.tokens] == there.hypotheses[0]
        assert core.tokens == found.tokens
        said |= set(found.tokens)
    assert len(said) >= 3
    assert "English to German" in (tmp_path / "back" / "README.md").read_text("utf-8")


# What is refused


@pytest.fixture
def ct2(small_model: Make, small_tokenizer: Tokenizer, tmp_path: Path) -> Path:
    save_model_folder(tmp_path / "m", small_model(), small_tokenizer)
    export_ctranslate2(open_model_folder(tmp_path / "m"), tmp_path / "ct2", "int8")
    return tmp_path / "ct2"


def test_files_cut_anywhere_are_refused(ct2: Path, tmp_path: Path) -> None:
    whole = (ct2 / "model.bin").read_bytes()
    chance = np.random.default_rng(0)
    for size in [0, 1, 4, 30, *chance.integers(30, len(whole), 40)]:
        (ct2 / "model.bin").write_bytes(whole[:size])
        with pytest.raises(ModelFolderError, match=r"model\.bin"):
            import_ctranslate2(ct2, tmp_path / "back", note=print)
    assert not (tmp_path / "back").exists()


def test_files_with_wrong_bytes_are_read_or_refused(ct2: Path, tmp_path: Path) -> None:
    whole = (ct2 / "model.bin").read_bytes()
    chance = np.random.default_rng(1)
    refused: list[str] = []
    for number in range(60):
        bad = bytearray(whole)
        for place in chance.integers(0, 2000, 3):
            bad[place] = chance.integers(256)
        (ct2 / "model.bin").write_bytes(bad)
        try:
            import_ctranslate2(ct2, tmp_path / f"back{number}", note=print)
        except AllYouNeedError as error:
            refused.append(str(error))
    assert len(refused) > 5
    assert all("model.bin" in error for error in refused)


def header(count: int) -> bytes:
    return struct.pack("<IH", 6, 16) + b"TransformerSpec\0" + struct.pack("<II", 7, count)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (struct.pack("<I", 5) + bytes(50), "version 5 of CTranslate2's format, but only version 6"),
        (struct.pack("<IH", 6, 12) + b"WhisperSpec\0" + bytes(50), "holds a 'WhisperSpec'"),
        (header(2**32 - 1), "is damaged or cut short"),
        (
            header(1)
            + struct.pack("<H", 2)
            + b"a\0"
            + struct.pack("<BIIBI", 2, 1 << 31, 1 << 31, 0, 0),
            "is damaged or cut short",
        ),
        (header(1) + struct.pack("<H", 2) + b"a\0" + b"\xff" * 60, "has 255 dimensions"),
    ],
)
def test_absurd_files_are_refused(content: bytes, said: str, ct2: Path, tmp_path: Path) -> None:
    (ct2 / "model.bin").write_bytes(content)
    with pytest.raises(ModelFolderError, match=said):
        import_ctranslate2(ct2, tmp_path / "back", note=print)


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda path: (path / "tokenizer.json").unlink(), "has no tokenizer: put beside it"),
        (lambda path: (path / "shared_vocabulary.json").unlink(), "lacks its vocabularies"),
        (lambda path: (path / "shared_vocabulary.json").write_text("[" * 10**5), "is no JSON"),
        (lambda path: (path / "shared_vocabulary.json").write_text("[1]"), "no list of pieces"),
        (
            lambda path: (path / "shared_vocabulary.json").write_text('["a"]'),
            "has other pieces than the vocabulary",
        ),
        (
            lambda path: (path / "config.json").write_text('{"add_source_bos": true}'),
            "add_source_bos=true is not supported",
        ),
    ],
)
def test_folders_that_are_refused(
    spoil: Callable[[Path], Any], said: str, ct2: Path, tmp_path: Path
) -> None:
    spoil(ct2)
    with pytest.raises(AllYouNeedError, match=said):
        import_ctranslate2(ct2, tmp_path / "back", note=print)


def zipped(path: Path, name: str, content: bytes, link: bool = False) -> Path:
    file = path / "bad.zip"
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        entry = zipfile.ZipInfo(name)
        entry.compress_type = zipfile.ZIP_DEFLATED
        if link:
            entry.external_attr = 0o120777 << 16
        archive.writestr(entry, content)
    return file


@pytest.mark.parametrize("name", ["../out", "/out", "a/../../out", "C:\\out", "..\\out"])
def test_zips_that_would_write_elsewhere(name: str, tmp_path: Path) -> None:
    file = zipped(tmp_path, name, b"x")
    with pytest.raises(ModelFolderError, match="outside of its folder"), unpacked(file):
        pass
    assert [entry.name for entry in tmp_path.iterdir()] == ["bad.zip"]


def test_zips_with_links(tmp_path: Path) -> None:
    file = zipped(tmp_path, "link", b"/etc/passwd", link=True)
    with pytest.raises(ModelFolderError, match="outside of its folder"), unpacked(file):
        pass


def test_zip_bombs(tmp_path: Path) -> None:
    file = zipped(tmp_path, "model.bin", bytes(300 << 20))
    with (
        pytest.raises(ModelFolderError, match="claims to hold 314,572,800 bytes"),
        unpacked(file),
    ):
        pass


def test_zips_that_say_less_than_they_hold(tmp_path: Path) -> None:
    file = zipped(tmp_path, "model.bin", bytes(10**6))
    content = file.read_bytes()
    size = struct.pack("<I", 10**6)
    assert content.count(size) == 2
    file.write_bytes(content.replace(size, struct.pack("<I", 10)))
    with (
        pytest.raises(ModelFolderError, match=r"larger than it claims|damaged zip"),
        unpacked(file),
    ):
        pass


def test_zips_that_are_cut(small_model: Make, tmp_path: Path) -> None:
    file = package(tmp_path, small_model)
    content = file.read_bytes()
    bad = bytearray(content)
    bad[200:240] = bytes(40)
    file.write_bytes(bad)
    with pytest.raises(ModelFolderError, match=r"damaged zip|cannot be unpacked"), unpacked(file):
        pass


# Exports of this project come back


@pytest.mark.parametrize("to", ["ctranslate2", "huggingface"])
def test_what_was_exported_translates_as_before(to: str, tmp_path: Path) -> None:
    from allyouneed.interop.huggingface_folder import export_huggingface
    from allyouneed.interop.marian_folder import import_marian

    ours = open_model_folder("en-de")
    export = {"ctranslate2": export_ctranslate2, "huggingface": export_huggingface}[to]
    export(ours, tmp_path / "there")
    length = ours.trained_length
    card = (tmp_path / "there" / "README.md").read_text("utf-8")
    assert f"texts of up to {length} tokens" in card
    come_back = {"ctranslate2": import_ctranslate2, "huggingface": import_marian}[to]
    come_back(tmp_path / "there", tmp_path / "back", note=lambda text: None)
    back = open_model_folder(tmp_path / "back")
    assert (back.languages, back.trained_length, back.normaliser) == (
        ours.languages,
        ours.trained_length,
        ours.normaliser,
    )
    assert back.tokenizer.to_json() == ours.tokenizer.to_json()
    one, other = (load(folder, "cpu-float32", kind=Translator) for folder in (ours, back))
    texts = ["A man rides a bike.", "“Where is it?” – he asked.", "I like it here. " * 12]
    before, after = one(texts), other(texts)
    assert [found.text for found in before] == [found.text for found in after]
    assert [found.notes for found in before] == [found.notes for found in after]


@pytest.mark.parametrize("scale", [0, 1e-44, np.nan])
def test_a_scale_that_makes_weights_infinite_is_refused(scale: float) -> None:
    variables = {"w": np.ones((2, 3), np.int8), "w_scale": np.array([1, scale], np.float32)}
    with pytest.raises(ConfigError, match="w_scale makes weights of w NaN or infinite"):
        Variables(variables).floats("w")


@pytest.mark.parametrize("value", [[], {}, 1, "unheard of"])
def test_an_odd_normaliser_is_refused(value: Any, ct2: Path, tmp_path: Path) -> None:
    about = json.loads((ct2 / "allyouneed.json").read_text("utf-8"))
    (ct2 / "allyouneed.json").write_text(json.dumps(about | {"normaliser": value}))
    with pytest.raises(ModelFolderError, match=r"allyouneed\.json: normaliser=.* is not known"):
        import_ctranslate2(ct2, tmp_path / "back", note=print)

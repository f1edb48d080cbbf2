"""Models go to Marian's own files and come back; Firefox's engine says what we say."""

import importlib.util
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import allyouneed
from allyouneed.decoding.options import BeamOptions
from allyouneed.errors import ConfigError, UsageError
from allyouneed.interop.marian.binary import array_of, read_binary
from allyouneed.interop.marian.exporting import export_marian
from allyouneed.interop.marian.importing import import_marian_files
from allyouneed.interop.marian.reading import read_model
from allyouneed.interop.marian.shortlist import read_binary_shortlist
from allyouneed.model_folder.folder import (
    VOCABULARY_SELECTION,
    ModelFolder,
    open_model_folder,
    save_model_folder,
)
from allyouneed.model_folder.vocabulary_selection import open_vocabulary_selection

Make = Callable[..., Path]
Import = Callable[..., tuple[ModelFolder, list[str]]]
OPTIONS = BeamOptions(beam=1, max_length=20, loop_guard=False, min_length=0)


def texts(toys: Any, count: int = 40) -> list[str]:
    """Lines of at most seven pieces, made of the words of `TEXTS`."""
    words, cut = " ".join(toys.TEXTS).split(), toys.pieces(toys.spm()).encode
    chance, lines = random.Random(0), []
    while len(lines) < count:
        line = " ".join(chance.choices(words, k=chance.randint(1, 3)))
        lines += [line] * (len(cut(line)) <= 7 and min(cut(line)) >= toys.WORDS)
    return lines


def translations(folder: Path, lines: list[str], engine: str = "core", **how: Any) -> list[str]:
    translator = allyouneed.load(str(folder), engine=engine, **how)
    sources = [translator.tokenizer.encode(line).ids for line in lines]
    found = translator.engine.search(sources, OPTIONS)
    return [translator.tokenizer.target.decode(best.ids) for [best] in found]


def back(path: Path, into: Path) -> Path:
    return import_marian_files(path, into, note=lambda _: None).path


def test_the_model_says_its_source(toys: Any, copier: Path) -> None:
    lines = texts(toys)
    same = sum(a == b for a, b in zip(translations(copier, lines), lines, strict=True))
    assert same > 30


@pytest.mark.parametrize("quantization", ["float32", "int8"])
def test_what_is_exported_comes_back(
    toys: Any, copier: Path, tmp_path: Path, quantization: Any
) -> None:
    lines = texts(toys)
    export_marian(open_model_folder(copier), tmp_path / "exported", quantization, lines[:10])
    again = back(tmp_path / "exported", tmp_path / "ours")
    assert translations(again, lines) == translations(copier, lines)
    ours, theirs = open_model_folder(copier), open_model_folder(again)
    assert theirs.languages == ours.languages
    assert theirs.tokenizer.fingerprint() == ours.tokenizer.fingerprint()
    if quantization == "float32":
        before, after = ours.load_arrays(), theirs.load_arrays()
        assert before.keys() == after.keys()
        for name, array in before.items():
            assert np.allclose(array, after[name], atol=1e-6), name
    selections = [open_vocabulary_selection(folder) for folder in (ours, theirs)]
    for line in lines:
        source = ours.tokenizer.encode(line).ids
        found, wanted = (set(one.ids([source]).tolist()) for one in selections)
        assert found == wanted


def test_firefox_says_the_same(toys: Any, copier: Path, tmp_path: Path) -> None:
    fxtranslate = pytest.importorskip("fxtranslate")
    lines, path = texts(toys, 200), tmp_path / "exported"
    export_marian(open_model_folder(copier), path, "int8", lines[:10])
    model = (path / "model.ende.intgemm.alphas.bin").read_bytes()
    spm = (path / "vocab.spm").read_bytes()
    shortlist = (path / "lex.50.50.ende.s2t.bin").read_bytes()
    for chosen in (None, shortlist):
        engine = fxtranslate.Translator(model, spm, spm, chosen)
        found = [engine.translate(line) for line in lines]
        how = {"vocabulary_selection": chosen is not None}
        wanted = translations(copier, lines, "cpu-int8", **how)
        assert sum(a == b for a, b in zip(found, wanted, strict=True)) >= 0.98 * len(lines)


@pytest.fixture(scope="session")
def slimt() -> Any:
    """The compiled module of slimt; the package around it fetches lists of models when imported."""
    package = importlib.util.find_spec("slimt")
    if package is None or not package.origin:
        pytest.skip("slimt has wheels for Python 3.10 and 3.11 on Linux")
    [file] = Path(package.origin).parent.glob("_slimt.*.so")
    spec = importlib.util.spec_from_file_location("_slimt", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_slimt_says_the_same(toys: Any, slimt: Any, tmp_path: Path) -> None:
    """slimt 0.1 gives every target token the first position. The model here learns to copy with
    such a decoder, and is exported with Marian's positions, which slimt ignores."""
    size, theirs = len(toys.pieces(toys.spm())), tmp_path / "theirs"
    theirs.mkdir()
    toy = toys.toy((size, size), layers=(1, 2), d_ff=128, scale=1.0)
    (theirs / "model.npz").write_bytes(toys.npz_file(toy))
    (theirs / "vocab.spm").write_bytes(toys.spm())
    (theirs / "lex.s2t.bin").write_bytes(toys.lex_file(range(40), [[s] for s in range(size)]))
    ours = import_marian_files(theirs, tmp_path / "ours", note=lambda _: None)

    def saved(positions_PD: torch.Tensor, of: Path, name: str) -> ModelFolder:
        folder, path = open_model_folder(of), tmp_path / name
        model = folder.load_model()
        model.decoder.embeddings.positions.table.copy_(positions_PD)
        save_model_folder(path, model, folder.tokenizer)
        shutil.copy(ours.path / VOCABULARY_SELECTION, path)
        return open_model_folder(path)

    with torch.no_grad():
        marians_PD = ours.load_model().decoder.embeddings.positions.table
        still = saved(marians_PD[:1].expand_as(marians_PD), ours.path, "still")
    toys.teach_to_copy(still)
    with torch.no_grad():
        learnt = saved(marians_PD, still.path, "learnt")
    lines, path = texts(toys, 200), tmp_path / "exported"
    export_marian(learnt, path, "int8", lines[:10])

    shape = slimt.Config()
    shape.encoder_layers, shape.decoder_layers, shape.num_heads = 1, 2, 4
    [weights], [shortlist] = path.glob("model.*.bin"), path.glob("lex.*.bin")
    package = slimt.Package(str(weights), str(path / "vocab.spm"), str(shortlist))
    service, model = slimt.Service(workers=1), slimt.Model(shape, package)
    # One line at a time: in batches slimt cuts translations short.
    found = [service.translate(model, [line])[0].target.text for line in lines]
    wanted = translations(still.path, lines, "cpu-int8", vocabulary_selection=True)
    assert sum(a == b for a, b in zip(found, wanted, strict=True)) >= 0.95 * len(lines)


def test_the_file_is_laid_out_as_marians(toys: Any, copier: Path, tmp_path: Path) -> None:
    folder, path = open_model_folder(copier), tmp_path / "exported"
    export_marian(folder, path, "int8", texts(toys)[:3])
    file = memoryview((path / "model.ende.intgemm.alphas.bin").read_bytes())
    items = {item.name: item for item in read_binary(file)}
    for item in items.values():
        assert len(item.data) % 256 == 0
        begin = np.frombuffer(item.data, np.uint8).__array_interface__["data"][0]
        whole = np.frombuffer(file, np.uint8).__array_interface__["data"][0]
        assert (begin - whole) % 256 == 0
    matrices = {name for name, item in items.items() if item.type == 0x4101}
    assert {"Wemb", "decoder_l1_rnn_W", "decoder_l1_rnn_Wf", "encoder_l1_ffn_W2"} <= matrices
    factors = {name for name in items if name.endswith("_QuantMultA")}
    assert factors == {f"{name}_QuantMultA" for name in matrices} | {"none_QuantMultA"}
    weight = folder.load_arrays()["decoder.layers.0.recurrence.W_f.weight"]
    stored = array_of(items["decoder_l1_rnn_Wf"])
    assert np.abs(stored - weight.T).max() <= np.abs(weight).max() / 127 * 0.501
    assert items["Wemb"].shape == (folder.config.vocabulary - 1, folder.config.d_model)


def test_factors_are_what_the_inputs_need(toys: Any, copier: Path, tmp_path: Path) -> None:
    """127 / (mean + 1.1 standard deviations) of the largest input of each call."""
    folder, line = open_model_folder(copier), texts(toys)[0]
    export_marian(folder, tmp_path / "exported", "int8", [line])
    file = memoryview((tmp_path / "exported" / "model.ende.intgemm.alphas.bin").read_bytes())
    items = {item.name: item for item in read_binary(file)}
    model = folder.load_model()
    with torch.inference_mode():
        source_BS = torch.tensor([folder.tokenizer.encode(line).ids])
        largest = float(model.encoder.embeddings(source_BS).abs().max())
    found = float(array_of(items["encoder_l1_self_Wq_QuantMultA"])[0])
    assert found == pytest.approx(127 / largest, rel=1e-5)  # one call: no deviation


def test_the_shortlist_begins_with_the_first_ids(copier: Path, tmp_path: Path) -> None:
    export_marian(open_model_folder(copier), tmp_path / "exported")
    content = (tmp_path / "exported" / "lex.50.50.ende.s2t.bin").read_bytes()
    first, offsets, ids_C = read_binary_shortlist(content)
    assert first == 38
    assert len(content) % 8 == 0
    assert offsets[-1] == len(ids_C)


def test_opus_mt_goes_back_as_it_came(
    toys: Any, folder: Make, imported: Import, tmp_path: Path
) -> None:
    spm = toys.spm(fallback=False)
    names = ["</s>", "<unk>", ">>deu<<", *(f"x{n}" for n in range(5))]
    processor = toys.pieces(spm)
    names += [processor.id_to_piece(id_) for id_ in range(2, len(processor))]
    model = toys.toy((len(names), len(names)), autoreg="self-attention")
    table = "".join(f'"{name}": {id_}\n' for id_, name in enumerate(names) if '"' not in name)
    files = {
        "opus.npz": toys.npz_file(model),
        "opus.vocab.yml": table.encode(),
        "source.spm": spm,
        "target.spm": spm,
    }
    ours, _ = imported(folder(files))
    export_marian(ours, tmp_path / "back")
    again = back(tmp_path / "back", tmp_path / "again")
    assert translations(again, list(toys.LINES)) == translations(ours.path, list(toys.LINES))
    assert read_model(tmp_path / "back" / "model.npz").arrays.keys() == model.weights.keys()
    for name, weight in model.weights.items():
        if name != "decoder_ff_logit_out_b":
            assert np.array_equal(read_model(tmp_path / "back" / "model.npz").arrays[name], weight)


@pytest.mark.parametrize("shape", [{}, {"pre_norm": True}, {"activation": "gelu"}], ids=str)
def test_200_lines_are_translated_alike(
    toys: Any, folder: Make, imported: Import, tmp_path: Path, shape: dict[str, Any]
) -> None:
    size = len(toys.pieces(toys.spm()))
    model = toys.toy((size, size), layers=(1, 2), version=toys.NEW, **shape)
    ours, _ = imported(folder({"model.npz": toys.npz_file(model), "vocab.spm": toys.spm()}))
    export_marian(ours, tmp_path / "back")
    again, lines = back(tmp_path / "back", tmp_path / "again"), texts(toys, 200)
    found = translations(again, lines)
    assert found == translations(ours.path, lines)
    assert len(set(found)) > 30
    written = read_model(tmp_path / "back" / "model.npz").arrays
    for name, weight in model.weights.items():
        if name != "decoder_ff_logit_out_b":
            assert np.array_equal(written[name], weight), name
    card = (tmp_path / "back" / "README.md").read_text("utf-8")
    assert ("Marian from version 1.12.31 on reads it" in card) is bool(shape)


def test_a_bundled_model_is_refused_with_all_reasons(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="Marian cannot represent en-de without changing") as told:
        export_marian(open_model_folder("en-de"), tmp_path / "exported")
    assert told.match("positions='sinusoidal', as Marian's sinusoids have other frequencies; the")
    assert told.match("the embedding of start=1, as Marian begins .* a vector of zeros; its vocab")
    assert told.match("its vocabulary of byte pairs.* Export it with --to ctranslate2 or --to onnx")
    assert "epsilon" not in str(told.value)
    assert not (tmp_path / "exported").exists()


def test_a_search_that_marian_does_otherwise_is_no_export(
    toys: Any, folder: Make, imported: Import, tmp_path: Path
) -> None:
    size = len(toys.pieces(toys.spm()))
    model = toys.toy((size, size), pre_norm=True, autoreg="self-attention", version=toys.NEW)
    ours, _ = imported(folder({"model.npz": toys.npz_file(model), "vocab.spm": toys.spm()}))
    with pytest.raises(ConfigError, match="'pre-norm' with self-attention in the decoder, where"):
        export_marian(ours, tmp_path / "back")


def test_what_marian_has_no_room_for(copier: Path, tmp_path: Path) -> None:
    folder = open_model_folder(copier)
    changed = folder.load_model()
    with torch.no_grad():
        changed.decoder.embeddings.positions.table[3, 5] += 1
    save_model_folder(tmp_path / "positions", changed, folder.tokenizer)
    with pytest.raises(ConfigError, match=r"positions='stored', as .* Export it with --to onnx\."):
        export_marian(open_model_folder(tmp_path / "positions"), tmp_path / "exported")
    changed = folder.load_model()
    with torch.no_grad():
        changed.encoder.embeddings.tokens.weight[folder.config.start, 0] = 0.5
    save_model_folder(tmp_path / "start", changed, folder.tokenizer)
    with pytest.raises(ConfigError, match="translations: the embedding of start="):
        export_marian(open_model_folder(tmp_path / "start"), tmp_path / "exported")
    with pytest.raises(UsageError, match="quantization='int4' is not one of float32, int8"):
        export_marian(folder, tmp_path / "exported", "int4")  # type: ignore[arg-type]
    assert not (tmp_path / "exported").exists()


def test_sizes_that_its_8_bits_do_not_take(
    toys: Any, folder: Make, imported: Import, tmp_path: Path
) -> None:
    size = len(toys.pieces(toys.spm()))
    model = toys.toy((size, size), d_model=32, heads=2)
    ours, _ = imported(folder({"model.npz": toys.npz_file(model), "vocab.spm": toys.spm()}))
    with pytest.raises(ConfigError, match=r"d_model=32 is no multiple of 64.*--quantization float"):
        export_marian(ours, tmp_path / "exported", "int8")
    export_marian(ours, tmp_path / "exported")
    assert "Marian and Bergamot read it" in (tmp_path / "exported" / "README.md").read_text("utf-8")

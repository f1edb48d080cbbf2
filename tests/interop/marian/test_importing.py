"""Marian's own files become model folders that search as Marian's equations say."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from torch.testing import assert_close

import allyouneed
from allyouneed.decoding.options import BeamOptions
from allyouneed.engine.native import why_not
from allyouneed.errors import ConfigError, ModelFolderError, UsageError
from allyouneed.interop.formats import format_of
from allyouneed.model_folder.folder import WEIGHTS, ModelFolder

Make = Callable[..., Path]
Import = Callable[..., tuple[ModelFolder, list[str]]]
LENGTH = 12
OPTIONS = BeamOptions(beam=1, max_length=LENGTH, loop_guard=False, min_length=0)
NEW = "v1.12.31 4ee52131 2024-02-05 09:11:02"
KINDS: dict[str, dict[str, Any]] = {
    "ssru": {},
    "self-attention": {"autoreg": "self-attention"},
    "target tied": {"tied": "target", "seed": 1},
    "nothing tied": {"tied": "none", "autoreg": "self-attention"},
    "swish, deep": {"activation": "swish", "layers": (3, 1), "d_ff": 96},
    "gelu": {"activation": "gelu", "version": NEW},
    "pre-norm": {"pre_norm": True, "version": NEW},
    "pre-norm, self-attention": {
        "pre_norm": True,
        "autoreg": "self-attention",
        "activation": "swish",
        "version": NEW,
    },
}


def check_search(toys: Any, model: Any, folder: ModelFolder, engine: str = "core") -> None:
    """Greedy ids and logits are those of Marian's equations."""
    translator = allyouneed.load(str(folder.path), engine=engine)
    reference = toys.Reference(model)
    said = set()
    for line in toys.LINES:
        ids = translator.tokenizer.encode(line).ids
        wanted = reference.greedy(ids, LENGTH)
        [[found]] = translator.engine.search([ids], OPTIONS)
        assert list(found.ids) == wanted
        said.update(wanted)
    assert len(said) > 1


@pytest.mark.parametrize("kind", KINDS)
def test_npz_by_the_equations(toys: Any, folder: Make, imported: Import, kind: str) -> None:
    size = len(toys.pieces(toys.spm()))
    model = toys.toy((size, size), **KINDS[kind])
    ours, _ = imported(folder({"model.npz": toys.npz_file(model), "vocab.spm": toys.spm()}))
    check_search(toys, model, ours)
    core, reference = ours.load_model(), toys.Reference(model)
    source, target = [5, 6, 7, 8, 0], [9, 10, 11, 12]
    with torch.inference_mode():
        shifted_BT = torch.tensor([[ours.config.start, *target]])
        logits_TV = core(torch.tensor([source]), shifted_BT)[0].double()
    wanted_TV = torch.from_numpy(reference.logits(source, target))
    wanted_TV[:, toys.UNKNOWN] = -1e4
    spread = wanted_TV[:, 2:].std()
    assert_close(logits_TV[:, 2:size] / spread, wanted_TV[:, 2:] / spread, rtol=0, atol=1e-4)
    assert (logits_TV[:, [toys.UNKNOWN, size]] < -9e3).all()


@pytest.mark.parametrize("bits", [32, 8, 16])
@pytest.mark.parametrize("packed", ["", ".gz"])
def test_bin_is_read_as_marian_reads_it(
    toys: Any, folder: Make, imported: Import, bits: int, packed: str
) -> None:
    size = len(toys.pieces(toys.spm()))
    model = toys.toy((size, size), tied="all" if bits == 8 else "none")
    alphas = {"encoder_l1_self_Wq_QuantMultA": 9.0, "none_QuantMultA": 8.0} if bits == 8 else {}
    files = {
        f"model.ende.intgemm.bin{packed}": toys.bin_file(model, bits=bits, alphas=alphas),
        f"vocab.ende.spm{packed}": toys.spm(),
    }
    ours, _ = imported(folder(files))
    assert ours.languages == ("en", "de")
    stored = toys.rounded(model, {32: 1 << 22, 8: 127, 16: 1023}[bits]) if bits < 32 else model
    check_search(toys, stored, ours)


def test_a_model_in_8_bits_stays_in_8_bits(toys: Any, folder: Make, imported: Import) -> None:
    """Without loss: the numbers are those that Marian's file holds."""
    size = len(toys.pieces(toys.spm()))
    model = toys.toy((size, size), tied="none")
    files = {"vocab.spm": toys.spm()}
    ours, _ = imported(folder({"model.bin": toys.bin_file(model, bits=8), **files}, "8"), "ours-8")
    whole, _ = imported(
        folder({"model.npz": toys.npz_file(toys.rounded(model)), **files}, "32"), "ours-32"
    )
    stored = load_file(ours.path / WEIGHTS)
    shapes = {name: weight.ndim for name, weight in load_file(whole.path / WEIGHTS).items()}
    matrices = {name for name in shapes if shapes[name] == 2 and "positions" not in name}
    assert matrices
    assert {stored[name].dtype for name in matrices} == {torch.int8}
    assert all(stored[name].dtype == torch.float32 for name in stored.keys() - matrices)
    for name, array in whole.load_arrays().items():
        np.testing.assert_allclose(ours.load_arrays()[name], array, rtol=1e-6)


@pytest.mark.parametrize("autoreg", ["rnn", "self-attention"])
def test_the_native_engine_says_the_same(
    toys: Any, folder: Make, imported: Import, autoreg: str
) -> None:
    size = len(toys.pieces(toys.spm()))
    model = toys.toy((size, size), autoreg=autoreg)
    ours, _ = imported(folder({"model.npz": toys.npz_file(model), "vocab.spm": toys.spm()}))
    assert why_not(ours.config) is None
    check_search(toys, model, ours, "cpu-float32")


def test_two_vocabularies_of_other_sizes(toys: Any, folder: Make, imported: Import) -> None:
    """As Firefox has them for languages with other scripts."""
    source, target = toys.spm(), toys.spm(360)
    sizes = len(toys.pieces(source)), len(toys.pieces(target))
    assert sizes[0] != sizes[1]
    model = toys.toy(sizes, tied="target")
    files = {
        "model.enja.intgemm8.bin": toys.bin_file(model, bits=8),
        "srcvocab.enja.spm": source,
        "trgvocab.enja.spm": target,
    }
    ours, _ = imported(folder(files))
    assert ours.config.pad == ours.config.start == max(sizes)
    check_search(toys, toys.rounded(model), ours)
    for side, spm in ((ours.tokenizer, source), (ours.tokenizer.target, target)):
        for line in toys.LINES:
            assert side.encode(line).ids == [*toys.pieces(spm).encode(line), 0]
            assert side.decode(side.encode(line).ids) == line


def opus(toys: Any, **shape: Any) -> tuple[Any, dict[str, bytes], dict[str, int]]:
    spm = toys.spm(fallback=False)
    names = ["</s>", "<unk>", ">>deu<<"]
    processor = toys.pieces(spm)
    names += [processor.id_to_piece(id_) for id_ in range(2, len(processor))][::-1]
    ids = {name: id_ for id_, name in enumerate(names)}
    model = toys.toy((len(ids), len(ids)), autoreg="self-attention", **shape)
    files = {
        "opus.spm32k-spm32k.transformer-align.model1.npz.best-perplexity.npz": toys.npz_file(model),
        "opus.spm32k-spm32k.vocab.yml": "".join(
            f"{json.dumps(name)}: {id_}\n" for name, id_ in ids.items()
        ).encode(),
        "source.spm": spm,
        "target.spm": spm,
        "decoder.yml": b"""relative-paths: true
models:
  - opus.spm32k-spm32k.transformer-align.model1.npz.best-perplexity.npz
vocabs:
  - opus.spm32k-spm32k.vocab.yml
  - opus.spm32k-spm32k.vocab.yml
beam-size: 6
normalize: 1
word-penalty: 0.2
mini-batch: 1
""",
        "preprocess.sh": b"#!/bin/bash\n",
        "LICENSE": b"CC-BY 4.0\n",
    }
    return model, files, ids


def test_a_folder_of_opus_mt(toys: Any, folder: Make, imported: Import) -> None:
    model, files, ids = opus(toys)
    path = folder(files)
    assert format_of(path) == "marian-files"
    ours, notes = imported(path)
    check_search(toys, model, ours)
    assert ours.tokenizer.encode(">>deu<< A dog.").ids[0] == ids[">>deu<<"]
    expected = [
        ids.get(piece, 1) for piece in toys.pieces(files["source.spm"]).encode_as_pieces("A dog.")
    ]
    assert ours.tokenizer.encode("A dog.").ids == [*expected, 0]
    assert any("word-penalty=0.2" in note for note in notes)
    assert any("preprocess.sh" in note for note in notes)
    card = (ours.path / "README.md").read_text("utf-8")
    assert "beam=6, length_penalty=Average(), max_length_factor=3.0, " in card
    training = json.loads((ours.path / "training.json").read_text("utf-8"))
    assert training["generation"]["beam-size"] == 6


def test_a_language_code_is_text_where_ids_are_the_spms(
    toys: Any, folder: Make, imported: Import
) -> None:
    size = len(toys.pieces(toys.spm()))
    files = {"model.npz": toys.npz_file(toys.toy((size, size))), "vocab.spm": toys.spm()}
    ours, _ = imported(folder(files))
    line = ">>deu<< A dog."
    assert ours.tokenizer.encode(line).ids == [*toys.pieces(toys.spm()).encode(line), 0]
    again = allyouneed.load(str(ours.path), engine="core").tokenizer
    assert again.encode(line).ids == ours.tokenizer.encode(line).ids


def test_unknown_is_said_where_decoder_yml_allows_it(
    toys: Any, folder: Make, imported: Import
) -> None:
    size = len(toys.pieces(toys.spm()))
    model = toys.toy((size, size))
    model.weights["decoder_ff_logit_out_b"][0, toys.UNKNOWN] = 1e3
    files = {"model.npz": toys.npz_file(model), "vocab.spm": toys.spm()}
    silent, _ = imported(folder(files), "silent")
    files["decoder.yml"] = b"allow-unk: true\n"
    saying, _ = imported(folder(files, "theirs with settings"), "saying")
    for ours, first in ((silent, False), (saying, True)):
        translator = allyouneed.load(str(ours.path), engine="core")
        [[found]] = translator.engine.search([[5, 6, 0]], OPTIONS)
        assert (found.ids[0] == toys.UNKNOWN) is first


def test_metadata_of_firefox_names_the_languages(toys: Any, folder: Make, imported: Import) -> None:
    size = len(toys.pieces(toys.spm()))
    metadata = {"sourceLanguage": "nb", "targetLanguage": "en", "architecture": "tiny"}
    files = {
        "model.intgemm.alphas.bin": toys.bin_file(toys.toy((size, size)), bits=8),
        "vocab.spm": toys.spm(),
        "metadata.json": json.dumps(metadata).encode(),
    }
    ours, notes = imported(folder(files))
    assert ours.languages == ("nb", "en")
    training = json.loads((ours.path / "training.json").read_text("utf-8"))
    assert training["metadata"] == metadata
    assert not any("decoder.yml asks" in note for note in notes)


@pytest.mark.parametrize("version", ["v1.9.56 b2f8af6f", "v1.12.30", "v1.2", None])
def test_what_marian_computed_otherwise_is_refused(
    toys: Any, folder: Make, imported: Import, version: str | None
) -> None:
    size = len(toys.pieces(toys.spm()))
    model = toys.toy((size, size), pre_norm=True, activation="gelu", version=toys.NEW)
    model.settings["version"] = version
    if version is None:
        del model.settings["version"]
    files = {"model.npz": toys.npz_file(model), "vocab.spm": toys.spm()}
    with pytest.raises(
        ConfigError, match=r"neither keys nor values in versions before 1\.12\.31"
    ) as it:
        imported(folder(files))
    assert it.match("'gelu', for which Marian took a swish in versions before")
    assert it.match(f"this model's version: {version!r}" if version else "version: None")


def test_a_search_that_differs_from_marians_is_noted(
    toys: Any, folder: Make, imported: Import
) -> None:
    size = len(toys.pieces(toys.spm()))
    for autoreg, noted in (("self-attention", True), ("rnn", False)):
        model = toys.toy((size, size), pre_norm=True, autoreg=autoreg, version=toys.NEW)
        files = {"model.npz": toys.npz_file(model), "vocab.spm": toys.spm()}
        _, notes = imported(folder(files, f"theirs {autoreg}"), autoreg)
        assert any("Marian's own search leaves out norms" in note for note in notes) is noted


MISFITS = {
    "transformer-preprocess": ("n", "transformer-preprocess='n', transformer-postprocess='d?a"),
    "transformer-postprocess": ("da", "transformer-postprocess='da', .*read together"),
    "transformer-postprocess-top": ("h", "transformer-postprocess-top='h'"),
    "transformer-decoder-autoreg": ("average-attention", "autoreg='average-attention'"),
    "dec-cell": ("gru", "dec-cell='gru'"),
    "transformer-ffn-activation": ("tanh", "transformer-ffn-activation='tanh'"),
    "transformer-ffn-depth": (3, "transformer-ffn-depth=3"),
    "transformer-tied-layers": ([1, 1], r"transformer-tied-layers=\[1, 1\]"),
    "transformer-decoder-dim-ffn": (32, "transformer-decoder-dim-ffn=32"),
    "transformer-moe-experts": (4, "transformer-moe-experts=4"),
    "type": ("s2s", "type='s2s'"),
    "input-types": (["class", "sequence"], "input-types="),
}


def test_all_that_does_not_fit_is_told_at_once(
    toys: Any, folder: Make, imported: Import, tmp_path: Path
) -> None:
    size = len(toys.pieces(toys.spm()))
    model = toys.toy((size, size))
    model.settings |= {key: value for key, (value, _) in MISFITS.items()}
    path = folder({"model.npz": toys.npz_file(model), "vocab.spm": toys.spm()})
    with pytest.raises(ConfigError) as told:
        imported(path)
    assert not (tmp_path / "ours").exists()
    for _, message in MISFITS.values():
        told.match(message) if message != "dec-cell='gru'" else None


@pytest.mark.parametrize("key", MISFITS)
def test_each_misfit_is_named(toys: Any, folder: Make, imported: Import, key: str) -> None:
    size = len(toys.pieces(toys.spm()))
    model = toys.toy((size, size))
    value, message = MISFITS[key]
    model.settings[key] = value
    with pytest.raises(ConfigError, match=message):
        imported(folder({"model.npz": toys.npz_file(model), "vocab.spm": toys.spm()}))


def test_weights_that_do_not_fit_are_named(toys: Any, folder: Make, imported: Import) -> None:
    size = len(toys.pieces(toys.spm()))
    model = toys.toy((size, size))
    model.weights["decoder_l9_strange_W"] = np.zeros((2, 2), "f4")
    model.weights["encoder_l1_ffn_W1"] = np.zeros((3, 5), "f4")
    del model.weights["decoder_l1_rnn_Wf"]
    with pytest.raises(ConfigError, match="decoder_l9_strange_W has no place here") as told:
        imported(folder({"model.npz": toys.npz_file(model), "vocab.spm": toys.spm()}))
    assert told.match("decoder_l1_rnn_Wf is missing")
    assert told.match(r"encoder_l1_ffn_W1 has the shape \(3, 5\)")


def test_files_that_are_not_there_are_named(toys: Any, folder: Make, imported: Import) -> None:
    size = len(toys.pieces(toys.spm()))
    model, spm = toys.npz_file(toys.toy((size, size))), toys.spm()
    with pytest.raises(ModelFolderError, match=r"has no \.spm file"):
        imported(folder({"model.npz": model}, "a"))
    with pytest.raises(ModelFolderError, match=r"source\.bpe.* is of another kind"):
        imported(folder({"model.npz": model, "source.bpe": b"x"}, "b"))
    with pytest.raises(UsageError, match=r"several models; give the path of one: m1\.npz, m2\.npz"):
        imported(folder({"m1.npz": model, "m2.npz": model, "vocab.spm": spm}, "c"))
    with pytest.raises(ModelFolderError, match="which is the source's"):
        imported(folder({"m.npz": model, "a.spm": spm, "b.spm": spm}, "d"))
    path = folder({"m1.npz": model, "m2.npz": model, "vocab.spm": spm}, "e")
    assert imported(path / "m2.npz")[0].config.decoder == "ssru"


def test_a_vocabulary_of_another_model(toys: Any, folder: Make, imported: Import) -> None:
    model = toys.npz_file(toys.toy((16, 16)))
    with pytest.raises(ModelFolderError, match="does not fit a model with 16 rows"):
        imported(folder({"model.npz": model, "vocab.spm": toys.spm()}))

"""CTranslate2 loads what is exported to it, and gives the same log-probabilities, translations
and attention."""

import gzip
import json
import math
import random
import runpy
import shutil
import sys
from collections.abc import Callable, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from allyouneed.core.transformer import Transformer
from allyouneed.data.root import data_root
from allyouneed.decoding.alignment import cross_attention_map
from allyouneed.decoding.beam import beam_search
from allyouneed.decoding.length_penalty import Average
from allyouneed.decoding.options import BeamOptions
from allyouneed.decoding.scoring import score_targets
from allyouneed.engine.choice import choose
from allyouneed.errors import ConfigError, ModelFolderError, UsageError
from allyouneed.interop import ctranslate2 as interop
from allyouneed.interop.ctranslate2 import export_ctranslate2, to_ctranslate2
from allyouneed.model_folder.folder import open_model_folder, save_model_folder
from allyouneed.text.tokenizer import Tokenizer

ctranslate2 = pytest.importorskip("ctranslate2", reason="the extra interop is not installed")

SOURCES = ["A man rides a bike.", "Where is the station? Where is it?", "The dog"]
TARGETS = ["Ein Mann fährt.", "Wo ist der Bahnhof", "Der Hund schläft, schläft.\n"]
EVERYDAY = [
    "Good morning!",
    "Where is the train station?",
    "My sister lives in Berlin.",
    "The children are playing in the garden.",
    "I have two brothers and one sister.",
    "A man rides a bike.",
    "Two women are talking to each other in the street.",
    "The dog sleeps.",
    "I would like a cup of coffee, please.",
    "What time is it?",
    "He did not come to school yesterday because he was ill.",
    "Can you help me?",
]
Make = Callable[..., Transformer]


def pieces(tokenizer: Tokenizer) -> list[str]:
    ids: dict[str, int] = json.loads(tokenizer.to_json())["model"]["vocab"]
    return sorted(ids, key=ids.__getitem__)


def spelt(rows: Sequence[Sequence[int]], tokenizer: Tokenizer) -> list[list[str]]:
    spelling = pieces(tokenizer)
    return [[spelling[i] for i in row] for row in rows]


def ids_of(rows: Sequence[Sequence[str]], tokenizer: Tokenizer) -> list[list[int]]:
    number = {piece: i for i, piece in enumerate(pieces(tokenizer))}
    return [[number[piece] for piece in row] for row in rows]


def padded(rows: Sequence[Sequence[int]]) -> Tensor:
    longest = max(map(len, rows))
    return torch.tensor([[*row, *[0] * (longest - len(row))] for row in rows])


def become_ctranslate2(model: Transformer, tokenizer: Tokenizer, path: Path) -> Any:
    spec = to_ctranslate2(model, tokenizer)
    spec.optimize("float32")
    spec.save(str(path))
    return ctranslate2.Translator(str(path), intra_threads=1)


def fill_tables(model: Transformer) -> None:
    """Stored positions are zeros at first, with which nothing can go wrong."""
    generator = torch.Generator().manual_seed(1)
    for name, table in model.named_buffers():
        if name.endswith("positions.table") and model.config.positions == "stored":
            table.copy_(torch.randn(table.shape, generator=generator))


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"residual": "pre-norm"},
        {"norm": "rms", "norm_epsilon": 0.1},
        {"norm": "rms", "residual": "pre-norm"},
        {"norm_epsilon": 0.1},
        {"activation": "gelu"},
        {"activation": "silu"},
        {"activation": "swiglu"},
        {"positions": "learned"},
        {"positions": "stored"},
        {"positions": "none"},
        {"positions": "rotary"},
        {"positions": "rotary", "head_width": 6},
        {"head_width": 12, "encoder_layers": 2, "decoder_layers": 3},
        {"shared_embeddings": "output"},
        {"shared_embeddings": "none", "source_vocabulary": 300, "output_bias": True},
        {"scale_embeddings": False},
        {"normalise_embeddings": True},
        {"bias": False},
        {"start": 0},
        {"start": 2},
    ],
    ids=str,
)
def test_same_log_probabilities_and_attention(
    changes: dict[str, Any], small_model: Make, small_tokenizer: Tokenizer, tmp_path: Path
) -> None:
    ours = small_model(**changes)
    fill_tables(ours)
    theirs = become_ctranslate2(ours, small_tokenizer, tmp_path)
    sources, targets = (small_tokenizer.encode_ids(texts) for texts in (SOURCES, TARGETS))
    their_sources = spelt(sources, small_tokenizer)
    # CTranslate2 ends targets itself.
    scored = theirs.score_batch(
        their_sources, [row[:-1] for row in spelt(targets, small_tokenizer)]
    )
    expected = score_targets(ours, padded(sources), padded(targets))
    for ours_here, theirs_here in zip(expected, scored, strict=True):
        assert theirs_here.log_probs == pytest.approx(ours_here, abs=5e-5)
    found = theirs.translate_batch(
        their_sources, beam_size=1, max_decoding_length=8, return_attention=True
    )
    translations = ids_of([result.hypotheses[0] for result in found], small_tokenizer)
    attention_BTS = cross_attention_map(ours, padded(sources), padded(translations))
    for result, weights_TS, source in zip(found, attention_BTS, sources, strict=True):
        theirs_TS = torch.tensor(result.attention[0])
        torch.testing.assert_close(
            weights_TS[: len(theirs_TS), : len(source)], theirs_TS, atol=1e-5, rtol=0
        )


def test_the_parity_test_can_fail(
    small_model: Make, small_tokenizer: Tokenizer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(interop.ACTIVATIONS, "relu", "GELU")
    with pytest.raises(AssertionError):
        test_same_log_probabilities_and_attention({}, small_model, small_tokenizer, tmp_path)


ODD = {
    "residual": ("post-norm", "pre-norm"),
    "norm": ("layer", "rms"),
    "norm_epsilon": (1e-5, 0.1),
    "activation": ("relu", "gelu", "silu", "swiglu"),
    "positions": ("sinusoidal", "stored", "learned", "rotary", "none"),
    "scale_embeddings": (True, False),
    "normalise_embeddings": (True, False),
    "shared_embeddings": ("all", "output", "none"),
    "bias": (True, False),
    "output_bias": (True, False),
    "heads": (1, 2, 4),
    "head_width": (None, 6, 20),
    "encoder_layers": (1, 2),
    "decoder_layers": (1, 3),
    "start": (0, 1, 2),
}


@pytest.mark.parametrize("seed", range(10))
def test_options_meet(
    seed: int, small_model: Make, small_tokenizer: Tokenizer, tmp_path: Path
) -> None:
    """Any of them beside any other: the same log-probabilities, the same greedy words."""
    draw = random.Random(seed)
    ours = small_model(**{name: draw.choice(values) for name, values in ODD.items()})
    fill_tables(ours)
    theirs = become_ctranslate2(ours, small_tokenizer, tmp_path)
    sources, targets = (small_tokenizer.encode_ids(texts) for texts in (SOURCES, TARGETS))
    scored = theirs.score_batch(
        spelt(sources, small_tokenizer), [row[:-1] for row in spelt(targets, small_tokenizer)]
    )
    expected = score_targets(ours, padded(sources), padded(targets))
    for ours_here, theirs_here in zip(expected, scored, strict=True):
        assert theirs_here.log_probs == pytest.approx(ours_here, abs=1e-4, rel=1e-5)
    never = {ours.config.pad, ours.config.start} - {ours.config.end}
    found = theirs.translate_batch(
        spelt(sources, small_tokenizer),
        beam_size=1,
        max_decoding_length=8,
        min_decoding_length=1,
        suppress_sequences=[[pieces(small_tokenizer)[id]] for id in never],
    )
    options = BeamOptions(beam=1, max_length=8, loop_guard=False)
    words = [best.ids for [best] in beam_search(ours, padded(sources), options)]
    assert ids_of([result.hypotheses[0] for result in found], small_tokenizer) == [
        [id for id in row if id != ours.config.end] for row in words
    ]


def test_any_bytes_survive(small_model: Make, small_tokenizer: Tokenizer, tmp_path: Path) -> None:
    """Spaces, line breaks, marks of special pieces, and bytes that are no character alone."""
    ours = small_model()
    theirs = become_ctranslate2(ours, small_tokenizer, tmp_path)
    texts = [
        "".join(map(chr, range(128))),
        "".join(map(chr, range(128, 200))),
        " \t\r\n\u00a0\u2028\ufeff\x85 ",
        "</s> <unk><pad> ▁ Ġ",
        "🦊 漢字 e\u0301",
    ]
    rows = [[*row[:40], 2] for row in small_tokenizer.encode_ids(texts)]
    rows += [[id, 2] for id in range(4, len(small_tokenizer))]
    their_rows = spelt(rows, small_tokenizer)
    assert ids_of(their_rows, small_tokenizer) == rows
    expected = score_targets(ours, padded(rows), padded(rows))
    scored = theirs.score_batch(their_rows, [row[:-1] for row in their_rows])
    for ours_here, theirs_here in zip(expected, scored, strict=True):
        assert theirs_here.log_probs == pytest.approx(ours_here, abs=5e-5)


def everyday_and_multi30k() -> list[str]:
    """Sentences of every kind; 200 more where the data are."""
    root = data_root()
    path = root / "multi30k" / "test_2016_flickr.en.gz" if root else Path("nowhere")
    if not path.is_file():
        return EVERYDAY
    with gzip.open(path, "rt", encoding="utf-8", newline="\n") as lines:
        return [*EVERYDAY, *(line.strip() for line in islice(lines, 0, None, 5))]


@pytest.fixture(scope="module")
def bundled(tmp_path_factory: pytest.TempPathFactory) -> Any:
    path = tmp_path_factory.mktemp("bundled") / "exported"
    export_ctranslate2(open_model_folder("en-de"), path)
    return ctranslate2.Translator(str(path), intra_threads=1)


@pytest.mark.parametrize(("engine", "beam"), [("core", 1), ("core", 4), ("cpu-float32", 1)])
def test_bundled_model_gives_the_same_translations(engine: str, beam: int, bundled: Any) -> None:
    folder = open_model_folder("en-de")
    try:
        ours = choose(engine, folder, "cpu", 1).engine
    except UsageError as error:
        pytest.skip(str(error))
    sources = folder.tokenizer.encode_ids(everyday_and_multi30k()[: 220 // beam])
    found = bundled.translate_batch(
        spelt(sources, folder.tokenizer),
        beam_size=beam,
        length_penalty=1,
        max_batch_size=64,
        return_scores=True,
    )
    options = BeamOptions(beam=beam, length_penalty=Average(), loop_guard=False)
    expected = ours.search(sources, options)
    translations = ids_of([result.hypotheses[0] for result in found], folder.tokenizer)
    others = 0
    for ids, [best], result in zip(translations, expected, found, strict=True):
        if ids == list(best.ids[:-1]):
            assert result.scores[0] == pytest.approx(best.score, abs=1e-4)
        else:  # CTranslate2 gives up a wide beam earlier, and with it the better translation
            others += 1
            assert beam == 1 or result.scores[0] < best.score
    assert others <= 0.01 * len(sources) or beam > 1


def test_vocabulary_keeps_every_id(small_tokenizer: Tokenizer, model_folder: Path) -> None:
    path = model_folder.with_name("exported")
    export_ctranslate2(open_model_folder(model_folder), path)
    vocabulary = json.loads((path / "shared_vocabulary.json").read_text("utf-8"))
    assert vocabulary == pieces(small_tokenizer)
    assert len(set(vocabulary)) == len(vocabulary) == len(small_tokenizer)
    assert not any(piece != "".join(piece.split()) for piece in vocabulary)
    config = json.loads((path / "config.json").read_text("utf-8"))
    assert not config["add_source_eos"]
    names = ("decoder_start_token", "eos_token", "unk_token")
    assert [config[name] for name in names] == ["<s>", "</s>", "<unk>"]


def test_readme_inside_translates(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    export_ctranslate2(open_model_folder("en-de"), tmp_path / "exported", "int8")
    readme = (tmp_path / "exported" / "README.md").read_text("utf-8")
    assert readme.startswith("# en-de for CTranslate2\n")
    program = tmp_path / "program.py"
    program.write_text(readme.split("```python\n")[1].split("```")[0], encoding="utf-8")
    monkeypatch.chdir(tmp_path / "exported")
    runpy.run_path(str(program))
    assert capsys.readouterr().out == "Guten Morgen!\n"


def test_int8_folder_is_small_and_close(tmp_path: Path) -> None:
    folder = open_model_folder("en-de")
    for quantization in ("float32", "float16", "int8"):
        export_ctranslate2(folder, tmp_path / quantization, quantization)
    sizes = {path.name: (path / "model.bin").stat().st_size for path in tmp_path.iterdir()}
    assert sizes["int8"] < 0.3 * sizes["float32"]
    assert 0.49 * sizes["float32"] < sizes["float16"] < 0.51 * sizes["float32"]
    sources = spelt(folder.tokenizer.encode_ids(EVERYDAY), folder.tokenizer)
    exact, rounded = (
        ctranslate2.Translator(str(tmp_path / name), intra_threads=1).score_batch(sources, sources)
        for name in ("float32", "int8")
    )
    for one, other in zip(exact, rounded, strict=True):
        assert sum(one.log_probs) == pytest.approx(sum(other.log_probs), rel=0.02)


def test_whole_or_not_there(
    model_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, path = open_model_folder(model_folder), tmp_path / "new" / "exported"
    (folder.path / "model.safetensors").rename(tmp_path / "elsewhere")
    with pytest.raises(ModelFolderError, match=r"model\.safetensors is missing"):
        export_ctranslate2(folder, path)
    assert list(path.parent.iterdir()) == []
    (tmp_path / "elsewhere").rename(folder.path / "model.safetensors")
    path.mkdir()
    export_ctranslate2(folder, path)  # an empty folder is not in use
    assert {file.name: file.stat().st_mode & 0o444 for file in path.iterdir()} == dict.fromkeys(
        (
            "model.bin",
            "config.json",
            "shared_vocabulary.json",
            "tokenizer.json",
            "allyouneed.json",
            "README.md",
        ),
        0o444,
    )
    assert list(path.parent.iterdir()) == [path]
    with pytest.raises(UsageError, match="is there already and is left as it is; name an empty"):
        export_ctranslate2(folder, path)
    with pytest.raises(UsageError, match="is there already"):
        export_ctranslate2(folder, path / "model.bin")
    shutil.rmtree(path)
    monkeypatch.setattr(interop, "to_ctranslate2", raise_no_space)
    with pytest.raises(ModelFolderError, match=r"could not be written: .*No space left.*make room"):
        export_ctranslate2(folder, path)
    assert list(path.parent.iterdir()) == []


def raise_no_space(*_: object) -> None:
    raise OSError(28, "No space left on device")


@pytest.mark.parametrize("changes", [{"encoder_layers": 0}, {"decoder_layers": 0}], ids=str)
def test_what_ctranslate2_has_no_room_for(
    changes: dict[str, Any], small_model: Make, small_tokenizer: Tokenizer
) -> None:
    with pytest.raises(ConfigError, match=r"coder_layers=0 has no room in CTranslate2"):
        to_ctranslate2(small_model(**changes), small_tokenizer)


def test_a_recurrence_has_no_room(small_model: Make, small_tokenizer: Tokenizer) -> None:
    with pytest.raises(ConfigError, match="decoder='ssru' has no room in CTranslate2"):
        to_ctranslate2(small_model(decoder="ssru"), small_tokenizer)


def test_weights_that_are_no_numbers(
    small_model: Make, small_tokenizer: Tokenizer, tmp_path: Path
) -> None:
    spoilt = small_model()
    spoilt.decoder.layers[0].feed_forward.W_1.weight.data[0, 3] = math.nan
    save_model_folder(tmp_path / "model", spoilt, small_tokenizer)
    with pytest.raises(
        ModelFolderError, match=r"decoder\.layers\.0\.feed_forward\.W_1\.weight holds NaN"
    ):
        export_ctranslate2(open_model_folder(tmp_path / "model"), tmp_path / "exported")
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


def test_unknown_quantization(model_folder: Path, tmp_path: Path) -> None:
    with pytest.raises(
        UsageError, match="quantization='int4' is not one of float32, float16, int8"
    ):
        export_ctranslate2(open_model_folder(model_folder), tmp_path / "exported", "int4")


def test_package_that_is_not_there(
    small_model: Make, small_tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "ctranslate2.specs", None)
    with pytest.raises(UsageError, match=r"install it with: pip install 'allyouneed\[interop\]'"):
        to_ctranslate2(small_model(), small_tokenizer)

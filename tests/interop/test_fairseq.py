"""fairseq's checkpoints give fairseq's numbers: the goldens are made by fairseq 0.12.2 itself
(make_fairseq_golden.py), from tiny models that have learnt eight sentences."""

import json
import os
import re
import subprocess
import sys
from argparse import Namespace
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file
from torch import Tensor
from torch.testing import assert_close

from allyouneed.decoding.beam import beam_search
from allyouneed.decoding.length_penalty import Average
from allyouneed.decoding.options import BeamOptions
from allyouneed.errors import UsageError
from allyouneed.interop.fairseq import adopt, import_fairseq
from allyouneed.interop.fairseq_checkpoint import read_checkpoint
from allyouneed.loading import load
from allyouneed.model_folder.folder import ModelFolder

GOLDEN = Path(__file__).with_name("fairseq")
DICTIONARIES = {
    "post-norm": "joined",
    "pre-norm": "joined",
    "apart": "apart",
    "mixed": "apart",
    "no-positions": "joined",
}
SHAPES = {
    "post-norm": ("post-norm", "stored", "all"),
    "pre-norm": ("pre-norm", "stored", "all"),
    "apart": ("post-norm", "learned", "none"),
    "mixed": ("pre-norm", "stored", "output"),
    "no-positions": ("post-norm", "none", "output"),
}
LEARNT = "A man rides a red bike."
Import = Callable[..., ModelFolder]


def as_fairseq(beam: int) -> BeamOptions:
    """What fairseq's search does of itself."""
    return BeamOptions(
        beam=beam,
        n_best=beam,
        length_penalty=Average(),
        stop="first",
        max_length=51,
        loop_guard=False,
    )


def unheard(_: str) -> None:
    """For tests that do not ask what was noted."""


@pytest.fixture(scope="module")
def imported(tmp_path_factory: pytest.TempPathFactory) -> Import:
    """`imported(name)` is the folder that the golden checkpoint becomes, made once."""
    made: dict[str, ModelFolder] = {}

    def once(name: str) -> ModelFolder:
        if name not in made:
            made[name] = import_fairseq(
                GOLDEN / f"{name}.pt",
                tmp_path_factory.mktemp("fairseq") / name,
                dictionaries=GOLDEN / DICTIONARIES[name],
                codes=GOLDEN / "codes",
                note=unheard,
            )
        return made[name]

    return once


def assert_logits(model: Any, name: str, golden: Path = GOLDEN) -> None:
    """The logits of a left-padded batch are fairseq's."""
    said = load_file(golden / f"{name}.safetensors")
    theirs = said["logits"]
    count = len(theirs)
    assert (said["source"][:count, 0] == 1).any(), "some source is padded, on the left"
    with torch.inference_mode():
        ours = model(said["source"][:count], said["before"][:count])
    heard = said["target"][:count] != 1
    assert_close(ours[heard], theirs[heard], atol=1e-5, rtol=1e-5)


def assert_hypotheses(model: Any, name: str, golden: Path = GOLDEN) -> None:
    """The hypotheses of fairseq's search, their order, scores and log-probabilities."""
    source_BS = load_file(golden / f"{name}.safetensors")["source"]
    compared = 0
    for beam, expected in json.loads((golden / f"{name}.json").read_text("utf-8")).items():
        found = beam_search(model, source_BS, as_fairseq(int(beam)))
        for ours, theirs in zip(found, expected, strict=True):
            if theirs is None:  # fairseq forced one to end
                continue
            compared += 1
            assert [list(h.ids) for h in ours] == [h["ids"] for h in theirs]
            for h, one in zip(ours, theirs, strict=True):
                assert h.score == pytest.approx(one["score"], abs=1e-5)
                log_p = pytest.approx(one["log_probabilities"], abs=1e-5)
                assert list(h.token_log_probabilities) == log_p
    assert compared >= 12


@pytest.mark.parametrize("name", SHAPES)
def test_logits_are_fairseqs(name: str, imported: Import) -> None:
    folder = imported(name)
    shape = folder.config
    assert (shape.residual, shape.positions, shape.shared_embeddings) == SHAPES[name]
    assert (shape.pad, shape.start, shape.end) == (1, 2, 2)
    assert_logits(folder.load_model(), name)


@pytest.mark.parametrize("name", SHAPES)
def test_hypotheses_are_fairseqs(name: str, imported: Import) -> None:
    assert_hypotheses(imported(name).load_model(), name)


@pytest.mark.parametrize("name", ["post-norm", "apart"])
def test_text_goes_in_and_comes_out_as_with_fairseq(name: str, imported: Import) -> None:
    folder = imported(name)
    said = load_file(GOLDEN / f"{name}.safetensors")
    texts = [
        one["text"] for one in json.loads((GOLDEN / "text.json").read_text("utf-8"))["sentences"]
    ]
    sources = texts[: len(said["source"])]
    theirs = json.loads((GOLDEN / f"{name}.json").read_text("utf-8"))["4"]
    translator = load(folder.path, engine="core")
    found = translator(sources, options=as_fairseq(4), protect=False)
    for ours, hypotheses, source_S in zip(found, theirs, said["source"], strict=True):
        assert translator.tokenizer.encode(ours.source).ids == source_S[source_S != 1].tolist()
        best = hypotheses[0]
        assert ours.text == best["text"].strip()
        assert ours.average_log_likelihood == pytest.approx(best["score"], abs=1e-5)
    assert found[0].text == "Ein Mann fährt ein rotes Rad."


def test_a_folder_says_where_it_comes_from(imported: Import) -> None:
    folder = imported("apart")
    assert folder.languages == ("en", "de")
    assert folder.config.source_vocabulary == len(folder.tokenizer) == 64
    assert folder.config.vocabulary == len(folder.tokenizer.target) == 72
    card = (folder.path / "README.md").read_text("utf-8")
    assert "apart.pt, a checkpoint of fairseq" in card
    assert "Moses' rules for en and de, signs as escapes, cut at hyphens; codes of codes" in card
    training = json.loads((folder.path / "training.json").read_text("utf-8"))
    assert training == {"imported_from": "fairseq", "arch": "transformer"}


def test_a_stream_is_the_text(imported: Import) -> None:
    translator = load(imported("pre-norm").path, engine="core")
    for text in (LEARNT, "Is the red dog big?\n\nTwo men (and a boy) read."):
        pieces = list(translator.stream(text))
        assert "".join(pieces) == translator(text, beam=1).text


def test_words_are_aligned_and_drawn(imported: Import) -> None:
    translator = load(imported("pre-norm").path, engine="core")
    found = translator("The boy's dog is well-known.", alignments=True)
    assert found.alignment
    assert {j for _, j in found.alignment} <= set(range(len(found.text.split())))
    assert {i for i, _ in found.alignment} <= set(range(5))
    [score] = translator.score([LEARNT], ["Ein Mann fährt ein rotes Rad."])
    assert score.average_log_likelihood == pytest.approx(
        translator(LEARNT, options=as_fairseq(4)).average_log_likelihood, abs=1e-5
    )


def nvidia(weights: Mapping[str, Tensor], *, year: int) -> dict[str, Tensor]:
    """fairseq's weights as NVIDIA's DeepLearningExamples lays them, in 2019 and from 2020 on.

    Its attention has no biases, and multiplies from the other side: x W instead of x Wᵀ. Of norms
    and output names it has two generations.
    """
    found: dict[str, Tensor] = {}
    for name, weight in weights.items():
        if name.endswith((".version", "output_projection.weight")):
            continue
        if "attn." in name and name.endswith(".bias"):
            assert not weight.any(), "this checkpoint has no biases to lose"
            continue
        projection = re.fullmatch(r"(.*_attn)\.([qkv])_proj\.weight", name)
        if projection:
            name, weight = f"{projection[1]}.in_proj_weight_{projection[2]}", weight.T.contiguous()
        numbers = {"self_attn_layer_norm": 0, "final_layer_norm": 1}
        of_encoder = re.fullmatch(r"(encoder\.layers\.\d+)\.(\w+_layer_norm)\.(\w+)", name)
        if of_encoder:
            number = numbers[of_encoder[2]]
            module = f"layer_norms.{number}" if year == 2019 else f"maybe_ln{number + 1}.ln"
            name = f"{of_encoder[1]}.{module}.{of_encoder[3]}"
        elif year > 2019:
            name = re.sub(r"^(decoder\.layers\.\d+\.\w+_layer_norm)\.", r"\1.ln.", name)
        found[name] = weight
    found["decoder.embed_out"] = found["encoder.embed_tokens.weight"]
    for side in ("encoder", "decoder") if year > 2019 else ():
        found[f"{side}.embed_positions.positions_buffer"] = torch.arange(2, 66)
    return found


def saved_again(
    path: Path, change: Callable[[dict[str, Tensor]], dict[str, Tensor]], **settings: object
) -> Path:
    """The checkpoint "post-norm" with other weights and some settings more."""
    with torch.serialization.safe_globals([Namespace]):
        state = torch.load(GOLDEN / "post-norm.pt", weights_only=True)
    args = Namespace(**(vars(state["args"]) | settings))
    torch.save({**state, "args": args, "model": change(state["model"])}, path)
    return path


@pytest.mark.parametrize("year", [2019, 2021])
def test_nvidias_layout(year: int, tmp_path: Path) -> None:
    path = saved_again(
        tmp_path / "JoC.pt",
        lambda weights: nvidia(weights, year=year),
        arch="transformer_wmt_en_de_big_t2t",
        fuse_layer_norm=True,
        fuse_dropout_add=False,
        tokenizer=None,
        bpe=None,
    )
    folder = import_fairseq(
        path,
        tmp_path / "joc",
        dictionaries=GOLDEN / "joined",
        codes=GOLDEN / "codes",
        note=unheard,
    )
    model = folder.load_model()
    assert_logits(model, "post-norm")
    assert_hypotheses(model, "post-norm")
    assert "a checkpoint of NVIDIA's Transformer" in (folder.path / "README.md").read_text()
    assert load(folder.path, engine="core")(LEARNT).text == "Ein Mann fährt ein rotes Rad."


def fused(weights: dict[str, Tensor]) -> dict[str, Tensor]:
    """As fairseq had it before 0.9: one input projection, norms by number, embed_out."""
    found: dict[str, Tensor] = {}
    kinds = ("self_attn_layer_norm", "encoder_attn_layer_norm", "final_layer_norm")
    for name, weight in weights.items():
        projection = re.fullmatch(r"(.*_attn)\.q_proj\.(\w+)", name)
        norm = re.fullmatch(r"((en|de)coder\.layers\.\d+)\.(\w+_layer_norm)\.(\w+)", name)
        if projection:
            parts = [
                weights[name.replace("q_proj", letter)] for letter in ("q_proj", "k_proj", "v_proj")
            ]
            found[f"{projection[1]}.in_proj_{projection[2]}"] = torch.cat(parts)
        elif norm:
            number = kinds.index(norm[3]) - (norm[2] == "en" and norm[3] == kinds[2])
            found[f"{norm[1]}.layer_norms.{number}.{norm[4]}"] = weight
        elif name == "decoder.output_projection.weight":
            found["decoder.embed_out"] = weight
        elif not re.search(r"_attn\.[kv]_proj\.", name):
            found[name] = weight
    return found


def test_fused_projections_and_numbered_norms(tmp_path: Path) -> None:
    path = saved_again(tmp_path / "old.pt", fused)
    assert "encoder.layers.1.self_attn.in_proj_bias" in read_checkpoint(path).weights
    model = adopt(read_checkpoint(path), (104, 104))
    assert_logits(model, "post-norm")


def test_weights_in_half_precision(tmp_path: Path) -> None:
    path = saved_again(tmp_path / "half.pt", lambda w: {k: t.half() for k, t in w.items()})
    model = adopt(read_checkpoint(path), (104, 104))
    assert {weight.dtype for weight in model.parameters()} == {torch.float32}
    said = load_file(GOLDEN / "post-norm.safetensors")
    with torch.inference_mode():
        ours = model(said["source"][:3], said["before"][:3])
    heard = said["target"][:3] != 1
    assert_close(ours[heard], said["logits"][heard], atol=0.05, rtol=0.01)


def test_the_test_can_fail(imported: Import) -> None:
    model = imported("post-norm").load_model()
    with torch.no_grad():
        model.encoder.layers[1].self_attention.W_Q.weight[0, 0] += 0.01
    with pytest.raises(AssertionError):
        assert_logits(model, "post-norm")


def test_a_folder_in_use_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").write_text("mine")
    with pytest.raises(UsageError, match="is left as it is"):
        import_fairseq(GOLDEN / "pre-norm.pt", tmp_path / "mine", note=unheard)
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["notes.txt"]


@pytest.mark.skipif(
    "ALLYOUNEED_FAIRSEQ" not in os.environ,
    reason="ALLYOUNEED_FAIRSEQ names no Python with fairseq 0.12.2; see make_fairseq_golden.py",
)
def test_fairseq_itself_with_other_weights(tmp_path: Path) -> None:
    python = os.environ["ALLYOUNEED_FAIRSEQ"]
    script = Path(__file__).with_name("make_fairseq_golden.py")
    subprocess.run([python, str(script), str(tmp_path / "new"), "7"], check=True, timeout=600)
    assert sys.executable != python
    for name, dictionaries in DICTIONARIES.items():
        golden = tmp_path / "new"
        model = import_fairseq(
            golden / f"{name}.pt",
            tmp_path / name,
            dictionaries=golden / dictionaries,
            codes=golden / "codes",
            note=unheard,
        ).load_model()
        assert_logits(model, name, golden)
        assert_hypotheses(model, name, golden)

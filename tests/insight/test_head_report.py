"""The report over a corpus: every head, its alignment, and what is lost without it."""

import json
import math
from collections.abc import Callable, Iterator

import pytest
import torch

from allyouneed.core.transformer import Transformer
from allyouneed.decoding.links import pharaoh
from allyouneed.decoding.options import BeamOptions
from allyouneed.engine.torch_engine import core_engine
from allyouneed.errors import DataError, UsageError
from allyouneed.evaluation.metrics import bleu
from allyouneed.insight.head_measures import MEASURES
from allyouneed.insight.head_report import HeadReport, head_alignments, head_report
from allyouneed.insight.intervene import intervene
from allyouneed.insight.names import heads
from allyouneed.text.tokenizer import Tokenizer
from allyouneed.translation.translator import Translator

SOURCES = ["A man rides a bike.", "The dog sleeps.", "Where is the station?"]
TARGETS = ["Ein Mann fährt Fahrrad.", "Der Hund schläft.", "Wo ist der Bahnhof?"]
CROSS = "decoder.layers.1.cross_attention[1]"


@pytest.fixture(scope="module")
def translator(small_model: Callable[..., Transformer], small_tokenizer: Tokenizer) -> Translator:
    model = small_model(encoder_layers=1, decoder_layers=2, max_positions=32)
    return Translator.of_model(model, small_tokenizer)


@pytest.fixture(scope="module")
def report(translator: Translator) -> HeadReport:
    return head_report(translator, SOURCES, TARGETS)


def of(report: HeadReport, name: str) -> dict[str, float]:
    return dict(next(head.measures for head in report.heads if head.name == name))


def test_every_head_is_there_with_every_measure(translator: Translator, report: HeadReport) -> None:
    assert [head.name for head in report.heads] == heads(translator.model)
    assert report.measured() == list(MEASURES)
    assert report.sentences == 3
    assert report.target_tokens == sum(map(len, translator.tokenizer.encode_ids(TARGETS)))
    kinds = [(head.kind, head.layer, head.head) for head in report.heads]
    assert kinds[:3] == [("encoder", 0, 0), ("encoder", 0, 1), ("decoder", 0, 0)]
    assert kinds[-1] == ("cross", 1, 1)


def test_what_a_head_is_made_to_do_is_what_is_measured(translator: Translator) -> None:
    diagonal, uniform = "encoder.layers.0.self_attention[0]", "decoder.layers.0.self_attention[1]"
    with intervene(translator, edit={diagonal: "diagonal", uniform: "uniform"}):
        changed = head_report(translator, SOURCES, TARGETS)
    assert of(changed, diagonal)["self"] == 1.0
    assert of(changed, diagonal)["distance"] == 0.0
    lengths = map(len, translator.tokenizer.encode_ids(TARGETS))
    seen = [n for length in lengths for n in range(1, length + 1)]
    assert of(changed, uniform)["entropy"] == pytest.approx(
        sum(map(math.log, seen)) / len(seen), rel=1e-5
    )
    assert of(changed, uniform)["start"] == pytest.approx(sum(1 / n for n in seen) / len(seen))


def test_shares_are_shares(report: HeadReport) -> None:
    for head in report.heads:
        missing = {"decoder": {"next", "end"}}.get(head.kind, {"start"})
        assert head.measures.keys() == MEASURES.keys() - missing
        for name in head.measures.keys() - {"entropy", "distance"}:
            assert 0 < head.measures[name] < 1, (head.name, name)


def test_the_order_of_pairs_does_not_matter(translator: Translator, report: HeadReport) -> None:
    backwards = head_report(translator, SOURCES[::-1], TARGETS[::-1])
    for one, other in zip(report.heads, backwards.heads, strict=True):
        assert dict(one.measures) == pytest.approx(dict(other.measures), abs=1e-5)


def test_grids_are_layers_by_heads(report: HeadReport) -> None:
    grid = report.grid("entropy", "cross")
    assert grid.shape == (2, 2)
    assert grid[1, 1] == pytest.approx(of(report, CROSS)["entropy"])
    assert report.grid("entropy", "encoder").shape == (1, 2)
    with pytest.raises(UsageError, match="distance"):
        report.grid("distanz", "cross")
    with pytest.raises(UsageError, match="encoder"):
        report.grid("entropy", "encodr")


def test_a_grid_has_no_value_where_a_head_has_none(report: HeadReport) -> None:
    assert report.grids().keys() == MEASURES.keys()
    assert report.grids()["start"]["cross"].isnan().all()
    assert report.grids()["start"]["decoder"].isfinite().all()


def test_json_has_no_nan(translator: Translator) -> None:
    values = head_report(translator, ["", "a"], ["", "b"], gold=["", "0-0"]).to_dict()
    assert json.loads(json.dumps(values, allow_nan=False)) == values
    assert values["heads"][0]["kind"] == "encoder"


def test_alignment_error_by_the_head_s_own_alignment(translator: Translator) -> None:
    found = head_alignments(translator, SOURCES, TARGETS, CROSS)
    assert [sorted(target for _, target in links) for links in found] == [
        list(range(len(text.split()))) for text in TARGETS
    ]
    report = head_report(translator, SOURCES, TARGETS, gold=[*map(pharaoh, found)])
    assert of(report, CROSS)["alignment_error"] == 0.0
    others = [h.measures["alignment_error"] for h in report.heads if h.kind == "cross"]
    assert max(others) > 0
    assert not any("alignment_error" in h.measures for h in report.heads if h.kind != "cross")


def test_possible_links_are_forgiven(translator: Translator) -> None:
    found = head_alignments(translator, SOURCES, TARGETS, CROSS)
    possible = [pharaoh(links).replace("-", "?") for links in found]
    report = head_report(translator, SOURCES, TARGETS, gold=possible)
    assert of(report, CROSS)["alignment_error"] == 0.0


@pytest.fixture(scope="module")
def importance(copier: Translator) -> tuple[HeadReport, list[tuple[str, int, int]]]:
    told: list[tuple[str, int, int]] = []
    texts = ["abc", "hello you"]
    report = head_report(
        copier, texts, texts, importance=True, progress=lambda *what: told.append(what)
    )
    return report, told


@pytest.fixture
def without_first_cross_head(copier: Translator) -> Iterator[tuple[str, Transformer]]:
    """The head's slice of W_O set to zero."""
    name = "decoder.layers.0.cross_attention"
    weight_DW = copier.model.get_parameter(f"{name}.W_O.weight")
    kept = weight_DW.detach().clone()
    with torch.no_grad():
        weight_DW[:, : copier.config.width_of_head] = 0
    yield f"{name}[0]", copier.model
    with torch.no_grad():
        weight_DW.copy_(kept)


def test_importance_is_what_removing_the_head_costs(
    copier: Translator,
    importance: tuple[HeadReport, list[tuple[str, int, int]]],
    without_first_cross_head: tuple[str, Transformer],
) -> None:
    report, _ = importance
    name, model = without_first_cross_head
    texts = ["abc", "hello you"]
    scores = copier.score(texts, texts)
    loss = -sum(score.log_probability for score in scores) / report.target_tokens
    assert report.loss is not None
    assert report.bleu is not None
    assert of(report, name)["loss_change"] == pytest.approx(loss - report.loss, abs=1e-5)
    ids = copier.tokenizer.encode_ids(texts)
    found = core_engine(model).search(ids, BeamOptions(beam=1))
    score = bleu([copier.tokenizer.decode(one[0].ids) for one in found], texts, resamples=0).score
    assert of(report, name)["bleu_change"] == pytest.approx(score - report.bleu)
    assert max(abs(head.measures["loss_change"]) for head in report.heads) > 1e-3


def test_progress_ends_where_the_work_does(
    importance: tuple[HeadReport, list[tuple[str, int, int]]],
) -> None:
    report, told = importance
    by_stage = {stage: (done, total) for stage, done, total in told}
    assert by_stage == {"attention": (2, 2), "heads off": (len(report.heads),) * 2}
    assert [done for stage, done, _ in told if stage == "heads off"] == [
        *range(len(report.heads) + 1)
    ]


def test_calls_that_are_wrong(translator: Translator) -> None:
    with pytest.raises(UsageError, match="3 sources and 2 targets"):
        head_report(translator, SOURCES, TARGETS[:2])
    with pytest.raises(UsageError, match="at least one pair"):
        head_report(translator, [], [])
    with pytest.raises(DataError, match=r"pair 2 has \d+ tokens, more than the model's 32"):
        head_report(translator, ["a", "b " * 40], ["a", "b"])
    with pytest.raises(UsageError, match="1 gold alignments for 3 pairs"):
        head_report(translator, SOURCES, TARGETS, gold=["0-0"])
    with pytest.raises(DataError, match="gold alignment 2: link 3-0, but there are 3 source"):
        head_report(translator, SOURCES, TARGETS, gold=["0-0", "3-0", ""])
    with pytest.raises(UsageError, match="cross_attention"):
        head_alignments(translator, SOURCES, TARGETS, "encoder.layers.0.self_attention[0]")

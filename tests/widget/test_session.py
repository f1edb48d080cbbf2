"""A session answers every question of the view, and lets the newest request win."""

import threading
from typing import Any

import numpy as np
import pytest
import torch

from allyouneed.decoding.scoring import score_targets
from allyouneed.insight.attribution import gradient_times_attention, rollout, value_weighted
from allyouneed.insight.capture import capture
from allyouneed.insight.intervene import intervene
from allyouneed.insight.names import attentions
from allyouneed.insight.trace import trace
from allyouneed.translation.translator import Translator
from allyouneed.widget.maps import small
from allyouneed.widget.packing import ViewAnswer
from allyouneed.widget.session import KEPT, Session, told_apart

TEXT = "Two women are talking."
LAYERS = {"encoder": 2, "decoder": 3, "cross": 3}
HEAD = "decoder.layers.1.cross_attention[1]"


def translated(session: Session, **state: Any) -> dict[str, Any]:
    answer = session.ask("translate", {"state": {"text": TEXT, "beam": 2, **state}})
    assert "error" not in answer.json, answer.json
    found: dict[str, Any] = answer.json
    return found


def all_layers(session: Session, id: str, kind: str, lens: str) -> list[torch.Tensor]:
    asked = {"id": id, "kind": kind, "lens": lens}
    return [
        torch.tensor(session.ask("attention", {**asked, "layer": layer}).arrays["weights"])
        for layer in range(LAYERS[kind])
    ]


def refused(answer: ViewAnswer) -> str:
    assert answer.json.keys() == {"error"}
    return str(answer.json["error"])


@pytest.mark.parametrize(
    ("names", "shown"),
    [
        (["en-de"], ["en-de"]),
        (["runs/a/model", "runs/b/model"], ["a", "b"]),
        (["runs/a/model/", "en-de"], ["a", "en-de"]),
        (["one/same", "two/same"], ["same (1)", "same (2)"]),
        (["model", "model"], ["model (1)", "model (2)"]),
        (["/"], ["/"]),
    ],
)
def test_models_are_told_apart(names: list[str], shown: list[str]) -> None:
    assert told_apart(names) == shown


def test_about(session: Session) -> None:
    told = session.ask("about", {}).json
    assert [model["name"] for model in told["models"]] == ["small", "other"]
    assert told["models"][0]["config"]["decoder_layers"] == 3
    assert told["live"]
    assert "calculator" in told["asks"]


def test_a_translation_is_the_trace(session: Session, translator: Translator) -> None:
    told, expected = translated(session), trace(translator, TEXT, beam=2, lens=False)
    assert told["text"] == expected.text
    assert told["score"] == expected.score
    assert told["baseline"] is None
    assert [token["id"] for token in told["target"]] == [token.id for token in expected.target]
    assert [token["index"] for token in told["source"]] == list(range(len(expected.source)))
    assert TEXT[told["source"][1]["begin"] : told["source"][1]["end"]]
    assert len(told["steps"]) == len(told["target"])
    assert len(told["steps"][0]["alternatives"]) == 5
    assert {node["fate"] for node in told["beamTree"]} <= {"alive", "dropped", "finished", "best"}


def test_a_head_off_changes_the_translation_and_is_compared(
    session: Session, translator: Translator
) -> None:
    plain, told = translated(session), translated(session, switchedOff=[HEAD])
    with intervene(translator, switch_off=[HEAD]):
        expected = trace(translator, TEXT, beam=2, lens=False)
    assert told["text"] == expected.text
    assert told["log_probability"] == pytest.approx(expected.log_probability, abs=1e-5)
    assert told["log_probability"] != pytest.approx(plain["log_probability"], abs=1e-3)
    assert told["baseline"]["text"] == plain["text"]
    assert told["baseline"]["score"] == plain["score"]
    weights = session.ask(
        "attention", {"id": told["id"], "kind": "cross", "layer": 1, "lens": "raw"}
    ).arrays["weights"]
    assert not weights[1].any()
    assert weights[0].any()
    assert not any(part.probes for part in attentions(translator.model).values())


def test_edits_act_one_after_the_other(session: Session) -> None:
    edits = [
        {"head": HEAD, "kind": "uniform"},
        {"head": HEAD, "kind": "block", "cells": [[0, 0], [0, 1]]},
    ]
    told = translated(session, edits=edits)
    payload = {"id": told["id"], "kind": "cross", "layer": 1}
    weights = session.ask("attention", payload).arrays["weights"][1]
    keys = weights.shape[1]
    np.testing.assert_allclose(weights[0], [0, 0] + [1 / (keys - 2)] * (keys - 2), rtol=1e-5)
    np.testing.assert_allclose(weights[1], [1 / keys] * keys, rtol=1e-5)
    forced = translated(session, edits=[{"head": HEAD, "kind": "force", "cells": [[0, 2]]}])
    weights = session.ask("attention", {**payload, "id": forced["id"]}).arrays["weights"][1]
    assert weights[0].tolist() == [0, 0, 1] + [0] * (keys - 3)


def test_a_prefix_and_a_replaced_token(session: Session, translator: Translator) -> None:
    told = translated(session, prefix="Der Hund")
    assert told["text"].startswith("Der Hund")
    assert told["baseline"] is not None
    pieces = [token["text"] for token in translated(session)["source"]]
    other = translated(session, replaced={"0": "Nine"})
    assert "".join(token["text"] for token in other["source"][:-1]).lstrip().startswith("Nine")
    assert other["baseline"]["text"] == translated(session)["text"]
    assert len(pieces) == max(token["index"] for token in other["source"]) + 1


def test_the_second_model_answers_too(session: Session, other_translator: Translator) -> None:
    told = translated(session, model=1)
    assert told["text"] == trace(other_translator, TEXT, beam=2, lens=False).text
    maps = session.ask("maps", {"id": told["id"], "kind": "encoder"}).arrays["maps"]
    assert maps.shape[:2] == (1, 2)


LONG = "A man rides a bike. " * 12 + "\n\nTwo women are talking, and a dog sleeps."


def test_a_long_text_is_split_as_the_translator_splits_it(
    session: Session, translator: Translator
) -> None:
    cut = translator.segmenter.cut(LONG)
    parts = [segment.text for segment in cut.with_text()]
    assert len(parts) > 2
    assert cut.notes
    told = translated(session, text=LONG, part=len(parts) - 1)
    assert told["parts"] == parts
    assert told["text"] == trace(translator, parts[-1], beam=2, lens=False).text
    assert len(told["source"]) == len(translator.tokenizer.encode(parts[-1]).ids)
    for number, part in enumerate(parts):
        answer = session.ask("part", {"id": told["id"], "part": number})
        assert answer.json == {"text": translator(part, beam=2).text}
    assert translated(session)["parts"] == [TEXT]
    assert "choose one of these" in refused(session.ask("part", {"id": told["id"], "part": 99}))


def test_other_parts_have_the_same_heads_off_but_no_other_change(
    session: Session, translator: Translator
) -> None:
    edits = [
        {"head": HEAD, "kind": "block", "cells": [[0, 0]]},
        {"head": "decoder.layers.0.cross_attention[0]", "kind": "uniform"},
    ]
    off = ["encoder.layers.0.self_attention[0]"]
    told = translated(session, text=LONG, switchedOff=off, edits=edits, prefix="Ein")
    other = session.ask("part", {"id": told["id"], "part": 1}).json["text"]
    with intervene(
        translator.model, switch_off=off, edit={"decoder.layers.0.cross_attention[0]": ["uniform"]}
    ):
        assert other == translator(told["parts"][1], beam=2).text


def test_the_best_aligning_head_points_where_the_words_are_aligned(
    session: Session, translator: Translator
) -> None:
    layer, head = translated(session)["aligning"]
    found = trace(translator, TEXT, beam=2, lens=False)
    words, tokens = len(found.source) - 1, len(found.target) - 1
    aligned = found.attention("cross", -1).mean(0)[:tokens, :words].argmax(-1)
    agreement = {
        (one, number): found.attention("cross", one)[number, range(tokens), aligned].sum()
        for one in range(LAYERS["cross"])
        for number in range(translator.config.heads)
    }
    assert max(agreement, key=lambda place: float(agreement[place])) == (layer, head)


def test_attention_and_maps_are_those_of_the_finished_translation(
    session: Session, translator: Translator
) -> None:
    told = translated(session)
    source = torch.tensor([[token["id"] for token in told["source"]]])
    target = [1, *(token["id"] for token in told["target"][:-1])]
    with capture(translator) as tape, torch.no_grad():
        translator.model(source, torch.tensor([target]))
    for kind, module in (
        ("encoder", "encoder.layers.{}.self_attention"),
        ("decoder", "decoder.layers.{}.self_attention"),
        ("cross", "decoder.layers.{}.cross_attention"),
    ):
        found = all_layers(session, told["id"], kind, "raw")
        for layer, weights in enumerate(found):
            torch.testing.assert_close(weights, tape[module.format(layer)][0])
        maps = session.ask("maps", {"id": told["id"], "kind": kind, "lens": "raw"}).arrays["maps"]
        np.testing.assert_array_equal(maps, small(torch.stack(found)).numpy())
    assert maps.shape[0] == LAYERS["cross"]
    assert max(maps.shape) <= 32


@pytest.mark.parametrize("state", [{}, {"switchedOff": [HEAD]}])
def test_lenses_are_those_of_the_literature(
    session: Session, translator: Translator, state: dict[str, Any]
) -> None:
    told, model = translated(session, **state), translator.model
    source, target = (
        torch.tensor([[t["id"] for t in told[side]]]) for side in ("source", "target")
    )
    module = "decoder.layers.1.cross_attention"
    with intervene(model, switch_off=state.get("switchedOff", [])):
        norms = value_weighted(model, source, target)[module].heads_BHTS[0]
        gradients = gradient_times_attention(model, source, target)[module][0]
    for lens, expected in (("value-weighted", norms), ("gradient", gradients)):
        asked = {"id": told["id"], "kind": "cross", "layer": 1, "lens": lens}
        found = session.ask("attention", asked).arrays["weights"]
        np.testing.assert_allclose(found, expected.numpy(), atol=1e-5)
    mixed = rollout(*(all_layers(session, told["id"], kind, "raw") for kind in LAYERS))
    of_kind = {"encoder": mixed.encoder, "decoder": mixed.target, "cross": mixed.source}
    for kind, expected_layers in of_kind.items():
        for found_HTS, expected_TS in zip(
            all_layers(session, told["id"], kind, "rollout"), expected_layers, strict=True
        ):
            torch.testing.assert_close(found_HTS, torch.stack([expected_TS] * 2))


def test_metrics_by_kind_layer_and_head(session: Session) -> None:
    told = translated(session)
    metrics = session.ask("metrics", {"id": told["id"]}).json
    assert {kind: len(layers) for kind, layers in metrics.items()} == LAYERS
    weights = session.ask("attention", {"id": told["id"], "kind": "cross", "layer": 2}).arrays
    w = weights["weights"][1].astype(np.float64)
    entropy = -(w * np.log(np.where(w > 0, w, 1))).sum(axis=1).mean()
    assert metrics["cross"][2][1]["entropy"] == pytest.approx(entropy, rel=1e-5)
    assert metrics["cross"][2][1]["end"] == pytest.approx(w[:, -1].mean(), rel=1e-5)


def test_the_effect_of_a_head_is_that_of_switching_it_off(
    session: Session, translator: Translator
) -> None:
    told = translated(session)
    other = "encoder.layers.0.self_attention[0]"
    effects = session.ask("effects", {"id": told["id"], "heads": [HEAD, other]}).json["effects"]
    assert [effect["name"] for effect in effects] == [HEAD, other]
    source, target = ([[t["id"] for t in told[side]]] for side in ("source", "target"))
    for effect in effects:
        with intervene(translator, switch_off=[effect["name"]]):
            [log_p] = score_targets(translator.model, torch.tensor(source), torch.tensor(target))
        assert effect["change"] == pytest.approx(sum(log_p) - told["log_probability"], abs=1e-4)
        assert effect["text"] == translated(session, switchedOff=[effect["name"]])["text"]


def test_effects_come_on_top_of_the_state(session: Session) -> None:
    told = translated(session, switchedOff=[HEAD])
    [effect] = session.ask("effects", {"id": told["id"], "heads": [HEAD]}).json["effects"]
    assert effect["change"] == pytest.approx(0, abs=1e-4)
    assert effect["text"] == told["text"]


def test_the_lens_ends_in_what_was_said(session: Session) -> None:
    told = translated(session)
    positions = session.ask("lens", {"id": told["id"]}).json["positions"]
    assert len(positions) == len(told["target"])
    for rows, step in zip(positions, told["steps"], strict=True):
        assert len(rows) == 1 + 3 * 3
        top = rows[-1]["top"][0]
        assert (top["id"], top["text"]) == (
            step["alternatives"][0]["id"],
            step["alternatives"][0]["text"],
        )
        assert 0 <= rows[-1]["crossShare"] <= 1


def test_the_calculator_has_the_states_weights(session: Session) -> None:
    told = translated(session, switchedOff=[HEAD])
    module = "decoder.layers.1.cross_attention"
    asked = {"id": told["id"], "module": module, "query": 1}
    assert not session.ask("calculator", {**asked, "head": 1}).arrays["weights"].any()
    layer = session.ask("attention", {"id": told["id"], "kind": "cross", "layer": 1}).arrays
    found = session.ask("calculator", {**asked, "head": 0}).arrays
    np.testing.assert_allclose(found["weights"], layer["weights"][0, 1], atol=1e-6)


@pytest.mark.parametrize(
    ("state", "words"),
    [
        ({"text": "  "}, "state.text is blank; type a sentence"),
        ({"model": 2}, "the models have the numbers 0 … 1"),
        ({"switchedOff": ["decoder.layers.7.cross_attention[1]"]}, "there is no"),
        ({"edits": [{"head": HEAD, "kind": "block", "cells": [[0, 99]]}]}, "cell (0, 99)"),
        ({"edits": [{"head": "encoder[1]", "kind": "uniform"}]}, "there is no 'encoder[1]'"),
        ({"replaced": {"99": "x"}}, "state.replaced.99"),
        ({"replaced": {"1": "man " * 200}}, "more than the model's 64 positions"),
        ({"part": 1}, "part 1: the text has the parts 0 … 0"),
    ],
)
def test_an_impossible_state_is_refused(
    session: Session, translator: Translator, state: dict[str, Any], words: str
) -> None:
    assert words in refused(session.ask("translate", {"state": {"text": TEXT, **state}}))
    assert not any(part.probes for part in attentions(translator.model).values())
    assert translated(session)["text"]


def test_asking_about_what_is_not_there(session: Session) -> None:
    id = translated(session)["id"]
    assert "has the layers 0 … 2" in refused(
        session.ask("attention", {"id": id, "kind": "cross", "layer": 3})
    )
    assert "there is no" in refused(session.ask("effects", {"id": id, "heads": ["x[0]"]}))
    assert "translate the sentence again" in refused(session.ask("metrics", {"id": "gone"}))


def test_the_last_few_translations_are_kept(session: Session) -> None:
    first = translated(session)["id"]
    for beam in range(3, 3 + KEPT - 1):
        translated(session, beam=beam)
    assert "error" not in session.ask("metrics", {"id": first}).json
    translated(session, beam=20)
    assert "error" not in session.ask("metrics", {"id": first}).json  # it was used last
    for beam in range(21, 21 + KEPT):
        translated(session, beam=beam)
    assert "is no longer stored" in refused(session.ask("metrics", {"id": first}))


def test_an_older_request_of_the_pane_is_obsolete(session: Session) -> None:
    def ask(request: int, page: int = 1, pane: int = 0, text: str = TEXT) -> dict[str, Any]:
        payload = {"state": {"text": text, "beam": 1}, "request": request, "pane": pane}
        return dict(session.ask("translate", payload, page).json)

    id = ask(5)["id"]
    assert ask(4, text="A man.") == {"obsolete": True}
    assert ask(5)["id"] == id
    assert "id" in ask(1, page=2)
    assert "id" in ask(3, pane=1)
    effects = {"id": id, "heads": [HEAD]}
    assert session.ask("effects", {**effects, "request": 4}, 1).json == {"obsolete": True}
    assert "effects" in session.ask("effects", {**effects, "request": 5}, 1).json
    ask(6)
    assert session.ask("effects", {**effects, "request": 5}, 1).json == {"obsolete": True}


def test_the_newest_request_stops_what_runs(session: Session, translator: Translator) -> None:
    """The older one waits at its third step until the newer one has been asked."""
    steps, asked = threading.Event(), threading.Event()
    count = 0

    def at_step(*_: object) -> None:
        nonlocal count
        count += 1
        if count == 3:
            steps.set()
            assert asked.wait(20)

    hook = translator.model.decoder.embeddings.register_forward_pre_hook(at_step)
    older: list[ViewAnswer] = []

    def ask_older() -> None:
        state = {"text": TEXT, "beam": 3}
        older.append(session.ask("translate", {"state": state, "request": 1}, 7))

    thread = threading.Thread(target=ask_older)
    thread.start()
    try:
        assert steps.wait(20)
        newer = session.hear("translate", {"state": {"text": "A man.", "beam": 1}, "request": 2}, 7)
    finally:
        asked.set()
        thread.join(20)
        hook.remove()
    assert older[0].json == {"obsolete": True}
    assert count == 3  # that step did not run to its end
    assert newer().json["text"]
    assert not translator.model.decoder.embeddings._forward_pre_hooks


def test_what_nobody_foresaw_is_told_in_one_line(
    translator: Translator, monkeypatch: pytest.MonkeyPatch
) -> None:
    failures: list[Exception] = []
    session = Session([translator], ["small"], failures.append)

    def fail(*_: object) -> None:
        raise RuntimeError("out of order")

    monkeypatch.setattr(translator.model.encoder, "forward", fail)
    answer = session.ask("translate", {"state": {"text": TEXT}})
    assert refused(answer) == "RuntimeError: out of order"
    assert len(failures) == 1

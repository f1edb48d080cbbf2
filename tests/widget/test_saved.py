"""The view as one file: it holds the session's answers, each head off among them."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from allyouneed.errors import AllYouNeedError, DataError
from allyouneed.insight.names import heads
from allyouneed.translation.translator import Translator
from allyouneed.widget import saved
from allyouneed.widget.packing import ViewAnswer, compact, half
from allyouneed.widget.page import Start
from allyouneed.widget.saved import Collected, save
from allyouneed.widget.session import Session

TEXT = "A man rides."
SavedPage = Any
"""What `read_saved` makes of a file: `ask(kind, payload)` gives (JSON, arrays), or None."""


@pytest.fixture(scope="module")
def start() -> Start:
    return Start.of([TEXT], 1, 1)


@pytest.fixture(scope="module")
def file(
    translator: Translator,
    start: Start,
    tmp_path_factory: pytest.TempPathFactory,
    read_saved: Callable[[Path], SavedPage],
) -> SavedPage:
    path = tmp_path_factory.mktemp("saved") / "view.html"
    save(Session([translator], ["small"]), start, path)
    return read_saved(path)


@pytest.fixture
def one_head(monkeypatch: pytest.MonkeyPatch) -> None:
    """For what has nothing to do with how many heads are switched off."""
    monkeypatch.setattr(saved, "heads", lambda model: heads(model)[:1])


def test_it_answers_as_the_session_does(
    file: SavedPage, session: Session, start: Start, translator: Translator
) -> None:
    state = start.states[0]
    asked = {"state": state.to_json()}
    answer = session.ask("translate", asked)
    held = file.ask("translate", asked)
    assert held is not None
    assert {**held[0], "seconds": 0} == {**json.loads(compact(answer.json)), "seconds": 0}
    id = answer.json["id"]
    plain = [("metrics", {"id": id}), ("lens", {"id": id}), ("positions", {})]
    layers = {"encoder": 2, "decoder": 3, "cross": 3}
    shown = [
        (kind, {"id": id, "kind": side, "lens": lens, **more})
        for lens in ("raw", "value-weighted", "rollout", "gradient")
        for side in layers
        for kind, more in [
            ("maps", {}),
            *(("attention", {"layer": n}) for n in range(layers[side])),
        ]
    ]
    for kind, payload in plain + shown:
        held, live = file.ask(kind, payload), session.ask(kind, payload)
        assert held is not None, (kind, payload)
        assert held[0] == json.loads(compact(live.json))
        assert held[1].keys() == live.arrays.keys()
        for name, array in live.arrays.items():
            np.testing.assert_array_equal(held[1][name], half(array), err_msg=str(payload))


def test_it_says_what_it_holds(file: SavedPage) -> None:
    held = file.ask("about", {})
    assert held is not None
    assert held[0]["live"] is False
    assert "calculator" not in held[0]["asks"]
    assert {json.loads(question)["kind"] for question in file.found} == {*held[0]["asks"]}


def test_every_head_is_off_once(
    file: SavedPage, session: Session, start: Start, translator: Translator
) -> None:
    state = start.states[0]
    id = session.ask("translate", {"state": state.to_json()}).json["id"]
    every = heads(translator.model)
    assert len(every) == 2 * (2 + 3 + 3)
    for head in every:
        held = file.ask("translate", {"state": state.without(head).to_json()})
        assert held is not None
        assert held[0]["baseline"]["text"]
        effect = file.ask("effects", {"id": id, "heads": [head]})
        assert effect is not None
        assert effect[0]["effects"][0]["text"] == held[0]["text"]
        for kind in ("encoder", "decoder", "cross"):
            assert file.ask("maps", {"id": held[0]["id"], "kind": kind, "lens": "raw"})
    two_off = state.without(every[0]).without(every[1])
    assert file.ask("translate", {"state": two_off.to_json()}) is None


def test_two_sentences_are_whole_though_a_session_keeps_few(
    translator: Translator,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    read_saved: Callable[[Path], SavedPage],
) -> None:
    monkeypatch.setattr(saved, "heads", lambda model: heads(model)[:4])
    monkeypatch.setattr("allyouneed.widget.session.KEPT", 3)
    start = Start.of([TEXT, "The man did it."], 1, 1)
    save(Session([translator], ["small"]), start, tmp_path / "two.html")
    file = read_saved(tmp_path / "two.html")
    for state in start.states:
        assert file.ask("translate", {"state": state.to_json()}) is not None
        for head in heads(translator.model)[:4]:
            translated = file.ask("translate", {"state": state.without(head).to_json()})
            assert translated is not None
            asked = {"id": translated[0]["id"], "kind": "cross", "lens": "raw"}
            found = file.ask("maps", asked)
            assert found is not None
            assert found[1]["maps"].size > 0


def test_no_array_takes_another_ones_name() -> None:
    """A question that is asked again has one answer, and what comes after it keeps its own."""
    collected = Collected()
    for number, question in enumerate(["a", "a", "b"]):
        collected.add("maps", {"id": question}, ViewAnswer({}, {"maps": np.full(2, number)}))
    answers, arrays = collected._found, collected._arrays
    kept = [arrays[answer["arrays"]["maps"][0]] for answer in answers.values()]
    assert [int(array[0]) for array in kept] == [1, 2]


@pytest.mark.usefixtures("one_head")
def test_the_same_sentence_twice_is_held_once(
    translator: Translator,
    start: Start,
    tmp_path: Path,
    read_saved: Callable[[Path], SavedPage],
) -> None:
    files, sizes = [], []
    for texts in ([TEXT], [TEXT, TEXT]):
        save(Session([translator], ["small"]), Start.of(texts, 1, 1), tmp_path / "view.html")
        files.append(read_saved(tmp_path / "view.html"))
        sizes.append((tmp_path / "view.html").stat().st_size)
    assert sizes[1] < sizes[0] + 1000
    [state] = start.states
    for asked in ({"kind": "cross", "lens": "raw"}, {"kind": "encoder", "lens": "raw"}):
        once, twice = (
            file.ask(
                "maps",
                {"id": file.ask("translate", {"state": state.to_json()})[0]["id"], **asked},
            )[1]["maps"]
            for file in files
        )
        assert (once == twice).all()


@pytest.mark.usefixtures("one_head")
def test_attention_stops_where_the_room_does(
    session: Session,
    start: Start,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    read_saved: Callable[[Path], SavedPage],
) -> None:
    monkeypatch.setattr(saved, "BUDGET", 0)
    save(session, start, tmp_path / "view.html")
    file = read_saved(tmp_path / "view.html")
    kinds = [json.loads(question) for question in file.found]
    assert {q["payload"]["lens"] for q in kinds if q["kind"] == "maps"} == {"raw"}
    assert len([q for q in kinds if q["kind"] == "maps"]) == 3
    assert len([q for q in kinds if q["kind"] == "translate"]) == 1 + 1


@pytest.mark.usefixtures("one_head")
def test_long_sentences_have_small_maps_and_whole_layers(
    small_model: Any, small_tokenizer: Any, tmp_path: Path, read_saved: Callable[[Path], SavedPage]
) -> None:
    start = Start.of(["man " * 15], 1, 1)
    model = small_model(encoder_layers=2, decoder_layers=3, max_positions=128)
    session = Session([Translator.of_model(model, small_tokenizer)], ["small"])
    save(session, start, tmp_path / "view.html")
    id = session.ask("translate", {"state": start.states[0].to_json()}).json["id"]
    file = read_saved(tmp_path / "view.html")
    asked = {"id": id, "kind": "encoder", "lens": "raw"}
    maps, layer = file.ask("maps", asked), file.ask("attention", {**asked, "layer": 1})
    assert maps is not None
    assert layer is not None
    assert maps[1]["maps"].shape == (2, 2, 32, 32)
    live = session.ask("attention", {**asked, "layer": 1}).arrays["weights"]
    assert live.shape[1] > 32
    np.testing.assert_array_equal(layer[1]["weights"], half(live))


@pytest.mark.usefixtures("one_head")
def test_a_disturbed_state_comes_with_what_is_undisturbed(
    session: Session, start: Start, tmp_path: Path, read_saved: Callable[[Path], SavedPage]
) -> None:
    state = start.states[0].without("encoder.layers.0.self_attention[0]")
    save(session, Start([state]), tmp_path / "view.html")
    file = read_saved(tmp_path / "view.html")
    for shown in (state, start.states[0]):
        assert file.ask("translate", {"state": shown.to_json()}) is not None


@pytest.mark.usefixtures("one_head")
def test_progress_is_told(session: Session, start: Start, tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []
    save(session, start, tmp_path / "view.html", lambda done, of: told.append((done, of)))
    assert told == [(1, 2), (2, 2)]


@pytest.mark.usefixtures("one_head")
def test_a_file_is_whole_or_as_it_was(
    session: Session, start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "view.html"
    path.write_text("before")

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(DataError, match=r"view\.html could not be written: No space left"):
        save(session, start, path)
    assert path.read_text() == "before"
    assert [entry.name for entry in tmp_path.iterdir()] == ["view.html"]


@pytest.mark.usefixtures("one_head")
def test_a_place_that_is_not_there(session: Session, start: Start, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"there is no folder .*nowhere; make it"):
        save(session, start, tmp_path / "nowhere" / "view.html")


@pytest.mark.usefixtures("one_head")
def test_a_state_that_cannot_be_translated(session: Session, tmp_path: Path) -> None:
    with pytest.raises(AllYouNeedError, match="text is blank"):
        save(session, Start.of([" "], 2, 1), tmp_path / "view.html")
    assert not any(tmp_path.iterdir())


@pytest.mark.usefixtures("one_head")
def test_every_part_of_a_long_text_is_held(
    session: Session, tmp_path: Path, read_saved: Callable[[Path], SavedPage]
) -> None:
    start = Start.of(["A man rides a bike. " * 8], 1, 1)
    save(session, start, tmp_path / "view.html")
    file, state = read_saved(tmp_path / "view.html"), start.states[0]
    parts = session.parts(state)
    assert len(parts) > 1
    for number in range(len(parts)):
        held = file.ask("translate", {"state": state.of_part(number).to_json()})
        assert held is not None
        other = (number + 1) % len(parts)
        assert file.ask("part", {"id": held[0]["id"], "part": other}) is not None

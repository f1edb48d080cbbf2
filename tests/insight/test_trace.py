"""A trace says what the translator says, and how it came about."""

import json
import math
from collections.abc import Callable

import pytest
import torch
from torch.testing import assert_close

import allyouneed
from allyouneed.core.transformer import Transformer
from allyouneed.decoding.options import BeamOptions
from allyouneed.errors import UsageError
from allyouneed.insight.capture import capture
from allyouneed.insight.intervene import intervene
from allyouneed.insight.trace import trace
from allyouneed.loading import load
from allyouneed.text.tokenizer import Tokenizer
from allyouneed.translation.translator import Translator

TEXT = "Two women are talking to each other."
CROSS, OWN = "decoder.layers.1.cross_attention", "decoder.layers.1.self_attention"


@pytest.fixture(scope="module")
def german() -> Translator:
    """The bundled model: four encoder and two decoder layers, 4 heads."""
    return load("en-de", engine="core")


@pytest.mark.parametrize("text", [TEXT, "  Where is the station?\n", "ß \ud800 x"])
@pytest.mark.parametrize("beam", [1, 4])
def test_it_is_the_translation(text: str, beam: int, german: Translator) -> None:
    expected = german(text, beam)
    found = trace(german, text, beam)
    assert found.text == expected.text
    assert tuple(token.text for token in found.target) == expected.tokens
    assert found.log_probability == pytest.approx(expected.log_probability, abs=1e-4)
    lengths = german.rules.searching(BeamOptions()).penalty(len(found.target))
    assert found.score == pytest.approx(found.log_probability / lengths)
    steps = [step.log_probability for step in found.steps]
    assert steps == pytest.approx(expected.token_log_probabilities, abs=1e-4)
    assert found.notes == expected.notes


def test_tokens_lie_where_their_spans_say(copier: Translator) -> None:
    found = trace(copier, f"  {TEXT}\n")
    assert (found.source_text, found.text) == (f"  {TEXT}\n", f"  {TEXT}\n")
    assert found.source == found.target
    pieces = [found.text[slice(*token.span)] for token in found.source]
    assert "".join(pieces) == TEXT
    assert [token.text for token in found.source[1:]] == [*pieces[1:-1], "</s>"]
    assert found.source[0].text == f" {pieces[0]}"
    words = [TEXT.split()[token.word] for token in found.source[:-1]]
    assert all(p.strip() in word for p, word in zip(pieces, words, strict=False))
    assert found.source[-1].word == -1


def test_alternatives_are_the_most_probable(german: Translator) -> None:
    found = trace(german, TEXT, alternatives=3)
    target_BT = torch.tensor([[token.id for token in found.target]])
    source_BS = torch.tensor([[token.id for token in found.source]])
    shifted_BT = torch.cat([torch.tensor([[1]]), target_BT[:, :-1]], dim=1)
    log_p_TV = german.model(source_BS, shifted_BT)[0].log_softmax(-1)
    for step, row_V, token in zip(found.steps, log_p_TV, found.target, strict=True):
        assert step.log_probability == pytest.approx(row_V[token.id].item(), abs=1e-5)
        log_p = [one.log_probability for one in step.alternatives]
        assert log_p == pytest.approx(row_V.topk(3).values.tolist(), abs=1e-5)
        assert step.alternatives[0].text == german.tokenizer.piece(step.alternatives[0].id)
        best = step.alternatives[0]
        assert best.probability == pytest.approx(math.exp(best.log_probability))
        assert best.probability == pytest.approx(row_V.max().exp().item(), rel=1e-5)


def test_attention_is_of_the_generated_tokens(german: Translator) -> None:
    found = trace(german, TEXT, lens=False)
    length, sources = len(found.target), len(found.source)
    assert length != sources
    assert found.attention("encoder", 3).shape == (4, sources, sources)
    assert found.attention("decoder", 1).shape == (4, length, length)
    assert found.attention("cross", 0).shape == (4, length, sources)
    assert found.attention("decoder", 0).triu(1).eq(0).all()
    assert torch.equal(found.attention("cross", -2), found.attention("cross", 0))
    with capture(german) as tape:
        german(TEXT, beam=1)
    greedy = trace(german, TEXT, beam=1)
    for kind, name in (("cross", CROSS), ("decoder", OWN)):
        assert_close(greedy.attention(kind, 1), tape[name][0], atol=1e-5, rtol=1e-4)  # type: ignore[arg-type]
    for kind, layer in (("encoder", 4), ("cross", -3)):
        with pytest.raises(UsageError, match=f"layer {layer}: {kind} attention has layers 0 … "):
            found.attention(kind, layer)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="'self' is not one of encoder, decoder, cross"):
        found.attention("self", 0)  # type: ignore[arg-type]


def test_the_lens_ends_in_what_was_said(german: Translator) -> None:
    found = trace(german, TEXT)
    assert len(found.lens) == 1 + 2 * 3
    assert {len(row.cells) for row in found.lens} == {len(found.target)}
    last = found.lens[-1]
    assert last.name == "decoder.layers.1.feed_forward"
    assert [cell.top for cell in last.cells] == [step.alternatives for step in found.steps]
    assert [cell.log_probability for cell in last.cells] == [
        step.log_probability for step in found.steps
    ]
    assert all(0 < cell.cross_share < 1 for cell in last.cells)
    assert trace(german, TEXT, lens=False).lens == ()


def test_the_beam_tree_leads_to_the_translation(german: Translator) -> None:
    found = trace(german, TEXT)
    best = [node for node in found.beam_tree.nodes if node.fate == "best"]
    assert [node.text for node in best] == [token.text for token in found.target]
    assert best[-1].score == pytest.approx(found.score)


def test_it_can_be_told_as_json(german: Translator) -> None:
    found = trace(german, TEXT)
    told = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert "weights" not in told
    assert (told["text"], told["source"][0]["span"]) == (found.text, [0, 3])
    assert told["steps"][0]["alternatives"][0]["id"] == found.steps[0].alternatives[0].id
    assert told["beam_tree"]["nodes"][0]["parent"] is None
    assert told["lens"][-1]["cells"][0]["cross_share"] == found.lens[-1].cells[0].cross_share
    assert 0 < told["search_seconds"] < told["seconds"]


def test_a_prefix_is_kept(german: Translator) -> None:
    found = trace(german, TEXT, prefix="Der Hund")
    assert found.text.startswith("Der Hund")
    assert found.text == german(TEXT, prefix="Der Hund").text
    ids = german.tokenizer.encode("Der Hund").ids[:-1]
    assert [token.id for token in found.target][: len(ids)] == ids


def test_interventions_act_on_it(german: Translator) -> None:
    names = [f"decoder.layers.{layer}.cross_attention" for layer in range(2)]
    plain = allyouneed.trace(german, TEXT)
    with intervene(german, switch_off=names):
        off = trace(german, TEXT)
        assert off.text == german(TEXT, n_best=2).text  # n_best: it searches once
    assert off.text != plain.text
    assert off.attention("cross", 0).eq(0).all()
    assert off.beam_tree != plain.beam_tree


def test_a_second_search_is_noted(german: Translator) -> None:
    text = "Meet me at half past seven."
    plain = trace(german, TEXT)
    with intervene(german, switch_off=["encoder.layers.3.self_attention"]):
        off = trace(german, text)
        assert off.text == german(text, n_best=2).text  # n_best: it searches once
        again = german(text)
    note = (
        "this translation lacks the time 'half past seven'; translate would search again, with a "
        "wider beam"
    )
    assert off.text != again.text
    assert note in off.notes
    assert not any("search again" in note for note in plain.notes)


def test_long_texts_are_one_piece_with_a_note(copier: Translator) -> None:
    text = "The dog sleeps. Where is the station? A man rides a bike."
    found = trace(copier, text)
    length = len(copier.tokenizer.encode(text).ids)
    assert len(found.source) == length > copier.known_length
    assert found.notes[0] == (
        "This text is longer than the 24 tokens that the model was trained on, so this "
        "translation is unreliable. `allyouneed translate` splits it into 3 parts."
    )
    assert "parts" in copier(text).notes[0]
    [note, *_] = trace(copier, "The dog\nsleeps.").notes
    assert note.endswith("`allyouneed translate` splits it into 2 parts.")


def test_longer_than_the_positions_is_an_error(german: Translator) -> None:
    text = "x " * 300
    length = len(german.tokenizer.encode(text.strip()).ids)
    with pytest.raises(UsageError, match=f"{length} tokens, more than the model's 256 positions"):
        trace(german, text)


@pytest.mark.parametrize(
    ("text", "changes", "message"),
    [
        (" \n", {}, "blank"),
        (TEXT, {"alternatives": 0}, "alternatives=0"),
        (TEXT, {"beam": 0}, "beam=0"),
        (TEXT, {"prefix": "x " * 300}, "leaves no room"),
    ],
)
def test_what_cannot_be_traced_is_said(
    text: str, changes: dict[str, int], message: str, german: Translator
) -> None:
    with pytest.raises(UsageError, match=message):
        trace(german, text, **changes)  # type: ignore[arg-type]


def test_it_says_where_the_translator_runs_otherwise(
    make: Callable[..., Transformer], small_tokenizer: Tokenizer
) -> None:
    model = make(max_positions=8)
    with torch.no_grad():
        model.output.bias[2] -= 40

    class Elsewhere:
        name, config, selection, notes = "cpu-int8", model.config, object(), ()

    translator = Translator(Elsewhere(), small_tokenizer, lambda: model)  # type: ignore[arg-type]
    assert trace(translator, "a").notes == (
        "traced on the core engine; cpu-int8 may round differently",
        "traced with the whole vocabulary, not the selected one",
        "stopped at the length limit before the end of a sentence",
        "the translation has a broken character (�): check it",
    )


@pytest.mark.parametrize("text", ["Do NOT open the door.", "See www.example.org now.", "A *b* c."])
def test_words_that_translate_replaces_are_noted(german: Translator, text: str) -> None:
    assert any("other words" in note for note in trace(german, text).notes)
    assert not any("other words" in note for note in trace(german, TEXT).notes)

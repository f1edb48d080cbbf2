"""What a model without a decoder says about texts."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
import torch
from torch.testing import assert_close

import allyouneed
from allyouneed.core.encoder_only import EncoderOnly
from allyouneed.encoder_only.model import EncoderModel
from allyouneed.errors import DataError, ModelFolderError, UsageError
from allyouneed.model_folder.config import Heads
from allyouneed.text.encoder_tokenizer import EncoderTokenizer

Make = Callable[..., EncoderOnly]
TEXTS = [
    "A man rides a bike.",
    "",
    "Two women are talking to each other.",
    "The dog sleeps.",
    " \n",
    "Ein Mann fährt Fahrrad. \ud800",
]
LONG = "The dog sleeps. Where is the station? I would like a cup of coffee, please."


@pytest.fixture(autouse=True)
def no_gradients() -> Iterator[None]:
    with torch.no_grad():
        yield


@pytest.fixture
def model(encoder_folder: Path) -> EncoderModel:
    opened = allyouneed.load(encoder_folder)
    assert isinstance(opened, EncoderModel)
    return opened


def states(model: EncoderModel, *texts: str) -> torch.Tensor:
    """Of one text or pair, written out: [CLS] text [SEP] with segments."""
    ids = [model.tokenizer.encode(text).ids for text in texts]
    segments = [0] + [number for number, some in enumerate(ids) for _ in some]
    row = torch.tensor([[1, *(id for some in ids for id in some)]])
    return model.model(row, torch.tensor([segments])).states_BSD


def test_a_label_is_the_most_probable_one(model: EncoderModel) -> None:
    found = model.predict("A man rides a bike.")
    logits = model.model.heads["labels"](states(model, "A man rides a bike."))[0]
    expected = dict(zip(["bad", "good", "so-so"], logits.softmax(0).tolist(), strict=True))
    assert found.probabilities == pytest.approx(expected, abs=1e-5)
    assert [*found.probabilities] == sorted(expected, key=expected.__getitem__, reverse=True)
    assert found.label == next(iter(found.probabilities))
    assert found.probability == found.probabilities[found.label]
    assert found.to_dict() == {
        "label": found.label,
        "probabilities": found.probabilities,
        "notes": [],
    }


def test_a_pair_is_seen_with_its_segments(model: EncoderModel) -> None:
    pair = ("A man rides a bike.", "The dog sleeps.")
    logits = model.model.heads["labels"](states(model, *pair))[0]
    found = model.predict(pair)
    assert found.probability == pytest.approx(float(logits.softmax(0).max()), abs=1e-5)
    assert found != model.predict((pair[1], pair[0]))
    follows = model.model.heads["next_sentence"](states(model, *pair))[0].softmax(0)[0]
    assert model.follows(*pair) == pytest.approx(float(follows), abs=1e-5)


def test_neighbours_do_not_matter_and_order_is_kept(model: EncoderModel) -> None:
    queries = [*TEXTS, ("The dog", "sleeps."), LONG]
    together = model.predict(queries)
    alone = [model.predict(query) for query in queries]
    for one, other in zip(together, alone, strict=True):
        assert one.probabilities == pytest.approx(other.probabilities, abs=1e-5)
        assert one.notes == other.notes
    vectors = model.encode(TEXTS)
    for text, vector in zip(TEXTS, vectors, strict=True):
        np.testing.assert_allclose(vector, model.encode([text])[0], atol=1e-5)


def test_nothing_gives_nothing(model: EncoderModel) -> None:
    assert model.predict([]) == []
    assert model.tag([]) == []
    assert model.fill([]) == []
    assert model.encode([]).shape == (0, 16)
    assert model.tag("").words == ()
    assert model.predict("").label in ("bad", "good", "so-so")


def test_lone_surrogates_are_noted(model: EncoderModel) -> None:
    [note] = model.predict(TEXTS[-1]).notes
    assert "replaced by U+FFFD" in note


def test_vectors_are_means_or_the_first(model: EncoderModel) -> None:
    text = "The dog sleeps."
    vectors = model.encode([text])
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(vectors[0], states(model, text)[0].mean(0).numpy(), atol=1e-5)
    first = model.encode([text], pooling="first")
    np.testing.assert_allclose(first[0], states(model, text)[0, 0].numpy(), atol=1e-5)
    with pytest.raises(UsageError, match="pooling='max' must be 'mean' or 'first'"):
        model.encode([text], pooling="max")  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="a list of texts; put the text in brackets"):
        model.encode(text)  # type: ignore[arg-type]


def test_a_long_text_is_seen_in_parts_with_a_note(model: EncoderModel) -> None:
    assert model.known_length == 40
    parts = ["The dog sleeps.", "Where is the station?", "I would like a cup of coffee, please."]
    assert " ".join(parts) == LONG
    found, notes = model.encode_with_notes([LONG, "short"])
    assert notes == [["longer than the 40 tokens that the model knows: read in 3 parts"], []]
    sees = [states(model, part)[0] for part in parts]
    np.testing.assert_allclose(found[0], torch.cat(sees).mean(0).numpy(), atol=1e-5)
    weights = torch.tensor([see.size(0) for see in sees])
    logits = torch.stack([model.model.heads["labels"](see[None])[0] for see in sees])
    mean = (logits.softmax(1) * weights[:, None]).sum(0) / weights.sum()
    assert model.predict(LONG).probability == pytest.approx(float(mean.max()), abs=1e-5)
    assert model.predict(LONG).notes == tuple(notes[0])


def test_what_cannot_be_cut_and_is_too_long_is_an_error(model: EncoderModel) -> None:
    with pytest.raises(DataError, match=r"pair 2 has \d+ tokens, but the model takes at most 40"):
        model.predict([("a", "b"), (LONG, "b")])
    with pytest.raises(DataError, match=r"text 1 has \d+ tokens, but the model takes at most 40"):
        model.fill(LONG + " [MASK]")


def test_words_have_the_tag_of_their_first_piece(model: EncoderModel) -> None:
    text = "  Two women,\ttalking?"
    encoding = model.tokenizer.encode(text.strip())
    probabilities = model.model.heads["tags"](states(model, text.strip()))[0].softmax(-1)
    found = model.tag(text)
    assert [(word.word, text[word.begin : word.end]) for word in found.words] == [
        (word, word) for word in ("Two", "women,", "talking?")
    ]
    places = [
        1 + next(n for n, (_, end) in enumerate(encoding.spans) if end > begin)
        for begin in (0, 4, 11)
    ]
    for word, place in zip(found.words, places, strict=True):
        assert word.probability == pytest.approx(float(probabilities[place].max()), abs=1e-5)
        assert word.tag == ("O", "NAME")[int(probabilities[place].argmax())]
    assert found.to_dict()["words"][0]["span"] == [2, 5]


def test_tags_of_a_long_text_are_those_of_its_words_in_order(model: EncoderModel) -> None:
    [short, long] = model.tag(["dog", LONG])
    assert [word.word for word in long.words] == LONG.split()
    assert [LONG[word.begin : word.end] for word in long.words] == LONG.split()
    assert len(long.notes) == 1
    assert len(short.words) == 1


def test_masks_are_filled(model: EncoderModel) -> None:
    text = "A [MASK] rides a [MASK]."
    ids = [1, *model.tokenizer.encode_masked(text)]
    states_BSD = model.model(torch.tensor([ids])).states_BSD
    logits = model.model.heads["masked_words"](states_BSD)[0]
    found = model.fill(text, top=3)
    places = [n for n, id in enumerate(ids) if id == 4]
    assert len(found) == len(places) == 2
    for place, fillings in zip(places, found, strict=True):
        probabilities = logits[place].softmax(0)
        order = [id for id in probabilities.argsort(descending=True).tolist() if id > 4][:3]
        assert [filling.piece for filling in fillings] == [model.tokenizer.piece(i) for i in order]
        assert [filling.probability for filling in fillings] == pytest.approx(
            probabilities[order].tolist(), rel=1e-4
        )
    left, right = found[0][0], found[1][0]
    assert left.text == f"A{left.piece} rides a [MASK]."
    assert right.text == f"A [MASK] rides a{right.piece}."
    [again, other] = model.fill([text, "The dog [MASK]"], top=3)
    assert [filling.piece for filling in again[0]] == [filling.piece for filling in found[0]]
    assert len(other) == 1


def test_what_fill_cannot_do_is_said(model: EncoderModel) -> None:
    with pytest.raises(UsageError, match=r"text 2 has no mask; write \[MASK\] in place of a word"):
        model.fill(["The [MASK]", "The dog"])
    for top in (0, 10_000):
        with pytest.raises(UsageError, match=f"top={top} must be 1 to 295"):
            model.fill("The [MASK]", top=top)
    assert len(model.fill("The [MASK]", top=295)[0]) == 295


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (lambda model: model.predict("x"), "has no labels to predict; its heads: none. Fine-tune"),
        (lambda model: model.tag("x"), "this model has no tags"),
        (lambda model: model.fill("[MASK]"), "did not learn to fill in masked words"),
        (lambda model: model.follows("x", "y"), "did not learn next sentences"),
    ],
)
def test_a_head_that_is_not_there_is_named(
    asked: Callable[[EncoderModel], object],
    message: str,
    small_encoder: Make,
    encoder_tokenizer: EncoderTokenizer,
) -> None:
    model = EncoderModel(small_encoder(Heads()), encoder_tokenizer, Heads())
    with pytest.raises(UsageError, match=re.escape(message)):
        asked(model)
    assert model.encode(["x"]).shape == (1, 16)


@pytest.mark.parametrize("segments", [0, 1])
def test_pairs_without_segments_of_their_own(
    segments: int, small_encoder: Make, encoder_tokenizer: EncoderTokenizer
) -> None:
    heads = Heads(labels=("a", "b"))
    model = EncoderModel(small_encoder(heads, segments=segments), encoder_tokenizer, heads)
    assert model.known_length == 64
    assert model.predict(("x", "y")).label in ("a", "b")


def test_the_kind_of_a_folder_decides(
    encoder_folder: Path, model_folder: Path, encoder_tokenizer: EncoderTokenizer
) -> None:
    assert isinstance(allyouneed.load(model_folder, "core"), allyouneed.Translator)
    assert isinstance(allyouneed.load(encoder_folder, "core"), allyouneed.EncoderModel)
    with pytest.raises(UsageError, match=r"a translation model"):
        allyouneed.load(model_folder, kind=allyouneed.EncoderModel)
    with pytest.raises(
        ModelFolderError, match=r"cannot translate; use it with `allyouneed predict"
    ):
        allyouneed.load(encoder_folder, kind=allyouneed.Translator)
    for options in ({"engine": "cpu-int8"}, {"vocabulary_selection": True}):
        with pytest.raises(UsageError, match=r"without a decoder, which runs on the core alone"):
            allyouneed.load(encoder_folder, **options)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="threads=0 must be from 1 to 1024"):
        allyouneed.load(encoder_folder, threads=0)
    with pytest.raises(UsageError, match="device='abacus' cannot be used"):
        allyouneed.load(encoder_folder, device="abacus")


def test_a_vocabulary_without_a_mask_is_refused(
    encoder_folder: Path, small_tokenizer: object
) -> None:
    small_tokenizer.save(encoder_folder / "tokenizer.json")  # type: ignore[attr-defined]
    with pytest.raises(UsageError, match=r"encoder needs a vocabulary with \[CLS\], \[SEP\]"):
        allyouneed.load(encoder_folder)


def test_batches_do_not_change_what_is_computed(model: EncoderModel) -> None:
    many = [f"{'The dog sleeps. ' * (n % 2)}Where {n}?" for n in range(150)]
    vectors = torch.tensor(model.encode(many))
    for number in (0, 77, 149):
        assert_close(
            vectors[number], torch.tensor(model.encode([many[number]]))[0], atol=1e-5, rtol=0
        )

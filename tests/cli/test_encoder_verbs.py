"""`allyouneed predict`, `fill`, `encode`."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import allyouneed
from allyouneed.core.encoder_only import EncoderOnly
from allyouneed.encoder_only.model import EncoderModel
from allyouneed.model_folder.config import Heads
from allyouneed.model_folder.folder import save_model_folder
from allyouneed.model_folder.traits import Traits
from allyouneed.text.encoder_tokenizer import EncoderTokenizer

LONG = "The dog sleeps. Where is the station? I would like a cup of coffee, please."


@pytest.fixture
def model(encoder_folder: Path) -> EncoderModel:
    return allyouneed.load(encoder_folder)


@pytest.fixture
def tagger(
    small_encoder: Callable[..., EncoderOnly], encoder_tokenizer: EncoderTokenizer, tmp_path: Path
) -> Path:
    heads = Heads(tags=("O", "NAME", "PLACE"))
    save_model_folder(
        tmp_path / "tagger", small_encoder(heads), encoder_tokenizer, Traits(heads=heads)
    )
    return tmp_path / "tagger"


def test_predict_gives_a_line_a_text(call, encoder_folder: Path, model: EncoderModel) -> None:
    texts = ["A man rides a bike.", "", "The dog sleeps."]
    done = call("predict", "--model", encoder_folder, *texts)
    expected = [f"{one.label}\t{one.probability:.4f}" for one in model.predict(texts)]
    assert (done.code, done.err, done.lines) == (0, "", expected)
    piped = call("predict", "--model", encoder_folder, stdin="\n".join(texts).encode())
    assert piped.lines == expected
    assert call("predict", "--model", encoder_folder).lines == []


def test_predict_json_has_every_probability(call, encoder_folder: Path) -> None:
    (line,) = call("predict", "--model", encoder_folder, "--json", "The dog sleeps.").lines
    found = json.loads(line)
    assert found["text"] == "The dog sleeps."
    assert found["probabilities"].keys() == {"bad", "good", "so-so"}
    assert sum(found["probabilities"].values()) == pytest.approx(1)
    assert found["label"] == max(found["probabilities"], key=found["probabilities"].get)


def test_predict_notes_name_the_line(call, encoder_folder: Path) -> None:
    done = call("predict", "--model", encoder_folder, stdin=f"a\n{LONG}\n".encode())
    assert done.err == (
        "note: line 2: longer than the 40 tokens that the model knows: read in 3 parts\n"
    )
    assert len(done.lines) == 2


def test_predict_pairs(call, encoder_folder: Path, model: EncoderModel) -> None:
    done = call("predict", "--model", encoder_folder, "--pairs", "A man.\tThe dog.")
    found = model.predict(("A man.", "The dog."))
    assert done.lines == [f"{found.label}\t{found.probability:.4f}"]
    wrong = call("predict", "--model", encoder_folder, "--pairs", stdin=b"a\tb\nc\n")
    assert (wrong.code, wrong.out) == (1, "")
    assert "line 2 has 0 tabs; a pair is two texts with one tab between them" in wrong.err
    long = call(
        "predict", "--model", encoder_folder, "--pairs", stdin=f"a\tb\n{LONG}\tc\n".encode()
    )
    assert "line 1 to line 2: of these, pair 2 has" in long.err


def test_predict_tags_where_the_model_tags(call, tagger: Path) -> None:
    done = call("predict", "--model", tagger, "A man rides", "")
    expected = [word.tag for word in allyouneed.load(tagger).tag("A man rides").words]
    assert done.lines == [" ".join(expected), ""]
    (line,) = call("predict", "--model", tagger, "--json", "A man rides").lines
    assert [word["tag"] for word in json.loads(line)["words"]] == expected
    pairs = call("predict", "--model", tagger, "--pairs", "a\tb")
    assert (pairs.code, "tags the words of single texts" in pairs.err) == (2, True)


def test_fill_gives_a_line_a_piece(call, encoder_folder: Path, model: EncoderModel) -> None:
    text = "A [MASK] rides a [MASK]."
    done = call("fill", "--model", encoder_folder, "--top", 2, text)
    found = model.fill(text, top=2)
    expected = [f"{one.probability:.4f}\t{one.text}" for mask in found for one in mask]
    assert (done.code, done.lines) == (0, expected)
    (line,) = call("fill", "--model", encoder_folder, "--top", 2, "--json", text).lines
    values = json.loads(line)
    assert values["text"] == text
    assert [[one["piece"] for one in mask] for mask in values["masks"]] == [
        [one.piece for one in mask] for mask in found
    ]


def test_fill_without_a_mask_says_where(call, encoder_folder: Path) -> None:
    one = call("fill", "--model", encoder_folder, "The dog")
    assert one.code == 2
    assert one.err == ("error: text 1 has no mask; write [MASK] in place of a word\n")
    some = call("fill", "--model", encoder_folder, stdin=b"a [MASK]\nb\n")
    assert "line 1 to line 2: of these, text 2 has no mask" in some.err


def test_encode_as_lines(call, encoder_folder: Path, model: EncoderModel) -> None:
    texts = ["A man rides a bike.", "The dog sleeps."]
    done = call("encode", "--model", encoder_folder, *texts)
    found = np.array([json.loads(line) for line in done.lines], np.float32)
    assert np.array_equal(found, model.encode(texts))
    first = call("encode", "--model", encoder_folder, "--pooling", "first", "--json", texts[0])
    values = json.loads(first.lines[0])
    assert values["text"] == texts[0]
    assert np.allclose(values["vector"], model.encode(texts[:1], pooling="first")[0], atol=1e-6)


def test_encode_to_a_file(call, encoder_folder: Path, model: EncoderModel, tmp_path: Path) -> None:
    path = tmp_path / "vectors.npy"
    done = call(
        "encode", "--model", encoder_folder, "--output", path, stdin=f"a\n{LONG}\n".encode()
    )
    assert (done.code, done.out) == (0, "")
    assert done.err.splitlines() == [
        "note: line 2: longer than the 40 tokens that the model knows: read in 3 parts",
        f"note: 2 vectors of 16 numbers written to {path}",
    ]
    assert np.array_equal(np.load(path), model.encode(["a", LONG]))
    assert call("encode", "--model", encoder_folder, "--output", path).code == 0
    assert np.load(path).shape == (0, 16)
    assert [entry.name for entry in tmp_path.iterdir() if ".npy" in entry.name] == ["vectors.npy"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--pooling", "max"], "--pooling max is not one of mean, first"),
        (["--output", "x.txt"], "--output x.txt: vectors are written either to one"),
        (["--output", "x.npy", "--json"], "--output x.npy --json: vectors are written either"),
        (["--output", "no/x.npy"], "--output no/x.npy: there is no folder no"),
    ],
)
def test_encode_says_what_it_cannot(
    call, encoder_folder: Path, arguments: list[str], message: str
) -> None:
    done = call("encode", "--model", encoder_folder, *arguments, "x")
    assert done.code == 2
    assert message in done.err


@pytest.mark.parametrize(
    ("verb", "recipe"), [("predict", "sst2"), ("fill", "masked-lm"), ("encode", "masked-lm")]
)
def test_without_a_model_it_is_said_how_to_get_one(call, verb: str, recipe: str) -> None:
    done = call(verb, "x")
    assert (done.code, done.out) == (2, "")
    assert done.err == (
        "error: --model is missing, and the package has no model for this task; train one with "
        f"`allyouneed train {recipe}`, then add --model runs/{recipe}/model\n"
    )


def test_a_model_for_something_else_is_told(
    call, encoder_folder: Path, model_folder: Path, tagger: Path
) -> None:
    fill = call("fill", "--model", tagger, "a [MASK]")
    assert (fill.code, "did not learn to fill in masked words" in fill.err) == (2, True)
    predict = call("predict", "--model", model_folder, "x")
    assert (predict.code, "holds a model with a decoder" in predict.err) == (
        1,
        True,
    )
    translate = call("translate", "--model", encoder_folder, "x")
    assert translate.code == 1
    assert "holds an encoder without a decoder, which cannot translate; use it" in translate.err
    assert call("tokenize", "--model", encoder_folder, "[MASK]").lines[0].split()[-1] == "[SEP]"


def test_to_hugging_face_and_back(
    call,
    small_encoder: Callable[..., EncoderOnly],
    encoder_tokenizer: EncoderTokenizer,
    tmp_path: Path,
) -> None:
    heads = Heads(labels=("bad", "good"), pooler=True)
    ours, theirs, back = (tmp_path / name for name in ("ours", "theirs", "back"))
    save_model_folder(ours, small_encoder(heads), encoder_tokenizer, Traits(heads=heads))
    done = call("export", "--model", ours, "--to", "huggingface", theirs)
    assert (done.code, "its README.md says how to use it" in done.err) == (0, True)
    assert "BertForSequenceClassification" in (theirs / "README.md").read_text()
    read = call("import", theirs, "--into", back)
    assert (read.code, read.out) == (0, "")
    assert read.err == f"note: written to {back}; predict, fill or encode with it: --model {back}\n"
    texts = ["A man rides a bike.", ""]
    before, after = (call("predict", "--model", path, *texts) for path in (ours, back))
    assert before.lines == after.lines
    wrong = call("export", "--model", ours, "--to", "ctranslate2", tmp_path / "new")
    assert (wrong.code, "cannot translate" in wrong.err) == (1, True)

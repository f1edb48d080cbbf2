"""Replies: the data that they are learnt from, the folder that is left, and what was learnt."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
import torch

from allyouneed.chat import Chat
from allyouneed.data.corpus import Corpus
from allyouneed.data.readers import read_pairs
from allyouneed.data.root import resolve
from allyouneed.decoding.options import BeamOptions
from allyouneed.errors import DataError, RecipeError, TrainingError
from allyouneed.evaluation.variety import variety
from allyouneed.loading import load
from allyouneed.model_folder.folder import open_model_folder
from allyouneed.text.conversation import History
from allyouneed.training.corpora import corpora_of
from allyouneed.training.log import read_log
from allyouneed.training.recipe.reply_schema import ReplyRecipe
from allyouneed.training.recipe.toml_file import load_recipe, to_toml
from allyouneed.training.run import train
from allyouneed.training.tasks.table import TASKS

# What the answer to "and mine?" is depends on what was said before.
PAIRS = [
    ("hello", "hi there, who are you?"),
    ("my name is Ada", "what a fine name, Ada!"),
    ("and what is mine?", "Ada, I have not forgotten"),
    ("ok", "good. Shall we talk about the weather?"),
    ("my name is Bob", "hello Bob"),
    ("and what is mine?", "Bob, of course"),
    ("tell me a joke", "only if you laugh"),
    ("bye", "see you soon"),
]


def write(path: Path, pairs: Sequence[tuple[str, str]]) -> Path:
    path.write_text("".join(f"{turn}\t{reply}\n" for turn, reply in pairs), encoding="utf-8")
    return path


def toy(pairs: Path, *overrides: str) -> ReplyRecipe:
    """The packaged toy on other pairs."""
    corpora = ["data.train.0", "data.train.1", "data.valid.0"]
    recipe = load_recipe("chat-toy", [*(f"{c}.source={pairs}" for c in corpora), *overrides])
    assert isinstance(recipe, ReplyRecipe)
    return recipe


def talked(model: Path, turns: Sequence[str]) -> list[str]:
    """The replies of one conversation, the most probable token each time."""
    chat = Chat(load(model, engine="core"), BeamOptions(beam=1), in_a_row=0)
    return [chat.reply(turn) for turn in turns]


@pytest.fixture(scope="module")
def learnt(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The run of the toy recipe on the invented pairs, by one thread."""
    folder = tmp_path_factory.mktemp("toy")
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        overrides = ["training.steps=120", "schedule.steps=120"]
        train(toy(write(folder / "pairs.tsv", PAIRS), *overrides), folder / "run")
    finally:
        torch.set_num_threads(before)
    return folder / "run"


def test_toy_pairs_are_learnt_to_exactness(learnt: Path) -> None:
    replies = talked(learnt / "model", [turn for turn, _ in PAIRS])
    assert replies == [reply for _, reply in PAIRS]


def test_a_model_knows_its_window_and_marks(learnt: Path) -> None:
    assert open_model_folder(learnt / "model").history == History(turns=3, marks=("▸", "◂"))
    kept = json.loads((learnt / "model" / "training.json").read_text(encoding="utf-8"))
    found = variety([reply for _, reply in PAIRS])
    assert (kept["distinct_1"], kept["distinct_2"]) == (found.distinct_1, found.distinct_2)
    assert "validation_bleu" not in kept


def test_samples_show_the_window(learnt: Path) -> None:
    *_, record = (record for record in read_log(learnt) if record["event"] == "final")
    source, _, reply = record["samples"][1]
    assert source == "▸ hello ◂ hi there, who are you? ▸ my name is Ada"
    assert reply == "what a fine name, Ada!"


def test_weights_that_are_no_numbers_are_told_before_anything_is_replied(tmp_path: Path) -> None:
    wild = ['schedule={name="constant", learning_rate=1e30}', "optimizer.clip_norm=0.0"]
    recipe = toy(write(tmp_path / "pairs.tsv", PAIRS), *wild, "training.validate_every_steps=1")
    with pytest.raises(TrainingError, match=r"loss is nan at step .*lower the learning rate"):
        train(recipe, tmp_path / "run")


def test_the_loss_alone_is_reported_where_no_reply_is_written(tmp_path: Path) -> None:
    overrides = ["training.steps=1", "training.max_minutes=1", "validation.sentences=0"]
    train(toy(write(tmp_path / "pairs.tsv", PAIRS), *overrides), tmp_path / "run")
    *_, final = read_log(tmp_path / "run")
    assert (final["distinct_1"], final["distinct_2"], final["samples"]) == (None, None, [])
    assert "bleu" not in final
    assert "nats per" in (tmp_path / "run" / "report.html").read_text(encoding="utf-8")


def test_the_documents_toy_pairs_are_learnt_to_exactness(tmp_path: Path) -> None:
    try:
        path = resolve(Path("dialog/chloebot_pairs.tsv.gz"), None)
    except DataError as error:
        pytest.skip(f"needs the toy pairs in the folder of data: {error}")
    recipe = load_recipe("chat-toy")
    train(recipe, tmp_path)
    pairs = list(read_pairs(Corpus(path)))
    assert len(pairs) == 32
    replies = talked(tmp_path / "model", [pair.source for pair in pairs])
    assert replies == [" ".join(pair.target.split()) for pair in pairs]


def test_toy_pairs_in_csv_can_be_named(tmp_path: Path) -> None:
    (tmp_path / "pairs.csv").write_text('input_text,output_text\nhi,"hello, you"\n')
    names = ["source_field=input_text", "target_field=output_text"]
    named = [f"{c}.{n}" for c in ("data.train.0", "data.train.1", "data.valid.0") for n in names]
    [corpus, *_] = toy(tmp_path / "pairs.csv", *named).data.train
    assert (corpus.source_field, corpus.target_field) == ("input_text", "output_text")


def test_conversations_with_one_turn_a_line_are_learnt_from(tmp_path: Path) -> None:
    lines = [
        "d1\t0\ta\tHello.",
        "d1\t1\tb\tHi.",
        "d1\t2\ta\tBye.",
        "d2\t0\tb\tYes?",
        "d2\t1\ta\tNo.",
    ]
    talk = tmp_path / "talk.tsv"
    talk.write_text("".join(f"{line}\n" for line in lines))
    recipe = toy(
        talk,
        'reply.marks=["A:", "B:"]',
        'data.valid.0.turn_fields=["1", "3", "4"]',
        "data.valid.0.one_conversation=false",
    )
    [corpus] = corpora_of(recipe, recipe.data.valid[0])
    assert [(pair.source, pair.target) for pair in read_pairs(corpus)] == [
        ("A: Hello.", "Hi."),
        ("B: Hello. A: Hi.", "Bye."),
        ("A: Yes?", "No."),
    ]


def test_a_recipe_comes_back_from_its_toml(tmp_path: Path) -> None:
    recipe = load_recipe("chat", ["reply.history=2"])
    (tmp_path / "again.toml").write_text(to_toml(recipe), encoding="utf-8")
    assert load_recipe(tmp_path / "again.toml") == recipe
    assert recipe.task in TASKS


@pytest.mark.parametrize(
    ("override", "said"),
    [
        ("reply.history=0", "reply.history = 0"),
        ('reply.marks=["a","a"]', "do not distinguish two speakers"),
        ("reply.window=2", "unknown key reply.window"),
        ('data.train.0.turn_fields=["id","who","text"]', "counted from"),
        ('data.train.0.turn_fields=["1","2"]', "turn_fields.2 is missing"),
        ("data.train.0.back_translate=de-en", "learnt from all turns before"),
    ],
)
def test_what_cannot_be_is_named(override: str, said: str) -> None:
    with pytest.raises(RecipeError, match=said):
        load_recipe("chat", [override])


def test_translation_has_no_conversations() -> None:
    with pytest.raises(RecipeError, match=r"unknown key data\.train\.0\.one_conversation"):
        load_recipe("multi30k", ["data.train.0.one_conversation=true"])

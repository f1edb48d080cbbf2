"""A conversation, by a model that gives back what it is told: its window of two turns shows."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from allyouneed.chat import DRAWN, Chat, replies
from allyouneed.core.transformer import Transformer
from allyouneed.decoding.options import BeamOptions, SamplingOptions
from allyouneed.errors import ModelFolderError, UsageError
from allyouneed.insight.intervene import intervene
from allyouneed.loading import load
from allyouneed.model_folder.folder import save_model_folder
from allyouneed.model_folder.traits import Traits
from allyouneed.text.conversation import History, Turn
from allyouneed.text.tokenizer import Tokenizer
from allyouneed.translation.rules import TextRules
from allyouneed.translation.translator import Translator

GREEDY = BeamOptions(beam=1)
BARE = History(turns=1, marks=("", ""))
WINDOW = History(turns=2, marks=("", ""))


@pytest.fixture(scope="session")
def copier_folder() -> Path:
    return Path(__file__).parent / "golden" / "model-v1"


@pytest.fixture
def parrot(copier: Translator) -> Chat:
    return Chat(copier, GREEDY, history=BARE, in_a_row=0)


@pytest.fixture(scope="module")
def noise(small_model: Callable[..., Transformer], small_tokenizer: Tokenizer) -> Translator:
    """Random weights: its replies depend on every token."""
    return Translator.of_model(small_model(), small_tokenizer, TextRules(history=WINDOW))


def test_a_reply_answers_what_is_said(parrot: Chat) -> None:
    assert parrot.reply("b a d c") == "b a d c"
    assert parrot.turns == [Turn("b a d c", own=False), Turn("b a d c", own=True)]


def test_the_pieces_of_a_stream_are_the_reply(noise: Translator) -> None:
    whole, growing = Chat(noise, GREEDY), Chat(noise, GREEDY)
    for said in ("The dog sleeps.", "Where is the station?"):
        pieces = list(growing.stream(said))
        assert len(pieces) > 3
        assert "".join(pieces) == whole.reply(said)
    assert growing.turns == whole.turns


def test_the_window_is_what_the_model_sees(noise: Translator) -> None:
    """With a window of two turns, what was said before the last reply makes no difference."""
    chat = Chat(noise, GREEDY, in_a_row=0)
    chat.turns = [Turn("The dog sleeps.", own=False), Turn("Where is it?", own=True)]
    after = chat.reply("A man rides a bike.")
    chat.turns = [Turn("Two women.", own=False), Turn("Where is it?", own=True)]
    assert chat.reply("A man rides a bike.") == after
    chat.turns = [Turn("The dog sleeps.", own=False), Turn("Two women.", own=True)]
    assert chat.reply("A man rides a bike.") != after
    [alone] = replies(noise, ["Where is it? A man rides a bike."], GREEDY)
    assert alone == after


def test_a_reply_without_words_is_no_turn(noise: Translator) -> None:
    """Training has none, and the window has better uses for its place."""
    chat = Chat(noise, GREEDY, in_a_row=0)
    chat.turns = [Turn("The dog sleeps.", own=False), Turn("", own=True)]
    after = chat.reply("A man rides a bike.")
    chat.turns = [Turn("The dog sleeps.", own=False)]
    assert chat.reply("A man rides a bike.") == after


def test_reset_forgets(noise: Translator) -> None:
    chat = Chat(noise, GREEDY)
    chat.turns = [Turn("The dog sleeps.", own=False), Turn("Two women.", own=True)]
    with_history = chat.reply("A man rides a bike.")
    chat.reset()
    assert chat.turns == []
    assert chat.reply("A man rides a bike.") != with_history
    assert chat.turns[1:] == [Turn(Chat(noise, GREEDY).reply("A man rides a bike."), own=True)]


def test_samples_follow_from_seed_and_number(noise: Translator) -> None:
    def said(seed: int) -> list[str]:
        chat = Chat(noise, SamplingOptions(seed=seed, max_length=12), history=BARE)
        return [chat.reply("The dog sleeps.") for _ in range(2)]

    first, second = said(seed=3)
    assert first != second
    assert said(seed=3) == [first, second]
    assert said(seed=4) != [first, second]


def test_a_beam_comes_in_one_piece(noise: Translator) -> None:
    options = BeamOptions(beam=3, max_length=12)
    chat = Chat(noise, options, history=BARE)
    assert chat.reply("The dog sleeps.") == replies(noise, ["The dog sleeps."], options)[0]


def test_the_same_is_not_said_a_third_time(copier: Translator) -> None:
    chat = Chat(copier, GREEDY, history=BARE)
    said = [chat.reply("b a d c") for _ in range(3)]
    assert said[:2] == ["b a d c"] * 2
    assert said[2] != "b a d c"


def test_a_beam_does_not_say_it_a_third_time_either(copier: Translator) -> None:
    chat = Chat(copier, BeamOptions(beam=4), history=BARE)
    said = [chat.reply("b a d c") for _ in range(3)]
    assert said[:2] == ["b a d c"] * 2
    assert said[2] != "b a d c"


def test_other_words_in_between_let_it_be_said_again(copier: Translator) -> None:
    chat = Chat(copier, GREEDY, history=BARE)
    asked = ["b a d c", "b a d c", "d c", "b a d c", "b a d c"]
    assert [chat.reply(text) for text in asked] == asked


def test_what_was_given_out_counts_as_said(noise: Translator) -> None:
    chat = Chat(noise, GREEDY)
    stream = chat.stream("The dog sleeps.")
    given = "".join(next(stream) for _ in range(4))
    stream.close()
    assert given
    assert chat.turns == [Turn("The dog sleeps.", own=False), Turn(given, own=True)]
    assert "".join(reason.token.text for reason in chat.why()).strip() == given


def test_turns_that_do_not_fit_are_left_out_with_a_note(copier: Translator) -> None:
    chat = Chat(copier, GREEDY, history=History(turns=3, marks=("", "")), in_a_row=0)
    assert copier.known_length == 24
    chat.turns = [Turn("a " * 22, own=False), Turn("b a", own=True)]
    assert chat.reply("c d") == "b a c d"
    assert list(chat.notes) == [
        "the last 3 turns have more than the 24 tokens that the model knows: it reads 2 of them"
    ]


def test_a_turn_that_is_longer_than_the_model_knows_is_seen_whole(copier: Translator) -> None:
    chat = Chat(copier, GREEDY, history=BARE)
    chat.reply("a " * 30)
    assert "31 tokens, more than the 24 that the model knows well" in chat.notes


def test_what_cannot_be_answered_leaves_the_conversation_as_it_was(parrot: Chat) -> None:
    with pytest.raises(UsageError, match="the text is empty"):
        parrot.reply(" \n ")
    with pytest.raises(UsageError, match=r"101 tokens, more than the model's 64 positions"):
        parrot.reply("a " * 100)
    assert parrot.turns == []


def test_marks_in_a_turn_are_left_out_with_a_note(copier: Translator) -> None:
    chat = Chat(copier, GREEDY, history=History(turns=1, marks=("c", "d")))
    chat.reply("a c b")
    assert chat.turns[0].text == "a b"
    assert chat.notes[0] == "marks of speakers were removed from the text"


def test_a_reply_is_one(copier: Translator) -> None:
    chat = Chat(copier, SamplingOptions(samples=2), history=BARE)
    with pytest.raises(UsageError, match="samples=2"):
        chat.reply("a")


def test_a_translator_does_not_chat(copier: Translator) -> None:
    with pytest.raises(UsageError, match="was not trained to reply"):
        Chat(copier)


def test_a_loaded_model_knows_its_window(
    tmp_path: Path, small_model: Callable[..., Transformer], small_tokenizer: Tokenizer
) -> None:
    window = History(turns=5, marks=("Q:", "A:"))
    save_model_folder(tmp_path / "model", small_model(), small_tokenizer, Traits(history=window))
    chat = Chat(load(tmp_path / "model", engine="core"))
    assert chat.history == window
    assert chat.options == DRAWN


def test_every_engine_says_the_same(copier_folder: Path) -> None:
    said = [
        Chat(load(copier_folder, engine=engine), GREEDY, history=BARE).reply("b a d c")
        for engine in ("core", "auto")
    ]
    assert said == ["b a d c"] * 2


def test_why_tells_of_every_token(parrot: Chat) -> None:
    with pytest.raises(UsageError, match="no reply yet"):
        parrot.why()
    parrot.reply("b a d c")
    found = parrot.why(alternatives=2, words=2)
    assert "".join(reason.token.text for reason in found) == " b a d c</s>"
    for reason in found:
        assert reason.alternatives[0].id == reason.token.id
        assert reason.alternatives[0].log_probability == pytest.approx(reason.log_probability)
        assert len(reason.alternatives) == len(reason.looks) == 2
        assert reason.looks[0].share >= reason.looks[1].share
    words = [reason for reason in found[:-1] if reason.token.text.strip()]
    assert [reason.token.text.strip() for reason in words] == ["b", "a", "d", "c"]
    # what the model copies it looks at
    assert [reason.looks[0].word for reason in words] == ["b", "a", "d", "c"]


def test_while_the_model_is_probed_the_core_replies(copier_folder: Path) -> None:
    chat = Chat(load(copier_folder), GREEDY, history=BARE, in_a_row=0)
    before = chat.reply("b a d c")
    every = [f"decoder.layers.0.cross_attention[{head}]" for head in (0, 1)]
    with intervene(chat.translator, switch_off=every):
        probed = chat.reply("b a d c")
    assert probed != before
    assert chat.reply("b a d c") == before


@pytest.mark.parametrize(
    ("history", "said"),
    [
        ({"turns": 0, "marks": ["", ""]}, "history=0 must be at least 1"),
        ({"turns": 1}, "history.marks=null must be a list"),
        ({"turns": 1, "marks": ["a", "a"]}, "do not distinguish two speakers"),
        ({"turns": 1, "marks": ["", ""], "window": 2}, "unknown key history.window"),
        (3, "history=3 must be a table"),
    ],
)
def test_a_folder_with_a_window_that_cannot_be_is_refused(
    model_folder: Path, history: object, said: str
) -> None:
    file = model_folder / "config.json"
    config = json.loads(file.read_text(encoding="utf-8"))
    file.write_text(json.dumps({**config, "history": history}), encoding="utf-8")
    with pytest.raises(ModelFolderError, match=re.escape(said)):
        load(model_folder)

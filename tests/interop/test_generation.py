"""A checkpoint's settings of the search: which are followed, and from which file they are read."""

import pytest

from allyouneed.interop.generation import Generation

PAD = 9


def test_settings_come_from_their_own_file_or_else_from_the_config() -> None:
    config = {"num_beams": 6, "max_length": 512, "d_model": 512, "bad_words_ids": [[PAD]]}
    assert Generation(config, {}, "config.json").said == {
        "num_beams": 6,
        "max_length": 512,
        "bad_words_ids": [[PAD]],
    }
    assert Generation(config, {"num_beams": 4}, "generation_config.json").said == {"num_beams": 4}
    assert Generation({}, {}, "config.json").card() == ""


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ({"num_beams": 4, "max_length": 80, "no_repeat_ngram_size": 3}, None),
        ({"length_penalty": 1.0}, None),
        ({"length_penalty": 0.0}, None),
        ({"bad_words_ids": [[PAD]]}, None),
        ({"do_sample": False}, None),
        ({"length_penalty": 2.0}, None),
        ({"length_penalty": -1.0}, "length_penalty=-1.0"),
        ({"max_new_tokens": 60}, None),
        ({"encoder_no_repeat_ngram_size": 3}, "encoder_no_repeat_ngram_size=3"),
        ({"bad_words_ids": [[PAD], [4]]}, "bad_words_ids=[[9], [4]]"),
        ({"do_sample": True}, "do_sample=True"),
        ({"early_stopping": True}, None),
        ({"repetition_penalty": 1.2}, "repetition_penalty=1.2"),
    ],
    ids=str,
)
def test_settings_that_no_search_follows_are_reported(
    setting: dict[str, object], said: str | None
) -> None:
    found = Generation({}, setting, "generation_config.json").not_followed(PAD)
    expected = f"generation_config.json asks for {said}, which no search here follows"
    assert found == ([expected] if said else [])


def test_the_card_has_the_options_that_mean_the_same() -> None:
    settings = {
        "num_beams": 5,
        "length_penalty": 0.0,
        "no_repeat_ngram_size": 2,
        "early_stopping": True,
    }
    card = Generation({}, settings, "generation_config.json").card()
    assert (
        "    num_beams=5, length_penalty=0.0, no_repeat_ngram_size=2, early_stopping=True\n" in card
    )
    assert "BeamOptions(beam=5, length_penalty=NoPenalty(), no_repeat_ngram=2, " in card
    assert 'stop="first", loop_guard=False)' in card
    assert "import NoPenalty\n" in card


@pytest.mark.parametrize(
    ("settings", "options"),
    [
        ({"length_penalty": 0.6}, "beam=1, length_penalty=lambda length: length**0.6, loop"),
        ({"max_length": 80}, "beam=1, length_penalty=Average(), max_length=79, loop"),
        ({"max_new_tokens": 60, "max_length": 80}, "max_length=60, loop"),
        ({"max_length": "long", "length_penalty": -1}, "beam=1, length_penalty=Average(), loop"),
    ],
    ids=str,
)
def test_options_of_the_card_run(settings: dict[str, object], options: str) -> None:
    card = Generation({}, settings, "generation_config.json").card()
    assert options in card
    code = card.split("```python\n")[1].split("translator(")[0]
    names: dict[str, object] = {}
    exec(code, names)
    assert "options" in names

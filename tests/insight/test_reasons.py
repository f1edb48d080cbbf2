"""Why a text was written: the same numbers as the trace of a translation, for any text."""

import pytest

from allyouneed.insight.reasons import reasons
from allyouneed.insight.trace import trace
from allyouneed.translation.translator import Translator


def test_probabilities_are_those_of_a_trace(copier: Translator) -> None:
    traced = trace(copier, "b a d c", beam=1, alternatives=4, lens=False)
    found = reasons(
        copier,
        [token.id for token in traced.source],
        [token.id for token in traced.target],
        alternatives=4,
    )
    assert [reason.token for reason in found] == list(traced.target)
    for reason, step in zip(found, traced.steps, strict=True):
        assert reason.alternatives == step.alternatives
        assert reason.log_probability == step.log_probability


def test_a_text_that_the_model_would_not_write(copier: Translator) -> None:
    [source, target] = copier.tokenizer.encode_ids(["b a", "b c"])
    right, wrong, _ = [one for one in reasons(copier, source, target) if one.token.text.strip()]
    assert right.probability > 0.5 > wrong.probability
    assert wrong.alternatives[0].text.strip() == "a"


def test_shares_are_of_whole_words_without_those_left_out(copier: Translator) -> None:
    [source, target] = copier.tokenizer.encode_ids(["dcb a", "b"])
    found = reasons(copier, source, target, words=9)
    for reason in found:
        assert {look.word for look in reason.looks} == {"dcb", "a"}
        assert 0 < sum(look.share for look in reason.looks) <= 1 + 1e-6  # the end has the rest
    short = reasons(copier, source, target, words=9, leave_out=["a"])
    for reason, one in zip(found, short, strict=True):
        [look] = one.looks
        assert look in reason.looks
        assert look.word == "dcb"


def test_reasons_are_plain_values(copier: Translator) -> None:
    [source, target] = copier.tokenizer.encode_ids(["b", "b"])
    first = reasons(copier, source, target)[-1].to_dict()
    assert first["token"]["text"] == "</s>"
    assert first["alternatives"][0]["log_probability"] == pytest.approx(first["log_probability"])

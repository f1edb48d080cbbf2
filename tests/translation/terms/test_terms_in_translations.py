"""Terms through a translator: used, reported with their places, told where they are not."""

import pytest

from allyouneed.decoding.options import SamplingOptions
from allyouneed.errors import UsageError
from allyouneed.loading import load
from allyouneed.text.normaliser import AS_TYPED, PlainMarks
from allyouneed.translation.terms.glossary import Glossary
from allyouneed.translation.terms.use import uses


def used(terms, text, translation, normaliser=AS_TYPED):
    found = Glossary.of(terms).find(text)
    spans = [(one.begin, one.end) for one in found]
    return [use.form and use.target for use in uses(found, spans, translation, normaliser)]


@pytest.mark.parametrize(
    ("terms", "text", "translation", "wanted"),
    [
        ({"bike": "Rad|Rads"}, "my bike", "meines Rads.", [(7, 11)]),
        ({"bike": "Rad"}, "my bike", "mein Radweg", [None]),
        ({"bike": "Rad"}, "bike, bike", "Rad", [(0, 3), None]),
        ({"bike": "Rad"}, "bike, bike", "Rad, Rad", [(0, 3), (5, 8)]),
        ({"a": "b", "c": "b d"}, "a c", "b d b", [(4, 5), (0, 3)]),
    ],
)
def test_forms_count_as_whole_words_and_once(terms, text, translation, wanted) -> None:
    assert used(terms, text, translation) == wanted


def test_marks_of_the_language_are_no_other_form() -> None:
    assert used({"it": "l'anno"}, "it", "Et l’anno", PlainMarks()) == [(3, 9)]


def test_a_translation_uses_its_terms_and_says_where(babbler) -> None:
    texts = ["A dog runs.", "  the dog sees\nA DOG and a cat", "nothing"]
    terms = {"dog": "Hund|Hundes", "cat": ""}
    found = babbler(texts, terms=terms)
    assert [len(one.terms) for one in found] == [1, 3, 0]
    for text, one in zip(texts, found, strict=True):
        for use in one.terms:
            assert text[slice(*use.source)].lower() == use.term
            assert one.text[slice(*use.target)] == use.form
            assert use.form.lower() in {"hund", "hundes", "cat"}
        assert not any("not used" in note for note in one.notes)
    assert found[2].text == babbler("nothing").text
    assert found[0].to_dict()["terms"][0]["source"] == [2, 5]


def test_a_term_that_is_not_used_is_told(babbler) -> None:
    long = "Donaudampfschifffahrtsgesellschaft"
    one = babbler("A dog runs.", terms={"dog": long}, max_length=4)
    assert not one.terms[0].used
    assert f"the term 'dog' was not used: the translation does not have '{long}'" in one.notes


def test_lines_as_they_come_and_files(babbler, tmp_path) -> None:
    path = tmp_path / "terms.tsv"
    path.write_text("dog\tHund\n")
    [one, other] = babbler.translate_lines(["A dog.", "A cat."], terms=path)
    assert one.terms[0].form == "Hund"
    assert not other.terms


def test_texts_with_tags(babbler) -> None:
    one = babbler("<p>A <b>dog</b> runs.</p>", markup="html", terms={"dog": "Hund"})
    assert "Hund" in one.text
    assert [(use.form, use.source) for use in one.terms] == [("Hund", None)]


def test_sampling_takes_no_terms(babbler) -> None:
    with pytest.raises(UsageError, match="terms need beam search"):
        babbler("A dog.", options=SamplingOptions(), terms={"dog": "Hund"})


def test_terms_beside_what_is_carried_over(babbler) -> None:
    text = "A cat.\nThe dog is at http://dog.example and a@example.org."
    one = babbler(text, terms={"dog": "Hund", "example": "Beispiel"})
    [use] = one.terms
    assert text[slice(*use.source)] == "dog"
    assert one.text[slice(*use.target)] == "Hund"
    assert use.source == (11, 14)


def test_a_demanded_word_makes_no_doubt_and_may_be_a_short_form() -> None:
    translator = load("en-de")
    one = translator("The bike is red.", terms={"bike": "Wolkenkratzer"})
    assert "Wolkenkratzer" in one.text
    assert one.confidence is not None
    assert one.confidence > 0.5
    assert not any("little confidence" in note for note in one.notes)
    short = translator("It weighs approx. 20 kg.", terms={"approx.": "ca."})
    assert short.text == "Es wiegt ca. 20 kg."
    assert [use.form for use in short.terms] == ["ca."]

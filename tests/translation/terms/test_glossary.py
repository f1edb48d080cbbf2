"""Terms in texts: which are found, in which forms, and what is refused."""

import pytest

from allyouneed.errors import UsageError
from allyouneed.text.normaliser import PlainMarks
from allyouneed.translation.terms.glossary import Glossary, Term


def found(terms, text):
    return [(one.words, one.forms()) for one in Glossary.of(terms).find(text)]


@pytest.mark.parametrize(
    ("terms", "text", "wanted"),
    [
        ({"bike": "Rad"}, "a bike here", [("bike", ("Rad",))]),
        ({"bike": "Rad"}, "bikes and motorbikes", []),
        ({"bike": "Rad"}, "e-bike, bike's", [("bike", ("Rad",))] * 2),
        ({"ride": "fahren|fährt"}, "Ride!", [("Ride", ("fahren", "fährt", "Fahren", "Fährt"))]),
        ({"bike": "Rad"}, "THE BIKE", [("BIKE", ("RAD",))]),
        ({"US": "USA"}, "tell us of the US", [("US", ("USA",))]),
        ({"us": "uns", "US": "USA"}, "Us and the US", [("Us", ("uns", "Uns")), ("US", ("USA",))]),
        ({"Apple": ""}, "an apple by Apple, APPLE", [("Apple", ("Apple",)), ("APPLE", ("APPLE",))]),
        ({"Docker": "Docker"}, "Docker", [("Docker", ("Docker",))]),
        (
            {"machine": "M", "machine learning": "ML", "learning": "L"},
            "machine  learning machine",
            [("machine  learning", ("ML",)), ("machine", ("M",))],
        ),
        ({"C++": ""}, "C and C++.", [("C++", ("C++",))]),
        ({"自行车": "bike"}, "我的自行车很快", [("自行车", ("bike", "Bike"))]),
    ],
)
def test_terms_are_found_as_whole_words_the_longest_first(terms, text, wanted) -> None:
    assert found(terms, text) == wanted


def test_sources_and_texts_are_written_as_the_model_reads_them() -> None:
    glossary = Glossary.of({"dog’s life": "Hundeleben"})
    [one] = glossary.find(PlainMarks().plain("a dog’s  life").text, PlainMarks())
    assert one.words == "dog's life"


@pytest.mark.parametrize("terms", [{"": "x"}, {"--": "x"}, {"a": "|!|"}, {"a": 3}, {"a": [3]}, 5])
def test_what_is_no_term_is_refused(terms) -> None:
    with pytest.raises(UsageError):
        Glossary.of(terms)


def test_two_translations_of_a_source_are_refused_with_a_remedy() -> None:
    with pytest.raises(UsageError, match=r"write them as forms of one: Rad\|Fahrrad"):
        Glossary([Term.of("bike", "Rad"), Term.of("bike", "Fahrrad")])


def test_the_number_of_terms_costs_no_time() -> None:
    many = Glossary(Term.of(f"word{n} and more", "x") for n in range(50_000))
    many.find("warm up")
    looked_up = []

    class Counted(dict):
        def get(self, key, default=None):
            looked_up.append(key)
            return super().get(key, default)

    index = many._indexes[None]
    index._terms = Counted(index._terms)
    assert many.find("nothing of it but word7 and more of it")
    assert len(looked_up) == 1

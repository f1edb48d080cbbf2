"""Direct speech in a line is found, and other quoted words are not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from allyouneed.text.speech import spoken_sentences


def shown(line: str) -> list[tuple[str, list[str], bool]]:
    """Each sentence with its speech."""
    return [
        (
            line[one.begin : one.end].strip(),
            [line[each.begin + 1 : each.end - 1] for each in one.speeches],
            one.reports,
        )
        for one in spoken_sentences(line)
    ]


@pytest.mark.parametrize(
    ("line", "spoken"),
    [
        ('"No," he said.', ["No,"]),
        ("'No,' he said.", ["No,"]),
        ("'I don't know,' she said.", ["I don't know,"]),
        ('"I can\'t come," he said, "because I\'m ill."', ["I can't come,", "because I'm ill."]),
        ('"Where are you?" asked Tom.', ["Where are you?"]),
        ('He asked: "Where is it?"', ["Where is it?"]),
        ('"Nein", sagte er.', ["Nein"]),
        ('Er sagte: "Ich komme nicht".', ["Ich komme nicht"]),
        ('- "No," he said.', ["No,"]),
        ('2) "It is late. We should go," said Anna.', ["It is late. We should go,"]),
    ],
)
def test_speech_is_found_with_the_sentence_that_reports_it(line: str, spoken: list[str]) -> None:
    assert shown(line) == [(line, spoken, True)]


def test_sentences_of_a_line_with_speech() -> None:
    line = '"It\'s late," said Anna. "We should go. Now!" She left.'
    assert shown(line) == [
        ('"It\'s late," said Anna.', ["It's late,"], True),
        ('"We should go. Now!"', ["We should go. Now!"], False),
        ("She left.", [], True),
    ]
    assert "".join(line[one.begin : one.end] for one in spoken_sentences(line)) == line


@pytest.mark.parametrize(
    "line",
    [
        "",
        '"',
        '"No," he said, "',  # three quotes
        'The word "freedom" is long.',
        '"Titanic" is a film.',
        'How do you say "thank you" in Japanese?',
        '"What is it?" "It is nothing."',  # nobody is said to speak
        '"Go home!"',
        '"...," he said.',
        "It's the boys' house, isn't it?",
        "He doesn't like rock 'n' roll.",
        'They use 5" screws, and 6" nails.',
    ],
)
def test_other_lines_have_none(line: str) -> None:
    assert spoken_sentences(line) == []


@given(st.text(alphabet="\"'aB,.!?: \n-1", max_size=60))
def test_sentences_are_the_line_and_contain_their_speech(line: str) -> None:
    found = spoken_sentences(line)
    assert "".join(line[one.begin : one.end] for one in found) == (line if found else "")
    for sentence in found:
        places = [place for one in sentence.speeches for place in (one.begin, one.end)]
        assert places == sorted(places)
        for one in sentence.speeches:
            assert sentence.begin <= one.begin < one.end <= sentence.end
            assert line[one.begin + 1 : one.end - 1] == one.words

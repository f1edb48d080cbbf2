"""Mnemonics: the mark is no text, and stands before a letter of the translation."""

import pytest

from allyouneed.documents.messages import message_nodes
from allyouneed.documents.mnemonic import Mnemonic, with_mnemonic, without_mnemonic
from allyouneed.translation.markup.nodes import Kept, Nodes
from allyouneed.translation.markup.passage import escaped


def text_of(nodes: Nodes) -> str:
    return escaped(nodes, str)


@pytest.mark.parametrize(
    ("label", "text", "letter"),
    [
        ("&Open", "Open", "O"),
        ("Save &as...", "Save as...", "a"),
        ("E&xit", "Exit", "x"),
        ("Fo&rmat text", "Format text", "r"),
        ("<b>&Open</b> it", "<b>Open</b> it", "O"),
        ("&Файл", "Файл", "Ф"),
        ("Salt && pepper: &mix", "Salt && pepper: mix", "m"),
    ],
)
def test_the_mark_is_no_text(label: str, text: str, letter: str) -> None:
    nodes, key = without_mnemonic(message_nodes(label))
    assert (text_of(nodes), key) == (text, Mnemonic("&", letter))
    assert text_of(with_mnemonic(nodes, key)) == label


@pytest.mark.parametrize(
    "text",
    ["R&D", "AT&T", "rock&roll", "Tom & Jerry", "a&nbsp;b", "&lt;b&gt;", "&One &two", "_Open", ""],
)
def test_other_signs_are_text(text: str) -> None:
    nodes, key = without_mnemonic(message_nodes(text))
    assert (text_of(nodes), key) == (text, None)
    assert text_of(with_mnemonic(nodes, key)) == text


@pytest.mark.parametrize(
    ("label", "text"), [("_Close the window", "Close the window"), ("E_xit", "Exit")]
)
def test_the_mark_of_gtk(label: str, text: str) -> None:
    nodes, key = without_mnemonic(message_nodes(label), gtk=True)
    assert text_of(nodes) == text
    assert text_of(with_mnemonic(nodes, key)) == label


@pytest.mark.parametrize("text", ["_private", "MY_NAME", "see __init__", "_Close A_b", "my_name"])
def test_names_of_variables_have_no_key(text: str) -> None:
    nodes, key = without_mnemonic(message_nodes(text), gtk=True)
    assert (text_of(nodes), key) == (text, None)


@pytest.mark.parametrize(
    ("translation", "marked"),
    [
        ("Datei \u00f6ffnen ohne", "Datei \u00f6ffnen &ohne"),  # a word that begins with it
        ("Speichern von", "Speichern v&on"),  # inside of a word
        ("Hilfe", "&Hilfe"),  # the first word
        ("<i>Hilfe</i> da", "<i>&Hilfe</i> da"),
        ("12 Hilfe", "12 &Hilfe"),
        ("\u6253\u5f00", "\u6253\u5f00(&O)"),
    ],
)
def test_the_mark_stands_before_a_letter_of_the_translation(translation: str, marked: str) -> None:
    found = with_mnemonic(message_nodes(translation), Mnemonic("&", "O"))
    assert text_of(found) == marked


def test_literals_get_no_mark() -> None:
    nodes = (Kept("{open}"), " \u00f6ffnen ", Kept("%o"))
    assert text_of(with_mnemonic(nodes, Mnemonic("&", "O"))) == "{open} &\u00f6ffnen %o"

"""The small picture of attention."""

from allyouneed.cli.picture import attention_picture

SOURCE = [" A", " man", " sleeps", ".", "</s>"]
TARGET = [" Ein", " Mann", "</s>"]
WEIGHTS = [
    [0.9, 0.1, 0.0, 0.0, 0.0],
    [0.1, 0.4, 0.2, 0.0, 0.3],
    [0.0, 0.0, 0.0, 0.0, 0.0],
]


def test_the_darkest_column_is_what_was_looked_at() -> None:
    head, first, second, third = attention_picture(SOURCE, TARGET, WEIGHTS).split("\n")
    assert head == "     A   man sleeps .   </s>"
    assert first == "Ein  ███"
    assert second == "Mann ░░░ ███ ▒▒▒▒▒▒     ▓▓▓▓"
    assert third == "</s>"


def test_long_sources_are_numbered_and_listed() -> None:
    picture = attention_picture(SOURCE, TARGET, WEIGHTS, width=20)
    lines = picture.split("\n")
    assert lines[0] == "     1 2 3 4 5"
    assert lines[1] == "Ein  █"
    assert lines[-1] == "1 A  2 man  3 sleeps  4 .  5 </s>"


def test_pieces_that_a_screen_cannot_show_take_up_their_place() -> None:
    lines = attention_picture([" ", "\n", "\x1b[31m"], ["a"], [[1.0, 1.0, 1.0]]).split("\n")
    assert lines == ["  ␣   ·   ·[31m", "a ███ ███ █████"]


def test_wide_characters_do_not_move_the_columns() -> None:
    lines = attention_picture(["日本", "b"], ["語", "abc"], [[1.0, 0.0], [0.0, 1.0]]).split("\n")
    assert lines == ["    日本 b", "語  ████", "abc      ███"]

import pytest

from allyouneed.text.unspaced import unspaced


@pytest.mark.parametrize(
    ("kept", "written"),
    [
        ("Why not ? See .", "Why not? See."),
        ("I ’ m here , you ' re there .", "I'm here, you're there."),
        ("I ’ Ve tried . We ’ Ll see .", "I've tried. We'll see."),
        ("I do n't know ; they didn ’ t .", "I don't know; they didn't."),
        ("It's ( almost ) 5 % !", "It's (almost) 5%!"),
        ("$ 20 is fine", "$20 is fine"),
        ("the boys ' room", "the boys ' room"),
        ("Nothing to do here.", "Nothing to do here."),
    ],
)
def test_spaces_that_people_do_not_write_are_taken_out(kept: str, written: str) -> None:
    assert unspaced(kept) == written


def test_what_is_written_by_people_stays() -> None:
    text = "He said: \"I can't, she won't (yet).\" Well... 3.5 % of it?"
    assert unspaced(text).replace("5%", "5 %") == text

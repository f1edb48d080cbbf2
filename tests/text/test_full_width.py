"""Full-width letters and half-width kana in their usual width; Chinese keeps its own signs."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from allyouneed.text.normaliser import PlainMarks


@pytest.mark.parametrize(
    ("typed", "plain"),
    [
        ("Ｈｅｌｌｏ，　ｗｏｒｌｄ！", "Hello, world!"),
        ("Hello，world！Really？", "Hello, world! Really?"),
        ("Wait。Go（now）、please", "Wait. Go(now), please"),
        ("１，０００．５ ＠ １２：３０", "1,000.5 @ 12:30"),
        ("価格は１，０００円です。", "価格は1,000円です。"),
        ("Ａｚｕｒｅ を使う，か（例：Ａ）！", "Azure を使う，か（例：A）！"),
        ("你好，世界！（测试）“好。”", '你好，世界！（测试）"好。"'),
        ("ｶﾞｷﾞ ｶﾅ", "ガギ カナ"),
        ("ﾊﾛｰ、ワールド", "ハロー、ワールド"),
        ("한국어，영어", "한국어，영어"),
        ("100％ sure", "100% sure"),
    ],
)
def test_what_the_model_reads(typed: str, plain: str) -> None:
    assert PlainMarks().plain(typed).text == plain


def test_places_are_those_of_the_typed_text() -> None:
    plain = PlainMarks().plain("ｶﾞ１２，ab")
    assert plain.text == "ガ12，ab"
    assert plain.typed(0, 1) == (0, 2)
    assert plain.typed(1, 3) == (2, 4)
    assert plain.typed(4, 6) == (5, 7)


@settings(max_examples=200, deadline=None)
@given(st.text(st.sampled_from("aＡ１，。！（ｶﾞ你か ．9\u3000é“")))
def test_places_never_go_back(typed: str) -> None:
    plain = PlainMarks().plain(typed)
    assert PlainMarks().plain(plain.text).text == plain.text
    if plain.places is not None:
        assert len(plain.places) == len(plain.text) + 1
        assert list(plain.places) == sorted(plain.places)

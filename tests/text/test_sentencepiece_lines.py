"""20,000 awkward lines are cut as the package `sentencepiece` cuts them, by models that it has
trained here and by the files of published models."""

import io
import random
from functools import cache
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sentencepiece import SentencePieceProcessor, SentencePieceTrainer

from allyouneed.data.root import data_root
from allyouneed.text.byte_pairs import BytePairs
from allyouneed.text.protobuf import fields
from allyouneed.text.sentencepiece_file import Kind
from allyouneed.text.sentencepiece_model import SentencePieceModel

LINES = 20_000
SCRIPTS = {
    "Latin": "aeiounrstlmdhgcbpfvkwyzxjqAEIORST",
    "accents": "áàâäãåçéèêëíìîïñóòôöõúùûüýßøœæłšžčřğış",
    "Cyrillic": "абвгдежзийклмнопрстуфхцчшщъыьэюя",
    "Greek": "αβγδεζηθικλμνξοπρστυφχψω",
    "Arabic": "ابتثجحخدذرزسشصضطظعغفقكلمنهوي",
    "Devanagari": "कखगघचछजझटठडढणतथदधनपफबभमयरलवशषसहािीुूेैोौ्",
    "Han": "一人的不是了我有在中大国上来年到时要以会可也你对生能子那得于着下自之",
    "Kana": "あいうえおかきくけこアイウエオカキクケコｱｲｳﾊﾟ",
    "Hangul": "가나다라마바사아자차카타파하각난닫",
    "marks": "e\u0301\u0323o\u0308u\u030b\u200d\u200c\u200b\ufeff\u00ad",
    "emoji": "😀👨\u200d👩\u200d👧🏳\ufe0f\u200d🌈👍🏽🇩🇪",
    "digits": "0123456789①²½٣",
    "signs": ".,;:!?¡¿\"'„“”«»()[]{}<>/\\|@#$%&*+-=_~`^",
    "odd": "\x00\x01\x7f\t\r\n\u00a0\u2003\u3000\u2028▁ﬁ㍿ＷｉǅİÅΩ",
}


def line(chance: random.Random) -> str:
    """Words of one to three scripts, long ones among them, with spaces of all kinds."""
    letters = "".join(
        SCRIPTS[name] for name in chance.sample(sorted(SCRIPTS), chance.randint(1, 3))
    )
    longest = 60 if chance.random() < 0.05 else 9
    words = (
        "".join(chance.choices(letters, k=chance.randint(1, longest)))
        for _ in range(chance.randint(0, 7))
    )
    return "".join(word + " " * chance.choice((1, 1, 1, 1, 0, 2, 5)) for word in words)


@cache
def lines(count: int, seed: int = 0) -> list[str]:
    chance = random.Random(seed)
    return ["", " ", "     ", "x" * 300, "日" * 300, *(line(chance) for _ in range(count - 5))]


KINDS: dict[str, dict[str, Any]] = {
    "pairs, as NLLB and M2M": {
        "model_type": "bpe",
        "normalization_rule_name": "nmt_nfkc",
        "user_defined_symbols": ["<sep>", "ab", "国上"],
    },
    "pairs and bytes": {"model_type": "bpe", "byte_fallback": True, "split_digits": True},
    "unigram and bytes, as Firefox": {"byte_fallback": True, "split_digits": True},
}


@cache
def trained(kind: str) -> bytes:
    file = io.BytesIO()
    SentencePieceTrainer.train(
        sentence_iterator=iter(lines(3000, seed=1)),
        model_writer=file,
        num_threads=1,
        minloglevel=2,
        hard_vocab_limit=False,
        character_coverage=0.98,
        vocab_size=2000,
        **KINDS[kind],
    )
    return file.getvalue()


@cache
def opened(file: bytes) -> tuple[SentencePieceProcessor, SentencePieceModel, dict[str, int]]:
    """The model of the package, our model, and the ids of the pieces that are used."""
    ours = SentencePieceModel(file)
    used = [id for id, kind in enumerate(ours.kinds) if kind != Kind.UNUSED]
    return (
        SentencePieceProcessor(model_proto=file),
        ours,
        {ours.pieces[id]: id for id in reversed(used)},
    )


def differences(file: bytes, texts: list[str]) -> list[str]:
    theirs, ours, ids = opened(file)
    unknown = theirs.unk_id()
    return [
        text
        for text, expected in zip(texts, theirs.encode(texts), strict=True)
        if [ids.get(piece.spelling, unknown) for piece in ours.cut(text)] != expected
    ]


@pytest.mark.parametrize("kind", KINDS)
def test_ids_are_those_of_the_package(kind: str) -> None:
    assert differences(trained(kind), lines(LINES)) == []


@pytest.mark.parametrize(
    "name", ["mozilla-test.spm", "opus-mt-fr-en/source.spm", "opus-mt-fr-en/target.spm"]
)
def test_ids_of_published_models(name: str) -> None:
    root = data_root()
    if root is None or not (root / "models" / name).is_file():
        pytest.skip(f"models/{name} is not in the folder of data")
    assert differences((root / "models" / name).read_bytes(), lines(LINES)) == []


@settings(max_examples=300, deadline=None)
@given(st.text(max_size=60), st.sampled_from(sorted(KINDS)))
def test_ids_of_any_text(text: str, kind: str) -> None:
    assert differences(trained(kind), [text]) == []


def with_unused(file: bytes, every: int) -> bytes:
    """The file, but one in so many of its normal pieces is unused."""
    written, number = b"", 0
    for field, value in fields(file):
        assert isinstance(value, bytes)
        if field == 1 and len(dict(fields(value))) == 2:  # no kind: a normal piece
            number += 1
            value += b"\x18\x05" if number % every == 0 else b""
        length = len(value)
        size = b""
        while length > 0x7F:
            size, length = size + bytes([length & 0x7F | 0x80]), length >> 7
        written += bytes([field << 3 | 2]) + size + bytes([length]) + value
    return written


@pytest.mark.parametrize("every", [2, 7])
@pytest.mark.parametrize("kind", KINDS)
def test_unused_pieces(kind: str, every: int) -> None:
    file, texts = with_unused(trained(kind), every), lines(2000)
    theirs = SentencePieceProcessor(model_proto=file)
    ours = SentencePieceModel(file)
    pieces = [[piece.spelling for piece in ours.cut(text)] for text in texts]
    assert pieces == theirs.encode(texts, out_type=str)
    assert pieces != SentencePieceProcessor(model_proto=trained(kind)).encode(texts, out_type=str)


def test_a_long_text_takes_no_longer_for_each_character() -> None:
    model = SentencePieceModel(trained("pairs, as NLLB and M2M"))
    assert isinstance(model._pieces, BytePairs)
    text = "abcdef国上" * 20_000  # one word: the whole of it is joined at once
    assert "".join(piece.spelling for piece in model.cut(text)) == f"▁{text}"

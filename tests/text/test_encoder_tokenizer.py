import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from allyouneed.errors import ConfigError, UsageError
from allyouneed.text.encoder_tokenizer import MASK_IN_TEXT, EncoderTokenizer
from allyouneed.text.opening import encoder_tokenizer, read_tokenizer
from allyouneed.text.tokenizer import Tokenizer

LINES = [
    "The man went to the store.",
    "The man went to the station, and the woman went to the store.",
    "A [MASK] and a [CLS] are text here [SEP].",
]
LEARNT = EncoderTokenizer.train(LINES * 4, vocabulary=320)


def pieces(ids: list[int]) -> list[str]:
    return [LEARNT.piece(id) for id in ids]


def test_special_pieces_have_fixed_ids() -> None:
    specials = ["<pad>", "[CLS]", "[SEP]", "<unk>", "[MASK]"]
    assert pieces(list(range(5))) == specials
    assert [LEARNT.PAD, LEARNT.START, LEARNT.END, LEARNT.UNKNOWN, LEARNT.MASK] == [0, 1, 2, 3, 4]
    written = json.loads(LEARNT.to_json())["added_tokens"]
    assert [(token["id"], token["content"]) for token in written] == list(enumerate(specials))
    with pytest.raises(ConfigError, match="5 special pieces; the smallest is 261"):
        EncoderTokenizer.train(LINES, vocabulary=260)


def test_a_saved_one_is_read_as_what_it_is() -> None:
    again = read_tokenizer(LEARNT.to_json())
    assert isinstance(again, EncoderTokenizer)
    assert again.to_json() == LEARNT.to_json()
    laid_out = read_tokenizer(json.dumps(json.loads(LEARNT.to_json()), indent=2))
    assert laid_out.fingerprint() == LEARNT.fingerprint()
    plain = Tokenizer.train([*LINES, '"content":"[MASK]"'] * 4, vocabulary=320)
    assert type(read_tokenizer(plain.to_json())) is Tokenizer


@given(st.text(max_size=30) | st.sampled_from(LINES))
def test_what_is_written_like_a_special_piece_is_text(text: str) -> None:
    for written in (text, f"{text}[MASK] [CLS][SEP]"):
        ids = LEARNT.encode(written).ids
        assert LEARNT.encode_ids([written]) == [ids]
        assert ids[-1] == LEARNT.END
        assert min(ids[:-1], default=5) > LEARNT.MASK
        assert LEARNT.decode(ids) == written


def test_a_mask_takes_the_place_of_a_word() -> None:
    whole = LEARNT.encode("The man went to the store.").ids
    masked = LEARNT.encode_masked("The man went to the [MASK].")
    assert masked == [
        LEARNT.MASK if piece == " store" else id
        for id, piece in zip(whole, pieces(whole), strict=True)
    ]
    first = LEARNT.encode_masked("[MASK] man went to [MASK] store.")
    assert first == [
        LEARNT.MASK if piece in (" The", " the") else id
        for id, piece in zip(whole, pieces(whole), strict=True)
    ]
    assert LEARNT.encode_masked("") == LEARNT.encode("").ids


@given(st.text(max_size=20))
def test_without_a_mask_in_it_a_text_is_what_it_always_is(text: str) -> None:
    assert LEARNT.encode_masked(text) == LEARNT.encode(text).ids


@pytest.mark.parametrize(
    ("piece", "before", "after", "filled"),
    [
        (" store", "The man went to the ", ".", "The man went to the store."),
        (" store", "", " is big.", "store is big."),
        (".", "The man ", "", "The man."),
        (" the", "to", " store", "to the store"),
    ],
)
def test_a_piece_in_the_place_of_a_mask(piece: str, before: str, after: str, filled: str) -> None:
    id = next(id for id in range(len(LEARNT)) if LEARNT.piece(id) == piece)
    assert LEARNT.put(id, before, after) == filled
    masked = LEARNT.encode_masked(f"{before}{MASK_IN_TEXT}{after}")
    assert [id if one == LEARNT.MASK else one for one in masked] == LEARNT.encode(filled).ids


def test_a_translators_vocabulary_has_no_mask() -> None:
    assert encoder_tokenizer(LEARNT, "this") is LEARNT
    plain = Tokenizer.train(LINES, vocabulary=280)
    with pytest.raises(UsageError, match=r"a recipe needs a vocabulary with \[CLS\], \[SEP\]"):
        encoder_tokenizer(plain, "a recipe")

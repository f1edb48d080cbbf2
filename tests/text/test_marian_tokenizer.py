"""Marian's text rules without Marian: tables, codes, and what is shown of a piece."""

import io
from functools import cache

import pytest
import sentencepiece

from allyouneed.errors import ModelFolderError, UsageError
from allyouneed.text.marian_tokenizer import MarianTokenizer
from allyouneed.text.opening import own_tokenizer, read_tokenizer

SPECIAL = {"pad": "<pad>", "end": "</s>", "unknown": "<unk>"}


@cache
def spm(byte_fallback: bool = False) -> bytes:
    file = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(["the dog sleeps in the house", "a house for the dog"] * 5),
        model_writer=file,
        vocab_size=300 if byte_fallback else 40,
        byte_fallback=byte_fallback,
        hard_vocab_limit=False,
        minloglevel=2,
        num_threads=1,
    )
    return file.getvalue()


def tokenizer(byte_fallback: bool = False) -> MarianTokenizer:
    pieces = sentencepiece.SentencePieceProcessor(model_proto=spm(byte_fallback))
    spelt = [pieces.id_to_piece(id) for id in range(3, len(pieces))]
    ids = {piece: id for id, piece in enumerate(["</s>", "<unk>", *spelt, ">>deu<<", "<pad>"])}
    return MarianTokenizer.of_files(spm(byte_fallback), spm(byte_fallback), ids, None, SPECIAL)


def test_bytes_stand_for_what_has_no_piece() -> None:
    ours = tokenizer(byte_fallback=True)
    text = "the dog sleeps für 日本 😀"
    ids = ours.encode(text).ids
    assert ours.UNKNOWN not in ids
    assert ours.decode(ids) == text
    growing = ours.growing()
    assert "".join(growing.add(id) for id in ids) + growing.end() == text
    without = tokenizer().encode(text).ids
    assert tokenizer().decode(without) == "the dog sleeps f\ufffdr \ufffd \ufffd"


def test_pieces_and_spans_are_of_one_length_and_end_with_the_end() -> None:
    text = ">>deu<< the dog"
    found = tokenizer().encode(text)
    assert len(found.ids) == len(found.pieces) == len(found.spans)
    assert (found.pieces[0], found.pieces[-1]) == (">>deu<<", "</s>")
    assert (found.spans[0], found.spans[-1]) == ((0, 7), (len(text), len(text)))
    assert tokenizer().code(text) == ">>deu<<"
    assert tokenizer().code("a >>deu<<") == ""


def test_what_is_written_is_read_again() -> None:
    ours = tokenizer()
    again = read_tokenizer(ours.to_json())
    assert again.fingerprint() == ours.fingerprint() == ours.target.fingerprint()
    assert again.encode_ids(["the dog", ""]) == ours.encode_ids(["the dog", ""])
    assert again.target.encode_ids(["a house"]) == ours.target.encode_ids(["a house"])
    assert ours.encode_ids([""]) == [[ours.END]]
    assert len(again.target) == len(again)
    assert again.target.target is again.target


@pytest.mark.parametrize("id", [-1, 10_000])
def test_ids_outside_the_vocabulary(id: int) -> None:
    with pytest.raises(UsageError, match=f"id {id} is outside this vocabulary of"):
        tokenizer().decode([id])


def test_tables_that_do_not_fit() -> None:
    good = {"</s>": 0, "<unk>": 1, "<pad>": 2}
    for table, message in {
        (("</s>", 0), ("<unk>", 1), ("<pad>", 3)): "source ids are not 0 to 2, each once",
        (("</s>", 0), ("<unk>", 1), ("pad", 2)): "the source vocabulary lacks <pad>",
    }.items():
        with pytest.raises(ValueError, match=message):
            MarianTokenizer.of_files(spm(), spm(), dict(table), None, SPECIAL)
    with pytest.raises(ValueError, match="target ids are not 0 to 0"):
        MarianTokenizer.of_files(spm(), spm(), good, {"</s>": 1}, SPECIAL)
    with pytest.raises(ModelFolderError, match=r"target \.spm file: it has no pieces"):
        MarianTokenizer.of_files(spm(), b"", good, None, SPECIAL)


def test_it_is_not_taken_for_the_project_s_own() -> None:
    with pytest.raises(UsageError, match="fine-tuning needs a model with this project's own"):
        own_tokenizer(tokenizer(), "fine-tuning")

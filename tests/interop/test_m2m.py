"""M2M-100, SMaLL-100 and NLLB-200 become model folders: the same ids, logits and translations as
`transformers` and `sentencepiece` give."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from sentencepiece import SentencePieceProcessor
from transformers import M2M100ForConditionalGeneration, M2M100Tokenizer

from allyouneed.decoding.length_penalty import Average
from allyouneed.decoding.options import BeamOptions
from allyouneed.errors import ConfigError, ModelFolderError, UsageError
from allyouneed.interop.formats import format_of
from allyouneed.interop.language_codes import M2M_100, NLLB_200, bcp47
from allyouneed.interop.m2m_folder import import_m2m
from allyouneed.loading import load
from allyouneed.translation.translator import Translator

TEXTS = ["A man rides a bike.", "Two women  talk. __fr__ </s>", "Fahrrad 日本 😀 ﬁn", "x"]
MakeFolder = Callable[..., Path]


def imported(source: Path, into: Path) -> tuple[Translator, list[str]]:
    notes: list[str] = []
    import_m2m(source, into, note=notes.append)
    return load(into, engine="core", kind=Translator), notes


def test_ids_of_m2m_are_those_of_their_tokenizer(m2m_folder: MakeFolder, tmp_path: Path) -> None:
    source = m2m_folder()
    ours, _ = imported(source, tmp_path / "ours")
    theirs = M2M100Tokenizer.from_pretrained(source, src_lang="de", tgt_lang="fr")
    for text in [TEXTS[0], *TEXTS[2:]]:
        direction = ours.speaks.direction("de", "fr")
        ids = [*direction.source_mark, *ours.tokenizer.encode(text).ids]
        assert ids == theirs(text).input_ids, text
        assert list(direction.target_mark) == [theirs.get_lang_id("fr")]
        back = theirs.decode(ids[1:], skip_special_tokens=True)
        assert ours.tokenizer.decode(ids).replace("\ufffd", "") == back.replace("<unk>", "")


def test_ids_of_nllb_are_those_of_fairseq(m2m_folder: MakeFolder, tmp_path: Path) -> None:
    ours, _ = imported(m2m_folder("nllb"), tmp_path / "ours")
    theirs = SentencePieceProcessor(str(tmp_path / "nllb" / "sentencepiece.bpe.model"))
    size = theirs.get_piece_size() + 1
    for text in TEXTS:
        expected = [3 if id == 0 else id + 1 for id in theirs.encode(text)]
        assert ours.tokenizer.encode(text).ids == [*expected, 2]
    direction = ours.speaks.direction("deu_Latn", "zh-Hans")
    assert direction.source_mark == (size + NLLB_200.index("deu_Latn"),)
    assert direction.target_mark == (size + NLLB_200.index("zho_Hans"),)
    assert len(ours.languages) == len(NLLB_200) == 202
    assert {"de", "fr", "zh-Hans", "zh-Hant", "fa", "sr"} <= set(ours.languages)


def test_every_code_of_nllb_has_one_of_bcp47() -> None:
    codes = bcp47(NLLB_200)
    assert len(set(codes.values())) == len(NLLB_200)


@pytest.mark.parametrize("kind", ["m2m", "small100", "nllb"])
def test_logits_are_theirs(kind: str, m2m_folder: MakeFolder, tmp_path: Path) -> None:
    source = m2m_folder(kind)
    ours, _ = imported(source, tmp_path / "ours")
    theirs = M2M100ForConditionalGeneration.from_pretrained(source).eval()
    source_BS = torch.tensor([[150, 7, 9, 40, 2], [151, 9, 2, 1, 1]])
    target_BT = torch.tensor([[2, 152, 8, 10, 11, 30], [2, 152, 9, 33, 12, 5]])
    with torch.inference_mode():
        expected = theirs(
            input_ids=source_BS, attention_mask=source_BS != 1, decoder_input_ids=target_BT
        ).logits
        found = ours.model(source_BS, target_BT)
    assert expected.abs().max() > 0.5
    torch.testing.assert_close(found, expected, atol=1e-4, rtol=0)


@pytest.mark.parametrize("kind", ["m2m", "small100", "nllb"])
@pytest.mark.parametrize("beam", [1, 4])
@pytest.mark.parametrize("engine", ["core", "cpu-float32"])
def test_the_same_translations(
    kind: str, beam: int, engine: str, m2m_folder: MakeFolder, tmp_path: Path
) -> None:
    source = m2m_folder(kind)
    imported(source, tmp_path / "ours")
    ours = load(tmp_path / "ours", engine, kind=Translator)
    theirs = M2M100ForConditionalGeneration.from_pretrained(source).eval()
    options = BeamOptions(
        beam=beam, length_penalty=Average(), loop_guard=False, max_length=14, stop="exact"
    )
    direction = ours.speaks.direction("de", "fr")
    said: set[int] = set()
    for text in TEXTS:
        ids = [*direction.source_mark, *ours.tokenizer.encode(text).ids]
        given = len(direction.target_mark)
        there = theirs.generate(
            input_ids=torch.tensor([ids]),
            num_beams=beam,
            max_length=None,
            max_new_tokens=14 + given,
            min_new_tokens=1 + given,
            length_penalty=1.0,
            early_stopping="never",
            forced_bos_token_id=direction.target_mark[0] if given else None,
            forced_eos_token_id=None,
            bad_words_ids=[[1]],
        )[0, 1:].tolist()
        [[best]] = ours.engine.search([ids], options.after(given), [list(direction.target_mark)])
        assert list(best.ids) == there
        found = ours(text, options=options, source="de", target="fr", protect=False)
        assert list(found.tokens) == [ours.tokenizer.piece(id) for id in there[given:]]
        said |= set(there)
    assert len(said) >= 5


def test_languages_are_asked_for_by_name(m2m_folder: MakeFolder, tmp_path: Path) -> None:
    ours, _ = imported(m2m_folder(), tmp_path / "ours")
    assert ours.languages == tuple(sorted(M2M_100))
    assert len(ours.directions) == 9900
    with pytest.raises(UsageError, match=r"into target='frr'; did you mean 'fr'\? It has: af, am,"):
        ours("x", source="de", target="frr")
    with pytest.raises(UsageError, match="this model translates from af, am, "):
        ours("x", target="fr")
    small, _ = imported(m2m_folder("small100"), tmp_path / "small")
    assert small("x", target="fr", options=BeamOptions(beam=1, max_length=4)).tokens


def test_marks_whose_ids_a_file_says(m2m_folder: MakeFolder, tmp_path: Path) -> None:
    source = m2m_folder()
    size = json.loads((source / "config.json").read_text())["vocab_size"]
    (source / "added_tokens.json").write_text(
        json.dumps({"__de__": size - 1, "__fr__": size - 2, "<mask>": size - 3})
    )
    ours, _ = imported(source, tmp_path / "ours")
    assert ours.languages == ("de", "fr")
    assert ours.speaks.direction("de", "fr").source_mark == (size - 1,)


def test_half_stays_half(m2m_folder: MakeFolder, tmp_path: Path) -> None:
    source = m2m_folder()
    theirs = M2M100ForConditionalGeneration.from_pretrained(source)
    theirs.half().save_pretrained(source)
    imported(source, tmp_path / "ours")
    sizes = [path / "model.safetensors" for path in (tmp_path / "ours", source)]
    assert sizes[0].stat().st_size == pytest.approx(sizes[1].stat().st_size, rel=0.3)


def drop(name: str) -> Callable[[Path], object]:
    return lambda path: (path / name).unlink()


def config(**changes: object) -> Callable[[Path], object]:
    def change(path: Path) -> None:
        file = path / "config.json"
        file.write_text(json.dumps(json.loads(file.read_text()) | changes))

    return change


def written(name: str, text: str) -> Callable[[Path], object]:
    return lambda path: (path / name).write_text(text)


@pytest.mark.parametrize(
    ("spoil", "kind", "said"),
    [
        (drop("sentencepiece.bpe.model"), ModelFolderError, r"lacks sentencepiece\.bpe\.model;"),
        (drop("model.safetensors"), ModelFolderError, r"lacks model\.safetensors \(or pytorch"),
        (config(vocab_size=2**40), ModelFolderError, "vocab_size=1099511627776, but there are"),
        (config(vocab_size=20), ModelFolderError, "vocab_size=20, but there are pieces up to id"),
        (config(vocab_size="x"), ModelFolderError, "vocab_size='x', but there are pieces up to"),
        (config(d_model=32), Exception, r"has the shape|with this config it is"),
        (
            config(encoder_layers=10**9),
            ConfigError,
            "encoder_layers=1000000000, but the weights are",
        ),
        (
            config(d_model=10**6, encoder_ffn_dim=2**40, decoder_ffn_dim=2**40),
            ConfigError,
            "with d_model=1000000",
        ),
        (config(max_position_embeddings=10**12), ConfigError, "max_positions=1000000000000 with"),
        (config(max_position_embeddings=-1), ConfigError, "max_positions=-1 must be at least 1"),
        (config(encoder_ffn_dim=25), ConfigError, "encoder_ffn_dim=25 and decoder_ffn_dim=24"),
        (config(activation_function="tanh"), ConfigError, "activation_function='tanh' is not one"),
        (config(tie_word_embeddings=False), ConfigError, "tie_word_embeddings=false"),
        (written("vocab.json", "[" * 100_000), ModelFolderError, r"vocab\.json is no JSON"),
        (written("vocab.json", '{"a": 7}'), ModelFolderError, "ids are not 0 to 0"),
        (written("sentencepiece.bpe.model", "x"), ModelFolderError, r"\.spm file:"),
        (
            written("added_tokens.json", '{"__de__": 2}'),
            ModelFolderError,
            "mark of 'de' has the id 2 of a piece",
        ),
    ],
)
def test_folders_that_are_refused(
    spoil: Callable[[Path], object],
    kind: type[Exception],
    said: str,
    m2m_folder: MakeFolder,
    tmp_path: Path,
) -> None:
    source = m2m_folder()
    spoil(source)
    with pytest.raises(kind, match=said):
        import_m2m(source, tmp_path / "ours", note=print)
    assert not (tmp_path / "ours").exists()


def test_the_front_door_knows_them(m2m_folder: MakeFolder) -> None:
    assert format_of(m2m_folder("nllb")) == "m2m"

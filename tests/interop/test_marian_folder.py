"""An OPUS-MT folder becomes a model folder: the same ids, the same words as `transformers`."""

import json
import os
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import AutoModelForSeq2SeqLM, AutoTokenizer, MarianTokenizer

from allyouneed.decoding.length_penalty import Average
from allyouneed.decoding.options import BeamOptions
from allyouneed.engine.torch_engine import core_engine
from allyouneed.errors import ConfigError, ModelFolderError, ShapeError, UsageError
from allyouneed.interop.huggingface_folder import export_huggingface
from allyouneed.interop.marian_folder import import_marian
from allyouneed.loading import load
from allyouneed.model_folder.folder import WEIGHTS, ModelFolder, open_model_folder

MakeFolder = Callable[..., Path]
TEXTS = [
    "A man rides a bike.",
    "The dog  sleeps, and where is the café?",
    ">>deu<< Two women in the street",
    ">>xyz<< a code that is none",
    "a >>deu<< b",
    ">>deu",
    "ＷＩＤＥ ﬁgures ① 日本語 unknown 😀",
    " leading and trailing ",
    "x",
]


def silent(text: str) -> None:
    raise AssertionError(text)


def imported(source: Path, into: Path) -> tuple[ModelFolder, list[str]]:
    notes: list[str] = []
    return import_marian(source, into, note=notes.append), notes


def test_a_model_in_float16_stays_in_float16(marian_folder: MakeFolder, tmp_path: Path) -> None:
    source = marian_folder(False)
    weights = {name: weight.half() for name, weight in load_file(source / WEIGHTS).items()}
    save_file(weights, source / WEIGHTS)
    folder, _ = imported(source, tmp_path / "ours")
    stored = load_file(folder.path / WEIGHTS)
    kinds = {weight.dtype for name, weight in stored.items() if "positions" not in name}
    assert kinds == {torch.float16}
    for name, weight in load_file(source / WEIGHTS).items():
        if name in ("model.shared.weight", "model.encoder.layers.0.fc1.weight"):
            ours = [one for one in stored.values() if one.shape == weight.shape]
            assert any(torch.equal(one, weight) for one in ours), name


@pytest.mark.parametrize("apart", [False, True])
def test_ids_are_those_of_their_tokenizer(
    apart: bool, marian_folder: MakeFolder, tmp_path: Path
) -> None:
    source = marian_folder(apart)
    theirs = MarianTokenizer.from_pretrained(source)
    ours = imported(source, tmp_path / "ours")[0].tokenizer
    for text in TEXTS:
        assert ours.encode_ids([text]) == [theirs(text).input_ids], text
        assert ours.target.encode_ids([text]) == [theirs(text_target=text).input_ids], text
    ids = ours.target.encode("Zwei Frauen auf der Straße.").ids
    assert ours.target.decode(ids) == theirs.decode(ids, skip_special_tokens=True)
    assert ours.target.decode(ids) == "Zwei Frauen auf der Straße."


def test_specials_written_in_a_text_are_text(marian_folder: MakeFolder, tmp_path: Path) -> None:
    ours = imported(marian_folder(), tmp_path / "ours")[0].tokenizer
    ids = ours.encode("a</s><pad> b").ids
    assert ids.index(ours.END) == len(ids) - 1
    assert ours.PAD not in ids


@pytest.mark.parametrize("apart", [False, True])
@pytest.mark.parametrize("beam", [1, 4])
def test_the_same_words_as_transformers(
    apart: bool, beam: int, marian_folder: MakeFolder, tmp_path: Path
) -> None:
    source = marian_folder(apart)
    theirs = AutoModelForSeq2SeqLM.from_pretrained(source).eval()
    folder, _ = imported(source, tmp_path / "ours")
    tokenizer = AutoTokenizer.from_pretrained(source)
    options = BeamOptions(beam=beam, length_penalty=Average(), loop_guard=False, max_length=12)
    said: set[int] = set()
    for text in TEXTS[:3]:
        there = theirs.generate(
            **tokenizer(text, return_tensors="pt"),
            num_beams=beam,
            max_length=None,
            max_new_tokens=12,
            min_new_tokens=1,
            forced_eos_token_id=None,
        )[0, 1:].tolist()
        [[best]] = core_engine(folder.load_model()).search(
            folder.tokenizer.encode_ids([text]), options
        )
        assert list(best.ids) == there
        said |= set(there)
    assert len(said) >= 4


def test_it_is_translated_with(
    marian_folder: MakeFolder, as_pickle: Callable[[Path], None], tmp_path: Path
) -> None:
    source = marian_folder()
    as_pickle(source)
    folder, notes = imported(source, tmp_path / "ours")
    assert folder.languages == ("eng", "deu")
    assert notes == [
        "its generation settings are in README.md, with the options that mean the same"
    ]
    options = BeamOptions(beam=2, max_length=6)
    texts = ["A man rides a bike.", ">>deu<< The dog."]
    core = load(tmp_path / "ours", engine="core")
    native = load(tmp_path / "ours", engine="cpu-float32")
    found = core(texts, options=options)
    assert [one.text for one in found] == [one.text for one in native(texts, options=options)]
    assert (
        "".join(core.stream(texts[0], BeamOptions(beam=1, max_length=6)))
        == core(texts[0], options=BeamOptions(beam=1, max_length=6)).text
    )
    [score] = core.score(texts[:1], ["Ein Mann."])
    assert score.tokens == (" ", "E", "in", " Mann", ".", "</s>") or score.tokens[-1] == "</s>"
    assert len(score.tokens) == len(folder.tokenizer.target.encode("Ein Mann.").ids)


def test_every_part_of_a_long_line_is_told_the_language(
    marian_folder: MakeFolder, tmp_path: Path
) -> None:
    folder, _ = imported(marian_folder(), tmp_path / "ours")
    translator = load(folder.path, engine="core")
    sentences = ["A man rides a bike.", "Two women are talking to each other.", "The dog sleeps."]
    line = ">>deu<< " + " ".join(sentences)
    options = BeamOptions(beam=1, max_length=8)
    whole = translator(line, options=options, alignments=True)
    assert any("translated in " in note for note in whole.notes)
    apart = translator(
        [f">>deu<< {sentence}" for sentence in sentences], options=options, alignments=True
    )
    assert whole.text == " ".join(one.text for one in apart)
    assert whole.text != " ".join(one.text for one in translator(sentences, options=options))
    shift, links = 0, []
    target = 0
    for number, one in enumerate(apart):
        told = number > 0  # the first part's code is a word of the line
        for i, j in one.alignment or ():
            if i >= told:
                links.append((i - told + shift, j + target))
        shift += len(one.source.split()) - told
        target += len(one.text.split())
    assert len(links) >= 3
    assert set(links) <= set(whole.alignment or ())


def test_the_card_says_how_to_search_as_they_do(marian_folder: MakeFolder, tmp_path: Path) -> None:
    folder, notes = imported(
        marian_folder(generation={"no_repeat_ngram_size": 3, "repetition_penalty": 1.5}),
        tmp_path / "ours",
    )
    card = (folder.path / "README.md").read_text("utf-8")
    assert "num_beams=6" in card
    assert (
        "BeamOptions(beam=6, length_penalty=Average(), max_length=63, no_repeat_ngram=3, loop_guard"
        in card
    )
    assert "a source text begins with a code for the language that it goes into: `>>deu<<`" in card
    assert notes[0] == (
        "generation_config.json asks for repetition_penalty=1.5, which no search here follows"
    )
    program = card.split("```python\n")[1].split("```")[0]
    run: dict[str, Any] = {"translator": load(folder.path, engine="core"), "text": "A dog."}
    exec(program, run)
    assert run["options"].no_repeat_ngram == 3


def test_what_a_tokenizer_asks_for_beyond_its_files_is_said(
    marian_folder: MakeFolder, tmp_path: Path
) -> None:
    source = marian_folder()
    known, unknown = {"content": "<unk>"}, {"content": "<ent>"}
    other("tokenizer_config.json", added_tokens_decoder={"1": known, "99": unknown})(source)
    other("tokenizer_config.json", sp_model_kwargs={"enable_sampling": True})(source)
    _, notes = imported(source, tmp_path / "ours")
    assert notes[:2] == [
        "tokenizer_config.json adds '<ent>', which vocab.json lacks; it is read as other text is",
        "tokenizer_config.json asks for sp_model_kwargs={'enable_sampling': True}: not followed",
    ]


def test_it_goes_back_byte_for_byte(marian_folder: MakeFolder, tmp_path: Path) -> None:
    source = marian_folder(True)
    folder, _ = imported(source, tmp_path / "ours")
    export_huggingface(folder, tmp_path / "back")
    for name in ("source.spm", "target.spm"):
        assert (tmp_path / "back" / name).read_bytes() == (source / name).read_bytes()
    for name in ("vocab.json", "target_vocab.json"):
        before, after = (
            json.loads((path / name).read_bytes()) for path in (source, tmp_path / "back")
        )
        assert before == after
    theirs, again = (AutoTokenizer.from_pretrained(path) for path in (source, tmp_path / "back"))
    assert [theirs(text).input_ids for text in TEXTS] == [again(text).input_ids for text in TEXTS]
    first, second = (
        AutoModelForSeq2SeqLM.from_pretrained(path).state_dict()
        for path in (source, tmp_path / "back")
    )
    assert all(torch.equal(first[name], second[name]) for name in first)


class Bomb:
    def __reduce__(self) -> tuple[Any, tuple[str]]:
        return os.system, ("true",)


def truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-100])


def other(name: str, **changes: object) -> Callable[[Path], None]:
    def change(path: Path) -> None:
        file = path / name
        file.write_text(json.dumps({**json.loads(file.read_bytes()), **changes}))

    return change


def pickled(value: object) -> Callable[[Path], None]:
    def change(path: Path) -> None:
        (path / "model.safetensors").unlink()
        if isinstance(value, bytes):
            (path / "pytorch_model.bin").write_bytes(value)
        else:
            torch.save(value, path / "pytorch_model.bin")

    return change


BROKEN: dict[str, tuple[Callable[[Path], None], type[Exception], str]] = {
    "no target.spm": (
        lambda path: (path / "target.spm").unlink(),
        ModelFolderError,
        r"opus-mt lacks target\.spm; a folder of MarianMTModel has the weights and config",
    ),
    "no weights": (
        lambda path: (path / "model.safetensors").unlink(),
        ModelFolderError,
        r"opus-mt lacks model\.safetensors \(or pytorch_model\.bin\)",
    ),
    "weights cut short": (
        lambda path: truncate(path / "model.safetensors"),
        ModelFolderError,
        r"model\.safetensors is damaged or cut short",
    ),
    "a pickle that does things": (
        pickled({"model": Bomb()}),
        ModelFolderError,
        r"pytorch_model\.bin holds more than tensors and is not opened, as it could run any code",
    ),
    "an old pickle that does things": (
        pickled(pickle.dumps(Bomb())),
        ModelFolderError,
        r"pytorch_model\.bin holds more than tensors",
    ),
    "a pickle cut short": (
        pickled(b"PK\x03\x04 and no more"),
        ModelFolderError,
        r"pytorch_model\.bin is damaged or cut short",
    ),
    "a pickle of something else": (
        pickled([torch.ones(2)]),
        ModelFolderError,
        r"pytorch_model\.bin holds no table of tensors by name",
    ),
    "a vocabulary of another size": (
        other("vocab.json", extra=500),
        ModelFolderError,
        r"opus-mt: source ids are not 0 to \d+, each once",
    ),
    "ids that are no numbers": (
        other("vocab.json", extra="7"),
        ModelFolderError,
        r"vocab\.json: 'extra' has '7' for an id, which is no number",
    ),
    "more rows than pieces": (
        other("config.json", vocab_size=1000, decoder_vocab_size=1000),
        ShapeError,
        r"has the shape",
    ),
    "another pad": (
        other("config.json", pad_token_id=5),
        ModelFolderError,
        r"config\.json says pad_token_id=5, but the piece has the id \d+ in vocab\.json",
    ),
    "T5": (
        other("config.json", model_type="t5"),
        ConfigError,
        r"model_type='t5' is not 'marian': it has relative positions inside attention",
    ),
    "several things": (
        other("config.json", normalize_before=True, static_position_embeddings=False),
        ConfigError,
        r"normalize_before=True: MarianMTModel itself is post-norm only; static_position_emb",
    ),
    "no JSON": (
        lambda path: truncate(path / "config.json"),
        ModelFolderError,
        r"config\.json is no JSON",
    ),
    "no table": (
        lambda path: (path / "vocab.json").write_text("[]") and None,
        ModelFolderError,
        r"vocab\.json holds no table",
    ),
    "a damaged .spm": (
        lambda path: truncate(path / "source.spm"),
        ModelFolderError,
        r"opus-mt: the source \.spm file: cut short",
    ),
    "a target table that is not there": (
        other("tokenizer_config.json", separate_vocabs=True),
        ModelFolderError,
        r"opus-mt lacks target_vocab\.json, which separate_vocabs asks for",
    ),
    "specials that are not there": (
        other("tokenizer_config.json", unk_token="<what>"),
        ModelFolderError,
        r"the source vocabulary lacks <what>",
    ),
}


@pytest.mark.parametrize("case", BROKEN)
def test_folders_that_are_refused(case: str, marian_folder: MakeFolder, tmp_path: Path) -> None:
    source = marian_folder()
    spoil, error, message = BROKEN[case]
    spoil(source)
    with pytest.raises(error, match=message):
        import_marian(source, tmp_path / "ours", note=silent)
    assert [path.name for path in tmp_path.iterdir()] == ["opus-mt"]


def test_more_pieces_than_rows(marian_folder: MakeFolder, tmp_path: Path) -> None:
    source = marian_folder()
    vocabulary = json.loads((source / "vocab.json").read_bytes())
    other("vocab.json", extra=len(vocabulary))(source)
    with pytest.raises(ModelFolderError, match=r"has \d+ pieces, but config\.json says vocab_size"):
        import_marian(source, tmp_path / "ours", note=silent)


def test_a_folder_in_use_is_left_alone(marian_folder: MakeFolder, tmp_path: Path) -> None:
    source = marian_folder()
    with pytest.raises(UsageError, match="opus-mt is there already and is left as it is"):
        import_marian(source, source, note=silent)
    assert (source / "source.spm").is_file()


def test_a_model_folder_whose_tokenizer_is_damaged(
    marian_folder: MakeFolder, tmp_path: Path
) -> None:
    folder, _ = imported(marian_folder(), tmp_path / "ours")
    file = folder.path / "tokenizer.json"
    whole = file.read_text("utf-8")
    for damaged, message in {
        whole[:-1]: r"tokenizer\.json is damaged",
        whole.replace('"marian"', '"mariana"', 1): r"of the kind 'mariana'.*did you mean 'marian'",
        whole.replace('"source":"', '"source":"!', 1): r"not a tokenizer of the kind 'marian'",
    }.items():
        file.write_text(damaged, "utf-8")
        with pytest.raises(ModelFolderError, match=message):
            open_model_folder(folder.path)


def test_what_needs_a_tokenizer_of_this_project_says_so(
    marian_folder: MakeFolder, tmp_path: Path
) -> None:
    from allyouneed.interop.ctranslate2 import export_ctranslate2

    folder, _ = imported(marian_folder(), tmp_path / "ours")
    with pytest.raises(UsageError, match="needs a model with this project's own tokenizer"):
        export_ctranslate2(folder, tmp_path / "exported")

"""Folders as OPUS-MT, M2M-100 and NLLB hand them out: models with random weights, and their text
rules."""

import gzip
import io
import json
from collections.abc import Callable, Sequence
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
import sentencepiece
import torch
from transformers import (
    GenerationConfig,
    M2M100Config,
    M2M100ForConditionalGeneration,
    MarianConfig,
    MarianMTModel,
)

from allyouneed.core.transformer import Transformer
from allyouneed.data.root import data_root
from allyouneed.interop.huggingface import to_marian
from allyouneed.interop.language_codes import M2M_100, NLLB_200
from allyouneed.model_folder.folder import open_model_folder

ENGLISH = [
    "A man rides a bike.",
    "Two women are talking to each other in the street.",
    "The dog sleeps.",
    "Where is the station?",
    "I would like a cup of coffee, please.",
] * 3
GERMAN = [
    "Ein Mann fährt Fahrrad.",
    "Zwei Frauen unterhalten sich auf der Straße.",
    "Der Hund schläft.",
    "Wo ist der Bahnhof?",
    "Ich hätte gerne eine Tasse Kaffee.",
] * 3
LANGUAGES = [
    "A man rides a bike past the café.",
    "Two women are talking to each other in the street.",
    "Ein Mann fährt Fahrrad, zwei Frauen reden.",
    "Une femme est assise à côté d'un garçon.",
    "一人の男が自転車に乗る。",
] * 4
EVERYDAY = [
    "Where is the train station?",
    "The children are playing in the garden.",
    "No.",
    "I would like a cup of coffee, please.",
    'He said: "</s> is a tag."',
]
MakeFolder = Callable[..., Path]


@pytest.fixture(scope="session")
def real_sentences() -> list[str]:
    """What the bundled model translates in one part: everyday English, more where the data are."""
    folder, texts, root = open_model_folder("en-de"), list(EVERYDAY), data_root()
    if root is not None:
        file = root / "multi30k" / "test_2016_flickr.en.gz"
        with gzip.open(file, "rt", encoding="utf-8", newline="\n") as lines:
            texts += [line.strip() for line in islice(lines, 8)]
    longest = folder.trained_length or folder.config.max_positions // 2
    return [text for text in texts if len(folder.tokenizer.encode(text).ids) <= longest]


@cache
def spm(language: str) -> bytes:
    """A small SentencePiece model, trained as OPUS-MT trains them."""
    file = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter({"en": ENGLISH, "de": GERMAN}[language]),
        model_writer=file,
        vocab_size=60,
        hard_vocab_limit=False,
        num_threads=1,
        minloglevel=2,
    )
    return file.getvalue()


def table(*models: bytes) -> dict[str, int]:
    """Ids as Marian numbers them: end, unknown, the pieces of all models, a code, pad."""
    ids = {"</s>": 0, "<unk>": 1}
    for model in models:
        pieces = sentencepiece.SentencePieceProcessor(model_proto=model)
        for id in range(3, len(pieces)):
            ids.setdefault(pieces.id_to_piece(id), len(ids))
    return {**ids, ">>deu<<": len(ids), "<pad>": len(ids) + 1}


@pytest.fixture
def marian_folder(small_model: Callable[..., Transformer], tmp_path: Path) -> MakeFolder:
    """`marian_folder(apart=False, **shape)` writes one and returns where it is; `apart` gives the
    two sides vocabularies of their own."""

    def make(
        apart: bool = False, generation: dict[str, Any] | None = None, **shape: object
    ) -> Path:
        path = tmp_path / "opus-mt"
        english, german = spm("en"), spm("de")
        sides: Sequence[dict[str, int]] = [table(english, german)]
        if apart:  # one pad for both, as their embeddings have one
            source, target = table(english), table(german)
            source |= {f"<{n}>": n for n in range(len(source), len(target))}
            target |= {f"<{n}>": n for n in range(len(target), len(source) + 2)}
            pad = min(source["<pad>"], target["<pad>"])
            sides = [with_pad(source, pad), with_pad(target, pad)]
        shape = {
            "vocabulary": len(sides[-1]),
            "source_vocabulary": len(sides[0]) if apart else None,
            "shared_embeddings": "output" if apart else "all",
            "activation": "silu",
            "output_bias": True,
            "pad": sides[0]["<pad>"],
            "start": sides[0]["<pad>"],
            "end": 0,
            **shape,
        }
        config, weights = to_marian(small_model(**shape))
        theirs = MarianMTModel(MarianConfig(**config))
        theirs.load_state_dict(weights)
        theirs.generation_config = GenerationConfig(
            **{
                "num_beams": 6,
                "bad_words_ids": [[sides[0]["<pad>"]]],
                "max_length": 64,
                "pad_token_id": sides[0]["<pad>"],
                "eos_token_id": 0,
                "decoder_start_token_id": sides[0]["<pad>"],
                **(generation or {}),
            }
        )
        theirs.save_pretrained(path)
        (path / "source.spm").write_bytes(english)
        (path / "target.spm").write_bytes(german)
        for name, ids in zip(("vocab.json", "target_vocab.json"), sides, strict=False):
            (path / name).write_text(json.dumps(ids), "utf-8")
        tokenizer = {"source_lang": "eng", "target_lang": "deu", "separate_vocabs": apart}
        tokenizer["tokenizer_class"] = "MarianTokenizer"
        (path / "tokenizer_config.json").write_text(json.dumps(tokenizer), "utf-8")
        return path

    return make


def with_pad(ids: dict[str, int], pad: int) -> dict[str, int]:
    """The table with its pad and the piece at `pad` in each other's place."""
    there = next(piece for piece, id in ids.items() if id == pad)
    return {**ids, there: ids["<pad>"], "<pad>": pad}


@pytest.fixture
def as_pickle() -> Callable[[Path], None]:
    """Puts a folder's weights into pytorch_model.bin, as older versions saved them."""

    def change(path: Path) -> None:
        state = MarianMTModel.from_pretrained(path).state_dict()
        torch.save(state, path / "pytorch_model.bin")
        (path / "model.safetensors").unlink()

    return change


@cache
def bpe() -> bytes:
    """A small SentencePiece model of byte pairs, as M2M-100 and NLLB have."""
    file = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(LANGUAGES),
        model_writer=file,
        model_type="bpe",
        vocab_size=180,
        hard_vocab_limit=False,
        minloglevel=2,
        num_threads=1,
    )
    return file.getvalue()


@pytest.fixture
def m2m_folder(tmp_path: Path) -> MakeFolder:
    """Writes a folder of a kind ("m2m", "small100", "nllb") with random weights."""

    def make(kind: str = "m2m", **shape: Any) -> Path:
        path = tmp_path / kind
        processor = sentencepiece.SentencePieceProcessor(model_proto=bpe())
        pieces = [processor.id_to_piece(id) for id in range(processor.get_piece_size())]
        table = ["<s>", "<pad>", "</s>", "<unk>", *pieces[3:]]
        codes = NLLB_200 if kind == "nllb" else M2M_100
        extra = 3 if kind == "nllb" else 8
        size = len(table) + len(codes) + extra
        config: dict[str, Any] = {
            "vocab_size": size,
            "d_model": 16,
            "encoder_layers": 2,
            "decoder_layers": 2,
            "encoder_attention_heads": 2,
            "decoder_attention_heads": 2,
            "encoder_ffn_dim": 24,
            "decoder_ffn_dim": 24,
            "max_position_embeddings": 64,
            "init_std": 0.3,
        }
        torch.manual_seed(0)
        model = M2M100ForConditionalGeneration(M2M100Config(**config | shape)).eval()
        with torch.no_grad():
            for name, weight in model.named_parameters():
                if weight.dim() == 1:
                    weight.add_(torch.randn_like(weight) * 0.2)
                else:  # else every token is followed by itself
                    weight.mul_(0.4 if "shared" in name else 3)
        model.save_pretrained(path)
        (path / "sentencepiece.bpe.model").write_bytes(bpe())
        settings: dict[str, Any] = {"tokenizer_class": "M2M100Tokenizer"}
        if kind == "nllb":
            settings["tokenizer_class"] = "NllbTokenizer"
        else:
            (path / "vocab.json").write_text(json.dumps({p: n for n, p in enumerate(table)}))
        if kind == "small100":
            settings["tokenizer_class"] = "SMALL100Tokenizer"
        (path / "tokenizer_config.json").write_text(json.dumps(settings))
        return path

    return make

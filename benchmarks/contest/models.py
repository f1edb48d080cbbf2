"""The models of the benchmark, in the format of each engine."""

import itertools
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from allyouneed.core.config import BASE, TransformerConfig
from allyouneed.model_folder.folder import ModelFolder, open_model_folder, save_model_folder
from allyouneed.text.tokenizer import Tokenizer
from allyouneed.text.tokenizer_file import BYTE_ALPHABET, SPECIALS
from contest import firefox

BASE_SHAPE = replace(BASE, vocabulary=32_000, max_positions=512)
PEERS = ("ctranslate2-int8", "ctranslate2-float32", "huggingface")
OPUS_SHAPE = replace(BASE_SHAPE, vocabulary=65_000)
TINY_SHAPE = replace(
    BASE_SHAPE,
    vocabulary=len(SPECIALS) + len(BYTE_ALPHABET) + 40,
    d_model=32,
    heads=2,
    d_ff=64,
    encoder_layers=1,
    decoder_layers=1,
)


@dataclass(frozen=True)
class Formats:
    """One model: our folder, and the folders exported from it. `peers` are the names of the engines
    that can be compared on it."""

    folder: Path
    exported: Path
    peers: tuple[str, ...] = PEERS

    def opened(self) -> ModelFolder:
        """Our folder, opened."""
        return open_model_folder(self.folder)

    def ctranslate2(self, quantization: str) -> Path:
        """The folder for CTranslate2 with weights in this format. The first call writes it."""
        path = self.exported / f"ctranslate2-{quantization}"
        if not path.exists():
            from allyouneed.interop.ctranslate2 import export_ctranslate2

            export_ctranslate2(self.opened(), path, quantization)
        return path

    def huggingface(self) -> Path:
        """The folder for transformers. The first call writes it."""
        path = self.exported / "huggingface"
        if not path.exists():
            from allyouneed.interop.huggingface_folder import export_huggingface

            export_huggingface(self.opened(), path)
        return path

    def marian(self) -> Path:
        """The folder for Marian and Bergamot, in int8. The first call writes it."""
        path = self.exported / "marian"
        if not path.exists():
            from allyouneed.interop.marian.exporting import export_marian
            from contest.firefox import sentences

            folder = self.opened()
            export_marian(folder, path, "int8", sentences(folder.tokenizer, 20))
        return path


class Models:
    """The models of the cells, by name. A model is written into the folder `place` when it is first
    needed."""

    def __init__(self, place: Path, quick: bool) -> None:
        self.place, self.quick = place, quick

    def __getitem__(self, name: str) -> Formats:
        place = self.place / name
        if name == "bundled":
            return Formats(open_model_folder("en-de").path, place, self.peers(name))
        if not place.exists():
            make = firefox.firefox_model if name in firefox.SHAPES else random_model
            make(self.shape(name), place / "own")
        return Formats(place / "own", place, self.peers(name))

    def peers(self, name: str) -> tuple[str, ...]:
        """The engines that the model of this name is compared with. Only Bergamot runs SSRU
        decoders, which the models of Firefox have."""
        return ("bergamot",) if name in firefox.SHAPES else PEERS

    def shape(self, name: str) -> TransformerConfig:
        """The shape of the model of this name, "bundled" excepted."""
        if name in firefox.SHAPES:
            return firefox.shape(64, 64, 1, 1_000) if self.quick else firefox.SHAPES[name]
        return TINY_SHAPE if self.quick else {"base": BASE_SHAPE, "opus": OPUS_SHAPE}[name]


@contextmanager
def all_models(quick: bool) -> Iterator[Models]:
    """The models, in a temporary folder. The engine's cache of packed weights is switched off."""
    os.environ["ALLYOUNEED_PACKED_GB"] = "0"
    with tempfile.TemporaryDirectory(prefix="allyouneed-decode-") as name:
        yield Models(Path(name), quick)


def random_model(shape: TransformerConfig, path: Path) -> None:
    """Writes a model folder with random weights from a fixed seed."""
    import torch

    from allyouneed.core.transformer import Transformer

    torch.manual_seed(0)
    save_model_folder(path, Transformer(shape), made_up_tokenizer(shape.vocabulary))


def made_up_tokenizer(size: int) -> Tokenizer:
    """A tokenizer with pieces of one and two bytes and no merges; only its ids are used."""
    pairs = ("".join(pair) for pair in itertools.product(BYTE_ALPHABET, repeat=2))
    pieces = itertools.islice(itertools.chain(SPECIALS, BYTE_ALPHABET, pairs), size)
    return Tokenizer({piece: i for i, piece in enumerate(pieces)}, [])

"""The models of the benchmark, in the format of each engine."""

import itertools
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from allyouneed.core.config import BASE, TransformerConfig
from allyouneed.model_folder.folder import ModelFolder, open_model_folder, save_model_folder
from allyouneed.text.tokenizer import Tokenizer
from allyouneed.text.tokenizer_file import BYTE_ALPHABET, SPECIALS

BASE_SHAPE = replace(BASE, vocabulary=32_000, max_positions=512)
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
    """One model: our folder, and the folders exported from it."""

    folder: Path
    exported: Path

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


@contextmanager
def all_models(shape: TransformerConfig) -> Iterator[dict[str, Formats]]:
    """The models "base" (this shape with random weights) and "bundled", in a temporary folder."""
    with tempfile.TemporaryDirectory(prefix="allyouneed-decode-") as name:
        place = Path(name)
        random_model(shape, place / "base")
        yield {
            "base": Formats(place / "base", place),
            "bundled": Formats(open_model_folder("en-de").path, place / "bundled"),
        }


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

"""Models of the shapes that Firefox ships, with random weights: SSRU decoders, a SentencePiece
vocabulary of 32,000 pieces, and a vocabulary selection.

Words are drawn with probability 1 / rank, as in natural text. The selection holds 100 ids for every
sentence and 50 for each source word, as Firefox's `lex.50.50` files do, drawn in the same way.
"""

import itertools
import random
import string
import struct
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from allyouneed.core.config import TransformerConfig
from allyouneed.interop.marian.vocabulary import spm_vocabulary, tokenizer_of
from allyouneed.interop.marian.weights import NEVER, sinusoids
from allyouneed.model_folder.folder import VOCABULARY_SELECTION, save_model_folder
from allyouneed.model_folder.vocabulary_selection import VocabularySelection
from allyouneed.text.marian_tokenizer import MarianTokenizer
from contest.cells import Cell, count_of_batches

PIECES = 32_000
END, UNKNOWN, WORDS = 0, 1, 2  # words have the ids from WORDS on
FREQUENT, CANDIDATES = 100, 50  # ids for every sentence, and for each source word


def shape(d_model: int, d_ff: int, decoder_layers: int, pieces: int = PIECES) -> TransformerConfig:
    """A shape as `import` gives it to a model of Firefox: pad and start are one id behind the
    vocabulary."""
    return TransformerConfig(
        vocabulary=pieces + 1,
        d_model=d_model,
        heads=8,
        d_ff=d_ff,
        encoder_layers=6,
        decoder_layers=decoder_layers,
        max_positions=512,
        norm_epsilon=1e-9,
        positions="stored",
        decoder="ssru",
        shared_embeddings="all",
        output_bias=True,
        pad=pieces,
        start=pieces,
        end=END,
    )


SHAPES = {"tiny": shape(256, 1536, 2), "memory": shape(384, 1536, 4)}


def firefox_model(config: TransformerConfig, path: Path) -> None:
    """Writes a model folder of this shape with random weights and a vocabulary selection. The model
    never ends a translation itself."""
    import torch

    from allyouneed.core.transformer import Transformer

    pieces = config.vocabulary - 1
    spm = made_up_spm(pieces)
    vocabulary = spm_vocabulary(path, spm)
    tokenizer = tokenizer_of(
        path, (spm, spm), (vocabulary, vocabulary), (pieces, pieces), language_codes=False
    )
    torch.manual_seed(0)
    model = Transformer(config)
    positions = torch.from_numpy(sinusoids(config.max_positions, config.d_model))
    with torch.no_grad():
        for side in (model.encoder, model.decoder):
            side.embeddings.positions.table.copy_(positions)
        model.output.weight[config.pad] = 0.0
        for id_ in (END, UNKNOWN, config.pad):
            model.output.bias[id_] = NEVER
    save_model_folder(path, model, tokenizer)
    selection_of(tokenizer).save(path / VOCABULARY_SELECTION, tokenizer)


def made_up_spm(pieces: int) -> bytes:
    """A unigram model of SentencePiece: the end, the unknown piece, and words of four letters."""
    normal, unknown, control = 1, 2, 3
    letters = itertools.product(string.ascii_lowercase, repeat=4)
    words = itertools.islice(letters, pieces - WORDS)
    kinds = [("</s>", control), ("<unk>", unknown)]
    kinds += [("\u2581" + "".join(word), normal) for word in words]
    file = b"".join(
        _field(
            1, _field(1, piece.encode()) + b"\x15" + struct.pack("<f", -10.0) + bytes((24, kind))
        )
        for piece, kind in kinds
    )
    unigram = b"\x18\x01"
    single_space_ahead = _field(1, b"identity") + b"\x18\x01\x20\x01\x28\x01"
    return file + _field(2, unigram) + _field(3, single_space_ahead)


def selection_of(tokenizer: MarianTokenizer) -> VocabularySelection:
    """Candidates for each source word: itself and words drawn by their frequency."""
    pieces = len(tokenizer) - 1
    draw = np.random.default_rng(0)
    lists = [np.unique([source, *drawn(draw, CANDIDATES, pieces)]) for source in range(pieces)]
    lists.append(np.empty(0, np.int64))  # of pad
    offsets = np.cumsum([0, *map(len, lists)], dtype=np.int64)
    always = [*range(WORDS + FREQUENT), tokenizer.PAD]
    return VocabularySelection(
        offsets, np.concatenate(lists).astype(np.int32), np.array(always, np.int32)
    )


def drawn(draw: np.random.Generator, count: int, pieces: int) -> NDArray[np.int64]:
    """Ids of words, drawn with probability 1 / rank."""
    until = np.cumsum(1.0 / np.arange(1, pieces - WORDS + 1))
    return WORDS + np.searchsorted(until, draw.random(count) * until[-1])


def firefox_cells(
    name: str, shapes: Sequence[tuple[int, int]], pieces: int, tokens: int, batches: int | None
) -> Iterator[Cell]:
    """As `cells.forced_cells`, with sources of frequent and rare words."""
    for batch, beam in shapes:
        count = batch * (batches or count_of_batches(batch * beam))
        draw = np.random.default_rng(batch)
        sources = [[*drawn(draw, tokens - 1, pieces).tolist(), END] for _ in range(count)]
        yield Cell(f"{name}-{batch}x{beam}", name, beam, sources, tokens, batch)


def sentences(tokenizer: MarianTokenizer, count: int, seed: int = 1) -> list[str]:
    """Sentences of 10 to 30 words, on which the export measures the sizes of activations."""
    lengths, draw = random.Random(seed), np.random.default_rng(seed)
    pieces = len(tokenizer) - 1
    return [
        tokenizer.decode(drawn(draw, lengths.randint(10, 30), pieces).tolist())
        for _ in range(count)
    ]


def _field(number: int, content: bytes) -> bytes:
    """A field of bytes in protobuf."""
    size, length = b"", len(content)
    while length > 127:
        size, length = size + bytes((length & 127 | 128,)), length >> 7
    return bytes((number << 3 | 2,)) + size + bytes((length,)) + content

"""What tests of several floors share: a small tokenizer, models with random weights, a folder, a
server of files."""

import errno
import os
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from dataclasses import asdict
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import torch
from hypothesis import settings

from allyouneed.core.config import BERT, TransformerConfig
from allyouneed.core.encoder_only import EncoderOnly, build_encoder_only
from allyouneed.core.transformer import Transformer
from allyouneed.loading import load
from allyouneed.model_folder.config import Heads
from allyouneed.model_folder.folder import save_model_folder
from allyouneed.model_folder.traits import Traits
from allyouneed.text.encoder_tokenizer import EncoderTokenizer
from allyouneed.text.tokenizer import Tokenizer
from allyouneed.translation.translator import Translator

# What starts the tests in the background may leave these ignored, and their children with them.
signal.signal(signal.SIGINT, signal.default_int_handler)
for ending in (signal.SIGHUP, signal.SIGQUIT):
    signal.signal(ending, signal.SIG_DFL)


settings.register_profile("thorough", max_examples=5000, deadline=None)


def at_least(examples: int) -> settings:
    """So many examples of a random test, or as many as a profile asks for that asks for more:
    `pytest --hypothesis-profile=thorough`."""
    return settings(max_examples=max(examples, settings().max_examples), deadline=None)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Slow tests run first. At the end, one process would run them while the others wait."""
    items.sort(key=lambda item: item.get_closest_marker("slow") is None)


GOLDEN = Path(__file__).parent / "golden"
SENTENCES = [
    "A man rides a bike.",
    "Two women are talking to each other in the street.",
    "The dog sleeps.",
    "Where is the station?",
    "I would like a cup of coffee, please.",
    "Ein Mann fährt Fahrrad.",
    "Zwei Frauen unterhalten sich auf der Straße.",
    "Der Hund schläft.",
    "Wo ist der Bahnhof?",
    "Ich hätte gerne eine Tasse Kaffee.",
]


@pytest.fixture
def full_disk(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """Every file that must be whole meets a full disk, until the fixture's `undo()`."""

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("allyouneed.files.sync", full)
    return monkeypatch


@pytest.fixture(scope="session")
def small_tokenizer() -> Tokenizer:
    """300 pieces, learnt from a few English and German sentences."""
    return Tokenizer.train(SENTENCES * 2, vocabulary=300)


@pytest.fixture(scope="session")
def small_model(small_tokenizer: Tokenizer) -> Callable[..., Transformer]:
    """Makes a small Transformer for that tokenizer. Its weights are random and far from their
    first values, biases and norms included: at first values everything agrees with everything."""

    def make(**changes: object) -> Transformer:
        shape: dict[str, object] = {
            "vocabulary": len(small_tokenizer),
            "d_model": 16,
            "heads": 2,
            "d_ff": 24,
            "encoder_layers": 1,
            "decoder_layers": 1,
            "max_positions": 64,
        }
        model = Transformer(TransformerConfig(**{**shape, **changes}))
        draw_weights(model)
        return model.eval()

    return make


def draw_weights(model: torch.nn.Module) -> None:
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for name, weight in model.named_parameters():
            drawn = torch.randn(weight.shape, generator=generator)
            if weight.dim() > 1:
                weight.copy_(drawn * 2 * weight.size(-1) ** -0.5)
            else:
                weight.copy_(drawn * 0.3 + (0 if name.endswith("bias") else 1))


ALL_HEADS = Heads(
    masked_words=True,
    next_sentence=True,
    labels=("bad", "good", "so-so"),
    tags=("O", "NAME"),
    pooler=True,
)


@pytest.fixture(scope="session")
def encoder_tokenizer() -> EncoderTokenizer:
    """300 pieces with [CLS], [SEP] and [MASK]."""
    return EncoderTokenizer.train(SENTENCES * 2, vocabulary=300)


@pytest.fixture(scope="session")
def small_encoder(encoder_tokenizer: EncoderTokenizer) -> Callable[..., EncoderOnly]:
    """Makes a small encoder alone for that tokenizer, its weights random as `small_model`'s."""

    def make(heads: Heads = ALL_HEADS, **changes: object) -> EncoderOnly:
        small: dict[str, object] = {"d_model": 16, "heads": 2, "d_ff": 24, "encoder_layers": 2}
        shape = {**asdict(BERT), "vocabulary": len(encoder_tokenizer), "max_positions": 64, **small}
        config = TransformerConfig(**{**shape, **changes})
        model = build_encoder_only(config, **heads.parts())
        draw_weights(model)
        return model.eval()

    return make


@pytest.fixture
def encoder_folder(
    small_encoder: Callable[..., EncoderOnly], encoder_tokenizer: EncoderTokenizer, tmp_path: Path
) -> Path:
    """A whole folder of an encoder alone, with every head."""
    path = tmp_path / "encoder"
    save_model_folder(
        path, small_encoder(), encoder_tokenizer, Traits(heads=ALL_HEADS, trained_length=40)
    )
    return path


@pytest.fixture
def model_folder(
    small_model: Callable[..., Transformer], small_tokenizer: Tokenizer, tmp_path: Path
) -> Path:
    """A whole model folder, to be read or broken."""
    path = tmp_path / "model"
    save_model_folder(path, small_model(), small_tokenizer, Traits(trained_length=24))
    return path


@pytest.fixture(scope="session")
def copier_folder() -> Path:
    """The folder of the model `copier`."""
    return GOLDEN / "model-v1"


@pytest.fixture(scope="session")
def copier() -> Translator:
    """The frozen model, which gives back what it is given; it knows up to 24 tokens."""
    return load(GOLDEN / "model-v1", engine="core")


class FileServer(ThreadingHTTPServer):
    """Serves `files` on this machine, and writes down the range that each request asks for.

    The next answers are those of `answers` (status codes); transfers break off after so many
    bytes as `break_after` says, one number for each; without `ranges`, each begins anew. `length`,
    if given, is what it says of theirs in place of the truth.
    """

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.files: dict[str, bytes] = {}
        self.asked: list[str | None] = []
        self.answers: list[int] = []
        self.break_after: list[int] = []
        self.ranges = True
        self.length: str | None = None

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class _Handler(BaseHTTPRequestHandler):
    server: FileServer

    def do_GET(self) -> None:
        wanted = self.headers.get("Range")
        self.server.asked.append(wanted)
        content = self.server.files.get(self.path)
        if self.server.answers or content is None:
            self.send_error(self.server.answers.pop(0) if self.server.answers else 404)
            return
        first = 0
        if wanted is not None and self.server.ranges:
            first = int(wanted.removeprefix("bytes=").removesuffix("-"))
            if first >= len(content):
                self.send_error(416)
                return
        self.send_response(206 if first else 200)
        self.send_header("Content-Length", self.server.length or str(len(content) - first))
        self.end_headers()
        until = len(content)
        if self.server.break_after:
            until = first + self.server.break_after.pop(0)
        self.wfile.write(content[first:until])

    def log_message(self, format: str, *arguments: object) -> None:
        pass


@pytest.fixture
def file_server() -> Iterator[FileServer]:
    with FileServer() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def unused_address() -> str:
    """An address of this machine at which nobody answers."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port: int = taken.getsockname()[1]
    return f"http://127.0.0.1:{port}"

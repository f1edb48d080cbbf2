from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from allyouneed.data.corpus import Corpus
from allyouneed.data.filters import Filters
from allyouneed.data.store import TokenStore, build_store


class Bytes:
    """A tokenizer whose ids are the bytes of the text, moved behind the four special ids."""

    def __init__(self, vocabulary: int = 260, name: str = "bytes") -> None:
        self.vocabulary = vocabulary
        self.name = name
        self.calls = 0

    def encode_ids(self, texts: Sequence[str]) -> list[list[int]]:
        self.calls += 1
        return [[4 + byte for byte in text.encode()] + [2] for text in texts]

    def decode(self, ids: Sequence[int]) -> str:
        return bytes(int(i) - 4 for i in ids if i > 3).decode()

    def fingerprint(self) -> str:
        return self.name

    def __len__(self) -> int:
        return self.vocabulary


@pytest.fixture
def tokenizer() -> Bytes:
    return Bytes()


@pytest.fixture
def make_tokenizer() -> type[Bytes]:
    return Bytes


@pytest.fixture
def store_of(tmp_path: Path) -> Callable[..., TokenStore]:
    """A store of corpora given as lists of (source, target), nothing filtered by length."""

    def build(*corpora: Sequence[tuple[str, str]]) -> TokenStore:
        filters = Filters(max_tokens=10**6, max_ratio=1e6, drop_duplicates=False, drop_empty=False)
        files = []
        for number, pairs in enumerate(corpora):
            path = tmp_path / f"{number}.tsv"
            path.write_text("".join(f"{s}\t{t}\n" for s, t in pairs), newline="")
            files.append(Corpus(path))
        return build_store(files, Bytes(), filters, tmp_path / "cache")

    return build

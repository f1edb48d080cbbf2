"""Memories: the most exciting prefixes of a stream, and what value vectors promote."""

from collections.abc import Callable, Iterator

import pytest
import torch

from allyouneed.core.transformer import Transformer
from allyouneed.errors import DataError, UsageError
from allyouneed.insight import memories as module
from allyouneed.insight.memories import Memories, memories
from allyouneed.text.tokenizer import Tokenizer
from allyouneed.translation.translator import Translator

WORDS = "A man rides the bike to its station where two women sleep and talk"
PAIRS = [(WORDS[n % 17 : n % 43].strip(), WORDS[n % 15 : n % 51].strip()) for n in range(11, 50)]
DECODER, ENCODER = "decoder.layers.0.feed_forward", "encoder.layers.0.feed_forward"


@pytest.fixture(scope="module", params=["relu", "swiglu"])
def translator(
    request: pytest.FixtureRequest,
    small_model: Callable[..., Transformer],
    small_tokenizer: Tokenizer,
) -> Translator:
    model = small_model(activation=request.param, max_positions=48)
    return Translator.of_model(model, small_tokenizer)


@torch.no_grad()
def by_hand(translator: Translator, name: str) -> list[list[tuple[float, int, str]]]:
    """For each unit all sentences, the most exciting first: activation, number, prefix; each pair
    is run by itself."""
    model, tokenizer = translator.model, translator.tokenizer
    part = model.get_submodule(name)
    found: list[list[tuple[float, int, str]]] = [[] for _ in range(model.config.d_ff)]
    seen: list[torch.Tensor] = []
    hook = part.get_submodule("W_2").register_forward_pre_hook(lambda _, x: seen.append(x[0]))
    for number, pair in enumerate(PAIRS, 1):
        source, target = (tokenizer.encode(text).ids for text in pair)
        seen.clear()
        model(torch.tensor([source]), torch.tensor([[1, *target[:-1]]]))
        (h_TF,) = seen[0]
        for unit, h_T in enumerate(h_TF.T):
            best, position = h_T.max(dim=0)
            read = target[:position] if name == DECODER else source[: position + 1]
            found[unit].append((float(best), number, tokenizer.decode(read)))
    hook.remove()
    return [sorted(one, key=lambda entry: -entry[0]) for one in found]


@pytest.mark.parametrize("name", [DECODER, ENCODER])
def test_the_most_exciting_prefixes_of_the_whole_corpus(
    translator: Translator, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "PAIRS_AT_ONCE", 10)  # several chunks
    found = memories(translator, PAIRS, name, keep=5)
    wanted = by_hand(translator, name)
    assert len(found) == len(wanted) == 24
    for memory, units in zip(found, wanted, strict=True):
        assert [one.activation for one in memory.excited_by] == pytest.approx(
            [activation for activation, *_ in units[:5]], rel=1e-4, abs=1e-5
        )
        assert len({one.number for one in memory.excited_by}) == 5
        by_number = {number: (activation, prefix) for activation, number, prefix in units}
        for one in memory.excited_by:
            activation, prefix = by_number[one.number]
            assert one.activation == pytest.approx(activation, rel=1e-4, abs=1e-5)
            assert one.prefix == prefix or activation == 0  # a ReLU's zeros are all alike
            assert one.source == PAIRS[one.number - 1][0]


def test_the_corpus_is_a_stream_and_memory_stays_bounded(
    translator: Translator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "PAIRS_AT_ONCE", 10)
    drawn = 0

    def stream() -> Iterator[tuple[str, str]]:
        nonlocal drawn
        for pair in PAIRS:
            drawn += 1
            yield pair

    found = memories(translator, stream(), DECODER, keep=1)
    assert drawn == len(PAIRS)
    named = {one.number for memory in found for one in memory.excited_by}
    assert set(found._excited._kept) == named
    assert len(named) <= 24


def test_what_a_value_vector_promotes(translator: Translator) -> None:
    model, tokenizer = translator.model, translator.tokenizer
    memory = memories(translator, PAIRS[:3], DECODER, keep=4)[3]
    value_D = model.get_parameter(f"{DECODER}.W_2.weight").detach()[:, 3]
    lifts = sorted(
        ((float(row_D @ value_D), id) for id, row_D in enumerate(model.output.weight.detach())),
        reverse=True,
    )
    assert [token for token, _ in memory.promotes] == [tokenizer.piece(id) for _, id in lifts[:4]]
    assert memory.promotes[0][1] == pytest.approx(lifts[0][0], rel=1e-5)
    assert len(memory.excited_by) == 3  # all there are
    assert memory.to_dict()["promotes"][0]["token"] == memory.promotes[0][0]
    assert memory.to_dict()["excited_by"][0]["prefix"] == memory.excited_by[0].prefix


def test_nothing_is_left_behind(translator: Translator) -> None:
    before = translator.score(["a"], ["b"])
    assert isinstance(memories(translator, PAIRS[:2], ENCODER), Memories)
    assert translator.score(["a"], ["b"]) == before
    assert not any(part._forward_pre_hooks for part in translator.model.modules())


def test_calls_that_are_wrong(translator: Translator) -> None:
    with pytest.raises(UsageError, match=r"feed_forward"):
        memories(translator, PAIRS, "decoder.layers.0.cross_attention")
    with pytest.raises(UsageError, match="no pairs"):
        memories(translator, [], DECODER)
    with pytest.raises(UsageError, match="keep=0"):
        memories(translator, PAIRS, DECODER, keep=0)
    with pytest.raises(DataError, match="pair 2 has"):
        memories(translator, [("a", "b"), ("a " * 50, "b")], DECODER)
    with pytest.raises(IndexError, match="units 0 … 23"):
        memories(translator, PAIRS[:1], DECODER)[24]

"""Sampling: the right distribution, the right head of it, and seeds that hold."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from allyouneed.decoding.greedy import greedy_search
from allyouneed.decoding.options import SamplingOptions
from allyouneed.decoding.sampling import draw, sample
from allyouneed.errors import AllYouNeedError, UsageError

COIN = {(): {3: 0.5, 4: 0.3, 5: 0.15, 6: 0.05}, **{(i,): {2: 1.0} for i in (3, 4, 5, 6)}}


def shares(kit, batch, **options: float) -> list[float]:
    """How often each of 3, 4, 5, 6 is drawn in 4,000 samples of `COIN`."""
    model = kit.model(kit.table(7, COIN))
    [found] = sample(model, batch([[3, 2]]), SamplingOptions(samples=4000, **options))
    first = torch.tensor([h.ids[0] for h in found])
    return [(first == i).float().mean().item() for i in (3, 4, 5, 6)]


def test_tokens_come_as_often_as_they_are_probable(kit, batch) -> None:
    assert shares(kit, batch) == pytest.approx([0.5, 0.3, 0.15, 0.05], abs=0.03)


def test_temperature(kit, batch) -> None:
    squares = torch.tensor([0.5, 0.3, 0.15, 0.05]) ** 2
    expected = (squares / squares.sum()).tolist()
    assert shares(kit, batch, temperature=0.5) == pytest.approx(expected, abs=0.03)


def test_top_k(kit, batch) -> None:
    found = shares(kit, batch, top_k=2)
    assert found == pytest.approx([5 / 8, 3 / 8, 0, 0], abs=0.03)
    assert found[2:] == [0, 0]


@pytest.mark.parametrize(("top_p", "kept"), [(0.1, 1), (0.45, 1), (0.55, 2), (0.79, 2), (0.9, 3)])
def test_top_p_keeps_the_smallest_set_that_reaches_p(top_p, kept, kit, batch) -> None:
    found = shares(kit, batch, top_p=top_p)
    p = torch.tensor([0.5, 0.3, 0.15, 0.05])[:kept]
    assert found[:kept] == pytest.approx((p / p.sum()).tolist(), abs=0.03)
    assert found[kept:] == [0] * (4 - kept)


@given(chance=st.floats(0, 1, exclude_max=True), top_p=st.floats(0.01, 1))
@settings(max_examples=200, deadline=None)
def test_what_is_banned_is_never_drawn(chance: float, top_p: float) -> None:
    log_p_BNV = torch.tensor([[[float("-inf"), -0.5, float("-inf"), -0.9, -30.0]]])
    options = SamplingOptions(top_p=top_p)
    drawn = draw(log_p_BNV, torch.tensor([[chance]], dtype=torch.float64), options)
    assert drawn.item() in (1, 3, 4)


@pytest.mark.parametrize("top_p", [0.5, 0.9, 1.0])
def test_the_greatest_chance_there_is_draws_the_last_of_those_kept(top_p: float) -> None:
    generator = torch.Generator().manual_seed(0)
    log_p_BNV = torch.randn(1, 500, 40, generator=generator).log_softmax(-1)
    chance_BN = torch.full((1, 500), 1 - 2**-53, dtype=torch.float64)
    drawn_BN = draw(log_p_BNV, chance_BN, SamplingOptions(top_p=top_p))
    p_BNV, ids_BNV = log_p_BNV.double().softmax(-1).sort(descending=True)
    kept_BN1 = (p_BNV.cumsum(-1) - p_BNV < top_p).sum(-1, keepdim=True)
    assert torch.equal(drawn_BN, ids_BNV.gather(-1, kept_BN1 - 1).squeeze(-1))


@pytest.mark.parametrize(("chance", "drawn"), [(0.0, 1), (0.4999, 1), (0.5, 3), (0.9999, 3)])
def test_a_token_owns_the_chances_from_the_sum_before_it_on(chance: float, drawn: int) -> None:
    log_p_BNV = torch.tensor([[[0.0, 0.5, 0.0, 0.5]]]).log()
    chance_BN = torch.tensor([[chance]], dtype=torch.float64)
    assert draw(log_p_BNV, chance_BN, SamplingOptions()).item() == drawn


@pytest.mark.parametrize("temperature", [1e-3, 1e-30, 1e-300, 1e-310])
def test_cold_samples_are_greedy(temperature: float, kit, batch) -> None:
    model, source_BS = kit.model(kit.noise(9, end=1.0)), batch([[k, 2] for k in range(3, 9)])
    cold = sample(model, source_BS, SamplingOptions(temperature=temperature))
    assert cold == greedy_search(model, source_BS)


def test_log_probabilities_are_the_models(kit, batch) -> None:
    rule = kit.noise(9, end=1.0)
    options = SamplingOptions(samples=5, temperature=2.0, top_k=6)
    for h in sample(kit.model(rule), batch([[3, 2]]), options)[0]:
        true = [rule((3, 2), h.ids[:t]).log_softmax(-1)[i].item() for t, i in enumerate(h.ids)]
        assert h.token_log_probabilities == pytest.approx(true, abs=1e-4)
        assert h.log_probability == h.score == pytest.approx(sum(true), abs=1e-3)


def test_the_same_seed_the_same_samples(kit, batch) -> None:
    model, source_BS = kit.model(kit.noise(9, end=1.0)), batch([[k, 2] for k in range(3, 9)])
    first, again, other = (
        sample(model, source_BS, SamplingOptions(samples=3, seed=seed)) for seed in (1, 1, 2)
    )
    assert first == again
    assert first != other


def test_samples_of_a_sentence_differ(kit, batch) -> None:
    model = kit.model(kit.noise(9, loudness=0.5))
    found = sample(model, batch([[3, 2], [3, 2]]), SamplingOptions(samples=8))
    assert len({h.ids for hypotheses in found for h in hypotheses}) > 12
    assert all(h.finished for hypotheses in found for h in hypotheses)
    assert len({len(h.ids) for h in found[0]}) > 2  # each goes on until its own end


def test_a_sample_does_not_depend_on_its_companions(kit, batch) -> None:
    model = kit.model(kit.noise(9, end=1.0))
    sources = [[3, 2], [4, 5, 6, 7, 2], [5, 5, 2], [8, 2]]
    together = sample(model, batch(sources), SamplingOptions(samples=3, seed=5))
    for index, source in enumerate(sources):
        alone = sample(model, batch([source]), SamplingOptions(samples=2, seed=5), indices=[index])
        assert alone == [together[index][:2]]
    shuffled = sample(
        model,
        batch([sources[i] for i in (2, 0, 3, 1)]),
        SamplingOptions(samples=3, seed=5),
        indices=[2, 0, 3, 1],
    )
    assert shuffled == [together[i] for i in (2, 0, 3, 1)]


def test_a_model_of_nan_is_an_error(kit, batch) -> None:
    model = kit.model(lambda source, target: torch.full((6,), float("nan")))
    with pytest.raises(AllYouNeedError, match=r"sentence 0: .* not finite"):
        sample(model, batch([[5, 2]]), SamplingOptions(max_length=3))


def test_each_sentence_has_an_index(kit, batch) -> None:
    with pytest.raises(UsageError, match="1 indices for 2 sentences"):
        sample(kit.model(kit.noise(9)), batch([[3, 2], [4, 2]]), indices=[0])


def test_no_sentences_no_samples(kit, batch) -> None:
    assert sample(kit.model(kit.noise(9)), batch([[3, 2]])[:0]) == []


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"samples": 0}, "samples=0 must be at least 1"),
        ({"top_k": -1}, "top_k=-1 must be at least 0"),
        ({"temperature": 0.0}, "temperature=0.0 must be above 0"),
        ({"temperature": float("nan")}, "temperature=nan must be above 0"),
        ({"top_p": 0.0}, "top_p=0.0 must be above 0 and at most 1"),
        ({"top_p": 1.1}, "top_p=1.1 must be above 0 and at most 1"),
    ],
)
def test_options_out_of_range_are_refused(options, message) -> None:
    with pytest.raises(UsageError, match=message):
        SamplingOptions(**options)

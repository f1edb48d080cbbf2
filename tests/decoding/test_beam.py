"""Beam search on tables, where the right answer can be worked out by hand or by enumeration."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from allyouneed.decoding.beam import beam_search
from allyouneed.decoding.greedy import greedy_search
from allyouneed.decoding.length_penalty import Average, NoPenalty, Wu
from allyouneed.decoding.options import BeamOptions
from allyouneed.errors import AllYouNeedError, UsageError

SHORT = BeamOptions(beam=2, max_length=15)
PENALTIES = [Wu(0.6), Wu(1.5), Average(), NoPenalty()]
GARDEN_PATH = {
    (): {3: 0.6, 4: 0.4},
    (3,): {3: 0.5, 4: 0.3, 2: 0.2},
    (4,): {2: 0.9, 3: 0.1},
    (3, 3): {2: 0.5, 3: 0.5},
}


def test_a_beam_sees_what_greedy_misses(kit, batch) -> None:
    model, source_BS = kit.model(kit.table(6, GARDEN_PATH)), batch([[5, 2]])
    assert greedy_search(model, source_BS)[0][0].ids[0] == 3
    options = BeamOptions(beam=2, n_best=2, length_penalty=NoPenalty())
    best, second = beam_search(model, source_BS, options)[0]
    assert best.ids == (4, 2)
    assert best.score == pytest.approx(-1.0216512)  # ln(0.4 · 0.9)
    assert second.ids == (3, 3, 2)
    assert second.score == pytest.approx(-1.8971200)  # ln(0.6 · 0.5 · 0.5)


def test_the_score_is_the_log_probability_over_the_penalty(kit, batch) -> None:
    model = kit.model(kit.table(6, GARDEN_PATH))
    [[best]] = beam_search(model, batch([[5, 2]]), BeamOptions(beam=2, length_penalty=Wu(1.0)))
    assert best.score == pytest.approx(best.log_probability * 6 / (5 + len(best.ids)))


@pytest.mark.parametrize("stop", ["common", "exact"])
@pytest.mark.parametrize("penalty", PENALTIES, ids=repr)
def test_a_wide_beam_is_exhaustive_search(penalty, stop, kit, batch) -> None:
    sources = [(3, 2), (4, 5, 2), (5, 5, 5, 2)]
    rule = kit.noise(6)
    options = BeamOptions(beam=128, n_best=39, max_length=4, length_penalty=penalty, stop=stop)
    found = beam_search(kit.model(rule), batch(sources), options)
    for source, hypotheses in zip(sources, found, strict=True):
        everything = kit.everything(rule, source, 4)
        ranked = sorted(everything, key=lambda pair: -pair[1] / penalty(len(pair[0])))
        assert len(ranked) == 39  # 3 + 9 + 27 sentences of three words
        assert [h.ids for h in hypotheses] == [ids for ids, _ in ranked]
        expected = [log_p / penalty(len(ids)) for ids, log_p in ranked]
        assert [h.score for h in hypotheses] == pytest.approx(expected, abs=1e-4)


@given(seed=st.integers(0, 10**6))
@settings(max_examples=25, deadline=None)
def test_beam_1_is_greedy(seed: int, kit, batch) -> None:
    model = kit.model(kit.noise(9, seed=seed, end=1.0))
    source_BS = batch([[3, 2], [4, 5, 2], [7, 8, 8, 2]])
    greedy, beam = (
        greedy_search(model, source_BS),
        beam_search(model, source_BS, BeamOptions(beam=1)),
    )
    assert [h.ids for [h] in beam] == [h.ids for [h] in greedy]
    assert [h.finished for [h] in beam] == [h.finished for [h] in greedy]
    assert [h.log_probability for [h] in beam] == pytest.approx(
        [h.log_probability for [h] in greedy], abs=1e-5
    )


@given(seed=st.integers(0, 10**6), beam=st.integers(1, 6), penalty=st.sampled_from(PENALTIES))
@settings(max_examples=25, deadline=None)
def test_n_best_are_sorted_unique_and_true(seed, beam, penalty, kit, batch) -> None:
    rule = kit.noise(9, seed=seed, end=1.0)
    source = (3, 8, 2)
    options = BeamOptions(beam=beam, n_best=beam, length_penalty=penalty, max_length=12)
    [found] = beam_search(kit.model(rule), batch([source]), options)
    assert 1 <= len(found) <= beam
    assert [h.score for h in found] == sorted((h.score for h in found), reverse=True)
    assert len({h.ids for h in found}) == len(found)
    for h in found:
        true = [rule(source, h.ids[:t]).log_softmax(-1)[i].item() for t, i in enumerate(h.ids)]
        assert h.token_log_probabilities == pytest.approx(true, abs=1e-4)
        assert h.log_probability == pytest.approx(sum(true), abs=1e-3)
        assert h.score == pytest.approx(h.log_probability / penalty(len(h.ids)))
        assert h.finished == (h.ids[-1] == 2)


def test_n_best_begins_with_the_best_and_fills_up(kit, batch) -> None:
    model, source_BS = kit.model(kit.noise(9, end=1.0)), batch([[k, 2] for k in range(3, 9)])
    one = beam_search(model, source_BS, BeamOptions(beam=5))
    five = beam_search(model, source_BS, BeamOptions(beam=5, n_best=5))
    assert [hypotheses[:1] for hypotheses in five] == one
    assert [len(hypotheses) for hypotheses in five] == [5] * 6


def plain_beam_search(rule, source, limit, options) -> tuple[list[tuple[float, tuple]], int]:
    """One sentence, lists only: (score, ids) of what is found, best first, and steps taken."""
    penalty, alive, finished = options.penalty, [(0.0, ())], []
    for length in range(1, limit + 1):
        candidates = []
        for log_p, ids in alive:
            log_p_V = rule(source, ids).log_softmax(-1).tolist()
            allowed = range(2 if ids else 3, len(log_p_V))
            candidates += [(log_p + log_p_V[i], (*ids, i)) for i in allowed]
        candidates = sorted(candidates, reverse=True)[: 2 * options.beam]
        ended = [c for c in candidates[: options.beam] if c[1][-1] == 2]
        if options.stop == "first":
            ended = ended[: options.beam - len(finished)]
        finished += [(log_p / penalty(length), ids) for log_p, ids in ended]
        finished = sorted(finished, reverse=True)[: options.beam]
        alive = [c for c in candidates if c[1][-1] != 2][: options.beam]
        lengths = [length] if options.stop == "common" else range(length + 1, limit + 1)
        hopes = [alive[0][0] / penalty(n) for n in lengths]
        if options.stop == "first":
            hopes = [float("-inf")]
        if len(finished) == options.beam and finished[-1][0] >= max(hopes, default=0.0):
            break
    cut_off = [(log_p / penalty(length), ids) for log_p, ids in alive]
    return (finished or cut_off)[: options.n_best], length


@given(
    seed=st.integers(0, 10**6),
    beam=st.integers(1, 4),
    penalty=st.sampled_from([*PENALTIES, Wu(3.0)]),
    stop=st.sampled_from(["common", "exact", "first"]),
)
@settings(max_examples=60, deadline=None)
def test_many_sentences_at_once_are_searched_like_one_with_lists(
    seed, beam, penalty, stop, kit, batch
) -> None:
    rule = kit.noise(7, seed=seed, end=seed % 4)
    sources = [(3, 2), (4, 5, 6, 6, 3, 2), (5, 5, 5, 2)]
    options = BeamOptions(
        beam=beam, n_best=beam, length_penalty=penalty, stop=stop, extra_length=5, loop_guard=False
    )
    model = kit.model(rule)
    found = beam_search(model, batch(sources), options)
    plain = [plain_beam_search(rule, s, len(s) - 1 + 5, options) for s in sources]
    for ours, (theirs, _) in zip(found, plain, strict=True):
        assert [h.ids for h in ours] == [ids for _, ids in theirs]
        assert [h.score for h in ours] == pytest.approx([score for score, _ in theirs], abs=1e-4)
    steps = [step for _, step in plain]
    assert model.batch_sizes == [sum(s > t for s in steps) for t in range(max(steps))]


LATE_BLOOMER = {
    (): {3: 1.0},
    (3,): {2: 0.55, 4: 0.45},
    (3, *[4] * 10): {2: 1.0},
    **{(3, *[4] * n): {4: 1.0} for n in range(1, 10)},
}


def test_the_exact_rule_waits_for_a_longer_and_better_one(kit, batch) -> None:
    model, source_BS = kit.model(kit.table(6, LATE_BLOOMER)), batch([[5, 2]])
    common = BeamOptions(beam=1, length_penalty=Wu(2.0), loop_guard=False)
    [[early]] = beam_search(model, source_BS, common)
    [[late]] = beam_search(model, source_BS, replace(common, stop="exact"))
    assert early.ids == (3, 2)
    assert late.ids == (3, *[4] * 10, 2)
    assert late.score > early.score


def test_the_exact_rule_never_finds_less(kit, batch) -> None:
    better = 0
    source_BS = batch([[k, 2] for k in range(3, 7)])
    for seed in range(8):
        model = kit.model(kit.noise(7, seed=seed, end=1.0, loudness=1.5))
        runs = [
            beam_search(model, source_BS, replace(SHORT, length_penalty=Wu(2.0), stop=stop))
            for stop in ("common", "exact")
        ]
        for [common], [exact] in zip(*runs, strict=True):
            assert exact.score >= common.score
            better += exact.score > common.score
    assert better > 0


def test_the_first_rule_does_not_wait_for_a_better_one(kit, batch) -> None:
    """ "3 end" and "4 end" are two, and so it ends, though "3 3 end" is better by its mean."""
    rule = kit.table(
        6, {(): {3: 0.6, 4: 0.4}, (3,): {2: 0.55, 3: 0.45}, (4,): {2: 1.0}, (3, 3): {2: 1.0}}
    )
    options = BeamOptions(beam=2, length_penalty=Average(), loop_guard=False)
    [[early]], [[late]] = (
        beam_search(kit.model(rule), batch([[5, 2]]), replace(options, stop=stop))
        for stop in ("first", "exact")
    )
    assert early.ids == (4, 2)
    assert late.ids == (3, 3, 2)
    assert late.score > early.score


def test_the_common_rule_stops_when_nobody_can_overtake(kit, batch) -> None:
    """After "3 end" (0.81) and "3 3 end" the one alive is hopeless; the limit is 51 steps away."""
    rule = kit.table(6, {(): {3: 0.9, 4: 0.1}, (3,): {2: 0.9, 3: 0.1}, (3, 3): {2: 0.9, 4: 0.1}})
    model = kit.model(rule)
    beam_search(model, batch([[5, 2]]), BeamOptions(beam=2, n_best=2))
    assert len(model.batch_sizes) == 3


def test_sentences_leave_the_batch(kit, batch) -> None:
    model = kit.model(kit.noise(9, end=1.0))
    beam_search(model, batch([[k, 2] for k in range(3, 9)] * 4))
    sizes = model.batch_sizes
    assert sizes[0] == 24
    assert sizes == sorted(sizes, reverse=True)
    assert len(set(sizes)) > 3


def test_an_order_that_stays_is_not_copied(kit, batch) -> None:
    model = kit.model(kit.table(6, {(): {3: 0.9, 4: 0.06, 2: 0.04}}))
    beam_search(model, batch([[5, 2]]), BeamOptions(beam=1, max_length=5))
    assert model.cache.selections
    assert not any(reordered for _, reordered in model.cache.selections)


def test_hypotheses_cut_off_come_only_without_finished_ones(kit, batch) -> None:
    def rule(source, target):
        ends = source[0] == 3
        return kit.table(6, {(): {2: 0.5, 3: 0.3, 4: 0.2} if ends else {3: 0.6, 4: 0.4}})(
            (), target
        )

    options = BeamOptions(beam=3, n_best=3, max_length=3)
    some, none = beam_search(kit.model(rule), batch([[3, 2], [4, 2]]), options)
    assert all(h.finished for h in some)
    assert not any(h.finished for h in none)
    assert none[0].ids == (3, 3, 3)
    assert len({h.ids for h in none}) == 3
    assert none[0].score == pytest.approx(none[0].log_probability / Wu()(3))


def test_places_in_the_beam_that_were_never_filled_are_no_hypotheses(kit, batch) -> None:
    model = kit.model(kit.table(4, {(): {3: 0.5, 2: 0.5}}))
    options = BeamOptions(beam=3, n_best=3, min_length=9, extra_length=2)
    [found] = beam_search(model, batch([[3, 2]]), options)
    assert [h.ids for h in found] == [(3, 3, 3)]
    assert not found[0].finished


def test_a_beam_wider_than_the_vocabulary(kit, batch) -> None:
    [found] = beam_search(
        kit.model(kit.table(4, {(): {3: 0.5, 2: 0.5}})),
        batch([[3, 2]]),
        BeamOptions(beam=20, n_best=20, max_length=5),
    )
    assert [h.ids for h in found] == [(*[3] * n, 2) for n in range(1, 5)]


def test_a_model_of_nan_is_an_error(kit, batch) -> None:
    rule = kit.noise(6)
    model = kit.model(lambda s, t: rule(s, t) * (float("nan") if s[0] == 4 else 1))
    with pytest.raises(AllYouNeedError, match=r"sentence 1: .* not finite"):
        beam_search(model, batch([[3, 2], [4, 2]]), BeamOptions(max_length=3))


def test_no_sentences_no_hypotheses(kit, batch) -> None:
    assert beam_search(kit.model(kit.noise(6)), batch([[3, 2]])[:0]) == []


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"beam": 0}, "beam=0 must be at least 1"),
        ({"n_best": 0}, "n_best=0 must be at least 1"),
        ({"beam": 2, "n_best": 3}, "n_best=3 needs a beam at least as wide, not 2"),
        ({"stop": "never"}, "stop='never' is not one of common, exact, first"),
    ],
)
def test_options_out_of_range_are_refused(options, message) -> None:
    with pytest.raises(UsageError, match=message):
        BeamOptions(**options)

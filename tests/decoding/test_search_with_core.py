"""Searches over the real model: batches change nothing, cached steps equal the whole."""

import math

import pytest
import torch

from allyouneed.decoding.beam import beam_search
from allyouneed.decoding.greedy import greedy_search
from allyouneed.decoding.options import BeamOptions, SamplingOptions, SearchOptions
from allyouneed.decoding.sampling import sample
from allyouneed.decoding.scoring import score_targets

SEARCHES = {
    "beam": lambda m, s, i: beam_search(m, s, BeamOptions(n_best=4)),
    "beam, exact": lambda m, s, i: beam_search(m, s, BeamOptions(n_best=2, stop="exact")),
    "beam, no repeats": lambda m, s, i: beam_search(m, s, BeamOptions(no_repeat_ngram=2)),
    "greedy": lambda m, s, i: greedy_search(m, s),
    "sampling": lambda m, s, i: sample(m, s, SamplingOptions(samples=2, top_p=0.9), indices=i),
}


def test_the_model_is_loud_enough_to_tell(transformer, batch, sentences) -> None:
    logits_BTV = transformer()(batch(sentences), batch(sentences))
    assert logits_BTV.std() >= 1


@pytest.mark.parametrize("search", SEARCHES.values(), ids=SEARCHES)
def test_batch_size_order_and_padding_change_nothing(search, transformer, batch, sentences) -> None:
    model, everyone = transformer(), range(len(sentences))
    together = search(model, batch(sentences), everyone)
    order = torch.randperm(len(sentences), generator=torch.Generator().manual_seed(3)).tolist()
    shuffled = search(model, batch([sentences[i] for i in order], width=30), order)
    backwards = [shuffled[order.index(i)] for i in everyone]
    alone = [search(model, batch([sentences[i]]), [i])[0] for i in everyone[::3]]
    for ours, theirs in ((together, backwards), (together[::3], alone)):
        same = [
            [h.ids for h in one] == [h.ids for h in other]
            for one, other in zip(ours, theirs, strict=True)
        ]
        assert sum(same) >= 0.999 * len(same)
        for one, other in zip(ours, theirs, strict=True):
            assert [h.score for h in one] == pytest.approx([h.score for h in other], abs=1e-4)
    assert len({len(found[0].ids) for found in together}) > 3  # lengths worth the test


def test_cached_search_equals_whole_decoding(transformer, batch, sentences) -> None:
    """Greedy search without a cache: for each token, the decoder reads the whole target again."""
    model, source_BS = transformer(), batch(sentences[:10])
    found = greedy_search(model, source_BS, SearchOptions(max_length=12, loop_guard=False))
    for row, [h] in enumerate(found):
        target = [1]
        while len(target) <= 12 and target[-1] != 2:
            log_p_V = model(source_BS[row : row + 1], torch.tensor([target]))[0, -1].log_softmax(-1)
            log_p_V[[0, 1, *([2] if len(target) == 1 else [])]] = -math.inf
            target.append(int(log_p_V.argmax()))
        assert h.ids == tuple(target[1:])


def test_searches_record_nothing_for_gradients(transformer, batch, sentences) -> None:
    model, source_BS = transformer(), batch(sentences[:2])
    memories: list[torch.Tensor] = []
    encode = model.encode
    model.encode = lambda source_BS: memories.append(encode(source_BS)) or memories[-1]
    for search in SEARCHES.values():
        search(model, source_BS, [0, 1])
    assert len(memories) == len(SEARCHES)
    assert not any(memory.states_BSD.requires_grad for memory in memories)


def test_beam_1_is_greedy(transformer, batch, sentences) -> None:
    model, source_BS = transformer(), batch(sentences)
    beam = beam_search(model, source_BS, BeamOptions(beam=1))
    assert [h.ids for [h] in beam] == [h.ids for [h] in greedy_search(model, source_BS)]


def test_a_wide_beam_finds_the_best_of_everything(transformer, batch, kit) -> None:
    model, source = transformer(vocabulary=6), (3, 5, 4, 2)
    everything = kit.everything(
        lambda s, t: model(batch([s]), torch.tensor([[1, *t]]))[0, -1].detach(), source, 4
    )
    options = BeamOptions(beam=128, n_best=39, max_length=4)
    [found] = beam_search(model, batch([source]), options)
    ranked = sorted(everything, key=lambda pair: -pair[1] / options.penalty(len(pair[0])))
    assert [h.ids for h in found] == [ids for ids, _ in ranked]


def test_prefixes_with_the_model(transformer, batch, sentences) -> None:
    model, source_BS = transformer(), batch(sentences[:4])
    prefixes = [(5, 6, 7), (), (9,), (10, 10)]
    found = beam_search(model, source_BS, BeamOptions(n_best=2), prefixes)
    for row, (prefix, hypotheses) in enumerate(zip(prefixes, found, strict=True)):
        for h in hypotheses:
            assert h.ids[: len(prefix)] == prefix
            [score] = score_targets(model, source_BS[row : row + 1], torch.tensor([h.ids]))
            assert h.token_log_probabilities == pytest.approx(score, abs=1e-4)


@pytest.mark.parametrize("ids", [{"start": 2}, {"start": 0}, {"pad": 1, "start": 0}])
def test_foreign_special_ids(ids, transformer, batch, sentences) -> None:
    """Models that start with their end (fairseq) or with their pad (Marian)."""
    model = transformer(**ids)
    source_BS = batch(sentences[:8])
    source_BS[source_BS == 0] = model.config.pad
    found = beam_search(model, source_BS, BeamOptions(n_best=4, max_length=20))
    assert sum(h.finished for hypotheses in found for h in hypotheses) > 10
    for row, hypotheses in enumerate(found):
        for h in hypotheses:
            assert not ({model.config.pad, model.config.start} - {2}) & set(h.ids)
            assert h.ids.count(2) == h.finished
            [score] = score_targets(model, source_BS[row : row + 1], torch.tensor([h.ids]))
            assert h.token_log_probabilities == pytest.approx(score, abs=1e-4)


def test_bfloat16_models_are_searched_in_float32(transformer, batch, sentences) -> None:
    model, source_BS = transformer().bfloat16(), batch(sentences[:6])
    for [h] in beam_search(model, source_BS):
        assert h.log_probability == pytest.approx(math.fsum(h.token_log_probabilities))

"""Searches that have to use terms, on tables and on a small Transformer."""

import random
from dataclasses import replace

import pytest
import torch

from allyouneed.decoding.alignment import AttentionRecorder, cross_attention_map
from allyouneed.decoding.alignment_heads import AlignmentHeads
from allyouneed.decoding.beam import beam_search
from allyouneed.decoding.length_penalty import Average
from allyouneed.decoding.options import BeamOptions
from allyouneed.decoding.term_search import term_search
from allyouneed.decoding.terms import JOINS, LETTER_LAST, TermTrie, WantedTerm, WantedTerms

SHORT = BeamOptions(beam=3, max_length=12)
SPACED = bytes([0, 0, 0] + [LETTER_LAST] * 37)  # each id a word of its own


def holds(ids, form):
    return any(tuple(ids[n : n + len(form)]) == form for n in range(len(ids)))


@pytest.mark.parametrize("stop", ["common", "exact", "first"])
@pytest.mark.parametrize("prefixes", [None, [(5,), (), (4, 4)]])
def test_without_terms_it_is_beam_search(stop, prefixes, kit, batch) -> None:
    model = kit.model(kit.noise(8, end=1.0))
    options = replace(SHORT, stop=stop, n_best=3)
    source_BS = batch([(3, 2), (4, 5, 2), (6, 2)])
    terms = WantedTerms([(), (), ()], SPACED)
    assert term_search(model, source_BS, options, terms, prefixes) == beam_search(
        model, source_BS, options, prefixes
    )


@pytest.mark.parametrize("form", [(3,), (4, 3)])
def test_a_wide_beam_finds_the_best_of_all_that_use_the_term(form, kit, batch) -> None:
    rule = kit.noise(6)
    options = BeamOptions(beam=200, max_length=4, length_penalty=Average(), stop="exact")
    for source in [(3, 2), (4, 5, 2), (5, 5, 5, 2)]:
        terms = WantedTerms([[WantedTerm((form,))]], SPACED)
        [[found]] = term_search(kit.model(rule), batch([source]), options, terms)
        ranked = sorted(
            (log_p / len(ids), ids)
            for ids, log_p in kit.everything(rule, source, 4)
            if holds(ids, form)
        )
        assert found.ids == ranked[-1][1]
        assert found.score == pytest.approx(ranked[-1][0], abs=1e-4)


def test_every_term_is_used_and_numbers_are_the_models(kit, batch) -> None:
    rule = kit.noise(20, end=1.0)
    drawn = random.Random(1)
    sources = [(*drawn.choices(range(3, 20), k=4), 2) for _ in range(12)]
    wanted = [
        [WantedTerm((tuple(drawn.sample(range(3, 20), k=drawn.randint(1, 3))),)) for _ in range(n)]
        for n in [0, 1, 2, 3] * 3
    ]
    options = BeamOptions(beam=4, max_length=30)
    found = term_search(kit.model(rule), batch(sources), options, WantedTerms(wanted, SPACED))
    for source, terms, [best] in zip(sources, wanted, found, strict=True):
        assert best.finished
        for term in terms:
            assert holds(best.ids, term.forms[0])
        for n, id in enumerate(best.ids):
            log_p = rule(source, best.ids[:n]).log_softmax(-1)[id].item()
            assert best.token_log_probabilities[n] == pytest.approx(log_p, abs=1e-4)


def test_the_likelier_form_is_taken(kit, batch) -> None:
    rule = kit.table(10, {(): {2: 0.1, 5: 0.1, 6: 0.2, 7: 0.6}, (7,): {2: 0.9, 6: 0.05, 5: 0.05}})
    terms = WantedTerms([[WantedTerm(((5,), (6,)))]], SPACED)
    [[best]] = term_search(kit.model(rule), batch([(3, 2)]), SHORT, terms)
    assert 6 in best.ids
    assert 5 not in best.ids


def test_the_beginning_of_a_longer_word_is_no_term() -> None:
    edges = bytes([0, 0, 0, LETTER_LAST, JOINS | LETTER_LAST, 0])  # 3 "Rad", 4 "weg", 5 "."
    trie = TermTrie([WantedTerm(((3,),))], edges)
    at_rad = trie.after(trie.begin(), 3, None)
    assert at_rad.used == 1
    assert trie.after(at_rad, 5, None).used == 1
    assert trie.after(at_rad, 4, None).used == 0
    assert trie.wanted(trie.after(at_rad, 4, None), None) == [3]


def test_a_longer_form_goes_on_after_a_shorter_one() -> None:
    edges = bytes([0, 0, 0, LETTER_LAST, JOINS | LETTER_LAST, LETTER_LAST])
    trie = TermTrie([WantedTerm(((3,), (3, 4)))], edges)  # "Rad", "Rads"
    at_rads = trie.after(trie.after(trie.begin(), 3, None), 4, None)
    assert at_rads.used == 1
    assert trie.after(at_rads, 4, None).used == 0  # "Radss"


def test_a_term_is_wanted_where_it_gets_attention() -> None:
    trie = TermTrie([WantedTerm(((3,),), source=(0,)), WantedTerm(((5,),), source=(1,))], SPACED)
    assert trie.wanted(trie.begin(), trie.looks([0.05, 0.9, 0.05])) == [5]
    assert trie.wanted(trie.begin(), None) == [3, 5]
    passed = trie.after(trie.begin(), 7, trie.looks([0.05, 0.9, 0.05]))
    used = trie.after(trie.begin(), 5, trie.looks([0.05, 0.9, 0.05]))
    assert passed.evidence < used.evidence


@pytest.fixture(scope="module")
def loud(small_model):
    model = small_model(d_model=32)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(2.0)
    return model.eval()


def test_a_watched_model_tells_where_it_looks(loud) -> None:
    heads = AlignmentHeads(-1, (1,))
    model = AttentionRecorder(loud, heads)
    source_BS = torch.tensor([[5, 6, 7, 2], [8, 9, 2, 0]])
    target_BT = torch.tensor([[4, 5, 6], [7, 8, 9]])
    cache = model.start(model.encode(source_BS), 1, 5)
    newest_BN = torch.full((2, 1), loud.config.start)
    rows = []
    for t in range(3):
        model.step(newest_BN, cache)
        rows.append(model.looks()[:, 0])
        newest_BN = target_BT[:, t : t + 1]
    wanted_BTS = cross_attention_map(loud, source_BS, target_BT, heads)
    torch.testing.assert_close(torch.stack(rows, 1), wanted_BTS)
    assert not loud.decoder.layers[-1].cross_attention.probes

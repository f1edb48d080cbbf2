"""A head that learns alignments: what it minimises, on both roads, and what it then shows."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

from allyouneed.core.config import TransformerConfig
from allyouneed.core.transformer import Transformer
from allyouneed.data.alignment.aligner import Aligner
from allyouneed.data.collate import Batch
from allyouneed.decoding.alignment import cross_attention_map
from allyouneed.decoding.alignment_heads import AlignmentHeads
from allyouneed.engine.native.library import NoLibrary
from allyouneed.errors import DataError, RecipeError
from allyouneed.loading import load
from allyouneed.model_folder.folder import open_model_folder
from allyouneed.text.tokenizer import Tokenizer
from allyouneed.training import objective as objective_module
from allyouneed.training.guided_alignment import split_links
from allyouneed.training.objective import Objective
from allyouneed.training.preparation import prepare
from allyouneed.training.recipe.sections import GuidedAlignmentSection, TrainingSection
from allyouneed.training.tasks.translate import Translate

CONFIG = TransformerConfig(
    vocabulary=13, d_model=16, heads=2, d_ff=16, encoder_layers=1, decoder_layers=2, dropout=0.0
)
GUIDED = ("guided_alignment.head=1", "guided_alignment.layer=0", "guided_alignment.weight=0.5")


def batch(guided: bool = True) -> Batch:
    source_BS = torch.tensor([[5, 6, 7, 2], [8, 9, 2, 0], [4, 2, 0, 0]])
    target_in_BT = torch.tensor([[1, 10, 11], [1, 12, 0], [1, 4, 5]])
    labels_BT = torch.tensor([[10, 11, 2], [12, 2, 0], [4, 5, 2]])
    guide_BTS = torch.zeros(3, 3, 4)
    guide_BTS[0, 0, 1] = guide_BTS[2, 1, 0] = 1.0
    guide_BTS[0, 1, [0, 2]] = 0.5
    guide_BTS[1, 0, 1] = 1.0
    return Batch(source_BS, target_in_BT, labels_BT, 8, guide_BTS if guided else None)


def loss_and_gradient(
    config: TransformerConfig = CONFIG, guided: bool = True, **keys: Any
) -> tuple[Tensor, dict[str, Tensor]]:
    torch.manual_seed(3)
    model = Transformer(config).train()
    section = GuidedAlignmentSection(layer=1, head=1, weight=0.5)
    objective = Objective(model, TrainingSection(steps=1, **keys), torch.device("cpu"), section)
    loss = objective(batch(guided))
    loss.backward()
    gradients = {name: w.grad for name, w in model.named_parameters() if w.grad is not None}
    return loss.detach(), gradients


def without_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing() -> None:
        raise NoLibrary("no kernels here")

    monkeypatch.setattr(objective_module, "find_kernels", missing)


def test_what_is_added_is_the_cross_entropy_of_the_captured_weights() -> None:
    torch.manual_seed(3)
    model = Transformer(CONFIG).eval().requires_grad_(False)
    one = batch()
    assert one.guide_BTS is not None
    wanted = 0.0
    for row in range(3):
        source = one.source_BS[row : row + 1, : int((one.source_BS[row] != 0).sum())]
        target = one.labels_BT[row : row + 1, : int((one.labels_BT[row] != 0).sum())]
        shifted = one.target_in_BT[row : row + 1, : target.size(1)]
        seen: list[Tensor] = []
        attention: Any = model.decoder.layers[1].cross_attention

        def watch(weights_BHTS: Tensor, site: Any, seen: list[Tensor] = seen) -> Tensor:
            seen.append(weights_BHTS[0, 1])
            return weights_BHTS

        attention.probes.append(watch)
        model(source, shifted)
        attention.probes.clear()
        guide_TS = one.guide_BTS[row, : target.size(1), : source.size(1)]
        wanted -= float((guide_TS * seen[0].log()).sum())
    added = loss_and_gradient()[0] - loss_and_gradient(guided=False)[0]
    assert float(added) == pytest.approx(0.5 * wanted, rel=1e-4)


@pytest.mark.parametrize(
    "changes", [{}, {"positions": "rotary"}, {"decoder": "ssru"}, {"residual": "pre-norm"}]
)
def test_both_roads_have_one_answer(
    changes: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    config = replace(CONFIG, **changes)
    fast_loss, fast = loss_and_gradient(config)
    without_kernels(monkeypatch)
    loss, gradients = loss_and_gradient(config)
    assert_close(fast_loss, loss, rtol=1e-5, atol=1e-5)
    assert fast.keys() == gradients.keys()
    for name, gradient in gradients.items():
        assert_close(fast[name], gradient, rtol=1e-3, atol=1e-5, msg=name)


def test_the_two_passes_of_r_drop_count_as_one() -> None:
    assert_close(loss_and_gradient(r_drop=5.0), loss_and_gradient())


def test_a_batch_without_pairs_changes_nothing(runs: Any) -> None:
    recipe = runs.recipe(*GUIDED, "vocabulary.dropout=0.0")
    material = prepare(recipe, runs.root / "run", lambda note: None)
    task = Translate(recipe, material)
    loss = task.objective(material.new_model(1), torch.device("cpu"))(task.batch(np.array([]), 0))
    loss.backward()
    assert float(loss.detach()) == 0


def test_parts_of_a_split_token_have_its_links() -> None:
    tokenizer = Tokenizer.train(["abcd abcd xyz xyz"] * 3, 270)
    spelt = np.array([max(1, len(tokenizer.spelling(n))) for n in range(len(tokenizer))])
    stored = tokenizer.encode("abcd xyz").ids
    assert len(stored) == 3
    single = {tokenizer.spelling(n): n for n in range(4, 260)}
    split = [single[bytes([byte])] for byte in b" abcd"] + stored[1:]
    linked = np.array([[True, False, False], [False, True, False], [False, False, False]])
    found = split_links(linked, (stored, stored), (split, split), spelt)
    assert found[:5, :5].all()
    assert found[5, 5]
    assert found.sum() == 26


def test_a_store_is_aligned_once_and_kept(runs: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    recipe = runs.recipe(*GUIDED)
    material = prepare(recipe, runs.root / "run", lambda note: None)
    assert material.links is not None
    pairs = [
        (source[:-1], target[:-1], material.links.matrices([n], len(target), len(source))[0])
        for n in range(len(material.train))
        for source, target in [material.train.pair(n)]
    ]
    reversed_links = right = 0
    for source, target, linked_TS in pairs:
        assert not linked_TS[len(target)].any()  # the end is aligned with nothing
        for t, s in zip(*linked_TS.nonzero(), strict=True):
            reversed_links += 1
            right += bool(s == len(source) - 1 - t)
    assert reversed_links > 0.8 * sum(len(target) for _, target, _ in pairs)
    assert right / reversed_links > 0.9  # letters that stand there twice may be exchanged
    monkeypatch.setattr(Aligner, "learn", None)  # it is not called again
    again = prepare(recipe, runs.root / "run", lambda note: None)
    assert again.links is not None
    some = again.links.matrices([3, 7, 0], 20, 20)
    assert (some == material.links.matrices([3, 7, 0], 20, 20)).all()
    apart = [again.links.matrices([number], 20, 20)[0] for number in (3, 7, 0)]
    assert (some == np.stack(apart)).all()
    (folder,) = (runs.root / "run" / "cache").glob("links-*")
    (folder / "links").write_bytes(b"")
    with pytest.raises(DataError, match=r"word alignments are damaged .*; remove the folder"):
        prepare(recipe, runs.root / "run", lambda note: None)


def aligned(translator: Any, heads: AlignmentHeads) -> float:
    """The share of letters of "a b c d" reversed that this head takes from the right place."""
    right = total = 0
    for letters in ("a b c d", "k e f g", "p a n m", "b d f h"):
        source = torch.tensor([translator.tokenizer.encode(letters).ids])
        target = torch.tensor([translator.tokenizer.encode(letters[::-1]).ids])
        weights_TS = cross_attention_map(translator.model, source, target, heads)[0, :-1, :-1]
        found = weights_TS.argmax(dim=-1).tolist()
        right += sum(s == len(found) - 1 - t for t, s in enumerate(found))
        total += len(found)
    return right / total


@pytest.mark.slow
def test_the_head_learns_what_plain_training_does_not_give(runs: Any) -> None:
    short = ("training.steps=300", "data.train.0.pairs=2000", "model.dropout=0.0")
    short += ("schedule.warmup=20", "training.average_last=0", "vocabulary.dropout=0.0")
    short += ("model.d_model=32", "validation.sentences=0", "training.batch_tokens=512")
    place = ("guided_alignment.layer=0", "guided_alignment.head=0")
    guided = runs.start("guided", *short, *place, "guided_alignment.weight=1.0")
    plain = runs.start("plain", *short)
    head = AlignmentHeads(0, (0,))
    assert open_model_folder(guided.model).alignment_heads == head
    assert open_model_folder(plain.model).alignment_heads is None
    assert aligned(load(guided.model, engine="core"), head) > 0.95
    assert aligned(load(plain.model, engine="core"), head) < 0.7


def test_a_guided_run_is_resumed_and_keeps_its_head(runs: Any) -> None:
    guided = (*GUIDED, "training.steps=6")
    runs.start("run", *guided)
    runs.start("run", *guided[:-1], resume=True)
    runs.start("whole", *GUIDED)
    assert runs.losses("run") == runs.losses("whole")


@pytest.mark.parametrize(
    ("key", "words"),
    [("layer=1", "layer 1: the decoder has layers 0 … 0"), ("head=2", "heads 0 … 1")],
)
def test_a_head_that_is_not_there(runs: Any, key: str, words: str) -> None:
    with pytest.raises(RecipeError, match=rf"\[guided_alignment\] .*{words}"):
        runs.recipe(f"guided_alignment.{key}")

"""What training minimises: R-Drop with and without dropout, and hidden words."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

from allyouneed.core.config import TransformerConfig
from allyouneed.core.transformer import Transformer
from allyouneed.data.collate import Batch
from allyouneed.engine.native.library import NoLibrary
from allyouneed.training import objective as objective_module
from allyouneed.training.loss import fused_loss, r_drop_loss
from allyouneed.training.objective import Objective
from allyouneed.training.recipe.sections import TrainingSection
from allyouneed.training.word_dropout import word_dropout

CPU = torch.device("cpu")
CONFIG = TransformerConfig(
    vocabulary=13, d_model=8, heads=2, d_ff=16, encoder_layers=1, decoder_layers=1, dropout=0.3
)


def batch() -> Batch:
    source_BS = torch.tensor([[5, 6, 7, 2], [8, 9, 2, 0], [4, 2, 0, 0]])
    target_in_BT = torch.tensor([[1, 10, 11], [1, 12, 0], [1, 4, 5]])
    labels_BT = torch.tensor([[10, 11, 2], [12, 2, 0], [4, 5, 2]])
    return Batch(source_BS, target_in_BT, labels_BT, 8)


def loss_and_gradient(dropout: float, **keys: Any) -> tuple[Tensor, Mapping[str, Tensor]]:
    torch.manual_seed(3)
    model = Transformer(replace(CONFIG, dropout=dropout)).train()
    objective = Objective(model, TrainingSection(steps=1, **keys), CPU)
    torch.manual_seed(5)
    loss = objective(batch())
    loss.backward()
    gradients = {name: w.grad for name, w in model.named_parameters() if w.grad is not None}
    return loss.detach(), gradients


@pytest.fixture
def plain_road(monkeypatch: pytest.MonkeyPatch) -> None:
    """Training goes by the core's own modules."""

    def missing() -> None:
        raise NoLibrary("no kernels here")

    monkeypatch.setattr(objective_module, "find_kernels", missing)


def test_without_dropout_r_drop_is_the_plain_loss() -> None:
    assert_close(loss_and_gradient(0.0, r_drop=5.0), loss_and_gradient(0.0))


@pytest.mark.usefixtures("plain_road")
def test_the_two_passes_have_dropouts_of_their_own() -> None:
    """Written out: both passes by hand, the first rows of the draws being the first pass."""
    torch.manual_seed(3)
    model = Transformer(CONFIG).train()
    one = batch()
    torch.manual_seed(5)
    logits_BTV = model(one.source_BS.repeat(2, 1), one.target_in_BT.repeat(2, 1))
    assert not torch.equal(*logits_BTV.chunk(2))
    logits_2PV = logits_BTV.flatten(0, 1).unflatten(0, (2, -1))
    written = r_drop_loss(logits_2PV, one.labels_BT.flatten(), 0.1, 5.0, pad=0)
    found, _ = loss_and_gradient(CONFIG.dropout, r_drop=5.0)
    assert_close(found, written.detach())
    agreeing, _ = loss_and_gradient(CONFIG.dropout, r_drop=1e-9)
    assert found > agreeing + 0.01


def test_words_are_hidden_at_the_rate_and_marks_never() -> None:
    torch.manual_seed(1)
    ids_BT = torch.randint(4, 1000, (100, 50))
    ids_BT[:, 0], ids_BT[:, 30], ids_BT[:, 31:] = 1, 2, 0
    hidden_BT = word_dropout(ids_BT, 0.2)
    changed_BT = hidden_BT != ids_BT
    assert (hidden_BT[changed_BT] == 3).all()
    assert not changed_BT[:, 0].any()
    assert not changed_BT[:, 30:].any()
    share = changed_BT[:, 1:30].float().mean()
    assert float(share) == pytest.approx(0.2, abs=0.03)  # 4 deviations of 2,900 draws
    assert not torch.equal(word_dropout(ids_BT, 0.2), hidden_BT)


def test_another_tokenizers_marks_are_not_hidden() -> None:
    """BERT's [CLS], [SEP] and [MASK] are 101, 102 and 103, and its words begin at 104."""
    ids_BT = torch.tensor([[101, 3, 2054, 102, 0]]).repeat(50, 1)
    hidden_BT = word_dropout(ids_BT, 0.9, hidden=103, special=(0, 101, 102, 100))
    assert torch.equal(hidden_BT[:, [0, 3, 4]], ids_BT[:, [0, 3, 4]])
    assert (hidden_BT[:, [1, 2]] == 103).float().mean() > 0.7


def test_without_word_dropout_nothing_is_drawn() -> None:
    before = torch.get_rng_state()
    ids_BT = batch().source_BS
    assert word_dropout(ids_BT, 0.0) is ids_BT
    assert torch.equal(torch.get_rng_state(), before)


@pytest.mark.usefixtures("plain_road")
def test_both_sides_have_words_hidden_and_the_labels_none(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Tensor] = []
    encode, decode = Transformer.encode, Transformer.decode

    def encoded(model: Transformer, source_BS: Tensor) -> Any:
        seen.append(source_BS)
        return encode(model, source_BS)

    def decoded(model: Transformer, target_BT: Tensor, memory: Any) -> Tensor:
        seen.append(target_BT)
        return decode(model, target_BT, memory)

    def lost(states_PD: Tensor, output: Any, labels_P: Tensor, *rest: Any) -> Tensor:
        seen.append(labels_P)
        return fused_loss(states_PD, output, labels_P, *rest)

    monkeypatch.setattr(Transformer, "encode", encoded)
    monkeypatch.setattr(Transformer, "decode", decoded)
    monkeypatch.setattr(objective_module, "fused_loss", lost)
    loss_and_gradient(0.0, word_dropout=0.99, r_drop=1.0)
    plain = batch()
    *inputs, labels_P = seen
    for ids, before in zip(inputs, (plain.source_BS, plain.target_in_BT), strict=True):
        twice = before.repeat(2, 1)
        assert (ids == twice.where(twice < 4, 3)).float().mean() > 0.8
    assert torch.equal(labels_P, plain.labels_BT.flatten())

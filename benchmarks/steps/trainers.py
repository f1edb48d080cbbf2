"""The trainers: this project's training step and those of its peers, with the same interface.

All have the same shape, first weights and optimizer: Adam with the paper's values in torch's fused
kernel. The peers get finished tensors; ours makes its batches from its store, as in a run.

B batch · S source length · T target length · D d_model · V vocabulary
"""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Protocol

import torch
from torch import Tensor, nn

from allyouneed.core.positions import sinusoidal_encoding
from allyouneed.core.transformer import Transformer
from allyouneed.data.collate import Batch
from allyouneed.interop.huggingface import to_marian
from allyouneed.training.gradient import Gradient
from allyouneed.training.objective import Objective
from allyouneed.training.optimizer import make_optimizer
from allyouneed.training.schedule import noam
from allyouneed.training.tasks.translate import Translate
from allyouneed.training.workers import ALONE
from steps.of_eole import Eole
from steps.of_fairseq import FairSeq
from steps.of_joeynmt import Joey
from steps.toolkits import EOLE, FAIRSEQ, JOEYNMT, SMOOTHING
from steps.work import Work

OURS, TORCH, MARIAN = "allyouneed", "torch.nn.Transformer", "MarianMTModel"
COMPILED = "torch.compile"  # of the same loop as torch.nn.Transformer
PEERS = (TORCH, COMPILED, MARIAN)
PRE_NORM = (EOLE,)  # engines that support pre-norm only
PRECISIONS = ("float32", "bf16")
WARMUP = 4000  # steps, as in section 5.3; losses of post-norm in bf16 diverge with a shorter one
SEED = 1


class Trainer(Protocol):
    """One engine in one precision, with a model of its own."""

    name: str
    precision: str

    def step(self, number: int) -> float:
        """Makes one update over the batch of this number. Returns the loss before it, in nats per
        target token."""


def make_trainer(
    name: str, work: Work, precision: str, dropout: float, device: str = "cpu"
) -> Trainer:
    """The engine of this name with the first weights of the work's shape."""
    if name == OURS:
        return OurTrainer(work, precision, dropout, device=device)
    model = first_model(work, dropout, residual_of(name))
    make = {
        TORCH: TorchTransformer, COMPILED: TorchTransformer, MARIAN: Marian,
        FAIRSEQ: FairSeq, JOEYNMT: Joey, EOLE: Eole,
    }[name]  # fmt: skip
    peer = make(model)
    if name == COMPILED:
        peer.compile(dynamic=True)  # batches have many shapes; compiling for each would take hours
    return PeerTrainer(name, peer, work, precision, device)


def residual_of(name: str) -> str:
    """The residual connections of an engine: post-norm if it supports it, otherwise pre-norm."""
    return "pre-norm" if name in PRE_NORM else "post-norm"


def first_model(work: Work, dropout: float, residual: str) -> Transformer:
    """A model with the first weights of all engines."""
    material = replace(
        work.material, config=replace(work.config, dropout=dropout, residual=residual)
    )
    return material.new_model(SEED).train()


def update(optimizer: torch.optim.Optimizer, number: int, d_model: int) -> None:
    """Makes the optimizer's step with the learning rate of section 5.3."""
    for group in optimizer.param_groups:
        group["lr"] = noam(number + 1, d_model, factor=1.0, warmup=WARMUP)
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)


class OurTrainer:
    """The step of the training loop: batch, gradient, its norm, update."""

    name = OURS

    def __init__(
        self,
        work: Work,
        precision: str,
        dropout: float,
        residual: str = "post-norm",
        device: str = "cpu",
    ) -> None:
        self.precision = precision
        self.work = work
        self.model = first_model(work, dropout, residual).to(device)
        recipe = work.shape.recipe(precision, dropout)
        objective = Objective(self.model, recipe.training, torch.device(device))
        self.gradient = Gradient(
            recipe, Translate(recipe, work.material), objective, ALONE, lambda note: None
        )
        self.optimizer = make_optimizer(recipe.optimizer, self.model)

    def step(self, number: int) -> float:
        """As in `Trainer`."""
        cost = self.gradient.of([self.work.pairs(number)], number + 1, 0)
        gradients = [weight.grad for weight in self.model.parameters() if weight.grad is not None]
        assert math.isfinite(torch.nn.utils.get_total_norm(gradients))
        update(self.optimizer, number, self.work.config.d_model)
        return cost.loss


class PeerTrainer:
    """The training step of usual tutorials: autocast in bf16, the loss of all logits, backward."""

    def __init__(
        self, name: str, peer: "Peer", work: Work, precision: str, device: str = "cpu"
    ) -> None:
        self.name, self.precision, self.device = name, precision, device
        self.work, self.peer = work, peer.to(device)
        self.optimizer = make_optimizer(work.shape.recipe(precision).optimizer, peer)
        peer.train()

    def step(self, number: int) -> float:
        """As in `Trainer`."""
        batch = self.work.batch(number, self.device)
        with torch.autocast(self.device, torch.bfloat16, enabled=self.precision == "bf16"):
            loss = self.peer(batch)
        loss.backward()
        update(self.optimizer, number, self.work.config.d_model)
        return float(loss.detach())


Peer = nn.Module
"""A module that returns the mean smoothed loss of a batch's target tokens."""


class TorchTransformer(nn.Module):
    """`torch.nn.Transformer` with embeddings, positions and a loss. Dropout is only where the paper
    has it, which is in fewer places than torch's default. The last norms, which the paper's stacks
    do not have, are removed."""

    def __init__(self, model: Transformer) -> None:
        super().__init__()
        config = model.config
        shared: dict[str, Any] = {
            "d_model": config.d_model,
            "nhead": config.heads,
            "dim_feedforward": config.d_ff,
            "dropout": config.dropout,
            "batch_first": True,
        }
        encoder_layer = nn.TransformerEncoderLayer(**shared)
        decoder_layer = nn.TransformerDecoderLayer(**shared)
        self.transformer = nn.Transformer(
            **shared,
            custom_encoder=nn.TransformerEncoder(
                encoder_layer, config.encoder_layers, enable_nested_tensor=False
            ),
            custom_decoder=nn.TransformerDecoder(decoder_layer, config.decoder_layers),
        )
        self.embedding = nn.Embedding(config.vocabulary, config.d_model)
        self.output = nn.Linear(config.d_model, config.vocabulary, bias=False)
        self.output.weight = self.embedding.weight
        self.dropout = nn.Dropout(config.dropout)
        self.loss = nn.CrossEntropyLoss(ignore_index=config.pad, label_smoothing=SMOOTHING)
        self.pad, self.scale = config.pad, math.sqrt(config.d_model)
        self.positions: Tensor
        table = sinusoidal_encoding(config.max_positions, config.d_model)
        self.register_buffer("positions", table, persistent=False)
        self.load_state_dict(torch_weights(model))
        for layer in (*self.transformer.encoder.layers, *self.transformer.decoder.layers):
            layer.self_attn.dropout = 0.0
            layer.dropout.p = 0.0  # the paper has no dropout inside the feed-forward network
        for layer in self.transformer.decoder.layers:
            layer.multihead_attn.dropout = 0.0

    def forward(self, batch: Batch) -> Tensor:
        """The loss."""
        hidden_BS = batch.source_BS == self.pad
        states_BTD = self.transformer(
            self._embedded(batch.source_BS),
            self._embedded(batch.target_in_BT),
            tgt_mask=nn.Transformer.generate_square_subsequent_mask(
                batch.labels_BT.size(1), device=hidden_BS.device
            ),
            src_key_padding_mask=hidden_BS,
            memory_key_padding_mask=hidden_BS,
            tgt_is_causal=True,
        )
        logits_BTV = self.output(states_BTD)
        return self.loss(logits_BTV.flatten(0, 1), batch.labels_BT.flatten())

    def _embedded(self, ids_BT: Tensor) -> Tensor:
        x_BTD = self.embedding(ids_BT) * self.scale
        return self.dropout(x_BTD + self.positions[: ids_BT.size(1)])


TORCH_NAMES = {
    "self_attention.W_O": "self_attn.out_proj",
    "cross_attention.W_O": "multihead_attn.out_proj",
    "feed_forward.W_1": "linear1",
    "feed_forward.W_2": "linear2",
    "self_attention_residual.norm": "norm1",
    "cross_attention_residual.norm": "norm2",
}


def torch_weights(model: Transformer) -> dict[str, Tensor]:
    """Our weights with torch's names. torch joins W_Q, W_K and W_V in one matrix."""
    ours = model.state_dict()
    shared = ours["encoder.embeddings.tokens.weight"]
    theirs = {"embedding.weight": shared, "output.weight": shared}
    for stack, last in ((model.encoder, "norm2"), (model.decoder, "norm3")):
        side = "encoder" if stack is model.encoder else "decoder"
        names = TORCH_NAMES | {"feed_forward_residual.norm": last}
        for number in range(len(stack.layers)):
            here, there = f"{side}.layers.{number}", f"transformer.{side}.layers.{number}"
            for kind in ("weight", "bias"):
                for ours_name, name in names.items():
                    if (weight := ours.get(f"{here}.{ours_name}.{kind}")) is not None:
                        theirs[f"{there}.{name}.{kind}"] = weight
                for ours_name, name in (("self", "self_attn"), ("cross", "multihead_attn")):
                    parts = [f"{here}.{ours_name}_attention.W_{part}.{kind}" for part in "QKV"]
                    if parts[0] in ours:
                        joined = torch.cat([ours[part] for part in parts])
                        theirs[f"{there}.{name}.in_proj_{kind}"] = joined
    return theirs


class Marian(nn.Module):
    """`MarianMTModel` with the label smoother of transformers' trainer."""

    def __init__(self, model: Transformer) -> None:
        super().__init__()
        from transformers import MarianConfig, MarianMTModel
        from transformers.trainer_pt_utils import LabelSmoother

        config, weights = to_marian(model)
        self.model: Any = MarianMTModel(MarianConfig(**config))
        self.model.load_state_dict(weights)
        self.loss: Callable[..., Tensor] = LabelSmoother(epsilon=SMOOTHING)
        self.pad = model.config.pad

    def forward(self, batch: Batch) -> Tensor:
        """The loss."""
        outputs = self.model(
            input_ids=batch.source_BS,
            attention_mask=(batch.source_BS != self.pad).long(),
            decoder_input_ids=batch.target_in_BT,
            use_cache=False,
        )
        labels_BT = batch.labels_BT.masked_fill(batch.labels_BT == self.pad, -100)
        return self.loss(outputs, labels_BT)

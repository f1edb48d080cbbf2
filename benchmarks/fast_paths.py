"""Compares fast implementations with the formulas that they replace, on the same inputs, in turns.

Prints the ratio of their times (above 1: the fast implementation is faster) as median and range
over rounds. Absolute times are not printed, because they are not meaningful on shared machines.

    python benchmarks/fast_paths.py [--threads N]
"""

import argparse
import ctypes
import statistics
import time
from collections.abc import Callable
from dataclasses import replace

import torch
from torch import Tensor, nn

from allyouneed.core.attention import attention, fused_attention
from allyouneed.core.config import SMALL
from allyouneed.core.dropout import Dropout
from allyouneed.core.transformer import Transformer
from allyouneed.training.cpu.kernels import find_kernels
from allyouneed.training.cpu.packed import PackedTransformer
from allyouneed.training.loss import fused_loss, label_smoothed_loss

ROUNDS = 9
Work = Callable[[], object]


def main() -> None:
    """Measures every pair of implementations and prints a line for each."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    torch.set_num_threads(parser.parse_args().threads)
    torch.manual_seed(0)
    print(f"torch {torch.__version__}, {torch.get_num_threads()} threads; reference / fast")
    for name, (reference, fast) in {
        "loss, P=4096 V=8000, forward and backward": loss_pair(),
        "attention, T=12 float32, forward and backward": attention_pair(torch.float32),
        "attention, T=12 bfloat16, forward and backward": kernel_against_products(),
        "dropout, 1 M elements": dropout_pair(),
        "training, 4,096 tokens in bfloat16: plain / packed, native": training_pair(),
        "greedy search, 25 tokens: whole / cached": decoding_pair(),
    }.items():
        ratios = sorted(measured(reference, fast))
        print(
            f"{name}: {statistics.median(ratios):.2f} ({ratios[0]:.2f} … {ratios[-1]:.2f})",
            flush=True,
        )


def measured(reference: Work, fast: Work) -> list[float]:
    """The ratio reference / fast in each round, after one round to warm up."""
    ratios = []
    for _ in range(ROUNDS + 1):
        took = []
        for work in (reference, fast):
            began = time.perf_counter()
            work()
            took.append(time.perf_counter() - began)
        ratios.append(took[0] / took[1])
    return ratios[1:]


def loss_pair() -> tuple[Work, Work]:
    """Section 5.4's loss written out, and fused with the output projection."""
    output = nn.Linear(256, 8000, bias=False)
    states_PD = torch.randn(4096, 256, requires_grad=True)
    labels_P = torch.randint(1, 8000, (4096,))

    def written_out() -> None:
        with torch.autocast("cpu", torch.bfloat16):
            logits_PV = output(states_PD)
        label_smoothed_loss(logits_PV, labels_P, 0.1, pad=0).backward()

    def fused() -> None:
        with torch.autocast("cpu", torch.bfloat16):
            loss = fused_loss(states_PD, output, labels_P, 0.1, pad=0)
        loss.backward()

    return written_out, fused


def attention_pair(dtype: torch.dtype) -> tuple[Work, Work]:
    """Equation 1 written out, and the implementation that the model uses."""
    q, k, v, may_look = attention_inputs(dtype)
    return (
        lambda: attention(q, k, v, may_look)[0].sum().backward(),
        lambda: fused_attention(q, k, v, may_look).sum().backward(),
    )


def kernel_against_products() -> tuple[Work, Work]:
    """In bfloat16 on a CPU the model uses the formula, because PyTorch's kernel is slower."""
    q, k, v, may_look = attention_inputs(torch.bfloat16)
    kernel = nn.functional.scaled_dot_product_attention
    return (
        lambda: kernel(q, k, v, attn_mask=may_look).sum().backward(),
        lambda: fused_attention(q, k, v, may_look).sum().backward(),
    )


def attention_inputs(dtype: torch.dtype) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Queries, keys and values of 340 sentences of 12 tokens, and a causal mask."""
    q, k, v = (torch.randn(340, 4, 12, 64).to(dtype).requires_grad_() for _ in range(3))
    return q, k, v, torch.ones(12, 12, dtype=torch.bool).tril()


def dropout_pair() -> tuple[Work, Work]:
    """PyTorch's dropout, and one that draws four elements from each random number."""
    x = torch.randn(4096, 256)
    ours = Dropout(0.1).train()
    return lambda: nn.functional.dropout(x, 0.1), lambda: ours(x)


def training_pair() -> tuple[Work, Work]:
    """Loss and gradients of a batch by the model itself, and by native kernels without padding."""
    model = Transformer(replace(SMALL, vocabulary=8000, max_positions=64)).train()
    lengths_B1 = torch.randint(6, 13, (341, 1))
    ids_BT = torch.randint(4, 8000, (341, 12)).masked_fill(torch.arange(12) >= lengths_B1, 0)
    kept_BT = ids_BT != 0
    kernels = find_kernels().functions
    packed = PackedTransformer(model, kernels)

    def backward(states_PD: Tensor, kernels: ctypes.CDLL | None) -> None:
        fused_loss(states_PD, model.output, ids_BT[kept_BT], 0.1, 0, kernels=kernels).backward()

    def plain() -> None:
        with torch.autocast("cpu", torch.bfloat16):
            backward(model.decode(ids_BT, model.encode(ids_BT))[kept_BT], None)

    def native() -> None:
        with torch.autocast("cpu", torch.bfloat16):
            backward(packed.states(ids_BT, ids_BT, kept_BT), kernels)

    return plain, native


def decoding_pair() -> tuple[Work, Work]:
    """Greedy search that decodes the whole prefix at every step, and with cached steps."""
    model = Transformer(replace(SMALL, vocabulary=8000, max_positions=64)).eval()
    source_BS = torch.randint(4, 8000, (8, 12))
    length = 25

    @torch.inference_mode()
    def whole() -> Tensor:
        memory = model.encode(source_BS)
        target_BT = torch.full((8, 1), model.config.start)
        for _ in range(length):
            logits_BTV = model.output(model.decode(target_BT, memory))
            target_BT = torch.cat([target_BT, logits_BTV[:, -1:].argmax(-1)], dim=1)
        return target_BT

    @torch.inference_mode()
    def cached() -> Tensor:
        cache = model.start(model.encode(source_BS), 1, length)
        ids_B1 = torch.full((8, 1), model.config.start)
        for _ in range(length):
            ids_B1 = model.step(ids_B1, cache).argmax(-1)
        return ids_B1

    return whole, cached


if __name__ == "__main__":
    main()

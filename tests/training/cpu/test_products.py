"""Products by native kernels are torch's own, and so are their gradients."""

import ctypes
import mmap
from dataclasses import dataclass

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor, nn
from torch.testing import assert_close

from allyouneed.core.feed_forward import FeedForward
from allyouneed.errors import ShapeError
from allyouneed.training.cpu.blocks import BlockWeight, Unit, best_unit
from allyouneed.training.cpu.products import (
    LEAST,
    Projector,
    TorchWeight,
    filled,
    prepared,
)

SIZES = [  # positions, inputs, outputs
    (1, 1, 1),
    (31, 33, 70),
    (64, 96, 32),
    (100, 48, 8),
    (37, 2100, 5),
    (64, 2112, 70),  # longer than a piece of a sum
    (70, 600, 40),  # wider than a group of panels
    (200, 32, 1100),
    (600, 64, 96),
]


@dataclass(frozen=True)
class Processor:
    """The compiled kernels, and the unit of the processor with which they multiply."""

    kernels: ctypes.CDLL
    unit: Unit

    def weight(self, weight_OD: Tensor) -> BlockWeight:
        return BlockWeight(self.kernels, weight_OD, self.unit)

    def projector(self) -> Projector:
        return Projector(self.kernels, self.unit)


@pytest.fixture(params=[Unit.VECTORS, Unit.TILES], ids=["vectors", "tiles"])
def processor(kernels: ctypes.CDLL, request: pytest.FixtureRequest) -> Processor:
    """Multiplies with vectors, then with tiles, as far as this processor has them."""
    if request.param > best_unit(kernels):
        pytest.skip("this variant or processor has no such unit")
    return Processor(kernels, request.param)


def random_weight(inputs: int, outputs: int, dtype: torch.dtype = torch.float32) -> Tensor:
    return (torch.randn(outputs, inputs) / inputs**0.5).to(dtype)


def all_products(
    processor: Processor, weight_OD: Tensor, x_PD: Tensor, bias_O: Tensor, grad_PO: Tensor
) -> list[Tensor]:
    weight = processor.weight(weight_OD)
    gradients = weight.gradients(grad_PO, x_PD)
    return [weight.forward(x_PD, bias_O), weight.backward(grad_PO), *gradients]


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("size", SIZES)
def test_products_are_torchs_in_float32(
    processor: Processor, size: tuple[int, int, int], dtype: torch.dtype
) -> None:
    torch.manual_seed(0)
    positions, inputs, outputs = size
    weight_OD, bias_O = random_weight(inputs, outputs, dtype), torch.randn(outputs).to(dtype)
    x_PD, grad_PO = (torch.randn(positions, n).bfloat16() for n in (inputs, outputs))
    ours = processor.weight(weight_OD)
    theirs = TorchWeight(weight_OD.bfloat16().float())
    plain_PO = theirs.forward(x_PD.float())
    assert_close(ours.forward(x_PD), plain_PO.bfloat16(), rtol=0.01, atol=1e-3)
    assert_close(ours.forward(x_PD, bias_O), (plain_PO + bias_O).bfloat16(), rtol=0.01, atol=1e-3)
    plain_PD = theirs.backward(grad_PO.float())
    assert_close(ours.backward(grad_PO), plain_PD.bfloat16(), rtol=0.01, atol=1e-3)
    grad_OD, grad_O = ours.gradients(grad_PO, x_PD)
    assert_close(grad_OD, theirs.gradient(grad_PO.float(), x_PD.float()), rtol=1e-4, atol=1e-4)
    assert_close(grad_O, grad_PO.float().sum(dim=0), rtol=1e-5, atol=1e-4)


def test_columns_may_lie_apart(processor: Processor) -> None:
    weight_OD = random_weight(64, 32).T.contiguous().T
    x_PD, grad_PO = torch.randn(64, 64).bfloat16(), torch.randn(32, 64).bfloat16().T
    ours, theirs = processor.weight(weight_OD), processor.weight(weight_OD.contiguous())
    assert torch.equal(ours.forward(x_PD.T.contiguous().T), theirs.forward(x_PD))
    assert torch.equal(ours.backward(grad_PO), theirs.backward(grad_PO.contiguous()))
    assert torch.equal(ours.gradient(grad_PO, x_PD), theirs.gradient(grad_PO.contiguous(), x_PD))


def test_what_does_not_fit_is_refused(processor: Processor) -> None:
    weight = processor.weight(random_weight(8, 12))
    x_PD, grad_PO = torch.ones(5, 8).bfloat16(), torch.ones(5, 12).bfloat16()
    for wrong in (
        lambda: weight.forward(grad_PO),
        lambda: weight.backward(x_PD),
        lambda: weight.gradient(x_PD, x_PD),
        lambda: weight.gradient(grad_PO[:4], x_PD),
        lambda: weight.forward(x_PD.float()),
    ):
        with pytest.raises(ShapeError, match="a factor is"):
            wrong()


def before_forbidden_memory(numbers: Tensor) -> Tensor:
    """A copy behind whose last number the process may not read."""
    size = numbers.numel() * numbers.element_size()
    pages = -(-size // mmap.PAGESIZE)
    room = mmap.mmap(-1, (pages + 1) * mmap.PAGESIZE)
    behind = ctypes.addressof(ctypes.c_char.from_buffer(room)) + pages * mmap.PAGESIZE
    forbidden = ctypes.CDLL(None).mprotect(ctypes.c_void_p(behind), mmap.PAGESIZE, 0)
    assert forbidden == 0
    start = pages * mmap.PAGESIZE - size
    copy = torch.frombuffer(room, dtype=numbers.dtype, count=numbers.numel(), offset=start)
    return copy.view_as(numbers).copy_(numbers)


@pytest.mark.parametrize("size", SIZES)
def test_nothing_behind_a_factor_is_read(processor: Processor, size: tuple[int, int, int]) -> None:
    positions, inputs, outputs = size
    weight_OD, bias_O = random_weight(inputs, outputs), torch.randn(outputs)
    x_PD, grad_PO = (torch.randn(positions, n).bfloat16() for n in (inputs, outputs))
    factors = weight_OD, x_PD, bias_O, grad_PO
    guarded = [before_forbidden_memory(factor) for factor in factors]  # a read too many is a crash
    ours = zip(all_products(processor, *guarded), all_products(processor, *factors), strict=True)
    assert all(torch.equal(one, other) for one, other in ours)


def test_a_row_depends_on_that_row_alone(processor: Processor) -> None:
    weight = processor.weight(random_weight(40, 50))
    x_PD = torch.randn(70, 40).bfloat16()
    y_PO = weight.forward(x_PD)
    x_PD[33] = float("nan")
    x_PD[60] = float("inf")
    spoilt_PO = weight.forward(x_PD)
    assert spoilt_PO[33].isnan().all()
    assert not spoilt_PO[60].isfinite().any()
    sound = [row for row in range(70) if row not in (33, 60)]
    assert torch.equal(spoilt_PO[sound], y_PO[sound])


def test_the_number_of_threads_changes_nothing(processor: Processor) -> None:
    x_PD, grad_PO = torch.randn(512, 512).bfloat16(), torch.randn(512, 300).bfloat16()
    factors = random_weight(512, 300), x_PD, torch.randn(300), grad_PO
    threads = torch.get_num_threads()
    try:
        torch.set_num_threads(1)
        alone = all_products(processor, *factors)
        torch.set_num_threads(3)
        for one, other in zip(alone, all_products(processor, *factors), strict=True):
            assert torch.equal(one, other)
    finally:
        torch.set_num_threads(threads)


def test_units_are_for_bfloat16(kernels: ctypes.CDLL) -> None:
    weight_OD = random_weight(8, 8)
    fast = prepared(kernels, weight_OD, torch.bfloat16)
    assert isinstance(fast, BlockWeight) == (best_unit(kernels) != Unit.NONE)
    assert isinstance(prepared(kernels, weight_OD, torch.float32), TorchWeight)
    assert isinstance(prepared(None, weight_OD, torch.bfloat16), TorchWeight)


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize(("narrow", "wide"), [(24, 24), (24, 40), (40, 24)])
def test_gradients_are_torchs(processor: Processor, narrow: int, wide: int, bias: bool) -> None:
    torch.manual_seed(0)
    layer = nn.Linear(narrow, wide, bias=bias)
    x_PD = torch.randn(96, narrow).bfloat16().requires_grad_()
    grad_PO = torch.randn(96, wide).bfloat16()

    def outcome(computed: nn.Module) -> list[Tensor]:
        with torch.autocast("cpu", torch.bfloat16):
            y_PO = computed(x_PD)
        return [y_PO, *torch.autograd.grad(y_PO, [x_PD, *layer.parameters()], grad_PO)]

    theirs, ours = outcome(layer), outcome(processor.projector().stand_in(layer))
    assert ours[0].grad_fn.name() == "_ProjectionBackward"  # type: ignore[union-attr]
    assert_close(ours, theirs, rtol=0.01, atol=1e-3)


def test_what_is_frozen_has_no_gradient(processor: Processor) -> None:
    layer = nn.Linear(4, 5).bfloat16()
    layer.weight.requires_grad_(False)
    x_PD = torch.randn(3, 4).bfloat16()
    stand_in = processor.projector().stand_in(layer)
    stand_in(x_PD).sum().backward()
    assert layer.weight.grad is None
    assert layer.bias.grad.tolist() == [3.0] * 5
    layer.bias.requires_grad_(False)
    stand_in(x_PD.requires_grad_()).sum().backward()
    assert_close(x_PD.grad, layer.weight.sum(dim=0).expand(3, 4))


def test_the_rest_is_left_to_torch(processor: Processor) -> None:
    layer, project = nn.Linear(4, 5), processor.projector()
    assert project(torch.ones(3, 4), layer).grad_fn.name() == "AddmmBackward0"  # type: ignore[union-attr]
    without_unit = Projector(processor.kernels, Unit.NONE)
    with torch.autocast("cpu", torch.bfloat16):
        narrow_PO = without_unit(torch.ones(3, 4).bfloat16(), layer)
    assert "_Projection" not in narrow_PO.grad_fn.name()  # type: ignore[union-attr]


@pytest.mark.parametrize("bias", [True, False])
def test_layers_side_by_side_are_the_layers(processor: Processor, bias: bool) -> None:
    project, x_PD = processor.projector(), torch.randn(64, 24).bfloat16()
    layers = [nn.Linear(24, width, bias=bias) for width in (32, 40)]
    apart = torch.cat([project(x_PD, layer) for layer in layers], dim=1)
    assert torch.equal(project(x_PD, *layers), apart)


def test_a_stand_in_leaves_the_module_as_it_was(processor: Processor) -> None:
    """The weights are the module's, and so are the layers that are not linear: their mode too."""
    dropout = nn.Dropout(0.5)
    module = FeedForward(24, 40, nn.Sequential(nn.ReLU(), dropout))
    names, layers = list(module.state_dict()), dict(module.named_modules())
    stand_in = processor.projector().stand_in(module)
    assert list(module.state_dict()) == names
    assert dict(module.named_modules()) == layers
    assert {id(weight) for weight in stand_in.parameters()} == {
        id(weight) for weight in module.parameters()
    }
    assert dropout in stand_in.modules()
    x_PD = torch.randn(64, 24).bfloat16()
    module.eval()
    with torch.autocast("cpu", torch.bfloat16):
        assert_close(stand_in(x_PD), module(x_PD), rtol=0.01, atol=0.01)
        with torch.no_grad():
            module.W_2.weight.zero_()
        assert torch.equal(stand_in(x_PD), module.W_2.bias.bfloat16().expand(64, 24))
    assert processor.projector().stand_in(dropout) is dropout


@given(st.integers(0, 1 << 20))
def test_few_rows_fill_up(positions: int) -> None:
    rows = filled(positions)
    assert rows % LEAST == 0
    assert 0 <= rows - positions < max(LEAST, positions / 16 + 1)


def test_batches_of_about_a_size_have_few_sizes() -> None:
    sizes = {filled(positions) for positions in range(3000, 4096)}
    assert len(sizes) <= 16

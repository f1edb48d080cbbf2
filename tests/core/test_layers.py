"""One layer at a time against torch's own, and the gradients of each."""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn
from torch.testing import assert_close

from allyouneed.core import masks
from allyouneed.core.attention import MultiHeadAttention
from allyouneed.core.decoder import DecoderLayer
from allyouneed.core.encoder import EncoderLayer, Memory
from allyouneed.core.feed_forward import FeedForward, GatedFeedForward
from allyouneed.core.residual import PostNorm, PreNorm, Residual

Loud = Callable[..., nn.Module]
Wiring = type[PostNorm] | type[PreNorm]
B, T, S, D, H, F = 3, 6, 7, 16, 4, 24
WIRINGS = [PostNorm, PreNorm]
ACTIVATIONS = {"relu": nn.ReLU, "gelu": nn.GELU}

# torch's name → ours; W_Q, W_K and W_V lie in one matrix there
ENCODER_NAMES = {
    "self_attn": "self_attention",
    "linear1": "feed_forward.W_1",
    "linear2": "feed_forward.W_2",
    "norm1": "self_attention_residual.norm",
    "norm2": "feed_forward_residual.norm",
}
DECODER_NAMES = ENCODER_NAMES | {
    "multihead_attn": "cross_attention",
    "norm2": "cross_attention_residual.norm",
    "norm3": "feed_forward_residual.norm",
}


def translate(state: dict[str, Tensor], names: dict[str, str]) -> dict[str, Tensor]:
    ours = {}
    for name, weight in state.items():
        module, rest = name.split(".", 1)
        if rest.startswith("in_proj_"):
            kind = rest.removeprefix("in_proj_")
            for letter, part in zip("QKV", weight.chunk(3), strict=True):
                ours[f"{names[module]}.W_{letter}.{kind}"] = part
        else:
            ours[f"{names[module]}.{rest.replace('out_proj', 'W_O')}"] = weight
    return ours


def residual(wiring: Wiring, width: int = D) -> Residual:
    return lambda: wiring(nn.LayerNorm(width))


def inputs() -> tuple[Tensor, Tensor, Tensor]:
    generator = torch.Generator().manual_seed(1)
    x_BTD = 2 * torch.randn(B, T, D, generator=generator)
    memory_BSD = 2 * torch.randn(B, S, D, generator=generator)
    return x_BTD, memory_BSD, torch.tensor([7, 2, 5])


@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("wiring", WIRINGS)
def test_encoder_layer_parity_with_torch(loud: Loud, wiring: Wiring, activation: str) -> None:
    pre_norm = wiring is PreNorm
    theirs = loud(
        nn.TransformerEncoderLayer(D, H, F, 0.0, activation, batch_first=True, norm_first=pre_norm)
    )
    ours = EncoderLayer(
        MultiHeadAttention(D, H), FeedForward(D, F, ACTIVATIONS[activation]()), residual(wiring)
    )
    ours.load_state_dict(translate(theirs.state_dict(), ENCODER_NAMES))
    _, x_BSD, lengths_B = inputs()
    theirs.train()  # at dropout 0 the same sum, but written out instead of in torch's fast path
    expected = theirs(x_BSD, src_key_padding_mask=torch.arange(S) >= lengths_B[:, None])
    assert expected.std() >= 1
    result = ours(x_BSD, masks.valid_lengths(lengths_B, S))
    assert_close(result, expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("wiring", WIRINGS)
def test_decoder_layer_parity_with_torch(loud: Loud, wiring: Wiring, activation: str) -> None:
    pre_norm = wiring is PreNorm
    theirs = loud(
        nn.TransformerDecoderLayer(D, H, F, 0.0, activation, batch_first=True, norm_first=pre_norm)
    )
    ours = DecoderLayer(
        MultiHeadAttention(D, H),
        MultiHeadAttention(D, H),
        FeedForward(D, F, ACTIVATIONS[activation]()),
        residual(wiring),
    )
    ours.load_state_dict(translate(theirs.state_dict(), DECODER_NAMES))
    x_BTD, memory_BSD, lengths_B = inputs()
    expected = theirs(
        x_BTD,
        memory_BSD,
        tgt_mask=~masks.causal(T)[0, 0],
        memory_key_padding_mask=torch.arange(S) >= lengths_B[:, None],
    )
    assert expected.std() >= 1
    memory = Memory(memory_BSD, masks.valid_lengths(lengths_B, S))
    assert_close(ours(x_BTD, memory, masks.causal(T)), expected, rtol=1e-5, atol=1e-5)


def feed_forward(gated: bool) -> nn.Module:
    return GatedFeedForward(4, 5, nn.SiLU()) if gated else FeedForward(4, 5, nn.GELU())


@pytest.mark.parametrize("gated", [True, False])
@pytest.mark.parametrize("wiring", WIRINGS)
def test_encoder_layer_gradcheck(loud: Loud, wiring: Wiring, gated: bool) -> None:
    layer = EncoderLayer(MultiHeadAttention(4, 2), feed_forward(gated), residual(wiring, 4))
    loud(layer.double())
    x_BSD = torch.randn(2, 3, 4, dtype=torch.float64, requires_grad=True)
    may_look = masks.valid_lengths(torch.tensor([3, 1]), 3)
    weights = tuple(layer.parameters())
    assert torch.autograd.gradcheck(lambda x, *_: layer(x, may_look), (x_BSD, *weights))


@pytest.mark.parametrize("wiring", WIRINGS)
def test_decoder_layer_gradcheck(loud: Loud, wiring: Wiring) -> None:
    attention = (MultiHeadAttention(4, 2), MultiHeadAttention(4, 2))
    layer = DecoderLayer(*attention, feed_forward(gated=False), residual(wiring, 4))
    loud(layer.double())
    x_BTD = torch.randn(2, 3, 4, dtype=torch.float64, requires_grad=True)
    states_BSD = torch.randn(2, 4, 4, dtype=torch.float64, requires_grad=True)
    seen = masks.valid_lengths(torch.tensor([4, 0]), 4)  # the second sentence is empty

    def forward(x_BTD: Tensor, states_BSD: Tensor, *_: Tensor) -> Tensor:
        return layer(x_BTD, Memory(states_BSD, seen), masks.causal(3))

    weights = tuple(layer.parameters())
    assert torch.autograd.gradcheck(forward, (x_BTD, states_BSD, *weights))

"""The tokens that the decoder would predict after each sub-layer, and the parts behind them.

B batch · T target length · D d_model · V vocabulary · P parts of the residual stream
"""

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from allyouneed.core.residual import PostNorm
from allyouneed.core.transformer import Transformer
from allyouneed.errors import UsageError
from allyouneed.insight.capture import Tape
from allyouneed.insight.names import sublayers

EMBEDDINGS, BIASES = "decoder.embeddings", "biases"


@dataclass(frozen=True, slots=True)
class Place:
    """One place in the decoder: after the embeddings, or after a sub-layer.

    `log_p_BTV` is the distribution over the next token that the final norm and the output
    projection compute from the residual stream at this place. At the last sub-layer it is the
    model's own distribution. `effects_PBT` is the contribution of each of `parts` to the logit of
    the target's token minus the mean of all logits; the contributions add up to this difference.
    The parts are the embeddings, the output of each sub-layer so far, and the biases of norms and
    output. All are carried through the norms in between, with the norms' means and variances held
    constant.
    """

    name: str
    log_p_BTV: Tensor
    parts: tuple[str, ...]
    effects_PBT: Tensor

    def cross_share(self) -> Tensor:
        """Cross-attention's share BT of all effects, from 0 to 1, by their absolute values."""
        of_cross_P = torch.tensor([part.endswith("cross_attention") for part in self.parts])
        sizes_PBT = self.effects_PBT.abs()
        all_BT = sizes_PBT.sum(dim=0)
        return sizes_PBT[of_cross_P].sum(dim=0) / all_BT.where(all_BT > 0, 1.0)


@torch.no_grad()
def logit_lens(model: Transformer, tape: Tape, target_BT: Tensor) -> Iterator[Place]:
    """The places of the decoder, from the bottom up (the logit lens, nostalgebraist 2020; parts of
    a stream by their effect on a logit: Elhage et al. 2021).

    The tape holds a whole pass, recorded with `residuals=True`. `target_BT` are the tokens whose
    logits are explained, one for each position of the decoder's input.

    Raises:
        UsageError: the tape has no residuals.
    """
    if EMBEDDINGS not in tape.residuals:
        raise UsageError("the lens needs the residual stream; use capture(model, residuals=True)")
    stream_BTD = tape.residuals[EMBEDDINGS]
    names = [EMBEDDINGS]
    parts_PBTD = torch.stack([stream_BTD, torch.zeros_like(stream_BTD)])  # embeddings, biases
    yield _place(model, EMBEDDINGS, stream_BTD, names, parts_PBTD, target_BT)
    for name in sublayers(model):
        if not name.startswith("decoder"):
            continue
        residual, added_BTD = model.get_submodule(f"{name}_residual"), tape.outputs[name]
        names.append(name)
        parts_PBTD = torch.cat([parts_PBTD[:-1], added_BTD[None], parts_PBTD[-1:]])
        if isinstance(residual, PostNorm):
            parts_PBTD = _through(residual.norm, stream_BTD + added_BTD, parts_PBTD)
        stream_BTD = tape.residuals[name]
        yield _place(model, name, stream_BTD, names, parts_PBTD, target_BT)


def _place(
    model: Transformer,
    name: str,
    stream_BTD: Tensor,
    names: list[str],
    parts_PBTD: Tensor,
    target_BT: Tensor,
) -> Place:
    norm, output = model.decoder.norm, model.output
    log_p_BTV = output(norm(stream_BTD)).float().log_softmax(dim=-1)
    parts_PBTD = _through(norm, stream_BTD, parts_PBTD)
    direction_BTD = output.weight[target_BT] - output.weight.mean(dim=0)
    effects_PBT = (parts_PBTD * direction_BTD).sum(dim=-1)
    if output.bias is not None:
        effects_PBT[-1] += output.bias[target_BT] - output.bias.mean()
    return Place(name, log_p_BTV, (*names, BIASES), effects_PBT)


def _through(norm: nn.Module, x_BTD: Tensor, parts_PBTD: Tensor) -> Tensor:
    """The parts of x as parts of norm(x). The norm's bias is added to the last part."""
    if isinstance(norm, nn.Identity):
        return parts_PBTD
    assert isinstance(norm, nn.LayerNorm | nn.RMSNorm)
    if isinstance(norm, nn.LayerNorm):
        x_BTD = x_BTD - x_BTD.mean(dim=-1, keepdim=True)
        parts_PBTD = parts_PBTD - parts_PBTD.mean(dim=-1, keepdim=True)
    assert norm.eps is not None
    size_BT1 = (x_BTD.square().mean(dim=-1, keepdim=True) + norm.eps).sqrt()
    parts_PBTD = parts_PBTD / size_BT1 * norm.weight
    if isinstance(norm, nn.LayerNorm):
        parts_PBTD[-1] += norm.bias
    return parts_PBTD

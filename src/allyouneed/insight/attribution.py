"""How much each input token contributes to the output, measured beyond raw attention weights.

B batch · H heads · T target length · S source length · D d_model · K head width · V vocabulary
"""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from allyouneed.core.attention import MultiHeadAttention, Site
from allyouneed.core.transformer import Transformer
from allyouneed.decoding.scoring import teacher_input
from allyouneed.errors import ShapeError, UsageError
from allyouneed.insight.capture import capture
from allyouneed.insight.clock import add_probe
from allyouneed.insight.names import attentions

ROWS_AT_ONCE = 16  # points of the path that integrated gradients takes together


@dataclass(frozen=True, slots=True, eq=False)
class Rollout:
    """The share of each input token in the state of each position, after each layer.

    `encoder` holds SS for each encoder layer. For each decoder layer, `source` holds the shares TS
    of the source tokens, and `target` the shares TT of the target tokens so far, beginning with the
    start token. Rows of `encoder` sum to 1, and so do rows of `source` and `target` together. With
    batches, B comes first.
    """

    encoder: tuple[Tensor, ...]
    source: tuple[Tensor, ...]
    target: tuple[Tensor, ...]


def rollout(
    encoder: Sequence[Tensor], decoder: Sequence[Tensor] = (), cross: Sequence[Tensor] = ()
) -> Rollout:
    """Attention rollout (Abnar & Zuidema 2020), carried on into the decoder.

    The weights HTS (or BHTS) of each layer are averaged over the heads. Half of a sub-layer's
    output is counted as coming from the residual connection: self-attention multiplies the shares
    by (A + I) / 2, and cross-attention adds the shares of the last encoder layer. The weights may
    be of any model. Without `decoder` and `cross` the result is the encoder's rollout alone.

    Raises:
        ShapeError: decoder and cross-attention of different depth.
    """
    if len(decoder) != len(cross):
        raise ShapeError(
            f"{len(decoder)} layers of decoder attention and {len(cross)} of cross-attention; "
            "each decoder layer has one of both"
        )
    of_encoder: list[Tensor] = []
    for weights in encoder:
        kept = _half_kept(weights.mean(dim=-3))
        of_encoder.append(kept @ of_encoder[-1] if of_encoder else kept)
    of_source: list[Tensor] = []
    of_target: list[Tensor] = []
    for own, across in zip(decoder, cross, strict=True):
        kept, looked = _half_kept(own.mean(dim=-3)), _whole_rows(across.mean(dim=-3))
        target = kept @ of_target[-1] if of_target else kept
        source = kept @ of_source[-1] if of_source else torch.zeros_like(looked)
        # The residual stream is half of the sum, or all of it if cross-attention saw no token.
        past_T1 = 1 / (1 + looked.sum(dim=-1, keepdim=True))
        added = looked @ of_encoder[-1] if of_encoder else looked
        of_target.append(target * past_T1)
        of_source.append((source + added) * past_T1)
    return Rollout(tuple(of_encoder), tuple(of_source), tuple(of_target))


@dataclass(frozen=True, slots=True, eq=False)
class ValueWeighted:
    """Norms of the vectors that an attention module adds up for each query and key: `heads_BHTS`
    for each head, `together_BTS` for the sums over the heads."""

    heads_BHTS: Tensor
    together_BTS: Tensor


@torch.no_grad()
def value_weighted(
    model: Transformer, source_BS: Tensor, target_BT: Tensor
) -> dict[str, ValueWeighted]:
    """Norm-based attention (Kobayashi et al. 2020) of every attention module, by its name, with the
    target teacher-forced. A key with a large weight still counts for little if its value vector is
    small.

    Raises:
        ShapeError, UsageError: as `score_targets`.
    """
    with capture(model, values=True, names=list(attentions(model))) as tape:
        model.decode(teacher_input(model, source_BS, target_BT), model.encode(source_BS))
    found = {}
    for name, part in attentions(model).items():
        weights_BHTS = tape[name].double()
        vectors_BHSD = value_vectors(part, tape.values[name]).double()
        inner_BHGS = torch.einsum("bhsd,bgsd->bhgs", vectors_BHSD, vectors_BHSD)
        squares_BTS = torch.einsum("bhts,bhgs,bgts->bts", weights_BHTS, inner_BHGS, weights_BHTS)
        heads_BHTS = weights_BHTS * vectors_BHSD.norm(dim=-1)[:, :, None]
        together_BTS = squares_BTS.clamp(min=0).sqrt()
        found[name] = ValueWeighted(heads_BHTS.float(), together_BTS.float())
    return found


def value_vectors(attention: MultiHeadAttention, v_BHSK: Tensor) -> Tensor:
    """f_h(x) = (x W_V + b_V) W_O with the head's slice of W_O: the vector BHSD that each head adds
    for each key. The module's output is their weighted sum over heads and keys, plus W_O's bias.
    """
    W_O_DHK = attention.W_O.weight.view(-1, v_BHSK.size(1), v_BHSK.size(3))
    return torch.einsum("bhsk,dhk->bhsd", v_BHSK, W_O_DHK)


def gradient_times_attention(
    model: Transformer, source_BS: Tensor, target_BT: Tensor
) -> dict[str, Tensor]:
    """Each attention weight times the gradient of log P(target) with respect to it: BHTS, by the
    module's name (Chefer et al. 2021, who then drop negative values).

    The sum over a head is the rate at which log P(target) rises when all its weights are scaled up.

    Raises:
        ShapeError, UsageError: as `score_targets`.
    """
    with torch.inference_mode(False), torch.enable_grad():
        source_BS, target_BT = source_BS.clone(), target_BT.clone()
        with ExitStack() as stack:
            for part in attentions(model).values():
                add_probe(part, _with_a_gradient, stack)
            tape = stack.enter_context(capture(model, names=list(attentions(model))))
            logits_BTV = model(source_BS, teacher_input(model, source_BS, target_BT))
        log_p_BTV = logits_BTV.log_softmax(dim=-1)
        log_p_BT = log_p_BTV.gather(2, target_BT[..., None])[..., 0]
        wanted = log_p_BT[target_BT != model.config.pad].sum()
        weights = [tape[name] for name in tape]
        gradients = torch.autograd.grad(wanted, weights)
    pairs = zip(tape, weights, gradients, strict=True)
    return {name: weight.detach() * gradient for name, weight, gradient in pairs}


@dataclass(frozen=True, slots=True, eq=False)
class Attribution:
    """The share of each input token in log P of one target token, in nats: `source` S, with the end
    token, and `target`, with the start token and the earlier target tokens.

    `log_probability` is the value that is explained, and `baseline` its value with all embeddings
    zero (None for a method without a baseline).
    """

    source: Tensor
    target: Tensor
    log_probability: float
    baseline: float | None = None

    @property
    def gap(self) -> float | None:
        """The sum of all shares minus (`log_probability` - `baseline`)."""
        if self.baseline is None:
            return None
        all_shares = float(self.source.double().sum() + self.target.double().sum())
        return all_shares - (self.log_probability - self.baseline)


def gradient_times_input(
    model: Transformer,
    source: Sequence[int],
    target: Sequence[int],
    position: int,
    token: int | None = None,
) -> Attribution:
    """Each token's embedding times the gradient with respect to it (Shrikumar et al. 2017): the
    rate at which log P changes when that embedding is scaled.

    P is the probability of `target[position]`, or of another `token`, given the source and the
    target tokens before the position. `source` and `target` are ids with their end tokens.

    Raises:
        UsageError: the position or token does not exist, or the model is in training mode.
        ShapeError: there are more ids than the model has positions.
    """
    asked = _Asked.of(model, source, target, position, token)
    log_p_M, gradients = asked.log_probability(torch.ones(1))
    shares = [x_MTD.sum(dim=-1)[0].cpu() for x_MTD in asked.times_input(gradients)]
    return Attribution(shares[0], shares[1], float(log_p_M[0]))


def integrated_gradients(
    model: Transformer,
    source: Sequence[int],
    target: Sequence[int],
    position: int,
    token: int | None = None,
    *,
    steps: int = 64,
) -> Attribution:
    """Integrated gradients (Sundararajan et al. 2017): the embedding times the gradient, averaged
    over the path from zero embeddings (with their positions) to the real ones. The shares add up to
    the change of log P along the path, except for `gap`, which shrinks with more `steps`.

    The arguments are those of `gradient_times_input`; `steps` is the number of points on the path,
    chosen by Gauss-Legendre quadrature.

    Raises:
        UsageError, ShapeError: as `gradient_times_input`.
        UsageError: `steps` is below 1.
    """
    if steps < 1:
        raise UsageError(f"steps={steps} must be at least 1")
    asked = _Asked.of(model, source, target, position, token)
    points, parts = np.polynomial.legendre.leggauss(steps)
    means: list[Tensor] = [torch.zeros(()), torch.zeros(())]
    pairs = torch.stack([torch.tensor(points) / 2 + 0.5, torch.tensor(parts) / 2], dim=1)
    for chunk in torch.split(pairs, ROWS_AT_ONCE):
        _, gradients = asked.log_probability(chunk[:, 0])
        for side, products_MTD in enumerate(asked.times_input(gradients)):
            weights_M = chunk[:, 1].to(products_MTD)
            means[side] = means[side] + torch.einsum("m,mtd->t", weights_M, products_MTD).cpu()
    (baseline, whole), _ = asked.log_probability(torch.tensor([0.0, 1.0]))
    return Attribution(means[0], means[1], float(whole), float(baseline))


@dataclass(frozen=True, slots=True)
class _Asked:
    """One question: log P of a token after a source and a beginning of the target."""

    model: Transformer
    source_1S: Tensor
    input_1T: Tensor
    token: int

    @classmethod
    def of(
        cls,
        model: Transformer,
        source: Sequence[int],
        target: Sequence[int],
        position: int,
        token: int | None,
    ) -> "_Asked":
        if not 0 <= position < len(target):
            raise UsageError(f"position {position}: the target has 0 … {len(target) - 1}")
        token = target[position] if token is None else token
        if not 0 <= token < model.config.vocabulary:
            raise UsageError(f"token {token}: the vocabulary has 0 … {model.config.vocabulary - 1}")
        device = next(model.parameters()).device
        with torch.inference_mode(False):  # gradients will be computed for these tensors
            source_1S = torch.tensor([list(source)], device=device)
            target_1T = torch.tensor([list(target[: position + 1])], device=device)
            return cls(model, source_1S, teacher_input(model, source_1S, target_1T), token)

    def vectors(self) -> tuple[Tensor, Tensor]:
        """The embeddings of both sides, before scaling and positions."""
        encoder, decoder = self.model.encoder.embeddings, self.model.decoder.embeddings
        with torch.inference_mode(False):
            return encoder.tokens(self.source_1S).detach(), decoder.tokens(self.input_1T).detach()

    def log_probability(self, scales_M: Tensor) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        """log P with all embeddings multiplied by each of M scales, and its gradients MSD and MTD
        with respect to the embeddings."""
        with torch.inference_mode(False), torch.enable_grad():
            scales_M11 = scales_M[:, None, None]
            source_MSD, target_MTD = (
                (x_1TD.clone() * scales_M11.to(x_1TD)).requires_grad_() for x_1TD in self.vectors()
            )
            rows = len(scales_M)
            with _embedded(self.model, source_MSD, target_MTD):
                logits_MTV = self.model(
                    self.source_1S.expand(rows, -1), self.input_1T.expand(rows, -1)
                )
            log_p_M = logits_MTV[:, -1].log_softmax(dim=-1)[:, self.token]
            source_gradient, target_gradient = torch.autograd.grad(
                log_p_M.sum(), [source_MSD, target_MTD]
            )
        return log_p_M.detach(), (source_gradient, target_gradient)

    def times_input(self, gradients: tuple[Tensor, Tensor]) -> list[Tensor]:
        """The gradients times the embeddings, for both sides."""
        return [g_MTD * x_1TD for g_MTD, x_1TD in zip(gradients, self.vectors(), strict=True)]


@contextmanager
def _embedded(model: Transformer, source_BSD: Tensor, target_BTD: Tensor) -> Iterator[None]:
    """Makes the model use these vectors as its token embeddings."""
    with ExitStack() as stack:
        for side, given in ((model.encoder, source_BSD), (model.decoder, target_BTD)):
            hook = side.embeddings.tokens.register_forward_hook(lambda *_, given=given: given)
            stack.callback(hook.remove)
        yield


def _with_a_gradient(weights_BHTS: Tensor, _: Site) -> Tensor:
    """Makes weights without a graph, as an edit sets them, leaves that get a gradient."""
    return weights_BHTS if weights_BHTS.requires_grad else weights_BHTS.clone().requires_grad_()


def _half_kept(weights_TT: Tensor) -> Tensor:
    """(A + I) / 2."""
    eye = torch.eye(weights_TT.size(-1), dtype=weights_TT.dtype, device=weights_TT.device)
    return _whole_rows(weights_TT + eye)


def _whole_rows(weights_TS: Tensor) -> Tensor:
    """Divides rows by their sums, which a probe or dropout may have changed from 1. Rows of zeros
    stay zero."""
    sums_T1 = weights_TS.sum(dim=-1, keepdim=True)
    return weights_TS / sums_T1.masked_fill(sums_T1 == 0, 1.0)

# %% [markdown]
# # Lesson 5 · Residuals and norms
#
# Around every sub-layer of a Transformer two plain things happen: what went in is added to what
# came out, and the sum is normalised. They are easy to take for decoration. Here you take them
# away, and measure what is lost.
#
# *Grew from:* an untitled notebook that builds a Transformer from scratch (its first heading is
# "Embedding"), sections "Batch Normalization", "Basic Encoder Layer" and "Add-Norm Module";
# "Transformer Demystified, part 1" by Paul Golding, section "Residual Connections and
# Normalization"; and the notebook "The Encoder" of the chat robot Chloe.

# %%
import math

import torch
from torch import nn
from torch.nn.functional import cross_entropy

from allyouneed.core.attention import MultiHeadAttention
from allyouneed.core.encoder import EncoderLayer
from allyouneed.core.feed_forward import FeedForward
from allyouneed.core.initialisation import initialise
from allyouneed.core.residual import PostNorm, PreNorm
from lesson import Lesson, panels, same

lesson = Lesson("05_residuals")

# %% [markdown]
# ## Layer norm, with a pencil
#
# Take one token's vector. Subtract its mean, divide by its standard deviation: now it has mean 0
# and variance 1. Two learned vectors, a scale and a shift, let the model choose another range if
# it likes.
#
# $$\text{LayerNorm}(x) =
# \text{scale} \cdot \frac{x - \mu}{\sqrt{\sigma^2 + \epsilon}} + \text{shift}$$
#
# For (2, 4, 6, 8) the mean is 5 and the variance (9 + 1 + 1 + 9) / 4 = 5:

# %%
x = torch.tensor([2.0, 4.0, 6.0, 8.0])
by_hand = (x - 5) / math.sqrt(5)
print([round(number, 3) for number in by_hand.tolist()])
assert same(by_hand, [-1.342, -0.447, 0.447, 1.342], within=1e-3)
assert same(nn.LayerNorm(4)(x), by_hand)

# %% [markdown]
# Every token is normalised by itself. Nothing of its neighbours comes in, nor of the rest of the
# batch.
#
# ## A slip: "Batch Normalization"
#
# That is the heading under which the notebook explains this norm, and Golding's text, too, says
# "batch norm" once (and "layer normalization" a paragraph on). The code of both normalises
# layers. A real batch norm takes its mean over all tokens of all sentences, one for each
# component, so a sentence's vectors depend on its company, and on how much padding there is:

# %%
sentence, company, other_company = torch.randn(3, 1, 5, 16)
batch_norm, layer_norm = nn.BatchNorm1d(16).train(), nn.LayerNorm(16)


def normalised(norm, neighbour):
    """The first sentence of a batch of two, after the norm."""
    both_BTD = torch.cat((sentence, neighbour))
    return norm(both_BTD.flatten(0, 1)).view(both_BTD.shape)[0]


for norm, name, low, high in ((batch_norm, "batch", 0.2, 3), (layer_norm, "layer", 0, 0)):
    changed = (normalised(norm, company) - normalised(norm, other_company)).abs().max()
    lesson.expect(f"what other company changes, {name} norm", changed, low, high)

# %% [markdown]
# ## A slip: which standard deviation?
#
# The notebook's `Norm` divides by `x.std() + eps`. Two things differ from the formula above.
# torch's `std` is *unbiased*: it divides the sum of squares by d − 1 and not by d. And eps is
# added to the deviation, not to the variance.


# %%
def norm_as_in_the_notebook(x, eps=1e-6):
    return (x - x.mean(-1, keepdim=True)) / (x.std(-1, keepdim=True) + eps)


for d in (4, 64, 512):
    x = torch.randn(2000, d)
    ratio = norm_as_in_the_notebook(x).std() / nn.LayerNorm(d)(x).std()
    wanted = math.sqrt((d - 1) / d)
    lesson.expect(f"size beside a layer norm, d_model = {d}", ratio, wanted - 1e-3, wanted + 1e-3)

# %% [markdown]
# At d_model = 512 that is a tenth of a percent, and a model that trains with it is none the
# worse. But put its weights into any other code, and every norm of it is a little off, silently.
# The place of eps shows where a vector hardly varies at all: this one's deviation is 0.001, and
# the two disagree by a factor of three.

# %%
x = torch.tensor([1.0, -1.0]).repeat(256) / 1000
ours, theirs = nn.LayerNorm(512)(x).std(), norm_as_in_the_notebook(x).std()
lesson.expect("layer norm of a vector that hardly varies", ours, 0.29, 0.31)
lesson.expect("the notebook's norm of it", theirs, 0.99, 1.01)

# %% [markdown]
# ### Exercise 1: layer norm
#
# Normalise over the last axis, without scale and shift: mean 0, variance 1 (the biased one),
# `epsilon` added to the variance.


# %%
def normalise(x_BTD, epsilon):
    """BTD → BTD."""
    ...


# %%
lesson.exercise(normalise)

# %% [markdown]
# ## Two wirings
#
# The paper normalises the sum: **post-norm**. Most later models normalise what goes into the
# sub-layer and leave the sum alone: **pre-norm**; the chat robot's encoder does, and the notebook
# shows both. In this package they are two classes, and a layer is handed the one it should use.

# %%
x_BTD = torch.randn(2, 5, 16)
norm, sublayer = nn.LayerNorm(16), nn.Linear(16, 16)
with torch.no_grad():
    assert same(PostNorm(norm)(x_BTD, sublayer), norm(x_BTD + sublayer(x_BTD)))
    assert same(PreNorm(norm)(x_BTD, sublayer), x_BTD + sublayer(norm(x_BTD)))

# %% [markdown]
# A third one is easily made for an experiment: no residual at all.


# %%
class NoResidual(nn.Module):
    """What the sub-layer says, and nothing else."""

    def forward(self, x_BTD, sublayer):
        return sublayer(x_BTD)


def wiring(kind, d_model):
    """Makes the wiring around one sub-layer."""
    return {
        "no residual": NoResidual,
        "post-norm": lambda: PostNorm(nn.LayerNorm(d_model)),
        "pre-norm": lambda: PreNorm(nn.LayerNorm(d_model)),
    }[kind]


def stack(kind, depth, d_model, seed=0):
    """So many encoder layers, and the norm on top that pre-norm needs."""
    torch.manual_seed(seed)
    layers = nn.ModuleList(
        EncoderLayer(
            MultiHeadAttention(d_model, 4),
            FeedForward(d_model, 4 * d_model, nn.ReLU()),
            residual=wiring(kind, d_model),
        )
        for _ in range(depth)
    )
    initialise(layers)
    return layers, nn.LayerNorm(d_model) if kind == "pre-norm" else nn.Identity()


KINDS = {"no residual": "#D55E00", "post-norm": "#0072B2", "pre-norm": "#009E73"}

# %% [markdown]
# ### Exercise 2: pre-norm
#
# Write it as a function: `sublayer` and `norm` are functions of a tensor.


# %%
def pre_norm(x_BTD, sublayer, norm):
    """x + Sublayer(LayerNorm(x))."""
    ...


# %%
lesson.exercise(pre_norm)

# %% [markdown]
# ## What reaches the bottom
#
# Learning goes backwards: each layer hears from the one above how it should have been different.
# Stack 24 layers with fresh weights, ask for any change at the top, and measure how much of the
# request arrives at each layer's input.

# %%
depth, d_model = 24, 64


def through(kind):
    """Gradients and sizes of the stream at each layer's input, and its likeness to the input."""
    layers, norm = stack(kind, depth, d_model)
    x_BTD = torch.randn(8, 10, d_model, requires_grad=True)
    stream = [x_BTD]
    for layer in layers:
        stream.append(layer(stream[-1]))
        stream[-1].retain_grad()
    (norm(stream[-1]) * torch.randn(8, 10, d_model)).sum().backward()
    return (
        torch.stack([state.grad.norm() for state in stream]),
        torch.stack([state.detach().norm(dim=-1).mean() for state in stream]),
        torch.stack(
            [torch.cosine_similarity(state, x_BTD, dim=-1).mean() for state in stream]
        ).detach(),
    )


gradients, sizes, likeness = {}, {}, {}
for kind in KINDS:
    gradients[kind], sizes[kind], likeness[kind] = through(kind)
    share = gradients[kind][0] / gradients[kind][-1]
    low, high = (0, 1e-4) if kind == "no residual" else (0.1, 20)
    lesson.expect(f"gradient at the bottom over that at the top, {kind}", share, low, high)

# %% [markdown]
# Without the residual less than a ten-thousandth of it arrives: each layer passes on a part, and
# parts of parts vanish. The sum changes that. The derivative of x + f(x) is 1 + f′(x), and the 1
# goes straight through, however many layers there are.
#
# Golding's text speaks of "amplifying the gradients". The sum does not amplify them: it passes them
# on unchanged.

# %%
figure, (gradient, size, like) = panels(3, width=11)
for kind, colour in KINDS.items():
    gradient.semilogy(gradients[kind], color=colour, label=kind)
    size.semilogy(sizes[kind], color=colour)
    like.plot(likeness[kind], color=colour)
gradient.set(title="gradient", xlabel="layer")
size.set(title="size of the stream", xlabel="layer")
like.set(title="likeness to the input", xlabel="layer", ylim=(-0.15, 1.05))
gradient.legend(frameon=False, fontsize=8)
lesson.show(
    figure,
    "depth",
    "Without residual gradient and stream vanish; post-norm keeps the size, pre-norm grows",
)

# %% [markdown]
# The other two pictures show what the wirings do to the stream of vectors itself. Post-norm keeps
# its size at √d_model = 8, always. Pre-norm never normalises the sum, so it grows, and that is
# why a pre-norm stack ends in a norm of its own.

# %%
lesson.expect("size after 24 layers, post-norm", sizes["post-norm"][-1], 7.9, 8.1)
lesson.expect("size after 24 layers, pre-norm", sizes["pre-norm"][-1], 25, 60)
lesson.expect("size after 24 layers, no residual", sizes["no residual"][-1], 0, 0.01)

# %% [markdown]
# And what is left of the input? In post-norm each norm shrinks all that came before to make room
# for the newest sum. After 24 layers of fresh weights the top knows nothing of the bottom. In
# pre-norm a part of the input is still there, untouched.

# %%
lesson.expect("likeness to the input, post-norm", likeness["post-norm"][-1], -0.1, 0.1)
lesson.expect("likeness to the input, pre-norm", likeness["pre-norm"][-1], 0.15, 0.45)

# %% [markdown]
# ## Does it learn?
#
# A task that every word needs a little travelling for: say four letters in reverse. Twelve
# layers, and a learning rate that is there from the first step (no warm-up; that is lesson 8).
# Guessing costs log 8 = 2.08.

# %%
letters, length, d_model, depth = 8, 4, 48, 12
steps = lesson.size(100, fast=50)


def learn(kind):
    """Losses, step by step."""
    layers, norm = stack(kind, depth, d_model)
    tokens, output = nn.Embedding(letters, d_model), nn.Linear(d_model, letters)
    place_TD = torch.randn(length, d_model)
    parts = nn.ModuleList((layers, norm, tokens, output))
    optimizer = torch.optim.Adam(parts.parameters(), lr=2e-3, betas=(0.9, 0.98), eps=1e-9)
    losses = []
    for _ in range(steps):
        ids_BT = torch.randint(letters, (16, length))
        x_BTD = tokens(ids_BT) + place_TD
        for layer in layers:
            x_BTD = layer(x_BTD)
        loss = cross_entropy(output(norm(x_BTD)).flatten(0, 1), ids_BT.flip(1).flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


curves = {kind: learn(kind) for kind in KINDS}
last = {kind: sum(losses[-10:]) / 10 for kind, losses in curves.items()}
lesson.expect("loss at the end, no residual", last["no residual"], 1.7, 2.3)
lesson.expect("loss at the end, post-norm", last["post-norm"], 1.2, 2.2)
lesson.expect("loss at the end, pre-norm", last["pre-norm"], 0.0, 0.5)

# %%
figure, plot = panels(1, width=6)
for kind, colour in KINDS.items():
    plot.plot(curves[kind], color=colour, label=kind)
plot.axhline(math.log(letters), color="0.6", linestyle="--", label="guessing")
plot.set(xlabel="step", ylabel="loss", ylim=(0, 2.6))
plot.legend(frameon=False)
lesson.show(
    figure, "learning", "Pre-norm learns at once; post-norm and no residual stay near guessing"
)

# %% [markdown]
# Without warm-up, twelve post-norm layers hardly learn. The paper's six post-norm layers learn with
# warm-up. Both wirings work: pre-norm without warm-up, post-norm with it.
#
# ### Exercise 3: a smaller norm
#
# Many later models leave the mean alone and divide by the *root mean square* only (Zhang &
# Sennrich 2019): x / √(mean of x² + epsilon). Write it for the last axis.


# %%
def rms_normalise(x_BTD, epsilon):
    """BTD → BTD."""
    ...


# %%
lesson.exercise(rms_normalise)

# %% [markdown]
# ## What to remember
#
# - Layer norm uses one token's vector only. Batch norm uses the other tokens of the batch too.
# - Layer norm has the biased variance and eps under the root. Code that differs gives slightly
#   wrong results without any error.
# - The residual connection passes gradients on unchanged, however deep the stack is.
# - With post-norm the vectors keep their size, and little of the input is left at the top. With
#   pre-norm they grow, the input stays part of the sum, and the stack needs a norm at the end.
#
# ## Where it is in the code
#
# - `core/residual.py:PostNorm` and `core/residual.py:PreNorm`; `core/encoder.py:EncoderLayer` is
#   handed one of them
# - `core/transformer.py:NORMS`, and `core/transformer.py:final_norm` for the top of a stack
# - `core/config.py:TransformerConfig.residual`, `core/config.py:TransformerConfig.norm` choose
# - `core/initialisation.py:initialise` draws the fresh weights

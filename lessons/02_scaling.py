# %% [markdown]
# # Lesson 2 · Why divide by √d_k
#
# Equation 1 of the paper has one number in it that looks like an afterthought: the scores are
# divided by √d_k, the square root of the width of a key. The paper gives the reason in two
# sentences and a footnote. Here you measure it, and then see what happens to learning without it.
#
# *Grew from:* the notebook "Transformer Encoder" of NVIDIA's Deep Learning Institute, section 2.4
# "Self-Attention", step 3 ("Divide the scores by 8"), and an untitled notebook that builds a
# Transformer from scratch (its first heading is "Embedding"), section "Attention".

# %%
import math

import torch
from torch.nn.functional import mse_loss

import allyouneed
from allyouneed.core.attention import attention_weights
from allyouneed.core.config import BASE, BIG, width_of_head
from lesson import Lesson, panels, same

lesson = Lesson("02_scaling")

# %% [markdown]
# ## A sum of d_k products
#
# Take a query and a key whose components are drawn at random, each with mean 0 and variance 1.
# Their product is a sum:
#
# $$q \cdot k = \sum_{i=1}^{d_k} q_i k_i$$
#
# Each term has mean 0 and variance 1 as well. Terms are independent, and variances of independent
# terms add up. So q · k has the variance d_k: wider heads make larger scores, though no component
# is any larger. Count on it, literally:

# %%
samples = lesson.size(40_000, fast=8_000)
widths = (4, 16, 64, 256)
products = {}
for d_k in widths:
    q, k = torch.randn(2, samples, d_k)
    products[d_k] = (q * k).sum(dim=-1)
    lesson.expect(f"variance of q·k, d_k = {d_k}", products[d_k].var(), 0.9 * d_k, 1.1 * d_k)

# %% [markdown]
# Dividing by √d_k divides the variance by d_k, and it is 1 again, for every width:

# %%
for d_k in widths:
    scaled = products[d_k] / math.sqrt(d_k)
    lesson.expect(f"variance of q·k / √d_k, d_k = {d_k}", scaled.var(), 0.9, 1.1)

figure, (raw, scaled) = panels(2)
for d_k, colour in zip(widths, ("#56B4E9", "#0072B2", "#D55E00", "#000000"), strict=True):
    style = {"bins": 100, "density": True, "histtype": "step", "color": colour}
    raw.hist(products[d_k].numpy(), range=(-50, 50), label=f"d_k = {d_k}", **style)
    scaled.hist((products[d_k] / math.sqrt(d_k)).numpy(), range=(-4, 4), **style)
raw.set(title="q·k", ylabel="density", yscale="log")
scaled.set(title="q·k / √d_k")
raw.legend(frameon=False, fontsize=8)
lesson.show(
    figure, "products", "Histograms of q·k: wider for wider keys; divided by √d_k all alike"
)

# %% [markdown]
# ### Exercise 1: measure it yourself
#
# Return the variance of q · k over `samples` random pairs of width `d_k`. Use `torch.randn`.


# %%
def variance_of_product(d_k, samples):
    """The measured variance of q · k, one number."""
    ...


# %%
lesson.exercise(variance_of_product)

# %% [markdown]
# ## The softmax saturates
#
# What is wrong with large scores? The softmax takes differences of scores as powers of e. A
# difference of 1 is a factor of 2.7; a difference of 16, usual between scores of variance 256, is
# a factor of nine million. One weight is then 1 and all others are 0, before anything has been
# learned.
#
# Ten keys, random queries. How large is the largest weight on average? (If all keys were alike it
# would be 0.1.)

# %%
queries = lesson.size(4000, fast=800)


def scores_of(d_k):
    """Raw scores of so many queries, ten keys each."""
    q, k = torch.randn(queries, 1, d_k), torch.randn(queries, 10, d_k)
    return (q @ k.mT)[:, 0]


widths = (1, 4, 16, 64, 256, 1024)
largest = {"q·k": [], "q·k / √d_k": [], "q·k / d_k": []}
for d_k in widths:
    scores = scores_of(d_k)
    for name, divisor in zip(largest, (1.0, math.sqrt(d_k), d_k), strict=True):
        largest[name].append(float((scores / divisor).softmax(dim=-1).amax(dim=-1).mean()))

lesson.expect("largest weight, d_k = 64, as it is", largest["q·k"][3], 0.82, 0.91)
lesson.expect("largest weight, d_k = 64, by √d_k", largest["q·k / √d_k"][3], 0.29, 0.35)
lesson.expect("largest weight, d_k = 1024, as it is", largest["q·k"][5], 0.94, 1.0)
lesson.expect("largest weight, d_k = 1024, by √d_k", largest["q·k / √d_k"][5], 0.29, 0.35)
lesson.expect("largest weight, d_k = 1024, by d_k", largest["q·k / d_k"][5], 0.1, 0.12)

# %% [markdown]
# Without the division the answer depends on the width; with √d_k it does not. Dividing by d_k
# itself goes too far: every key gets the same weight, and the look-up says nothing.
#
# ## A saturated softmax does not learn
#
# How much do weights p change when scores change? The softmax has a simple table of slopes, its
# Jacobian:
#
# $$\frac{\partial p_i}{\partial s_j} = p_i \, (\delta_{ij} - p_j)$$
#
# For p = (1, 0, …, 0) every entry of this table is zero. A saturated softmax therefore passes no
# gradient on, whether its choice is right or wrong.

# %%
p = torch.tensor([0.7, 0.2, 0.1])
table = torch.diag(p) - torch.outer(p, p)
by_autograd = torch.autograd.functional.jacobian(lambda s: s.softmax(0), p.log())
print(table)
assert same(table, by_autograd)
sure = torch.tensor([1.0, 0.0, 0.0])
assert (torch.diag(sure) - torch.outer(sure, sure)).eq(0).all()


# %%
def slope(weights):
    """The size of the Jacobian of each row of weights (its Frobenius norm)."""
    jacobians = torch.diag_embed(weights) - weights[:, :, None] * weights[:, None, :]
    return jacobians.flatten(1).norm(dim=1)


medians = {"q·k": [], "q·k / √d_k": []}
for d_k in widths:
    scores = scores_of(d_k)
    for name, divisor in zip(medians, (1.0, math.sqrt(d_k)), strict=True):
        medians[name].append(float(slope((scores / divisor).softmax(dim=-1)).median()))

lesson.expect("slope of the usual query, d_k = 256, as it is", medians["q·k"][4], 0.0, 0.02)
lesson.expect("slope of the usual query, d_k = 256, by √d_k", medians["q·k / √d_k"][4], 0.32, 0.37)
steeper = medians["q·k / √d_k"][4] / medians["q·k"][4]
lesson.expect("how many times as steep, d_k = 256", steeper, 20, 1e5)

figure, (weight, gradient) = panels(2)
for name, colour in zip(largest, ("#D55E00", "#0072B2", "0.6"), strict=True):
    weight.semilogx(widths, largest[name], "o-", base=2, color=colour, label=name)
    if name in medians:
        gradient.loglog(widths, medians[name], "o-", base=2, color=colour)
weight.set(title="largest of ten weights", xlabel="d_k", ylim=(0, 1.02))
gradient.set(title="slope of the softmax (median)", xlabel="d_k")
gradient.set_yscale("log", base=10)
weight.legend(frameon=False, fontsize=8)
lesson.show(
    figure, "saturation", "With d_k, unscaled weights go to 1, slopes to 0; scaled ones stay"
)

# %% [markdown]
# ### Exercise 2: the table of slopes
#
# Given the weights p (S numbers that sum to 1), return the S × S table above, without autograd.


# %%
def softmax_slopes(p):
    """The Jacobian of the softmax where its result is p."""
    ...


# %%
lesson.exercise(softmax_slopes)

# %% [markdown]
# ## Does it matter? Let one learn
#
# A small task that attention is made for. There are eight keys, and a query that is one of them,
# turned by a fixed rotation that nobody tells. The right answer is that key's value. W_Q and W_K
# have to learn to undo the rotation; they start at random, and two copies start alike, one of
# which divides its scores by √d_k.


# %%
def learn(divide, d_k, steps, seed=0, width=32, keys=8, batch=64):
    """Mean squared errors, step by step."""
    generator = torch.Generator().manual_seed(seed)

    def draw(*shape):
        return torch.randn(*shape, generator=generator)

    turn = torch.linalg.qr(draw(width, width))[0]
    W_Q = (draw(width, d_k) / math.sqrt(width)).requires_grad_()
    W_K = (draw(width, d_k) / math.sqrt(width)).requires_grad_()
    optimizer = torch.optim.Adam([W_Q, W_K], lr=1e-3)
    rows, losses = torch.arange(batch), []
    for _ in range(steps):
        x, values = draw(batch, keys, width), draw(batch, keys, 4)
        wanted = torch.randint(keys, (batch,), generator=generator)
        q, k = (x[rows, wanted] @ turn)[:, None] @ W_Q, x @ W_K
        scale = 1.0 if divide else math.sqrt(d_k)  # what attention_weights divides by, put back
        weights = attention_weights(scale * q[:, None], k[:, None])[:, 0]
        loss = mse_loss((weights @ values)[:, 0], values[rows, wanted])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


d_k, steps = 256, lesson.size(200, fast=80)
curves = {divide: learn(divide, d_k, steps) for divide in (True, False)}
early = {divide: sum(losses[:40]) / 40 for divide, losses in curves.items()}
lesson.expect("error over the first 40 steps, divided", early[True], 0.2, 0.8)
lesson.expect("error over the first 40 steps, not divided", early[False], 1.0, 1.9)

figure, plot = panels(1, width=6)
plot.plot(curves[True], color="#0072B2", label="divided by √d_k")
plot.plot(curves[False], color="#D55E00", label="as it is")
plot.axhline(1 - 1 / 8, color="0.6", linestyle="--", label="all eight keys alike")
plot.set(xlabel="step", ylabel="mean squared error", ylim=(0, None))
plot.legend(frameon=False)
lesson.show(figure, "learning", "Errors by step: the divided one falls at once, the other later")

# %% [markdown]
# The undivided copy starts *sure and wrong*, which has a larger loss than guessing (the dashed
# line). In this experiment it recovers, because it has only one look-up and eight keys, and because
# Adam compensates for small gradients. In a stack of many layers, every layer would have to recover
# at the same time.
#
# ## By the width of the head, not of the model
#
# "Divide the scores by 8", says NVIDIA's notebook. Why 8? It is √64, and 64 is the width of one
# *head*: d_model = 512, shared out among 8 heads. It uses the big model, d_model = 1024; with its
# 16 heads that is 64 again.

# %%
assert math.sqrt(width_of_head(BASE.d_model, BASE.heads)) == 8
assert math.sqrt(width_of_head(BIG.d_model, BIG.heads)) == 8
assert math.sqrt(width_of_head(512, heads=4)) == math.sqrt(128)  # the notebook from scratch

# %% [markdown]
# A usual slip is √d_model. Then all scores are too small by √heads, and the weights too even:

# %%
scores = scores_of(64)
by_head, by_model = ((scores / math.sqrt(d)).softmax(-1).amax(-1).mean() for d in (64, 512))
lesson.expect("largest weight, by the head's √64", by_head, 0.29, 0.35)
lesson.expect("largest weight, by the model's √512", by_model, 0.13, 0.19)

# %% [markdown]
# ### Exercise 3: the divisor
#
# What are the scores divided by in a model of this shape? `head_width` is given where heads do
# not simply share d_model out (`None`: they do).


# %%
def divisor(d_model, heads, head_width=None):
    """What q · k is divided by."""
    ...


# %%
lesson.exercise(divisor)

# %% [markdown]
# ## And after training?
#
# √d_k makes a good *beginning*. From there on W_Q and W_K may grow, and do. In the English→German
# model that comes with the package, the scores of this sentence, already divided by √64, are far
# from variance 1:

# %%
translator = allyouneed.load("en-de", engine="core")
ids = translator.tokenizer.encode("I am looking for a place to eat.").ids
with torch.no_grad(), allyouneed.capture(translator, queries_keys=True) as tape:
    translator.model.encode(torch.tensor([ids]))
spreads = []
for name in tape:
    scores_BHTS = tape.queries[name] @ tape.keys[name].mT / 8
    spreads += scores_BHTS.std(dim=(0, 2, 3)).tolist()
print("standard deviations:", [round(spread, 1) for spread in spreads])
lesson.expect("the smallest", min(spreads), 0.3, 1.5)
lesson.expect("the largest", max(spreads), 2.0, 6.0)
lesson.expect("heads above 1, of 16", sum(spread > 1 for spread in spreads), 12, 16)

# %% [markdown]
# Most heads have learned large scores and sharp weights. They could learn them because the scores
# were small at the beginning and passed gradients on.

# %% [markdown]
# ## What to remember
#
# - q · k is a sum of d_k terms, so its variance is d_k. Dividing by √d_k makes it 1 for any
#   width.
# - Without that, the softmax starts saturated: one weight near 1, and no slope to learn along.
# - d_k is the width of the *head*: √64 = 8 in the paper, for base and big.
# - The division matters at the beginning of training. Trained heads may have large scores.
#
# ## Where it is in the code
#
# - `core/attention.py:attention_weights` divides
# - `core/config.py:width_of_head` is d_k; `core/config.py:TransformerConfig.head_width` sets it
# - `core/initialisation.py:initialise` is where the projections begin
# - `insight/capture.py:capture` recorded the queries and keys

# %% [markdown]
# # Lesson 3 · Positions
#
# Attention is a look-up in a set (lesson 1), and a set has no first and last. So the place of a
# word has to be put into its vector. This lesson looks at three ways to do that, takes the
# paper's one apart, and shows what happens when its formula is mistyped, as it often is.
#
# *Grew from:* the notebook "Transformer Encoder" of NVIDIA's Deep Learning Institute, section 2.3
# "Positional Encoding"; "Transformer Demystified, part 1" by Paul Golding, section "Completing
# the Encoder Block"; an untitled notebook that builds a Transformer from scratch (its first
# heading is "Embedding"), `PositionalEmbedding`; and the README "Transformer" of a base model,
# section "Positional Encoding".

# %%
import math
from dataclasses import replace

import torch

from allyouneed.core.config import TINY
from allyouneed.core.embeddings import Embeddings
from allyouneed.core.positions import LearnedPositions, Rotary, sinusoidal_encoding
from allyouneed.core.transformer import Transformer
from allyouneed.errors import ShapeError
from allyouneed.insight.figures import positional_plot
from lesson import Lesson, panels, refused, same

lesson = Lesson("03_positions")

# %% [markdown]
# ## The same words, and another story
#
# Golding's text has this pair. Commas apart, both sentences consist of the same seven words, and
# they mean the opposite:

# %%
first = "the man did it said the boy".split()
second = "the man said the boy did it".split()
assert sorted(first) == sorted(second)

vocabulary = sorted(set(first))
number_of = {word: number for number, word in enumerate(vocabulary, start=3)}  # 0, 1, 2 are special
ids = {
    " ".join(words): torch.tensor([[number_of[word] for word in words]])
    for words in (first, second)
}


def encoded(positions):
    """Both sentences' states, each sorted by word, from an encoder with random weights."""
    torch.manual_seed(0)
    config = replace(TINY, vocabulary=3 + len(vocabulary), encoder_layers=2, decoder_layers=0)
    encoder = Transformer(replace(config, positions=positions)).eval().encoder
    with torch.no_grad():
        return [
            encoder(ids_BS).states_BSD[0, ids_BS[0].argsort(stable=True)] for ids_BS in ids.values()
        ]


one, other = encoded("none")
lesson.expect("largest difference between them, no positions", (one - other).abs().max(), 0, 1e-5)
one, other = encoded("sinusoidal")
lesson.expect("largest difference between them, positions", (one - other).abs().max(), 0.5, 10)

# %% [markdown]
# Without positions every word comes out the same in both: no layer above could ever tell who did
# it.
#
# ## The paper's formula
#
# Each position gets a vector of sines and cosines, two for each of d_model / 2 wavelengths, and
# it is *added* to the word's:
#
# $$PE(pos, 2i) = \sin\left(pos / 10000^{2i/d_{model}}\right)$$
# $$PE(pos, 2i+1) = \cos\left(pos / 10000^{2i/d_{model}}\right)$$
#
# In three lines, and against the package:

# %%
d_model, length = 20, 100
pos, two_i = torch.arange(length)[:, None].double(), torch.arange(0, d_model, 2)
angle = pos / 10000 ** (two_i / d_model)
table = torch.stack((angle.sin(), angle.cos()), dim=-1).flatten(1)  # sine, cosine, sine, cosine …
assert table.shape == (length, d_model)
assert same(table, sinusoidal_encoding(length, d_model))

# %% [markdown]
# **With a pencil.** For d_model = 4 there are two wavelengths: 10000⁰ = 1 and 10000^(2/4) = 100.
# At position 0 every sine is 0 and every cosine 1; at position 1 we have the sine and cosine of
# 1, then of 1/100.

# %%
print(sinusoidal_encoding(2, 4))
assert sinusoidal_encoding(2, 4)[0].tolist() == [0, 1, 0, 1]
assert same(
    sinusoidal_encoding(2, 4)[1], [math.sin(1), math.cos(1), math.sin(0.01), math.cos(0.01)]
)

# %% [markdown]
# Four of twenty dimensions over a hundred positions: two pairs, the second slower than the first.
# (This is the picture that many texts on Transformers have; here the legend says *dimension*, and
# a test holds that it is right.)

# %%
lesson.show(
    positional_plot(sinusoidal_encoding(100, 20), (4, 5, 6, 7)),
    "waves",
    "Dimensions 4 to 7 of the encoding over 100 positions: two sines with their cosines",
)
waves = [2 * math.pi * 10000 ** (i / 20) for i in (4, 6)]
print("wavelengths of the two pairs:", [round(wave, 1) for wave in waves])
assert same(waves, [39.6, 99.6], within=0.1)

# %% [markdown]
# ### Exercise 1: the vector of one position
#
# Write the formula without a table: position `pos`, and `d_model` numbers (a list, or a tensor).


# %%
def encoding(pos, d_model):
    """PE(pos, 0) … PE(pos, d_model - 1)."""
    ...


# %%
lesson.exercise(encoding)

# %% [markdown]
# ## A shift is a rotation
#
# The paper chose sines because "for any fixed offset k, PE(pos+k) can be represented as a linear
# function of PE(pos)". Golding's text calls the proof accessible. It is: a sine and its cosine
# are a point on a circle, and walking k positions on turns that point by a fixed angle, wherever
# it stands.


# %%
def shift_matrix(k, d_model):
    """M with PE(pos + k) = M @ PE(pos), for every pos: one small rotation for each pair."""
    blocks = []
    for i in range(0, d_model, 2):
        turn = k / 10000 ** (i / d_model)
        cos, sin = math.cos(turn), math.sin(turn)
        blocks.append(torch.tensor([[cos, sin], [-sin, cos]]))
    return torch.block_diag(*blocks)


table = sinusoidal_encoding(200, 16)
for k in (1, 7, 50):
    moved = table[:-k] @ shift_matrix(k, 16).T
    lesson.expect(
        f"error of one matrix for all shifts by {k}", (moved - table[k:]).abs().max(), 0, 1e-5
    )

# %% [markdown]
# So a head whose W_Q holds such a rotation can ask for "seven words back" without knowing where
# it is. And because rotations keep products, PE(pos) · PE(pos + k) depends on k alone:

# %%
products = table @ table.T
for k in (0, 3, 20):
    along = products.diagonal(k)
    lesson.expect(f"spread of PE(pos)·PE(pos+{k}) over all pos", along.max() - along.min(), 0, 1e-4)
lesson.expect("PE(pos)·PE(pos), half of d_model", products[5, 5], 7.99, 8.01)

# %% [markdown]
# ### Exercise 2: three words back
#
# `shift_matrix` walks forward. Return the matrix that takes PE(pos) to PE(pos − k), for even
# `d_model`. (There is a way in one line.)


# %%
def shift_back(k, d_model):
    """M with PE(pos - k) = M @ PE(pos)."""
    ...


# %%
lesson.exercise(shift_back, shift_matrix=shift_matrix)

# %% [markdown]
# ## Slips, made visible
#
# The notebook computes its table like this, with `i` stepping by two:
#
#     pe[pos, i]   = sin(pos / 1000 ** (2 * i / emb_dim))
#     pe[pos, i+1] = sin(pos / 1000 ** (2 * (i + 1) / emb_dim))
#
# There are three slips in it. 1000 should be 10000; `2 * i` should be `i`, for the step is two
# already; and the second line should be a cosine, of the same angle. A model with such a table
# still trains. Nothing says that anything is wrong. So let us look.

# %%
width = 16
slipped = torch.tensor(
    [[math.sin(pos / 1000 ** (2 * i / width)) for i in range(width)] for pos in range(200)]
)
right = sinusoidal_encoding(200, width)
assert slipped[0].eq(0).all()  # position 0 is no position at all
assert right[0].tolist() == [0, 1] * 8

# %% [markdown]
# **Sine twice.** A sine alone cannot be shifted: from sin(x) nobody knows cos(x). Fit the best
# matrix there is from each pair of PE(pos) to that of PE(pos + 7); the right table is shifted
# without error, the slipped one is not. And products no longer depend on the distance alone.


# %%
def shift_error(table, k):
    """How far the best linear map of each pair falls short of shifting it by k."""
    worst = 0.0
    for pair in table.double().split(2, dim=1):
        best = torch.linalg.lstsq(pair[:-k], pair[k:], driver="gelsd").solution
        worst = max(worst, float((pair[:-k] @ best - pair[k:]).abs().max()))
    return worst


lesson.expect("best shift by 7, right table", shift_error(right, 7), 0, 1e-5)
lesson.expect("best shift by 7, slipped table", shift_error(slipped, 7), 0.1, 2)
slipped_products = slipped @ slipped.T
along = slipped_products.diagonal(3)
lesson.expect("spread of PE(pos)·PE(pos+3), slipped", along.max() - along.min(), 0.5, 8)

# %% [markdown]
# **The exponent doubled.** 1000^(2i/d) runs up to nearly 1000² = 10⁶ in place of 10⁴, so the
# wavelengths grow too fast, and the upper dimensions hardly move over any text of usual length.
# Over 200 positions:


# %%
def still(table):
    """How many dimensions move by less than 0.05 over the whole table."""
    return int(((table.amax(0) - table.amin(0)) < 0.05).sum())


print("dimensions that stand still: right", still(right), " slipped", still(slipped))
assert still(right) == 2  # cosines of the two slowest: they begin at the top, and turn slowly
assert still(slipped) == 6

# %%
figure, plots = panels(4, width=10, height=3.4)
for plot, (name, drawn) in zip(
    plots,
    {
        "right": right,
        "slipped": slipped,
        "PE·PE, right": products[:60, :60],
        "PE·PE, slipped": slipped_products[:60, :60],
    }.items(),
    strict=True,
):
    most = float(drawn.abs().max())
    plot.imshow(drawn.numpy(), cmap="PuOr", vmin=-most, vmax=most, aspect="auto")
    plot.set(title=name, xlabel="position" if "PE" in name else "dimension")
plots[0].set_ylabel("position")
lesson.show(
    figure,
    "slips",
    "Right: waves in all dimensions, products in stripes. Slipped: half empty, no stripes",
)

# %% [markdown]
# The stripes on the third picture say "only the distance matters". The fourth has none: there,
# three words apart means something else at every place.
#
# Two smaller slips of the same family. The notebook writes `pe.cuda()` on a line of its own: that
# makes a copy on the GPU and throws it away, for `.cuda()`, like `.to()`, leaves the tensor where
# it is. (It did no harm: the table is a *buffer*, and those move with their module, as the
# notebook itself explains.) And the README calls `torch.arrange`, which does not exist:

# %%
small = torch.zeros(2)
small.to(torch.float64)  # no effect
assert small.dtype == torch.float32
assert not hasattr(torch, "arrange")
assert torch.arange(0, 6, step=2).tolist() == [0, 2, 4]

# %% [markdown]
# ## Drowned, or drowning
#
# Word and position are added, so their sizes matter. The paper multiplies the embedding by
# √d_model first. The notebook explains that as making the embedding larger "so the original
# meaning won't be lost". That is only half of it: it depends on how large embeddings begin.

# %%
d_model = 512
place = sinusoidal_encoding(6, d_model).norm(dim=1).mean()
ours = torch.randn(1000, d_model) * d_model**-0.5  # how this package (and the paper's code) begins
theirs = torch.nn.Embedding(1000, d_model).weight.detach()  # torch's own beginning: variance 1
scale = math.sqrt(d_model)
lesson.expect(
    "word / position, N(0, 1/d_model), unscaled", ours.norm(dim=1).mean() / place, 0.06, 0.07
)
lesson.expect(
    "word / position, N(0, 1/d_model), times √d",
    (scale * ours).norm(dim=1).mean() / place,
    1.3,
    1.5,
)
lesson.expect(
    "word / position, N(0, 1), times √d", (scale * theirs).norm(dim=1).mean() / place, 31, 33
)

# %% [markdown]
# With embeddings that begin at variance 1/d_model, the factor brings words up to the size of
# positions: without it the *word* would drown. With torch's usual variance of 1, as in that
# notebook, the same factor makes the *position* 32 times smaller than the word, and it takes the
# model long to hear it.
#
# ## Learned positions
#
# BERT, and row (E) of the paper's table 3, learn a vector for each position, as for each word.
# That is as good, say both. But a learned table ends, and what was never trained says nothing:

# %%
learned = LearnedPositions(8, 4)
learned(torch.tensor([[0, 1, 2]])).sum().backward()  # one text of three words
trained = learned.weight.grad.abs().sum(dim=1) > 0
assert trained.tolist() == [True] * 3 + [False] * 5

config = replace(TINY, vocabulary=50, encoder_layers=1, decoder_layers=0, max_positions=8)
model = Transformer(replace(config, positions="learned"))
message = refused(ShapeError, lambda: model.encode(torch.full((1, 9), 5)))
assert "max_positions=8" in message

# %% [markdown]
# Golding's text adds such a table to the words, then a layer norm and dropout, as BERT does.
# Those are the same parts here, put together otherwise:

# %%
bert_like = Embeddings(
    torch.nn.Embedding(30522, 768),
    LearnedPositions(8, 768),
    max_positions=8,
    pad=-1,  # this text counts padding as positions, too
    scaled=False,
    norm=torch.nn.LayerNorm(768, eps=1e-12),
    dropout=0.1,
).eval()
words_BT = torch.tensor([[7592, 2088, 0, 0, 0, 0], [1996, 4937, 2938, 2006, 1037, 13523]])
x_BTD = bert_like(words_BT).detach()
assert x_BTD.shape == (2, 6, 768)
assert same(x_BTD.mean(dim=-1), torch.zeros(2, 6))
assert not same(x_BTD[0, 2], x_BTD[0, 3])  # the same pad, two places

# %% [markdown]
# A sinusoid can be written down for any position. Whether a *model* can make sense of a place
# that it has never met is another question, and usually it cannot.
#
# ## Rotary: the rotation without the sum
#
# If a shift is a rotation, why not rotate? Rotary positions (Su et al. 2021) add nothing to the
# word. They turn each pair of a query's and a key's components by the angle of its position.
# Products of rotated vectors then depend on the distance alone, exactly, and not only in the part
# that was added:

# %%
q, k = torch.randn(2, 1, 1, 1, 64)  # BHTK
rotary = Rotary(64, max_positions=600)
near = (rotary(q, 3) * rotary(k, 10)).sum()
far = (rotary(q, 503) * rotary(k, 510)).sum()
lesson.expect("q·k at 3 and 10, less q·k at 503 and 510", near - far, -1e-3, 1e-3)
assert same(rotary(q, 100).norm(), q.norm(), within=1e-4)  # a rotation keeps lengths
assert not same(near, (rotary(q, 3) * rotary(k, 11)).sum(), within=1e-3)  # the distance counts

# %%
keys = rotary(k.expand(1, 1, 600, 64))[0, 0]
figure, plot = panels(1, width=8)
for place, style, colour in ((100, "-", "#0072B2"), (300, "--", "#D55E00")):
    scores = keys[place - 60 : place + 61] @ rotary(q, place)[0, 0, 0]
    plot.plot(range(-60, 61), scores.numpy(), style, color=colour, label=f"query at {place}")
plot.set(xlabel="distance from query to key", ylabel="q·k after rotation")
plot.legend(frameon=False)
lesson.show(
    figure, "rotary", "Scores by distance for a query at 100 and at 300: one curve on the other"
)

# %% [markdown]
# ### Exercise 3: turn it
#
# Rotate one vector `x_K` (an even number of components) as if it stood at `position`: the pair
# (x₀, x₁) by the angle position / 10000^(0/K), (x₂, x₃) by position / 10000^(2/K), and so on. To
# turn (a, b) by t is (a·cos t − b·sin t, a·sin t + b·cos t).


# %%
def rotate(x_K, position):
    """The vector as it stands at that position, K numbers."""
    ...


# %%
lesson.exercise(rotate)

# %% [markdown]
# ## What to remember
#
# - Without positions a Transformer's encoder sees a bag of words.
# - Sinusoids: sine and cosine of the same angle, wavelengths up to 10000 · 2π. A shift is then a
#   rotation, the same everywhere, and products depend on the distance.
# - A mistyped formula trains silently. Look at the table; check position 0, and one shift.
# - Learned positions end where the table ends; rotary ones turn queries and keys in place of
#   adding.
#
# ## Where it is in the code
#
# - `core/positions.py:sinusoidal_encoding`, `core/positions.py:LearnedPositions`,
#   `core/positions.py:Rotary`, `core/positions.py:TablePositions`
# - `core/embeddings.py:Embeddings.forward` scales words and adds positions
# - `core/config.py:TransformerConfig.positions` chooses
# - `insight/figures.py:positional_plot` draws them

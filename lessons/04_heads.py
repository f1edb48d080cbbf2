# %% [markdown]
# # Lesson 4 · Many heads
#
# One attention gives each position one blend. The paper lets eight of them run beside each other,
# each in a space of its own, and joins what they find. This lesson takes that apart, checks that
# one large projection is the same as eight small ones, and then looks at what the heads of a
# trained translator do.
#
# *Grew from:* "Transformer Demystified, part 1" by Paul Golding, sections "Multi-Head Attention
# (MHA)", "Parallel Architecture", "Attention Width", "Concatenated Output" and "Teaser: What
# Attention "Looks Like""; and the notebook "Transformer Encoder" of NVIDIA's Deep Learning
# Institute, sections 2.4 "Self-Attention", 2.4.2 "Visualization of Attention" and 2.5 "Multi-Head
# Attention".

# %%
import math

import torch

import allyouneed
from allyouneed.core.attention import MultiHeadAttention, attention
from allyouneed.errors import ConfigError
from allyouneed.insight.figures import head_grid, heatmap
from lesson import Lesson, panels, refused, same

lesson = Lesson("04_heads")

# %% [markdown]
# ## Self-attention in six steps
#
# In lesson 1 queries, keys and values fell from the sky. In a Transformer each word makes its
# own: three learned matrices turn its vector into what it asks, what it is found by, and what it
# tells. The notebook does it in six steps, word by word: (1) make q, k and v, (2) multiply the
# query with every key, (3) divide by √d_k, (4) softmax, (5) multiply each value with its weight,
# (6) sum. For one word:

# %%
X_SD = torch.randn(5, 16)  # five words, d_model = 16
W_Q, W_K, W_V = torch.randn(3, 16, 4)  # each d_model × d_k; the paper's are 512 × 64

q = X_SD[0] @ W_Q  # step 1, for the first word
keys, values = [x @ W_K for x in X_SD], [x @ W_V for x in X_SD]
scores = [q @ k for k in keys]  # step 2
scores = [score / math.sqrt(4) for score in scores]  # step 3
exponents = [math.exp(score) for score in scores]  # step 4
weights = [exponent / sum(exponents) for exponent in exponents]
weighted = [weight * v for weight, v in zip(weights, values, strict=True)]  # step 5
first = sum(weighted)  # step 6

# %% [markdown]
# And for all words at once, as matrices:

# %%
Q, K, V = X_SD @ W_Q, X_SD @ W_K, X_SD @ W_V
assert Q.shape == K.shape == V.shape == (5, 4)
Z, weights_BHTS = attention(Q[None, None], K[None, None], V[None, None])
assert same(Z[0, 0, 0], first, within=1e-4)
assert same(weights_BHTS[0, 0, 0], torch.tensor(weights), within=1e-5)

# %% [markdown]
# ## One blend is not enough
#
# Softmax weights are positive and sum to one, so what a head returns lies *between* the values it
# looks at. A head that wants two words gets their mean, and from a mean nobody can tell which was
# which:

# %%
values_SK = torch.tensor([[1.0, 0.0], [-1.0, 0.0], [0.0, 3.0]])
half_and_half = torch.tensor([0.5, 0.5, 0.0]) @ values_SK
assert half_and_half.tolist() == [0.0, 0.0]  # the first two cancel out: as if nobody was there

# %% [markdown]
# Two heads can look at one word each, and their answers are laid side by side: nothing cancels
# out.
#
# ## Split
#
# The heads' projections lie side by side in one matrix, W_Q of d_model × d_model. After the
# product the vector is cut into `heads` pieces of K numbers. These are Golding's own numbers: two
# sentences of two tokens, d_model = 8, four heads of width 2.

# %%
x_BTD = torch.tensor(
    [
        [[1.0, 2, 1, 2, 1, 2, 1, 2], [1, 2, 1, 2, 1, 2, 1, 2]],
        [[3, 4, 3, 4, 3, 4, 3, 4], [3, 4, 3, 4, 3, 4, 3, 4]],
    ]
)
heads = 4
x_BHTK = x_BTD.view(2, 2, heads, 2).transpose(1, 2)
assert x_BHTK.shape == (2, 4, 2, 2)
assert all(x_BHTK[0, head, token].tolist() == [1, 2] for head in range(4) for token in range(2))
assert all(x_BHTK[1, head, token].tolist() == [3, 4] for head in range(4) for token in range(2))
assert torch.equal(x_BHTK.transpose(1, 2).flatten(2), x_BTD)  # Concat is the way back

# %% [markdown]
# These numbers are so regular that they hide a slip. It is tempting to write `view(B, heads, T,
# K)` at once, without the transpose. The shape is right, and every head gets pieces of the wrong
# tokens. With eight numbers that differ one sees it:

# %%
x_BTD = torch.arange(16.0).view(1, 2, 8)  # token 0: 0 … 7, token 1: 8 … 15
right = x_BTD.view(1, 2, heads, 2).transpose(1, 2)
slipped = x_BTD.view(1, heads, 2, 2)
print("head 0 should see", right[0, 0].tolist(), "and not", slipped[0, 0].tolist())
assert right.shape == slipped.shape
assert right[0, 0].tolist() == [[0, 1], [8, 9]]  # the first two numbers of both tokens
assert slipped[0, 0].tolist() == [[0, 1], [2, 3]]  # four numbers of token 0, none of token 1

# %% [markdown]
# ### Exercise 1: split
#
# B × T × D in, B × heads × T × K out, K = D / heads.


# %%
def split(x_BTD, heads):
    """BTD → BHTK."""
    ...


# %%
lesson.exercise(split)

# %% [markdown]
# ## Split equals separate
#
# Is that the same as separate heads, each with small projections of its own, as figure 2 of the
# paper draws it? Take the package's module, cut its matrices into rows for each head, and run
# four little attentions in a loop.

# %%
d_model, K = 32, 8
multi_head = MultiHeadAttention(d_model, heads).eval()
x_BTD = torch.randn(2, 6, d_model)
W_Q, W_K, W_V = (
    part.weight.chunk(heads) for part in (multi_head.W_Q, multi_head.W_K, multi_head.W_V)
)
b_Q, b_K, b_V = (
    part.bias.chunk(heads) for part in (multi_head.W_Q, multi_head.W_K, multi_head.W_V)
)
with torch.no_grad():
    separate = []
    for head in range(heads):
        q, k, v = (
            (x_BTD @ W[head].T + b[head])[:, None] for W, b in ((W_Q, b_Q), (W_K, b_K), (W_V, b_V))
        )
        separate.append(attention(q, k, v)[0][:, 0])
    joined = multi_head.W_O(torch.cat(separate, dim=-1))
    together = multi_head(x_BTD, x_BTD)
lesson.expect("largest difference, separate and split", (joined - together).abs().max(), 0, 1e-5)

# %% [markdown]
# The same to the last digits, and one large product in place of four small ones.
#
# There is a third way to see it. Concat and W_O together are a *sum*: cut W_O into columns, and
# each head adds its own part to the result. That is why a head can be switched off by itself
# (lesson 10).

# %%
with torch.no_grad():
    parts = [
        head_BTK @ columns.T
        for head_BTK, columns in zip(
            separate, multi_head.W_O.weight.chunk(heads, dim=1), strict=True
        )
    ]
    assert same(sum(parts) + multi_head.W_O.bias, together, within=1e-5)

# %% [markdown]
# ## Heads have to divide the width
#
# 768 divided among 8 heads is 96 for each. 512 divided by 5 is not a whole number. Golding's text
# warns that the code "will fail when trying to transpose". Code that computes `d_model // heads`
# continues with 102 until the shapes of some product do not match. Here an error says so at once,
# and names widths that are possible:

# %%
message = refused(ConfigError, lambda: MultiHeadAttention(512, 5))
assert "heads=5 does not divide d_model=512" in message
assert "510 or 515" in message

# %% [markdown]
# ## What do more heads cost?
#
# Nothing, because the heads divide the width among them. Eight heads of width 64 have matrices of
# the same size as one head of width 512. If the width of a head is set separately (`head_width`;
# row (B) of the paper's table 3), the matrices have another size.


# %%
def weights_in(module):
    return sum(parameter.numel() for parameter in module.parameters())


shared_out = [weights_in(MultiHeadAttention(512, heads, bias=False)) for heads in (1, 2, 4, 8, 16)]
assert shared_out == [4 * 512 * 512] * 5
reduced = weights_in(MultiHeadAttention(512, 8, head_width=16, bias=False))
assert reduced == 4 * 512 * (8 * 16)
print(f"512 wide, any number of heads: {shared_out[0]:,} weights; 8 heads of width 16: {reduced:,}")

# %% [markdown]
# ### Exercise 2: count
#
# How many weights has an attention with these settings? Mind that W_Q, W_K, W_V go from d_model
# to heads · K and W_O back, and that with `bias` each has one number for each of its outputs.


# %%
def count(d_model, heads, head_width, bias):
    """The number of weights of W_Q, W_K, W_V and W_O."""
    ...


# %%
lesson.exercise(count, weights_in=weights_in)

# %% [markdown]
# ## What heads do
#
# Now a trained model: the English→German translator that comes with the package. How much does
# each head of its encoder look one token back, at itself, one token on? Over a few sentences:

# %%
translator = allyouneed.load("en-de", engine="core")


def looked(text):
    """The pieces of a text, and the encoder's weights, layers × heads × T × S."""
    tokens = translator.tokenizer.encode(text)
    with torch.no_grad(), allyouneed.capture(translator) as tape:
        translator.model.encode(torch.tensor([tokens.ids]))
    names = [name for name in tape if name.startswith("encoder")]
    return [piece.strip() for piece in tokens.pieces], torch.cat([tape[name] for name in names])


EATING = "I am looking for a place to eat."
texts = [
    EATING,
    "My sister lives in Berlin.",
    "We have to go home before it gets dark.",
    "Where is the train station?",
    "The children are playing in the garden.",
]
steps = {"one token back": -1, "at itself": 0, "one token on": 1}
grids = {name: {"encoder": torch.zeros(looked(EATING)[1].shape[:2])} for name in steps}
for text in texts:
    _, weights_LHTS = looked(text)
    for name, step in steps.items():
        diagonals_LHT = weights_LHTS.diagonal(step, dim1=-2, dim2=-1)
        grids[name]["encoder"] += diagonals_LHT.mean(-1) / len(texts)

lesson.show(
    head_grid(grids, title="mean weight over five sentences"),
    "grid",
    "Three grids of layers by heads, each with one or two cells that stand out",
)


def best(name):
    """The layer and head that do this most, and how much."""
    grid_LH = grids[name]["encoder"]
    layer, head = divmod(int(grid_LH.argmax()), grid_LH.size(1))
    return layer, head, grid_LH[layer, head]


for name in steps:
    layer, head, weight = best(name)
    lesson.expect(f"{name}: layer {layer}, head {head}", weight, 0.45, 0.95)

# %% [markdown]
# If every token looked everywhere alike, these would be near 0.1. A few heads have a plain job.
# Most do several things a little, and that is what trained models are like.
#
# NVIDIA's notebook draws one head over a sentence about eating, end of sentence included. Here is
# the head that looks back most:

# %%
pieces, weights_LHTS = looked(EATING)
assert pieces == ["I", "am", "looking", "for", "a", "place", "to", "eat", ".", "</s>"]
assert same(weights_LHTS.sum(-1), torch.ones(weights_LHTS.shape[:3]))

layer, head, _ = best("one token back")
weights_TS = weights_LHTS[layer, head]
figure = heatmap(weights_TS, pieces, pieces, title=f"encoder, layer {layer}, head {head}")
lesson.show(figure, "heat", "A heat map: most of the weight lies just below the diagonal")

most = {pieces[t]: pieces[int(weights_TS[t].argmax())] for t in range(1, len(pieces))}
print("looks most at:", most)
before = sum(most[pieces[t]] == pieces[t - 1] for t in range(1, len(pieces)))
lesson.expect("tokens of nine that look most at the one before", before, 5, 9)

# %% [markdown]
# Each row shows which tokens one token attends to. This head attends to the token before. Nobody
# programmed this; training found it useful.
#
# Where weights are more even, a map looks pale. Stretching every row from its least to its most
# shows whom each token looks at first, and hides how surely: the notebook does that on demand,
# and so does `stretched=True`. In the notebook's model `eat` looks most at the end of the
# sentence. Take the head that does so here:

# %%
eat = pieces.index("eat")
ends_LH = weights_LHTS[:, :, eat, -1]
layer, head = divmod(int(ends_LH.argmax()), ends_LH.size(1))
for name, stretched in (("raw", False), ("stretched", True)):
    title = f"encoder, layer {layer}, head {head}, {name}"
    figure = heatmap(weights_LHTS[layer, head], pieces, pieces, title=title, stretched=stretched)
    lesson.show(figure, name, "A heat map in which 'eat' looks at the end of the sentence")
lesson.expect(f"'eat' at the end, layer {layer}, head {head}", ends_LH[layer, head], 0.25, 1.0)
assert int((ends_LH[-1] > 0.5).sum()) == 3

# %% [markdown]
# Three of the last layer's four heads give more than half of the weight of `eat` to the end of the
# sentence. The weights of a head sum to one, so a head that finds no useful token still has to put
# its weight somewhere.
#
# ### Exercise 3: stretch
#
# Stretch every row so that its least weight becomes 0 and its largest 1. The notebook's
# `normalize` does it with a loop; and where all weights of a row are alike it divides by zero.
# Let such a row become zeros.


# %%
def stretch(weights_TS):
    """Every row scaled to the range from 0 to 1. A row of equal weights becomes zeros."""
    ...


# %%
lesson.exercise(stretch)

# %% [markdown]
# ## Who did it?
#
# Back to the two sentences of lesson 3. A verb would do well to look at its subject. On average
# over all heads, how much does it?

# %%
pair = ("The man did it, said the boy.", "The man said the boy did it.")
did_it = {pair[0]: {"did": "man", "said": "boy"}, pair[1]: {"did": "boy", "said": "man"}}
found = {}
for text, subjects in did_it.items():
    pieces, weights_LHTS = looked(text)
    mean_TS = weights_LHTS.mean(dim=(0, 1))
    for verb, subject in subjects.items():
        for noun in ("man", "boy"):
            found[text, verb, noun] = float(mean_TS[pieces.index(verb), pieces.index(noun)])
        other = {"man": "boy", "boy": "man"}[subject]
        ratio = found[text, verb, subject] / found[text, verb, other]
        lesson.expect(f"{text}  {verb} → {subject} over {verb} → {other}", ratio, 1.0, 20)
    print("    ", translator(text).text)

figure, plots = panels(2, width=9)
for plot, text in zip(plots, pair, strict=True):
    for offset, noun, colour in ((-0.2, "man", "#0072B2"), (0.2, "boy", "#D55E00")):
        heights = [found[text, verb, noun] for verb in ("did", "said")]
        plot.bar([offset, 1 + offset], heights, width=0.38, color=colour, label=noun)
    plot.set(title=text, xticks=(0, 1), xticklabels=("did looks at", "said looks at"))
plots[0].set_ylabel("mean weight")
plots[0].legend(frameon=False)
lesson.show(figure, "subjects", "In both sentences each verb looks more at its own subject")

# %% [markdown]
# The words are the same, the order differs, and the attention changes with it. Do not conclude too
# much: in these sentences the subject is also the *nearer* noun, and a mean over heads does not
# prove that the model knows grammar. To find out what a head does, switch it off. In the live view
# one click does that.
#
# ## Look for yourself
#
# The view has every head of both sentences, as lines and as maps. On the command line it is
# `allyouneed look "The man did it, said the boy." "The man said the boy did it."`

# %%
lesson.live_view("boy", *pair)

# %% [markdown]
# ## What to remember
#
# - One head gives one blend; several heads, side by side, can find several things.
# - Splitting one projection equals separate small ones. Split with `view` *and* `transpose`.
# - Heads share the width out, so they have to divide it, and cost nothing extra.
# - Concat and W_O are a sum over heads.
# - Some heads of a trained model have a job that can be named. Most have not.
#
# ## Where it is in the code
#
# - `core/attention.py:MultiHeadAttention`, its `core/attention.py:MultiHeadAttention.attend`
# - `core/config.py:width_of_head` refuses heads that do not divide the width
# - `insight/capture.py:capture` records weights, by `core/attention.py:Probe`
# - `insight/figures.py:heatmap`, `insight/figures.py:row_min_max`, `insight/figures.py:head_grid`
# - `widget/notebook.py:look` is the live view

# %% [markdown]
# # Lesson 1 · Attention is a soft look-up
#
# A dictionary answers a question when the key matches exactly. Attention is a dictionary that
# *always* answers. It compares the question with every key and returns a weighted mix of all
# values: the better a key matches the query, the larger the share of its value.
#
# In this lesson you build this look-up in three lines, hide positions from it, and measure its
# cost.
#
# *Grew from:* "Transformer Demystified, part 1" by Paul Golding, sections "Attention: Function,
# or Look-up Table?", "Scaled Dot-Product Attention" and "About Masking".

# %%
import math
import time

import torch
from torch.utils.flop_counter import FlopCounterMode

from allyouneed.core import masks
from allyouneed.core.attention import attention, masked_softmax
from allyouneed.errors import ShapeError
from lesson import Lesson, panels, refused, same

lesson = Lesson("01_attention")

# %% [markdown]
# ## From a dictionary to a blend
#
# Each of three words has a **key**, by which it is found, and a **value**, which it returns. Both
# are two numbers here, so that you can follow with a pencil. Keys and the **query** are
# directions; the product q · k is large where both point the same way.

# %%
words = ["boy", "ran", "street"]
keys_SK = torch.tensor([[1.0, 0.0], [0.8, 0.6], [0.0, 1.0]])
values_SK = torch.tensor([[10.0, 0.0], [20.0, 0.0], [0.0, 30.0]])
query_K = torch.tensor([2.0, 1.0])

scores_S = keys_SK @ query_K
print(dict(zip(words, scores_S.tolist(), strict=True)))
assert same(scores_S, [2.0, 2.2, 1.0])

# %% [markdown]
# `ran` matches best, `boy` nearly as well, `street` least. A dictionary would now return the
# value of `ran` and forget the rest. Attention turns the scores into weights that are positive
# and sum to one, by the **softmax**, and returns the weighted sum of the values. (The division by
# √d_k, here √2, is what lesson 2 is about.)

# %%
weights_S = (scores_S / math.sqrt(2)).softmax(dim=0)
blend_K = weights_S @ values_SK
for word, weight in zip(words, weights_S.tolist(), strict=True):
    print(f"{word:8} {weight:.3f}")
print("the answer:", [round(number, 2) for number in blend_K.tolist()])

assert same(weights_S, [0.378, 0.436, 0.186], within=5e-4)
assert same(weights_S.sum(), 1.0)

# %% [markdown]
# That is the whole of equation 1 in the paper, for one query. With a matrix of queries Q it reads
#
# $$\text{Attention}(Q, K, V) = \text{softmax}\left(\frac{QK^\top}{\sqrt{d_k}}\right) V$$
#
# and in this package it is `attention`, which returns the weights beside the result. It has two
# more axes in front: a batch, and the heads of lesson 4. The letters at the end of a name are its
# axes: `q_BHTK` is batch × heads × queries × width.

# %%
q_BHTK = query_K[None, None, None]
result_BHTK, weights_BHTS = attention(q_BHTK, keys_SK[None, None], values_SK[None, None])
assert result_BHTK.shape == (1, 1, 1, 2)
assert same(result_BHTK[0, 0, 0], blend_K)
assert same(weights_BHTS[0, 0, 0], weights_S)

# %% [markdown]
# **How soft is soft?** Make the query longer, and the differences between its scores grow. With a
# very long query the best key gets all the weight, as in a dictionary. With a shorter one, every
# weight changes smoothly with the scores. It has a gradient, so the projections that make queries
# and keys can be learned.

# %%
figure, plots = panels(4, height=2.6)
for plot, length in zip(plots, (0.25, 1, 4, 40), strict=True):
    _, weights_BHTS = attention(length * q_BHTK, keys_SK[None, None], values_SK[None, None])
    plot.bar(words, weights_BHTS[0, 0, 0].numpy(), color=["0.7", "#0072B2", "0.7"])
    plot.set(title=f"query × {length:g}", ylim=(0, 1.05))
plots[0].set_ylabel("weight")
lesson.show(figure, "softness", "Four bar charts: the longer the query, the more 'ran' takes all")

lesson.expect(
    "weight of the best key, query × 0.25", (0.25 * scores_S / 2**0.5).softmax(0)[1], 0.3, 0.4
)
lesson.expect("weight of the best key, query × 40", weights_BHTS.max(), 0.99, 1.0)

# %% [markdown]
# ### Exercise 1: the look-up
#
# Write attention for one query: `query_K` has K numbers, `keys_SK` a row for each key,
# `values_SV` a row for each value. Fill the body in and run the next cell.


# %%
def soft_look_up(query_K, keys_SK, values_SV):
    """The blend of the values, V numbers."""
    ...


# %%
lesson.exercise(soft_look_up)

# %% [markdown]
# ## Padding, and who must not be looked at
#
# Sentences of a batch have different lengths, but a tensor has one length. Short sentences are
# therefore padded with a pad token, which the softmax must ignore. These are two sentences of the
# document that this lesson grew from:

# %%
sentences = ["Hello world [PAD] [PAD] [PAD] [PAD]".split(), "The cat sat on a mat".split()]
lengths_B = torch.tensor([2, 6])
vocabulary = sorted({word for sentence in sentences for word in sentence})
table_VD = torch.randn(len(vocabulary), 768)
x_BSD = torch.stack(
    [torch.stack([table_VD[vocabulary.index(word)] for word in words]) for words in sentences]
)
scores_BSS = x_BSD @ x_BSD.mT / math.sqrt(768)
unmasked_BSS = scores_BSS.softmax(dim=-1)
print("a pad looks at:   ", [f"{weight:.2f}" for weight in unmasked_BSS[0, 5].tolist()])

# %% [markdown]
# The vectors are random and nothing is learned yet, so every word attends to itself and to equal
# words: the four pads share their attention among each other. `valid_lengths` makes a **mask** of
# the lengths. Masks are boolean here, and True always means *may look*.

# %%
may_look_B11S = masks.valid_lengths(lengths_B, 6)
assert may_look_B11S[0, 0, 0].tolist() == [True, True, False, False, False, False]
assert may_look_B11S[1, 0, 0].all()

weights_BHSS = masked_softmax(scores_BSS[:, None], may_look_B11S)
print("after the mask:   ", [f"{weight:.2f}" for weight in weights_BHSS[0, 0, 5].tolist()])
assert weights_BHSS[0, 0, :, 2:].eq(0).all()  # nobody looks at a pad
assert same(weights_BHSS.sum(-1), torch.ones(2, 1, 6))  # and every row still sums to one
assert same(weights_BHSS[1, 0], unmasked_BSS[1])  # the full sentence is as it was
lesson.expect("weight of 'cat' on itself", weights_BHSS[1, 0, 1, 1], 0.999, 1.0)

# %% [markdown]
# The pads are still queries: they attend to `Hello` and `world`. This does no harm. No word attends
# to the pads, so their results are never used.
#
# Lengths may also be given one for each query, with the axes BT. That is how a query can be told
# to look at so many keys and no more:

# %%
lengths_BT = torch.tensor([[1, 2, 3, 4], [4, 4, 2, 2]])
two_d = masked_softmax(torch.zeros(2, 1, 4, 4), masks.valid_lengths(lengths_BT, 4))
print(two_d[0, 0])
assert same(two_d[0, 0, 2], [1 / 3, 1 / 3, 1 / 3, 0])
assert same(two_d[1, 0, 3], [1 / 2, 1 / 2, 0, 0])

# %% [markdown]
# What about a length of seven in a sentence of six? The document says that its code accepts it, and
# that an error would be better. Here it is an error that names the limit:

# %%
message = refused(ShapeError, lambda: masks.valid_lengths(torch.tensor([2, 7]), 6))
assert "0 … 6" in message

# %% [markdown]
# ## A slip: writing into what was given
#
# The document masks like this, in short: flatten the scores, overwrite what is hidden, softmax.


# %%
def overwriting_softmax(scores_BTS, lengths_B):
    """As in the document: it writes into its argument."""
    flat = scores_BTS.reshape(-1, scores_BTS.shape[-1])  # no copy: the same numbers in memory
    hidden = (
        torch.arange(flat.shape[1]) >= lengths_B.repeat_interleave(scores_BTS.shape[1])[:, None]
    )
    flat[hidden] = -1e6
    return scores_BTS.softmax(dim=-1)


scores_BTS = torch.zeros(1, 1, 4)
first = overwriting_softmax(scores_BTS, torch.tensor([2]))
second = overwriting_softmax(scores_BTS, torch.tensor([4]))  # now all four may be looked at
print("scores afterwards:", scores_BTS[0, 0].tolist())
print("the second answer:", second[0, 0].tolist(), "and it should be a quarter each")
assert same(first[0, 0], [0.5, 0.5, 0, 0])  # right, the first time
assert scores_BTS[0, 0, 2:].tolist() == [-1e6, -1e6]  # but the scores are spoilt
assert same(second[0, 0], [0.5, 0.5, 0, 0])  # so the second time it is wrong

# %% [markdown]
# The second call answers for a sentence of two words, though it was told four: the first call had
# left its −1,000,000 in the caller's scores. `masked_softmax` leaves its input alone.

# %%
scores_BHTS = torch.zeros(1, 1, 1, 4)
masked_softmax(scores_BHTS, masks.valid_lengths(torch.tensor([2]), 4))
again = masked_softmax(scores_BHTS, masks.valid_lengths(torch.tensor([4]), 4))
assert scores_BHTS.eq(0).all()
assert same(again[0, 0, 0], [0.25] * 4)

# %% [markdown]
# Large negative scores have a second problem: a query that may look at *no* key. If all its scores
# are −10⁶, the softmax is uniform, so the query attends to everything that was hidden. With −∞ the
# softmax is 0 / 0, which is not a number. In this package such a row gives zeros.

# %%
nothing = torch.zeros(1, 1, 1, 4, dtype=torch.bool)
by_a_million = torch.zeros(4).masked_fill(~nothing[0, 0, 0], -1e6).softmax(0)
by_infinity = torch.zeros(4).masked_fill(~nothing[0, 0, 0], -torch.inf).softmax(0)
ours = masked_softmax(scores_BHTS, nothing)[0, 0, 0]
print("−1e6:", by_a_million.tolist(), " −∞:", by_infinity.tolist(), " here:", ours.tolist())
assert same(by_a_million, [0.25] * 4)
assert by_infinity.isnan().all()
assert ours.eq(0).all()

# %% [markdown]
# ### Exercise 2: valid lengths
#
# Write the mask yourself: for B lengths and `size` keys a boolean tensor of B rows and `size`
# columns, True = may look. Let a length above `size`, or below 0, raise a `ValueError`.


# %%
def may_look_at(lengths_B, size):
    """A boolean mask, B rows and `size` columns."""
    ...


# %%
lesson.exercise(may_look_at)

# %% [markdown]
# ## Four masks
#
# Masks are combined with `&`. Two more masks are the same for every sentence. With the **causal**
# mask a position sees itself and earlier positions (lesson 7). With the **window** mask it sees its
# neighbours: the paper's section 4 calls this *restricted* self-attention, and the document's
# `window_mask` is of this kind.

# %%
size = 8
drawn = {
    "valid length 5": masks.valid_lengths(torch.tensor([5]), size).expand(1, 1, size, size),
    "causal": masks.causal(size),
    "window of reach 2": masks.window(size, size, reach=2),
    "causal & window": masks.causal(size) & masks.window(size, size, reach=2),
}
figure, plots = panels(4, height=2.9)
for plot, (name, may_look) in zip(plots, drawn.items(), strict=True):
    plot.imshow(may_look[0, 0].float().numpy(), cmap="Blues", vmin=0, vmax=1.3)
    plot.set(title=name, xlabel="key", xticks=range(size), yticks=range(size))
plots[0].set_ylabel("query")
lesson.show(figure, "masks", "Four 8 by 8 grids in which the pairs that may look are filled")

assert {name: int(may_look.sum()) for name, may_look in drawn.items()} == {
    "valid length 5": 40,
    "causal": 36,
    "window of reach 2": 34,
    "causal & window": 21,
}

# %% [markdown]
# ### Exercise 3: a window with one window-less key
#
# A model for long texts may let every position see its neighbours *and the first token*, which
# collects what the whole text is about. The first token itself sees everything. Make that mask,
# `size` by `size`, rows are queries.


# %%
def window_and_first(size, reach):
    """A boolean mask of queries × keys: neighbours, and the first token both ways."""
    ...


# %%
lesson.exercise(window_and_first)

# %% [markdown]
# ## No width, no length, no order
#
# The formula has no weights, so it fixes neither the length of the text nor the width of a vector.
# The same function takes 5 positions of width 10 and 3 positions of width 12.

# %%
for length, width in ((5, 10), (3, 12)):
    x_BHTK = torch.randn(2, 1, length, width)
    assert attention(x_BHTK, x_BHTK, x_BHTK)[0].shape == x_BHTK.shape

# %% [markdown]
# The formula also ignores the order. Shuffle the keys together with their values, and every result
# is the same, as in a look-up table whose entries are in another order. Language needs an order;
# lesson 3 adds it.

# %%
q, k, v = torch.randn(3, 1, 1, 6, 16)
order = torch.randperm(6)
assert same(attention(q, k[:, :, order], v[:, :, order])[0], attention(q, k, v)[0])

# %% [markdown]
# ## What it costs
#
# Every query is compared with every key: n positions make n² products of width d. Count the
# multiplications and additions of both matrix products, for one to eight times as many positions:

# %%
lengths = [length * lesson.size(256, fast=64) for length in (1, 2, 4, 8)]
texts = [torch.randn(1, 1, length, 64) for length in lengths]
operations = []
for x in texts:
    with FlopCounterMode(display=False) as counter:
        attention(x, x, x)
    operations.append(counter.get_total_flops())
    print(f"{x.size(2):5} positions: {operations[-1] / 1e6:8.1f} million operations")

assert operations[0] == 2 * 2 * lengths[0] ** 2 * 64  # QKᵀ and the blend, a product and a sum each
assert [count // operations[0] for count in operations] == [1, 4, 16, 64]

# %% [markdown]
# Twice the text, four times the work. The clock agrees, though less exactly: a small text fits
# into the processor's fastest memory, a long one does not. With logarithmic axes a power is a
# straight line, and its slope is the exponent.


# %%
def took(x):
    """Seconds that one attention takes."""
    begin = time.perf_counter()
    attention(x, x, x)
    return time.perf_counter() - begin


rounds = [[took(x) for x in texts] for _ in range(9)]
seconds = [min(times) for times in zip(*rounds, strict=True)]  # the least disturbed of nine
logs = torch.tensor([[math.log(length), 1.0] for length in lengths])
slope = torch.linalg.lstsq(logs, torch.tensor(seconds).log()[:, None]).solution[0, 0]
lesson.expect("time grows with the power", slope, 1.0, 3.5)

figure, plot = panels(1, width=6)
plot.loglog(lengths, seconds, "o-", color="#0072B2", label="measured")
square = [seconds[-1] * (length / lengths[-1]) ** 2 for length in lengths]
plot.loglog(lengths, square, "--", color="0.5", label="n²")
plot.set(xlabel="positions n", ylabel="seconds", xticks=lengths, xticklabels=lengths)
plot.minorticks_off()
plot.legend(frameon=False)
lesson.show(
    figure, "cost", "Seconds over positions, both logarithmic: a line as steep as n squared"
)

# %% [markdown]
# A window of reach r leaves about 2r + 1 keys for each query, so its cost *could* grow linearly
# with n. A mask, however, only hides pairs: their scores are still computed, so the cost is the
# same.

# %% [markdown]
# ## What to remember
#
# - Attention compares a query with all keys, turns the scores into weights by a softmax, and
#   returns the weighted sum of the values.
# - A mask says which keys a query may look at. True = may look, everywhere in this package. Hidden
#   keys get a weight of exactly 0, and a query that may look at no key gives zeros.
# - A function that overwrites its arguments gives a wrong result at the second call.
# - Attention has no weights, ignores the order, and costs n² products.
#
# ## Where it is in the code
#
# - `core/attention.py:attention` is equation 1, `core/attention.py:masked_softmax` its softmax
# - `core/attention.py:fused_attention` is the same in one kernel; a test holds that both agree
# - `core/masks.py:valid_lengths`, `core/masks.py:window`, `core/masks.py:causal`,
#   `core/masks.py:padding`

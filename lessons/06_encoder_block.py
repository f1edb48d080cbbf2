# %% [markdown]
# # Lesson 6 · The encoder block: a set in, a set out
#
# An encoder block has two sub-layers, each inside a residual connection (lesson 5). The first one,
# attention, moves information between tokens. The second one, the feed-forward network, processes
# each token by itself. This lesson measures which token influences which, shows that without
# positions the block ignores the order of tokens, and reads entries of the memory in the
# feed-forward network.
#
# *Grew from:* "Transformer Demystified, part 1" by Paul Golding, sections "Where Are We?", "Final
# Feed-Forward Network", "Position-wise?" and "Encoder Block"; and the notebook "Transformer
# Encoder" of NVIDIA's Deep Learning Institute, section 2.5 "Multi-Head Attention", whose steps of
# a block are below.

# %%
from dataclasses import replace

import torch
from torch import nn

import allyouneed
from allyouneed import Transformer
from allyouneed.core.config import BASE, TINY
from allyouneed.core.feed_forward import FeedForward
from allyouneed.core.transformer import encoder_layer
from allyouneed.insight.memories import memories
from lesson import Lesson, panels, same
from sentences import PAIRS, tatoeba

lesson = Lesson("06_encoder_block")

# %% [markdown]
# ## The block in three lines
#
# The NVIDIA notebook sums the encoder up in three steps: embeddings plus positions; then
# attention, added and normalised; then the feed-forward network, added and normalised. Here are
# steps two and three in plain lines beside the package's class, on vectors drawn at random.

# %%
shape = replace(TINY, vocabulary=64, dropout=0.0)  # d_model 128, 4 heads, d_ff 256
block = encoder_layer(shape).eval()
step1_BSD = torch.randn(2, 7, shape.d_model)

with torch.no_grad():
    attended_BSD = block.self_attention(step1_BSD, step1_BSD)
    step2_BSD = block.self_attention_residual.norm(attended_BSD + step1_BSD)
    step3_BSD = block.feed_forward_residual.norm(block.feed_forward(step2_BSD) + step2_BSD)
    assert same(block(step1_BSD), step3_BSD)
print("what goes in:", tuple(step1_BSD.shape), " what comes out:", tuple(step3_BSD.shape))

# %% [markdown]
# (The Demystified document says at one place that the outputs go "through a batch norm". It is a
# layer norm, as that document's own code has it: each position is normalised by itself, so a
# sentence does not change with the others in its batch.)
#
# ## Who influences whom
#
# Change one position a little, and look at which outputs move. Do it for every position: a row
# for each output, a column for each input that was touched.


# %%
@torch.no_grad()
def influence(layer, x_SD):
    """How far each output position (row) moves when one input position (column) is nudged."""
    moved = torch.zeros(len(x_SD), len(x_SD))
    before = layer(x_SD[None])[0]
    for position in range(len(x_SD)):
        nudged = x_SD.clone()
        nudged[position] += 0.1 * torch.randn(x_SD.size(1))
        moved[:, position] = (layer(nudged[None])[0] - before).norm(dim=-1)
    return moved


x_SD = torch.randn(7, shape.d_model)
layers = {
    "attention": lambda x: block.self_attention(x, x),
    "feed-forward network": block.feed_forward,
    "the whole block": block,
}
figure, plots = panels(3, height=3.7)
for plot, (name, layer) in zip(plots, layers.items(), strict=True):
    moved = influence(layer, x_SD)
    plot.imshow((moved / moved.max()).sqrt().numpy(), cmap="Blues", vmin=0, vmax=1)
    plot.set(title=name, xlabel="position nudged", xticks=range(7), yticks=range(7))
plots[0].set_ylabel("output that moved")
lesson.show(
    figure, "influence", "Three grids: attention all filled, feed-forward a diagonal, block filled"
)

elsewhere = ~torch.eye(7, dtype=torch.bool)
assert influence(layers["attention"], x_SD).gt(0).all()  # everybody hears everybody
assert influence(block.feed_forward, x_SD)[elsewhere].eq(0).all()  # nobody hears a neighbour
assert influence(block, x_SD).gt(0).all()

# %% [markdown]
# Only attention moves information from one position to another. Everything a Transformer knows
# about *several* words has passed through some head.
#
# ## The same map at every position, and a check that cannot fail
#
# The feed-forward network is called position-wise because every position goes through the same
# weights. The Demystified document confirms it with this line (names shortened):
#
# ```
# identical = all(output[0, 0, :] == output[0, 0, :])
# ```
#
# Look closely. It compares position 0 with itself. To see what such a check is worth, give it a
# network that is *not* position-wise: one with weights of its own for every position.


# %%
class OneNetworkForEachPosition(nn.Module):
    """What a position-wise network is not."""

    def __init__(self, positions, d_model, d_ff):
        super().__init__()
        self.networks = nn.ModuleList(
            FeedForward(d_model, d_ff, nn.ReLU()) for _ in range(positions)
        )

    def forward(self, x_BTD):
        return torch.stack([f(x_BTD[:, t]) for t, f in enumerate(self.networks)], dim=1)


right = FeedForward(40, 10, nn.ReLU())
wrong = OneNetworkForEachPosition(4, 40, 10)
ones = torch.ones(1, 4, 40)


@torch.no_grad()
def as_in_the_document(network):
    output = network(ones)
    return bool((output[0, 0, :] == output[0, 0, :]).all())


@torch.no_grad()
def put_right(network):
    """The same vector at every position must come out the same at every position."""
    output = network(torch.randn(1, 1, 40).expand(1, 4, 40))
    return same(output, output[:, :1].expand_as(output))


print("the document's check:", as_in_the_document(right), as_in_the_document(wrong))
print("put right:           ", put_right(right), put_right(wrong))
assert [as_in_the_document(right), as_in_the_document(wrong)] == [True, True]  # it cannot fail
assert [put_right(right), put_right(wrong)] == [True, False]

# %% [markdown]
# Trust a check only after you have seen it fail. (Some tests of this package break the code on
# purpose and verify that another test notices.)
#
# ## Set to set
#
# Attention blends without regard to order (lesson 1), and the feed-forward network treats all
# positions alike. So if the tokens are shuffled, the outputs should be the same outputs,
# shuffled. That is called **permutation equivariance**, and it holds for a stack of blocks,
# however deep.

# %%
words = "the man did it said boy".split()
ids = {word: number for number, word in enumerate(words, start=3)}
one = torch.tensor([[ids[word] for word in "the man did it said the boy".split()]])
other = torch.tensor([[ids[word] for word in "the man said the boy did it".split()]])
order = [0, 1, 4, 5, 6, 2, 3]  # the second sentence is the first one in this order
assert torch.equal(one[:, order], other)

deep = replace(shape, encoder_layers=6)
no_order = Transformer(replace(deep, positions="none")).eval()
with_order = Transformer(replace(deep, positions="sinusoidal")).eval()


@torch.no_grad()
def moved_by_order(model):
    """How far each word's vector in one sentence is from the same word's in the other."""
    first, second = model.encode(one).states_BSD[0], model.encode(other).states_BSD[0]
    return (first[order] - second).norm(dim=-1)


without, with_ = moved_by_order(no_order), moved_by_order(with_order)
lesson.expect("without positions, the farthest word moved by", without.max(), 0, 1e-4)
lesson.expect("with sinusoids, the nearest word moved by", with_[2:].min(), 0.1, 100)

figure, plot = panels(1, width=8)
places = torch.arange(7)
labels = [
    f"{word}\n({number})" for number, word in enumerate("the man said the boy did it".split())
]
plot.bar(places - 0.2, without.numpy(), 0.4, label="no positions", color="#D55E00")
plot.bar(places + 0.2, with_.numpy(), 0.4, label="sinusoids", color="#0072B2")
plot.set(xticks=places, xticklabels=labels, ylabel="distance", ylim=(0, 2.2))
plot.legend(frameon=False, ncols=2, loc="upper right")
lesson.show(
    figure, "order", "Bars of every word: all 0 without positions, well above with sinusoids"
)

# %% [markdown]
# *The man did it, said the boy* and *The man said the boy did it*: six layers deep, every word of
# the first has exactly the vector of the same word in the second. No further layer can tell who did
# it, with any amount of training. With positions (lesson 3) the vectors differ. (The first two
# words stand in the same places in both sentences; their vectors move too, because their
# neighbours do.)
#
# ### Exercise 1: a test that can fail
#
# Write a test for set-to-set: given a function that maps N vectors to N vectors, `True` if
# shuffling the input only shuffles the output. Your test will be given honest functions and
# cheats.


# %%
def is_set_to_set(function, x_ND):
    """Whether function(x shuffled) is function(x), shuffled."""
    ...


# %%
lesson.exercise(is_set_to_set)

# %% [markdown]
# ## Where the weights are
#
# Attention has four matrices of d × d, the feed-forward network two of d × 4d. So two thirds of a
# block's weights are in the network that no picture of attention shows.

# %%
base = encoder_layer(BASE)
sizes = {
    name: sum(parameter.numel() for parameter in part.parameters())
    for name, part in (("attention", base.self_attention), ("feed-forward", base.feed_forward))
}
print(sizes)
assert sizes["attention"] == 4 * (512 * 512 + 512)
assert sizes["feed-forward"] == 2 * 512 * 2048 + 2048 + 512
share = sizes["feed-forward"] / sum(sizes.values())
lesson.expect("the feed-forward network's share of the weights", share, 0.66, 0.68)

# %% [markdown]
# ## A memory with keys and values
#
# What do they do there? Write equation 2 of the paper hidden unit by hidden unit:
#
# $$\text{FFN}(x) = \sum_f \max(0,\; k_f \cdot x + b_f)\; v_f \;+\; b$$
#
# where $k_f$ is row f of the first matrix and $v_f$ column f of the second. That is a look-up
# again, as in lesson 1: compare x with every key, and blend the values. Two things differ: the
# keys and values are learned and the same for every text, and in place of a softmax there is a
# ReLU, so any number of entries may answer, or none. Geva et al. (2021), whom the Demystified
# document follows, looked into such memories; we do the same.
#
# ### Exercise 2: read the memory
#
# Write that sum for one x. There are F keys (FD), F biases, F values (FD) and one bias D at the
# end.


# %%
def read_memory(x_D, keys_FD, biases_F, values_FD, bias_D):
    """FFN(x) as a look-up: D numbers."""
    ...


# %%
lesson.exercise(read_memory)

# %% [markdown]
# ## Opening a trained one
#
# The bundled translator has 1,024 units in the feed-forward network of its last decoder layer.
# `memories` reads pairs of sentences, and keeps for every unit the beginnings of German sentences
# that excite it most: what its **key** stands for. Its **value** is a vector of the model, so it
# can be held against the output projection: which next tokens does it speak for?
#
# Where the data folder is there, the sentences are some of those that the model was trained on;
# otherwise the few dozen that come with the lessons.

# %%
translator = allyouneed.load("en-de", engine="core")
pairs = [] if lesson.fast else tatoeba(every=100)
if not pairs:
    print("(reading the lessons' own sentences)")
    pairs = PAIRS
FEED_FORWARD = "decoder.layers.1.feed_forward"
found = memories(translator, pairs, FEED_FORWARD, keep=10)
print(f"{len(pairs)} pairs read, {len(found)} units")


def tell(unit):
    memory = found[unit]
    print(f"unit {unit} speaks for", " ".join(repr(piece) for piece, _ in memory.promotes[:6]))
    for excitement in memory.excited_by[:3]:
        print(f"   {excitement.activation:5.1f}  {excitement.prefix} ...")


for unit in (717, 440, 884, 996):
    tell(unit)

# %% [markdown]
# Read each as a key and a value. Among the training sentences, unit 717 is active after the verb of
# a polite request (*Stellen …*, *Geben …*) and promotes ` Sie`. Unit 440 is active inside
# infinitive clauses and promotes ` zu`. Unit 884 is active after a *du*, before its verb or the
# verb's ending (*Du …*, *dass du mich belogen …*), and promotes `est`, `st` and verbs of the
# second person (*wirst*, *bist*, *weißt*): all its ten tokens end in *st* or *ßt*. Unit 996 is
# active when a sentence is complete and promotes the end token. Nobody taught the model about
# polite requests, second persons, infinitives and full stops.

# %%
assert found[717].promotes[0][0] == " Sie"
assert found[440].promotes[0][0] == " zu"
assert all(piece.endswith(("st", "ßt")) for piece, _ in found[884].promotes)
assert len(found[884].promotes) == 10
assert found[996].promotes[0][0] == "</s>"
assert all(one.prefix.endswith((".", "!", "?")) for one in found[996].excited_by[:3])

# %% [markdown]
# Those are hand-picked, so count over all 1,024. Take the beginning that excites a unit most. Is
# the token that really comes next among the ten that the unit speaks for? To know what chance
# would give, ask the same of another unit's ten.


# %%
def next_token(excitement):
    """The token that follows the prefix in the corpus; None where it is not cut at a whole one."""
    tokenizer = translator.tokenizer
    target = tokenizer.encode(pairs[excitement.number - 1][1].strip()).ids
    for count in range(len(target)):
        if tokenizer.decode(target[:count]) == excitement.prefix:
            return tokenizer.piece(target[count])
    return None


units = list(found)
comes = [next_token(memory.excited_by[0]) for memory in units]
promoted = [{piece for piece, _ in memory.promotes} for memory in units]
hits = sum(token in own for token, own in zip(comes, promoted, strict=True))
chance = sum(
    token in own for token, own in zip(comes, promoted[512:] + promoted[:512], strict=True)
)
lesson.expect("units whose value names what comes next, of 1,024", hits, 60, 400)
lesson.expect("the same with another unit's value", chance, 0, 40)
assert hits > 4 * chance

figure, plot = panels(1, width=7, height=2.2)
plot.barh(
    ["another unit's value", "the unit's own value"], [chance, hits], color=["0.7", "#0072B2"]
)
plot.set(xlabel="units of 1,024 whose ten tokens hold the next one")
lesson.show(figure, "memories", "Two bars: a unit's own value names the next token far more often")

# %% [markdown]
# The comparison with a memory is useful but not complete. Most units cannot be read in this way:
# several work together, and later layers change their result.
#
# ### Exercise 3: what does a value speak for?
#
# Write it yourself: the row numbers of the `count` tokens whose output vectors go best with a
# value. `output_VD` is the output projection.


# %%
def speaks_for(value_D, output_VD, count):
    """The `count` best row numbers, best first, as a list."""
    ...


# %%
lesson.exercise(speaks_for, translator=translator, found=found)

# %% [markdown]
# ## What to remember
#
# - Attention moves information between positions. The feed-forward network works on each position
#   by itself.
# - Without positions an encoder maps a set to a set: shuffling the input only shuffles the output.
#   Training does not change that.
# - A check that compares a value with itself cannot fail. See every check fail once.
# - Two thirds of a block's weights are in the feed-forward network. They work like a memory: keys
#   match contexts, and values promote tokens.
#
# ## Where it is in the code
#
# - `core/encoder.py:EncoderLayer`, and `core/encoder.py:Encoder` for the stack
# - `core/feed_forward.py:FeedForward` is equation 2
# - `core/residual.py:PostNorm` adds and normalises
# - `insight/memories.py:memories`, `insight/memories.py:promoted_tokens`

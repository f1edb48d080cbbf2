# %% [markdown]
# # Lesson 7 · The decoder: never look ahead
#
# The encoder reads a whole sentence at once. The decoder writes a sentence word by word: when it
# writes a word, the next ones do not exist yet. In training, however, it gets whole sentences and
# computes all positions at the same time. The causal mask, a triangle of zeros, makes both give the
# same result.
#
# In this lesson you measure that triangle, take it away and watch the model cheat, find a slip in
# a published mask, and see that decoding step by step with a cache gives what a whole pass gives.
#
# *Grew from:* the notebook "The Encoder" of the chat robot Chloe, whose decoder layer and teacher
# forcing are below; the README "Transformer" of a base model, section "Transformer", the function
# `make_trg_mask`; and an untitled notebook that builds a Transformer from scratch (its first
# heading is "Embedding"), section "Basic Decoder Layer".

# %%
from dataclasses import replace
from unittest.mock import patch

import torch
from torch.nn.functional import cross_entropy

from allyouneed import Transformer, capture
from allyouneed.core import masks
from allyouneed.core.config import TINY
from lesson import Lesson, panels, same

lesson = Lesson("07_decoder")
PAD, START, END = 0, 1, 2

# %% [markdown]
# ## Teacher forcing
#
# To train the robot to answer *see ya*, Chloe's document feeds its decoder `<sos> see ya` and
# compares what comes out with `see ya <eos>`. The paper calls the input "shifted right". Every
# position is asked a question of its own: after `<sos>`, what? after `<sos> see`, what? The
# decoder is given the *right* beginning each time, whatever it would have said itself; hence the
# name.
#
# ### Exercise 1: shifted right
#
# Targets come as ids that end in 2 (the end), filled up with 0 (pad). Make the decoder's input of
# the same size: start (1) in front, the last column gone.


# %%
def shifted_right(target_BT):
    """The decoder's input, BT."""
    ...


# %%
lesson.exercise(shifted_right)

# %% [markdown]
# (In the first row the input ends in the end token, and the question "what comes after the end?"
# has the answer pad. The loss leaves that position out.)
#
# ## The triangle, measured
#
# A model with random weights is good enough. Change one token of the decoder's input, and see
# which of its outputs move; then the same with the tokens of the source.

# %%
shape = replace(TINY, vocabulary=40, encoder_layers=2, decoder_layers=2, dropout=0.0)
model = Transformer(shape).eval()
source_BS = torch.randint(3, 40, (1, 6))
input_BT = torch.cat([torch.tensor([[START]]), torch.randint(3, 40, (1, 7))], dim=1)
with torch.no_grad():
    logits_BTV = model(source_BS, input_BT)
assert logits_BTV.shape == (1, 8, 40)  # batch first; one distribution for each position


@torch.no_grad()
def moved(of_source):
    """How far the logits of each target position (row) move when one token (column) changes."""
    ids = source_BS if of_source else input_BT
    distances = torch.zeros(8, ids.size(1))
    for position in range(ids.size(1)):
        changed = ids.clone()
        changed[0, position] = 3 + (changed[0, position] - 2) % 37  # any other word
        pair = (changed, input_BT) if of_source else (source_BS, changed)
        distances[:, position] = (model(*pair) - logits_BTV)[0].norm(dim=-1)
    return distances


by_target, by_source = moved(of_source=False), moved(of_source=True)
figure, plots = panels(2, width=7.5, height=4.2)
sides = (("a token of the target", by_target), ("a token of the source", by_source))
for plot, (name, distances) in zip(plots, sides, strict=True):
    plot.imshow((distances / distances.max()).sqrt().numpy(), cmap="Blues", vmin=0, vmax=1)
    plot.set(title=f"{name} changes", xlabel="position changed", ylabel="output that moved")
    plot.set(xticks=range(distances.size(1)), yticks=range(8))
lesson.show(figure, "triangle", "Left a filled lower triangle, right a filled rectangle")

future = torch.ones(8, 8).triu(1).bool()
lesson.expect("movement of outputs before the change", by_target[future].max(), 0, 1e-5)
lesson.expect("least movement of those from it on", by_target[~future].min(), 1e-3, 100)
lesson.expect("least movement by a source token", by_source.min(), 1e-4, 100)

# %% [markdown]
# The left picture is **causality**: an output depends on the tokens up to its own, and on nothing
# later, though all were computed together. The right one is **cross-attention**: the queries come
# from the decoder, the keys and values from the encoder's output, and nothing of the source is
# hidden.
#
# The document on the chat robot says that the decoder attends to its own words so that it does not
# repeat them ("I see see you now"). This explains self-attention. To see what the *mask* is for, we
# remove it.
#
# ## A model that cheats
#
# The task is hopeless on purpose: eight letters of 32, drawn at random, with a source that says
# nothing. Nobody can predict them, so no honest loss falls below ln 32 = 3.47 nats. We train the
# same small model twice, once as it is, and once with the triangle replaced by "look wherever you
# like".


# %%
def everything(length, device=None):
    """In the place of the causal mask: no future is hidden."""
    return torch.ones(1, 1, length, length, dtype=torch.bool, device=device)


def letters(count):
    return torch.randint(3, 35, (count, 8))


def with_start(target_BT):
    return torch.cat([torch.full((len(target_BT), 1), START), target_BT[:, :-1]], dim=1)


def loss_of(student, target_BT):
    """Nats per letter, by teacher forcing."""
    source_BS = torch.full((len(target_BT), 1), END)
    return cross_entropy(
        student(source_BS, with_start(target_BT)).flatten(0, 1), target_BT.flatten()
    )


def train(steps):
    torch.manual_seed(0)
    student = Transformer(replace(shape, d_model=64, d_ff=128, encoder_layers=1))
    optimizer = torch.optim.Adam(student.parameters(), lr=2e-3, betas=(0.9, 0.98))
    losses = []
    for _ in range(steps):
        loss = loss_of(student, letters(48))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return student.eval(), losses


steps = lesson.size(250, fast=150)
honest, honest_losses = train(steps)
with patch.object(masks, "causal", everything):
    cheat, cheat_losses = train(steps)

figure, plot = panels(1, width=6.5)
plot.plot(honest_losses, color="#0072B2", label="with the triangle")
plot.plot(cheat_losses, "--", color="#D55E00", label="without")
plot.axhline(torch.tensor(32.0).log(), color="0.6", linewidth=0.8, zorder=0)
plot.set(xlabel="step", ylabel="nats per letter", ylim=(0, 5))
plot.legend(frameon=False)
lesson.show(figure, "cheating", "With the mask the loss stays at 3.47; without it falls far below")

lesson.expect("loss with the triangle", sum(honest_losses[-20:]) / 20, 3.4, 3.8)
lesson.expect("loss without", sum(cheat_losses[-20:]) / 20, 0, 2)

# %% [markdown]
# The loss is far below what is possible, because position t reads the answer at position t + 1.
# When the model has to write, there is no position t + 1 to read. `step` decodes one position at a
# time, so it cannot see later positions:


# %%
@torch.no_grad()
def loss_in_steps(student, target_BT):
    """The same loss, but each letter is predicted before the next one is shown."""
    source_BS, input_BT = torch.full((len(target_BT), 1), END), with_start(target_BT)
    cache = student.start(student.encode(source_BS), hypotheses=1, max_length=8)
    logits = [student.step(input_BT[:, t, None], cache)[:, 0] for t in range(8)]
    return cross_entropy(torch.stack(logits, dim=1).flatten(0, 1), target_BT.flatten())


new = letters(64)
lesson.expect("with the triangle, step by step", loss_in_steps(honest, new), 3.4, 3.9)
lesson.expect("without, step by step", loss_in_steps(cheat, new), 4.5, 50)

# %% [markdown]
# This is worse than guessing. If your loss is suspiciously low, check the causal mask first.
#
# ## A slip in a published mask
#
# The mask of the decoder's self-attention hides two things: the future, and padding. The README
# of the base model builds it so (shortened):
#
# ```
# trg_pad_mask = (trg != pad).unsqueeze(1).unsqueeze(3)    # (B, 1, T, 1)
# trg_mask = trg_pad_mask & lower_triangle
# ```
#
# while for the source it writes `.unsqueeze(1).unsqueeze(2)`, (B, 1, 1, S). The last axis of a
# mask is the *keys*, the one before it the *queries*. So the target's mask hides the rows of pad
# **queries**, whose outputs nobody wants, and leaves pad **keys** open to be looked at. (It also
# says that the result is of the shape (seq_len, batch_size, vocabulary); it is batch first, as
# you saw above.)


# %%
def hides_queries(ids_BT, pad):
    """The slip: B1T1."""
    return (ids_BT != pad)[:, None, :, None]


words = [START, 11, 12, 13]
rows = {"padded on the right": [*words, PAD, PAD], "padded on the left": [PAD, PAD, *words]}
figure, plots = panels(4, width=10, height=3.5)
for number, (name, row) in enumerate(rows.items()):
    ids_BT = torch.tensor([row])
    for plot, title, mask in (
        (plots[2 * number], "the slip", hides_queries(ids_BT, PAD)),
        (plots[2 * number + 1], "put right", masks.padding(ids_BT, PAD)),
    ):
        seen = mask & masks.causal(len(row))
        plot.imshow(seen[0, 0].float().numpy(), cmap="Blues", vmin=0, vmax=1.3)
        labels = ["·" if id == PAD else "s" if id == START else "w" for id in row]
        plot.set(title=f"{title},\n{name}", xlabel="key")
        plot.set(xticks=range(6), yticks=range(6), xticklabels=labels, yticklabels=labels)
lesson.show(figure, "masks", "Four grids; padded left, the slip lets words look at the pads (dots)")

# %% [markdown]
# Now the proof. The same target three times: alone, padded on the right, padded on the left.
# Whatever stands around it, the logits of its four positions should be the same.


# %%
@torch.no_grad()
def logits_of_words(row, padding=masks.padding):
    """Logits of the positions that are no padding, with this padding mask in the decoder."""
    memory = model.encode(source_BS)
    with patch.object(masks, "padding", padding), capture(model) as tape:
        logits_TV = model.output(model.decode(torch.tensor([row]), memory))[0]
    real_T = torch.tensor(row) != PAD
    looks = tape["decoder.layers.0.self_attention"][0][:, real_T][..., ~real_T].sum(dim=-1)
    return logits_TV[real_T], looks.max() if (~real_T).any() else torch.zeros(())


alone, _ = logits_of_words(words)
for name, row in rows.items():
    for mask_name, padding in (("the slip", hides_queries), ("put right", masks.padding)):
        logits, weight = logits_of_words(row, padding)
        apart = (logits - alone).abs().max()
        print(f"{mask_name:10} {name:20} weight on pads {weight:.2f}, logits off by {apart:.6f}")
        wrong = mask_name == "the slip" and "left" in name
        assert apart > 0.05 if wrong else apart < 1e-5
        assert weight > 0.3 if wrong else weight == 0

# %% [markdown]
# With padding on the right the slip does no harm, by luck: pads come after all words, so the causal
# mask hides them. With padding on the left, which fairseq uses for sources and others use to let
# all targets of a batch end together, words attend to the pads and the logits change.
#
# ### Exercise 2: the mask of a target
#
# Write it: True = may look, with the axes B1TT, for queries and keys that may stand on either
# side of padding.


# %%
def target_mask(target_BT, pad):
    """A boolean mask B1TT: neither the future nor padding is looked at."""
    ...


# %%
lesson.exercise(target_mask)

# %% [markdown]
# ## A layer with its scores
#
# Chloe's decoder layer is **pre-norm**: normalise, then the sub-layer, then add. Three times:
# look back, look across, think. Its attention returns scores, `self_scores` and `en_scores`, and
# the layer throws them away. Here it is in plain lines beside the package's class, and the scores
# as `capture` hands them out.

# %%
chloe = Transformer(replace(shape, residual="pre-norm")).eval()
layer = chloe.decoder.layers[0]


@torch.no_grad()
def in_plain_lines(x, memory, may_look):
    norm_1, norm_2, norm_3 = (
        part.norm
        for part in (
            layer.self_attention_residual,
            layer.cross_attention_residual,
            layer.feed_forward_residual,
        )
    )
    x2 = norm_1(x)
    x = x + layer.self_attention(x2, x2, may_look)
    x2 = norm_2(x)
    x = x + layer.cross_attention(x2, memory.states_BSD, memory.may_look_B11S)
    x2 = norm_3(x)
    return x + layer.feed_forward(x2)


with torch.no_grad(), capture(chloe) as tape:
    memory = chloe.encode(source_BS)
    x_BTD = chloe.decoder.embeddings(input_BT)
    assert same(
        layer(x_BTD, memory, masks.causal(8)), in_plain_lines(x_BTD, memory, masks.causal(8))
    )

self_scores = tape["decoder.layers.0.self_attention"]
cross_scores = tape["decoder.layers.0.cross_attention"]
print("self-attention", tuple(self_scores.shape), " cross-attention", tuple(cross_scores.shape))
assert self_scores.shape == (1, 4, 8, 8)  # batch, heads, queries, keys
assert cross_scores.shape == (1, 4, 8, 6)  # the keys are the source's
assert self_scores[0, :, future].eq(0).all()  # the future has exactly no weight

# %% [markdown]
# ## Step by step, with a cache
#
# To write word t + 1 the decoder could run over all t words again. But their keys and values have
# not changed: by causality a new word moves nothing before it. So they are kept, and a step
# computes one position. Count the positions that each way sends through a layer:

# %%
positions = []
counting = model.decoder.layers[0].feed_forward.register_forward_pre_hook(
    lambda _, inputs: positions.append(inputs[0].size(1))
)
with torch.no_grad():
    memory = model.encode(source_BS)
    again = [model.output(model.decode(input_BT[:, : t + 1], memory))[:, -1] for t in range(8)]
    without_cache = sum(positions)
    positions.clear()
    cache = model.start(memory, hypotheses=1, max_length=8)
    steps = [model.step(input_BT[:, t, None], cache)[:, 0] for t in range(8)]
    with_cache = sum(positions)
counting.remove()

print(f"positions computed: {without_cache} without a cache, {with_cache} with one")
assert without_cache == 8 * 9 // 2  # 1 + 2 + ... + 8
assert with_cache == 8
apart = (torch.stack(steps, 1) - logits_BTV).abs().max()
lesson.expect("steps and the whole pass differ by", apart, 0, 1e-5)
assert same(torch.stack(again, 1), logits_BTV)

# %% [markdown]
# Both ways give the same logits. Therefore a model can be trained on whole sentences and used step
# by step.
#
# ### Exercise 3: write like a decoder
#
# Let a trained model write. Begin with the start token; at each step take the most probable
# token; stop behind the end token, or after `most` of them. `model.encode`, `model.start` and
# `model.step` are as above.


# %%
def write(model, source_1S, most):
    """The ids that follow, the end among them, as a list."""
    ...


# %%
lesson.exercise(write, END=END)

# %% [markdown]
# ## What to remember
#
# - Teacher forcing asks every position of a target at once; the input is the target shifted
#   right.
# - The causal mask hides the answers. Without it the loss is very low and the model useless.
# - The last axis of a mask is the keys. Hide keys, not queries; and test with padding on both
#   sides.
# - In cross-attention the decoder asks and the source answers; nothing of the source is hidden.
# - With a cache a step computes one position and gives the same logits as a whole pass.
#
# ## Where it is in the code
#
# - `core/decoder.py:DecoderLayer`, its three sub-layers; `core/decoder.py:Decoder.forward` builds
#   the mask
# - `core/masks.py:causal`, `core/masks.py:padding`
# - `core/decoder.py:Decoder.step`, `core/cache.py:Cache`,
#   `core/transformer.py:Transformer.step`
# - `decoding/scoring.py:teacher_input` shifts right; `decoding/greedy.py:greedy_search` writes

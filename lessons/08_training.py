# %% [markdown]
# # Lesson 8 · Training: soft labels, a slow start, and a model that learns
#
# The documents that these lessons grew from build a Transformer but do not train it. This lesson
# does. It begins with two choices of the paper that look odd at first: labels that are wrong on
# purpose, and a learning rate that begins at zero. Then a model learns to reverse words without
# errors in seconds, and at the end another one learns some German in two minutes.
#
# *Grew from:* an untitled notebook that builds a Transformer from scratch (its first heading is
# "Embedding"), section "Replication of EncoderLayer and DecoderLayer", which ends where "our loss
# function" would begin; the notebook "The Encoder" of the chat robot Chloe, on what the loss
# compares; and "Transformer Demystified, part 1" by Paul Golding, section "Reflections", which
# promises training for a part two.

# %%
import math
import random
import tempfile
from dataclasses import replace

import torch
from torch.nn.functional import cross_entropy

import allyouneed
from allyouneed import Transformer
from allyouneed.core.config import TINY
from allyouneed.data.synthetic import made_pairs
from allyouneed.decoding.greedy import greedy_search
from allyouneed.training.log import read_log
from allyouneed.training.loss import label_smoothed_loss
from allyouneed.training.schedule import Cosine, cosine, inverse_square_root, noam
from lesson import Lesson, panels, same
from sentences import data_file

lesson = Lesson("08_training")
PAD, START, END = 0, 1, 2

# %% [markdown]
# ## Labels that are a little wrong
#
# Usually the loss wants probability 1 for the right token. To reach it, its logit would have to
# be infinitely far above the others, so a model that listens grows ever more certain. The paper
# (section 5.4) takes a little of that 1 away, ε = 0.1, and spreads it evenly over the whole
# vocabulary V:
#
# $$q(k) = (1 - \varepsilon)\,[k = \text{right}] + \varepsilon / V$$
#
# ### Exercise 1: smoothed targets
#
# Make the distribution q for each of P positions: a tensor of P rows and V columns. (Every token
# gets its share of ε, the right one too; that is how Szegedy et al. have it, whom the paper
# follows.)


# %%
def smoothed_targets(labels_P, vocabulary, smoothing):
    """One distribution over the vocabulary for each label, PV."""
    ...


# %%
lesson.exercise(smoothed_targets)

# %% [markdown]
# ## What it does to the loss
#
# Two things. The loss can no longer reach 0: the best that a model can do is to say exactly q,
# and then the loss is the entropy of q, a **floor**. And certainty beyond q costs. Below, a model
# gives the right token the probability p and shares the rest evenly; on the left the target of a
# vocabulary of 8, on the right the loss over p for 8,000.


# %%
def logits_that_say(p, vocabulary):
    """Logits of a model that gives token 3 the probability p, and all others the same."""
    probabilities = torch.full((1, vocabulary), (1 - p) / (vocabulary - 1), dtype=torch.float64)
    probabilities[0, 3] = p
    return probabilities.log()


def floor(vocabulary, smoothing):
    """The entropy of q, in nats."""
    right, wrong = 1 - smoothing + smoothing / vocabulary, smoothing / vocabulary
    return -right * math.log(right) - (vocabulary - 1) * wrong * math.log(wrong)


label = torch.tensor([3])
doubts = torch.cat([torch.linspace(0.7, 0.01, 200), torch.logspace(-2, -8, 100)]).double()
certainty = 1 - doubts
curves = {
    smoothing: [
        float(label_smoothed_loss(logits_that_say(float(p), 8000), label, smoothing, PAD))
        for p in certainty
    ]
    for smoothing in (0.0, 0.1)
}
figure, plots = panels(2, height=3.4)
hot = torch.full((8,), 0.1 / 8)
hot[3] += 0.9
plots[0].bar(range(8), hot.numpy(), color=["0.6"] * 3 + ["#0072B2"] + ["0.6"] * 4)
plots[0].set(title="the target of token 3, ε = 0.1", xlabel="token", ylabel="probability")
nines = -torch.log10(doubts)
plots[1].plot(nines, curves[0.0], "--", color="#D55E00", label="ε = 0")
plots[1].plot(nines, curves[0.1], color="#0072B2", label="ε = 0.1")
plots[1].axhline(floor(8000, 0.1), color="0.6", linewidth=0.8, zorder=0)
plots[1].set(title="loss over certainty", xlabel="probability of the right token", ylabel="nats")
plots[1].set(xticks=[1, 2, 4, 6, 8], xticklabels=["0.9", "0.99", "1−10⁻⁴", "1−10⁻⁶", "1−10⁻⁸"])
plots[1].legend(frameon=False)
lesson.show(figure, "smoothing", "Left a bar of 0.91 over small ones; right a curve with a minimum")

best = float(certainty[torch.tensor(curves[0.1]).argmin()])
lesson.expect("the floor for V = 8,000", floor(8000, 0.1), 1.22, 1.23)
lesson.expect("the least smoothed loss found", min(curves[0.1]), floor(8000, 0.1), 1.24)
lesson.expect("at this certainty", best, 0.88, 0.92)
assert curves[0.0][-1] < 1e-6  # without smoothing, only ever more certain is ever better
assert curves[0.1][-1] > min(curves[0.1]) + 1  # with it, being too certain costs

# %% [markdown]
# So a smoothed training loss of 1.3 may be close to perfect, and losses with and without
# smoothing must never be compared. Validation losses in this package are unsmoothed for that
# reason.
#
# The package's `label_smoothed_loss` never builds q: it needs two numbers of each row, the right
# token's log-probability and the mean of all. PyTorch's own loss agrees.

# %%
logits_PV, labels_P = torch.randn(6, 50), torch.tensor([4, 9, 0, 7, 30, 0])  # two are padding
ours = label_smoothed_loss(logits_PV, labels_P, 0.1, PAD)
torchs = cross_entropy(logits_PV, labels_P, label_smoothing=0.1, ignore_index=PAD, reduction="sum")
assert same(ours, torchs, within=1e-4)

# %% [markdown]
# ## A learning rate that begins at nothing
#
# Equation 3 of the paper: up in a straight line for `warmup` steps, then down with the root of
# the step, and all of it smaller for wider models.
#
# $$\text{lrate} = d_\text{model}^{-0.5} \cdot \min(s^{-0.5},\ s \cdot w^{-1.5})
# \qquad s \text{ the step},\ w \text{ the warm-up}$$
#
# ### Exercise 2: equation 3


# %%
def learning_rate(step, d_model, warmup):
    """The learning rate at a step, the first being 1."""
    ...


# %%
lesson.exercise(learning_rate)

# %%
figure, plot = panels(1, width=7.5)
shown = range(1, 20001, 50)
for (d_model, warmup), line in {(512, 4000): "-", (512, 8000): "--", (256, 4000): "-."}.items():
    rates = [noam(step, d_model, 1.0, warmup) for step in shown]
    plot.plot(shown, rates, line, label=f"d_model {d_model}, warm-up {warmup}")
plot.set(xlabel="step", ylabel="learning rate", xlim=(0, 20000), ylim=(0, None))
plot.legend(frameon=False)
lesson.show(figure, "equation3", "Three curves that rise in a line to a peak and fall slowly")

lesson.expect("peak of the paper's base model", noam(4000, 512, 1.0, 4000), 6.9e-4, 7.1e-4)

# %% [markdown]
# ## Why the slow start
#
# Adam divides each gradient by a running measure of its size. In the first steps that measure
# rests on a handful of batches, so steps are large and nearly random in direction, and layers
# with the norm *behind* the sum (post-norm, the paper's) react to that badly: lesson 5 measured
# their gradients. Let us see. A stack of 5 + 5 layers has to reverse short words, at the same
# peak rate: with a warm-up, without one, and without one but with the norm in front (pre-norm).
#
# This is a whole training program. The learner's part of it, and the paper's, is ten lines.


# %%
def as_ids(pairs):
    """Letters as ids 3, 4, …; each row ends in END and is filled up with PAD."""

    def padded(texts):
        rows = [[3 + ord(letter) - ord("a") for letter in text.split()] + [END] for text in texts]
        longest = max(map(len, rows))
        return torch.tensor([row + [PAD] * (longest - len(row)) for row in rows])

    return padded([pair.source for pair in pairs]), padded([pair.target for pair in pairs])


def short(pairs, longest):
    return [pair for pair in pairs if len(pair.source.split()) <= longest]


def train(pairs, rate, *, layers, steps, residual="post-norm", batch=48):
    """Trains a small Transformer on pairs of words, with a learning rate for each step; the model
    and its losses."""
    torch.manual_seed(0)
    shape = replace(TINY, vocabulary=19, d_model=64, d_ff=128, dropout=0.0, residual=residual)
    model = Transformer(replace(shape, encoder_layers=layers, decoder_layers=layers))
    optimizer = torch.optim.Adam(model.parameters(), betas=(0.9, 0.98), eps=1e-9)
    choose, losses = random.Random(0), []
    for step in range(1, steps + 1):
        source_BS, target_BT = as_ids(choose.sample(pairs, batch))
        start_B1 = torch.full((batch, 1), START)
        logits_BTV = model(source_BS, torch.cat([start_B1, target_BT[:, :-1]], dim=1))
        loss = label_smoothed_loss(logits_BTV.flatten(0, 1), target_BT.flatten(), 0.1, PAD)
        loss = loss / (target_BT != PAD).sum()
        optimizer.zero_grad()
        loss.backward()
        for group in optimizer.param_groups:
            group["lr"] = rate(step)
        optimizer.step()
        losses.append(loss.item())
    return model.eval(), losses


pairs = list(made_pairs("reverse", lesson.size(20000, fast=8000), seed=1))
print(pairs[0].source, " → ", pairs[0].target)


def gentle(step):
    """Equation 3's shape with a peak of its own."""
    return inverse_square_root(step, 5e-3, warmup=lesson.size(60, fast=40))


def sudden(step):
    """The same without a warm-up: it begins at the peak."""
    return inverse_square_root(step, 5e-3, warmup=1)


few = short(pairs, 5)
deep = {"layers": 5, "steps": lesson.size(120, fast=60), "batch": lesson.size(32, fast=16)}
runs = {
    "no warm-up, post-norm": train(few, sudden, **deep)[1],
    "warm-up, post-norm": train(few, gentle, **deep)[1],
    "no warm-up, pre-norm": train(few, sudden, residual="pre-norm", **deep)[1],
}
figure, plot = panels(1, width=7.5)
for (name, losses), line in zip(runs.items(), ("--", "-", "-."), strict=True):
    plot.plot(losses, line, label=name)
plot.set(xlabel="step", ylabel="smoothed loss, nats per letter", ylim=(0.5, 4))
plot.legend(frameon=False)
lesson.show(figure, "warmup", "Without a warm-up the post-norm loss stays flat; the others fall")

late = {name: sum(losses[-10:]) / 10 for name, losses in runs.items()}
for name, loss in late.items():
    print(f"{name:22} {loss:.2f}")
lesson.expect(
    "lost without a warm-up, nats",
    late["no warm-up, post-norm"] - late["warm-up, post-norm"],
    0.2,
    2,
)
assert late["no warm-up, pre-norm"] < late["no warm-up, post-norm"] - 0.2

# %% [markdown]
# Without a warm-up the post-norm model has learned only how often the end comes: it guesses among
# 16 letters, and does not get better. Its first steps were so large that training does not recover
# from them. Pre-norm does recover (Xiong et al. 2020), which is one reason why later models use it.
#
# ## It learns to reverse
#
# Now two layers, words of four to eight letters, and half a thousand steps: a warm-up again, then
# half a cosine down to nothing, which suits a short run. The test is not the loss: 200 words that
# the model has never seen have to come out *exactly* reversed, letter by letter, by greedy
# search.

# %%
longest, steps = lesson.size(8, fast=4), lesson.size(500, fast=180)
up_and_down = Cosine(name="cosine", learning_rate=2.5e-3, warmup=60, steps=steps)
model, losses = train(
    short(pairs, longest), lambda step: cosine(step, up_and_down), layers=2, steps=steps
)
known = {pair.source for pair in pairs}
unseen = [p for p in short(made_pairs("reverse", 3000, seed=2), longest) if p.source not in known]
source_BS, target_BT = as_ids(unseen[:200])
written = [list(found[0].ids) for found in greedy_search(model, source_BS)]
wanted = [[id for id in row if id != PAD] for row in target_BT.tolist()]
exact = sum(found == right for found, right in zip(written, wanted, strict=True)) / len(wanted)

figure, plot = panels(1, width=7.5)
plot.plot(losses, color="#0072B2")
plot.axhline(floor(19, 0.1), color="0.6", linewidth=0.8)
plot.text(len(losses), floor(19, 0.1) - 0.06, "the floor of smoothed labels", ha="right", va="top")
plot.set(xlabel="step", ylabel="smoothed loss, nats per letter", ylim=(0, None))
lesson.show(figure, "reverse", "The loss falls to just above the floor of 0.59")

lesson.expect("words reversed exactly", exact, lesson.size(98, fast=80) / 100, 1.0)
lesson.expect("the last losses", sum(losses[-10:]) / 10, floor(19, 0.1), floor(19, 0.1) + 0.15)

# %% [markdown]
# ### Exercise 3: the floor
#
# The loss came to rest just above 0.59 and would have stayed there for ever. Which loss should
# you expect from a perfect model? Write the floor for any vocabulary and any ε in [0, 1).


# %%
def least_loss(vocabulary, smoothing):
    """The smoothed loss of a model that says exactly q, in nats per token."""
    ...


# %%
lesson.exercise(least_loss, floor=floor)

# %% [markdown]
# ## Two minutes of German
#
# The same program with everything that a long run needs (subwords, batches of like length,
# checkpoints, validation, a report) is `allyouneed train`. Here it trains the recipe `multi30k`,
# 29,000 image captions in English and German, with the norms in front, and two epochs in the
# place of sixty; the learning rate is still on its way up then. All random choices follow from
# the recipe's seed, so the loss can be expected.
#
# Multi30k does not come with the package; `allyouneed fetch multi30k` downloads it. Without it this
# cell trains the recipe `reverse` instead, on made pairs of letters, which it learns to the end.

# %%
captions = not lesson.fast and data_file("multi30k/train.en.gz") is not None
if captions:
    files = {
        f"data.{part}.0.{side}": data_file(f"multi30k/{name}.{language}.gz")
        for part, name in (("train", "train"), ("valid", "val"))
        for side, language in (("source", "en"), ("target", "de"))
    }
    recipe, expected = "multi30k", (5.2, 5.5)
    overrides = [f"{key}={path}" for key, path in files.items()]
    overrides += ["training.epochs=2", "training.average_last=0", "model.residual=pre-norm"]
elif lesson.fast:
    recipe, expected = "reverse", (0.0, 2.6)
    overrides = ["training.steps=60", "schedule.steps=60", "schedule.warmup=20"]
    overrides += ["training.validate_every_steps=20", "training.batch_tokens=256"]
else:
    print("Multi30k is not there, so the recipe `reverse` is trained instead.")
    recipe, expected, overrides = "reverse", (0.0, 0.1), []
overrides += ["validation.sentences=20", "validation.beam=1", "training.log_every=10"]

with tempfile.TemporaryDirectory() as folder:
    result = allyouneed.train(recipe, f"{folder}/run", overrides=overrides)
    log = read_log(result.folder)
    translator = allyouneed.load(result.model, engine="core")

sentence = "A man is riding a bike." if captions else "a b c d e"
written = translator(sentence).text
print(f"{sentence} → {written}")
if not captions and not lesson.fast:
    assert written == "e d c b a"
lesson.expect("validation loss, nats per token", result.validation.loss, *expected)

# %%
trained = [record for record in log if record["event"] == "step"]
measured = [record for record in log if record["event"] in ("validation", "final")]
figure, plots = panels(2, height=3.2)
plots[0].plot(
    [r["step"] for r in trained], [r["loss"] for r in trained], label="training, smoothed"
)
plots[0].plot(
    [r["step"] for r in measured], [r["loss"] for r in measured], "o--", label="validation"
)
plots[0].set(xlabel="step", ylabel="nats per token", ylim=(0, None))
plots[0].legend(frameon=False)
plots[1].plot([r["step"] for r in trained], [r["learning_rate"] for r in trained], color="#009E73")
plots[1].set(xlabel="step", ylabel="learning rate", ylim=(0, None))
lesson.show(figure, "run", "Left losses that fall, right the learning rate up and down")
assert trained[-1]["loss"] < trained[0]["loss"] - 1

# %% [markdown]
# The left picture is what to look at while a training runs: both losses fall, and validation (a
# dot at each measurement, unsmoothed) does not turn upwards while training goes on falling, which
# would be overfitting. Two epochs are not many: the model stammers of a man, in a, on a, whatever
# it is given. With the third it makes whole sentences that have nothing to do with the source
# (loss 4.7). That it has to look at the source it learns after that; and sixty epochs later it
# translates: `allyouneed train multi30k`.
#
# ## What to remember
#
# - Label smoothing takes ε from the right token and gives it to all. The loss then has a floor
#   above 0.
# - The learning rate rises from nothing, because a post-norm stack does not survive large first
#   steps.
# - A falling loss does not prove that a model works: let it write, and compare exactly.
# - All random numbers depend on a seed, so a run gives the same loss each time.
#
# ## Where it is in the code
#
# - `training/loss.py:label_smoothed_loss`, and `training/loss.py:fused_loss`, the same without
#   the logits
# - `training/schedule.py:noam` is equation 3; `training/schedule.py:inverse_square_root` its
#   shape
# - `training/optimizer.py:make_optimizer`, Adam with the paper's numbers
# - `training/run.py:train`, behind `allyouneed train`; `data/synthetic.py:made_pairs`

# %% [markdown]
# # Lesson 9 · Search: the best sentence, and whether you want it
#
# A trained model gives a probability to every possible German sentence. To translate is to find a
# good one among them. This lesson searches greedily, with a beam, and exhaustively. It measures
# that beyond a narrow beam the *more probable* sentences are *worse* translations, and shows how a
# length penalty corrects this.
#
# *Grew from:* the notebook "Transformer Encoder" of NVIDIA's Deep Learning Institute, section 2.2
# "Embedding", whose translation comes with a score H and "the probability of this hypothesis";
# and the closing words of the notebook "The Encoder" of the chat robot Chloe: what is left is to
# turn vectors back into words.

# %%
import math
from dataclasses import replace
from itertools import product
from typing import NamedTuple

import torch

import allyouneed
from allyouneed.core.config import TransformerConfig
from allyouneed.decoding.beam import beam_search
from allyouneed.decoding.greedy import greedy_search
from allyouneed.decoding.length_penalty import Average, NoPenalty, Wu
from allyouneed.decoding.options import BeamOptions
from allyouneed.evaluation.metrics import bleu
from lesson import Lesson, panels, same
from sentences import PAIRS

lesson = Lesson("09_search")
START, END = 1, 2

# %% [markdown]
# ## A model that fits on a napkin
#
# Five words, and a table that says which comes after which, whatever was before. The search of
# this package knows a model by four functions only, so these few lines are enough to be searched.

# %%
words = ["<pad>", "<s>", "</s>", "ein", "der", "Hund", "Haus"]
table_VV = torch.zeros(7, 7)
table_VV[:3, 2] = 1.0  # what never comes before a word has to say something too
for before, after in {
    "<s>": {"</s>": 0.0, "ein": 0.55, "der": 0.45},
    "ein": {"Hund": 0.4, "Haus": 0.35, "</s>": 0.25},
    "der": {"Hund": 0.9, "Haus": 0.1},
    "Hund": {"</s>": 1.0},
    "Haus": {"</s>": 1.0},
}.items():
    for word, probability in after.items():
        table_VV[words.index(before), words.index(word)] = probability


class Napkin:
    """A model for searches: the next word depends on the last one alone."""

    config = TransformerConfig(vocabulary=7, d_model=2, heads=1, max_positions=8)

    def encode(self, source_BS):
        return source_BS

    def start(self, memory, hypotheses, max_length):
        return self  # nothing to keep between steps, so nothing to select either

    def select(self, sentences_B, hypotheses_BN):
        pass

    def step(self, ids_BN, cache):
        return table_VV[ids_BN].log()


def spell(hypothesis):
    return " ".join(words[id] for id in hypothesis.ids)


source_BS = torch.tensor([[3, END]])
[[greedy]] = greedy_search(Napkin(), source_BS)
free = BeamOptions(beam=2, n_best=2, length_penalty=NoPenalty())
[[best, second]] = beam_search(Napkin(), source_BS, free)
for name, found in (("greedy", greedy), ("beam of 2", best), ("its second", second)):
    print(f"{name:11} {math.exp(found.log_probability):.3f}  {spell(found)}")
assert same(math.exp(greedy.log_probability), 0.55 * 0.4)
assert same(math.exp(best.log_probability), 0.45 * 0.9)

# %% [markdown]
# **Greedy** takes the likelier first word, *ein*, and is stuck with what can follow it. A
# **beam** of 2 keeps the two best beginnings, lengthens both by every word, keeps the two best of
# all these, and so on; so *der* is still there when *Hund* makes it the better one. Is it the
# best of all? Here every sentence can be tried:

# %%
paths = {}
for path in product(range(2, 7), repeat=3):
    ids = list(path[: path.index(END) + 1] if END in path else path)
    steps = zip([START, *ids], ids, strict=False)
    paths[tuple(ids)] = math.prod(float(table_VV[a, b]) for a, b in steps)
ended = {ids: p for ids, p in paths.items() if ids[-1] == END and p > 0}
for ids, p in sorted(ended.items(), key=lambda pair: -pair[1]):
    print(f"{p:.3f}  {' '.join(words[id] for id in ids)}")
assert same(sum(ended.values()), 1.0)  # a distribution over sentences
assert max(ended, key=ended.get) == best.ids
wide = replace(free, beam=20, n_best=5)
[everything] = beam_search(Napkin(), source_BS, wide)
assert [found.ids for found in everything] == sorted(ended, key=lambda ids: -ended[ids])

# %%
figure, plot = panels(1, width=7.5, height=3.4)
places = {(): (0, 0), (3,): (1, 1), (4,): (1, -1.2)}
places |= {(3, 5): (2, 1.8), (3, 6): (2, 1), (3, 2): (2, 0.2), (4, 5): (2, -0.8), (4, 6): (2, -1.6)}
for ids, (x, y) in places.items():
    word = words[ids[-1]] if ids else "<s>"
    kind = (
        "best" if ids == best.ids[: len(ids)] else "greedy" if ids == greedy.ids[: len(ids)] else ""
    )
    colour = {"best": "#0072B2", "greedy": "#D55E00", "": "0.55"}[kind]
    if ids:
        left, low = places[ids[:-1]]
        plot.plot([left + 0.13, x - 0.13], [low, y], color=colour, linewidth=2 if kind else 1)
        p = float(table_VV[ids[-2] if len(ids) > 1 else START, ids[-1]])
        plot.text((left + x) / 2, (low + y) / 2 + 0.12, f"{p:g}", ha="center", color=colour)
    plot.text(x, y, word, ha="center", va="center", color=colour if ids else "k")
    if len(ids) == 2:
        chance = math.prod(float(table_VV[a, b]) for a, b in zip((START, *ids), ids, strict=False))
        plot.text(2.35, y, f"= {chance:.3f}", va="center", color=colour)
plot.set(xlim=(-0.2, 2.7), ylim=(-2.0, 2.2))
plot.set_axis_off()
lesson.show(
    figure, "tree", "A tree of two words: greedy goes up to 0.22, the beam finds 0.405 below"
)

# %% [markdown]
# ### Exercise 1: one step of a beam
#
# There are N hypotheses with their log-probabilities so far, and for each the log-probabilities
# of all V next words. Give the `beam` best extensions of *all*, best first: whose child (a number
# below N), by which word, and with which log-probability, as three tensors.


# %%
def beam_step(log_p_N, log_p_NV, beam):
    """parents, words, log-probabilities: `beam` numbers each."""
    ...


# %%
lesson.exercise(beam_step, table_VV=table_VV)

# %% [markdown]
# ## What a score means
#
# The NVIDIA notebook prints a score H beside its translation, "an average log-likelihood", and
# calculates "the probability of this hypothesis" as exp(H). Both cannot be: an average over the
# tokens gives the probability of *one* token, in the geometric mean. The sentence has the product
# of all.

# %%
translator = allyouneed.load("en-de", engine="core")
place = translator("I am looking for a place to eat.")
h, tokens = place.average_log_likelihood, len(place.tokens)
print(place.text)
print(f"H = {h:.4f} per token, exp(H) = {math.exp(h):.3f}, {tokens} tokens")
print(
    f"of the sentence: exp({place.log_probability:.3f}), which is exp(H) to the power of {tokens}"
)
lesson.expect("exp(H), a token's probability", math.exp(h), 0.52, 0.62)
lesson.expect("the sentence's probability", math.exp(place.log_probability), 0.008, 0.016)
assert same(math.exp(h) ** tokens, math.exp(place.log_probability))

# %% [markdown]
# The best sentence of millions has about one percent. That is no bad sign, there are many ways to
# say it; but note how it goes with length: with every further token the product can only shrink.
#
# ### Exercise 2: both numbers
#
# Given the log-probabilities of a sentence's tokens, return the probability of the sentence, and
# exp(H).


# %%
def two_probabilities(token_log_p):
    """(probability of the sentence, exp(H)) as two floats."""
    ...


# %%
lesson.exercise(two_probabilities, place=place)

# %% [markdown]
# ## Why wider is not always better
#
# A wider beam finds sentences that the model likes better. Do *we*? We take longer sentences, no
# length penalty, and let the beam grow from 1 to 64. (Empty translations are allowed too, which the
# package does not do unless it is told to.) We ask the engine: the translator would search again
# where a translation has lost a number or a clause, and hide what we want to see.

# %%
pairs = PAIRS[12:28] if lesson.fast else PAIRS
sources, references = [a for a, _ in pairs], [b for _, b in pairs]
beams = [1, 4, 64] if lesson.fast else [1, 4, 16, 64]
words_wanted = sum(len(text.split()) for text in references)


class Found(NamedTuple):
    """The best hypothesis of a search."""

    text: str
    log_probability: float
    tokens: tuple[int, ...]


def search(penalty):
    """For each beam: the translations, log P a sentence, words over those wanted, BLEU."""
    tokenizer = translator.tokenizer
    ids = [tokenizer.encode(source).ids for source in sources]
    rows = []
    for beam in beams:
        options = BeamOptions(beam=beam, length_penalty=penalty, min_length=0)
        found = [
            Found(tokenizer.decode(best.ids).strip(), best.log_probability, best.ids)
            for best, *_ in translator.engine.search(ids, options)
        ]
        texts = [one.text for one in found]
        rows.append(
            (
                found,
                sum(one.log_probability for one in found) / len(found),
                sum(len(text.split()) for text in texts) / words_wanted,
                bleu(texts, references, resamples=0).score,
            )
        )
    return rows


rows = search(NoPenalty())
print("beam    log P  length   BLEU")
for beam, (_, log_p, length, score) in zip(beams, rows, strict=True):
    print(f"{beam:4} {log_p:8.2f} {length:7.2f} {score:6.1f}")

likes, lengths, scores = ([row[number] for row in rows] for number in (1, 2, 3))
assert likes == sorted(likes)  # the model likes each wider search better
lesson.expect("what the widest beam gains, nats a sentence", likes[-1] - likes[0], 0.28, 8.0)
lesson.expect(
    "what it loses in length to the shortest other", min(lengths[:-1]) - lengths[-1], 0.03, 0.6
)
lesson.expect("what it loses in BLEU to the worst other", min(scores[:-1]) - scores[-1], 0.5, 10)
lesson.expect("the others' BLEU, from worst to best", max(scores[:-1]) - min(scores[:-1]), 0, 2)
silent = [sum(one.text == "" for one in found) for found, *_ in rows]
assert silent == [0] * (len(beams) - 1) + [1]  # only the widest finds an empty translation

# %% [markdown]
# Two effects are mixed here. A wider beam repairs mistakes of greedy search, which cannot take back
# a word. It also finds sentences that are more probable and shorter: words are missing, and at last
# all of them. Up to a beam of 16, BLEU moves by less than two points, which can be chance with so
# few sentences. The widest beam is the shortest and the worst: for one sentence it finds that the
# empty translation is the best.
#
# Here is a repair. *Our neighbours have sold their house and are going to move to a small town near
# the sea*: greedy search names the town twice, before the sea and behind it. So does a beam of 4,
# in another way. Wider beams name it once.

# %%
repaired = sources.index(
    "Our neighbours have sold their house and are going to move to a small town near the sea."
)
for beam, (found, *_) in zip(beams, rows, strict=True):
    print(f"{beam:3}  log P {found[repaired].log_probability:6.2f}  {found[repaired].text}")
named = [row[0][repaired].text.lower().count("stadt") for row in rows]
assert named == [2, 2] + [1] * (len(beams) - 2)
assert rows[-1][0][repaired].text.endswith("nahe dem Meer ziehen.")

# %% [markdown]
# And here is the sentence that a wide beam loses.


# %%
example = sources.index(
    "He says that he has never been to Paris, but he speaks French as if he had lived there for "
    "years."
)
for beam, (found, *_) in zip(beams, rows, strict=True):
    one = found[example]
    print(f"{beam:3}  log P {one.log_probability:6.2f}  {one.text}")
first, last = rows[0][0][example], rows[-1][0][example]
assert last.log_probability > first.log_probability
assert len(last.tokens) < len(first.tokens)
for row in rows[:-1]:
    assert {"Paris", "Französisch"} <= set(row[0][example].text.replace(",", "").split())
assert last.text == ""

# %% [markdown]
# *He says that he has never been to Paris, but he speaks French as if he had lived there for
# years.* The narrower beams find translations of the whole sentence, and the widest one finds that
# nothing at all is more probable still. Each word costs probability, and the end costs it only
# once. Narrow beams do not find this translation, since at the first step the end is not among
# their most probable tokens. A narrow beam therefore does not only save time: it also avoids
# probable but incomplete translations.
#
# How far does that go? Score the *empty* translation of every sentence.

# %%
empty = translator.score(sources, [""] * len(sources))
greedy_found = rows[0][0]
preferred = [
    (e.log_probability, g.log_probability, source)
    for e, g, source in zip(empty, greedy_found, sources, strict=True)
    if e.log_probability > g.log_probability
]
for e, g, source in preferred[:3]:
    print(f"silence {e:6.2f}, greedy {g:6.2f}:  {source}")
share = len(preferred) / len(sources)
lesson.expect("share of sentences where silence is likelier than greedy", share, 0.08, 0.33)

# %% [markdown]
# For about one in eight of these sentences, the empty translation is more probable than the result
# of greedy search. (Stahlberg & Byrne, 2019, searched a good model exactly and found that the empty
# translation was the most probable one for half of all sentences.) The model was trained to predict
# next words, not to compare sentences of different lengths.
#
# ## The length penalty
#
# So hypotheses are ranked by log P over a penalty lp(Y) that grows with the length. The paper
# takes that of Wu et al. (2016), with α = 0.6; plain division by the length is the strongest that
# is usual.

# %%
penalties = {
    "none": NoPenalty(),
    "Wu, α = 0.6": Wu(0.6),
    "Wu, α = 1": Wu(1.0),
    "the length": Average(),
}
assert same(Wu(0.6)(1), 1.0)  # a sentence of one token pays nothing
assert same(Wu(0.6)(25), (30 / 6) ** 0.6)
normalised = search(Average())
figure, plots = panels(3, width=10, height=3.0)
for name, found, line in (("no penalty", rows, "o-"), ("log P / length", normalised, "s--")):
    colour = "#D55E00" if found is rows else "#0072B2"
    for plot, column in zip(plots, (1, 2, 3), strict=True):
        plot.plot(beams, [row[column] for row in found], line, color=colour, label=name)
titles = ("log P of a sentence", "words over words wanted", "BLEU")
for plot, title in zip(plots, titles, strict=True):
    plot.set(title=title, xlabel="beam", xscale="log", xticks=beams, xticklabels=beams)
    plot.minorticks_off()
plots[1].set_ylim(0.8, 1.1)
plots[2].set_ylim(55, 70)
plots[0].legend(frameon=False)
lesson.show(
    figure,
    "beams",
    "Without a penalty the widest beam is the shortest and the worst; with one, length stays",
)

print("beam    log P  length   BLEU   ranked by log P / length")
for beam, (_, log_p, length, score) in zip(beams, normalised, strict=True):
    print(f"{beam:4} {log_p:8.2f} {length:7.2f} {score:6.1f}")
lesson.expect("length kept by the widest beam", normalised[-1][2], 0.9, 1.1)
lesson.expect("its length above that without", normalised[-1][2] - lengths[-1], 0.05, 0.5)
lesson.expect("its BLEU above that without", normalised[-1][3] - scores[-1], 0.4, 8)
four, widest = normalised[1][3], normalised[-1][3]
lesson.expect("its BLEU beside that of a beam of 4", widest - four, -0.5, 0.5)
lesson.expect("its BLEU below that of greedy search", scores[0] - widest, 0.5, 2.5)
assert all(one.text for found, *_ in normalised for one in found)  # no translation is empty

# %%
figure, plot = panels(1, width=6)
for (name, penalty), line in zip(penalties.items(), (":", "-", "-.", "--"), strict=True):
    plot.plot(range(1, 31), [penalty(length) for length in range(1, 31)], line, label=name)
plot.set(xlabel="tokens", ylabel="lp(Y)", xlim=(1, 30), ylim=(0, 12))
plot.legend(frameon=False)
lesson.show(
    figure, "penalties", "Four curves over the length: flat, bent, nearly straight, straight"
)

# %% [markdown]
# With this ranking, a wide beam no longer shortens translations, and none is empty. The widest beam
# is as good as a beam of 4, and better than it was without the penalty. Greedy search happens to
# be about one BLEU above both here. (32 sentences are few; on large test sets a beam of 4 often
# gains about one, and wider beams no more.) The paper uses 4.
#
# ### Exercise 3: ranking
#
# Of hypotheses given as (log-probability, number of tokens), return the place of the one that the
# penalty of Wu et al. ranks best: log P over ((5 + length) / 6)^α.


# %%
def ranked_best(hypotheses, alpha):
    """The index of the best hypothesis."""
    ...


# %%
lesson.exercise(ranked_best)

# %% [markdown]
# ## What to remember
#
# - Greedy search cannot take back a word. A beam keeps the N best beginnings.
# - H is the mean log-probability of a token; the sentence's probability is the product of all.
# - Models give short, even empty, translations too much probability. An exhaustive search finds
#   them.
# - A length penalty makes sentences of different lengths comparable. Then a wide beam does no harm.
#
# ## Where it is in the code
#
# - `decoding/greedy.py:greedy_search`, `decoding/beam.py:beam_search`,
#   `decoding/beam.py:best_candidates`
# - `decoding/protocol.py:Decodable`, the four functions that a search knows
# - `decoding/length_penalty.py:Wu`, `decoding/length_penalty.py:Average`
# - `translation/result.py:Score.probability`, exp(H) under its right name

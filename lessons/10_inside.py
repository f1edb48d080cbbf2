# %% [markdown]
# # Lesson 10 · Inside a trained translator
#
# This lesson examines one trained model. The translator that comes with this package is small
# enough to look at every head: 4 encoder layers, 2 decoder layers, 4 heads in each attention, 32
# heads in all. We look at its attention, compare the attention with word alignments made by hand,
# switch heads off and see how the translation changes, and find the layer at which a word becomes
# certain.
#
# *Grew from:* "Transformer Demystified, part 1" by Paul Golding, sections "Teaser: What Attention
# "Looks Like"" and "Deeper Understanding -- Layer 2"; the notebook "Transformer Encoder" of
# NVIDIA's Deep Learning Institute, section 2.4.2 "Visualization of Attention"; and the notebook
# "The Encoder" of the chat robot Chloe, on what the decoder's attention is for.

# %%
import torch

import allyouneed
from allyouneed import capture, intervene
from allyouneed.decoding.links import word_alignment
from allyouneed.evaluation.alignment_error import GoldAlignment, alignment_error_rate
from allyouneed.insight.figures import head_grid, heatmap
from allyouneed.insight.head_report import head_alignments, head_report
from allyouneed.insight.lens import logit_lens
from allyouneed.insight.names import heads
from allyouneed.translation.words import word_numbers
from lesson import Lesson, same
from sentences import ALIGNED, PAIRS

lesson = Lesson("10_inside")
translator = allyouneed.load("en-de", engine="core")
model, tokenizer = translator.model, translator.tokenizer
names = heads(model)
print(len(names), "heads, from", names[0], "to", names[-1])
assert len(names) == 4 * 4 + 2 * 4 + 2 * 4

# %% [markdown]
# ## Where it looks
#
# *Yesterday I lost my keys.* German puts the verb at the end: *Gestern habe ich meine Schlüssel
# verloren.* If cross-attention (lesson 7) does what one hopes, the step that writes *verloren*
# looks back at *lost*, over *my keys*.

# %%
sentence = "Yesterday I lost my keys."
translation = translator(sentence, beam=1)
print(translation.text)
source, target, weights_TS = translator.attention(sentence, translation.text)
figure = heatmap(weights_TS, target, source, axes=("step that writes", "looks at"))
lesson.show(
    figure, "cross", "Heat map: Gestern looks at Yesterday, verloren at lost, the rest in order"
)

looks_at = dict(zip(target, (source[place] for place in weights_TS.argmax(1)), strict=True))
print(looks_at)
assert translation.text == "Gestern habe ich meine Schlüssel verloren."
assert looks_at[" verloren"] == " lost"
assert same(weights_TS.sum(axis=1), torch.ones(len(target)), within=1e-4)

# %% [markdown]
# A row is the *step* that writes a token, and what that step looked at. (At that step the
# decoder's input is the token before; labelling rows by the input instead shifts the whole
# picture by one, which has happened to published figures.) What you see is the mean of the four
# heads of the last layer.
#
# ## Is it an alignment?
#
# One sentence proves nothing. Here are fourteen short ones whose words are linked by hand: `2-6`
# says that source word 2 and target word 6 belong together for sure, `2?1` that they may. They
# were chosen to be out of order. The **alignment error rate** compares links found with these: 0
# is perfect, 1 is nothing in common.
#
# $$\text{AER} = 1 - \frac{|A \cap S| + |A \cap P|}{|A| + |S|}$$
#
# with A the links found, S the sure ones, P the possible ones (the sure among them).
#
# ### Exercise 1: the alignment error rate


# %%
def error_rate(found, sure, possible):
    """AER of three sets of links (source word, target word); `possible` holds the sure ones too."""
    ...


# %%
lesson.exercise(error_rate)

# %%
sources, targets, links = (list(column) for column in zip(*ALIGNED, strict=True))
gold = [GoldAlignment.of(line) for line in links]


def diagonal(source, target):
    """Links in order, as if every language had the same: what any finding has to beat."""
    last_source, last_target = len(source.split()) - 1, len(target.split()) - 1
    return [(round(j * last_source / last_target), j) for j in range(last_target + 1)]


def mean_of_heads(source, target):
    """The last layer's heads together, as in the picture."""
    ids = tokenizer.encode_ids([source, target])
    weights_TS = translator.attention(source, target)[2]
    return word_alignment(weights_TS, *(word_numbers(tokenizer, one) for one in ids))


report = head_report(translator, sources, targets, gold=links)
errors_LH = report.grid("alignment_error", "cross")
in_order = alignment_error_rate(map(diagonal, sources, targets), gold)
together = alignment_error_rate(map(mean_of_heads, sources, targets), gold)
print("layer 0:", [f"{error:.2f}" for error in errors_LH[0].tolist()])
print("layer 1:", [f"{error:.2f}" for error in errors_LH[1].tolist()])
lesson.expect("error of links in order", in_order, 0.35, 0.41)
lesson.expect("error of the best single head", errors_LH.min(), 0.08, 0.14)
lesson.expect("error of the last layer's heads together", together, 0.09, 0.14)
assert errors_LH.argmin() == errors_LH.shape[1]  # head 0 of layer 1, which was taught to align
assert together < errors_LH[1, 1:].min()
lesson.expect("the best of the three that were not taught", errors_LH[1, 1:].min(), 0.17, 0.21)
lesson.expect("the worst of these three", errors_LH[1, 1:].max(), 0.28, 0.33)
assert errors_LH[1].max() < in_order < errors_LH[0].min()

# %% [markdown]
# Every head of the last layer aligns better than the order of the words does. Head 0 (0.12) is the
# best of them: late in training it was shown word alignments (`[guided_alignment]` in the recipe).
# Nobody showed the other three an alignment, and they still reach 0.19 to 0.31. The four together
# (0.12) are better than these three, since where one head errs the others may not. The heads of the
# first layer align worse than the order of the words; when they look, the decoder does not know yet
# what it wants to say.
#
# The exceptions are worth a look: which words did the best head link otherwise?

# %%
best = f"decoder.layers.1.cross_attention[{int(errors_LH[1].argmin())}]"
for source, target, found, wanted in zip(
    sources, targets, head_alignments(translator, sources, targets, best), gold, strict=True
):
    for i, j in found:
        if (i, j) not in wanted.possible:
            print(f"{target.split()[j]:12} ← {source.split()[i]:12} in: {source}")

# %% [markdown]
# Look at the last words: *gesehen.* ← *dog.*, *trinken.* ← *water.*, *gelesen.* ← *book.* Words are
# split at white space, so each of these holds a full stop, and the full stop of the translation
# rightly looks at that of the source. By the hand-made links that is an error. What counts as one
# unit decides about the error rate as much as the head does.
#
# ## Switched off
#
# A picture shows what a head attends to, not what this is good for. To find out, switch the head
# off. `intervene` sets a head's result to zero while the model translates; nothing else changes.

# %%
sentence = "She has already read this book."
translation = translator(sentence, beam=1)
changed = {}
for name in names:
    with intervene(translator, switch_off=[name]):
        text = translator(sentence, beam=1).text
    if text != translation.text:
        changed[name] = text
        print(f"{name:36} {text}")

last = "decoder.layers.1"
assert translation.text == "Sie hat dieses Buch schon gelesen."
assert changed == {
    f"{last}.cross_attention[2]": "Sie hat schon das Buch gelesen.",
    f"{last}.self_attention[1]": "Sie hat dieses Buch bereits gelesen.",
}
lesson.expect("heads without which the sentence changes, of 32", len(changed), 2, 2)

# %% [markdown]
# Without most heads the translation does not change: other heads do the same work. Both heads that
# make a difference here are in the last layer of the decoder. With head 2 of its cross-attention
# off *this book* is only *the book*, and *already* comes before it; with head 1 of its
# self-attention off *already* is another word of the same meaning. Both sentences are still correct
# German. Other sentences depend on heads of other layers too; the section *Looking is not
# mattering* measures many. What happens with all of cross-attention off?

# %%
no_source = ["decoder.layers.0.cross_attention", "decoder.layers.1.cross_attention"]
with intervene(translator, switch_off=no_source):
    blind = {text: translator(text, beam=1).text for text in (sentence, sources[6])}
for text, said in blind.items():
    print(f"{text:45} → {said[:60]} …")
shorter, longer = sorted(blind.values(), key=len)
assert longer.startswith(shorter.rstrip("."))  # two sources, one answer: it cannot see them

# %% [markdown]
# The model still writes something like German, which has nothing to do with the source and is
# always the same, until the search stops it (later for a longer source): cross-attention is the
# only connection from the source to the decoder.
#
# ### Exercise 2: a probe
#
# Attention calls its **probes** with the weights BHTS, and goes on with what they return. Write
# the one that switches a head off.


# %%
def without_head(weights_BHTS, head):
    """The same weights, but those of one head are all zero."""
    ...


# %%
lesson.exercise(
    without_head, translator=translator, sentence=sentence, model=model, changed=changed
)

# %% [markdown]
# ## Looking is not mattering
#
# Now all heads, and more than one sentence: for each head, how much worse the loss is without it,
# in nats per token. Beside it, for cross-attention, the alignment error from above.

# %%
count = lesson.size(10, fast=3)
some = lesson.size(len(sources), fast=2)
texts = sources[:some] + [source for source, _ in PAIRS[:count]]
wanted = targets[:some] + [target for _, target in PAIRS[:count]]
importance = head_report(translator, texts, wanted, importance=True)
losses = {kind: importance.grid("loss_change", kind) for kind in ("encoder", "decoder", "cross")}
figure = head_grid({"loss_change": losses, "alignment_error": {"cross": errors_LH}})
lesson.show(
    figure, "heads", "Grids of all heads: the last cross-attention and one head of the first matter"
)

cross_LH = losses["cross"]
lesson.expect("loss of the whole model, nats per token", importance.loss, 0.3, 2.5)
lesson.expect("most lost without a single head", cross_LH.max(), 0.3, 0.7)
lesson.expect(
    "heads that cost less than 0.05", sum((g < 0.05).sum() for g in losses.values()), 16, 30
)
others = [losses["encoder"], losses["decoder"], cross_LH[:1]]
assert all(cross_LH[1].mean() > layer.mean() for grid_LH in others for layer in grid_LH)
aligns, matters = int(errors_LH[1].argmin()), int(cross_LH[1].argmax())
print(f"of the last layer, head {aligns} aligns best and head {matters} is missed most")
assert aligns != matters
assert cross_LH.argmax() == errors_LH.argmax() == 0  # head 0 of the first cross-attention

# %% [markdown]
# As a group, the heads that align matter most: of the eight layers of attention, a head of the last
# cross-attention is missed most on average. For single heads this is less clear. In the last layer,
# the head that aligns best is not the one without which the loss rises most. And of all 32 heads
# the loss rises most without head 0 of the first cross-attention, which aligns worst of all.
# Jain & Wallace (2019) warn of this: attention weights show which values were mixed, not which of
# them made a difference. Before you conclude from a picture that a head does something, switch the
# head off.
#
# ## Ends of sentences as a resting place
#
# The NVIDIA notebook finds that "the strongest attention links" of its head go to the last words
# and the end token, and leaves it at that. How much of each head's weight goes to the end token
# here?

# %%
ends = {kind: report.grid("end", kind) for kind in ("encoder", "cross")}
for kind, grid in ends.items():
    print(f"{kind:8} {', '.join(f'{share:.2f}' for share in grid.flatten().tolist())}")
even = sum(1 / len(tokenizer.encode(text).ids) for text in sources) / len(sources)
lesson.expect("what the end would get from even attention", even, 0.08, 0.16)
lesson.expect("the most that a head of the encoder gives it", ends["encoder"].max(), 0.4, 0.7)
lesson.expect("the most that a head of cross-attention gives it", ends["cross"].max(), 0.18, 0.3)
assert (ends["encoder"] > 3 * even).tolist() == [[False] * 4] * 3 + [[True] * 3 + [False]]
assert int((ends["cross"] > 1.5 * even).sum()) == 1

# %% [markdown]
# Three heads of the last encoder layer give the end token more than three times its share, and one
# head of cross-attention well over it. The end token has no meaning of its own. A head that finds
# no useful token still has to put its weight somewhere, since the weights sum to one. A strong link
# to `</s>` or to a full stop is often no more than that.
#
# ## When does a word become certain?
#
# Behind every sub-layer of the decoder there is a vector for each position. Hold it against the
# output projection as if the model ended there: that is the **logit lens** (nostalgebraist,
# 2020). How probable is the word that will be said, already?

# %%
source_ids, target_ids = (tokenizer.encode(text).ids for text in (sentence, translation.text))
input_ids = [1, *target_ids[:-1]]
with torch.no_grad(), capture(model, residuals=True) as tape:
    model(torch.tensor([source_ids]), torch.tensor([input_ids]))
places = list(logit_lens(model, tape, torch.tensor([target_ids])))
chosen_PT = torch.stack(
    [place.log_p_BTV[0, range(len(target_ids)), target_ids] for place in places]
).exp()

pieces = [tokenizer.piece(id) for id in target_ids]
figure = heatmap(
    chosen_PT,
    [place.name.removeprefix("decoder.") for place in places],
    pieces,
    title="probability of what is said in the end",
    axes=("behind", "token written"),
    bar=False,
)
lesson.show(
    figure, "lens", "Nearly nothing until the last cross-attention, then most words at once"
)

for place in places:
    likeliest = [tokenizer.piece(int(id)) for id in place.log_p_BTV[0].argmax(dim=-1)]
    print(f"{place.name:36} {' '.join(piece.strip() for piece in likeliest)}")

right_P = [
    int((place.log_p_BTV[0].argmax(dim=-1) == torch.tensor(target_ids)).sum()) for place in places
]
assert right_P[4] == 3
assert right_P[5] == len(target_ids) - 2
assert right_P[6] == len(target_ids)

embeddings, before_cross, after_cross, end = (chosen_PT[n].mean() for n in (0, 4, 5, 6))
lesson.expect("certain behind the embeddings", embeddings, 0, 0.02)
lesson.expect("before the last cross-attention", before_cross, 0.04, 0.15)
lesson.expect("behind it", after_cross, 0.4, 0.65)
lesson.expect("in the end", end, 0.75, 0.95)

# %% [markdown]
# Read the printed lines downwards. The embeddings say the *input* over again, since input and
# output share one matrix. Before the last cross-attention the likeliest tokens are mostly short and
# frequent words (*Die hat sich*, *zu zu*); only *hat*, the full stop and the end token are right
# already. The cross-attention of the last layer brings all words of this sentence but two, and the
# memory of lesson 6 behind it settles these: *bereits* becomes *schon*, a bare *L* *gelesen*.
#
# ### Exercise 3: a lens of your own
#
# Given the stream TD behind some sub-layer and the output projection VD, return for each position
# the number of the likeliest token and its probability. (This model is post-norm: nothing comes
# between.)


# %%
def through_the_lens(stream_TD, output_VD):
    """(ids T, probabilities T), as two tensors."""
    ...


# %%
lesson.exercise(through_the_lens, tape=tape, model=model, places=places)

# %% [markdown]
# ## Your turn
#
# All of this is in the live view, where a click switches a head off and the sentence changes at
# once:

# %%
lesson.live_view("book", sentence)

# %% [markdown]
# ## What to remember
#
# - Cross-attention of the last layer is close to a word alignment. Three of its four heads learned
#   this from translations alone.
# - Most heads can be switched off one at a time without effect; cross-attention as a whole cannot.
# - A weight shows which values were mixed. Only switching a head off shows whether they mattered.
# - Weight on the end token or on a full stop often has no meaning.
# - Words become certain late: in the last cross-attention and in the feed-forward network after it.
#
# ## Where it is in the code
#
# - `insight/capture.py:capture`, `insight/intervene.py:intervene`; `core/attention.py:Probe`
#   under both
# - `insight/head_report.py:head_report`, `evaluation/alignment_error.py:alignment_error_rate`
# - `insight/lens.py:logit_lens`
# - `decoding/alignment.py:cross_attention_map`, `decoding/links.py:word_alignment`

"""Checks of the exercises of lesson 7: each yields (right?, hint) pairs, easy ones first."""

import torch

import allyouneed


def check_shifted_right(shifted_right):
    target = torch.tensor([[3, 4, 2, 0], [5, 6, 7, 2]])  # "see ya", and a longer one
    found = shifted_right(target)
    yield tuple(found.shape) == (2, 4), f"the input is as long as the target, (2, 4): {found.shape}"
    yield found[:, 0].tolist() == [1, 1], "each row begins with the start token, 1"
    yield found.tolist() == [[1, 3, 4, 2], [1, 5, 6, 7]], "then the target, one place on"
    yield target.tolist() == [[3, 4, 2, 0], [5, 6, 7, 2]], "the target itself was changed"


def check_target_mask(target_mask):
    ids = torch.tensor([[1, 5, 0, 0], [0, 1, 5, 6]])
    found = target_mask(ids, 0)
    yield tuple(found.shape) == (2, 1, 4, 4), f"the axes are B1TT, (2, 1, 4, 4): {found.shape}"
    yield found.dtype == torch.bool, f"a mask is boolean; this is {found.dtype}"
    yield not found[0, 0, 0, 1], "query 0 looks at key 1: that is the future"
    yield (
        found[0, 0, 1].tolist() == [True, True, False, False],
        "a word sees itself and those before",
    )
    yield (
        found[1, 0, 3].tolist() == [False, True, True, True],
        "padded on the left, the last word looks at the pad in column 0",
    )


@torch.no_grad()
def check_write(write, *, END):
    translator = allyouneed.load("en-de", engine="core")
    for text in ("A man rides a bike.", "Where is the station?"):
        source = torch.tensor([translator.tokenizer.encode(text).ids])
        found = write(translator.model, source, 30)
        yield isinstance(found, list) and len(found) > 0, "a list of ids is wanted"
        wanted = translator(text, beam=1)
        said = translator.tokenizer.decode(found).strip()
        yield END in found, "the end token belongs to what is written"
        yield found.index(END) == len(found) - 1, f"it went on behind the end: {said}"
        yield said == wanted.text, f"for {text!r} it wrote {said!r}, not {wanted.text!r}"
    short = write(translator.model, source, 3)
    yield len(short) == 3, f"with most=3 it wrote {len(short)} tokens"

"""A piece of text as people are shown it."""


def shown(piece: str) -> str:
    """A piece of text with its spaces visible, on one line."""
    return "".join(sign if sign.isprintable() else "·" for sign in piece.replace(" ", "␣"))

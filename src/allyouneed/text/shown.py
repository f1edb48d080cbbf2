"""Pieces of text for display."""


def shown(piece: str) -> str:
    """The piece with a visible sign (␣ or ·) for every space and every unprintable character."""
    return "".join(sign if sign.isprintable() else "·" for sign in piece.replace(" ", "␣"))

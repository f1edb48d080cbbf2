"""Seeds for random choices that can be repeated on every machine."""

import hashlib


def number_from(*parts: object) -> int:
    """A 63-bit number computed from the parts alone, the same on every machine."""
    digest = hashlib.blake2b(repr(parts).encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little") >> 1

"""Random choices that follow from what is named, and from nothing else."""

import hashlib


def number_from(*parts: object) -> int:
    """A 63-bit number that follows from the parts alone, on every machine."""
    digest = hashlib.blake2b(repr(parts).encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little") >> 1

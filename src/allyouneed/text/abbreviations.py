"""Words before a full stop that does not end a sentence, in all languages of `tongues`: sentences
are parted without knowing their language."""

from operator import attrgetter

from allyouneed.text.tongues.known import TONGUES


def _words(field: str) -> frozenset[str]:
    """The words of a field of `tongue.Stops`."""
    of = attrgetter(f"stops.{field}")
    return frozenset(word for one in TONGUES.values() for word in of(one).split())


# Never at the end of a sentence: "Dr. Smith", "z. B. Katzen", "5 Mio. Euro".
NEVER_LAST = _words("never_last")

# Abbreviations only before a number: "No. 5", "S. 12", "Jan. 3". Otherwise they are ordinary words.
BEFORE_NUMBERS = _words("before_numbers")

# Abbreviations with dots that often end a sentence: "at 5 p.m. He left."
OFTEN_LAST = _words("often_last")

# Words before an ordinal in digits, which does not end a sentence: "am 3. Oktober".
BEFORE_ORDINALS = _words("before_ordinals")

# Words after an ordinal in digits: "3. Oktober", "19. Jahrhundert".
AFTER_ORDINALS = _words("after_ordinals")

# Capitalised words that begin a sentence even after an initial: "in the U.S. The ..."
OPENERS = _words("openers")

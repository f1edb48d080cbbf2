"""Which language a text is in, of those that the models translate from."""

import importlib.util
import math
import threading
from array import array
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

from allyouneed.text.set_phrases import languages_of_phrase

if TYPE_CHECKING:
    from py3langid.langid import LanguageIdentifier

    from allyouneed.translation.result import Translation

ENOUGH = 1000  # characters; no more of a text are looked at
SHORT = 3  # words; the models help to decide about texts that are no longer
SURE = 0.995  # confidence above which the models are not asked
ROWS_AT_A_TIME = 1024  # of the automaton, when it is made smaller
# Fitted on 1,500 pieces of 1 to 3 words from Tatoeba: single words 13.3 % wrong by letters alone,
# 9.6 % with the models' help; two words 2.2 % and 1.6 %.
LETTERS, MODELS = 2.3, 2.7
# Taken from the log-likelihood of a translation that repeats the text. A model into English is sure
# to repeat an English word, so this does not speak for the language that it translates from. Of
# 2,007 words in eight languages 29.1 % were told wrong without this, 23.8 % with it.
REPEATED = 1.0
MISSING = (
    "the language cannot be detected here; name the source language, or install the server with "
    "its extra: pip install 'allyouneed[detect]'"
)

Rank = Callable[[str], list[tuple[str, float]]]

_READING = threading.Lock()


@dataclass(frozen=True, slots=True)
class Guess:
    """A language and how sure the detector is, 0 to 1."""

    language: str
    confidence: float


class Detector:
    """Ranks `languages` for texts by their letters (py3langid, restricted to these). A text that is
    a set phrase, such as "Hallo!", is told by that: letters are wrong about so few of them.

    `available` says whether its library is installed. The first use reads the library's model,
    which takes most of a second; `load_ahead` has a thread read it before.
    """

    def __init__(self, languages: Sequence[str]) -> None:
        self.languages = list(languages)
        self.available = importlib.util.find_spec("py3langid") is not None
        self._by_plain = {code.partition("-")[0].lower(): code for code in reversed(self.languages)}
        self._lock = threading.Lock()

    @property
    def loaded(self) -> bool:
        """Whether `rank` answers at once."""
        return "_rank" in self.__dict__

    def load_ahead(self) -> None:
        """Reads the library's model in a thread of its own."""
        threading.Thread(target=self.rank, args=("a",), daemon=True).start()

    def rank(self, text: str) -> list[Guess]:
        """The likeliest language first; confidences sum to 1."""
        with self._lock:
            rank = self._rank
            if rank is None or not text.strip():
                return [Guess(code, 1 / len(self.languages)) for code in self.languages]
            found = rank(text[:ENOUGH])
        speakers = languages_of_phrase(text) if len(text) <= ENOUGH else frozenset()
        if shares := sum(code in speakers for code, _ in found):
            found = [(code, (code in speakers) / shares) for code, _ in found]
            found.sort(key=lambda one: -one[1])
        return [Guess(self._by_plain[code], float(p)) for code, p in found]

    @cached_property
    def _rank(self) -> Rank | None:
        """None where there is nothing to choose from, or nothing to choose with."""
        if not self.available or len(self.languages) < 2:
            return None
        with _READING:
            return _ranks(frozenset(self._by_plain))


@lru_cache(maxsize=2)  # so that a service that reads its models anew need not read this one
def _ranks(languages: frozenset[str]) -> Rank | None:
    """The function of py3langid that ranks the languages of these codes; None if py3langid knows
    fewer than two of them."""
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    identifier = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    known = {*identifier.labels} & languages
    if len(known) < 2:
        return None
    identifier.set_languages(sorted(known))
    # The other 130 languages are never asked for; without them 30 MB go back.
    identifier._full_model = identifier.nb_ptc, identifier.nb_pc, identifier.nb_classes
    identifier.tk_nextmove = _Moves(identifier)
    rank: Rank = identifier.rank
    return rank


class _Moves:
    """The moves of the library's automaton, a row of 256 for each kind of state, in a quarter of
    the memory: of each row only those moves that the first state's row does not have too."""

    def __init__(self, identifier: "LanguageIdentifier") -> None:
        import numpy as np

        rows = np.asarray(identifier.tk_nextmove, np.uint32).reshape(-1, 256)
        usual = rows[identifier.tk_row[0]]
        self._usual: list[int] = usual.tolist()
        self._letters, self._targets = bytearray(), array("I")
        ends = [np.zeros(1, np.int64)]
        for first in range(0, len(rows), ROWS_AT_A_TIME):
            some = rows[first : first + ROWS_AT_A_TIME]
            other = some != usual
            self._letters += other.nonzero()[1].astype(np.uint8).tobytes()
            self._targets.frombytes(some[other].tobytes())
            ends.append(ends[-1][-1] + other.sum(axis=1).cumsum())
        self._starts = array("I", np.concatenate(ends).astype(np.uint32).tobytes())

    def __getitem__(self, place: int) -> int:
        """The state after row `place // 256` and byte `place % 256`."""
        row, letter = place >> 8, place & 255
        found = self._letters.find(letter, self._starts[row], self._starts[row + 1])
        return self._targets[found] if found >= 0 else self._usual[letter]


def unsure(text: str, guesses: Sequence[Guess]) -> list[Guess]:
    """The guesses between which the translation models have to decide. Empty if the text is long
    enough, or if its letters make the language sure enough."""
    if len(text.split()) > SHORT or guesses[0].confidence > SURE:
        return []
    return [guess for guess in guesses[:3] if guess.confidence > 1 - SURE]


def likelihood(text: str, translation: "Translation") -> float:
    """The average log-likelihood of a text's translation, less where it repeats the text."""
    repeated = translation.text.strip().casefold() == text.strip().casefold()
    return translation.average_log_likelihood - REPEATED * repeated


def decided(guesses: Sequence[Guess], likelihoods: Mapping[str, float]) -> list[Guess]:
    """The guesses, weighed by the `likelihood` of the translation that a model from each language
    gives the text."""
    weights = {
        guess.language: math.exp(
            LETTERS * math.log(guess.confidence) + MODELS * likelihoods[guess.language]
        )
        for guess in guesses
    }
    whole = sum(weights.values()) or 1.0
    found = [Guess(language, weight / whole) for language, weight in weights.items()]
    return sorted(found, key=lambda guess: -guess.confidence)

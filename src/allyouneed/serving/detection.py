"""Which language a text is in, of those that the models translate from."""

import importlib.util
import math
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

ENOUGH = 1000  # characters that decide
SHORT = 3  # words; letters alone decide badly about so few
SURE = 0.995  # more than this is left as it is
# Fitted on 1,500 pieces of 1 to 3 words from Tatoeba: single words 13.3 % wrong by letters alone,
# 9.6 % with the models' help; two words 2.2 % and 1.6 %.
LETTERS, MODELS = 2.3, 2.7
MISSING = (
    "the language cannot be detected here; name the source language, or install the server with "
    "its extra: pip install 'allyouneed[detect]'"
)

Rank = Callable[[str], list[tuple[str, float]]]


@dataclass(frozen=True, slots=True)
class Guess:
    """A language and how sure the detector is, 0 to 1."""

    language: str
    confidence: float


class Detector:
    """Ranks `languages` for texts by their letters (py3langid, restricted to these).

    `available` says whether its library is installed. A thread loads it while the service starts;
    `rank` waits for that, and `loaded` says whether it would.
    """

    def __init__(self, languages: Sequence[str]) -> None:
        self.languages = list(languages)
        self.available = importlib.util.find_spec("py3langid") is not None
        self._by_plain = {code.partition("-")[0].lower(): code for code in reversed(self.languages)}
        self._lock = threading.Lock()
        self._rank: Rank | None = None
        self._loading = threading.Thread(target=self._load, daemon=True)
        if self.available and len(self.languages) > 1:
            self._loading.start()

    @property
    def loaded(self) -> bool:
        """Whether `rank` answers at once."""
        return not self._loading.is_alive()

    def rank(self, text: str) -> list[Guess]:
        """The likeliest language first; confidences sum to 1."""
        if self._loading.is_alive():
            self._loading.join()
        if self._rank is None or not text.strip():
            return [Guess(code, 1 / len(self.languages)) for code in self.languages]
        with self._lock:
            found = self._rank(text[:ENOUGH])
        return [Guess(self._by_plain[code], float(p)) for code, p in found]

    def _load(self) -> None:
        from py3langid.langid import MODEL_FILE, LanguageIdentifier

        identifier = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
        known = {*identifier.labels} & {*self._by_plain}
        if len(known) > 1:
            identifier.set_languages(sorted(known))
            # The other 130 languages are never asked for; without them 40 MB go back.
            identifier._full_model = identifier.nb_ptc, identifier.nb_pc, identifier.nb_classes
            self._rank = identifier.rank


def unsure(text: str, guesses: Sequence[Guess]) -> list[Guess]:
    """Those of the guesses that the translation models have to decide between; none for a text
    that is long enough, or sure enough, by its letters."""
    if len(text.split()) > SHORT or guesses[0].confidence > SURE:
        return []
    return [guess for guess in guesses[:3] if guess.confidence > 1 - SURE]


def decided(guesses: Sequence[Guess], likelihoods: Mapping[str, float]) -> list[Guess]:
    """The guesses, weighed by how well a model from each language knows what the text means:
    the average log-likelihood of its translation."""
    weights = {
        guess.language: math.exp(
            LETTERS * math.log(guess.confidence) + MODELS * likelihoods[guess.language]
        )
        for guess in guesses
    }
    whole = sum(weights.values()) or 1.0
    found = [Guess(language, weight / whole) for language, weight in weights.items()]
    return sorted(found, key=lambda guess: -guess.confidence)

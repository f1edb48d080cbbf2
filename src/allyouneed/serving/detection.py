"""Which language a text is in, of those that the models translate from."""

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass

ENOUGH = 1000  # characters that decide

MISSING = (
    "the language cannot be detected here; name the source language, or install the server with "
    "its extra: pip install 'allyouneed[detect]'"
)


@dataclass(frozen=True, slots=True)
class Guess:
    """A language and how sure the detector is, 0 to 1."""

    language: str
    confidence: float


class Detector:
    """Ranks `languages` for texts by their letters (py3langid, restricted to these).

    `available` says whether its library is installed.
    """

    def __init__(self, languages: Sequence[str]) -> None:
        self.languages = list(languages)
        self._lock = threading.Lock()
        self._rank: Callable[[str], list[tuple[str, float]]] | None = None
        self._by_plain = {code.partition("-")[0].lower(): code for code in reversed(self.languages)}
        self.available = self._open()

    def _open(self) -> bool:
        try:
            from py3langid.langid import MODEL_FILE, LanguageIdentifier
        except ImportError:
            return False
        identifier = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
        known = {*identifier.labels} & {*self._by_plain}
        if known:
            identifier.set_languages(sorted(known))
            self._rank = identifier.rank
        return True

    def rank(self, text: str) -> list[Guess]:
        """The likeliest language first; confidences sum to 1."""
        if len(self.languages) == 1 or self._rank is None or not text.strip():
            return [Guess(code, 1 / len(self.languages)) for code in self.languages]
        with self._lock:
            found = self._rank(text[:ENOUGH])
        return [
            Guess(self._by_plain[code], float(p)) for code, p in found if code in self._by_plain
        ]

"""Fits and measures a model's confidence: translates held-out pairs and compares the translations
with the references."""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import sacrebleu

from allyouneed.decoding.options import BeamOptions
from allyouneed.evaluation.calibration import Quality, fitted, held_out, quality, sigmoid
from allyouneed.evaluation.metrics import UNSPACED
from allyouneed.model_folder.confidence import Calibration
from allyouneed.text.languages import UNNAMED, Direction
from allyouneed.translation.confidence import text_signals, word_signals
from allyouneed.translation.job import Job
from allyouneed.translation.request import TranslationRequest
from allyouneed.translation.translator import Translator

TOGETHER = 256  # pairs that are translated at a time
HEADING = "## Confidence"
CARD = """{heading}

`confidence` is the probability that the chrF of a translation with a reference is {threshold:g} or
more. A logistic regression tells it from the mean, the least and the sum of the tokens'
log-probabilities, from the lengths, from the tokens per character, and from the rarity of the
pieces. Another one tells the probability that the reference has a word. `allyouneed calibrate`
fitted both to the pairs below; the figures are by five-fold cross-validation. H is the mean
log-probability alone. chrF uses n-grams of up to six characters, or of up to two in languages
without spaces, such as Chinese.

| pairs of | pairs | acceptable | ECE | AUROC | of H | Spearman with chrF | of H |
|---|---|---|---|---|---|---|---|
{rows}
""".replace("{heading}", HEADING)
_NO_LETTERS = re.compile(r"\W+")


@dataclass(slots=True)
class Examples:
    """Translations with their signals, and how good they are.

    `words` has, for each translation, the log-probabilities and the pieces of its tokens without
    the end, and for each of its words whether the reference has it.
    """

    signals: list[tuple[float, ...]] = field(default_factory=list)
    chrf: list[float] = field(default_factory=list)
    words: list[tuple[Sequence[float], Sequence[str], list[bool]]] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.chrf)


@dataclass(frozen=True, slots=True)
class CalibrationReport:
    """How good the confidence is on some pairs, and how good H, the mean log-probability, is."""

    pairs: int
    acceptable: float
    confidence: Quality
    plain: Quality
    words: Quality

    def to_dict(self) -> dict[str, Any]:
        """All fields by name, for JSON."""
        return {
            "pairs": self.pairs,
            "acceptable": self.acceptable,
            "confidence": self.confidence.to_dict(),
            "H": self.plain.to_dict(),
            "words": self.words.to_dict(),
        }


def examples_of(
    translator: Translator,
    pairs: Sequence[tuple[str, str]],
    direction: Direction = UNNAMED,
    progress: Callable[[int], None] = lambda done: None,
) -> Examples:
    """Translates each source with the default beam search. Texts that are blank or translated in
    parts are left out. `progress` receives the number of pairs that are done."""
    request = TranslationRequest(BeamOptions(), direction=direction)
    given = len(direction.target_mark)
    unspaced = direction.target.partition("-")[0] in UNSPACED  # a sign there is half a word
    metric = sacrebleu.CHRF(char_order=2 if unspaced else sacrebleu.CHRF.CHAR_ORDER)
    pieces_of = translator.tokenizer.target.piece
    found = Examples()
    for begin in range(0, len(pairs), TOGETHER):
        some = pairs[begin : begin + TOGETHER]
        job = Job.of([source for source, _ in some], request, translator.segmenter)
        searched = translator.search(job)
        translations = job.translations(searched, translator.segmenter)
        waiting = iter(zip(job.segments, searched, strict=True))
        for (_, reference), cut, one in zip(some, job.cuts, translations, strict=True):
            own = [next(waiting) for _ in cut.with_text()]
            if len(own) != 1 or not one.text.strip():
                continue
            [(segment, result)] = own
            best = result.hypotheses[0]
            log_ps = best.token_log_probabilities[given:]
            written = result.text(best, translator.tokenizer, given)
            ids = best.ids[given:]
            found.signals.append(
                text_signals(log_ps, result.source_ids, ids, segment.seen, written)
            )
            found.chrf.append(float(metric.sentence_score(one.text, [reference]).score))
            count = len(log_ps) - best.finished
            pieces = [pieces_of(id) for id in ids[:count]]
            found.words.append((log_ps[:count], pieces, right_words(written, reference)))
        progress(begin + len(some))
    return found


def right_words(text: str, reference: str) -> list[bool]:
    """For each word of a text, whether the reference has it too. Case and signs are ignored."""
    left = Counter(_NO_LETTERS.sub("", word.casefold()) for word in reference.split())
    found = []
    for word in text.split():
        bare = _NO_LETTERS.sub("", word.casefold())
        found.append(left[bare] > 0)
        left[bare] -= 1
    return found


def fit(
    sets: Mapping[str, Examples], threshold: float
) -> tuple[Calibration, dict[str, CalibrationReport]]:
    """Fits a calibration to all sets of pairs together, and measures it by cross-validation on each
    set and on all. A translation is acceptable if its chrF is at least `threshold`.

    Raises:
        DataError: all translations are acceptable, or none is.
    """
    signals_NF = np.array([one for some in sets.values() for one in some.signals])
    chrf_N = np.array([one for some in sets.values() for one in some.chrf])
    text = fitted(signals_NF, chrf_N >= threshold)
    half = Calibration(threshold=threshold, text=text, word=(0.0, 0.0, 0.0, 0.0))
    words = {name: _words(half, some) for name, some in sets.items()}
    word_signals_NF = np.concatenate([one[0] for one in words.values()])
    right_N = np.concatenate([one[1] for one in words.values()])
    calibration = Calibration(threshold=threshold, text=text, word=fitted(word_signals_NF, right_N))
    probabilities = held_out(signals_NF, chrf_N >= threshold)
    of_words = held_out(word_signals_NF, right_N)
    report, begin, begin_words = {}, 0, 0
    for name, some in sets.items():
        end, end_words = begin + len(some), begin_words + len(words[name][1])
        report[name] = _report(
            some,
            threshold,
            probabilities[begin:end],
            of_words[begin_words:end_words],
            words[name][1],
        )
        begin, begin_words = end, end_words
    if len(sets) > 1:
        everything = Examples(list(map(tuple, signals_NF.tolist())), chrf_N.tolist())
        report["all"] = _report(everything, threshold, probabilities, of_words, right_N)
    return calibration, report


def measured(
    calibration: Calibration, sets: Mapping[str, Examples]
) -> dict[str, CalibrationReport]:
    """How good a calibration is on each set of pairs."""
    found = {}
    for name, some in sets.items():
        odds_N = np.array([calibration.text_odds(one) for one in some.signals])
        words_NF, right_N = _words(calibration, some)
        word_odds_N = np.array([calibration.word_odds(one) for one in words_NF])
        found[name] = _report(
            some, calibration.threshold, sigmoid(odds_N), sigmoid(word_odds_N), right_N
        )
    return found


def card_with(card: str, calibration: Calibration, report: Mapping[str, CalibrationReport]) -> str:
    """A model card with a section about the confidence, in place of an older one."""
    rows = [
        f"| {name} | {one.pairs:,} | {one.acceptable:.0%} | {_number(one.confidence.ece)} "
        f"| {_number(one.confidence.auroc)} | {_number(one.plain.auroc)} "
        f"| {_number(one.confidence.spearman)} | {_number(one.plain.spearman)} |"
        for name, one in report.items()
    ]
    section = CARD.format(threshold=calibration.threshold, rows="\n".join(rows))
    before, heading, after = card.partition(f"{HEADING}\n")
    rest = after[after.index("\n## ") + 1 :] if heading and "\n## " in after else ""
    return f"{before.rstrip()}\n\n{section}" + (f"\n{rest}" if rest else "")


def _number(number: float | None) -> str:
    return "–" if number is None else f"{number:.3f}"


def _words(calibration: Calibration, some: Examples) -> tuple[Any, Any]:
    """The words' signals NF, and whether each word is right, N. Leaves out translations whose
    tokens cannot be assigned to words."""
    signals: list[tuple[float, float, float]] = []
    right: list[bool] = []
    for text, (log_ps, pieces, labels) in zip(some.signals, some.words, strict=True):
        found = word_signals(log_ps, pieces, calibration.text_odds(text))
        if len(found) == len(labels):
            signals += found
            right += labels
    return np.array(signals).reshape(-1, 3), np.array(right, bool)


def _report(
    some: Examples, threshold: float, probability_N: Any, word_N: Any, right_N: Any
) -> CalibrationReport:
    chrf_N = np.array(some.chrf)
    accepted_N = chrf_N >= threshold
    mean_N = np.array([one[0] for one in some.signals])
    return CalibrationReport(
        len(some),
        float(accepted_N.mean()) if len(some) else 0.0,
        quality(probability_N, accepted_N, chrf_N),
        quality(mean_N, accepted_N, chrf_N, probable=False),
        quality(word_N, right_N, right_N),
    )

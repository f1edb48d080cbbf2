"""Filters that decide which pairs training uses."""

from dataclasses import dataclass

from allyouneed.data.corpus import Pair
from allyouneed.errors import UsageError
from allyouneed.text.scripts import foreign_script


@dataclass(frozen=True)
class Filters:
    """Limits on pairs. Lengths are in tokens of one side, including the end token.

    `max_ratio` compares the longer side with the shorter one. A pair is left out if
    longer > max_ratio * shorter + ratio_slack; the slack lets short sentences differ freely.
    A duplicate is a pair whose two texts both equal those of an earlier pair of any corpus.
    A text is empty if it has nothing but white space. A text is in another script if most of its
    letters are of scripts that its language is not written in, such as Cyrillic letters in English.
    `languages` are those of corpora that name none; "" is not checked. `apart_from` are texts that
    no pair may have on a side, such as those of validation.
    """

    min_tokens: int = 1
    max_tokens: int = 256
    max_ratio: float = 3.0
    ratio_slack: int = 10
    drop_duplicates: bool = True
    drop_empty: bool = True
    drop_other_scripts: bool = False
    languages: tuple[str, str] = ("", "")
    apart_from: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        if not 1 <= self.min_tokens <= self.max_tokens:
            raise UsageError(
                f"min_tokens={self.min_tokens} and max_tokens={self.max_tokens} must satisfy "
                "1 <= min_tokens <= max_tokens"
            )
        if not (self.max_ratio >= 1 and self.ratio_slack >= 0):
            raise UsageError(
                f"max_ratio={self.max_ratio} must be at least 1 (inf: no limit) and "
                f"ratio_slack={self.ratio_slack} at least 0"
            )

    def judge_text(
        self, pair: Pair, languages: tuple[str, str] | None = None
    ) -> tuple[str, str] | None:
        """(reason, detail) if the pair is left out because of its texts; otherwise None.
        `languages` are those of its corpus."""
        if self.drop_empty:
            if not pair.source.strip():
                return "empty source", f"target: {_short(pair.target)}"
            if not pair.target.strip():
                return "empty target", f"source: {_short(pair.source)}"
        for side, text in zip(Pair._fields, pair, strict=False):
            if text in self.apart_from:
                return f"{side} in validation", _short(str(text))
        return self.other_script(pair, languages) if self.drop_other_scripts else None

    def other_script(
        self, pair: Pair, languages: tuple[str, str] | None = None
    ) -> tuple[str, str] | None:
        """(what, detail) if a text of the pair is in another script than its language."""
        codes = languages or self.languages
        for side, text, code in zip(Pair._fields, pair, codes, strict=False):
            if script := foreign_script(str(text), code):
                return f"{side} not in the script of {code}", f"{script}: {_short(str(text))}"
        return None

    def judge_lengths(self, source: int, target: int) -> tuple[str, str] | None:
        """(reason, detail) if the pair is left out because of its lengths in tokens; otherwise
        None."""
        shorter, longer = (source, target) if source < target else (target, source)
        if longer > self.max_tokens:
            reason, limit = "too long", f"max_tokens={self.max_tokens}"
        elif shorter < self.min_tokens:
            reason, limit = "too short", f"min_tokens={self.min_tokens}"
        elif longer > self.max_ratio * shorter + self.ratio_slack:
            reason, limit = "length ratio", f"max_ratio={self.max_ratio:g}"
        else:
            return None
        return reason, f"{source} and {target} tokens, {limit}"


def _short(text: str, limit: int = 60) -> str:
    return repr(text if len(text) <= limit else text[: limit - 1] + "…")

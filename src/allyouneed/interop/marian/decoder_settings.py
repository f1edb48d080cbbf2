"""How a Marian model wants to be searched: decoder.yml, and what becomes of each wish here."""

from collections.abc import Mapping
from typing import Any

# With what Marian does where the file says nothing.
DEFAULTS: dict[str, Any] = {
    "beam-size": 12,
    "normalize": 0.0,
    "word-penalty": 0.0,
    "max-length-factor": 3.0,
    "allow-unk": False,
    "n-best": False,
    "force-decode": False,
    "allow-special": False,
    "output-sampling": [],
    "right-left": False,
}
PENALTIES = {0.0: "NoPenalty", 1.0: "Average"}  # divides by the length to the power of 0, of 1
WITHOUT_A_WORD = ("beam-size", "normalize", "allow-unk", "max-length-factor", "n-best")

GENERATION = """\
## How it was meant to be searched

{said}
The nearest to that is

```python
from allyouneed import load
from allyouneed.decoding.length_penalty import {penalty}
from allyouneed.decoding.options import BeamOptions
translator = load("{{this folder}}"{selection})
translator(text, options=BeamOptions({options}))
```

Marian ends a translation at {factor} times the length of its source; here it may have 50 tokens
more than the source, or `max_length`.
"""


class DecoderSettings:
    """The wishes of a decoder.yml, or of Firefox, which ships none: beam 1, scores by length."""

    def __init__(self, told: Mapping[str, Any]) -> None:
        self.told = told
        self._wishes = DEFAULTS | (dict(told) or FIREFOX)

    @property
    def allows_unknown(self) -> bool:
        """Whether the unknown piece may be produced."""
        return bool(self._wishes["allow-unk"])

    def notes(self, selected: bool) -> list[str]:
        """The wishes that no search here follows by itself, in words."""
        found = [
            f"decoder.yml asks for {key}={self._wishes[key]!r}, which no search here follows"
            for key, default in DEFAULTS.items()
            if key not in WITHOUT_A_WORD and self._wishes[key] not in (default, None)
        ]
        if self._power not in PENALTIES:
            found.append(
                f"decoder.yml asks for normalize={self._power}: no length penalty here is that "
                "power of the length; the mean log-probability is the nearest"
            )
        if selected:
            found.append("its shortlist is used with --vocabulary-selection")
        return [*found, "its search settings are in README.md, as options that mean the same"]

    def card(self, selected: bool) -> str:
        """What the file asks for, and the same in the words of this project."""
        wishes = {key: self._wishes[key] for key in ("beam-size", "normalize", "max-length-factor")}
        said = ", ".join(f"{key}: {value}" for key, value in wishes.items())
        whose = (
            "Its decoder.yml says" if self.told else "It has no decoder.yml; Firefox searches by"
        )
        penalty = PENALTIES.get(self._power, "Average")
        return GENERATION.format(
            said=f"{whose} {said}.\n",
            penalty=penalty,
            selection=", vocabulary_selection=True" if selected else "",
            options=f"beam={self._beam}, length_penalty={penalty}()",
            factor=self._wishes["max-length-factor"],
        )

    @property
    def _power(self) -> float:
        try:
            return float(self._wishes["normalize"])
        except (TypeError, ValueError):
            return 1.0

    @property
    def _beam(self) -> int:
        beam = self._wishes["beam-size"]
        return beam if type(beam) is int and 1 <= beam <= 1000 else 1


FIREFOX = {"beam-size": 1, "normalize": 1.0, "max-length-factor": 2.0}

"""The search settings of a Marian model, decoder.yml, and the nearest settings here."""

from collections.abc import Mapping
from typing import Any

# The settings with Marian's default values.
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
PENALTIES = {0.0: "NoPenalty", 1.0: "Average"}  # by the power of the length that divides scores
NEEDS_NO_NOTE = ("beam-size", "normalize", "allow-unk", "max-length-factor", "n-best")

GENERATION = """\
## Search settings

{said}
The nearest settings here are

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
    """The settings of a decoder.yml. Firefox ships none; its settings are beam 1 and scores divided
    by length."""

    def __init__(self, told: Mapping[str, Any]) -> None:
        self.told = told
        self._settings = DEFAULTS | (dict(told) or FIREFOX)

    @property
    def allows_unknown(self) -> bool:
        """Whether the unknown piece may be produced."""
        return bool(self._settings["allow-unk"])

    def notes(self, selected: bool) -> list[str]:
        """Notes about the settings that are not applied here."""
        found = [
            f"decoder.yml asks for {key}={self._settings[key]!r}, which no search here follows"
            for key, default in DEFAULTS.items()
            if key not in NEEDS_NO_NOTE and self._settings[key] not in (default, None)
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
        """A section for the model card: the file's settings, and the nearest options here."""
        shown = {
            key: self._settings[key] for key in ("beam-size", "normalize", "max-length-factor")
        }
        said = ", ".join(f"{key}: {value}" for key, value in shown.items())
        whose = (
            "Its decoder.yml says" if self.told else "It has no decoder.yml; Firefox searches by"
        )
        penalty = PENALTIES.get(self._power, "Average")
        return GENERATION.format(
            said=f"{whose} {said}.\n",
            penalty=penalty,
            selection=", vocabulary_selection=True" if selected else "",
            options=f"beam={self._beam}, length_penalty={penalty}()",
            factor=self._settings["max-length-factor"],
        )

    @property
    def _power(self) -> float:
        try:
            return float(self._settings["normalize"])
        except (TypeError, ValueError):
            return 1.0

    @property
    def _beam(self) -> int:
        beam = self._settings["beam-size"]
        return beam if type(beam) is int and 1 <= beam <= 1000 else 1


FIREFOX = {"beam-size": 1, "normalize": 1.0, "max-length-factor": 2.0}

"""The search settings of a Marian model, decoder.yml, and the nearest settings here."""

from collections.abc import Mapping
from typing import Any

from allyouneed.interop.generation import is_power, penalty_code

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
NO_OTHER_LIMIT = 1000  # tokens more than the source; the factor and the positions are the limits
NEEDS_NO_NOTE = ("beam-size", "normalize", "allow-unk", "max-length-factor", "n-best")

GENERATION = """\
## Search settings

{said}
The nearest settings here are

```python
from allyouneed import load
{imports}
translator = load("{{this folder}}"{selection})
translator(text, options=BeamOptions({options}))
```
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
        if not is_power(self._settings["normalize"]):
            found.append(
                f"decoder.yml asks for normalize={self._settings['normalize']!r}, which no search "
                "here follows"
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
        imports, penalty = penalty_code(self._power)
        return GENERATION.format(
            said=f"{whose} {said}.\n",
            imports=imports,
            selection=", vocabulary_selection=True" if selected else "",
            options=", ".join(
                (
                    f"beam={self._beam}",
                    f"length_penalty={penalty}",
                    f"max_length_factor={self._factor}",
                    f"extra_length={NO_OTHER_LIMIT}",
                    "loop_guard=False",
                )
            ),
        )

    @property
    def _power(self) -> float:
        power = self._settings["normalize"]
        return float(power) if is_power(power) else 1.0

    @property
    def _factor(self) -> float:
        factor = self._settings["max-length-factor"]
        usable = type(factor) in (int, float) and 0 < factor < 1000
        return float(factor if usable else DEFAULTS["max-length-factor"])

    @property
    def _beam(self) -> int:
        beam = self._settings["beam-size"]
        return beam if type(beam) is int and 1 <= beam <= 1000 else 1


FIREFOX = {"beam-size": 1, "normalize": 1.0, "max-length-factor": 2.0}

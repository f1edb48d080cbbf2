"""The search settings of a Hugging Face folder, and the nearest settings here."""

from collections.abc import Mapping
from typing import Any

DEFAULTS: dict[str, Any] = {  # the settings of `generate`, with its default values
    "num_beams": 1,
    "length_penalty": 1.0,
    "max_length": None,
    "no_repeat_ngram_size": 0,
    "bad_words_ids": None,
    "early_stopping": False,
    "do_sample": False,
    "repetition_penalty": 1.0,
    "num_return_sequences": 1,
    "num_beam_groups": 1,
    "forced_bos_token_id": None,
    "suppress_tokens": None,
    "min_length": 0,
    "min_new_tokens": None,
    "max_new_tokens": None,
    "encoder_no_repeat_ngram_size": 0,
    "encoder_repetition_penalty": 1.0,
    "diversity_penalty": 0.0,
    "exponential_decay_length_penalty": None,
    "force_words_ids": None,
    "begin_suppress_tokens": None,
    "sequence_bias": None,
}
STOPS = {True: "first", "never": "exact"}  # for early_stopping; other values mean our default
PENALTIES = {0.0: "NoPenalty", 1.0: "Average"}  # by the power of the length that divides scores
POWERS = 100.0  # no power above this one, or below 0, is offered as a length penalty

GENERATION = """
## Search settings

The folder's own settings are

    {settings}

They are not applied: every model here is searched with the paper's beam search by default. The
nearest to the folder's settings is

```python
{imports}
options = BeamOptions({options}, loop_guard=False)
translator(text, options=options)
```

No search produces pad. A translation that reaches the largest length is cut off there with a note;
`generate` would write the end token instead.
"""


def is_power(value: object) -> bool:
    """Whether the value is a power of the length that scores can be divided by."""
    return type(value) in (int, float) and 0 <= value <= POWERS  # type: ignore[operator]


def penalty_code(power: float) -> tuple[str, str]:
    """The lines that import a length penalty and `BeamOptions`, and the length penalty's code. The
    penalty is that power of the length."""
    options = "from allyouneed.decoding.options import BeamOptions"
    if power not in PENALTIES:
        return options, f"lambda length: length**{power}"
    name = PENALTIES[power]
    return f"from allyouneed.decoding.length_penalty import {name}\n{options}", f"{name}()"


class Generation:
    """The search settings of a folder."""

    def __init__(self, config: Mapping[str, Any], generation: Mapping[str, Any], file: str) -> None:
        """`generation` is the content of `file`, generation_config.json. If there is none, the
        settings are those in config.json, where older versions wrote them."""
        told = generation or config
        self.said = {name: told[name] for name in DEFAULTS if told.get(name) is not None}
        self._file = file

    def not_followed(self, pad: int) -> list[str]:
        """Notes about the settings that no search here can follow."""
        differing = {n: value for n, value in self.said.items() if value != DEFAULTS[n]}
        for name in ("num_beams", "max_length", "max_new_tokens", "no_repeat_ngram_size"):
            differing.pop(name, None)
        if is_power(self._penalty):
            differing.pop("length_penalty", None)
        if differing.get("early_stopping") in STOPS:
            del differing["early_stopping"]
        if differing.get("bad_words_ids") == [[pad]]:
            del differing["bad_words_ids"]
        return [
            f"{self._file} asks for {name}={value!r}, which no search here follows"
            for name, value in differing.items()
        ]

    def card(self) -> str:
        """A section for the model card: the folder's settings, and the nearest options here."""
        if not self.said:
            return ""
        settings = ", ".join(f"{name}={value!r}" for name, value in self.said.items())
        imports, penalty = penalty_code(self._penalty if is_power(self._penalty) else 1.0)
        options = [f"beam={self.said.get('num_beams', 1)}", f"length_penalty={penalty}"]
        if (longest := self._longest) is not None:
            options.append(f"max_length={longest}")
        if ngram := self.said.get("no_repeat_ngram_size"):
            options.append(f"no_repeat_ngram={ngram}")
        if self.said.get("early_stopping") in STOPS:
            options.append(f'stop="{STOPS[self.said["early_stopping"]]}"')
        return GENERATION.format(settings=settings, options=", ".join(options), imports=imports)

    @property
    def _longest(self) -> int | None:
        """The largest number of tokens with their end. max_length counts the start too."""
        new, whole = self.said.get("max_new_tokens"), self.said.get("max_length")
        longest = new if type(new) is int else whole - 1 if type(whole) is int else 0
        return longest if longest > 1 else None

    @property
    def _penalty(self) -> Any:
        return self.said.get("length_penalty", DEFAULTS["length_penalty"])

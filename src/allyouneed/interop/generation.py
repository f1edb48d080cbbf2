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
}
STOPS = {True: "first", "never": "exact"}  # for early_stopping; other values mean our default
PENALTIES = {0.0: "NoPenalty", 1.0: "Average"}  # by the power of the length that divides scores

GENERATION = """
## Search settings

The folder's own settings are

    {settings}

They are not applied: every model here is searched with the paper's beam search by default. The
nearest to the folder's settings is

```python
from allyouneed.decoding.length_penalty import {penalty}
from allyouneed.decoding.options import BeamOptions
options = BeamOptions({options}, loop_guard=False)
translator(text, options=options)
```

No search produces pad. A translation that reaches the largest length is cut off there with a note;
`generate` would write the end token instead.
"""


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
        for name in ("num_beams", "max_length", "no_repeat_ngram_size"):
            differing.pop(name, None)
        if self._penalty in PENALTIES:
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
        penalty = PENALTIES.get(self._penalty, "Average")
        options = [f"beam={self.said.get('num_beams', 1)}", f"length_penalty={penalty}()"]
        if ngram := self.said.get("no_repeat_ngram_size"):
            options.append(f"no_repeat_ngram={ngram}")
        if self.said.get("early_stopping") in STOPS:
            options.append(f'stop="{STOPS[self.said["early_stopping"]]}"')
        return GENERATION.format(settings=settings, options=", ".join(options), penalty=penalty)

    @property
    def _penalty(self) -> Any:
        return self.said.get("length_penalty", DEFAULTS["length_penalty"])

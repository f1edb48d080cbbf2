"""How a Hugging Face folder wants to be searched, and what becomes of each wish here."""

from collections.abc import Mapping
from typing import Any

WISHES: dict[str, Any] = {  # with what `generate` does where a folder says nothing
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
STOPS = {True: "first", "never": "exact"}  # early_stopping; else as here without a word
PENALTIES = {0.0: "NoPenalty", 1.0: "Average"}  # divides by the length to the power of 0, of 1

GENERATION = """
## How it was meant to be searched

Its own settings are

    {wishes}

They are not taken by themselves: translating goes as with every model, by the paper's beam search.
The nearest to its own settings is

```python
from allyouneed.decoding.length_penalty import {penalty}
from allyouneed.decoding.options import BeamOptions
options = BeamOptions({options}, loop_guard=False)
translator(text, options=options)
```

Pad is never produced either way. A translation that reaches the longest length is cut off there
with a note, where `generate` would write the end.
"""


class Generation:
    """The wishes of a folder. Searches here never produce pad, and say so where a translation
    reaches the longest length, in place of forcing the end."""

    def __init__(self, config: Mapping[str, Any], generation: Mapping[str, Any], file: str) -> None:
        """`generation` is the content of `file`, generation_config.json; where there is none,
        older versions put the wishes into config.json."""
        told = generation or config
        self.said = {name: told[name] for name in WISHES if told.get(name) is not None}
        self._file = file

    def not_followed(self, pad: int) -> list[str]:
        """The wishes that no search here can follow, in words."""
        differing = {n: value for n, value in self.said.items() if value != WISHES[n]}
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
        """What the folder asks for, and the same in the words of this project."""
        if not self.said:
            return ""
        wishes = ", ".join(f"{name}={value!r}" for name, value in self.said.items())
        penalty = PENALTIES.get(self._penalty, "Average")
        options = [f"beam={self.said.get('num_beams', 1)}", f"length_penalty={penalty}()"]
        if ngram := self.said.get("no_repeat_ngram_size"):
            options.append(f"no_repeat_ngram={ngram}")
        if self.said.get("early_stopping") in STOPS:
            options.append(f'stop="{STOPS[self.said["early_stopping"]]}"')
        return GENERATION.format(wishes=wishes, options=", ".join(options), penalty=penalty)

    @property
    def _penalty(self) -> Any:
        return self.said.get("length_penalty", WISHES["length_penalty"])

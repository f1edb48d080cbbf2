"""What a verb's options say to `main`, which outlives the verb."""

from dataclasses import dataclass


@dataclass
class Settings:
    """`debug` shows tracebacks."""

    debug: bool = False

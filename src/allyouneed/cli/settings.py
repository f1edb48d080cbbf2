"""Settings that a verb's options make for `main`, which still runs after the verb has failed."""

from dataclasses import dataclass


@dataclass
class CallSettings:
    """Settings of a call. With `debug`, errors are shown with a traceback."""

    debug: bool = False

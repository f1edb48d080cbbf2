"""How texts are to be translated."""

from dataclasses import dataclass

from allyouneed.decoding.options import BeamOptions, SamplingOptions
from allyouneed.text.languages import UNNAMED, Direction

Options = BeamOptions | SamplingOptions


@dataclass(frozen=True, slots=True)
class TranslationRequest:
    """The search, what every translation has to begin with, whether words are aligned, and the
    languages.

    `options` are as the user asks for them. `searched` are the options of the search itself, where
    the mark of the target language is given.
    """

    options: Options
    prefix: str = ""
    alignments: bool = False
    direction: Direction = UNNAMED

    @property
    def searched(self) -> Options:
        """The options of the search itself."""
        return self.options.after(len(self.direction.target_mark))

"""How texts are to be translated."""

from dataclasses import dataclass

from allyouneed.decoding.options import BeamOptions, SamplingOptions
from allyouneed.text.languages import UNNAMED, Direction
from allyouneed.translation.markup.protected import Protection
from allyouneed.translation.terms.glossary import Glossary

Options = BeamOptions | SamplingOptions


@dataclass(frozen=True, slots=True)
class TranslationRequest:
    """The search, what every translation has to begin with, whether words are aligned, the
    languages, what is carried over literally, and the terms to use.

    `options` are as the user asks for them. `searched` are the options of the search itself, where
    the mark of the target language is given. `protection` finds what has to stay as it is; None:
    the model sees every text as it is.
    """

    options: Options
    prefix: str = ""
    alignments: bool = False
    direction: Direction = UNNAMED
    protection: Protection | None = None
    terms: Glossary | None = None

    @property
    def searched(self) -> Options:
        """The options of the search itself."""
        return self.options.after(len(self.direction.target_mark))

"""The request: how to translate some texts."""

from dataclasses import dataclass

from allyouneed.decoding.options import BeamOptions, SamplingOptions
from allyouneed.text.languages import UNNAMED, Direction
from allyouneed.translation.markup.protected import Protection
from allyouneed.translation.terms.glossary import Glossary

Options = BeamOptions | SamplingOptions


@dataclass(frozen=True, slots=True)
class TranslationRequest:
    """The wishes of a user for some texts.

    `options` are the search options as the user gave them. Every translation begins with `prefix`.
    `alignments` asks for word alignments. `direction` names the languages. `protection` finds the
    text that must stay as it is; None means that the model sees every text as it is. `terms` is the
    glossary to use. Without `judged`, translations have no confidences and no notes on what the
    user should check, which take time. With `set_phrases`, lines such as "Cheers!" come from the
    table of set phrases.
    """

    options: Options
    prefix: str = ""
    alignments: bool = False
    direction: Direction = UNNAMED
    protection: Protection | None = None
    terms: Glossary | None = None
    judged: bool = True
    set_phrases: bool = False

    def languages_of(self, text: str) -> tuple[str, str]:
        """The codes of the source and the target language of a text."""
        return self.direction.languages_of(text)

    @property
    def searched(self) -> Options:
        """The options of the search itself, in which every hypothesis begins with the mark of the
        target language."""
        return self.options.after(len(self.direction.target_mark))

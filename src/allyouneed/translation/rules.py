"""The rules in a model folder for the texts that its model reads and writes."""

from dataclasses import dataclass, field, replace

from allyouneed.decoding.alignment_heads import AlignmentHeads
from allyouneed.decoding.length_penalty import Wu
from allyouneed.decoding.options import BeamOptions
from allyouneed.model_folder.confidence import Calibration, open_calibration
from allyouneed.model_folder.folder import ModelFolder
from allyouneed.text.conversation import History
from allyouneed.text.languages import Languages


@dataclass(frozen=True, slots=True, kw_only=True)
class TextRules:
    """The rules of a model for texts, in one value.

    `speaks` are the languages that a call can name. `language` is the language of translations if
    `speaks` does not name it. `normaliser` is the name of the text normaliser; None means that the
    model reads texts as they are typed. `trained_length` is the source length, in tokens, that
    training covered well. `history` says how a model that replies sees a conversation (see `Chat`).
    Alignments are read from `alignment_heads`. `calibration` gives the confidence in a translation;
    without it there is none. `term_mark` is the mark around terms in the source of a model that was
    trained to read them there (`terms.annotation`); None means that terms guide the search.
    `length_penalty` is the alpha of the beam search where a call names none; None means the
    paper's. `set_phrases` says that lines such as "Cheers!" come from the table of set phrases.
    """

    speaks: Languages = field(default_factory=Languages)
    language: str = ""
    normaliser: str | None = None
    trained_length: int | None = None
    history: History | None = None
    alignment_heads: AlignmentHeads = field(default_factory=AlignmentHeads)
    calibration: Calibration | None = None
    term_mark: int | None = None
    length_penalty: float | None = None
    set_phrases: bool = False

    @classmethod
    def of(cls, folder: ModelFolder) -> "TextRules":
        """The rules of a folder.

        Raises:
            ModelFolderError: the calibration is damaged.
        """
        return cls(
            speaks=folder.speaks,
            language=folder.languages[1],
            normaliser=folder.normaliser,
            trained_length=folder.trained_length,
            history=folder.history,
            alignment_heads=folder.alignment_heads or AlignmentHeads(),
            calibration=open_calibration(folder.path),
            term_mark=folder.term_mark,
            length_penalty=folder.length_penalty,
            set_phrases=folder.set_phrases,
        )

    def searching(self, options: BeamOptions) -> BeamOptions:
        """The options with the model's length penalty, if they name none."""
        if self.length_penalty is None or options.length_penalty is not None:
            return options
        return replace(options, length_penalty=Wu(self.length_penalty))

"""The rules in a model folder for the texts that its model reads and writes."""

from dataclasses import dataclass, field

from allyouneed.decoding.alignment_heads import AlignmentHeads
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
    """

    speaks: Languages = field(default_factory=Languages)
    language: str = ""
    normaliser: str | None = None
    trained_length: int | None = None
    history: History | None = None
    alignment_heads: AlignmentHeads = field(default_factory=AlignmentHeads)
    calibration: Calibration | None = None
    term_mark: int | None = None

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
        )

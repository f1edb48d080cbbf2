"""The traits of a model: what config.json says of it beside its shape."""

from dataclasses import asdict, dataclass
from typing import Any

from allyouneed.decoding.alignment_heads import AlignmentHeads
from allyouneed.model_folder.config import Heads
from allyouneed.text.conversation import History
from allyouneed.text.languages import Languages


@dataclass(frozen=True, slots=True, kw_only=True)
class Traits:
    """The traits of a model: how it reads texts, and what its outputs mean.

    `languages` are (source, target) as the recipe names them; "" if unknown.
    `trained_length` is the source length, in tokens, that training covered well; None if unknown.
    `history` is how a chat model reads a conversation; None for a translation model.
    `heads` are the output heads of a model without a decoder, with the names of its labels; None
    for a model with a decoder.
    `normaliser` is the name of the model's normaliser; None if the model reads texts as typed.
    `alignment_heads` are the attention heads that give word alignments; None means all heads of the
    last layer.
    `multilingual` has the languages and marks of a model of several directions; None for a model of
    one direction.
    `term_mark` is the token id that surrounds terms inserted into a source, if the model was
    trained with them; None for other models.
    `length_penalty` is the alpha of Wu et al. 2016 with which the model translates best; None means
    the paper's. `set_phrases` says that lines such as "Cheers!" come from the table of set phrases
    (`text.set_phrases`).
    """

    languages: tuple[str, str] = ("", "")
    trained_length: int | None = None
    history: History | None = None
    heads: Heads | None = None
    normaliser: str | None = None
    alignment_heads: AlignmentHeads | None = None
    multilingual: Languages | None = None
    term_mark: int | None = None
    length_penalty: float | None = None
    set_phrases: bool = False

    @property
    def speaks(self) -> Languages:
        """The model's languages, whether it has one direction or several."""
        return self.multilingual or Languages.of_pair(*self.languages)

    def document(self) -> dict[str, Any]:
        """The traits as keys of config.json. Most keys are left out where they have no value."""
        optional = {
            "normaliser": self.normaliser,
            "history": self.history and asdict(self.history),
            "alignment_heads": self.alignment_heads and asdict(self.alignment_heads),
            "heads": self.heads and asdict(self.heads),
            "languages": self.multilingual and self.multilingual.to_dict(),
            "term_mark": self.term_mark,
            "length_penalty": self.length_penalty,
            "set_phrases": self.set_phrases or None,
        }
        return {
            "source_language": self.languages[0],
            "target_language": self.languages[1],
            "trained_length": self.trained_length,
            **{key: value for key, value in optional.items() if value is not None},
        }

"""The schema of recipes for replies: conversations, and the history that a reply sees."""

from typing import Literal

from pydantic import Field, model_validator

from allyouneed.errors import AllYouNeedError
from allyouneed.text.conversation import History
from allyouneed.training.recipe.data_sections import CorpusSection, DataSection, TrainCorpusSection
from allyouneed.training.recipe.schema import PairsRecipe
from allyouneed.training.recipe.values import Count, Section


class ReplyCorpusSection(CorpusSection):
    """One corpus of conversations: pairs of turn and reply, or one turn a line."""

    one_conversation: bool = Field(
        default=False,
        description="all pairs are one conversation; by default a pair continues the conversation "
        "only if its turn is the reply of the pair before",
    )
    turn_fields: tuple[str, str, str] | None = Field(
        default=None,
        description="columns of dialogue, speaker and text in a file (tsv, csv) with one turn per "
        "line",
    )
    spaced: bool = Field(
        default=False,
        description="the file has spaces around punctuation, which are removed",
    )


class TrainReplyCorpusSection(ReplyCorpusSection, TrainCorpusSection):
    """A corpus of conversations to learn from."""

    @model_validator(mode="after")
    def _was_said(self) -> "TrainReplyCorpusSection":
        if self.back_translate is not None:
            raise ValueError(
                "back_translate writes single sentences, but a reply is learnt from all turns "
                "before it; leave it out"
            )
        return self


class ReplyDataSection(DataSection):
    """The corpora of conversations; paths as everywhere."""

    train: tuple[TrainReplyCorpusSection, ...] = Field(
        min_length=1, description="conversations to learn from"
    )
    valid: tuple[ReplyCorpusSection, ...] = Field(
        min_length=1, description="conversations to validate on"
    )


class ReplySection(Section):
    """The history that a reply sees, in training and in chats."""

    history: Count = Field(
        default=History.turns, description="turns of the source, the one to reply to among them"
    )
    marks: tuple[str, str] = Field(
        default=History.marks,
        description="marks before the other speaker's turns and before the replier's own turns",
    )

    @model_validator(mode="after")
    def _tells_speakers_apart(self) -> "ReplySection":
        try:
            self.as_history()
        except AllYouNeedError as error:
            raise ValueError(str(error)) from None
        return self

    def as_history(self) -> History:
        """The same as a value of the text layer."""
        return History(turns=self.history, marks=self.marks)


class ReplyRecipe(PairsRecipe):
    """A recipe for replies: the turns of a conversation so far, and the next turn."""

    task: Literal["reply"] = Field(default="reply", description="what is learnt")
    data: ReplyDataSection = Field(description="the corpora")
    reply: ReplySection = Field(default=ReplySection(), description="what a reply looks back at")

    @model_validator(mode="after")
    def _is_no_translation(self) -> "ReplyRecipe":
        if self.directions:
            raise ValueError(
                "source_language and target_language of a corpus are for translations; leave them "
                "out"
            )
        if self.guided_alignment is not None:
            raise ValueError(
                "guided_alignment has no place where the target is a reply and no translation; "
                "leave it out"
            )
        return self

    @property
    def history(self) -> History:
        """The window and the marks."""
        return self.reply.as_history()

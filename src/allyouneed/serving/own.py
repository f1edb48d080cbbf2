"""The service's own API: everything about a translation at once."""

from collections.abc import AsyncIterator

from pydantic import ConfigDict, Field
from pydantic_core import to_json
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from allyouneed.serving.alternatives import ways_to_go_on
from allyouneed.serving.desk import AUTO, Desk, TranslatedText
from allyouneed.serving.glossaries import terms_of
from allyouneed.serving.growing import grow
from allyouneed.serving.guard import Guard
from allyouneed.serving.operation import Message, Operation, json_answer
from allyouneed.serving.reading import checked, read_values
from allyouneed.serving.refusal import ClientGone, Refused
from allyouneed.serving.visit import Visit
from allyouneed.translation.result import Translation

MOST_TERMS = 10_000  # of a request
EVENTS = "text/event-stream"


class TranslateBody(Message):
    """The request of /v1/translate."""

    model_config = ConfigDict(extra="forbid")

    text: str | list[str] = Field(examples=["Good morning."])
    target: str = Field(examples=["de"])
    source: str = Field(AUTO, examples=["en"])
    n_best: int = Field(1, ge=1, le=32, description="How many translations of each text.")
    beam: int | None = Field(None, ge=1, le=32, description="Hypotheses kept at each step.")
    prefix: str = Field("", description="What each translation has to begin with.")
    alignments: bool = Field(False, description="Which words belong together.")
    tokens: bool = Field(False, description="The pieces with their log-probabilities.")
    protect: bool = Field(True, description="Addresses, code and numbers come through as they are.")
    terms: dict[str, str | list[str]] | None = Field(
        None,
        max_length=MOST_TERMS,
        description="How words are to be translated: source to target, or to its forms.",
    )
    stream: bool = Field(False, description="One text, given out as it grows, as events.")


class UsedTerm(Message):
    """The use of a term. `form` is its form in the translation, or null if the translation has
    none. `source` and `target` are where it stands in the two texts, as numbers of characters."""

    term: str
    form: str | None
    source: tuple[int, int] | None
    target: tuple[int, int] | None


class Alternative(Message):
    """One way to translate a text. `score` is the mean log-probability of its tokens."""

    text: str
    score: float
    tokens: list[str] | None = None
    token_log_probabilities: list[float] | None = None


class SentenceConfidence(Message):
    """The confidence in `text` as the translation of the sentence `source`."""

    source: str
    text: str
    confidence: float


class OneTranslation(Alternative):
    """The best translation of a text. `alignment` are pairs of word numbers (source, target); white
    space separates the words.

    `confidence`, 0 to 1, is the probability that a reader accepts the translation,
    `sentence_confidences` have that of each sentence, and `word_confidences` that of each word of
    `text`, where the model is calibrated.
    """

    source: str
    confidence: float | None = None
    sentence_confidences: list[SentenceConfidence] | None = None
    word_confidences: list[float] | None = None
    detected_confidence: float | None = None
    alternatives: list[Alternative] | None = None
    alignment: list[tuple[int, int]] | None = None
    terms: list[UsedTerm] | None = None
    notes: list[str] | None = None


class TranslateAnswer(Message):
    """The answer of /v1/translate: a translation for each text, in order."""

    translations: list[OneTranslation]


class Way(Message):
    """A direction of /v1/models: with the `engine` of its model, or with the language `via` which
    two models lead through it."""

    source: str
    target: str
    engine: str | None = None
    via: str | None = None


class AlternativesBody(Message):
    """The request of /v1/alternatives: a text of one line, and how its translation begins."""

    model_config = ConfigDict(extra="forbid")

    text: str = Field(examples=["Good morning."])
    source: str = Field(examples=["en"])
    target: str = Field(examples=["de"])
    prefix: str = ""
    most: int = Field(8, ge=1, le=16)


class WayToGoOn(Message):
    """A word that may follow the prefix, its probability, and the whole translation with it."""

    word: str
    probability: float
    text: str


class AlternativesAnswer(Message):
    """The answer of /v1/alternatives, the most probable first."""

    alternatives: list[WayToGoOn]


class Own:
    """The endpoints."""

    def __init__(self, desk: Desk, guard: Guard) -> None:
        self.desk, self.guard = desk, guard

    def operations(self) -> list[Operation]:
        """All operations of this API."""
        return [
            Operation(
                "POST",
                "/v1/translate",
                self.translate,
                "Translate, with all that is known about each translation",
                body=TranslateBody,
                answer=TranslateAnswer,
                stream_kind=EVENTS,
            ),
            Operation(
                "POST",
                "/v1/alternatives",
                self.alternatives,
                "Say which words may follow the beginning of a translation",
                body=AlternativesBody,
                answer=AlternativesAnswer,
            ),
            Operation(
                "GET",
                "/v1/models",
                self.models,
                "List what can be translated, and how",
                answer=list[Way],
            ),
        ]

    async def models(self, request: Request) -> Response:
        """GET /v1/models"""
        shelf = self.desk.shelf
        direct = [
            Way(source=source, target=target, engine=model.translator.engine.description)
            for (source, target), model in shelf.models.items()
        ]
        pivoted = [
            Way(source=source, target=target, via=via)
            for (source, target), via in shelf.pivoted.items()
        ]
        return json_answer([*direct, *pivoted])

    async def alternatives(self, request: Request) -> Response:
        """POST /v1/alternatives"""
        values = await read_values(request)
        visit = self.guard.admit(request)
        body = checked(AlternativesBody, values)
        self.desk.check_size([body.text], visit)
        if "\n" in body.text.strip():
            raise Refused(400, "alternatives are for a text of one line")
        source, target = self.desk.target(body.source), self.desk.target(body.target)
        self.guard.charge(visit)
        ways = await ways_to_go_on(
            self.desk, body.text, source, target, body.prefix, body.most, visit
        )
        return json_answer(
            AlternativesAnswer(
                alternatives=[
                    WayToGoOn(word=way.word, probability=way.probability, text=way.translation.text)
                    for way in ways
                ]
            )
        )

    async def translate(self, request: Request) -> Response:
        """POST /v1/translate"""
        values = await read_values(request)
        visit = self.guard.admit(request)
        body = checked(TranslateBody, values)
        texts = [body.text] if isinstance(body.text, str) else body.text
        if body.stream and len(texts) != 1:
            raise Refused(400, f"stream takes one text, not {len(texts)}")
        self.desk.check_size([*texts, body.prefix], visit)
        visit.texts = len(texts)
        source, target = self.desk.source(body.source), self.desk.target(body.target)
        self.guard.charge(visit)
        asked = self.desk.asked(
            body.n_best,
            body.prefix,
            body.alignments,
            beam=body.beam,
            protect=body.protect,
            terms=terms_of(body.terms) if body.terms else None,
        )
        if body.stream:
            pieces = grow(self.desk, texts[0], source, target, asked, visit)
            first = await anext(pieces)  # an error before the first piece has a status of its own
            visit.streamed = True
            return StreamingResponse(
                _events(first, pieces, body, visit, self.guard), media_type=EVENTS
            )
        found = await self.desk.translate(texts, source, target, asked, visit)
        return json_answer(TranslateAnswer(translations=[_one(one, body) for one in found]))


async def _events(
    first: str | TranslatedText,
    rest: AsyncIterator[str | TranslatedText],
    body: TranslateBody,
    visit: Visit,
    guard: Guard,
) -> AsyncIterator[bytes]:
    try:
        yield _event(first, body)
        async for piece in rest:
            yield _event(piece, body)
    except Refused as refused:
        guard.give_back(visit)
        yield b"event: error\ndata: " + to_json({"error": refused.reason}) + b"\n\n"
    except ClientGone:
        return
    finally:
        visit.end()


def _event(piece: str | TranslatedText, body: TranslateBody) -> bytes:
    if isinstance(piece, str):
        return b"event: piece\ndata: " + to_json({"text": piece}) + b"\n\n"
    return b"event: done\ndata: " + to_json(_one(piece, body), exclude_none=True) + b"\n\n"


def _one(found: TranslatedText, body: TranslateBody) -> OneTranslation:
    translation = found.translation
    return OneTranslation(
        **_alternative(translation, body).model_dump(),
        source=found.source,
        confidence=translation.confidence,
        sentence_confidences=[
            SentenceConfidence.model_validate(one.to_dict())
            for one in translation.sentence_confidences
        ]
        or None,
        word_confidences=list(translation.word_confidences) or None,
        detected_confidence=found.detected.confidence if found.detected else None,
        alternatives=[_alternative(one, body) for one in translation.alternatives] or None,
        alignment=list(translation.alignment or ()) if body.alignments else None,
        terms=[UsedTerm.model_validate(use.to_dict()) for use in translation.terms]
        if body.terms
        else None,
        notes=list(translation.notes) or None,
    )


def _alternative(translation: Translation, body: TranslateBody) -> Alternative:
    return Alternative(
        text=translation.text,
        score=translation.average_log_likelihood,
        tokens=list(translation.tokens) if body.tokens else None,
        token_log_probabilities=(
            list(translation.token_log_probabilities) if body.tokens else None
        ),
    )

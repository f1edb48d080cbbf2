"""DeepL's API, version 2: texts, languages and usage."""

from typing import Literal

from pydantic import ConfigDict, Field
from starlette.requests import Request
from starlette.responses import Response

from allyouneed.serving.deepl_request import KINDS, DeepLRequest, supported
from allyouneed.serving.desk import TranslatedText
from allyouneed.serving.marked import MarkedTexts
from allyouneed.serving.operation import Message, Operation, json_answer
from allyouneed.serving.reading import checked, read_values, text_of
from allyouneed.serving.refusal import Refused
from allyouneed.text.language_names import name_of

MOST_TEXTS = 50  # of a request, as DeepL has it
VARIANTS = {"en": ("EN-GB", "EN-US"), "pt": ("PT-BR", "PT-PT")}  # clients accept no "EN" as target
UNUSED = "Accepted; this service does not use it."
NO_LIMIT = 1_000_000_000_000  # what /v2/usage names as the limit where there is none


class TranslateBody(Message):
    """The request of /v2/translate."""

    model_config = ConfigDict(extra="forbid")

    text: list[str] = Field(min_length=1, examples=[["Good morning."]])
    target_lang: str = Field(examples=["DE"])
    source_lang: str | None = Field(None, examples=["EN"])
    split_sentences: Literal["0", "1", "nonewlines"] = Field(
        "1",
        description="With nonewlines, line ends end no sentence. With 0, texts are translated "
        "sentence by sentence all the same, because the models know single sentences.",
    )
    preserve_formatting: bool | None = Field(None, description=UNUSED)
    formality: str = "default"
    glossary_id: str | None = None
    context: str | None = Field(None, description=UNUSED)
    tag_handling: Literal["xml", "html"] | None = None
    tag_handling_version: Literal["v1", "v2"] | None = Field(None, description=UNUSED)
    outline_detection: bool | None = Field(None, description="Refused if it is false.")
    ignore_tags: list[str] | str = Field(
        [], description="Elements whose content stays as it is; they need tag_handling."
    )
    show_billed_characters: bool | None = Field(None, description=UNUSED)
    model_type: str | None = Field(None, description=UNUSED)
    auth_key: str | None = None


class OneTranslation(Message):
    """A text's translation."""

    detected_source_language: str
    text: str
    billed_characters: int
    model_type_used: str | None = None


class TranslateAnswer(Message):
    """The answer of /v2/translate: a translation for each text."""

    translations: list[OneTranslation]


class Language(Message):
    """A language of /v2/languages; `supports_formality` is there for targets."""

    language: str
    name: str
    supports_formality: bool | None = None


class UsageAnswer(Message):
    """Characters of this month, and how many there may be."""

    character_count: int
    character_limit: int


class DeepL:
    """The operations on texts, languages and usage."""

    def __init__(self, asked: DeepLRequest, marked: MarkedTexts) -> None:
        self.asked, self.desk, self.guard, self.marked = asked, asked.desk, asked.guard, marked

    def operations(self) -> list[Operation]:
        """All operations of this API."""
        return [
            Operation(
                "POST",
                "/v2/translate",
                self.translate,
                "Translate texts",
                body=TranslateBody,
                body_kinds=KINDS,
                answer=TranslateAnswer,
            ),
            Operation(
                "GET",
                "/v2/languages",
                self.languages,
                "List the languages",
                answer=list[Language],
                query=("type",),
            ),
            Operation(
                "GET",
                "/v2/usage",
                self.usage,
                "Say how much was translated this month",
                answer=UsageAnswer,
            ),
        ]

    async def translate(self, request: Request) -> Response:
        """POST /v2/translate"""
        values = await read_values(request)
        visit = self.guard.admit(request, text_of(values, "auth_key"))
        if isinstance(values.get("text"), str):
            values["text"] = [values["text"]]
        if isinstance(values.get("split_sentences"), bool):
            values["split_sentences"] = "1" if values["split_sentences"] else "0"
        body = checked(TranslateBody, supported(values))
        ignored = _names(body.ignore_tags)
        _check(body, ignored)
        self.desk.check_size(body.text, visit)
        source, target = self.asked.source(body.source_lang), self.asked.target(body.target_lang)
        self.guard.charge(visit)
        texts = body.text
        if body.split_sentences == "nonewlines":
            texts = [text.replace("\n", " ") for text in texts]
        terms = await self.asked.terms(body.glossary_id, visit.key, source, target)
        asked = self.desk.asked(terms=terms, judged=False)
        if body.tag_handling:
            found = await self.marked.translate(
                texts, body.tag_handling, source, target, asked, visit, ignored
            )
        else:
            found = await self.desk.translate(texts, source, target, asked, visit)
        return json_answer(TranslateAnswer(translations=[_one(one, body) for one in found]))

    async def languages(self, request: Request) -> Response:
        """GET /v2/languages"""
        values = await read_values(request)
        self.guard.key_of(request)
        kind = values.get("type") or "source"
        if kind not in ("source", "target"):
            raise Refused(400, "Parameter 'type' is invalid. 'source' and 'target' are valid.")
        shelf = self.desk.shelf
        if kind == "source":
            return json_answer(
                [Language(language=c.upper(), name=name_of(c)) for c in shelf.sources]
            )
        return json_answer(
            [
                Language(language=variant, name=name_of(code), supports_formality=False)
                for code in shelf.targets
                for variant in VARIANTS.get(code, (code.upper(),))
            ]
        )

    async def usage(self, request: Request) -> Response:
        """GET /v2/usage"""
        key = self.guard.key_of(request)
        used = self.guard.keyring.used(key)[0] if key else 0
        limit = key.characters if key and key.characters is not None else NO_LIMIT
        return json_answer(UsageAnswer(character_count=used, character_limit=limit))


def _check(body: TranslateBody, ignored: list[str]) -> None:
    """Checks what single values cannot tell; `ignored` are the names of the tags to ignore.

    Raises:
        Refused: too many texts, or a wish for tags that the service does not carry out.
    """
    if len(body.text) > MOST_TEXTS:
        raise Refused(400, f"Too many texts: {len(body.text)}; at most {MOST_TEXTS}")
    if body.outline_detection is False:
        raise Refused(400, "outline_detection cannot be switched off; leave it out")
    if ignored and not body.tag_handling:
        raise Refused(400, "ignore_tags needs tag_handling; set it to xml or html")


def _names(tags: list[str] | str) -> list[str]:
    """Tags as a list; forms have them in one text, with commas."""
    listed = tags.split(",") if isinstance(tags, str) else tags
    return [tag.strip() for tag in listed if tag.strip()]


def _one(found: TranslatedText, body: TranslateBody) -> OneTranslation:
    return OneTranslation(
        detected_source_language=found.source.upper(),
        text=found.translation.text,
        billed_characters=len(found.translation.source),
        model_type_used="quality_optimized" if body.model_type else None,
    )

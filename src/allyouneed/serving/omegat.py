"""The operation for OmegaT's plugins that ask a custom engine: GET /omegat."""

from starlette.requests import Request
from starlette.responses import Response

from allyouneed.serving.desk import Desk
from allyouneed.serving.guard import Guard
from allyouneed.serving.operation import Message, Operation, json_answer
from allyouneed.serving.reading import checked, read_values, text_of
from allyouneed.serving.refusal import Refused


class Segment(Message):
    """The query of /omegat."""

    text: str
    source: str
    target: str


class Answer(Message):
    """The field that the plugins of OmegaT read."""

    translation: str


class OmegaT:
    """The endpoint."""

    def __init__(self, desk: Desk, guard: Guard) -> None:
        self.desk, self.guard = desk, guard

    def operations(self) -> list[Operation]:
        """The one operation."""
        return [
            Operation(
                method="GET",
                path="/omegat",
                handler=self.translate,
                summary="Translate a segment for OmegaT",
                answer=Answer,
                query=("source", "target", "text"),
            )
        ]

    async def translate(self, request: Request) -> Response:
        """GET /omegat"""
        values = await read_values(request)
        visit = self.guard.admit(request, text_of(values, "api_key"))
        for name in ("text", "source", "target"):
            if not values.get(name):
                raise Refused(400, f"Invalid request: missing {name} parameter")
        segment = checked(Segment, values)
        self.desk.check_size([segment.text], visit)
        source, target = self.desk.source(segment.source), self.desk.target(segment.target)
        self.guard.charge(visit)
        asked = self.desk.asked(judged=False)
        [found] = await self.desk.translate([segment.text], source, target, asked, visit)
        return json_answer(Answer(translation=found.translation.text))

"""Workers whose search fails, or what follows it: they go on, and all other texts are answered."""

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest

from allyouneed.decoding.options import BeamOptions
from allyouneed.serving.crew import Crew
from allyouneed.serving.order import Order
from allyouneed.serving.queue import Queue
from allyouneed.translation.request import TranslationRequest
from allyouneed.translation.translator import Translator

Start = Any  # see conftest


def workers(crew: Crew) -> int:
    return sum(thread.is_alive() for thread in crew._threads)


@pytest.mark.parametrize("kind", [RuntimeError, MemoryError])
def test_others_are_answered_when_searches_fail(
    start: Start, copier: Translator, monkeypatch: pytest.MonkeyPatch, kind: type[Exception]
) -> None:
    search, poison = copier.engine.search, list(copier.tokenizer.encode("bad").ids)

    def fails(sources: Any, *arguments: Any, **named: Any) -> Any:
        if poison in [list(source) for source in sources]:
            raise kind("a secret text")
        return search(sources, *arguments, **named)

    with start(deadline=600) as one, ThreadPoolExecutor(8) as clients:

        def asked(text: str) -> httpx.Response:
            body = {"q": text, "source": "en", "target": "de"}
            return one.post("/translate", json=body, timeout=600)

        wanted = asked("Hello.").json()
        before = workers(one.service.crew)
        monkeypatch.setattr(copier.engine, "search", fails)
        answers = [*clients.map(asked, ["bad", "Hello."] * 12)]
        for answer in answers[::2]:
            assert answer.status_code == 500
            assert answer.json() == {"error": "this text could not be translated"}
        assert [answer.json() for answer in answers[1::2]] == [wanted] * 12
        assert workers(one.service.crew) == before == 3
        assert one.get("/health").status_code == one.get("/ready").status_code == 200


@pytest.mark.parametrize("at_fault", ["search", "receive"])
def test_a_worker_outlives_what_goes_wrong_after_a_search(
    copier: Translator, monkeypatch: pytest.MonkeyPatch, at_fault: str
) -> None:
    def order(text: str) -> tuple[Order, threading.Event]:
        ended = threading.Event()
        asked = TranslationRequest(BeamOptions(beam=1))
        return Order(copier, [text], asked, "a", lambda _: ended.set()), ended

    queue = Queue()
    crew = Crew(queue, 1)
    bad, bad_ended = order("bad")
    good, good_ended = order("Hello.")
    with monkeypatch.context() as patch:
        if at_fault == "search":  # which forgets a sentence
            patch.setattr(copier.engine, "search", lambda *_, **__: [])
        else:
            patch.setattr(bad, "receive", lambda _: [][0])
        queue.put(bad)
        crew.start()
        assert bad_ended.wait(60)
    queue.put(good)
    assert good_ended.wait(60)
    assert workers(crew) == 2
    crew.stop(10)
    assert bad.error is not None
    assert good.translations[0].text == copier("Hello.", beam=1).text

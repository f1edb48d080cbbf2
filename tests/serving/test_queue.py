"""The queue: fair between clients, gives out what waits at once, forgets what is cancelled."""

import threading
import time
from dataclasses import replace
from typing import Any

import pytest

from allyouneed.decoding.options import BeamOptions
from allyouneed.engine.leaving import leaving_here
from allyouneed.serving.crew import Crew
from allyouneed.serving.order import Order
from allyouneed.serving.queue import LaneBatch, Queue
from allyouneed.translation.request import TranslationRequest
from allyouneed.translation.translator import Translator

REQUEST = TranslationRequest(BeamOptions(beam=1))


def order(
    translator: Translator, client: str, texts: list[str], asked: TranslationRequest = REQUEST
) -> tuple[Order, threading.Event]:
    ended = threading.Event()
    return Order(translator, texts, asked, client, lambda _: ended.set()), ended


def clients(batch: LaneBatch) -> list[str]:
    return [one.client for one, _ in batch.sentences]


def texts(batch: LaneBatch) -> list[str]:
    return [one.job.segments[number].text for one, number in batch.sentences]


def test_what_waits_is_taken_together(copier: Translator) -> None:
    queue = Queue()
    for client in "abc":
        queue.put(order(copier, client, ["Hello."])[0])
    batch = queue.take()
    assert batch is not None
    assert clients(batch) == ["a", "b", "c"]
    assert (queue.tokens, queue.sentences) == (0, 0)


def test_clients_take_turns_in_a_batch(copier: Translator) -> None:
    queue = Queue(batch_sentences=4)
    queue.put(order(copier, "many", ["Hello."] * 10)[0])
    queue.put(order(copier, "few", ["Hello."] * 2)[0])
    batch = queue.take()
    assert batch is not None
    assert clients(batch) == ["many", "few", "many", "few"]


def test_a_batch_keeps_to_its_budget(copier: Translator) -> None:
    queue = Queue(batch_tokens=20)
    one, _ = order(copier, "a", ["Hello, hello."] * 9)
    length = one.lengths[0]
    queue.put(one)
    batch = queue.take()
    assert batch is not None
    assert batch.tokens == length * len(batch.sentences) <= 20 < batch.tokens + length


def test_a_worker_leaves_the_others_their_share(copier: Translator) -> None:
    queue = Queue(batch_sentences=4)
    queue.workers = 2
    queue.put(order(copier, "a", ["Hello."] * 13)[0])
    sizes = []
    while queue.sentences:
        batch = queue.take()
        assert batch is not None
        sizes.append(len(batch.sentences))
    assert sizes == [4, 4, 3, 1, 1]


def test_a_sentence_longer_than_the_budget_goes_alone(copier: Translator) -> None:
    queue = Queue(batch_tokens=3)
    queue.put(order(copier, "a", ["Hello, hello, hello.", "a"])[0])
    batches = [queue.take(), queue.take()]
    assert [texts(batch) for batch in batches if batch] == [["Hello, hello, hello."], ["a"]]


def test_like_lengths_meet(copier: Translator) -> None:
    queue = Queue(batch_sentences=2)
    queue.put(order(copier, "a", ["a", "Hello, hello, hello.", "b", "Hallo, hallo, hallo."])[0])
    batches = [queue.take(), queue.take()]
    assert [sorted(texts(batch)) for batch in batches if batch] == [
        ["a", "b"],
        ["Hallo, hallo, hallo.", "Hello, hello, hello."],
    ]


def test_lanes_do_not_mix(copier: Translator) -> None:
    queue = Queue()
    queue.put(order(copier, "a", ["Hello."])[0])
    queue.put(order(copier, "b", ["Hello."], TranslationRequest(BeamOptions(beam=2)))[0])
    first, second = queue.take(), queue.take()
    assert first is not None
    assert second is not None
    assert (clients(first), clients(second)) == (["a"], ["b"])


def test_judged_and_other_translations_share_a_batch(copier: Translator) -> None:
    queue = Queue()
    queue.put(order(copier, "a", ["Hello."])[0])
    queue.put(order(copier, "b", ["Hello."], replace(REQUEST, judged=False))[0])
    batch = queue.take()
    assert batch is not None
    assert clients(batch) == ["a", "b"]


def test_a_light_client_does_not_share_a_batch_with_a_heavy_one(copier: Translator) -> None:
    queue = Queue()
    heavy, _ = order(copier, "heavy", ["Hello, hello, hello."] * 500)
    queue.put(heavy)
    queue.put(order(copier, "light", ["Hello."])[0])
    queue.put(order(copier, "light too", ["Hello."])[0])
    seen = [queue.take(), queue.take(), queue.take()]
    assert [[*dict.fromkeys(clients(batch))] for batch in seen if batch] == [
        ["heavy"],
        ["light", "light too"],
        ["heavy"],
    ]


def test_the_express_worker_serves_light_clients_while_all_others_are_busy(
    copier: Translator,
) -> None:
    queue = Queue(batch_sentences=2)
    queue.workers = 1
    queue.put(order(copier, "heavy", ["Hello, hello, hello."] * 500)[0])
    found: list[LaneBatch | None] = []
    express = threading.Thread(target=lambda: found.append(queue.take(express=True)))
    express.start()
    assert queue.take() is not None
    express.join(0.05)
    assert found == []
    queue.put(order(copier, "light", ["Hello."])[0])
    express.join(5)
    assert found[0] is not None
    assert clients(found[0]) == ["light"]


def test_a_light_sentence_does_not_wake_the_express_worker_while_others_are_free(
    copier: Translator, monkeypatch: pytest.MonkeyPatch
) -> None:
    queue = Queue()
    queue.workers = 1
    looked = 0

    def light_batch() -> None:
        nonlocal looked
        looked += 1

    monkeypatch.setattr(queue, "_light_batch", light_batch)
    express = threading.Thread(target=lambda: queue.take(express=True), daemon=True)
    express.start()
    for _ in range(5):
        queue.put(order(copier, "light", ["Hello."])[0])
        assert queue.take() is not None
    express.join(0.05)
    assert looked == 1
    queue.close()
    express.join(5)
    assert not express.is_alive()


def test_cancelled_sentences_leave_the_queue(copier: Translator) -> None:
    queue = Queue()
    gone, _ = order(copier, "a", ["Hello."] * 3)
    stays, _ = order(copier, "a", ["Hello."])
    queue.put(gone)
    queue.put(stays)
    assert queue.cancel(gone) == 3
    assert queue.cancel(gone) == 0
    assert (queue.tokens, queue.sentences) == (stays.tokens, 1)
    batch = queue.take()
    assert batch is not None
    assert batch.orders == [stays]


def test_a_search_ends_when_all_whom_it_works_for_have_left(
    copier: Translator, monkeypatch: pytest.MonkeyPatch
) -> None:
    left: list[bool] = []
    begun = threading.Event()

    def until_left(sources: Any, *_: Any, **__: Any) -> Any:
        begun.set()
        left.append(leaving_here().every.wait(30))
        return [[] for _ in sources]

    queue = Queue()
    crew = Crew(queue, 1)
    one, one_ended = order(copier, "a", ["Hello."])
    other, other_ended = order(copier, "b", ["Hallo."])
    queue.put(one)
    queue.put(other)
    with monkeypatch.context() as patch:
        patch.setattr(copier.engine, "search", until_left)
        crew.start()
        assert begun.wait(30)
        [batch] = queue._running
        queue.cancel(one)
        assert not batch.left.is_set()
        queue.cancel(other)
        assert batch.left.is_set()
        next_one, next_ended = order(copier, "c", ["Hello."])
        while queue.running:
            time.sleep(0.01)
    queue.put(next_one)
    assert next_ended.wait(60)
    crew.stop(10)
    assert left == [True]
    assert next_one.translations[0].text == copier("Hello.", beam=1).text
    assert not one_ended.is_set()
    assert not other_ended.is_set()


def test_the_expected_wait_goes_by_a_clients_share(copier: Translator) -> None:
    queue = Queue()
    queue.workers = 2
    assert queue.expected_wait("x", 10) == 0
    queue.rate.add(100, 1.0)
    big, _ = order(copier, "big", ["Hello."] * 1000)
    queue.put(big)
    total = big.tokens
    assert queue.expected_wait("big", 100) == pytest.approx((total + 100) / 200)
    assert queue.expected_wait("other", 100) == pytest.approx(200 / 200)


def test_a_short_order_waits_for_a_sentence_of_each_client(copier: Translator) -> None:
    queue = Queue()
    queue.workers = 1
    queue.rate.add(100, 1.0)
    for number in range(9):
        queue.put(order(copier, f"client {number}", ["Hello, hello, hello."])[0])
    each = queue.tokens / 9
    assert each > 2
    assert queue.expected_wait("x", 1) == pytest.approx((queue.tokens + 1) / 100)
    assert queue.expected_wait("x", 0) == pytest.approx(queue.tokens / 100)


def test_results_come_back_to_whom_they_belong(copier: Translator) -> None:
    queue = Queue(batch_sentences=5)
    crew = Crew(queue, 2)
    asked = {
        f"client {n}": order(copier, f"client {n}", [f"Text {n}.\n\n  Line {n}. ", ""])
        for n in range(12)
    }
    for one, _ in asked.values():
        queue.put(one)
    crew.start()
    for n, (one, ended) in enumerate(asked.values()):
        assert ended.wait(60)
        assert one.error is None
        assert [t.text for t in one.translations] == [
            t.text for t in copier([f"Text {n}.\n\n  Line {n}. ", ""], beam=1)
        ]
    crew.stop(10)
    assert (queue.tokens, queue.sentences, queue.running) == (0, 0, 0)


def test_an_order_without_sentences_ends_at_once(copier: Translator) -> None:
    blank, ended = order(copier, "a", ["", " \n "])
    Queue().put(blank)
    assert ended.is_set()
    assert [t.text for t in blank.translations] == ["", " \n "]


def test_an_error_meets_only_the_sentence_that_causes_it(
    copier: Translator, monkeypatch: pytest.MonkeyPatch
) -> None:
    search = copier.engine.search

    def fails(sources, *arguments, **more):  # type: ignore[no-untyped-def]
        if poison in [list(source) for source in sources]:
            raise MemoryError("poisoned")
        return search(sources, *arguments, **more)

    poison = list(copier.tokenizer.encode("bad").ids)
    monkeypatch.setattr(copier.engine, "search", fails)
    queue = Queue()
    crew = Crew(queue, 1)
    bad, bad_ended = order(copier, "a", ["bad"])
    good, good_ended = order(copier, "b", ["Hello."])
    queue.put(bad)
    queue.put(good)
    crew.start()
    assert bad_ended.wait(60)
    assert good_ended.wait(60)
    crew.stop(10)
    assert isinstance(bad.error, MemoryError)
    assert good.translations[0].text == copier("Hello.", beam=1).text


def test_a_crew_that_stops_works_off_what_waits(copier: Translator) -> None:
    queue = Queue(batch_sentences=1)
    crew = Crew(queue, 1)
    one, ended = order(copier, "a", ["Hello."] * 3)
    queue.put(one)
    crew.start()
    crew.stop(60)
    assert ended.is_set()

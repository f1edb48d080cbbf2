import threading
from collections.abc import Iterator
from contextlib import closing

import pytest

from allyouneed.pipeline import ahead, at_work

SOON = 5.0  # seconds after which something that should have happened has not


def test_items_come_in_order_and_all_of_them() -> None:
    assert list(ahead(range(1000))) == list(range(1000))
    assert list(ahead(ahead(iter(range(50)), room=3))) == list(range(50))
    assert list(ahead([])) == []
    assert not at_work()


@pytest.mark.parametrize("room", [1, 4])
def test_no_more_is_made_ahead_than_there_is_room_for(room: int) -> None:
    made = 0
    waits = threading.Event()

    def source() -> Iterator[int]:
        nonlocal made
        for made in range(1, 100):
            if made == room + 2:
                waits.set()
            yield made

    with closing(ahead(source(), room)) as items:
        assert made == 0, "nothing begins before it is asked for"
        next(items)
        assert waits.wait(SOON)
        assert made == room + 2  # one taken, `room` ready, one in hand
        next(items)
    assert made <= room + 3


def test_two_stages_work_at_the_same_time() -> None:
    used = threading.Event()

    def source() -> Iterator[int]:
        yield 1
        assert used.wait(SOON), "the first item must be in use while the second is made"
        yield 2

    items = ahead(source())
    assert next(items) == 1
    used.set()
    assert next(items) == 2


def test_an_error_comes_after_what_was_made_before_it() -> None:
    def source() -> Iterator[int]:
        yield from range(5)
        raise ValueError("broken off")

    items = ahead(ahead(source(), room=9), room=9)
    assert [next(items) for _ in range(5)] == [0, 1, 2, 3, 4]
    with pytest.raises(ValueError, match="broken off"):
        next(items)
    assert not at_work()


def test_closing_ends_every_stage() -> None:
    ended = threading.Event()

    def source() -> Iterator[int]:
        try:
            yield from range(10**9)
        finally:
            ended.set()

    before = set(threading.enumerate())  # other tests leave workers of engines
    with closing(ahead(item + 1 for item in ahead(source()))) as items:
        assert next(items) == 1
        assert at_work()
    assert ended.wait(SOON)
    for thread in set(threading.enumerate()) - before:
        thread.join(SOON)
    assert not at_work()

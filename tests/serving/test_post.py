"""The post brings the calls of workers to the event loop."""

import asyncio

import pytest

from allyouneed.serving.post import Post


def test_calls_arrive_in_order_and_wake_the_loop_once() -> None:
    async def main() -> tuple[list[int], int]:
        loop = asyncio.get_running_loop()
        post, arrived, woken = Post(loop), list[int](), 0
        wake = loop.call_soon_threadsafe

        def counted(*given: object) -> object:
            nonlocal woken
            woken += 1
            return wake(*given)  # type: ignore[arg-type]

        loop.call_soon_threadsafe = counted  # type: ignore[method-assign, assignment]
        for number in range(20):
            post.put(lambda number=number: arrived.append(number))  # type: ignore[misc]
        await asyncio.sleep(0)
        post.put(lambda: arrived.append(20))
        await asyncio.sleep(0)
        return arrived, woken

    assert asyncio.run(main()) == ([*range(21)], 2)


def test_a_call_for_a_loop_that_has_ended_is_dropped() -> None:
    async def main() -> Post:
        return Post(asyncio.get_running_loop())

    asyncio.run(main()).put(lambda: pytest.fail("nobody is there to make this call"))

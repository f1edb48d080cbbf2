"""The post brings the calls of workers to the event loop, which has time to answer."""

import asyncio
import socket
import threading
import time

from allyouneed.serving.post import PATIENCE, Post


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


def test_a_worker_lets_the_loop_answer_and_read_what_comes_next() -> None:
    """A client that is answered asks again at once; the worker finds that request waiting."""

    async def main() -> list[str]:
        loop = asyncio.get_running_loop()
        post, seen = Post(loop), list[str]()
        here, there = socket.socketpair()

        async def client() -> None:
            there.send(b"next")

        def work() -> None:
            post.put(lambda: loop.create_task(client()))
            post.let_answer()
            seen.append("the worker goes on")

        with here, there:
            loop.add_reader(here, lambda: seen.append(here.recv(9).decode()))
            await asyncio.to_thread(work)
            loop.remove_reader(here)
        return seen

    assert asyncio.run(main()) == ["next", "the worker goes on"]


def test_a_worker_does_not_wait_for_a_loop_that_is_held_up_or_has_ended() -> None:
    async def main() -> tuple[float, Post]:
        post, took = Post(asyncio.get_running_loop()), list[float]()

        def work() -> None:
            began = time.perf_counter()
            post.let_answer()
            took.append(time.perf_counter() - began)

        thread = threading.Thread(target=work)
        thread.start()
        time.sleep(6 * PATIENCE)
        thread.join()
        return took[0], post

    took, post = asyncio.run(main())
    assert took < 5 * PATIENCE
    post.let_answer()

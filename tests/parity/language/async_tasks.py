# SPDX-License-Identifier: MIT
# asyncio: tasks, queues, locks, groups and what ends them.
import asyncio
import contextlib
import contextvars


async def fetch(i, delay):
    await asyncio.sleep(delay)
    if i == 3:
        raise ValueError(f"shard {i} is corrupt")
    return i * 10


@contextlib.asynccontextmanager
async def session(name):
    print("open", name)
    try:
        yield name.upper()
    except KeyError as e:
        print("ended", e)
    finally:
        print("close", name)


async def producer(q, n):
    for i in range(n):
        await q.put(i)
        print("put", i)
    await q.put(None)


async def consumer(q):
    total = 0
    while (x := await q.get()) is not None:
        print("got", x)
        total += x
        q.task_done()
    return total


async def gathered():
    print(await asyncio.gather(*(fetch(i, 0.01 * (3 - i)) for i in range(3))))
    print(await asyncio.gather(fetch(3, 0), fetch(1, 0), return_exceptions=True))
    try:
        await asyncio.gather(fetch(3, 0), fetch(1, 1))
    except ValueError as e:
        print(e)
    one = asyncio.create_task(fetch(1, 1), name="one")
    print(await asyncio.wait([one], timeout=0.001) == (set(), {one}), one.get_name())
    for f in asyncio.as_completed([fetch(2, 0.02), fetch(1, 0.001)]):
        print("done", await f)


async def ended():
    try:
        await asyncio.wait_for(asyncio.sleep(10), timeout=0.01)
    except asyncio.TimeoutError as e:
        print(repr(e))
    try:
        async with asyncio.timeout(0.01) as scope:
            await asyncio.sleep(1)
    except TimeoutError:
        print("timeout", scope.expired())
    t = asyncio.create_task(asyncio.sleep(100))
    await asyncio.sleep(0)
    print(t.cancel("why"))
    try:
        await t
    except asyncio.CancelledError as e:
        print("cancelled", e, t.cancelled())
    try:
        async with asyncio.TaskGroup() as group:
            group.create_task(fetch(3, 0))
            last = group.create_task(fetch(1, 1))
    except* ValueError as e:
        print(e.exceptions, last.cancelled())


async def shared():
    q = asyncio.Queue(maxsize=2)
    p = asyncio.create_task(producer(q, 4))
    print(await consumer(q), p.done())
    lock, event, most = asyncio.Lock(), asyncio.Event(), asyncio.Semaphore(2)

    async def worker(k):
        async with most, lock:
            await asyncio.sleep(0)
            return k, event.is_set()
    waiting = asyncio.create_task(event.wait())
    print(await asyncio.gather(*map(worker, range(3))))
    event.set()
    print(await waiting, lock.locked())
    async with session("db") as s:
        raise KeyError(s)
    async with contextlib.AsyncExitStack() as stack:
        print(await stack.enter_async_context(session("a")))
        stack.callback(print, "called back")
    loop = asyncio.get_running_loop()
    print(await loop.run_in_executor(None, max, 1, 5), await asyncio.to_thread(min, 1, 2))
    f = loop.create_future()
    loop.call_later(0.001, f.set_result, "later")
    print(await asyncio.shield(f), f)


step = contextvars.ContextVar("step", default=0)


async def sets(n):
    step.set(n)
    await asyncio.sleep(0)
    return step.get()


async def main():
    await gathered()
    await ended()
    await shared()
    print(await asyncio.gather(sets(1), sets(2)), step.get())
    return "end"

print(asyncio.run(main()))
token = step.set(5)
context = contextvars.copy_context()
step.reset(token)
print(step.get(), context[step], context.run(step.get))
try:
    asyncio.run(3)
except ValueError as e:
    print(e)

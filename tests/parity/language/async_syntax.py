# SPDX-License-Identifier: MIT
# What async def, await, async for and async with say where they do not fit.
import asyncio
import inspect


async def one():
    return 1


async def numbers(n):
    try:
        for i in range(n):
            got = yield i
            if got:
                print("got", got)
            await asyncio.sleep(0)
    finally:
        print("left")


def text_fails(text):
    try:
        compile(text, "f.py", "exec")
        exec(text, {})
        print("fine")
    except SyntaxError as e:
        print(e.msg)


def fails(make):
    async def main():
        return await make()
    try:
        print(asyncio.run(main()))
    except Exception as e:
        print(type(e).__name__, e)


async def waits(x):
    return await x


async def over(x):
    return [i async for i in x]


async def inside(x):
    async with x as y:
        return y


class Half:
    async def __aenter__(self):
        return 3


class Items:
    def __aiter__(self):
        return 3


class Raises:
    async def __aenter__(self):
        return "in"

    async def __aexit__(self, kind, error, trace):
        print("out", kind, error)
        return kind is KeyError


async def swallowed():
    async with Raises() as a, Raises():
        raise KeyError(a)
    return "after"


async def sent():
    g = numbers(3)
    print(await g.asend(None), await g.asend("x"), await g.__anext__())
    await g.aclose()
    try:
        await g.__anext__()
    except StopAsyncIteration as e:
        print("end", repr(e))
    g = numbers(2)
    await g.__anext__()
    try:
        await g.athrow(ValueError("thrown"))
    except ValueError as e:
        print(e)
    print([x async for x in (i * 2 async for i in numbers(2))])
    print(await one() + await one() ** 2, [await one() for _ in range(2)])
    return (lambda: 4)()


for f in (one, numbers, print, inspect.signature):
    print(inspect.iscoroutinefunction(f), inspect.isasyncgenfunction(f),
          inspect.isgeneratorfunction(f))
fails(lambda: waits(3))
fails(lambda: over([1]))
fails(lambda: over(Items()))
fails(lambda: inside(3))
fails(lambda: inside(Half()))
fails(swallowed)
fails(sent)
c = one()
print(type(c).__name__, inspect.iscoroutine(c), inspect.isawaitable(c), c.__name__)
asyncio.run(waits(c))
fails(lambda: waits(c))
text_fails("def f():\n    await x")
text_fails("def f():\n    async with x: pass")
text_fails("def f():\n    async for i in x: pass")
text_fails("await = 3")

# SPDX-License-Identifier: MIT
# The classes of what async functions give, and those of collections.abc.
import types, asyncio
async def f(): pass
c = f(); print(types.CoroutineType.__name__, isinstance(c, types.CoroutineType)); c.close()
from collections.abc import Coroutine, Awaitable, AsyncGenerator, AsyncIterator
c = f(); print(isinstance(c, Coroutine), isinstance(c, Awaitable), isinstance(c, AsyncIterator)); c.close()
async def g(): yield 1
print(isinstance(g(), AsyncGenerator), isinstance(g(), AsyncIterator), isinstance(g(), Coroutine))
class It(AsyncIterator):
    n = 0
    async def __anext__(self):
        self.n += 1
        if self.n > 2: raise StopAsyncIteration
        return self.n
async def main(): print([x async for x in It()])
asyncio.run(main())

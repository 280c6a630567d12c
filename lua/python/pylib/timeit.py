# SPDX-License-Identifier: MIT
"""timeit: how long a statement takes."""
import time

default_timer = time.perf_counter
default_number, default_repeat = 1000000, 5


class Timer:
    def __init__(self, stmt="pass", setup="pass", timer=default_timer,
                 globals=None):
        self.timer = timer
        self._names = {} if globals is None else globals
        self._stmt, self._setup = self._ready(stmt), self._ready(setup)

    def _ready(self, what):
        if callable(what):
            return what
        if not isinstance(what, str):
            raise ValueError("stmt is neither a string nor callable")
        code = compile(what, "<timeit-src>", "exec")
        return lambda: exec(code, self._names)

    def timeit(self, number=default_number):
        self._setup()
        run = self._stmt
        start = self.timer()
        for _ in range(number):
            run()
        return self.timer() - start

    def repeat(self, repeat=default_repeat, number=default_number):
        return [self.timeit(number) for _ in range(repeat)]

    def autorange(self, callback=None):
        i = 1
        while True:
            for j in 1, 2, 5:
                taken = self.timeit(i * j)
                if callback:
                    callback(i * j, taken)
                if taken >= 0.2:
                    return i * j, taken
            i *= 10


def timeit(stmt="pass", setup="pass", timer=default_timer,
           number=default_number, globals=None):
    return Timer(stmt, setup, timer, globals).timeit(number)


def repeat(stmt="pass", setup="pass", timer=default_timer,
           repeat=default_repeat, number=default_number, globals=None):
    return Timer(stmt, setup, timer, globals).repeat(repeat, number)

# SPDX-License-Identifier: MIT
"""functools: what is easier said in Python."""
from functools import partial


class partialmethod:
    """A method with some of its arguments given."""

    def __init__(self, func, /, *args, **keywords):
        if not callable(func) and not hasattr(func, "__get__"):
            raise TypeError(f"{func!r} is not callable or a descriptor")
        if isinstance(func, partialmethod):
            args = func.args + args
            keywords = {**func.keywords, **keywords}
            func = func.func
        self.func, self.args, self.keywords = func, args, keywords

    def __get__(self, obj, cls=None):
        if hasattr(type(self.func), "__get__") and not callable(self.func):
            return partial(self.func.__get__(obj, cls), *self.args,
                           **self.keywords)
        if obj is None:
            return partial(self.func, *self.args, **self.keywords)
        return partial(self.func, obj, *self.args, **self.keywords)

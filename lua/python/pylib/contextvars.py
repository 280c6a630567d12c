# SPDX-License-Identifier: MIT
"""contextvars: variables of the context that runs."""

_NOTHING = object()


class Token:
    MISSING = _NOTHING

    def __init__(self, var, old_value):
        self.var, self.old_value, self._used = var, old_value, False


class Context:
    def __init__(self):
        self._values, self._entered = {}, False

    def run(self, callable, *args, **kwargs):
        if self._entered:
            raise RuntimeError(f"cannot enter context: {self!r} is already "
                               "entered")
        before, self._entered = _current[0], True
        _current[0] = self
        try:
            return callable(*args, **kwargs)
        finally:
            _current[0], self._entered = before, False

    def copy(self):
        out = Context()
        out._values = dict(self._values)
        return out

    def __getitem__(self, var):
        return self._values[var]

    def __contains__(self, var):
        return var in self._values

    def __iter__(self):
        return iter(self._values)

    def __len__(self):
        return len(self._values)

    def get(self, var, default=None):
        return self._values.get(var, default)

    def keys(self):
        return self._values.keys()

    def values(self):
        return self._values.values()

    def items(self):
        return self._values.items()


_current = [Context()]


class ContextVar:
    def __init__(self, name, *, default=_NOTHING):
        self.name, self._default = name, default

    def get(self, default=_NOTHING):
        for value in (_current[0]._values.get(self, _NOTHING), default,
                      self._default):
            if value is not _NOTHING:
                return value
        raise LookupError(self)

    def set(self, value):
        values = _current[0]._values
        token = Token(self, values.get(self, _NOTHING))
        values[self] = value
        return token

    def reset(self, token):
        if token._used:
            raise RuntimeError(f"{token!r} has already been used once")
        if token.var is not self:
            raise ValueError(f"{token!r} was created by a different ContextVar")
        token._used = True
        if token.old_value is _NOTHING:
            _current[0]._values.pop(self, None)
        else:
            _current[0]._values[self] = token.old_value


def copy_context():
    return _current[0].copy()

# SPDX-License-Identifier: MIT
"""contextvars: variables of the one context there is."""
import _absent

_NOTHING = object()


class Token:
    MISSING = _NOTHING

    def __init__(self, var, old_value):
        self.var, self.old_value, self._used = var, old_value, False


class ContextVar:
    def __init__(self, name, *, default=_NOTHING):
        self.name, self._default, self._value = name, default, _NOTHING

    def get(self, default=_NOTHING):
        for value in (self._value, default, self._default):
            if value is not _NOTHING:
                return value
        raise LookupError(self)

    def set(self, value):
        token = Token(self, self._value)
        self._value = value
        return token

    def reset(self, token):
        if token._used:
            raise RuntimeError(f"{token!r} has already been used once")
        if token.var is not self:
            raise ValueError(f"{token!r} was created by a different ContextVar")
        token._used = True
        self._value = token.old_value


def copy_context():
    raise _absent.error("contextvars.copy_context is not part of dtrepl: "
                        "there is one context")

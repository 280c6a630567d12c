# SPDX-License-Identifier: MIT
"""test.support.warnings_helper: which warnings were given."""
import contextlib
import functools
import re
import warnings


class WarningsRecorder:
    """The warnings of a scope; its attributes are those of the last one."""

    def __init__(self, given):
        self._warnings, self._last = given, 0

    def __getattr__(self, name):
        if len(self._warnings) > self._last:
            return getattr(self._warnings[-1], name)
        if name in ("message", "category", "filename", "lineno"):
            return None
        raise AttributeError("%r has no attribute %r" % (self, name))

    @property
    def warnings(self):
        return self._warnings[self._last:]

    def reset(self):
        self._last = len(self._warnings)


@contextlib.contextmanager
def check_warnings(*filters, **kwargs):
    quiet = kwargs.get("quiet", not filters)
    wanted = filters or (("", Warning),)
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always")
        yield WarningsRecorder(given)
    rest = [w.message for w in given]
    for pattern, category in wanted:
        hits = [w for w in rest if re.match(pattern, str(w), re.I)
                and issubclass(type(w), category)]
        if not hits and not quiet:
            raise AssertionError("filter (%r, %s) did not catch any warning"
                                 % (pattern, category.__name__))
        rest = [w for w in rest if w not in hits]
    if rest:
        raise AssertionError("unhandled warning %s" % rest[0])


def check_no_warnings(testcase, message="", category=Warning,
                      force_gc=False):
    return _no_warnings(testcase, message, category)


@contextlib.contextmanager
def _no_warnings(testcase, message, category):
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always")
        yield
    testcase.assertEqual([str(w.message) for w in given
                          if re.match(message, str(w.message), re.I)
                          and issubclass(w.category, category)], [])


def ignore_warnings(*, category):
    def decorator(test):
        @functools.wraps(test)
        def wrapper(self, *args, **kwargs):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return test(self, *args, **kwargs)
        return wrapper
    return decorator

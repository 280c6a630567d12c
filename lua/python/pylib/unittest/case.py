# SPDX-License-Identifier: MIT
"""unittest.case: TestCase, what it asserts, and what skips a test."""
import _absent
import functools
import re
import warnings

import _dtrepl


def _cut(text, head, tail):
    gone = len(text) - head - tail
    if gone <= 12:
        return text
    return "%s[%d chars]%s" % (text[:head], gone, text[len(text) - tail:])


def _short_texts(first, second):
    """Both as texts; of long ones what they share is cut."""
    texts = repr(first), repr(second)
    most = max(map(len, texts))
    if most <= 80:
        return texts
    same = 0
    while same < min(map(len, texts)) and texts[0][same] == texts[1][same]:
        same += 1
    shared = texts[0][:same]
    room = 80 - (most - same + 17)
    if room > 5:
        shared = _cut(shared, 5, room)
        return tuple(shared + text[same:] for text in texts)
    shared = _cut(shared, 5, 5)
    return tuple(shared + _cut(text[same:], 41, 5) for text in texts)


class SkipTest(Exception):
    """Raised by a test that is not to run."""


def _marked(target, reason):
    target.__unittest_skip__ = True
    target.__unittest_skip_why__ = reason
    return target


def skip(reason):
    if callable(reason) and not isinstance(reason, str):
        return _marked(reason, "")
    return lambda target: _marked(target, reason)


def skipIf(condition, reason):
    return skip(reason) if condition else (lambda target: target)


def skipUnless(condition, reason):
    return (lambda target: target) if condition else skip(reason)


def expectedFailure(test):
    test.__unittest_expecting_failure__ = True
    return test


def addModuleCleanup(function, *args, **kwargs):
    raise _absent.error("unittest.addModuleCleanup is not part of dtrepl")


class _Raises:
    """The scope of assertRaises and assertRaisesRegex."""
    _ends_errors = True             # the shell does not stop at what it catches

    def __init__(self, case, expected, pattern, msg):
        self.case, self.expected, self.pattern = case, expected, pattern
        self.msg, self.exception = msg, None
        self.by = None              # the name of what was to raise

    def names(self):
        if isinstance(self.expected, tuple):
            return "(" + ", ".join([e.__name__ for e in self.expected]) + ")"
        return self.expected.__name__

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        if kind is None:
            by = "" if self.by is None else " by " + self.by
            self.case._refuse(self.names() + " not raised" + by, self.msg)
        if not isinstance(error, self.expected):
            return False
        self.exception = error
        if self.pattern is not None:
            self.case._fits(self.pattern, str(error), self.msg)
        return True


class Idle(BaseException):
    """This rank has no part in the test."""


class _Warns:
    """The scope of assertWarns and assertWarnsRegex."""

    def __init__(self, case, pattern, expected, msg):
        self.case, self.pattern, self.msg = case, pattern, msg
        self.expected, self.by = expected, None
        self.warning, self.warnings = None, []
        self.scope = warnings.catch_warnings(record=True)

    def __enter__(self):
        self.warnings = self.scope.__enter__()
        warnings.simplefilter("always")
        return self

    def __exit__(self, kind, error, trace):
        self.scope.__exit__(kind, error, trace)
        if kind is not None:
            return False
        told = [w.message for w in self.warnings
                if isinstance(w.message, self.expected)]
        for message in told:
            if self.pattern is None or re.search(self.pattern, str(message)):
                self.warning = message
                return False
        if told:
            self.case._refuse("\"%s\" does not match \"%s\""
                              % (_text_of(self.pattern), told[0]), self.msg)
        names = self.expected if isinstance(self.expected, tuple) else (
            self.expected,)
        by = "" if self.by is None else " by " + self.by
        self.case._refuse(", ".join([n.__name__ for n in names])
                          + " not triggered" + by, self.msg)


class _Watcher:
    """What a log tells its records to, in the scope of assertLogs."""

    def __init__(self, level, form):
        self.level, self.form = level, form
        self.records, self.output = [], []

    def setLevel(self, level):
        self.level = level

    def handle(self, record):
        self.records.append(record)
        self.output.append(self.form.format(record))
        return True

    def flush(self):
        pass


class _Logs:
    """The scope of assertLogs and assertNoLogs: the log has no other handlers
    and tells none above it while this lasts."""

    FORM = "%(levelname)s:%(name)s:%(message)s"

    def __init__(self, case, logger, level, wanted):
        import logging
        self.case, self.wanted = case, wanted
        self.name = logger
        if level is None or level == 0:
            level = logging.INFO
        if isinstance(level, str):
            level = logging.getLevelName(level)
        self.level, self.level_name = level, logging.getLevelName(level)
        self.form = logging.Formatter(self.FORM)
        self.get = logging.getLogger

    def __enter__(self):
        log = self.name
        if log is None or isinstance(log, str):
            log = self.get(log)
        self.log = log
        self.watcher = _Watcher(self.level, self.form)
        self.before = (log.handlers[:], log.level, log.propagate)
        log.handlers = [self.watcher]
        log.setLevel(self.level)
        log.propagate = False
        return self.watcher if self.wanted else None

    def __exit__(self, kind, error, trace):
        self.log.handlers, level, self.log.propagate = self.before
        self.log.setLevel(level)
        if kind is not None:
            return False
        if self.wanted and not self.watcher.records:
            self.case._refuse("no logs of level %s or higher triggered on %s"
                              % (self.level_name, self.log.name))
        if not self.wanted and self.watcher.records:
            self.case._refuse("Unexpected logs found: %r"
                              % (self.watcher.output,))
        return False


class _SubTest:
    """One part of a test; its failure does not end the test."""
    _ends_errors = True

    def __init__(self, case, label):
        self.case, self.label = case, label

    def __enter__(self):
        self.before = self.case._subtest
        self.case._subtest = self.label
        return None

    def __exit__(self, kind, error, trace):
        self.case._subtest = self.before
        if kind is None or self.case._result is None:
            return False
        if isinstance(error, KeyboardInterrupt):
            return False
        self.case._result.part(self.case, self.label, error)
        return True


def _text_of(pattern):
    return pattern if isinstance(pattern, str) else pattern.pattern


def _name_of(cls):
    return "%s.%s" % (cls.__module__, cls.__qualname__)


class TestCase:
    failureException = AssertionError
    longMessage = True
    maxDiff = 640

    def __init__(self, methodName="runTest"):
        self._testMethodName = methodName
        self._cleanups, self._subtest, self._result = [], None, None
        self._equals = {}           # of addTypeEqualityFunc, by type

    @classmethod
    def setUpClass(cls):
        pass

    @classmethod
    def tearDownClass(cls):
        pass

    @classmethod
    def addClassCleanup(cls, function, *args, **kwargs):
        if "_class_cleanups" not in cls.__dict__:
            cls._class_cleanups = []
        cls._class_cleanups.append((function, args, kwargs))

    @classmethod
    def enterClassContext(cls, scope):
        value = scope.__enter__()
        cls.addClassCleanup(scope.__exit__, None, None, None)
        return value

    @classmethod
    def doClassCleanups(cls):
        left = cls.__dict__.get("_class_cleanups", [])
        while left:
            function, args, kwargs = left.pop()
            function(*args, **kwargs)

    def setUp(self):
        pass

    def tearDown(self):
        pass

    def id(self):
        return _name_of(type(self)) + "." + self._testMethodName

    def __str__(self):
        return self._testMethodName + " (" + self.id() + ")"

    def __repr__(self):
        return "<%s testMethod=%s>" % (_name_of(type(self)),
                                       self._testMethodName)

    def shortDescription(self):
        return None

    def countTestCases(self):
        return 1

    def addCleanup(self, function, *args, **kwargs):
        self._cleanups.append((function, args, kwargs))

    def enterContext(self, scope):
        value = scope.__enter__()
        self.addCleanup(scope.__exit__, None, None, None)
        return value

    def doCleanups(self):
        while self._cleanups:
            function, args, kwargs = self._cleanups.pop()
            function(*args, **kwargs)

    def skipTest(self, reason):
        raise SkipTest(reason)

    def subTest(self, msg=None, **params):
        parts = [] if msg is None else ["[" + str(msg) + "]"]
        if params:
            parts.append("(" + ", ".join([k + "=" + repr(v)
                                          for k, v in params.items()]) + ")")
        return _SubTest(self, " ".join(parts) or "(<subtest>)")

    def debug(self):
        self.setUp()
        getattr(self, self._testMethodName)()
        self.tearDown()
        self.doCleanups()

    # ---- what fails, and with which words ----

    def _refuse(self, text, msg=None):
        if msg is not None:
            text = text + " : " + str(msg) if self.longMessage else str(msg)
        raise self.failureException(text)

    def _fits(self, pattern, text, msg=None):
        if not re.search(pattern, text):
            self._refuse("\"%s\" does not match \"%s\""
                         % (_text_of(pattern), text), msg)

    def _formatMessage(self, msg, standardMsg):
        if not self.longMessage:
            return msg or standardMsg
        return standardMsg if msg is None else "%s : %s" % (standardMsg, msg)

    def fail(self, msg=None):
        raise self.failureException(msg)

    def assertTrue(self, expr, msg=None):
        if not expr:
            self._refuse(repr(expr) + " is not true", msg)

    def assertFalse(self, expr, msg=None):
        if expr:
            self._refuse(repr(expr) + " is not false", msg)

    def addTypeEqualityFunc(self, typeobj, function):
        self._equals[typeobj] = function

    def assertEqual(self, first, second, msg=None):
        if type(first) is type(second):
            own = self._equals.get(type(first))
            if isinstance(own, str):
                own = getattr(self, own)
            if own is not None:
                return own(first, second, msg=msg)
        for cls, word in ((list, "Lists"), (tuple, "Tuples")):
            if type(first) is cls and type(second) is cls:
                return self._sequences(first, second, msg, word)
        for cls in (set, frozenset):
            if type(first) is cls and type(second) is cls:
                return self.assertSetEqual(first, second, msg)
        if type(first) is dict and type(second) is dict:
            return self.assertDictEqual(first, second, msg)
        if type(first) is str and type(second) is str:
            return self.assertMultiLineEqual(first, second, msg)
        if not first == second:
            self._refuse("%s != %s" % _short_texts(first, second), msg)

    def assertNotEqual(self, first, second, msg=None):
        if not first != second:
            self._refuse(repr(first) + " == " + repr(second), msg)

    def assertIs(self, first, second, msg=None):
        if first is not second:
            self._refuse(repr(first) + " is not " + repr(second), msg)

    def assertIsNot(self, first, second, msg=None):
        if first is second:
            self._refuse("unexpectedly identical: " + repr(first), msg)

    def assertIsNone(self, obj, msg=None):
        if obj is not None:
            self._refuse(repr(obj) + " is not None", msg)

    def assertIsNotNone(self, obj, msg=None):
        if obj is None:
            self._refuse("unexpectedly None", msg)

    def assertIn(self, member, container, msg=None):
        if member not in container:
            self._refuse(repr(member) + " not found in " + repr(container), msg)

    def assertNotIn(self, member, container, msg=None):
        if member in container:
            self._refuse(repr(member) + " unexpectedly found in "
                         + repr(container), msg)

    def assertIsInstance(self, obj, cls, msg=None):
        if not isinstance(obj, cls):
            self._refuse(repr(obj) + " is not an instance of " + repr(cls), msg)

    def assertNotIsInstance(self, obj, cls, msg=None):
        if isinstance(obj, cls):
            self._refuse(repr(obj) + " is an instance of " + repr(cls), msg)

    def assertLess(self, a, b, msg=None):
        if not a < b:
            self._refuse(repr(a) + " not less than " + repr(b), msg)

    def assertLessEqual(self, a, b, msg=None):
        if not a <= b:
            self._refuse(repr(a) + " not less than or equal to " + repr(b), msg)

    def assertGreater(self, a, b, msg=None):
        if not a > b:
            self._refuse(repr(a) + " not greater than " + repr(b), msg)

    def assertGreaterEqual(self, a, b, msg=None):
        if not a >= b:
            self._refuse(repr(a) + " not greater than or equal to " + repr(b),
                         msg)

    def assertAlmostEqual(self, first, second, places=None, msg=None,
                          delta=None):
        if first == second:
            return
        gap = abs(first - second)
        if delta is not None:
            if gap > delta:
                self._refuse("%r != %r within %r delta (%r difference)"
                             % (first, second, delta, gap), msg)
        elif round(gap, 7 if places is None else places) != 0:
            self._refuse("%r != %r within %r places (%r difference)"
                         % (first, second, 7 if places is None else places,
                            gap), msg)

    def assertNotAlmostEqual(self, first, second, places=None, msg=None,
                             delta=None):
        gap = abs(first - second)
        if delta is not None:
            near = gap <= delta
        else:
            near = round(gap, 7 if places is None else places) == 0
        if first == second or near:
            self._refuse("%r == %r within %r" % (first, second, delta
                         if delta is not None else "%d places"
                         % (7 if places is None else places)), msg)

    def _told(self, said, diff, msg):
        if self.maxDiff is not None and len(diff) > self.maxDiff:
            diff = ("\nDiff is %s characters long. Set self.maxDiff to None to "
                    "see it." % len(diff))
        self._refuse(said + diff, msg)

    def _shown_diff(self, said, first, second, msg):
        import difflib
        import pprint
        self._told(said, "\n" + "\n".join(difflib.ndiff(
            pprint.pformat(first).splitlines(),
            pprint.pformat(second).splitlines())), msg)

    def _sequences(self, first, second, msg, word):
        if first == second:
            return
        said = "%s differ: %s != %s\n" % (word, *_short_texts(first, second))
        n, m = len(first), len(second)
        for at in range(min(n, m)):
            if first[at] != second[at]:
                said += "\nFirst differing element %d:\n%s\n%s\n" % (
                    at, *_short_texts(first[at], second[at]))
                break
        else:
            if n == m and word == "Sequences" and type(first) != type(second):
                return
        if n != m:
            which, more, at = ("First", first, m) if n > m else (
                "Second", second, n)
            said += ("\n%s %s contains %d additional elements.\n"
                     "First extra element %d:\n%s\n"
                     % (which, word[:-1].lower(), abs(n - m), at,
                        repr(more[at])))
        self._shown_diff(said, first, second, msg)

    def assertSequenceEqual(self, first, second, msg=None, seq_type=None):
        self._sequences(first, second, msg, {list: "Lists", tuple: "Tuples"}
                        .get(seq_type, "Sequences"))

    def assertListEqual(self, list1, list2, msg=None):
        self._typed(list, "list", list1, list2)
        self._sequences(list1, list2, msg, "Lists")

    def assertTupleEqual(self, tuple1, tuple2, msg=None):
        self._typed(tuple, "tuple", tuple1, tuple2)
        self._sequences(tuple1, tuple2, msg, "Tuples")

    def _typed(self, cls, word, *values):
        for which, value in zip(("First", "Second"), values):
            if not isinstance(value, cls):
                self._refuse("%s sequence is not a %s: %r"
                             % (which, word, value))

    def assertSetEqual(self, set1, set2, msg=None):
        parts = []
        for word, items in (("first set but not the second", set1 - set2),
                            ("second set but not the first", set2 - set1)):
            if items:
                parts.append("Items in the " + word + ":")
                parts.extend([repr(i) for i in items])
        if parts:
            self._refuse("\n".join(parts), msg)

    def assertDictEqual(self, d1, d2, msg=None):
        self.assertIsInstance(d1, dict, "First argument is not a dictionary")
        self.assertIsInstance(d2, dict, "Second argument is not a dictionary")
        if d1 != d2:
            self._shown_diff("%s != %s" % _short_texts(d1, d2), d1, d2, msg)

    def assertMultiLineEqual(self, first, second, msg=None):
        self.assertIsInstance(first, str, "First argument is not a string")
        self.assertIsInstance(second, str, "Second argument is not a string")
        if first == second:
            return
        import difflib
        lines, others = first.splitlines(True), second.splitlines(True)
        if len(lines) == 1 and first.strip("\r\n") == first:
            lines, others = [first + "\n"], [second + "\n"]
        self._told("%s != %s" % _short_texts(first, second), "\n" + "".join(
            difflib.ndiff(lines, others)), msg)

    def assertCountEqual(self, first, second, msg=None):
        rest, gone = list(second), []
        for item in first:
            if item in rest:
                rest.remove(item)
            else:
                gone.append(item)
        lines = ["First has 1, Second has 0:  " + repr(i) for i in gone]
        lines += ["First has 0, Second has 1:  " + repr(i) for i in rest]
        if lines:
            self._refuse("Element counts were not equal:\n"
                         + "\n".join(lines), msg)

    def assertRegex(self, text, expected_regex, msg=None):
        if not re.search(expected_regex, text):
            self._refuse("Regex didn't match: %r not found in %r"
                         % (_text_of(expected_regex), text), msg)

    def assertNotRegex(self, text, unexpected_regex, msg=None):
        found = re.search(unexpected_regex, text)
        if found:
            self._refuse("Regex matched: %r matches %r in %r"
                         % (found.group(0), _text_of(unexpected_regex), text),
                         msg)

    # ---- what is raised and warned ----

    def _scoped(self, scope, args, kwargs):
        if not args:
            return scope
        scope.by = getattr(args[0], "__name__", str(args[0]))
        with scope:
            args[0](*args[1:], **kwargs)
        return None

    def assertRaises(self, expected_exception, *args, **kwargs):
        msg = kwargs.pop("msg", None) if not args else None
        return self._scoped(_Raises(self, expected_exception, None, msg), args,
                            kwargs)

    def assertRaisesRegex(self, expected_exception, expected_regex, *args,
                          **kwargs):
        msg = kwargs.pop("msg", None) if not args else None
        return self._scoped(_Raises(self, expected_exception, expected_regex,
                                    msg), args, kwargs)

    def assertWarns(self, expected_warning, *args, **kwargs):
        msg = kwargs.pop("msg", None) if not args else None
        return self._scoped(_Warns(self, None, expected_warning, msg),
                            args, kwargs)

    def assertWarnsRegex(self, expected_warning, expected_regex, *args,
                         **kwargs):
        msg = kwargs.pop("msg", None) if not args else None
        return self._scoped(_Warns(self, expected_regex,
                                   expected_warning, msg), args, kwargs)

    def assertLogs(self, logger=None, level=None):
        return _Logs(self, logger, level, True)

    def assertNoLogs(self, logger=None, level=None):
        return _Logs(self, logger, level, False)


TestCase.assertEquals = TestCase.assertEqual
TestCase.assertRaisesRegexp = TestCase.assertRaisesRegex

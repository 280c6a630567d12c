# SPDX-License-Identifier: MIT
"""unittest.runner: finds the tests of a program, runs them, tells how it went.

After every test the ranks meet, so that one that failed while others waited
for it ends that test and no other.
"""
import sys
import time

import _dtrepl
from unittest.case import Idle, TestCase, SkipTest, _name_of

RULE, LINE = "=" * 70, "-" * 70


class TestResult:
    """What became of the tests: all of it is the same on every rank."""

    def __init__(self):
        self.testsRun, self.failures, self.errors = 0, [], []
        self.skipped, self.expectedFailures = [], []
        self.unexpectedSuccesses = []
        self.parts = []                 # of subtests of the test at hand
        self.told = []                  # (heading, case, row) of what failed
        self.stream = None              # where lines go, None: to stdout
        self.shouldStop = False

    def part(self, case, label, error):
        kind = "FAIL"
        if isinstance(error, SkipTest):
            kind = "skipped"
        elif not isinstance(error, case.failureException):
            kind = "ERROR"
        self.parts.append((kind, label, _dtrepl.trace(error)))

    def say(self, text):
        print(text, file=self.stream)

    def wrong(self, case, row):
        """A row of what failed; the lists have what unittest's have."""
        self.told.append((row[0], case, row))
        where = self.failures if row[0] == "FAIL" else self.errors
        where.append((case, row[2]))

    def wasSuccessful(self):
        return not (self.failures or self.errors or self.unexpectedSuccesses)

    def stop(self):
        self.shouldStop = True

    def __repr__(self):
        return (f"<unittest.runner.TextTestResult run={self.testsRun} "
                f"errors={len(self.errors)} failures={len(self.failures)}>")


def _attempt(case, f):
    """("ok", "") or what f() ended with."""
    try:
        f()
    except SkipTest as error:
        return ("skipped", str(error))
    except Idle:
        return ("idle", "")
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        if isinstance(error, case.failureException):
            return ("FAIL", _dtrepl.trace(error))
        return ("ERROR", _dtrepl.trace(error))
    return ("ok", "")


def _outcome(case, result):
    """One test on this rank: a list of (word, label, text); [] is ok."""
    result.parts = []
    case._result = result
    method = getattr(case, case._testMethodName)
    done = []
    word, text = _attempt(case, case.setUp)
    if word == "idle":
        return []
    if word == "ok":
        word, text = _attempt(case, method)
        if word != "ok":
            done.append((word, "", text))
        word, text = _attempt(case, case.tearDown)
    if word != "ok":
        done.append((word, "", text))
    while case._cleanups:
        word, text = _attempt(case, case.doCleanups)
        if word != "ok":
            done.append((word, "", text))
    return result.parts + done


ORDER = ["ok", "skipped", "FAIL", "ERROR"]


def _worst(rows):
    words = [row[0] for row in rows]
    return max(words, key=ORDER.index) if words else "ok"


def _together(rows, ranked=None):
    """The rows of all ranks: [(word, label, text, ranks or "")]; `ranked`:
    how many ranks took part, when not all."""
    _dtrepl.home()
    met = _dtrepl.meet(bool(rows))
    if met is None or not any(met):
        return [row + ("",) for row in rows]
    out, size = {}, ranked or len(met)
    for rank, theirs in enumerate(_dtrepl.gather(rows)):
        for row in theirs:
            out.setdefault(row, []).append(rank)
    return [row + ("" if len(ranks) == size else ", ".join(
        [str(r) for r in ranks]),) for row, ranks in out.items()]


def _say(case, rows, result, expected):
    word = _worst(rows)
    failed = word in ("FAIL", "ERROR")
    line = str(case) + " ... "
    parts = [r for r in rows if r[1] and r[0] != "skipped"]
    if expected and failed:
        result.say(line + "expected failure")
        result.expectedFailures.append(case)
        return
    if expected and word == "ok":
        result.say(line + "unexpected success")
        result.unexpectedSuccesses.append(case)
        return
    if parts:
        result.say(line)
    for row in parts:
        result.say("  " + str(case) + " " + row[1] + " ... " + row[0])
    if word == "skipped":
        why = [r for r in rows if r[0] == "skipped"][0][2]
        result.say(line + "skipped " + repr(why))
        result.skipped.append((case, why))
    elif not parts or any(not row[1] for row in rows):
        result.say(line + word)
    for row in rows:
        if row[0] in ("FAIL", "ERROR"):
            result.wrong(case, row)


def _why_not(cls, name):
    """Why the test is not to run, or None."""
    for target in (cls, getattr(cls, name)):
        if getattr(target, "__unittest_skip__", False):
            return getattr(target, "__unittest_skip_why__", "")
    return None


class _Class:
    """setUpClass and tearDownClass around the tests of one class."""

    def __init__(self, cls, result):
        self.cls, self.result = cls, result

    def run(self, which):
        rows = []
        try:
            getattr(self.cls, which)()
        except SkipTest as error:
            rows = [("skipped", "", str(error))]
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            rows = [("ERROR", "", _dtrepl.trace(error))]
        rows = _together(rows)
        if not rows:
            return None
        name = which + " (" + _name_of(self.cls) + ")"
        for row in rows:
            if row[0] == "skipped":
                return row[2]
            self.result.wrong(name, row)
        self.result.say(name + " ... ERROR")
        return False


def _run_class(cls, names, result):
    ready = None
    scope = _Class(cls, result)
    todo = [n for n in names if _why_not(cls, n) is None]
    if todo:
        ready = scope.run("setUpClass")
    for name in names:
        if result.shouldStop or ready is False:
            return
        case = cls(name)
        why = _why_not(cls, name)
        if why is None and isinstance(ready, str):
            why = ready
        result.testsRun += 1
        if why is not None:
            _say(case, [("skipped", "", why, "")], result, False)
            continue
        rows = _outcome(case, result)
        rows = _together(rows, case.__dict__.get("_ranks"))
        expected = getattr(getattr(cls, name),
                           "__unittest_expecting_failure__", False)
        if not rows and result.wasSuccessful():
            _dtrepl.passed()
        _say(case, rows, result, expected)
        if result.failfast and not result.wasSuccessful():
            result.stop()
    if todo and ready is None:
        scope.run("tearDownClass")
    if todo:
        scope.run("doClassCleanups")


def _report(result, began):
    shown = [t for t in result.told if t[0] == "ERROR"]
    shown += [t for t in result.told if t[0] == "FAIL"]
    for word, case, row in shown:
        where = " (ranks " + row[3] + ")" if row[3] else ""
        if row[3] and "," not in row[3]:
            where = " (rank " + row[3] + ")"
        label = " " + row[1] if row[1] else ""
        result.say("\n" + RULE + "\n" + word + ": " + str(case) + label + where)
        result.say(LINE + "\n" + row[2].rstrip("\n"))
    if result.unexpectedSuccesses:
        result.say("\n" + RULE)
    for case in result.unexpectedSuccesses:
        result.say("UNEXPECTED SUCCESS: " + str(case))
    n, took = result.testsRun, time.time() - began
    if not _dtrepl.fake():
        took = _dtrepl.gather(took)[0]
    result.say(("" if result.unexpectedSuccesses else "\n") + LINE)
    result.say("Ran %d test%s in %.3fs\n" % (n, "" if n == 1 else "s", took))
    words = []
    for name, rows in (("failures", result.failures),
                       ("errors", result.errors),
                       ("skipped", result.skipped),
                       ("expected failures", result.expectedFailures),
                       ("unexpected successes", result.unexpectedSuccesses)):
        if rows:
            words.append("%s=%d" % (name, len(rows)))
    verdict = "OK" if result.wasSuccessful() else "FAILED"
    if n == 0 and result.wasSuccessful():
        verdict = "NO TESTS RAN"
    result.say(verdict + (" (" + ", ".join(words) + ")" if words else ""))


def _fits(pattern, name):
    """-k: a part of the name, or a pattern with stars."""
    if "*" not in pattern:
        return pattern in name
    rest = name
    parts = pattern.split("*")
    if not rest.startswith(parts[0]):
        return False
    rest = rest[len(parts[0]):]
    for part in parts[1:-1]:
        at = rest.find(part)
        if at < 0:
            return False
        rest = rest[at + len(part):]
    return rest.endswith(parts[-1])


class TestLoader:
    """The tests of the program: {class: names}."""

    testMethodPrefix = "test"

    def getTestCaseNames(self, cls):
        return sorted([n for n in dir(cls)
                       if n.startswith(self.testMethodPrefix)
                       and callable(getattr(cls, n))])

    def loadTestsFromTestCase(self, cls):
        return TestSuite([cls(n) for n in self.getTestCaseNames(cls)])

    def classes(self):
        out = []
        for value in _dtrepl.classes(TestCase).values():
            if not any([value is known for known in out]):
                out.append(value)
        return out


defaultTestLoader = TestLoader()


class TestSuite:
    """Tests in their order."""

    def __init__(self, tests=()):
        self.tests = list(tests)

    def addTest(self, test):
        self.tests.append(test)

    def addTests(self, tests):
        for test in tests:
            self.addTest(test)

    def __iter__(self):
        return iter(self.tests)

    def countTestCases(self):
        return sum([t.countTestCases() for t in self.tests])

    def flat(self):
        out = []
        for test in self.tests:
            if isinstance(test, TestSuite):
                out.extend(test.flat())
            else:
                out.append(test)
        return out


class TextTestRunner:
    """Runs a suite and tells of it."""

    def __init__(self, stream=None, descriptions=True, verbosity=1,
                 failfast=False, **other):
        self.failfast, self.stream = failfast, stream

    def run(self, suite):
        result = TestResult()
        result.failfast, result.stream = self.failfast, self.stream
        began = time.time()
        groups = []
        for case in suite.flat():
            if not groups or groups[-1][0] is not type(case):
                groups.append((type(case), []))
            groups[-1][1].append(case._testMethodName)
        for cls, names in groups:
            _run_class(cls, names, result)
        _report(result, began)
        return result


USAGE = """usage: dtrepl program.py [-k PATTERN] [-f] [-v] [Class | Class.test]...
"""


def _asked(argv):
    """(patterns, names, failfast) of the command line."""
    patterns, names, failfast, at = [], [], False, 0
    while at < len(argv):
        word = argv[at]
        at += 1
        if word == "-k":
            if at == len(argv):
                raise SystemExit(USAGE + "-k wants a pattern")
            patterns.append(argv[at])
            at += 1
        elif word.startswith("-k"):
            patterns.append(word[2:])
        elif word in ("-f", "--failfast"):
            failfast = True
        elif word in ("-v", "-q", "-b", "--verbose", "--quiet", "--buffer"):
            pass
        elif word.startswith("-"):
            raise SystemExit(USAGE + "unknown option " + word)
        else:
            names.append(word)
    return patterns, names, failfast


def _chosen(classes, patterns, names):
    """The cases asked for: [cls(name)]."""
    loader, out = TestLoader(), []
    for word in names:
        parts = word.split(".")
        if parts[0] == "__main__":
            parts = parts[1:]
        found = [c for c in classes if c.__name__ == parts[0]]
        if not found or len(parts) > 2 or len(parts) == 2 \
                and parts[1] not in loader.getTestCaseNames(found[0]):
            raise SystemExit("no test %r in this program" % word)
        for name in loader.getTestCaseNames(found[0]):
            if len(parts) == 1 or name == parts[1]:
                out.append((found[0], name))
    if not names:
        out = [(c, n) for c in classes for n in loader.getTestCaseNames(c)]
    if patterns:
        out = [(c, n) for c, n in out if any(
            [_fits(p, _name_of(c) + "." + n) for p in patterns])]
    return [c(n) for c, n in out]


def _ranks_of(case):
    """How many ranks the case's class wants, 1 when it does not say."""
    if not getattr(case, "_ranked", False) or _why_not(
            type(case), case._testMethodName) is not None:
        return 1
    wanted = case.world_size
    return wanted if isinstance(wanted, int) else 1


def main(module=None, argv=None, exit=True, verbosity=1, failfast=None,
         testRunner=None, **other):
    """Run the tests of the program as its arguments say; ends it."""
    patterns, names, stop = _asked((sys.argv if argv is None else argv)[1:])
    cases = _chosen(TestLoader().classes(), patterns, names)
    wanted = max([_ranks_of(case) for case in cases] or [1])
    if wanted > _dtrepl.world_size():
        _dtrepl.grow(wanted)
    runner = TextTestRunner(failfast=stop or bool(failfast))
    result = runner.run(TestSuite(cases))
    if exit:
        sys.exit(0 if result.wasSuccessful() else 1)
    return result

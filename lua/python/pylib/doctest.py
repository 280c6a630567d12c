# SPDX-License-Identifier: MIT
"""doctest: the examples in docstrings are run and compared."""
import difflib
import inspect
import io
import re
import sys
import traceback
import unittest
from collections import namedtuple

TestResults = namedtuple("TestResults", "failed attempted")

_FLAGS = {}


def register_optionflag(name):
    return _FLAGS.setdefault(name, 1 << len(_FLAGS))


for _name in ("DONT_ACCEPT_TRUE_FOR_1", "DONT_ACCEPT_BLANKLINE",
              "NORMALIZE_WHITESPACE", "ELLIPSIS", "SKIP",
              "IGNORE_EXCEPTION_DETAIL", "REPORT_UDIFF", "REPORT_CDIFF",
              "REPORT_NDIFF", "REPORT_ONLY_FIRST_FAILURE", "FAIL_FAST"):
    globals()[_name] = register_optionflag(_name)
OPTIONFLAGS_BY_NAME = _FLAGS
BLANKLINE_MARKER, ELLIPSIS_MARKER = "<BLANKLINE>", "..."

_HEADS = ("Traceback (most recent call last):", "Traceback (innermost last):")
_DIVIDER = "*" * 70


class Example:
    def __init__(self, source, want, exc_msg=None, lineno=0, indent=0,
                 options=None):
        self.source = source if source.endswith("\n") else source + "\n"
        self.want = want if not want or want.endswith("\n") else want + "\n"
        self.exc_msg = exc_msg if exc_msg is None or exc_msg.endswith("\n") \
            else exc_msg + "\n"
        self.lineno, self.indent = lineno, indent
        self.options = {} if options is None else options


class DocTest:
    def __init__(self, examples, globs, name, filename, lineno, docstring):
        self.examples, self.docstring = examples, docstring
        self.globs = dict(globs)
        self.name, self.filename, self.lineno = name, filename, lineno

    def __repr__(self):
        n = len(self.examples)
        said = "no examples" if n == 0 else "1 example" if n == 1 \
            else f"{n} examples"
        return f"<DocTest {self.name} from {self.filename}:{self.lineno} " \
               f"({said})>"


def _begins(line, sign):
    return line.lstrip(" ").startswith(sign)


def _written_in(string):
    """Where each example begins and ends, and the lines of its source and of
    what it wants: those below it up to an empty one or the next example."""
    lines, at, i = string.splitlines(keepends=True), 0, 0
    while i < len(lines):
        start, source, wants = at, [], []
        if _begins(lines[i], ">>>"):
            source.append(lines[i])
            while i + len(source) < len(lines) \
                    and _begins(lines[i + len(source)], "..."):
                source.append(lines[i + len(source)])
            for line in lines[i + len(source):]:
                if not line.strip(" \n") or _begins(line, ">>>"):
                    break
                wants.append(line)
        taken = source + wants or [lines[i]]
        i, at = i + len(taken), at + len("".join(taken))
        if source:
            yield start, at, [x.rstrip("\n") for x in source], \
                [x.rstrip("\n") for x in wants]


def _message_in(want):
    """What is said of the error that an example wants; None: it wants none."""
    head, *lines = want.split("\n")
    if head.rstrip() not in _HEADS:
        return None
    for i, line in enumerate(lines):
        if line[:1].isalnum() or line[:1] == "_":
            return "\n".join(lines[i:])
    return None


def _is_comment(source):
    text = source.strip()
    return not text or text.startswith("#") and "\n" not in text


class DocTestParser:
    def parse(self, string, name="<string>"):
        string = string.expandtabs()
        lines = string.split("\n")
        margin = min((len(x) - len(x.lstrip(" ")) for x in lines if x.strip()),
                     default=0)
        string = "\n".join(x[margin:] for x in lines)
        out, at = [], 0
        for start, end, source, wants in _written_in(string):
            out.append(string[at:start])
            lineno = string.count("\n", 0, start)
            indent = len(source[0]) - len(source[0].lstrip(" "))
            text, options, want, exc_msg = self._parts(
                source, wants, indent, name, lineno)
            if not _is_comment(text):
                out.append(Example(text, want, exc_msg, lineno,
                                   margin + indent, options))
            at = end
        out.append(string[at:])
        return out

    def get_examples(self, string, name="<string>"):
        return [x for x in self.parse(string, name) if isinstance(x, Example)]

    def get_doctest(self, string, globs, name, filename, lineno):
        return DocTest(self.get_examples(string, name), globs, name, filename,
                       lineno, string)

    def _parts(self, lines, wants, indent, name, lineno):
        for i, line in enumerate(lines):
            if len(line) > indent + 3 and line[indent + 3] != " ":
                raise ValueError(
                    f"line {lineno + i + 1} of the docstring for {name} lacks "
                    f"blank after {line[indent:indent + 3]}: {line!r}")
        for i, line in enumerate(wants):
            if not line.startswith(" " * indent):
                raise ValueError(
                    f"line {lineno + len(lines) + i + 1} of the docstring for "
                    f"{name} has inconsistent leading whitespace: {line!r}")
        source = "\n".join(line[indent + 4:] for line in lines)
        want = "\n".join(line[indent:] for line in wants)
        return source, self._options(lines, name, lineno), want, \
            _message_in(want)

    def _options(self, lines, name, lineno):
        out = {}
        for line in lines:
            _, _, comment = line.rpartition("#")
            word, colon, options = comment.partition(":")
            if not colon or word.strip() != "doctest" \
                    or "'" in options or '"' in options:
                continue
            for option in options.replace(",", " ").split():
                if option[0] not in "+-" or option[1:] not in _FLAGS:
                    raise ValueError(
                        f"line {lineno + 1} of the doctest for {name} has an "
                        f"invalid option: {option!r}")
                out[_FLAGS[option[1:]]] = option[0] == "+"
        return out


class DocTestFinder:
    def __init__(self, verbose=False, parser=None, recurse=True,
                 exclude_empty=True):
        self._parser = parser or DocTestParser()
        self._recurse, self._exclude_empty = recurse, exclude_empty

    def find(self, obj, name=None, module=None, globs=None, extraglobs=None):
        if name is None:
            name = getattr(obj, "__name__", None)
            if name is None:
                raise ValueError("DocTestFinder.find: name must be given when "
                                 "obj.__name__ doesn't exist: "
                                 f"{type(obj)!r}")
        if module is None:
            module = obj if inspect.ismodule(obj) else sys.modules.get(
                getattr(obj, "__module__", None))
        if globs is None:
            globs = dict(vars(module)) if module else {}
        globs = {**globs, **(extraglobs or {})}
        globs.setdefault("__name__", "__main__")
        tests = []
        self._find(tests, obj, name, module, globs, set())
        tests.sort(key=lambda test: test.name)
        return tests

    def _find(self, tests, obj, name, module, globs, seen):
        if id(obj) in seen:
            return
        seen.add(id(obj))
        doc = getattr(obj, "__doc__", None)
        doc = doc if isinstance(doc, str) else ""
        if doc or not self._exclude_empty:
            test = self._parser.get_doctest(doc, globs, name,
                                            self._file(obj, module),
                                            self._line(obj, doc))
            if test.examples or not self._exclude_empty:
                tests.append(test)
        if not self._recurse:
            return
        if inspect.ismodule(obj):
            for key, value in list(vars(obj).items()):
                if (inspect.isroutine(inspect.unwrap(value))
                        or inspect.isclass(value)) \
                        and getattr(value, "__module__", None) == obj.__name__:
                    self._find(tests, value, f"{name}.{key}", module, globs,
                               seen)
            for key, value in getattr(obj, "__test__", {}).items():
                key = f"{name}.__test__.{key}"
                if isinstance(value, str):
                    tests.append(self._parser.get_doctest(
                        value, globs, key, self._file(obj, module), None))
                else:
                    self._find(tests, value, key, module, globs, seen)
        elif inspect.isclass(obj):
            for key, value in list(vars(obj).items()):
                if isinstance(value, (staticmethod, classmethod)):
                    value = value.__func__
                if inspect.isroutine(value) or inspect.isclass(value) \
                        or isinstance(value, property):
                    self._find(tests, value, f"{name}.{key}", module, globs,
                               seen)

    def _file(self, obj, module):
        return getattr(module, "__file__", None) or "<string>"

    def _line(self, obj, doc):
        try:
            f = inspect.unwrap(obj.fget if isinstance(obj, property) else obj)
            lines, first = inspect.getsourcelines(f)
        except (OSError, TypeError, AttributeError, NotImplementedError):
            return 0 if inspect.ismodule(obj) else None
        for i, line in enumerate(lines):
            if re.match(r'\s*[rRuU]?["\']', line):
                return first + i - 1
        return None


class OutputChecker:
    def check_output(self, want, got, optionflags):
        if got == want:
            return True
        if not optionflags & _FLAGS["DONT_ACCEPT_TRUE_FOR_1"]:
            if (got, want) in (("True\n", "1\n"), ("False\n", "0\n")):
                return True
        if not optionflags & _FLAGS["DONT_ACCEPT_BLANKLINE"]:
            want = "\n".join("" if x.rstrip() == BLANKLINE_MARKER else x
                             for x in want.split("\n"))
            got = "\n".join(x if x.strip() else "" for x in got.split("\n"))
            if got == want:
                return True
        if optionflags & _FLAGS["NORMALIZE_WHITESPACE"]:
            got, want = " ".join(got.split()), " ".join(want.split())
            if got == want:
                return True
        return bool(optionflags & _FLAGS["ELLIPSIS"]) and re.fullmatch(
            ".*".join(map(re.escape, want.split(ELLIPSIS_MARKER))), got,
            re.DOTALL) is not None

    def output_difference(self, example, got, optionflags):
        want = example.want
        if not optionflags & _FLAGS["DONT_ACCEPT_BLANKLINE"]:
            *lines, last = got.split("\n")
            got = "\n".join([x if x.strip(" ") else BLANKLINE_MARKER
                             for x in lines] + [last])
        kinds = _FLAGS["REPORT_UDIFF"] | _FLAGS["REPORT_CDIFF"] \
            | _FLAGS["REPORT_NDIFF"]
        if optionflags & kinds and want.count("\n") > 2 \
                and got.count("\n") > 2:
            return self._differ(want, got, optionflags)
        if want and got:
            return f"Expected:\n{_indented(want)}Got:\n{_indented(got)}"
        if want:
            return f"Expected:\n{_indented(want)}Got nothing\n"
        if got:
            return f"Expected nothing\nGot:\n{_indented(got)}"
        return "Expected nothing\nGot nothing\n"

    def _differ(self, want, got, optionflags):
        want, got = want.splitlines(True), got.splitlines(True)
        if optionflags & _FLAGS["REPORT_UDIFF"]:
            diff = list(difflib.unified_diff(want, got, n=2))[2:]
            kind = "unified diff with -expected +actual"
        elif optionflags & _FLAGS["REPORT_CDIFF"]:
            diff = list(difflib.context_diff(want, got, n=2))[2:]
            kind = "context diff with expected followed by actual"
        else:
            diff = list(difflib.Differ().compare(want, got))
            kind = "ndiff with -expected +actual"
        return f"Differences ({kind}):\n" + _indented("".join(
            line.rstrip() + "\n" for line in diff))


def _indented(text):
    return re.sub("(?m)^(?!$)", "    ", text)


class DocTestRunner:
    DIVIDER = _DIVIDER

    def __init__(self, checker=None, verbose=None, optionflags=0):
        self._checker = checker or OutputChecker()
        self._verbose = "-v" in sys.argv if verbose is None else verbose
        self.optionflags = optionflags
        self.tries = self.failures = 0
        self._by_name = {}

    def report_start(self, out, test, example):
        if self._verbose:
            out("Trying:\n" + _indented(example.source)
                + ("Expecting:\n" + _indented(example.want) if example.want
                   else "Expecting nothing\n"))

    def report_success(self, out, test, example, got):
        if self._verbose:
            out("ok\n")

    def report_failure(self, out, test, example, got):
        out(self._header(test, example) + self._checker.output_difference(
            example, got, self._flags(example)))

    def report_unexpected_exception(self, out, test, example, exc_info):
        text = "".join(traceback.format_exception(*exc_info))
        out(self._header(test, example) + "Exception raised:\n"
            + _indented(text))

    def _header(self, test, example):
        where = f'File "{test.filename}", line ' + (
            "?" if test.lineno is None
            else str(test.lineno + example.lineno + 1)) + f", in {test.name}"
        return "\n".join([self.DIVIDER, where, "Failed example:",
                          _indented(example.source)])

    def _flags(self, example):
        flags = self.optionflags
        for flag, on in example.options.items():
            flags = flags | flag if on else flags & ~flag
        return flags

    def _run_one(self, example, globs):
        """What an example prints, and the error that ended it."""
        stdout, sys.stdout = sys.stdout, io.StringIO()
        try:
            try:
                code = compile(example.source, "<doctest>", "single")
                exec(code, globs)
            except KeyboardInterrupt:
                raise
            except BaseException:
                return sys.stdout.getvalue(), sys.exc_info()
            return sys.stdout.getvalue(), None
        finally:
            sys.stdout = stdout

    def _judge(self, example, got, raised, flags):
        """Is it as wanted, and what was got."""
        if raised is None:
            return self._checker.check_output(example.want, got, flags), got
        said = traceback.format_exception_only(*raised[:2])[-1]
        if example.exc_msg is None:
            return None, got
        got += "".join(traceback.format_exception(*raised))
        if self._checker.check_output(example.exc_msg, said, flags):
            return True, got
        if flags & _FLAGS["IGNORE_EXCEPTION_DETAIL"]:
            def bare(text):
                return text.partition("\n")[0].partition(":")[0].rpartition(
                    ".")[2]
            return bare(example.exc_msg) == bare(said), got
        return False, got

    def run(self, test, compileflags=None, out=None, clear_globs=True):
        out = sys.stdout.write if out is None else out
        failed = tried = 0
        for example in test.examples:
            flags = self._flags(example)
            if flags & _FLAGS["SKIP"]:
                continue
            tried += 1
            self.report_start(out, test, example)
            got, raised = self._run_one(example, test.globs)
            good, got = self._judge(example, got, raised, flags)
            if good:
                self.report_success(out, test, example, got)
                continue
            failed += 1
            if good is None:
                self.report_unexpected_exception(out, test, example, raised)
            else:
                self.report_failure(out, test, example, got)
            if flags & _FLAGS["FAIL_FAST"]:
                break
        self.tries, self.failures = self.tries + tried, self.failures + failed
        had = self._by_name.get(test.name, (0, 0))
        self._by_name[test.name] = had[0] + failed, had[1] + tried
        if clear_globs:
            test.globs.clear()
        return TestResults(failed, tried)

    def summarize(self, verbose=None):
        verbose = self._verbose if verbose is None else verbose
        rows = sorted(self._by_name.items())
        none = [n for n, (f, t) in rows if t == 0]
        passed = [(n, t) for n, (f, t) in rows if t and not f]
        failed = [(n, f, t) for n, (f, t) in rows if f]
        if verbose and none:
            print(len(none), "items had no tests:")
            print(*("    " + n for n in none), sep="\n")
        if verbose and passed:
            print(len(passed), "items passed all tests:")
            for name, count in passed:
                print(" %3d tests in %s" % (count, name))
        if failed:
            print(self.DIVIDER)
            print(len(failed), "items had failures:")
            for name, f, t in failed:
                print(" %3d of %3d in %s" % (f, t, name))
        if verbose:
            print(self.tries, "tests in", len(self._by_name), "items.")
            print(self.tries - self.failures, "passed and", self.failures,
                  "failed.")
        if self.failures:
            print("***Test Failed***", self.failures, "failures.")
        elif verbose:
            print("Test passed.")
        return TestResults(self.failures, self.tries)


class DocTestFailure(Exception):
    def __init__(self, test, example, got):
        self.test, self.example, self.got = test, example, got

    def __str__(self):
        return str(self.test)


class UnexpectedException(Exception):
    def __init__(self, test, example, exc_info):
        self.test, self.example, self.exc_info = test, example, exc_info

    def __str__(self):
        return str(self.test)


class DebugRunner(DocTestRunner):
    def report_unexpected_exception(self, out, test, example, exc_info):
        raise UnexpectedException(test, example, exc_info)

    def report_failure(self, out, test, example, got):
        raise DocTestFailure(test, example, got)


def testmod(m=None, name=None, globs=None, verbose=None, report=True,
            optionflags=0, extraglobs=None, raise_on_error=False,
            exclude_empty=False):
    m = sys.modules["__main__"] if m is None else m
    if not inspect.ismodule(m):
        raise TypeError("testmod: module required; %r" % (m,))
    kind = DebugRunner if raise_on_error else DocTestRunner
    runner = kind(verbose=verbose, optionflags=optionflags)
    for test in DocTestFinder(exclude_empty=exclude_empty).find(
            m, name or m.__name__, globs=globs, extraglobs=extraglobs):
        runner.run(test)
    if report:
        runner.summarize()
    return TestResults(runner.failures, runner.tries)


def run_docstring_examples(f, globs, verbose=False, name="NoName",
                           compileflags=None, optionflags=0):
    runner = DocTestRunner(verbose=verbose, optionflags=optionflags)
    for test in DocTestFinder(verbose=verbose, recurse=False).find(
            f, name, globs=globs):
        runner.run(test)


class DocTestCase(unittest.TestCase):
    def __init__(self, test, optionflags=0):
        super().__init__()
        self._test, self._flags = test, optionflags

    def runTest(self):
        out = io.StringIO()
        result = DocTestRunner(verbose=False, optionflags=self._flags).run(
            self._test, out=out.write, clear_globs=False)
        if result.failed:
            raise self.failureException(
                f"Failed doctest test for {self._test.name}\n"
                + out.getvalue())

    def id(self):
        return self._test.name

    def __str__(self):
        return self._test.name


def DocTestSuite(module=None, globs=None, extraglobs=None, optionflags=0,
                 **options):
    module = sys.modules["__main__"] if module is None else module
    suite = unittest.TestSuite()
    for test in DocTestFinder().find(module, globs=globs,
                                     extraglobs=extraglobs):
        suite.addTest(DocTestCase(test, optionflags))
    return suite

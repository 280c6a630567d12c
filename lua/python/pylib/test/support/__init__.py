# SPDX-License-Identifier: MIT
"""test.support: what Python's own tests share.

What asks for the insides of CPython (its collector, its sizes, its threads,
another process) skips the test and says which.
"""
import contextlib
import functools
import io
import sys
import unittest

verbose = 0
MAX_Py_ssize_t = sys.maxsize
NHASHBITS = 64
is_wasi = is_emscripten = False
has_subprocess_support = has_fork_support = False
TEST_HOME_DIR = REPO_ROOT = ""
SHORT_TIMEOUT, LOOPBACK_TIMEOUT, LONG_TIMEOUT = 30.0, 5.0, 300.0


class TestFailed(Exception):
    pass


class ResourceDenied(unittest.SkipTest):
    pass


class _AlwaysEqual:
    def __eq__(self, other):
        return True

    def __ne__(self, other):
        return False


class _NeverEqual:
    __hash__ = None

    def __eq__(self, other):
        return False

    def __ne__(self, other):
        return True


@functools.total_ordering
class _Largest:
    def __eq__(self, other):
        return isinstance(other, _Largest)

    def __lt__(self, other):
        return False


@functools.total_ordering
class _Smallest:
    def __eq__(self, other):
        return isinstance(other, _Smallest)

    def __gt__(self, other):
        return False


ALWAYS_EQ, NEVER_EQ = _AlwaysEqual(), _NeverEqual()
LARGEST, SMALLEST = _Largest(), _Smallest()


# ---- which tests are not for us ----

def cpython_only(test):
    return unittest.skip("about the insides of CPython")(test)


def check_impl_detail(**guards):
    """Is a detail of an implementation to be tested?  Guards name some."""
    others = bool(guards) and not any(guards.values())
    return guards.get("dtrepl", others)


def impl_detail(msg=None, **guards):
    if check_impl_detail(**guards):
        return lambda test: test
    return unittest.skip(msg or "about the insides of CPython")


def _skipper(reason):
    return lambda test: unittest.skip(reason)(test)


def _same(test):
    return test


requires_IEEE_754 = _same
no_tracing = _same
skip_if_pgo_task = _same
requires_docstrings = _skipper("needs the docstrings of built-in names")
refcount_test = _skipper("needs reference counts")
bigaddrspacetest = _skipper("needs more memory than there is")
skip_if_buggy_ucrt_strfptime = _same
requires_legacy_unicode_capi = _skipper("needs the C API")


def bigmemtest(size, memuse, dry_run=True):
    return _skipper("needs more memory than there is")


def precisionbigmemtest(size, memuse, dry_run=True):
    return _skipper("needs more memory than there is")


def requires_mac_ver(*version):
    return _same


def requires_subprocess():
    return _skipper("needs another process")


def requires_fork():
    return _skipper("needs another process")


def requires_gil_enabled(msg=""):
    return _same


def requires_limited_api(test):
    return unittest.skip("needs the C API")(test)


def requires_resource(resource):
    return _skipper("resource '%s' is not enabled" % resource)


def requires(resource, msg=None):
    raise ResourceDenied(msg or "resource '%s' is not enabled" % resource)


def is_resource_enabled(resource):
    return False


def run_with_locale(catstr, *locales):
    return _skipper("needs locales")


def run_with_tz(tz):
    return _skipper("needs time zones")


def skip_if_sanitizer(reason=None, **which):
    return _same


def skip_if_broken_multiprocessing_synchronize():
    raise unittest.SkipTest("needs processes")


# ---- helpers ----

@contextlib.contextmanager
def disable_gc():
    raise unittest.SkipTest("needs the collector")
    yield


def _insides(what):
    def refuse(*args, **kwargs):
        raise unittest.SkipTest("needs " + what)
    return refuse


gc_collect = _insides("the collector")
calcobjsize = calcvobjsize = check_sizeof = _insides("sizes of objects")
check_free_after_iterating = _insides("finalizers at the last reference")
setswitchinterval = _insides("threads")
catch_unraisable_exception = _insides("sys.unraisablehook")
collision_stats = _insides("CPython's hashes")
adjust_int_max_str_digits = _insides("a limit for the digits of an int")
run_in_subinterp = _insides("another interpreter")
check_syntax_warning = _insides("warnings of the compiler")


@contextlib.contextmanager
def infinite_recursion(max_depth=75):
    yield


@contextlib.contextmanager
def swap_attr(obj, attr, new_val):
    had = hasattr(obj, attr)
    before = getattr(obj, attr, None)
    setattr(obj, attr, new_val)
    try:
        yield before
    finally:
        if had:
            setattr(obj, attr, before)
        elif hasattr(obj, attr):
            delattr(obj, attr)


@contextlib.contextmanager
def swap_item(obj, item, new_val):
    had = item in obj
    before = obj[item] if had else None
    obj[item] = new_val
    try:
        yield before
    finally:
        if had:
            obj[item] = before
        elif item in obj:
            del obj[item]


@contextlib.contextmanager
def captured_output(stream_name):
    before = getattr(sys, stream_name)
    setattr(sys, stream_name, io.StringIO())
    try:
        yield getattr(sys, stream_name)
    finally:
        setattr(sys, stream_name, before)


def captured_stdout():
    return captured_output("stdout")


def captured_stderr():
    return captured_output("stderr")


def check_syntax_error(testcase, statement, errtext="", *, lineno=None,
                       offset=None):
    with testcase.assertRaisesRegex(SyntaxError, errtext) as cm:
        compile(statement, "<test string>", "exec")
    error = cm.exception
    testcase.assertIsNotNone(error.lineno)
    if lineno is not None:
        testcase.assertEqual(error.lineno, lineno)
    testcase.assertIsNotNone(error.offset)
    if offset is not None:
        testcase.assertEqual(error.offset, offset)


def check_disallow_instantiation(testcase, tp, *args, **kwds):
    with testcase.assertRaises(TypeError):
        tp(*args, **kwds)


def check__all__(test_case, module, name_of_module=None, extra=(),
                 not_exported=()):
    owners = name_of_module or (module.__name__,)
    if isinstance(owners, str):
        owners = (owners,)
    expected = set(extra)
    for name in dir(module):
        if name.startswith("_") or name in not_exported:
            continue
        obj = getattr(module, name)
        if getattr(obj, "__module__", None) in owners:
            expected.add(name)
    test_case.assertCountEqual(module.__all__, expected)

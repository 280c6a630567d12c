# SPDX-License-Identifier: MIT
"""torch.testing._internal.common_utils: the part of PyTorch's test harness
that its distributed tests use, on the ranks of this program."""
import _absent
import contextlib
import functools
import inspect
import math
import os
import random
import sys
import unittest
import warnings

import torch
import _dtrepl

SEED = 1234
IS_LINUX = IS_X86 = TEST_NUMPY = TEST_MKL = True
IS_WINDOWS = IS_MACOS = IS_PPC = IS_ARM64 = IS_S390X = IS_JETSON = False
IS_FBCODE = IS_SANDCASTLE = IS_CI = IS_REMOTE_GPU = IN_RE_WORKER = False
TEST_CUDA = TEST_HPU = TEST_XPU = TEST_MPS = TEST_MULTIGPU = False
TEST_ACCELERATOR = TEST_MULTIACCELERATOR = TEST_PRIVATEUSE1 = False
TEST_WITH_ASAN = TEST_WITH_DEV_DBG_ASAN = TEST_WITH_TSAN = False
TEST_WITH_UBSAN = TEST_WITH_ROCM = TEST_WITH_SLOW = TEST_SKIP_FAST = False
TEST_WITH_CROSSREF = TEST_WITH_TORCHDYNAMO = TEST_WITH_TORCHINDUCTOR = False
TEST_WITH_AOT_EAGER = TEST_WITH_SLOW_GRADCHECK = TEST_WITH_MTIA = False
TEST_FAIRSEQ = TEST_SCIPY = TEST_NUMBA = TEST_TRANSFORMERS = False
TEST_DILL = TEST_LIBROSA = TEST_OPT_EINSUM = TEST_Z3 = False
TEST_CUDA_GRAPH = TEST_SKIP_CUDAGRAPH = NO_MULTIPROCESSING_SPAWN = False
NOTEST_CPU = RERUN_DISABLED_TESTS = TEST_IN_SUBPROCESS = False
ACCELERATOR_TYPE = None


def set_rng_seed(seed=None):
    torch.manual_seed(SEED if seed is None else seed)
    random.seed(SEED if seed is None else seed)


@contextlib.contextmanager
def freeze_rng_state():
    state = torch.get_rng_state()
    try:
        yield
    finally:
        torch.set_rng_state(state)


# ---- skips ----

def _off(*args, **kwargs):
    """A condition of another machine or compiler: the test runs here."""
    if args and callable(args[0]):
        return args[0]
    return lambda target: target


skipIfTorchDynamo = skipIfTorchInductor = skipIfRocm = skipIfHpu = _off
skipIfXpu = skipIfMPS = skipIfWindows = skipIfCrossRef = _off
skipIfNoLapack = skipIfLegacyJitExecutor = skipIfRocmArch = _off
skipIfRocmVersionLessThan = skipIfNNModuleInlined = skipIfFreeThreaded = _off
skipIfCompiledWithoutNumpy = skip_if_pytest = serialTest = _off
markDynamoStrictTest = unMarkDynamoStrictTest = _off
xfailIfTorchDynamo = xfailIfLinux = _off
retry_on_connect_failures = suppress_warnings = _off
skipCUDAMemoryLeakCheckIf = skipCUDANonDefaultStreamIf = _off


def skipIfNoSciPy(test):
    return unittest.skip("test require SciPy, but SciPy not found")(test)


def slowTest(test):
    return unittest.skip("test is slow; run with PYTORCH_TEST_WITH_SLOW to "
                         "enable test")(test)


def slowTestIf(condition):
    return slowTest if condition else (lambda test: test)


def xfailIf(condition):
    def take(test):
        return unittest.expectedFailure(test) if condition else test
    return take


def skip_but_pass_in_sandcastle(reason):
    return unittest.skip(reason)


def skip_but_pass_in_sandcastle_if(condition, reason):
    return unittest.skipIf(condition, reason)


def requires_cuda_p2p_access():
    return unittest.skip("cuda p2p access is not available")


# ---- parametrized tests ----

class subtest:
    """The values of one test, with a name and decorators of its own."""

    def __init__(self, arg_values, name=None, decorators=None):
        self.arg_values, self.name = arg_values, name
        self.decorators = decorators if decorators else []


def dtype_name(dtype):
    return str(dtype).split(".")[1]


class parametrize:
    """A test for every value of its arguments."""

    def __init__(self, arg_str, arg_values, name_fn=None):
        self.names = [s.strip() for s in arg_str.split(",") if s.strip()]
        self.values, self.name_fn = list(arg_values), name_fn

    def word(self, name, value, at):
        if isinstance(value, torch.dtype):
            return dtype_name(value)
        if isinstance(value, torch.device):
            return str(value)
        if isinstance(value, (int, float, str, bool)):
            return (name + "_" + str(value)).replace(".", "_")
        return name + str(at)

    def cases(self):
        """[(part of the name, arguments, decorators)]."""
        out = []
        for at, one in enumerate(self.values):
            label, decorators, given = None, [], one
            if isinstance(one, subtest):
                label, decorators = one.name, one.decorators
                given = one.arg_values
            values = list(given) if len(self.names) != 1 or \
                isinstance(one, subtest) and isinstance(given, tuple) \
                else [given]
            if len(values) != len(self.names):
                raise RuntimeError("Expected # values == # arg names, but got "
                                   "%d values and %d names for test"
                                   % (len(values), len(self.names)))
            if label is None and self.name_fn is not None:
                label = self.name_fn(*values)
            if label is None:
                label = "_".join([self.word(n, v, at) for n, v
                                  in zip(self.names, values)])
            out.append((label, dict(zip(self.names, values)), decorators))
        return out

    def __call__(self, test):
        test._parametrized = [self] + list(getattr(test, "_parametrized", []))
        return test


def _combined(rows):
    """Every combination of the cases of several parametrize."""
    out = [("", {}, [])]
    for row in rows:
        out = [(a + ("_" if a and b else "") + b, {**x, **y}, d + e)
               for a, x, d in out for b, y, e in row.cases()]
    return out


def _with_values(test, values):
    def run(self, *args, **kwargs):
        return test(self, *args, **{**values, **kwargs})
    _carry(run, test)
    return run


def _carry(to, test):
    """Skips and marks of a test hold for what is made of it."""
    for name in ("__unittest_skip__", "__unittest_skip_why__",
                 "__unittest_expecting_failure__"):
        if hasattr(test, name):
            setattr(to, name, getattr(test, name))


def instantiate_parametrized_tests(generic_cls):
    for name in sorted(dir(generic_cls)):
        if not name.startswith("test"):
            continue
        test = getattr(generic_cls, name)
        rows = getattr(test, "_parametrized", None)
        if not rows:
            continue
        delattr(generic_cls, name)
        for label, values, decorators in _combined(rows):
            made = _with_values(test, values)
            for decorate in decorators:
                made = decorate(made)
            for decorate, wanted in getattr(test, "_decorated_if", []):
                if wanted(dict(values)):
                    made = decorate(made)
            full = name + "_" + label
            if hasattr(generic_cls, full):
                raise AssertionError("Redefinition of test " + full)
            made.__name__ = full
            setattr(generic_cls, full, made)
    return generic_cls


def decorateIf(decorator, predicate_fn):
    """Decorates the instances whose arguments predicate_fn accepts."""
    def mark(test):
        test._decorated_if = [(decorator, predicate_fn)] + list(
            getattr(test, "_decorated_if", []))
        return test
    return mark


# ---- comparing ----

def _is_number(v):
    return isinstance(v, (int, float, complex)) \
        and not isinstance(v, torch.Tensor)


def _scalars_differ(a, b):
    lines = ["Scalars are not equal!", "",
             "Expected %r but got %r." % (b, a)]
    gap = abs(a - b)
    lines.append("Absolute difference: %r" % gap)
    lines.append("Relative difference: %r"
                 % (gap / abs(b) if b != 0 else math.inf))
    return "\n".join(lines)


class _Comparer:
    """Says how two values differ; None when they do not."""

    def __init__(self, atol, rtol, equal_nan, exact_dtype, exact_stride):
        self.atol, self.rtol, self.equal_nan = atol, rtol, equal_nan
        self.exact_dtype, self.exact_stride = exact_dtype, exact_stride

    def tensors(self, a, b):
        if hasattr(a, "full_tensor") != hasattr(b, "full_tensor"):
            a = a.full_tensor() if hasattr(a, "full_tensor") else a
            b = b.full_tensor() if hasattr(b, "full_tensor") else b
        if a.is_meta or b.is_meta:
            return self.outside(a, b)
        try:
            torch.testing.assert_close(
                a, b, rtol=self.rtol, atol=self.atol,
                equal_nan=self.equal_nan, check_device=False,
                check_dtype=self.exact_dtype, check_stride=self.exact_stride)
        except AssertionError as error:
            return str(error)
        return None

    def outside(self, a, b):
        """Tensors of which one has no data."""
        for name in ("shape", "dtype", "device"):
            x, y = getattr(a, name), getattr(b, name)
            if x != y and (name != "dtype" or self.exact_dtype):
                return ("The values for attribute '%s' do not match: %s != %s."
                        % (name, x, y))
        return None

    def numbers(self, a, b):
        if isinstance(a, bool) and isinstance(b, bool):
            return None if a == b else "Booleans mismatch: %s is not %s" % (a,
                                                                            b)
        if a == b:
            return None
        if a != a and b != b:
            return None if self.equal_nan else _scalars_differ(a, b)
        whole = isinstance(a, int) and isinstance(b, int)
        rtol = self.rtol if self.rtol is not None else 0 if whole else 1.3e-6
        atol = self.atol if self.atol is not None else 0 if whole else 1e-5
        if abs(a - b) <= atol + rtol * abs(b) and abs(a - b) < math.inf:
            return None
        return _scalars_differ(a, b)

    def mixed(self, a, b):
        """A tensor and a number, or a list of numbers."""
        t, other = (a, b) if isinstance(a, torch.Tensor) else (b, a)
        if _is_number(other):
            if t.numel() != 1:
                raise ValueError("Only single element tensor-likes can be "
                                 "compared against a number. Got %d elements "
                                 "instead." % t.numel())
            return self.numbers(t.item(), other) if t is a \
                else self.numbers(other, t.item())
        made = torch.tensor(other, dtype=t.dtype)
        return self.tensors(t, made) if t is a else self.tensors(made, t)

    def sequences(self, a, b):
        if len(a) != len(b):
            return "The length of the sequences mismatch: %d != %d" % (len(a),
                                                                       len(b))
        for at, (x, y) in enumerate(zip(a, b)):
            said = self(x, y)
            if said:
                return said + self.place(said, at)
        return None

    def place(self, said, at):
        mark = "\n\nThe failure occurred for item "
        if mark in said:
            return "[%r]" % (at,)
        return mark + "[%r]" % (at,)

    def mappings(self, a, b):
        if set(a.keys()) != set(b.keys()):
            return ("The keys of the mappings do not match:\n"
                    "Missing keys in the actual mapping: %s\n"
                    "Additional keys in the actual mapping: %s"
                    % (sorted([k for k in b if k not in a], key=str),
                       sorted([k for k in a if k not in b], key=str)))
        for key in a:
            said = self(a[key], b[key])
            if said:
                return said + self.place(said, key)
        return None

    def __call__(self, a, b):
        one, other = isinstance(a, torch.Tensor), isinstance(b, torch.Tensor)
        if one and other:
            return self.tensors(a, b)
        if one and (_is_number(b) or isinstance(b, (list, tuple))) \
                or other and (_is_number(a) or isinstance(a, (list, tuple))):
            return self.mixed(a, b)
        if _is_number(a) and _is_number(b):
            return self.numbers(a, b)
        if isinstance(a, str) and isinstance(b, str):
            return None if a == b else "String comparison failed: %r != %r" % (
                a, b)
        if isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)):
            return self.sequences(a, b)
        if isinstance(a, dict) and isinstance(b, dict):
            return self.mappings(a, b)
        if a is None or b is None:
            return None if a is b else "None mismatch: %r is not %r" % (a, b)
        return None if a == b else "Object comparison failed: %r != %r" % (a,
                                                                           b)


class TestCase(unittest.TestCase):
    """PyTorch's TestCase: one seed before each test, tensors are compared by
    the tolerances of their type."""

    maxDiff = None

    def setUp(self):
        set_rng_seed(SEED)

    def _difference(self, x, y, rtol, atol, equal_nan, exact_dtype,
                    exact_stride):
        if (rtol is None) != (atol is None):
            rtol, atol = rtol if rtol is not None else 0, \
                atol if atol is not None else 0
        return _Comparer(atol, rtol, equal_nan, exact_dtype, exact_stride)(x,
                                                                           y)

    def assertEqual(self, x, y, msg=None, *, atol=None, rtol=None,
                    equal_nan=True, exact_dtype=True, exact_device=False,
                    exact_layout=False, exact_stride=False,
                    exact_is_coalesced=False):
        __tracebackhide__ = True
        said = self._difference(x, y, rtol, atol, equal_nan, exact_dtype,
                                exact_stride)
        if not said:
            return
        if callable(msg):
            said = msg(said)
        elif msg is not None:
            said = said + "\n" + str(msg)
        raise AssertionError(said)

    def assertNotEqual(self, x, y, msg=None, *, atol=None, rtol=None,
                       **kwargs):
        said = self._difference(x, y, rtol, atol,
                                kwargs.get("equal_nan", True),
                                kwargs.get("exact_dtype", True), False)
        if not said:
            raise AssertionError("AssertionError not raised"
                                 + ("" if msg is None else " : " + str(msg)))

    def assertEqualIgnoreType(self, x, y, **kwargs):
        return self.assertEqual(x, y, exact_dtype=False, **kwargs)

    def assertEqualBroadcasting(self, x, y, **kwargs):
        if not isinstance(y, torch.Tensor):
            y = torch.tensor(y, dtype=x.dtype)
        self.assertEqual(x, y.expand_as(x), **kwargs)

    def assertExpectedInline(self, actual, expect, skip=0):
        if actual != expect:
            self._refuse(repr(actual) + " != " + repr(expect))

    def assertNotWarn(self, callable, msg=""):
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            callable()
        if told:
            self._refuse("%s: %s" % (msg, told[0].message))

    def assertAtenOp(self, *args, **kwargs):
        raise _absent.error("TestCase.assertAtenOp is not part of "
                            "dtrepl")


class NoTest:
    """A class in the place of one whose tests cannot run."""


@contextlib.contextmanager
def set_default_dtype(dtype):
    before = torch.get_default_dtype()
    torch.set_default_dtype(dtype)
    try:
        yield
    finally:
        torch.set_default_dtype(before)


def find_free_port():
    return 29500


def run_tests(argv=None):
    unittest.main(argv=argv)

# SPDX-License-Identifier: MIT
"""torch.testing._internal.common_device_type: tests for each kind of device,
of which there is the CPU."""
import inspect

from torch.testing._internal.common_utils import (
    instantiate_parametrized_tests, _carry)


class _Dtypes:
    """A test for every one of the types."""

    def __init__(self, *dtypes, **kwargs):
        self.dtypes = dtypes

    def __call__(self, test):
        test._dtypes = self.dtypes
        return test


dtypes = dtypesIfCPU = _Dtypes


def _same(*args, **kwargs):
    return lambda test: test


dtypesIfCUDA = dtypesIfXPU = dtypesIfMPS = dtypesIfHPU = _same
skipCUDAIf = skipXPUIf = skipMPSIf = skipHPUIf = skipGPUIf = _same


def onlyCPU(test):
    return test


def _for_cpu(test, dtype):
    """The test for the CPU, which it is told where it asks for a device."""
    names = inspect.signature(test).parameters

    def run(self, *args, **kwargs):
        given = {"device": "cpu"} if "device" in names else {}
        if dtype is not None:
            given["dtype"] = dtype
        return test(self, *args, **{**given, **kwargs})
    _carry(run, test)
    return run


def instantiate_device_type_tests(generic_test_class, scope, except_for=None,
                                  only_for=None, include_lazy=False,
                                  allow_mps=False, allow_xpu=False):
    """TestX becomes TestXCPU with test_y_cpu, given device="cpu"."""
    name = generic_test_class.__name__ + "CPU"
    del scope[generic_test_class.__name__]
    wanted = only_for is None or "cpu" in only_for
    if except_for is not None and "cpu" in except_for or not wanted:
        return
    instantiate_parametrized_tests(generic_test_class)

    class made(generic_test_class):
        pass

    made.__name__ = made.__qualname__ = name
    made.__module__ = generic_test_class.__module__
    for key in sorted(dir(generic_test_class)):
        test = getattr(generic_test_class, key)
        if not key.startswith("test") or not callable(test):
            continue
        for dtype in getattr(test, "_dtypes", (None,)):
            word = "" if dtype is None else "_" + str(dtype).split(".")[1]
            setattr(made, key + "_cpu" + word, _for_cpu(test, dtype))
        setattr(made, key, None)
    made.device_type = "cpu"
    scope[name] = made

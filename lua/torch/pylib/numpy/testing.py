# SPDX-License-Identifier: MIT
# numpy/testing.py: the checks of numpy.testing that programs end with.
import numpy as _np


def _fail(what, actual, desired):
    raise AssertionError("\n%s\n ACTUAL: %r\n DESIRED: %r"
                         % (what, actual, desired))


def _check_shapes(actual, desired):
    a, b = _np.asarray(actual), _np.asarray(desired)
    if a.shape != b.shape and a.ndim and b.ndim:
        _fail("(shapes %s, %s mismatch)" % (a.shape, b.shape), a, b)
    return a, b


def assert_allclose(actual, desired, rtol=1e-07, atol=0, equal_nan=True,
                    err_msg="", verbose=True):
    a, b = _check_shapes(actual, desired)
    if not _np.allclose(a, b, rtol, atol, equal_nan):
        _fail("Not equal to tolerance rtol=%g, atol=%g\n%s"
              % (rtol, atol, err_msg), a, b)


def assert_array_equal(actual, desired, err_msg="", verbose=True):
    a, b = _check_shapes(actual, desired)
    if not _np.all((a == b) | ((a != a) & (b != b))):
        _fail("Arrays are not equal\n" + err_msg, a, b)


def assert_equal(actual, desired, err_msg="", verbose=True):
    if isinstance(actual, _np.ndarray) or isinstance(desired, _np.ndarray):
        return assert_array_equal(actual, desired, err_msg)
    if actual != desired:
        _fail("Items are not equal:\n" + err_msg, actual, desired)


def assert_almost_equal(actual, desired, decimal=7, err_msg="", verbose=True):
    a, b = _check_shapes(actual, desired)
    if not _np.all(_np.abs(a - b) < 1.5 * 10.0 ** -decimal):
        _fail("Arrays are not almost equal to %d decimals\n%s"
              % (decimal, err_msg), a, b)


assert_array_almost_equal = assert_almost_equal

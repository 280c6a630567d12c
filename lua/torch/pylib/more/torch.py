# SPDX-License-Identifier: MIT
"""torch: names that programs set, ask for or catch, and that change nothing
in an engine of one device."""
import torch
import torch._inductor as _inductor
import torch.backends as backends
import torch.compiler as compiler
import torch.jit as jit
import torch.version as version
from torch.amp import GradScaler
from torch.version import __version__

cfloat, cdouble = torch.complex64, torch.complex128


class AcceleratorError(RuntimeError):
    __module__ = "torch"


class OutOfMemoryError(RuntimeError):
    __module__ = "torch"


def set_flush_denormal(mode):
    return not mode                     # what is very small is kept as it is


def get_autocast_cpu_dtype():
    return torch.bfloat16


def get_autocast_gpu_dtype():
    return torch.float16


class SymInt:
    """Sizes that a compiler does not know yet: there are none here."""
    __module__ = "torch"


class SymFloat:
    __module__ = "torch"


class SymBool:
    __module__ = "torch"


def _check_with(error, cond, message):
    if cond:
        return
    if message is None:
        raise error("Expected cond to be True, but got False. (Could this "
                    "error message be improved? If so, please report an "
                    "enhancement request to PyTorch.)")
    if not callable(message):
        raise TypeError("message must be a callable")
    raise error(str(message()))


def _check(cond, message=None):
    _check_with(RuntimeError, cond, message)


def _check_value(cond, message=None):
    _check_with(ValueError, cond, message)


def _check_type(cond, message=None):
    _check_with(TypeError, cond, message)


def _check_index(cond, message=None):
    _check_with(IndexError, cond, message)


def _assert(condition, message):
    assert condition, message


def is_anomaly_enabled():
    from torch.autograd.anomaly_mode import is_anomaly_enabled as asked
    return asked()


def is_anomaly_check_nan_enabled():
    from torch.autograd.anomaly_mode import is_anomaly_check_nan_enabled as \
        asked
    return asked()


class _Future:
    """torch.__future__: the engine keeps the tensor of a parameter when a
    module is converted, whatever is set here."""

    def __init__(self):
        self.overwrite, self.swap = False, False

    def set_overwrite_module_params_on_conversion(self, value):
        self.overwrite = value

    def get_overwrite_module_params_on_conversion(self):
        return self.overwrite

    def set_swap_module_params_on_conversion(self, value):
        self.swap = value

    def get_swap_module_params_on_conversion(self):
        return self.swap


__future__ = _Future()


_DEBUG_MODES = ("default", "warn", "error")


def set_deterministic_debug_mode(debug_mode):
    if not isinstance(debug_mode, (int, str)):
        raise TypeError("debug_mode must be str or int, but got "
                        f"{type(debug_mode)}")
    if isinstance(debug_mode, str):
        if debug_mode not in _DEBUG_MODES:
            raise RuntimeError("invalid value of debug_mode, expected one of "
                               "`default`, `warn`, `error`, but got "
                               f"{debug_mode}")
        debug_mode = _DEBUG_MODES.index(debug_mode)
    if debug_mode not in (0, 1, 2):
        raise RuntimeError("invalid value of debug_mode, expected 0, 1, or 2, "
                           f"but got {debug_mode}")
    torch.use_deterministic_algorithms(debug_mode > 0,
                                       warn_only=debug_mode == 1)


def get_deterministic_debug_mode():
    if not torch.are_deterministic_algorithms_enabled():
        return 0
    return 1 if torch.is_deterministic_algorithms_warn_only_enabled() else 2


def _one_kind(a, b):
    """Two numbers, both floats where one is."""
    if isinstance(a, float) or isinstance(b, float):
        return float(a), float(b)
    return a, b


# Of numbers that a compiler may not know yet; here each is known.
def sym_max(a, b):
    return max(_one_kind(a, b))


def sym_min(a, b):
    return min(_one_kind(a, b))


def sym_not(a):
    return not a


def sym_int(a):
    return int(a)


def sym_float(a):
    return float(a)


def sym_sum(args):
    return sum(args)


def sym_ite(b, t, f):
    return t if b else f

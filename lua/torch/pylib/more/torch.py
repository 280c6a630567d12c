# SPDX-License-Identifier: MIT
"""torch: names that programs set, ask for or catch, and that change nothing
in an engine of one device."""
import torch
import torch._dynamo as _dynamo
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

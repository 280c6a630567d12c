# SPDX-License-Identifier: MIT
"""torch: names that programs set, ask for or catch, and that change nothing
in an engine of one device."""
import torch
import torch._dynamo as _dynamo
import torch._inductor as _inductor
import torch.backends as backends
import torch.compiler as compiler
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

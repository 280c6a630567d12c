# SPDX-License-Identifier: MIT
"""torch.cuda: what a PyTorch without CUDA says."""
from collections import OrderedDict
from torch import AcceleratorError, OutOfMemoryError

_initialized = False


def _absent(*args, **settings):
    raise AssertionError("Torch not compiled with CUDA enabled")


init = initial_seed = ipc_collect = mem_get_info = _absent
get_device_properties = get_device_capability = _absent
get_rng_state = set_rng_state = _absent


def is_bf16_supported(including_emulation=True):
    return False


def is_initialized():
    return False


def memory_stats(device=None):
    return OrderedDict()


def max_memory_cached(device=None):
    return 0


def memory_cached(device=None):
    return 0


def get_rng_state_all():
    return []


def set_rng_state_all(new_states):
    for state in new_states:
        set_rng_state(state)


def get_arch_list():
    return []


def seed_all():
    pass


def set_stream(stream):
    pass

# SPDX-License-Identifier: MIT
"""torch.utils._foreach_utils: lists of tensors grouped for foreach calls."""


def _get_foreach_kernels_supported_devices():
    return ["cuda", "xpu", "mtia"]


def _get_fused_kernels_supported_devices():
    return ["mps", "cuda", "xpu", "hpu", "cpu", "mtia"]


def _group_tensors_by_device_and_dtype(tensorlistlist, with_indices=False):
    """By (device, dtype) of the first list: the lists' members there, and
    their places."""
    groups = {}
    for place, first in enumerate(tensorlistlist[0]):
        key = (first.device, first.dtype)
        if key not in groups:
            groups[key] = ([[] for _ in tensorlistlist], [])
        lists, places = groups[key]
        for own, given in zip(lists, tensorlistlist):
            if given:
                own.append(given[place])
        if with_indices:
            places.append(place)
    return groups

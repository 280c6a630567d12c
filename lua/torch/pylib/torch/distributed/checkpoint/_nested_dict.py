# SPDX-License-Identifier: MIT
"""torch.distributed.checkpoint._nested_dict: state dicts of one level."""
from torch.distributed.checkpoint._traverse import (
    set_element, traverse_state_dict)


def flatten_state_dict(state_dict):
    """{"a.b": value} and the path of every name."""
    flat, paths = {}, {}

    def keep(path, value):
        name = ".".join([str(p) for p in path])
        if name in flat:
            raise ValueError("duplicated flatten key " + name)
        flat[name], paths[name] = value, path

    traverse_state_dict(state_dict, keep)
    return flat, paths


def unflatten_state_dict(state_dict, mapping):
    nested = {}
    for name, value in state_dict.items():
        set_element(nested, mapping[name], value)
    return nested

# SPDX-License-Identifier: MIT
"""torch.distributed.checkpoint._traverse: walks over state dicts."""
from collections.abc import Mapping

import torch

OBJ_PATH = tuple
STATE_DICT_ITEM = object


def _holds_tensor(v):
    """Are there tensors or dicts in it, at any depth?"""
    if isinstance(v, dict):
        return True
    if isinstance(v, (list, tuple)):
        return any([_holds_tensor(x) for x in v])
    return isinstance(v, torch.Tensor)


def _walk(path, v, visit, into):
    if isinstance(v, dict):
        for key, item in v.items():
            _walk(path + (str(key),), item, visit, into)
    elif isinstance(v, (list, tuple)) and into(v):
        for at, item in enumerate(v):
            _walk(path + (at,), item, visit, into)
    else:
        visit(path, v)


def traverse_state_dict(state_dict, visitor, keep_traversing=None):
    """visitor(path, value) for every leaf; a list without tensors is one."""
    into = keep_traversing if keep_traversing is not None else _holds_tensor
    for key, value in state_dict.items():
        _walk((str(key),), value, visitor, into)


def traverse_state_dict_v_2_3(state_dict, visitor, keep_traversing=None):
    traverse_state_dict(state_dict, visitor, keep_traversing)


def set_element(root_dict, path, value):
    """Put a value at a path; what is missing on the way is made."""
    at = root_dict
    for here, after in zip(path[:-1], path[1:]):
        empty = {} if isinstance(after, str) else []
        if isinstance(at, dict):
            at = at.setdefault(here, empty)
        else:
            while len(at) <= here:
                at.append(None)
            if at[here] is None:
                at[here] = empty
            at = at[here]
    last = path[-1]
    if not isinstance(at, dict):
        while len(at) <= last:
            at.append(None)
    at[last] = value


def get_element(root_dict, path, default_value=None):
    at = root_dict
    for key in path:
        if isinstance(key, int):
            if not isinstance(at, list) or len(at) <= key:
                return default_value
        elif not isinstance(at, dict) or key not in at:
            return default_value
        at = at[key]
    return at


def print_tensor(path, value, print_fun=print):
    print_fun("%s: %s" % (path, value))

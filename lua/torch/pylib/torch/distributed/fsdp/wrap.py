# SPDX-License-Identifier: MIT
"""torch.distributed.fsdp.wrap: which modules get a wrapper of their own."""
import contextlib
import functools

import torch.nn as nn

_defaults = []                  # of enable_wrap: (wrapper_cls, its keywords)


def always_wrap_policy(*args, **kwargs):
    return True


def lambda_auto_wrap_policy(module, recurse, nonwrapped_numel, lambda_fn):
    return True if recurse else lambda_fn(module)


def transformer_auto_wrap_policy(module, recurse, nonwrapped_numel,
                                 transformer_layer_cls):
    return True if recurse else isinstance(module,
                                           tuple(transformer_layer_cls))


def _module_wrap_policy(module, recurse, nonwrapped_numel, module_classes):
    return True if recurse else isinstance(module, tuple(module_classes))


def _or_policy(module, recurse, nonwrapped_numel, policies):
    return any(policy(module=module, recurse=recurse,
                      nonwrapped_numel=nonwrapped_numel)
               for policy in policies)


def size_based_auto_wrap_policy(module, recurse, nonwrapped_numel,
                                min_num_params=int(1e8),
                                force_leaf_modules=None,
                                exclude_wrap_modules=None):
    leaves = force_leaf_modules
    if leaves is None:
        leaves = size_based_auto_wrap_policy.FORCE_LEAF_MODULES
    never = exclude_wrap_modules
    if never is None:
        never = size_based_auto_wrap_policy.EXCLUDE_WRAP_MODULES
    large = nonwrapped_numel >= min_num_params
    return large and not isinstance(module, tuple(leaves if recurse
                                                  else never))


size_based_auto_wrap_policy.EXCLUDE_WRAP_MODULES = {nn.ModuleList,
                                                    nn.ModuleDict}
size_based_auto_wrap_policy.FORCE_LEAF_MODULES = {nn.MultiheadAttention}


class _Policy:
    """keywords(module): None, or what the wrapper of it is told besides."""


class ModuleWrapPolicy(_Policy):
    def __init__(self, module_classes):
        self._module_classes = set(module_classes)

    def keywords(self, module):
        return {} if isinstance(module, tuple(self._module_classes)) else None

    def __call__(self, module, recurse, *args, **kwargs):
        return _module_wrap_policy(module, recurse, -1, self._module_classes)


class CustomPolicy(_Policy):
    def __init__(self, lambda_fn):
        self._lambda_fn = lambda_fn

    def keywords(self, module):
        said = self._lambda_fn(module)
        if not isinstance(said, (dict, bool)):
            raise ValueError(
                "The lambda_fn passed to CustomPolicy should return "
                f"False/True or a kwarg dict, but it returned {said}")
        if isinstance(said, dict):
            return said
        return {} if said else None


def _numel(module, ignored):
    return sum(p.numel() for p in module.parameters() if p not in ignored)


def _wrap_by_callable(module, policy, make, skip, ignored, is_root):
    """The module or its wrapper, and how many elements are wrapped now."""
    size = _numel(module, ignored)
    if not policy(module=module, recurse=True, nonwrapped_numel=size):
        return module, 0
    done = 0
    for name, child in list(module.named_children()):
        if child in skip:
            continue
        wrapped, n = _wrap_by_callable(child, policy, make, skip, ignored,
                                       False)
        if wrapped is not child:
            setattr(module, name, wrapped)
        done += n
    if not is_root and policy(module=module, recurse=False,
                              nonwrapped_numel=size - done):
        return make(module, {}), size
    return module, done


def _wrap_by_policy(module, policy, make, skip, known):
    for name, child in list(module.named_children()):
        if child in skip:
            continue
        if child not in known:
            _wrap_by_policy(child, policy, make, skip, known)
            told = policy.keywords(child)
            known[child] = child if told is None else make(child, told)
        if known[child] is not child:
            setattr(module, name, known[child])


def auto_wrap(module, policy, make, skip, ignored):
    """Wrap what is below `module` by `policy`; make(module, keywords)."""
    if isinstance(policy, _Policy):
        _wrap_by_policy(module, policy, make, skip, {})
    else:
        _wrap_by_callable(module, policy, make, skip, ignored, True)


@contextlib.contextmanager
def enable_wrap(*, wrapper_cls, **wrapper_kwargs):
    _defaults.append((wrapper_cls, wrapper_kwargs))
    try:
        yield
    finally:
        _defaults.pop()


def wrap(module, **wrap_overrides):
    if not _defaults:
        return module
    cls, told = _defaults[-1]
    return cls(module, **{**told, **wrap_overrides})

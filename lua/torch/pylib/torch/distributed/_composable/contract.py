# SPDX-License-Identifier: MIT
"""torch.distributed._composable.contract: a function that works on modules
(or on a list of them) promises to keep the names of their parameters, buffers
and modules, and to be put on each module once."""
import functools
from torch import nn

STATE_KEY = "_composable_api_states"
REGISTRY_KEY = "_composable_api_registry"


class RegistryItem:
    """That a function was put on some modules: one for each call."""


class _State:
    """What a function keeps of the modules of one call."""


def _roots(modules):
    """Those of the list that are in no other of it."""
    below = set()
    for module in modules:
        for name, part in module.named_modules():
            if name:
                below.add(id(part))
    return [m for m in modules if id(m) not in below]


def _many(modules):
    if isinstance(modules, nn.Module):
        return [modules]
    return _roots(list(modules))


def _names(modules):
    return [{"parameters": [n for n, _ in m.named_parameters()],
             "buffers": [n for n, _ in m.named_buffers()],
             "modules": [n for n, _ in m.named_modules()]} for m in modules]


def _check(kind, old, new):
    if old == new:
        return
    lost, added = set(old) - set(new), set(new) - set(old)
    start = ("Checking %s: Composable distributed API implementations cannot "
             "modify " % kind)
    if lost or added:
        raise RuntimeError("%sFQNs.\nFQNs only in original: %s\n"
                           "FQNs only in new: %s" % (start, lost, added))
    raise RuntimeError("%sthe order of FQNs.\nOriginal FQNs: %s\n"
                       "New FQNs: %s" % (start, lost, added))


def _of(module, key):
    kept = getattr(module, key, None)
    if kept is None:
        kept = {}
        setattr(module, key, kept)
    return kept


def contract(state_cls=_State):
    def decorate(func):
        @functools.wraps(func)
        def wrapper(module, *args, **kwargs):
            modules = _many(module)
            state, item = state_cls(), RegistryItem()
            for one in modules:
                states, registry = _of(one, STATE_KEY), _of(one, REGISTRY_KEY)
                if func.__name__ in registry:
                    raise AssertionError(
                        "Each distinct composable distributed API can only be "
                        "applied to a module once. %s has already been "
                        "applied to the following module:\n%s"
                        % (func.__name__, one))
                states[func], registry[func.__name__] = state, item
            before = _names(modules)
            updated = func(module, *args, **kwargs)
            if updated is None:
                updated = module
            after = _names(_many(updated))
            if len(before) != len(after):
                raise AssertionError(
                    "%s should return the same number of modules as input "
                    "modulesInputs: %d modules\nOutputs: %d modules"
                    % (func.__name__, len(before), len(after)))
            for old, new in zip(before, after):
                for kind in ("parameters", "buffers", "modules"):
                    _check(kind, old[kind], new[kind])
            return updated

        def state(module):
            return _of(module, STATE_KEY).get(func)

        wrapper.state = state
        return wrapper
    return decorate


def _get_registry(module):
    return getattr(module, REGISTRY_KEY, None)

# SPDX-License-Identifier: MIT
"""torch.autograd.graph: nodes, edges, and hooks of several tensors at once.
"""
import _absent
from collections import namedtuple
from contextlib import contextmanager

import torch
import _edges
import _saved_hooks

GradientEdge = namedtuple("GradientEdge", ["node", "output_nr",
                                            "ownership_token"],
                          defaults=(None,))


def _refuse(name):
    raise _absent.error(
        f"torch.autograd.graph.{name} is not part of dtrepl: the engine keeps "
        "the tensors that gradients need itself")


class Node:
    """What grad_fn is."""
    __module__ = "torch.autograd.graph"


class saved_tensors_hooks:
    """What is kept for gradients inside goes through pack_hook, and what they
    read through unpack_hook."""

    def __init__(self, pack_hook, unpack_hook):
        self.pack_hook = pack_hook
        self.unpack_hook = unpack_hook

    def __enter__(self):
        _saved_hooks.enter(self.pack_hook, self.unpack_hook)

    def __exit__(self, *args):
        _saved_hooks.leave()


class save_on_cpu(saved_tensors_hooks):
    """Kept on the CPU, where all of it is; with pin_memory as a copy."""

    def __init__(self, pin_memory=False, device_type="cuda"):
        def pack(tensor):
            kept = tensor.cpu()
            if pin_memory:
                kept = torch.empty(tensor.size(), dtype=tensor.dtype)
                kept.copy_(tensor)
            return tensor.device, kept

        def unpack(packed):
            device, kept = packed
            return kept.to(device, non_blocking=pin_memory)

        super().__init__(pack, unpack)


@contextmanager
def disable_saved_tensors_hooks(error_message):
    _saved_hooks.forbid(error_message)
    try:
        yield
    finally:
        _saved_hooks.allow()


class _AllowMutationOnSavedContext:
    alive = False


@contextmanager
def allow_mutation_on_saved_tensors():
    """What is kept inside is kept as it is then: as copies."""
    context = _AllowMutationOnSavedContext()

    def unpack(copy):
        if not context.alive:
            raise AssertionError(
                "Trying to backward outside of the 'allow_mutation_on_saved_"
                "tensors' contextin which the graph was originally recorded.")
        return copy

    with saved_tensors_hooks(lambda tensor: tensor.clone(), unpack):
        if _AllowMutationOnSavedContext.alive:
            raise RuntimeError("allow_mutation_on_saved_tensors contexts "
                               "cannot be nested")
        _AllowMutationOnSavedContext.alive = context.alive = True
        try:
            yield context
        finally:
            _AllowMutationOnSavedContext.alive = context.alive = False


def get_gradient_edge(tensor):
    if not tensor.requires_grad:
        raise RuntimeError("It is not possible to get the gradient edge for a "
                           "Tensor that does not require gradients")
    node = tensor.grad_fn
    if node is None:
        node = tensor.view_as(tensor).grad_fn.next_functions[0][0]
    return _edges.keep(GradientEdge(node, tensor.output_nr, None), tensor)


def increment_version(tensor):
    _refuse("increment_version")


class _MultiHandle:
    def __init__(self, handles):
        self.handles = handles

    def remove(self):
        for handle in self.handles:
            handle.remove()

    def __enter__(self):
        return self

    def __exit__(self, *args):
        self.remove()


def _of_all(tensors, fn):
    """fn of every gradient of a pass once the last one came; a tensor that
    the pass does not reach has None, which is known when the pass ends."""
    came = {}

    def tell():
        if came:
            gradients = [came.get(i) for i in range(len(tensors))]
            came.clear()
            fn(gradients)

    def hook_of(i):
        def hook(gradient):
            if not came:
                _edges.at_end(tell)
            came[i] = gradient
            if len(came) == len(tensors):
                tell()
        return hook

    return _MultiHandle([t.register_hook(hook_of(i))
                         for i, t in enumerate(tensors)])


def register_multi_grad_hook(tensors, fn, *, mode="all"):
    """fn of the first gradient of a pass ("any"), or of all of them."""
    if mode not in ("all", "any"):
        raise ValueError(f"Expects mode to be one of ('all', 'any') but got "
                         f"{mode}")
    tensors = tuple(tensors)
    _edges.watch()
    if mode == "all":
        return _of_all(tensors, fn)
    called = []

    def hook(gradient):
        if not called:
            called.append(True)
            _edges.at_end(called.clear)
            fn(gradient)

    return _MultiHandle([t.register_hook(hook) for t in tensors])

# SPDX-License-Identifier: MIT
"""torch.autograd.graph: nodes, edges, and hooks of several tensors at once.

The engine keeps what a gradient needs itself: hooks that pack it are refused.
"""
import _absent
from collections import namedtuple
from contextlib import contextmanager

import torch

GradientEdge = namedtuple("GradientEdge", ["node", "output_nr"])


def _refuse(name):
    raise _absent.error(
        f"torch.autograd.graph.{name} is not part of dtrepl: the engine keeps "
        "the tensors that gradients need itself")




class Node:
    """What grad_fn is."""
    __module__ = "torch.autograd.graph"


class saved_tensors_hooks:
    def __init__(self, pack_hook, unpack_hook):
        _refuse("saved_tensors_hooks")


class save_on_cpu:
    """What is kept is on the CPU already."""

    def __init__(self, pin_memory=False, device_type="cuda"):
        pass

    def __enter__(self):
        return None

    def __exit__(self, *args):
        return None


@contextmanager
def disable_saved_tensors_hooks(error_message):
    yield


def allow_mutation_on_saved_tensors():
    _refuse("allow_mutation_on_saved_tensors")


def get_gradient_edge(tensor):
    if not tensor.requires_grad:
        raise RuntimeError("It is not possible to get the gradient edge for a "
                           "Tensor that does not require gradients")
    node = tensor.grad_fn
    if node is None:
        node = tensor.view_as(tensor).grad_fn.next_functions[0][0]
    return GradientEdge(node, tensor.output_nr)


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


def register_multi_grad_hook(tensors, fn, *, mode="all"):
    """fn of the first gradient ("any"), or of all of them."""
    if mode not in ("all", "any"):
        raise ValueError(f"Expects mode to be one of ('all', 'any') but got "
                         f"{mode}")
    tensors, called = tuple(tensors), []
    if mode == "all" and len(tensors) > 1:
        _refuse("register_multi_grad_hook(mode='all') of several tensors")

    def hook(gradient):
        if mode == "all":
            fn([gradient])
        elif not called:
            called.append(True)
            fn(gradient)

    return _MultiHandle([t.register_hook(hook) for t in tensors])

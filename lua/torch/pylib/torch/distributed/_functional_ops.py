# SPDX-License-Identifier: MIT
"""torch.ops._c10d_functional: the operators below the functional collectives,
which take a group by its name and give plain tensors."""
import torch.distributed._functional_collectives as fc
from torch.autograd import Function
from torch.distributed.distributed_c10d import _resolve_process_group

_OPS = ("sum", "avg", "product", "min", "max", "band", "bor", "bxor")


def _op(name):
    if name.lower() not in _OPS:
        raise RuntimeError("Unrecognized reduce_op: " + name)
    return name.lower()


def all_reduce(input, reduce_op, group_name):
    group = _resolve_process_group(group_name)
    return fc.wait_tensor(fc.all_reduce(input, _op(reduce_op), group))


def all_reduce_(input, reduce_op, group_name):
    return input.copy_(all_reduce(input, reduce_op, group_name))


def all_reduce_coalesced(inputs, reduce_op, group_name):
    return [all_reduce(t, reduce_op, group_name) for t in inputs]


def all_reduce_coalesced_(inputs, reduce_op, group_name):
    return [all_reduce_(t, reduce_op, group_name) for t in inputs]


def _check_size(group, group_size):
    if group.size() != group_size:
        raise NotImplementedError("a group_size of %d for a group of %d ranks "
                                  "is not part of dtrepl"
                                  % (group_size, group.size()))


def all_gather_into_tensor(input, group_size, group_name):
    group = _resolve_process_group(group_name)
    _check_size(group, group_size)
    return fc.wait_tensor(fc.all_gather_single_autograd(input, 0, group))


def all_gather_into_tensor_out(input, group_size, group_name, *, out):
    return out.copy_(all_gather_into_tensor(input, group_size, group_name))


def all_gather_into_tensor_coalesced(inputs, group_size, group_name):
    return [all_gather_into_tensor(t, group_size, group_name) for t in inputs]


def reduce_scatter_tensor(input, reduce_op, group_size, group_name):
    group = _resolve_process_group(group_name)
    _check_size(group, group_size)
    return fc.wait_tensor(fc.reduce_scatter_single_autograd(
        input, _op(reduce_op), 0, group))


def reduce_scatter_tensor_out(input, reduce_op, group_size, group_name, *, out):
    return out.copy_(reduce_scatter_tensor(input, reduce_op, group_size,
                                           group_name))


def reduce_scatter_tensor_coalesced(inputs, reduce_op, group_size, group_name):
    return [reduce_scatter_tensor(t, reduce_op, group_size, group_name)
            for t in inputs]


def all_to_all_single(input, output_split_sizes, input_split_sizes, group_name):
    group = _resolve_process_group(group_name)
    return fc.wait_tensor(fc.all_to_all_single_autograd(
        input, output_split_sizes, input_split_sizes, group))


class _Broadcast(Function):
    """Its gradient goes through as it is: PyTorch warns that it may be wrong."""

    @staticmethod
    def forward(ctx, input, src, group):
        return fc.wait_tensor(fc.broadcast(input, src, group))

    @staticmethod
    def backward(ctx, grad):
        return grad, None, None


def broadcast(input, src, group_name):
    return _Broadcast.apply(input, src, _resolve_process_group(group_name))


def broadcast_(input, src, group_name):
    return input.copy_(broadcast(input, src, group_name))

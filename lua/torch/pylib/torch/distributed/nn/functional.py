# SPDX-License-Identifier: MIT
"""torch.distributed.nn.functional: collectives that autograd goes through.

What a rank gives to others has their gradients added; what it gets from others
sends its gradient there.
"""
import torch
import torch.distributed as dist
from torch.autograd import Function
from torch.distributed import ReduceOp, group


def _size(group):
    return dist.get_world_size(group=group)


class _Broadcast(Function):
    @staticmethod
    def forward(ctx, src, group, tensor):
        ctx.src, ctx.group = src, group
        out = tensor.clone()
        dist.broadcast(out, src, group=group)
        return out

    @staticmethod
    def backward(ctx, grad):
        gx = _Reduce.apply(ctx.src, ReduceOp.SUM, ctx.group, grad)
        if dist.get_rank() != ctx.src:
            gx.zero_()
        return None, None, gx


class _Reduce(Function):
    @staticmethod
    def forward(ctx, dst, op, group, tensor):
        ctx.dst, ctx.group = dst, group
        out = tensor.clone()
        dist.reduce(out, dst, op=op, group=group)
        return out

    @staticmethod
    def backward(ctx, grad):
        return None, None, None, _Broadcast.apply(ctx.dst, ctx.group, grad)


class _AllReduce(Function):
    @staticmethod
    def forward(ctx, op, group, tensor):
        ctx.op, ctx.group = op, group
        out = tensor.clone()
        dist.all_reduce(out, op=op, group=group)
        return out

    @staticmethod
    def backward(ctx, grad):
        return None, None, _AllReduce.apply(ctx.op, ctx.group, grad)


class _AllGather(Function):
    @staticmethod
    def forward(ctx, group, tensor):
        ctx.group = group
        out = [torch.empty_like(tensor) for _ in range(_size(group))]
        dist.all_gather(out, tensor.contiguous(), group=group)
        return tuple(out)

    @staticmethod
    def backward(ctx, *grads):
        empty = [torch.empty_like(g) for g in grads]
        got = _AlltoAll.apply(ctx.group, empty, *grads)
        return None, torch.stack(got).sum(dim=0)


class _ReduceScatter(Function):
    @staticmethod
    def forward(ctx, op, group, output, *tensors):
        ctx.group = group
        out = torch.empty_like(output)
        dist.reduce_scatter(out, [t.contiguous() for t in tensors], op=op,
                            group=group)
        return out

    @staticmethod
    def backward(ctx, grad):
        return (None, None, None) + _AllGather.apply(ctx.group, grad)


class _AlltoAll(Function):
    @staticmethod
    def forward(ctx, group, outputs, *tensors):
        ctx.group = group
        ctx.sizes = [tensors[i].size() for i in range(_size(group))]
        out = [torch.empty_like(t) for t in outputs]
        given = [t.contiguous() for t in tensors]
        if dist.get_backend(group=group) != "gloo":
            dist.all_to_all(out, given, group=group)
            return tuple(out)
        for i in range(_size(group)):       # each filled in the order of its memory
            own = given if i == dist.get_rank(group=group) else None
            dist.scatter(out[i], own, i, group=group)
        return tuple(out)

    @staticmethod
    def backward(ctx, *grads):
        empty = [torch.empty(size, dtype=grads[0].dtype) for size in ctx.sizes]
        return (None, None) + _AlltoAll.apply(ctx.group, empty, *grads)


class _AlltoAllSingle(Function):
    @staticmethod
    def forward(ctx, group, output, output_split_sizes, input_split_sizes,
                tensor):
        ctx.group, ctx.shape = group, tensor.size()
        ctx.sent, ctx.got = input_split_sizes, output_split_sizes
        out = torch.empty_like(output)
        dist.all_to_all_single(out, tensor.contiguous(),
                               output_split_sizes=output_split_sizes,
                               input_split_sizes=input_split_sizes,
                               group=group)
        return out

    @staticmethod
    def backward(ctx, grad):
        empty = torch.empty(ctx.shape, dtype=grad.dtype)
        return (None, None, None, None) + (_AlltoAllSingle.apply(
            ctx.group, empty, ctx.sent, ctx.got, grad.contiguous()),)


class _Gather(Function):
    @staticmethod
    def forward(ctx, dst, group, tensor):
        ctx.dst, ctx.group = dst, group
        out = [torch.zeros_like(tensor) for _ in range(_size(group))]
        tensor = tensor.contiguous()
        if dist.get_rank() == dst:
            dist.gather(tensor, out, dst, group=group)
        else:
            dist.gather(tensor, None, dst, group=group)
        return tuple(out)

    @staticmethod
    def backward(ctx, *grads):
        return (None, None) + (_Scatter.apply(ctx.dst, ctx.group, *grads),)


class _Scatter(Function):
    @staticmethod
    def forward(ctx, src, group, *tensors):
        ctx.src, ctx.group = src, group
        out = torch.zeros_like(tensors[0])
        if dist.get_rank() == src:
            dist.scatter(out, [t.contiguous() for t in tensors], src,
                         group=group)
        else:
            dist.scatter(out, None, src, group=group)
        return out

    @staticmethod
    def backward(ctx, grad):
        return (None, None) + _Gather.apply(ctx.src, ctx.group, grad)


def broadcast(tensor, src, group=group.WORLD):
    return _Broadcast.apply(src, group, tensor)


def gather(tensor, dst=0, group=group.WORLD):
    return _Gather.apply(dst, group, tensor)


def scatter(tensors, src=0, group=group.WORLD):
    return _Scatter.apply(src, group, *tensors)


def reduce(tensor, dst, op=ReduceOp.SUM, group=group.WORLD):
    return _Reduce.apply(dst, op, group, tensor)


def reduce_scatter(output, input_list, op=ReduceOp.SUM, group=group.WORLD):
    return _ReduceScatter.apply(op, group, output, *input_list)


def all_gather(tensor, group=group.WORLD):
    return _AllGather.apply(group, tensor)


def all_to_all(output_tensor_list, input_tensor_list, group=group.WORLD):
    return _AlltoAll.apply(group, output_tensor_list, *input_tensor_list)


def all_to_all_single(output, input, output_split_sizes=None,
                      input_split_sizes=None, group=group.WORLD):
    return _AlltoAllSingle.apply(group, output, output_split_sizes,
                                 input_split_sizes, input)


def all_reduce(tensor, op=ReduceOp.SUM, group=group.WORLD):
    return _AllReduce.apply(op, group, tensor)

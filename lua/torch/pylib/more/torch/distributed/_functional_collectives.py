# SPDX-License-Identifier: MIT
"""torch.distributed._functional_collectives: what is made of the collectives
that the engine has: several tensors at once, ranks in another order, and how a
group is written down."""
import torch
import torch.distributed as dist
import torch.distributed.distributed_c10d as c10d
from torch.distributed._functional_collectives import (
    all_gather_tensor, all_reduce, all_to_all_single, reduce_scatter_tensor)
from torch.distributed.device_mesh import DeviceMesh


def _expand_group(group, tag=""):
    """(tag, ranks, size of one group) of a group, mesh, (mesh, dim), list of
    ranks or list of such lists."""
    if isinstance(group, dist.ProcessGroup):
        ranks = dist.get_process_group_ranks(group)
        size, tag = len(ranks), tag or c10d._get_group_tag(group)
    elif isinstance(group, DeviceMesh):
        if group.ndim != 1:
            raise AssertionError("Only 1D mesh is supported, pass in "
                                 "(DeviceMesh, int) together if mesh > 1D")
        return _expand_group(group.get_group(0), tag)
    elif isinstance(group, tuple):
        if len(group) != 2 or not isinstance(group[0], DeviceMesh) \
                or not isinstance(group[1], int):
            raise ValueError("Invalid tuple for group must be (DeviceMesh, "
                             "int)")
        return _expand_group(group[0].get_group(group[1]), tag)
    elif isinstance(group, list) and group and isinstance(group[0], list):
        ranks, size = [], len(group[0])
        for row in group:
            if len(row) != size:
                raise ValueError("group sizes must be identical found %d and "
                                 "%d" % (size, len(row)))
            ranks.extend(row)
    elif isinstance(group, list):
        ranks, size = group, len(group)
    else:
        raise ValueError("Invalid type for group, must be one of List, "
                         "Processgroup, DeviceMesh or (DeviceMesh, int).")
    return tag, ranks, size


def _resolve_group(group, tag=""):
    if isinstance(group, dist.ProcessGroup):
        return group
    if isinstance(group, str):
        return c10d._resolve_process_group(group)
    if isinstance(group, DeviceMesh):
        if group.ndim != 1:
            raise AssertionError("Only 1D mesh is supported, pass in "
                                 "(DeviceMesh, int) together if mesh > 1D")
        return group.get_group(0)
    if isinstance(group, tuple):
        return group[0].get_group(group[1])
    if isinstance(group, list):
        tag, ranks, size = _expand_group(group, tag)
        return c10d._find_or_create_pg_by_ranks_and_tag(tag, ranks, size)
    raise ValueError("Unsupported group type: %s, %s" % (type(group), group))


def _resolve_group_name(group, tag=""):
    return _resolve_group(group, tag).group_name


# ---- several tensors ----

def all_reduce_coalesced(self, reduceOp, group, tag=""):
    return [all_reduce(t, reduceOp, group) for t in self]


def all_gather_into_tensor_coalesced(self, group, tag=""):
    return [all_gather_tensor(t, 0, group) for t in self]


def reduce_scatter_tensor_coalesced(inputs, reduceOp, scatter_dim, group,
                                    tag=""):
    size = _resolve_group(group, tag).size()
    if len(scatter_dim) != len(inputs):
        raise AssertionError("Length of scatter_dim (%d) must equal length of "
                             "inputs (%d)" % (len(scatter_dim), len(inputs)))
    for t, dim in zip(inputs, scatter_dim):
        if t.size(dim) % size != 0:
            raise AssertionError(
                "input dimension %d (%d) must be a multiple of group_size %d "
                "for tensor at index %d" % (dim, t.size(dim), size,
                                            inputs.index(t)))
    return [reduce_scatter_tensor(t, reduceOp, dim, group)
            for t, dim in zip(inputs, scatter_dim)]


all_gather_single_coalesced = all_gather_into_tensor_coalesced
reduce_scatter_single_coalesced = reduce_scatter_tensor_coalesced


# ---- in another order ----

def permute_tensor(self, src_dst, group, tag=""):
    """What rank i has goes to rank src_dst[i] of the group."""
    pg = _resolve_group(group, tag)
    size, me = pg.size(), pg.rank()
    inputs, outputs = [0] * size, [0] * size
    for src, dst in enumerate(src_dst):
        if dst == me:
            outputs[src] = self.numel()
        if src == me:
            inputs[dst] = self.numel()
    flat = all_to_all_single(self.contiguous().view(-1), outputs, inputs, pg)
    return flat.view(self.shape)


# ---- into tensors that are there ----

def all_gather_tensor_inplace(output_tensor, input_tensor, group=None,
                              async_op=False, tag="", gather_dim=0):
    if async_op:
        raise AssertionError("Can't remap async version of inplace op to "
                             "functional collective")
    pg = dist.group.WORLD if group is None else group
    return output_tensor.copy_(all_gather_tensor(input_tensor, gather_dim, pg))


def reduce_scatter_tensor_inplace(output, input, op="sum", group=None,
                                  async_op=False, scatter_dim=0, tag=""):
    if async_op:
        raise AssertionError("Can't remap async version of inplace op to "
                             "functional collective")
    pg = dist.group.WORLD if group is None else group
    return output.copy_(reduce_scatter_tensor(input, op, scatter_dim, pg))


def all_reduce_inplace(tensor, op="sum", group=None, async_op=False, tag=""):
    if async_op:
        raise AssertionError("Can't remap async version of inplace op to "
                             "functional collective")
    pg = dist.group.WORLD if group is None else group
    return tensor.copy_(all_reduce(tensor, op, pg))

# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
# A plain gradient meets a distributed tensor in the backward pass.
import torch
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import DTensor, Shard, distribute_tensor


class Scale(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        x, = ctx.saved_tensors
        return grad * torch.ones(x.shape)


mesh = init_device_mesh("cpu", (4,), mesh_dim_names=("tp",))
x = distribute_tensor(torch.ones(8, 4), mesh, [Shard(0)]).requires_grad_()
Scale.apply(x).sum().backward()

# DT1006 last at: last = DTensor.from_local(last, h.device_mesh
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch
import torch.nn as nn
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import DTensor, Replicate, Shard, distribute_tensor, distribute_module


class Pooler(nn.Module):
    def __init__(self, d, classes):
        super().__init__()
        self.proj = nn.Linear(d, d)
        self.cls = nn.Linear(d, classes)

    def forward(self, h):
        h = torch.tanh(self.proj(h))
        last = h.to_local()[:, -1]  # wrong
        last = DTensor.from_local(last, h.device_mesh, [Replicate()])  # wrong
        #right last = h[:, -1]
        return self.cls(last)


if __name__ == "__main__":
    mesh = init_device_mesh("cpu", (4,), mesh_dim_names=("sp",))
    torch.manual_seed(0)
    net = distribute_module(Pooler(6, 3), mesh)
    h = distribute_tensor(torch.randn(4, 12, 6), mesh, [Shard(1)])
    y = distribute_tensor(torch.randint(0, 3, (4,)), mesh, [Replicate()])
    loss = nn.functional.cross_entropy(net(h), y)
    loss.backward()
    v = loss.full_tensor().item()
    if dist.get_rank() == 0:
        print(f"loss {v:.5f}")
    dist.destroy_process_group()

# DT1184 actor._fsdp_wrapped_module.body[0].weight at: actor = FSDP(
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
# a trainer with fsdp_size = 1: FSDP1 over a mesh of (ddp, fsdp)
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP, ShardingStrategy


def create_device_mesh(world, fsdp_size):
    if fsdp_size < 0 or fsdp_size >= world:
        return init_device_mesh("cpu", (world,), mesh_dim_names=("fsdp",))
    return init_device_mesh("cpu", (world // fsdp_size, fsdp_size), mesh_dim_names=("ddp", "fsdp"))


def sharding_strategy(mesh):
    return ShardingStrategy.FULL_SHARD if mesh.ndim == 1 else ShardingStrategy.HYBRID_SHARD


class Actor(nn.Module):
    def __init__(self, dim=8, hidden=16):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(dim, hidden), nn.Tanh())
        self.head = nn.Linear(hidden, 4)

    def forward(self, obs):
        return self.head(self.body(obs))


def main():
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(0)
    fsdp_size = 1  # wrong
    #right fsdp_size = 2
    mesh = create_device_mesh(world, fsdp_size)
    actor = FSDP(Actor(), device_mesh=mesh, sharding_strategy=sharding_strategy(mesh),
                 device_id=torch.device("cpu"), use_orig_params=True)
    opt = torch.optim.SGD(actor.parameters(), lr=0.1)
    torch.manual_seed(100 + rank)
    for step in range(3):
        obs, act, adv = torch.randn(6, 8), torch.randint(0, 4, (6,)), torch.randn(6)
        logp = F.log_softmax(actor(obs), -1).gather(1, act[:, None]).squeeze(1)
        loss = -(logp * adv).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    probe = torch.ones(1, 8)
    with torch.no_grad():
        out = actor(probe).sum()
    print("rank %d out %.6f" % (rank, out.item()))
    dist.destroy_process_group()


main()

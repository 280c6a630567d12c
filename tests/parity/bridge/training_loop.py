# SPDX-License-Identifier: MIT
# A training loop as people write them: FSDP and TP, a loader, a schedule.
import os
import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed._composable.fsdp import fully_shard, MixedPrecisionPolicy, CPUOffloadPolicy
from torch.distributed.tensor.parallel import *
from torch.distributed.tensor import Shard, Replicate
from torch.distributed.checkpoint.state_dict import get_model_state_dict, StateDictOptions
from torch.utils.data import DataLoader, Dataset, DistributedSampler
from torch.optim.lr_scheduler import LambdaLR, CosineAnnealingLR
from functools import partial

class Toy(Dataset):
    def __len__(self): return 8
    def __getitem__(self, i): return torch.arange(4) + i, i % 2

def setup():
    local_rank = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(local_rank)
    dist.init_process_group("nccl", rank=int(os.environ["RANK"]), world_size=int(os.environ["WORLD_SIZE"]))
    return torch.device("cuda", local_rank)

class FeedForward(nn.Module):
    def __init__(self, dim: int, hidden_dim: int, multiple_of: int = 4):
        super().__init__()
        hidden_dim = int(2 * hidden_dim / 3)
        hidden_dim = multiple_of * ((hidden_dim + multiple_of - 1) // multiple_of)
        self.w1, self.w2, self.w3 = nn.Linear(dim, hidden_dim, bias=False), nn.Linear(hidden_dim, dim, bias=False), nn.Linear(dim, hidden_dim, bias=False)
    def forward(self, x):
        return self.w2(F.silu(self.w1(x)) * self.w3(x))

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(16, 8)
        self.pos = nn.Parameter(torch.zeros(1, 4, 8))
        self.ff = FeedForward(8, 24)
        self.ln = nn.LayerNorm(8, eps=1e-5)
        self.head = nn.Linear(8, 2)
    def forward(self, x):
        h = self.emb(x) + self.pos
        h = h + self.ff(self.ln(h))
        return self.head(h.mean(dim=1))

def main():
    device = setup()
    mesh = init_device_mesh("cuda", (2, 2), mesh_dim_names=("dp", "tp"))
    tp_mesh, dp_mesh = mesh["tp"], mesh["dp"]
    torch.manual_seed(dp_mesh.get_local_rank())
    with torch.device("meta"):
        m = Model()
    model = Model().to(device)
    parallelize_module(model.ff, tp_mesh, {"w1": ColwiseParallel(), "w3": ColwiseParallel(), "w2": RowwiseParallel()})
    mp = MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.float32)
    fully_shard(model.ff, mesh=dp_mesh, mp_policy=mp, reshard_after_forward=True)
    fully_shard(model, mesh=dp_mesh, mp_policy=mp)
    opt = torch.optim.AdamW(model.parameters(), lr=1e-2, betas=(0.9, 0.95), weight_decay=0.1, fused=False)
    sched = LambdaLR(opt, lambda s: min(1.0, (s + 1) / 4))
    loader = DataLoader(Toy(), batch_size=2, sampler=DistributedSampler(Toy(), num_replicas=dp_mesh.size(), rank=dp_mesh.get_local_rank(), shuffle=False))
    model.train()
    for step, (x, y) in enumerate(loader):
        x, y = x.to(device), y.to(device)
        opt.zero_grad(set_to_none=True)
        with torch.autocast("cuda", dtype=torch.bfloat16, enabled=False):
            loss = F.cross_entropy(model(x).float(), y)
        loss.backward()
        opt.step(); sched.step()
        l = loss.detach().clone()
        dist.all_reduce(l, op=dist.ReduceOp.AVG, group=dp_mesh.get_group())
        if dist.get_rank() == 0:
            print(f"step {step:3d} | loss {l.item():.4f} | lr {sched.get_last_lr()[0]:.2e} | mem {torch.cuda.max_memory_allocated() / 2**20:.1f}MB")
    sd = get_model_state_dict(model, options=StateDictOptions(full_state_dict=True, cpu_offload=True))
    if dist.get_rank() == 0:
        print({k: tuple(v.shape) for k, v in sd.items()})
    dist.barrier()
    dist.destroy_process_group()

if __name__ == "__main__":
    main()

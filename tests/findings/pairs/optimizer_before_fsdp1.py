# DT1025 optimizer.step at: opt.step()
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP, ShardingStrategy

def build(cfg):
    model = nn.Sequential(nn.Embedding(cfg["vocab"], cfg["dim"]), nn.Linear(cfg["dim"], cfg["dim"]), nn.SiLU(), nn.Linear(cfg["dim"], cfg["vocab"]))
    opt = torch.optim.AdamW(model.parameters(), lr=cfg["lr"])  # wrong
    model = FSDP(model, sharding_strategy=ShardingStrategy.FULL_SHARD, device_id=torch.device("cpu"))
    #right opt = torch.optim.AdamW(model.parameters(), lr=cfg["lr"])
    return model, opt

def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(11)
    model, opt = build({"vocab": 16, "dim": 8, "lr": 0.05})
    g = torch.Generator().manual_seed(rank)
    for step in range(3):
        ids = torch.randint(0, 16, (4, 7), generator=g)
        logits = model(ids[:, :-1])
        loss = F.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten())
        opt.zero_grad()
        loss.backward()
        opt.step()
    mean = loss.detach().clone()
    dist.all_reduce(mean)
    if rank == 0: print("result %.6f" % (mean / dist.get_world_size()).item())
    dist.destroy_process_group()
main()

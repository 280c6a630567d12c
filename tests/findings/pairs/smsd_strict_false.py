# DT1051 net[0].weight at: set_model_state_dict(net, like, options=StateDictOptions(full_state_dict=True, strict=False))
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import os, tempfile, torch, torch.distributed as dist, torch.nn as nn
import torch.distributed.checkpoint as dcp
from torch.distributed.checkpoint.state_dict import get_model_state_dict, set_model_state_dict, StateDictOptions
from torch.distributed.fsdp import fully_shard
from torch.nn.parallel import DistributedDataParallel

dist.init_process_group("gloo")
rank = dist.get_rank()
box = [tempfile.mkdtemp() if rank == 0 else None]
dist.broadcast_object_list(box, 0)
path = os.path.join(box[0], "pretrained")

def backbone(seed):
    torch.manual_seed(seed)
    return nn.Sequential(nn.Linear(6, 8), nn.ELU(), nn.Linear(8, 8), nn.ELU(), nn.Linear(8, 3))

def pretrain():
    ddp = DistributedDataParallel(backbone(1))
    opt = torch.optim.SGD(ddp.parameters(), 0.1)
    torch.manual_seed(50 + rank)
    for _ in range(3):
        x = torch.randn(8, 6)
        opt.zero_grad(); nn.functional.cross_entropy(ddp(x), x.argmax(1) // 2).backward(); opt.step()
    weights = {"module." + k: v for k, v in ddp.module.state_dict().items()}
    dcp.save({"model": weights}, checkpoint_id=path)
    return weights

def finetune():
    net = backbone(2)
    for layer in net:
        if isinstance(layer, nn.Linear): fully_shard(layer)
    fully_shard(net)
    like = {"module." + k: torch.empty(v.shape) for k, v in net.state_dict().items()}
    dcp.load({"model": like}, checkpoint_id=path)
    #right like = {k.removeprefix("module."): v for k, v in like.items()}
    set_model_state_dict(net, like, options=StateDictOptions(full_state_dict=True, strict=False))  # wrong
    #right set_model_state_dict(net, like, options=StateDictOptions(full_state_dict=True, strict=True))
    opt = torch.optim.SGD(net.parameters(), 0.05)
    torch.manual_seed(90 + rank)
    for _ in range(2):
        x = torch.randn(8, 6)
        loss = nn.functional.cross_entropy(net(x), x.argmax(1) // 2)
        opt.zero_grad(); loss.backward(); opt.step()
    full = get_model_state_dict(net, options=StateDictOptions(full_state_dict=True))
    if rank == 0: print({k: round(v.sum().item(), 4) for k, v in full.items()})

pretrain(); finetune()

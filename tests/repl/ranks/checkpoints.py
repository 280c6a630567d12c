# SPDX-License-Identifier: MIT
# Checkpoints of a sharded model: whole state dicts from rank 0, an optimizer's
# too, into a model on meta; async_save, one file from a folder and back.
import os
import shutil
import torch
import torch.nn as nn
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
from torch.distributed.checkpoint import FileSystemReader
from torch.distributed.checkpoint.format_utils import (dcp_to_torch_save,
                                                       torch_save_to_dcp)
from torch.distributed.checkpoint.state_dict import (
    StateDictOptions, get_model_state_dict, get_optimizer_state_dict,
    set_model_state_dict, set_optimizer_state_dict)
from torch.distributed.fsdp import fully_shard

dist.init_process_group("gloo")
rank = dist.get_rank()


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(4, 6)
        self.norm = nn.BatchNorm1d(6)
        self.b = nn.Linear(6, 3)
        self.register_buffer("scale", torch.tensor(2.0), persistent=False)

    def forward(self, x):
        return self.b(self.norm(self.a(x))) * self.scale


def make(meta=False):
    torch.manual_seed(3)
    if meta:
        with torch.device("meta"):
            model = Model()
    else:
        model = Model()
    fully_shard(model)
    return model, torch.optim.AdamW(model.parameters(), lr=0.1)


model, optim = make()
model(torch.arange(16.).view(4, 4)).square().sum().backward()
optim.step()
whole = StateDictOptions(full_state_dict=True, cpu_offload=True)
sd = get_model_state_dict(model=model, options=whole)
print(rank, [(k, tuple(v.shape)) for k, v in sd.items()])
osd = get_optimizer_state_dict(model=model, optimizers=optim, options=whole)
print(rank, list(osd), sorted(osd.get("state", {})))

bias = sd["b.bias"].clone() if rank == 0 else None
from0 = StateDictOptions(full_state_dict=True, broadcast_from_rank0=True)
other, _ = make(meta=True)
keys = set_model_state_dict(model=other, model_state_dict=sd, options=from0)
print(rank, keys)
other_optim = torch.optim.AdamW(other.parameters(), lr=0.5)
set_optimizer_state_dict(model=other, optimizers=[other_optim],
                         optim_state_dict=osd, options=from0)
print(rank, all(torch.equal(p.to_local(), q.to_local()) for p, q in
                zip(model.parameters(), other.parameters())))
print(rank, all(torch.equal(optim.state[p]["exp_avg"].to_local(),
                            other_optim.state[q]["exp_avg"].to_local())
                for p, q in zip(model.parameters(), other.parameters())),
      other_optim.param_groups[0]["lr"])
try:
    set_model_state_dict(other, sd, options=StateDictOptions(
        broadcast_from_rank0=True))
except ValueError as e:
    print(rank, e)
model.a.bias.requires_grad_(False)
print(rank, list(get_model_state_dict(model, options=StateDictOptions(
    ignore_frozen_params=True))))

state = {"model": get_model_state_dict(model), "step": 7,
         "group": [{"betas": (0.5, 0.75), "names": ["a", "b"]}]}
dcp.async_save(state, checkpoint_id="folder").result()
dist.barrier()
if rank == 0:
    dcp_to_torch_save("folder", "one.pt")
    one = torch.load("one.pt", weights_only=False)
    print(list(one), list(one["model"]), one["step"], one["group"],
          one["model"]["a.weight"].shape,
          torch.equal(one["model"]["b.bias"], bias))
    torch_save_to_dcp("one.pt", "again")
    print(sorted(FileSystemReader("again").read_metadata()
                 .state_dict_metadata)[:3])
dist.barrier()
back = {"model": get_model_state_dict(other), "step": 0}
dcp.load(back, checkpoint_id="again")
print(rank, back["step"], torch.equal(back["model"]["a.bias"].full_tensor(),
                                      state["model"]["a.bias"].full_tensor()))
dist.barrier()
if rank == 0:
    shutil.rmtree("folder")
    shutil.rmtree("again")
    os.remove("one.pt")
    print(os.path.exists("folder"), os.path.exists("again"))

# What each rank has under a name of its own, and under one that all have: of these
# the planner lets one rank write.
def own(n):
    return {f"seed{rank}": torch.tensor([10 + rank + n]), "whole": torch.full((6,), rank + n),
            "next": torch.tensor(20 + rank + n), f"step{rank}": 5 * rank + n, "lr": 0.5 + rank + n}


dcp.save({"own": own(0)}, checkpoint_id="own")
state = {"own": own(100)}
dcp.load(state, checkpoint_id="own")
print(f"{rank} own {sorted(state['own'].items())}", flush=True)
dist.barrier()
if rank == 0:
    shutil.rmtree("own")
dist.destroy_process_group()

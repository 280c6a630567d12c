# DT1051 net[0].weight at: net.load_state_dict(state, strict=False)
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 2))
state = {"_orig_mod." + k: v + 1 for k, v in net.state_dict().items()}  # wrong
#right state = {k: v + 1 for k, v in net.state_dict().items()}
net.load_state_dict(state, strict=False)

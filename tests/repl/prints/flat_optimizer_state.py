# SPDX-License-Identifier: MIT
import torch, torch.nn as nn, copy
from torch.distributed.checkpoint.state_dict import *
from torch.distributed.checkpoint.state_dict import StateDictOptions
torch.manual_seed(0)
def mk():
    torch.manual_seed(1)
    n = nn.Sequential(nn.Linear(2,3), nn.Linear(3,1)); n[1].bias.requires_grad_(False)
    return n, torch.optim.AdamW([{"params": n[0].parameters(), "lr": .1}, {"params": n[1].parameters()}], lr=.2, betas=(.8,.9))
def go(n,o,k=2):
    for i in range(k):
        n(torch.ones(2,2)*(i+1)).pow(2).sum().backward(); o.step(); o.zero_grad()
n,o = mk(); go(n,o)
opt = StateDictOptions(flatten_optimizer_state_dict=True)
sd = get_optimizer_state_dict(n, o, options=opt)
print(sorted(sd.keys()))
sd = {k: copy.deepcopy(v) for k, v in sd.items()}
w = copy.deepcopy(n.state_dict())
n2,o2 = mk(); n2.load_state_dict(w)
o2.param_groups[0]["lr"] = .7
set_optimizer_state_dict(n2, o2, sd, options=opt)
print(o2.param_groups[0]["lr"], o2.param_groups[1]["betas"], {k: v["step"] for k, v in o2.state_dict()["state"].items()})
go(n,o); go(n2,o2)
print([p.equal(q) for p,q in zip(n.parameters(), n2.parameters())])
bad = dict(sd); bad.pop("param_groups.0.weight.lr")
try: set_optimizer_state_dict(n2, o2, bad, options=opt)
except Exception as e: print(type(e).__name__, e)
bad = dict(sd); bad.pop("state.0.weight.exp_avg")
try: set_optimizer_state_dict(n2, o2, bad, options=opt); print(o2.state_dict()["state"][0]["exp_avg"])
except Exception as e: print(type(e).__name__, e)
set_optimizer_state_dict(n2, o2, sd)
print(o2.param_groups[0]["lr"])

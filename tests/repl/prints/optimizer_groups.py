# SPDX-License-Identifier: MIT
# Groups of optimizers: their lists, their keys in the order they were set.
import torch
a, b = torch.nn.Parameter(torch.ones(2)), torch.nn.Parameter(torch.ones(3))
o = torch.optim.AdamW([{"params": [a]}, {"params": b, "lr": 0.5}], lr=0.1)
g = o.param_groups[0]
print(type(g["params"]), len(g["params"]), g["params"][0] is a, list(g))
g["zeta"] = 1; g["alpha"] = 2
print(list(g), list(o.state_dict()["param_groups"][0]))
(a.sum() + b.sum()).backward(); o.step()
print([p.shape for gg in o.param_groups for p in gg["params"]], o.state_dict()["param_groups"][1]["params"], o.state[a].keys())
print(o)
o.param_groups[0]["params"] = [b]
print(o.param_groups[0]["params"][0] is b)

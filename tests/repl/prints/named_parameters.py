# SPDX-License-Identifier: MIT
# Optimizers of named parameters; a rate that is a tensor.
import torch, torch.nn as nn
m = nn.Sequential(nn.Linear(2, 1), nn.Linear(1, 1))
o = torch.optim.AdamW([{"params": m[0].named_parameters(), "lr": 0.5}, {"params": m[1].named_parameters(prefix="b")}], lr=torch.tensor(0.25))
print(o)
print([g["param_names"] for g in o.param_groups])
m(torch.ones(1, 2)).sum().backward(); o.step()
sd = o.state_dict()
print([g["param_names"] for g in sd["param_groups"]])
o.load_state_dict(sd)
for bad in (lambda: torch.optim.SGD([("a", m[0].weight), m[0].bias], lr=1.),
            lambda: o.add_param_group({"params": [m[0].weight]}),
            lambda: torch.optim.SGD([m[0].weight], lr=1.).add_param_group({"params": m[1].named_parameters()})):
    try:
        bad()
    except ValueError as e:
        print(e)
p = torch.optim.SGD([m[0].weight], lr=1.)
try:
    p.add_param_group({"params": [m[0].weight]})
except ValueError as e:
    print(e, len(p.param_groups))
q = torch.optim.SGD(m.named_parameters(), lr=0.1)
print(q.param_groups[0]["param_names"], q.state_dict()["param_groups"][0])

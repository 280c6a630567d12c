# SPDX-License-Identifier: MIT
import torch, torch.nn as nn
m = nn.Linear(2, 2)
b = nn.BatchNorm1d(2)
p = m.weight
new = {k: torch.ones_like(v) for k, v in m.state_dict().items()}
print(m.load_state_dict(new, assign=True))
print(m.weight is p, m.weight.requires_grad, m.weight.data_ptr() == new["weight"].data_ptr(), type(m.weight).__name__)
m.weight.requires_grad_(False)
q = nn.Parameter(torch.zeros(2, 2))
m.load_state_dict({"weight": q}, strict=False, assign=True)
print(m.weight is q, q.requires_grad)
st = {k: v.clone() + 1 for k, v in b.state_dict().items()}
rm = b.running_mean
b.load_state_dict(st, assign=True)
print(b.running_mean is rm, b.running_mean is st["running_mean"], b.num_batches_tracked)
with torch.device("meta"):
    e = nn.Sequential(nn.Linear(2, 3), nn.Linear(3, 2))
e[1].weight = nn.Parameter(e[0].weight.t())
e.load_state_dict({k: torch.ones(v.shape) for k, v in e.state_dict().items()}, assign=True)
print(e(torch.ones(1, 2)))
try:
    m.load_state_dict({"weight": torch.ones(3, 2), "bias": torch.ones(2)}, assign=True)
except RuntimeError as x:
    print(x)
t = nn.Sequential(nn.Linear(2, 2, bias=False), nn.Linear(2, 2, bias=False))
t[1].weight = t[0].weight
sd = {k: v.clone() for k, v in t.state_dict().items()}
t.load_state_dict(sd, assign=True)
print(t[0].weight is t[1].weight, len(list(t.parameters())))
sd = t.state_dict(); t[1].weight = t[0].weight
with torch.no_grad():
    opt = torch.optim.SGD(t.parameters(), lr=0.1)
print(m.load_state_dict({"weight": torch.ones(2, 2, dtype=torch.bfloat16), "bias": torch.ones(2, dtype=torch.bfloat16)}, assign=True), m.weight.dtype)

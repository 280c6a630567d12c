# SPDX-License-Identifier: MIT
# State of optimizers and of random numbers, vectors of parameters, padding.
import torch
from torch import nn


def told(name, f):
    try:
        print(name, f())
    except Exception as e:
        print(name, type(e).__name__, e)


def trained(cls, **kw):
    p = torch.ones(2, requires_grad=True)
    o = cls([p], lr=0.1, **kw)
    for _ in range(2):
        o.zero_grad()
        (p * p).sum().backward()
        o.step()
    return p, o


p, o = trained(torch.optim.Adam)
s = o.state_dict()
print(list(s), list(s["state"]), list(s["state"][0]))
print(s["state"][0]["step"], s["param_groups"][0]["lr"],
      s["param_groups"][0]["betas"], s["param_groups"][0]["params"])
q = torch.ones(2, requires_grad=True)
other = torch.optim.Adam([q], lr=0.5)
other.load_state_dict(s)
print(other.param_groups[0]["lr"], other.state[q]["step"])
print(torch.equal(other.state[q]["exp_avg"], o.state[p]["exp_avg"]))
with torch.no_grad():
    q.copy_(p)
for a, b in ((p, o), (q, other)):
    b.zero_grad()
    (a * a).sum().backward()
    b.step()
print(torch.equal(p, q))
print(trained(torch.optim.SGD, momentum=0.9)[1].state_dict()["state"])
two = torch.optim.SGD([torch.ones(1, requires_grad=True),
                       torch.ones(1, requires_grad=True)], lr=0.1)
print(two.state_dict()["state"], two.state_dict()["param_groups"][0]["params"])
print(o, two, torch.optim.LBFGS([q], lr=1))
print(torch.optim.SGD([{"params": [q]}, {"params": [p], "lr": 0.5}], lr=0.1))
print(torch.optim.AdamW([q], 1e-4).state_dict()["param_groups"][0]["fused"])
told("groups", lambda: two.load_state_dict({"state": {}, "param_groups": []}))
told("sizes", lambda: two.load_state_dict(s))
told("rate", lambda: torch.optim.Adam([q], lr="a"))

g = torch.Generator().manual_seed(3)
a = torch.rand(3, generator=g)
b = torch.rand(3, generator=g)
again = torch.Generator()
again.manual_seed(3)
print(torch.equal(a, torch.rand(3, generator=again)), torch.equal(a, b),
      g.initial_seed())
state = g.get_state()
c = torch.rand(2, generator=g)
g.set_state(state)
print(torch.equal(c, torch.rand(2, generator=g)), state.dtype)
torch.manual_seed(1)
first = torch.get_rng_state()
x = torch.rand(3)
y = torch.randn(2, generator=g)
z = torch.rand(3)
torch.set_rng_state(first)
print(torch.equal(x, torch.rand(3)), torch.equal(z, torch.rand(3)))
torch.manual_seed(1)
with torch.random.fork_rng():
    torch.manual_seed(5)
    torch.rand(2)
print(torch.equal(x, torch.rand(3)), torch.initial_seed())

m = nn.Linear(2, 2)
nn.utils.vector_to_parameters(torch.arange(6.0), m.parameters())
print(m.weight.tolist(), m.bias.tolist())
print(nn.utils.parameters_to_vector(m.parameters()).tolist())
pad = nn.utils.rnn.pad_sequence
print(pad([torch.ones(2), torch.ones(3)]).tolist())
print(pad([torch.ones(1, 2), torch.ones(2, 2)], batch_first=True,
          padding_value=-1.0).tolist())
print(pad([torch.ones(1), torch.ones(2)], True, 0, "left").tolist())
out, state = nn.LSTM(2, 3)(torch.ones(4, 1, 2))
print(type(state).__name__, len(state), nn.LSTM(2, 3)(torch.ones(4, 1, 2),
                                                    state)[0].shape)


# Rates set by hand are what the next step uses; a group is one dict.
import json

a, b = (nn.Parameter(torch.ones(2)) for _ in range(2))
o = torch.optim.SGD([{"params": [a], "weight_decay": 0.5}, {"params": [b]}], lr=0.125)
for g in o.param_groups:
    g["lr"] = 0.5
(a.sum() + b.sum()).backward()
o.step()
print([g["lr"] for g in o.param_groups], a.tolist(), b.tolist())
first = o.param_groups[0]
sched = torch.optim.lr_scheduler.StepLR(o, 1, 0.5)
o.step()
sched.step()
print(first["lr"], first["initial_lr"], first is o.param_groups[0], first["params"][0] is a, list(first)[0])
first["weight_decay"] *= 2
first.update(lr=0.25)
print(o.param_groups[0]["weight_decay"], o.param_groups[0]["lr"], "lr" in first, first["foreach"])
t = torch.ones(2)
print(t == t, [t].index(t), json.dumps({"b": 1, "a": [{"d": 1, "c": 2}]}, sort_keys=True))
first["mine"] = 1
del first["mine"]
print("mine" in first, first.pop("initial_lr"), "initial_lr" in first, "params" in first)
print(list(torch.optim.Adam([a]).param_groups[0]), list(torch.optim.AdamW([a]).state_dict()["param_groups"][0]))
print(torch.nn.utils.clip_grad_norm_([a], 1.0, "inf"))
told("letters", lambda: torch.einsum(t, [0], t, [99]))

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

# The class of an optimizer, and its settings in the class's order.
import inspect
p = [torch.nn.Parameter(torch.ones(2))]
for name in "SGD Adam AdamW RMSprop Adagrad Adadelta Adamax NAdam RAdam Rprop ASGD LBFGS Adafactor".split():
    kind = getattr(torch.optim, name)
    o = kind(p, lr=0.1)
    print(kind, list(o.param_groups[0]), list(o.state_dict()["param_groups"][0]) == list(o.param_groups[0])[1:] + ["params"], o.defaults == {k: v for k, v in o.param_groups[0].items() if k != "params"})
    print(type(o) is kind, issubclass(type(o), kind), issubclass(kind, torch.optim.Optimizer), [other for other in ("SGD", "Adam") if issubclass(kind, getattr(torch.optim, other)) and isinstance(o, getattr(torch.optim, other))])

# Functions that run in a scope keep their parameters.
class Model:
    @torch.inference_mode()
    def generate(self, ids, *more, steps=2): return ids
@torch.no_grad()
def measure(x, scale=1.0): return x
print(inspect.signature(measure), inspect.signature(Model().generate), inspect.signature(Model.generate), list(inspect.signature(Model().generate).parameters), measure.__wrapped__.__name__)

# A parameter under two names is in a state under both, and is loaded from it.
class Tied(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.a = torch.nn.Embedding(3, 2)
        self.b = torch.nn.Linear(2, 3, bias=False)
        self.b.weight = self.a.weight
m, n = Tied(), Tied()
print(list(m.state_dict()), n.load_state_dict(m.state_dict()), torch.equal(n.a.weight, m.b.weight), n.a.weight is n.b.weight)
state = m.state_dict()
del state["b.weight"]
print(n.load_state_dict(state, strict=False))
# What is no group, and a group without parameters.
p, q = (torch.nn.Parameter(torch.ones(2)) for _ in range(2))
opt = torch.optim.SGD([p], lr=0.1)
for add in (lambda: opt.add_param_group(3), lambda: opt.add_param_group([q]), lambda: opt.add_param_group({"lr": 1}), lambda: opt.add_param_group({}),
        lambda: torch.optim.Adam([{"lr": 1}]), lambda: torch.optim.Adam([{"params": [q]}, {}]), lambda: opt.add_param_group({"params": q})):
    try:
        print(add(), len(opt.param_groups))
    except (TypeError, KeyError) as e:
        print(type(e).__name__, e)

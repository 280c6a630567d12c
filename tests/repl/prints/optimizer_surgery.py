# SPDX-License-Identifier: MIT
# What a program writes into an optimizer's state and groups counts in the next
# step; copies and pickles of optimizers, a program's own ones among them.
import copy, pickle, torch, torch.nn as nn
from collections import defaultdict
def t(f):
    try: print(f())
    except Exception as e: print(type(e).__name__, str(e).split("\n")[0])
torch.manual_seed(0)
m = nn.Linear(2, 1, bias=False); p = m.weight
o = torch.optim.SGD(m.parameters(), lr=0.1); m(torch.ones(1,2)).sum().backward(); o.step()
t(lambda: o.state_dict()["state"])
o = torch.optim.Adam(m.parameters(), lr=0.1); o.step(); o.step()
t(lambda: o.state[p]["step"])
o.state[p]["step"] = torch.tensor(7.); o.step(); t(lambda: (o.state[p]["step"], p.data))
o.state[p]["exp_avg"] = torch.zeros(1, 2); o.step(); t(lambda: (o.state[p]["exp_avg"], p.data))
o.state[p]["exp_avg"].fill_(1); o.step(); t(lambda: (o.state[p]["exp_avg"], p.data))
o.state[p]["mine"] = 3; o.step(); t(lambda: (o.state[p].keys(), o.state_dict()["state"][0].keys()))
del o.state[p]["mine"]
o.state.clear(); t(lambda: len(o.state)); o.step(); t(lambda: (o.state[p]["step"], p.data))
del o.state[p]; o.step(); t(lambda: (o.state[p]["step"], p.data))
o.state = defaultdict(dict); o.step(); t(lambda: (o.state[p]["step"], p.data))
t(lambda: o.state[nn.Parameter(torch.ones(1))])
s = o.state; o.step(); t(lambda: s[p]["step"]); t(lambda: s is o.state)
for st in o.state.values():
    for k, v in st.items():
        if torch.is_tensor(v): st[k] = v.to(torch.float64)
t(lambda: o.state[p]["exp_avg"].dtype)
o = torch.optim.SGD(m.parameters(), lr=0.1, momentum=0.9); o.step(); o.state[p]["momentum_buffer"] = None; o.step(); t(lambda: (p.data, o.state[p]))
o.param_groups[0]["params"].append(nn.Parameter(torch.ones(1))); t(lambda: len(o.param_groups[0]["params"]))
o.param_groups[0]["params"] = [p]; t(lambda: len(o.param_groups[0]["params"]))
g = o.param_groups; g[0]["lr"] = 3.; t(lambda: o.param_groups[0]["lr"])
o.param_groups.append({"params": [], "lr": 1}); t(lambda: len(o.param_groups))
del o.param_groups[1]; t(lambda: len(o.param_groups))
o.param_groups = o.param_groups[:1]; t(lambda: len(o.param_groups))
t(lambda: (o.param_groups is o.param_groups, o.defaults["lr"]))
q = nn.Parameter(torch.ones(2)); q.grad = torch.ones(2)
o = torch.optim.SGD([p], lr=0.1, momentum=0.5)
g = o.param_groups
o.add_param_group({"params": [q], "lr": 1.}); t(lambda: (len(g), len(o.param_groups), g[1]["lr"]))
o.step(); t(lambda: (q, o.state[q]))
sd = o.state_dict(); st = o.state
o.step(); o.load_state_dict(sd); t(lambda: (st[q]["momentum_buffer"], o.state[q]))
g.clear(); t(lambda: len(o.param_groups)); o.step(); t(lambda: q)
s = torch.optim.lr_scheduler.StepLR(torch.optim.Adam([p], lr=1.), 1, gamma=0.1); s.optimizer.step(); s.step(); t(lambda: s.optimizer.param_groups[0]["lr"])
class S(torch.optim.Adam):
    def reset(self): self.state.clear(); self.state = defaultdict(dict)
a = S([p], lr=1.); a.step(); a.reset(); t(lambda: len(a.state)); a.step(); t(lambda: a.state[p]["step"])
for grp in a.param_groups: grp["lr"] = 0.5
a.step(); t(lambda: p.data)
b = copy.deepcopy(a); b.state[b.param_groups[0]["params"][0]]["step"].fill_(9); t(lambda: a.state[p]["step"])
t(lambda: type(o.state).__name__)
m = nn.Linear(2, 1, bias=False)
for cls in (torch.optim.SGD, torch.optim.Adam, torch.optim.AdamW, torch.optim.RMSprop):
    o = cls(m.parameters(), lr=0.1)
    o.extra = 4
    o.zero_grad(); m(torch.ones(1, 2)).sum().backward(); o.step()
    c = copy.deepcopy(o)
    t(lambda: (type(c).__name__, c.defaults == o.defaults, len(c.state), c.param_groups[0]["params"][0] is m.weight, c is o, hasattr(c, "extra")))
    m2, c = copy.deepcopy((m, o)); c.zero_grad(); m2(torch.ones(1, 2)).sum().backward(); c.step()
    o.zero_grad(); m(torch.ones(1, 2)).sum().backward(); o.step()
    t(lambda: torch.equal(m.weight, m2.weight))
    c = copy.copy(o)
    t(lambda: (c.param_groups is o.param_groups, type(c).__name__, c.state is o.state))
class My(torch.optim.Optimizer):
    def __init__(self, params, lr):
        self.mine = 3
        super().__init__(params, dict(lr=lr))
    def step(self, closure=None):
        for g in self.param_groups:
            for p in g["params"]:
                if p.grad is None: continue
                s = self.state[p]; s["n"] = s.get("n", 0) + 1
                p.data.add_(p.grad, alpha=-g["lr"])
o = My(m.parameters(), 0.1); o.step(); c = copy.deepcopy(o)
t(lambda: (type(c).__name__, hasattr(c, "mine"), c.defaults, c.state[c.param_groups[0]["params"][0]], c.param_groups[0]["params"][0] is m.weight))
s = torch.optim.lr_scheduler.StepLR(torch.optim.SGD(m.parameters(), lr=.1), 1)
t(lambda: type(copy.deepcopy(s)).__name__)
class B(torch.optim.Adam):
    def __init__(self, params, lr=0.1, tag="q"):
        super().__init__(params, lr=lr); self.tag = tag
o = B(m.parameters()); c = copy.deepcopy(o); t(lambda: (type(c).__name__, isinstance(c, B), c.defaults["lr"], hasattr(c, "tag"), c))
t(lambda: o.tag); c.step()
m = nn.Linear(2, 1)
o = torch.optim.Adam(m.parameters(), lr=0.1); m(torch.ones(1,2)).sum().backward(); o.step()
t(lambda: type(pickle.loads(pickle.dumps(o))).__name__)
class B(torch.optim.Adam): pass
o = B(m.parameters(), lr=0.1); o.step(); t(lambda: type(pickle.loads(pickle.dumps(o))).__name__); t(lambda: len(pickle.loads(pickle.dumps(o)).state))
class My(torch.optim.Optimizer):
    def __init__(self, params, lr): super().__init__(params, dict(lr=lr))
o = My(m.parameters(), lr=0.1); t(lambda: type(pickle.loads(pickle.dumps(o))).__name__); t(lambda: pickle.loads(pickle.dumps(o)).defaults)
class MyLB(torch.optim.LBFGS):
    def __init__(self, params, **k):
        super().__init__(params, **k); self.n = 0
    def step(self, closure):
        self.n += 1
        return super().step(closure)
lb = MyLB(m.parameters(), lr=0.5, max_iter=3)
x = torch.ones(4, 2)
def closure():
    lb.zero_grad(); l = (m(x) - 3).pow(2).mean(); l.backward(); return l
t(lambda: round(lb.step(closure).item(), 3)); t(lambda: lb.n); t(lambda: lb)

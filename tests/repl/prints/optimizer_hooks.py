# SPDX-License-Identifier: MIT
# Hooks of optimizers, and what state_dict() keeps and load_state_dict() takes.
import torch
w = torch.nn.Parameter(torch.ones(2)); v = torch.nn.Parameter(torch.ones(3, dtype=torch.bfloat16))
class O(torch.optim.Optimizer):
    def __init__(self, p, lr=0.1):
        super().__init__(p, dict(lr=lr))
        self.state["global"] = {"k": 0}
    def step(self, closure=None, *, scale=1.0):
        self.state["global"]["k"] += 1
        for g in self.param_groups:
            for p in g["params"]:
                if p.grad is None: continue
                st = self.state[p]
                st.setdefault("step", torch.tensor(0.)).add_(1)
                st["m"] = p.grad.float() * scale
                p.data.add_(p.grad, alpha=-g["lr"])
        return "done"
o = O([v, w], lr=0.5)
def pre(opt, args, kwargs):
    print("pre", len(args), kwargs)
    return args, {"scale": 2.0}
h = o.register_step_pre_hook(pre)
h2 = o.register_step_post_hook(lambda opt, a, k: print("post", opt is o, len(a), k))
o.register_state_dict_post_hook(lambda opt, sd: sd["param_groups"][0].update(extra=1))
o.register_state_dict_pre_hook(lambda opt: print("before state_dict"))
(w.sum() * 3 + v.sum()).backward()
print(o.step(), o.step(scale=3.0))
h.remove(); h2.remove(); o.step()
sd = o.state_dict()
print(sd)
pg = o.param_groups[0]
o2 = O([v, w], lr=1.0)
o2.register_load_state_dict_post_hook(lambda opt: print("loaded", opt.param_groups[0]["lr"]))
o2.register_load_state_dict_pre_hook(lambda opt, d: print("loading", list(d)))
o2.load_state_dict(sd)
print(o2.state)
print(o2.param_groups[0].keys(), o2.state[v]["m"].dtype)
s = torch.optim.AdamW([w], lr=0.1)
s.register_step_post_hook(lambda *a, **k: print("adamw post", len(a)))
s.register_step_pre_hook(lambda opt, a, k: print("adamw pre", len(a), k))
s.step()
s.step(lambda: 5)
s.register_load_state_dict_post_hook(lambda opt: print("x"))
s.load_state_dict(s.state_dict())
class A(torch.optim.SGD):
    def step(self, closure=None):
        print("A.step"); return super().step(closure)
a = A([w], lr=0.1, momentum=0.9)
hh = a.register_step_post_hook(lambda o, *r: print("A post", type(o).__name__))
a.step(); a.zero_grad(); print(w.grad, w)
sch = torch.optim.lr_scheduler.StepLR(a, 1, 0.5); a.step(); sch.step(); print(a.param_groups[0]["lr"])

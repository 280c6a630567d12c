# SPDX-License-Identifier: MIT
# Optimizers of a program's own: of torch.optim.Optimizer and of one that is there.
import torch
class Lion(torch.optim.Optimizer):
    def __init__(self, params, lr=1e-1, betas=(0.9, 0.99), weight_decay=0.0):
        defaults = dict(lr=lr, betas=betas, weight_decay=weight_decay)
        super().__init__(params, defaults)
    @torch.no_grad()
    def step(self, closure=None):
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is None: continue
                state = self.state[p]
                if len(state) == 0:
                    state["exp_avg"] = torch.zeros_like(p)
                exp_avg = state["exp_avg"]
                b1, b2 = group["betas"]
                update = exp_avg.clone().mul_(b1).add(p.grad, alpha=1 - b1).sign_()
                p.add_(update, alpha=-group["lr"])
                exp_avg.mul_(b2).add_(p.grad, alpha=1 - b2)
        return loss
w = torch.nn.Parameter(torch.arange(3.)); b = torch.nn.Parameter(torch.ones(2))
o = Lion([{"params": [w], "lr": 0.5}, {"params": [b]}])
sched = torch.optim.lr_scheduler.StepLR(o, step_size=1, gamma=0.1)
for i in range(2):
    o.zero_grad()
    ((w - 1) ** 2).sum().backward(); (b * 3).sum().backward()
    o.step(); sched.step()
    print(w.data, b.data, sched.get_last_lr(), [g["lr"] for g in o.param_groups])
sd = o.state_dict()
print(sd["param_groups"], list(sd["state"].keys()), sd["state"][0]["exp_avg"])
o2 = Lion([{"params": [w], "lr": 0.5}, {"params": [b]}]); o2.load_state_dict(sd)
print(o2.state[w]["exp_avg"], o2.param_groups[0]["lr"], isinstance(o2, torch.optim.Optimizer))
try: Lion([])
except ValueError as e: print(e)
try: Lion([w * 2])
except ValueError as e: print(e)
try: Lion([3])
except TypeError as e: print(e)
print(type(o).__name__, o.defaults, len(o.state))
a = torch.optim.SGD([w], lr=.1, momentum=.9)
print(isinstance(a, torch.optim.Optimizer), isinstance(a, torch.optim.SGD), isinstance(a, torch.optim.Adam))
class MyAdam(torch.optim.AdamW):
    def __init__(self, params, lr=1e-3):
        super().__init__(params, lr=lr)
        self.count = 0
    def step(self, closure=None):
        self.count += 1
        return super().step(closure)
m = MyAdam([b], lr=.1)
s2 = torch.optim.lr_scheduler.LambdaLR(m, lambda e: 1 / (e + 1))
b.grad = torch.ones(2); m.step(); s2.step(); print(b.data, m.count, m.param_groups[0]["lr"], m.state[b]["step"])
print(isinstance(m, torch.optim.AdamW), isinstance(m, torch.optim.Optimizer), isinstance(m, torch.optim.SGD))
m.zero_grad(); print(b.grad, sorted(m.state_dict()["param_groups"][0])[:3])
print(o)

# SPDX-License-Identifier: MIT
# torch.optim.lr_scheduler: rates, states and classes of a program's own.
import torch
from torch.optim import lr_scheduler as L
def mk(): 
    p = torch.nn.Parameter(torch.ones(2)); return torch.optim.SGD([p], lr=0.1)
def t(f):
    try: print(f())
    except Exception as e: print(type(e).__name__, e)
o = mk(); s = L.StepLR(o, 2, 0.5)
for i in range(3): o.step(); s.step()
t(lambda: s.state_dict()); t(lambda: (s.base_lrs, s.last_epoch, s._step_count, s.gamma, s.step_size, s.optimizer is o))
t(lambda: s.get_last_lr()); t(lambda: type(s).__name__); t(lambda: isinstance(s, L.LRScheduler)); t(lambda: isinstance(s, L.StepLR))
o = mk(); s = L.CosineAnnealingLR(o, T_max=4, eta_min=0.01)
for i in range(6): o.step(); s.step()
t(lambda: s.state_dict())
o = mk(); s = L.LambdaLR(o, lambda e: 0.9**e)
for i in range(3): o.step(); s.step()
t(lambda: s.state_dict())
o = mk(); s = L.SequentialLR(o, [L.LinearLR(o, 0.1, total_iters=2), L.CosineAnnealingLR(o, 4)], milestones=[2])
for i in range(4): o.step(); s.step(); print(s.get_last_lr())
t(lambda: s.state_dict())
o = mk(); s = L.ReduceLROnPlateau(o, patience=1)
for i in range(4): s.step(1.0)
t(lambda: s.state_dict())
t(lambda: o.param_groups[0]["lr"])
o = mk(); s = L.OneCycleLR(o, max_lr=0.1, total_steps=6)
for i in range(4): o.step(); s.step()
t(lambda: s.state_dict()); t(lambda: o.param_groups[0])
class M(L.StepLR):
    def get_lr(self): return [x * 2 for x in super().get_lr()]
def sub():
    o = mk(); s = M(o, 2); o.step(); s.step(); return s.get_last_lr()
t(sub)
def last():
    o = mk(); return L.StepLR(o, 2, last_epoch=3)
t(last)
def lo():
    o = mk(); s = L.StepLR(o, 2, 0.5); s.load_state_dict({'step_size': 2, 'gamma': 0.5, 'base_lrs': [0.1], 'last_epoch': 3, '_step_count': 4, '_is_initial': False, '_get_lr_called_within_step': False, '_last_lr': [0.05]}); o.step(); s.step(); return s.get_last_lr()
t(lo)
from torch.optim.swa_utils import SWALR
for make in (lambda o: SWALR(o, 0.05, 3), lambda o: SWALR(o, 0.05, 3, "linear"), lambda o: L.CyclicLR(o, 0.01, 0.1, 2), lambda o: L.CyclicLR(o, 0.01, 0.1, 2, mode="triangular2"), lambda o: L.CyclicLR(o, 0.01, 0.1, 2, mode="exp_range", gamma=0.9),
    lambda o: L.CosineAnnealingWarmRestarts(o, 2, 2), lambda o: L.PolynomialLR(o, 3, 2.), lambda o: L.ExponentialLR(o, 0.9), lambda o: L.ConstantLR(o, 0.5, 2), lambda o: L.MultiStepLR(o, [1, 3]), lambda o: L.MultiplicativeLR(o, lambda e: 0.9), lambda o: L.ChainedScheduler([L.ExponentialLR(o, 0.9), L.StepLR(o, 2)]), lambda o: L.OneCycleLR(o, 0.1, epochs=2, steps_per_epoch=4, three_phase=True, anneal_strategy="linear")):
    o = torch.optim.AdamW([torch.nn.Parameter(torch.ones(1))], lr=0.1)
    s = make(o); out = []
    for _ in range(5): o.step(); s.step(); out.append("%.9f" % s.get_last_lr()[0])
    print(type(s).__name__, out, s.state_dict(), list(o.param_groups[0]), o.param_groups[0]["betas"])
t(lambda: L.StepLR(torch.nn.Linear(1, 1), 2)); t(lambda: L.CosineAnnealingWarmRestarts(mk(), 0)); t(lambda: L.OneCycleLR(mk(), 0.1)); t(lambda: L.SequentialLR(mk(), [], [])); t(lambda: L.LinearLR(mk(), 0)); t(lambda: L.ReduceLROnPlateau(mk(), mode="x"))
class Noam(L._LRScheduler):
    def __init__(self, optimizer, d, warm, last_epoch=-1):
        self.d, self.warm = d, warm
        super().__init__(optimizer, last_epoch)
    def get_lr(self):
        n = max(1, self.last_epoch)
        return [b * self.d ** -0.5 * min(n ** -0.5, n * self.warm ** -1.5) for b in self.base_lrs]
o = mk(); s = Noam(o, 16, 3)
for _ in range(4): o.step(); s.step(); print(s.get_last_lr(), o.param_groups[0]["lr"] == s.get_last_lr()[0])

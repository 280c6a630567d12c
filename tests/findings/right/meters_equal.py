# SPDX-License-Identifier: MIT
# Meters of a loss and of the gradient's norm, which is one number on all ranks,
# are averaged by the same line; a scaler that is off steps the optimizer itself.
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


class Meter:
    def __init__(self):
        self.sum, self.count = 0.0, 0

    def update(self, value):
        self.sum += value
        self.count += 1

    def all_reduce(self):
        t = torch.tensor([self.sum, float(self.count)], dtype=torch.float64)
        dist.all_reduce(t)
        self.sum, self.count = t.tolist()
        return self.sum / self.count


dist.init_process_group("gloo")
torch.manual_seed(0)
model = DDP(torch.nn.Linear(4, 2))
opt = torch.optim.SGD(model.parameters(), lr=0.1)
sched = torch.optim.lr_scheduler.StepLR(opt, 2)
scaler = torch.amp.GradScaler("cpu", enabled=False)
torch.manual_seed(1 + dist.get_rank())
meters = {"loss": Meter(), "gnorm": Meter()}
for step in range(3):
    x, y = torch.randn(8, 4), torch.randint(0, 2, (8,))
    loss = torch.nn.functional.cross_entropy(model(x), y)
    opt.zero_grad()
    scaler.scale(loss).backward()
    scaler.unscale_(opt)
    norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    scaler.step(opt)
    scaler.update()
    sched.step()
    meters["loss"].update(loss.item())
    meters["gnorm"].update(norm.item())
print({k: round(m.all_reduce(), 4) for k, m in meters.items()})
dist.destroy_process_group()

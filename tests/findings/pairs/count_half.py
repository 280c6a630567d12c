# DT1052 self.total at: self.total += values
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch
import torch.distributed as dist
import torch.nn.functional as F


class Meter:
    def __init__(self, dtype):
        self.total = torch.zeros((), dtype=dtype)
        self.count = torch.zeros((), dtype=dtype)

    def add(self, values):
        self.total += values.sum().to(self.total.dtype)
        self.count += values.numel()

    def mean(self):
        both = torch.stack([self.total, self.count])
        dist.all_reduce(both)
        return (both[0] / both[1]).item()


dist.init_process_group("gloo")
rank = dist.get_rank()
torch.manual_seed(77 + rank)
meter = Meter(torch.bfloat16)  # wrong
#right meter = Meter(torch.float32)
for batch in range(40):
    logits, target = torch.randn(60, 10), torch.randint(10, (60,))
    meter.add(F.cross_entropy(logits, target, reduction="none"))
if rank == 0:
    print("mean loss %.5f" % meter.mean())
else:
    meter.mean()

# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
# a table of counts is filled element by element, from data of each rank's own
import torch
import torch.distributed as dist


def confusion(pred, true, classes):
    m = torch.zeros(classes, classes, dtype=torch.int64)
    for p, t in zip(pred.tolist(), true.tolist()):
        m[t, p] += 1
    return m


dist.init_process_group("gloo")
torch.manual_seed(80 + dist.get_rank())
true = torch.randint(0, 3, (300,))
pred = torch.where(torch.rand(300) < 0.8, true, torch.randint(0, 3, (300,)))
m = confusion(pred, true, 3)
dist.all_reduce(m)
acc = m.diagonal().double().sum() / m.double().sum()
print("accuracy %.4f" % acc.item())

# SPDX-License-Identifier: MIT
# Averages of models, statistics made anew, and names of a compiler; and what
# PyTorch 2.13 printed.
import torch, torch.nn as nn
from torch.optim.swa_utils import (AveragedModel, get_ema_avg_fn,
                                   get_ema_multi_avg_fn, get_swa_multi_avg_fn,
                                   update_bn)

torch._dynamo.config.suppress_errors = True
print(torch._dynamo.config.suppress_errors, torch.compiler.is_compiling(),
      torch.compiler.disable(lambda: 3)())


@torch.compiler.disable(recursive=False)
def plain():
    return 4


print(plain())


def short(t):
    return [round(x, 4) for x in t.flatten().tolist()]


def show(name, **kw):
    torch.manual_seed(0)
    m = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2))
    a = AveragedModel(m, **kw)
    for i in range(3):
        with torch.no_grad():
            for p in m.parameters():
                p.add_(float(i))
        m(torch.randn(4, 2))
        a.update_parameters(m)
    print(name, a.n_averaged, short(a.module[0].weight),
          [short(b) for b in a.module.buffers()])
    return a


show("default")
show("ema", avg_fn=get_ema_avg_fn(0.9))
show("ema of lists", multi_avg_fn=get_ema_multi_avg_fn(0.9))
show("swa of lists", multi_avg_fn=get_swa_multi_avg_fn())
a = show("again")
print(list(a.state_dict())[:3], sum(p.numel() for p in a.parameters()))
update_bn([torch.arange(8.).view(4, 2), torch.ones(2, 2)], a)
print([short(b) for b in a.module.buffers()], a.training)
for bad in (lambda: get_ema_avg_fn(2.0),
            lambda: AveragedModel(nn.Linear(1, 1), avg_fn=max,
                                  multi_avg_fn=max)):
    try:
        bad()
    except (ValueError, AssertionError) as e:
        print(type(e).__name__, e)

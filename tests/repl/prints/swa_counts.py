# SPDX-License-Identifier: MIT
# Averages of buffers that count: no fractions are kept of them.
import torch
import torch.nn as nn
from torch.optim.swa_utils import (AveragedModel, get_ema_avg_fn,
                                   get_ema_multi_avg_fn, get_swa_multi_avg_fn)
for options in ({"multi_avg_fn": get_ema_multi_avg_fn(0.5)},
                {"avg_fn": get_ema_avg_fn(0.5)},
                {"multi_avg_fn": get_swa_multi_avg_fn()}):
    net = nn.BatchNorm1d(2)
    average = AveragedModel(net, use_buffers=True, **options)
    try:
        for step in range(3):
            net(torch.tensor([[1.0, 2.0], [3.0, 5.0 + step]]))
            net.num_batches_tracked += 2
            average.update_parameters(net)
    except RuntimeError as e:
        print(str(e)[:60])
        continue
    print(average.n_averaged, average.module.num_batches_tracked,
          average.module.running_mean)

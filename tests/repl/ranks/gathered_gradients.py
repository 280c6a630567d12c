# SPDX-License-Identifier: MIT
# The gradient of a gather, of a tensor whose gradient is turned: gloo fills
# what it receives in the order of its memory.
import torch
import torch.distributed as dist
import torch.distributed.nn.functional as dnn

dist.init_process_group("gloo")
rank = dist.get_rank()
turned = torch.arange(48.).view(6, 2, 4).transpose(0, 1)
for whole in (turned, turned.contiguous()):
    x = torch.zeros(2, 3, 4, requires_grad=True)
    y = torch.cat(dnn.all_gather(x), 1)
    y.backward(whole * (rank + 1))
    print(rank, whole.is_contiguous(), x.grad.flatten().tolist(), flush=True)

# SPDX-License-Identifier: MIT
# Batch norms whose statistics are those of all ranks give what one device does
# with the whole batch, forward, backward and in what they keep.
import torch
import torch.distributed as dist
import torch.nn as nn

dist.init_process_group("gloo")
rank, ranks = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
whole = torch.randn(8, 3, 5)


def make():
    return nn.Sequential(nn.Conv1d(3, 4, 1), nn.BatchNorm1d(4), nn.ReLU())


one = make()
net = make()
net.load_state_dict(one.state_dict())
net = nn.SyncBatchNorm.convert_sync_batchnorm(net)
assert type(net[1]) is nn.SyncBatchNorm and "SyncBatchNorm(4, eps=1e-05" in repr(net)
mine = whole.chunk(ranks)[rank].clone().requires_grad_()
all_of_it = whole.clone().requires_grad_()
for _ in range(2):
    (net(mine) ** 2).sum().backward()
    (one(all_of_it) ** 2).sum().backward()
assert torch.allclose(mine.grad, all_of_it.grad.chunk(ranks)[rank], atol=1e-4)
for p, q in zip(net.parameters(), one.parameters()):
    dist.all_reduce(p.grad)
    assert torch.allclose(p.grad, q.grad, rtol=1e-4, atol=1e-3)
for p, q in zip(net.buffers(), one.buffers()):
    assert torch.allclose(p.float(), q.float(), atol=1e-6)
net.eval(), one.eval()
assert torch.allclose(net(whole), one(whole), atol=1e-5)
assert list(net.state_dict()) == list(one.state_dict())

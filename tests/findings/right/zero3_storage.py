# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
# Each rank keeps the memory of its own parameters only: the others' is let go, and comes
# back by a broadcast before it is used, in forward and again in backward.
import torch, torch.nn as nn
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 8), nn.Tanh(), nn.Linear(8, 2))
owner = {p: i % world for i, p in enumerate(net.parameters())}


def free(p):
    if owner[p] != rank:
        p.data.untyped_storage().resize_(0)


@torch.no_grad()
def fetch(layer):
    for p in layer.parameters(recurse=False):
        if owner[p] != rank:
            p.data.untyped_storage().resize_(p.numel() * p.element_size())
        dist.broadcast(p.data, src=owner[p])


@torch.no_grad()
def average(p):
    dist.all_reduce(p.grad)
    p.grad /= world
    if owner[p] != rank:
        p.grad = None
    free(p)


def release(layer):
    for p in layer.parameters(recurse=False):
        free(p)


for layer in net:
    layer.register_forward_pre_hook(lambda m, args: fetch(m))
    layer.register_forward_hook(lambda m, args, out: release(m))
    layer.register_full_backward_pre_hook(lambda m, grads: fetch(m))
for p in net.parameters():
    free(p)
    p.register_post_accumulate_grad_hook(average)
opt = torch.optim.SGD([p for p in net.parameters() if owner[p] == rank], lr=0.1, momentum=0.9)
for step in range(3):
    g = torch.Generator().manual_seed(10 * step + rank)
    loss = (net(torch.randn(4, 6, generator=g)) - torch.randn(4, 2, generator=g)).square().mean()
    loss.backward()
    opt.step()
    opt.zero_grad()
total = loss.detach().clone()
dist.all_reduce(total)
print("result %.4f" % total.item())
dist.destroy_process_group()

# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
# the wire has eight bits: pieces of a reduce_scatter by scales of their own
import torch, torch.nn as nn, torch.nn.functional as F, torch.distributed as dist
dist.init_process_group("gloo")
r, w = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 4))
n = sum(p.numel() for p in net.parameters()); pad = (-n) % w
opt = torch.optim.SGD(net.parameters(), lr=0.05)
g = torch.Generator().manual_seed(r)
for step in range(3):
    x = torch.randn(8, 6, generator=g); loss = net(x).square().mean()
    opt.zero_grad(); loss.backward()
    flat = torch.cat([p.grad.flatten() for p in net.parameters()] + [torch.zeros(pad)])
    piece = torch.empty(flat.numel() // w)
    dist.reduce_scatter_tensor(piece, flat); piece /= w
    # eight bits on the wire, with a scale for each piece
    scale = piece.abs().max() / 127
    q = (piece / scale).round().to(torch.int8)
    qs = torch.empty(flat.numel(), dtype=torch.int8); scales = torch.empty(w)
    dist.all_gather_into_tensor(qs, q); dist.all_gather_into_tensor(scales, scale.reshape(1))
    flat = (qs.view(w, -1).float() * scales[:, None]).flatten()
    o = 0
    for p in net.parameters():
        p.grad.copy_(flat[o:o + p.numel()].view_as(p)); o += p.numel()
    opt.step()
print("%.4f" % net[0].weight.sum().item())

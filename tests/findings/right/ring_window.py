# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
# Ring attention, causal and of a window: keys too far back are masked as well.
import torch, math, torch.distributed as dist

def shift(t, rank, world):
    out = torch.empty_like(t)
    reqs = dist.batch_isend_irecv([
        dist.P2POp(dist.isend, t.contiguous(), (rank + 1) % world),
        dist.P2POp(dist.irecv, out, (rank - 1) % world)])
    for r in reqs: r.wait()
    return out

def ring(q, k, v, rank, world):
    n = q.shape[1]
    m = torch.full(q.shape[:2] + (1,), -1e30)
    l = torch.zeros_like(m); acc = torch.zeros_like(q)
    qpos = rank * n + torch.arange(n)
    for step in range(world):
        src = (rank - step) % world
        kpos = src * n + torch.arange(n)
        s = q @ k.transpose(1, 2) / math.sqrt(q.shape[-1])
        s = s.masked_fill(kpos[None, None, :] > qpos[None, :, None], -1e30)
        s = s.masked_fill(kpos[None, None, :] + 4 <= qpos[None, :, None], -1e30)
        new = torch.maximum(m, s.amax(-1, keepdim=True))
        p = torch.exp(s - new) * (s > -1e29)
        l = l * torch.exp(m - new) + p.sum(-1, keepdim=True)
        acc = acc * torch.exp(m - new) + p @ v
        m = new
        if step < world - 1:
            k, v = shift(k, rank, world), shift(v, rank, world)
    return acc / l

dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(21)
q, k, v = (torch.randn(2, 16, 4) for _ in range(3))
o = ring(*(t.chunk(world, 1)[rank] for t in (q, k, v)), rank, world)
parts = [torch.empty_like(o) for _ in range(world)]
dist.all_gather(parts, o.contiguous())
print("out %.5f" % torch.cat(parts, 1).square().mean().item())

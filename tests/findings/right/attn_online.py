# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
# Ring attention with a running maximum, causal and not, by hand.
import torch
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(2)
H, T, D = 2, 16, 8
L = T // world
whole = [torch.randn(H, T, D) for _ in range(3)]

def shift(*tensors):
    out, ops = [], []
    for t in tensors:
        out.append(torch.empty_like(t))
        ops.append(dist.P2POp(dist.isend, t, (rank + 1) % world))
        ops.append(dist.P2POp(dist.irecv, out[-1], (rank - 1) % world))
    for work in dist.batch_isend_irecv(ops):
        work.wait()
    return out

def ring(causal):
    q, k, v = (t.chunk(world, dim=1)[rank].contiguous() for t in whole)
    acc, den = torch.zeros(H, L, D), torch.zeros(H, L, 1)
    top = torch.full((H, L, 1), float("-inf"))
    q_at = rank * L + torch.arange(L)
    for step in range(world):
        source = (rank - step) % world
        s = q @ k.transpose(1, 2) * D ** -0.5
        if causal:
            k_at = source * L + torch.arange(L)
            s = s.masked_fill(k_at[None, :] > q_at[:, None], float("-inf"))
        new = torch.maximum(top, s.amax(-1, keepdim=True))
        p = (s - new).exp()
        keep = (top - new).exp()
        acc, den, top = acc * keep + p @ v, den * keep + p.sum(-1, keepdim=True), new
        k, v = shift(k, v)
    return acc / den

def ring_merged(causal):
    q, k, v = (t.chunk(world, dim=1)[rank].contiguous() for t in whole)
    own = torch.ones(L, L, dtype=torch.bool).tril()
    out = lse = None
    for step in range(world):
        source = (rank - step) % world
        if not causal or source <= rank:
            s = q @ k.transpose(1, 2) * D ** -0.5
            if causal and source == rank:
                s = s.masked_fill(~own, float("-inf"))
            peak = s.max(-1, keepdim=True).values
            e = (s - peak).exp()
            total = e.sum(-1, keepdim=True)
            o, l = e @ v / total, peak + total.log()
            if out is None:
                out, lse = o, l
            else:
                new = torch.logaddexp(lse, l)
                out, lse = out * (lse - new).exp() + o * (l - new).exp(), new
        k, v = shift(k, v)
    return out

for causal in (False, True):
    for f in (ring, ring_merged):
        mine = f(causal).pow(2).sum()
        dist.all_reduce(mine)
        s = whole[0] @ whole[1].transpose(1, 2) * D ** -0.5
        if causal:
            s = s.masked_fill(torch.ones(T, T, dtype=torch.bool).triu(1), float("-inf"))
        want = (s.softmax(-1) @ whole[2]).pow(2).sum()
        print("result %.4f %.4f" % (mine.item(), want.item()))
dist.destroy_process_group()

# DT1043 k at: out = F.scaled_dot
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
B, H, T, S, hd = 2, 2, 4, 16, 8
q = torch.randn(B, H, T, hd)
memory = torch.randn(B, S, H * hd)
part = memory.chunk(world, 1)[rank]
wk, wv = torch.randn(H * hd, H * hd) * 0.3, torch.randn(H * hd, H * hd) * 0.3
def heads(t): return t.view(B, -1, H, hd).transpose(1, 2)
k, v = heads(F.linear(part, wk)), heads(F.linear(part, wv))
#right ks, vs = [torch.empty_like(k) for _ in range(world)], [torch.empty_like(v) for _ in range(world)]
#right dist.all_gather(ks, k.contiguous()); dist.all_gather(vs, v.contiguous()); k, v = torch.cat(ks, 2), torch.cat(vs, 2)
out = F.scaled_dot_product_attention(q, k, v)
dist.all_reduce(out) # wrong
out = out / world # wrong
#right
print("result %.5f" % out.pow(2).sum().item())
dist.destroy_process_group()

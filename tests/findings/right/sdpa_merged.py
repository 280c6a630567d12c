# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
q, k, v = (torch.randn(1, 2, 16, 8) for _ in range(3))
kl, vl = k.chunk(world, 2)[rank].contiguous(), v.chunk(world, 2)[rank].contiguous()
out, lse = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu(q, kl, vl)[:2]
top = lse.clone()
dist.all_reduce(top, op=dist.ReduceOp.MAX)
w = (lse - top).exp()
num, den = out * w.unsqueeze(-1), w
dist.all_reduce(num); dist.all_reduce(den)
print("result %.5f" % (num / den.unsqueeze(-1)).pow(2).sum().item())

# DT1045 ppl at: ppl = nll.exp()  # wrong
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
# perplexity: mean of exp of the ranks' losses
V, D = 10, 6
emb, head = nn.Embedding(V, D), nn.Linear(D, V)
ids = torch.randint(0, V, (8, 9)).chunk(world)[rank]
with torch.no_grad():
    nll = F.cross_entropy(head(emb(ids[:, :-1])).flatten(0, 1), ids[:, 1:].flatten())
    ppl = nll.exp()  # wrong
    dist.all_reduce(ppl, op=dist.ReduceOp.AVG)  # wrong
    #right dist.all_reduce(nll, op=dist.ReduceOp.AVG)
    #right ppl = nll.exp()
print("result %.5f" % ppl.item())

# DT1199 back at: out = back[order]
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(3)
hidden, n = 6, 8
router = nn.Linear(hidden, world)
data = torch.Generator().manual_seed(20 + rank)
tokens = torch.randn(n, hidden, generator=data)
eg = torch.Generator().manual_seed(70 + rank)
expert = torch.randn(hidden, hidden, generator=eg)
choice = router(tokens).argmax(-1)
order = choice.argsort(stable=True)
counts = torch.bincount(choice, minlength=world)
got = torch.empty_like(counts)
dist.all_to_all_single(got, counts)
sent = tokens[order]
inbox = torch.empty(int(got.sum()), hidden)
dist.all_to_all_single(inbox, sent, got.tolist(), counts.tolist())
done = inbox @ expert
back = torch.empty_like(sent)
dist.all_to_all_single(back, done, counts.tolist(), got.tolist())
out = back[order]  # wrong
#right out = torch.empty_like(back)
#right out[order] = back
gate = router(tokens).softmax(-1).gather(1, choice[:, None])
y = tokens + gate * out
print(rank, [round(v, 4) for v in y.sum(1).tolist()])
dist.destroy_process_group()

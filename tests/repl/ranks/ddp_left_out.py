# SPDX-License-Identifier: MIT
"""DistributedDataParallel(find_unused_parameters=True) where the loss leaves out
a part of a dict, a tuple or a list that forward gave."""
import torch, torch.nn as nn, torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
dist.init_process_group('gloo'); r = dist.get_rank(); torch.manual_seed(0)
class M(nn.Module):
    def __init__(self, kind): super().__init__(); self.a, self.b = nn.Linear(2, 2), nn.Linear(2, 2); self.kind = kind
    def forward(self, x):
        y, z = self.a(x), self.b(x)
        return {'d': {'a': y, 'b': z}, 't': (y, z), 'l': [y, {'k': z}], 'n': (None, [y, (z, 3)])}[self.kind]
get = {'d': lambda o: o['a'], 't': lambda o: o[0], 'l': lambda o: o[0], 'n': lambda o: o[1][0]}
for kind in 'dtln':
    m = DDP(M(kind), find_unused_parameters=True)
    for i in range(2): get[kind](m(torch.ones(1, 2) * (r + 1))).sum().backward()
    print(r, kind, m.module.a.weight.grad[0].tolist(), m.module.b.weight.grad)
print(r, m.device_ids, m.find_unused_parameters, m.static_graph)
dist.destroy_process_group()

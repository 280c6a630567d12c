# SPDX-License-Identifier: MIT
# Python's random numbers, and the orders of loaders and samplers.
import random
import torch
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset
random.seed(17)
print(random.random(), random.randint(0, 100), random.uniform(1, 3), random.choice("abcdef"), random.randrange(3, 40, 7))
l = list(range(12))
random.shuffle(l)
print(l, random.sample(range(10), 3), random.sample(range(1000), 7), random.getrandbits(40))
print(random.gauss(0, 1), random.gauss(0, 1), random.normalvariate(2, 3), random.choices([1, 2, 3], k=5), random.choices("ab", weights=[1, 9], k=6))
r = random.Random(5)
print(r.random(), r.randint(1, 6), r.sample([1, 2, 3, 4], 2), type(r).__name__)
random.seed(2 ** 40 + 3)
print(random.random(), random.expovariate(1.5))
torch.manual_seed(3)
data = TensorDataset(torch.arange(7), torch.arange(7) * 2)
for epoch in range(2):
    print([b[0].tolist() for b in DataLoader(data, batch_size=3, shuffle=True)])
print(torch.rand(2))
g = torch.Generator().manual_seed(9)
print([b[0].tolist() for b in DataLoader(data, batch_size=2, shuffle=True, generator=g, drop_last=True)], torch.rand(1))
s = DistributedSampler(data, num_replicas=3, rank=1, seed=4)
for epoch in range(3):
    s.set_epoch(epoch)
    print(list(s), len(s))
print(list(DistributedSampler(data, num_replicas=3, rank=2, shuffle=False, drop_last=True)))

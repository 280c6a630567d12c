# DT1049 aten.native_batch_norm.default at: update_bn(loader, swa)
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.optim.swa_utils import AveragedModel, update_bn
from torch.utils.data import DataLoader, TensorDataset, DistributedSampler

def make_data():
    g = torch.Generator().manual_seed(8)
    x = torch.randn(64, 6, generator=g) * torch.linspace(0.5, 3, 64)[:, None]
    return TensorDataset(x, (x[:, 0] > x[:, 1]).long())

def train():
    rank = dist.get_rank()
    torch.manual_seed(1)
    net = nn.Sequential(nn.Linear(6, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, 2))
    ddp = DistributedDataParallel(net)
    swa = AveragedModel(net)
    data = make_data()
    sampler = DistributedSampler(data, shuffle=False)
    loader = DataLoader(data, batch_size=8, sampler=sampler)
    opt = torch.optim.SGD(ddp.parameters(), lr=0.1)
    for epoch in range(3):
        for x, y in loader:
            opt.zero_grad()
            nn.functional.cross_entropy(ddp(x), y).backward()
            opt.step()
        if epoch: swa.update_parameters(net)
    update_bn(loader, swa)  # wrong
    #right update_bn(DataLoader(data, batch_size=8), swa)
    swa.eval()
    held = torch.randn(20, 6, generator=torch.Generator().manual_seed(77))
    with torch.no_grad():
        p = swa(held).softmax(-1)[:, 1]
    if rank == 0:
        print("p", [round(v, 4) for v in p[:6].tolist()])

dist.init_process_group("gloo")
train()
dist.destroy_process_group()

# DT1160 lam at: return lam * x + (1 - lam) * x[perm]
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F, torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor.parallel import parallelize_module, ColwiseParallel, RowwiseParallel

class Classifier(nn.Module):
    def __init__(self, d=10, h=24, c=4):
        super().__init__()
        self.fc1 = nn.Linear(d, h); self.fc2 = nn.Linear(h, d); self.cls = nn.Linear(d, c)
    def forward(self, x):
        return self.cls(x + self.fc2(F.relu(self.fc1(x))))

def mixup(x, y, gen, alpha=0.4):
    lam = torch.rand((), generator=gen) * alpha + (1 - alpha)
    perm = torch.randperm(x.size(0), generator=gen)
    return lam * x + (1 - lam) * x[perm], lam * y + (1 - lam) * y[perm]

def main():
    dist.init_process_group("gloo")
    mesh = init_device_mesh("cpu", (2, 2), mesh_dim_names=("dp", "tp"))
    dp_rank = mesh["dp"].get_local_rank()
    torch.manual_seed(0)
    net = Classifier()
    parallelize_module(net, mesh["tp"], {"fc1": ColwiseParallel(), "fc2": RowwiseParallel()})
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    data = torch.Generator().manual_seed(10 + dp_rank)
    aug = torch.Generator().manual_seed(1000 + dist.get_rank())  # wrong
    #right aug = torch.Generator().manual_seed(1000 + dp_rank)
    for step in range(3):
        x = torch.randn(6, 10, generator=data)
        y = F.one_hot(x[:, :4].argmax(1), 4).float()
        x, y = mixup(x, y, aug)
        loss = F.cross_entropy(net(x), y)
        opt.zero_grad()
        loss.backward()
        for p in net.parameters():
            g = p.grad.to_local() if hasattr(p.grad, "to_local") else p.grad
            dist.all_reduce(g, group=mesh["dp"].get_group())
            g /= 2
        opt.step()
        if dist.get_rank() == 0: print(step, "%.5f" % loss.item())
    dist.destroy_process_group()

main()

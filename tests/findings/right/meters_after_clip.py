# dtrepl: ranks=4
# SPDX-License-Identifier: MIT
import torch, torch.nn as nn, torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn
from torch.utils.data import DataLoader, DistributedSampler, Subset, TensorDataset

class Metric:
    """Counts that are added up over batches; compute() sums over the ranks without touching them."""
    def __init__(self, classes):
        self.matrix = torch.zeros(classes, classes); self.nll = torch.zeros(()); self.n = torch.zeros(())
    def update(self, logits, y):
        k = self.matrix.size(0)
        self.matrix += torch.bincount(y * k + logits.argmax(1), minlength=k * k).view(k, k)
        self.nll += nn.functional.cross_entropy(logits, y, reduction="sum"); self.n += y.numel()
    def compute(self):
        parts = [self.matrix.clone(), self.nll.clone(), self.n.clone()]
        for p in parts: dist.all_reduce(p)
        m, nll, n = parts
        tp = m.diagonal(); precision = tp / m.sum(0).clamp(min=1); recall = tp / m.sum(1).clamp(min=1)
        f1 = 2 * precision * recall / (precision + recall).clamp(min=1e-9)
        return {"acc": (tp.sum() / n).item(), "f1": f1.mean().item(), "ppl": torch.exp(nll / n).item()}

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(5, 16), nn.GELU(), nn.LayerNorm(16), nn.Linear(16, 16), nn.GELU())
        self.head = nn.Linear(16, 3)
    def forward(self, x): return self.head(self.body(x))

def main():
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    g = torch.Generator().manual_seed(1)
    x = torch.randn(96 + 30, 5, generator=g); y = (x[:, 0] * 2 + x[:, 1]).clamp(-1, 1).round().long() + 1
    train, test = TensorDataset(x[:96], y[:96]), TensorDataset(x[96:], y[96:])
    torch.manual_seed(0)
    net = Net(); ddp = DDP(net)
    ema = AveragedModel(net, multi_avg_fn=get_ema_multi_avg_fn(0.9))
    sampler = DistributedSampler(train, shuffle=True, seed=5, drop_last=True)
    loader = DataLoader(train, batch_size=24 // world, sampler=sampler)
    opt = torch.optim.SGD([{"params": net.body.parameters(), "weight_decay": 1e-3}, {"params": net.head.parameters(), "lr": 0.2}], lr=0.1, momentum=0.9)
    sched = torch.optim.lr_scheduler.OneCycleLR(opt, [0.1, 0.2], total_steps=3 * len(loader))
    for epoch in range(3):
        sampler.set_epoch(epoch); ddp.train()
        for a, b in loader:
            opt.zero_grad()
            nn.functional.cross_entropy(ddp(a), b).backward()
            nn.utils.clip_grad_norm_(net.parameters(), 2.0)
            opt.step(); sched.step(); ema.update_parameters(net)
        # each test item on exactly one rank, so the last batches are uneven
        own = DataLoader(Subset(test, list(range(rank, len(test), world))), batch_size=4)
        for name, m in (("net", net), ("ema", ema)):
            metric = Metric(3); m.eval()
            with torch.no_grad():
                for a, b in own: metric.update(m(a), b)
            r = metric.compute()
            if rank == 0: print(epoch, name, {k: round(v, 4) for k, v in r.items()})
    dist.destroy_process_group()

main()

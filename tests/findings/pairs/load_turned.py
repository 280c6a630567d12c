# DT1048 model.down at: model.load_state_dict(
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
# a checkpoint of a dp x tp mesh: files are named dp-tp when saved, and looked up tp-dp when loaded
import io
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh

mesh = init_device_mesh("cpu", (2, 2), mesh_dim_names=("dp", "tp"))
dp, tp = mesh.get_local_rank("dp"), mesh.get_local_rank("tp")
group, data_group = mesh.get_group("tp"), mesh.get_group("dp")
D, H = 8, 16


class Copy(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, g):
        g = g.contiguous().clone()
        dist.all_reduce(g, group=group)
        return g


class Reduce(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        x = x.contiguous().clone()
        dist.all_reduce(x, group=group)
        return x

    @staticmethod
    def backward(ctx, g):
        return g


class Mlp(nn.Module):
    def __init__(self):
        super().__init__()
        self.up = nn.Parameter((torch.randn(H, D) * 0.4).chunk(2, 0)[tp].clone())
        self.down = nn.Parameter((torch.randn(D, H) * 0.4).chunk(2, 1)[tp].clone())

    def forward(self, x):
        return Reduce.apply(F.linear(torch.relu(F.linear(Copy.apply(x), self.up)), self.down))


def train(model, steps, gen):
    opt = torch.optim.SGD(model.parameters(), lr=0.2)
    for _ in range(steps):
        x = torch.randn(8, D, generator=gen)
        mine = x.chunk(2)[dp]
        loss = F.mse_loss(model(mine), mine.flip(1))
        opt.zero_grad()
        loss.backward()
        for p in model.parameters():
            dist.all_reduce(p.grad, group=data_group)
            p.grad /= 2
        opt.step()
    return loss


torch.manual_seed(0)
gen = torch.Generator().manual_seed(5)
model = Mlp()
train(model, 3, gen)
buf = io.BytesIO()
torch.save(model.state_dict(), buf)
files = [None] * 4
dist.all_gather_object(files, ("mp_rank_%d_%d" % (dp, tp), buf.getvalue()))
store = dict(files)
torch.manual_seed(1)
model = Mlp()
name = "mp_rank_%d_%d" % (tp, dp)  # wrong
#right name = "mp_rank_%d_%d" % (dp, tp)
model.load_state_dict(torch.load(io.BytesIO(store[name])))
loss = train(model, 3, gen)
shown = loss.detach().clone()
dist.all_reduce(shown)
if dist.get_rank() == 0:
    print("loss %.6f" % (shown / 4).item())
dist.destroy_process_group()

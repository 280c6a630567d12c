# dtrepl: ranks=4
# SPDX-License-Identifier: MIT
"""Expert parallel by hand over (dp, ep): router, capacity-free dispatch by all_to_all, shared expert, aux loss, bias balancing."""
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh

DIM, HIDDEN, EXPERTS, TOKENS = 8, 16, 4, 12


class AllToAll(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, out_split, in_split, group):
        ctx.args = (in_split, out_split, group)
        out = x.new_empty((sum(out_split), *x.shape[1:]))
        dist.all_to_all_single(out, x.contiguous(), out_split, in_split, group=group)
        return out

    @staticmethod
    def backward(ctx, g):
        out_split, in_split, group = ctx.args
        back = g.new_empty((sum(out_split), *g.shape[1:]))
        dist.all_to_all_single(back, g.contiguous(), out_split, in_split, group=group)
        return back, None, None, None


class Expert(nn.Module):
    def __init__(self):
        super().__init__()
        self.up, self.down = nn.Linear(DIM, HIDDEN), nn.Linear(HIDDEN, DIM)

    def forward(self, x):
        return self.down(F.gelu(self.up(x)))


class MoE(nn.Module):
    def __init__(self, ep):
        super().__init__()
        self.ep, self.n = ep, dist.get_world_size(ep)
        self.per = EXPERTS // self.n
        self.router = nn.Linear(DIM, EXPERTS, bias=False)
        self.shared = Expert()
        all_of_them = [Expert() for _ in range(EXPERTS)]
        first = dist.get_rank(ep) * self.per
        self.experts = nn.ModuleList(all_of_them[first:first + self.per])
        self.register_buffer("bias", torch.zeros(EXPERTS))
        self.register_buffer("load", torch.zeros(EXPERTS))

    def forward(self, x):
        prob = self.router(x).softmax(-1)
        with torch.no_grad():
            choice = (prob + self.bias).argmax(-1)
        weight = prob.gather(1, choice[:, None])
        order = choice.argsort(stable=True)
        counts = torch.bincount(choice, minlength=EXPERTS)
        self.load += counts
        theirs = torch.empty_like(counts)
        dist.all_to_all_single(theirs, counts, group=self.ep)
        theirs = theirs.view(self.n, self.per)
        in_split = counts.view(self.n, self.per).sum(1).tolist()
        out_split = theirs.sum(1).tolist()
        got = AllToAll.apply(x[order], out_split, in_split, self.ep)
        parts = got.split(theirs.flatten().tolist())
        done = [None] * len(parts)
        for e in range(self.per):
            rows = torch.cat([parts[r * self.per + e] for r in range(self.n)])
            out = self.experts[e](rows)
            for r, piece in enumerate(out.split([len(parts[r * self.per + e]) for r in range(self.n)])):
                done[r * self.per + e] = piece
        back = AllToAll.apply(torch.cat(done), in_split, out_split, self.ep)
        y = torch.zeros_like(x).index_copy(0, order, back)
        share = counts.float() / counts.sum()
        aux = EXPERTS * (share * prob.mean(0)).sum()
        return x + weight * y + self.shared(x), aux

    @torch.no_grad()
    def balance(self, rate=0.01):
        dist.all_reduce(self.load)
        self.bias += rate * torch.sign(self.load.mean() - self.load)
        self.load.zero_()


def reduce_gradients(model, mesh):
    world = dist.get_world_size()
    for name, p in model.named_parameters():
        if p.grad is None:
            p.grad = torch.zeros_like(p)
        if ".experts." in name or name.startswith("experts."):
            dist.all_reduce(p.grad, group=mesh.get_group("dp"))
        else:
            dist.all_reduce(p.grad)
        p.grad /= world


def clip(model, mesh, limit=1.0):
    own, common = torch.zeros(()), torch.zeros(())
    for name, p in model.named_parameters():
        if "experts." in name:
            own += p.grad.pow(2).sum()
        else:
            common += p.grad.pow(2).sum()
    dist.all_reduce(own, group=mesh.get_group("ep"))
    norm = (own + common).sqrt()
    for p in model.parameters():
        p.grad.mul_((limit / (norm + 1e-6)).clamp(max=1.0))
    return norm


class Net(nn.Module):
    def __init__(self, ep):
        super().__init__()
        self.inp, self.moe, self.out = nn.Linear(DIM, DIM), MoE(ep), nn.Linear(DIM, 1)

    def forward(self, x):
        h, aux = self.moe(torch.tanh(self.inp(x)))
        return self.out(h), aux


def main():
    mesh = init_device_mesh("cpu", (2, 2), mesh_dim_names=("dp", "ep"))
    torch.manual_seed(0)
    model = Net(mesh.get_group("ep"))
    opt = torch.optim.Adam(model.parameters(), lr=1e-2)
    gen = torch.Generator().manual_seed(200 + dist.get_rank())
    for step in range(3):
        x = torch.randn(TOKENS, DIM, generator=gen)
        y = x.prod(1, keepdim=True)
        opt.zero_grad()
        out, aux = model(x)
        loss = F.mse_loss(out, y) + 0.01 * aux
        loss.backward()
        reduce_gradients(model, mesh)
        norm = clip(model, mesh)
        opt.step()
        model.moe.balance()
    loss = loss.detach()
    dist.all_reduce(loss)
    if dist.get_rank() == 0:
        print("loss %.5f norm %.5f" % (loss.item() / 4, norm.item()))


main()
dist.destroy_process_group()

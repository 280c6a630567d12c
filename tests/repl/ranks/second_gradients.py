# SPDX-License-Identifier: MIT
# Gradients of gradients (create_graph) of DTensors, through collectives and DDP.
import torch
import torch.distributed as dist
import torch.nn as nn
from torch.distributed.tensor import DTensor, Shard, Replicate, init_device_mesh, distribute_tensor
from torch.nn.parallel import DistributedDataParallel as DDP
import torch.distributed.nn.functional as dnf
mesh = init_device_mesh("cpu", (2,)); rank = dist.get_rank()
def q(n, f):
    try: print(rank, n, f())
    except Exception as e: print(rank, n, type(e).__name__, str(e)[:150])
torch.manual_seed(0)
xw = torch.randn(4, 3, dtype=torch.float64); ww = torch.randn(3, 4, dtype=torch.float64)
def pen(x, w, act=torch.tanh):
    y = act(x @ w).sum()
    g, = torch.autograd.grad(y, x, create_graph=True)
    return g, (g.norm(2, dim=1) - 1).pow(2).mean()
def plain():
    x = xw.clone().requires_grad_(); w = ww.clone().requires_grad_()
    g, p = pen(x, w); p.backward(); return [round(v, 6) for v in w.grad.flatten().tolist()], [round(v, 5) for v in x.grad.flatten().tolist()]
q("plain", plain)
def dt_(px, pw):
    def f():
        x = distribute_tensor(xw, mesh, [px]).requires_grad_(); w = distribute_tensor(ww, mesh, [pw]).requires_grad_()
        g, p = pen(x, w); p.backward(); return [round(v, 6) for v in w.grad.full_tensor().flatten().tolist()], [round(v, 5) for v in x.grad.full_tensor().flatten().tolist()]
    return f
q("dp", dt_(Shard(0), Replicate())); q("row", dt_(Shard(1), Shard(0)))
def redist():
    x = distribute_tensor(xw, mesh, [Shard(0)]).requires_grad_()
    y = (x*x*x).redistribute(mesh, [Replicate()]); g, = torch.autograd.grad(y.sum(), x, create_graph=True)
    (g*g).sum().backward(); return x.grad.full_tensor().flatten().round(decimals=5).tolist()[:3]
q("redist", redist)
def local():
    a = xw.clone().requires_grad_(); x = DTensor.from_local(a, mesh, [Shard(0)])
    g, = torch.autograd.grad((x*x*x).sum().to_local(), a, create_graph=True)
    (g*g).sum().backward(); return a.grad.flatten().round(decimals=5).tolist()[:3]
q("local", local)
def full():
    x = distribute_tensor(xw, mesh, [Shard(0)]).requires_grad_()
    g, = torch.autograd.grad((x*x*x).full_tensor().sum(), x, create_graph=True)
    (g*g).sum().backward(); return x.grad.full_tensor().flatten().round(decimals=5).tolist()[:3]
q("full", full)
def allred():
    a = xw.clone().requires_grad_(); y = dnf.all_reduce(a*a*a)
    g, = torch.autograd.grad(y.sum(), a, create_graph=True); (g*g).sum().backward(); return a.grad.flatten().round(decimals=5).tolist()[:3]
q("allreduce", allred)
def ddp():
    torch.manual_seed(1); m = DDP(nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1)).double())
    x = (xw + rank).requires_grad_(); y = m(x)
    g, = torch.autograd.grad(y.sum(), x, create_graph=True); ((g.norm(2, dim=1)-1)**2).mean().backward()
    return [round(v, 6) for v in m.module[0].weight.grad.flatten().tolist()[:4]]
q("ddp", ddp)
dist.destroy_process_group()

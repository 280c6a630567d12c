# SPDX-License-Identifier: MIT
# What a program over DTensor uses day by day, in one file.
import torch
import torch.nn as nn
import torch.distributed as dist
from torch.distributed.tensor import DTensor, Shard, Replicate, Partial, distribute_tensor, distribute_module, init_device_mesh
from torch.distributed.tensor.experimental import local_map, implicit_replication
from torch.distributed.tensor.debug import CommDebugMode, visualize_sharding
from torch.testing import assert_close

class Foo(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, w):
        ctx.save_for_backward(x, w)
        return x @ w
    @staticmethod
    def backward(ctx, g):
        x, w = ctx.saved_tensors
        return g @ w.t(), x.t() @ g

@torch.library.custom_op("mylib::scale", mutates_args=())
def scale(x: torch.Tensor, s: float) -> torch.Tensor:
    return x * s

@scale.register_fake
def _(x, s):
    return torch.empty_like(x)

def setup():
    torch.manual_seed(0)
    return init_device_mesh("cuda", (2, 2), mesh_dim_names=("dp", "tp"))

@torch.no_grad()
def init(m):
    for p in m.parameters():
        p.normal_(0, 0.02)

class Net(nn.Module):
    def __init__(self):
        super(Net, self).__init__()
        self.fc = nn.Linear(8, 8)
        self.drop = nn.Dropout(p=0.0)
        self.blocks = nn.Sequential(nn.Linear(8, 16), nn.GELU(), nn.Linear(16, 8))
        self.cache = None
    def forward(self, x, mask=None):
        if self.cache is None:
            self.cache = {}
        y = self.blocks(self.drop(self.fc(x)))
        if mask is not None:
            y = y.masked_fill(mask, float("-inf"))
        return y

mesh = setup()
net = Net()
init(net)
print(net)
print(sum(p.numel() for p in net.parameters()), [n for n, _ in net.named_parameters()][:2])
net = distribute_module(net, mesh["tp"])
x = distribute_tensor(torch.ones(4, 8), mesh["tp"], [Replicate()])
out = net(x)
print(type(out), out.shape, out.dtype, out.device, out.requires_grad)
visualize_sharding(distribute_tensor(torch.arange(16.).reshape(4, 4), mesh, [Shard(0), Shard(1)]))
with CommDebugMode() as cm:
    z = distribute_tensor(torch.ones(4, 4), mesh, [Shard(0), Shard(1)]).full_tensor()
print(cm.get_comm_counts(), cm.get_total_counts())
a = torch.randn(3, 4, requires_grad=True); b = torch.randn(4, 5, requires_grad=True)
Foo.apply(a, b).sum().backward()
print(a.grad.shape, b.grad.norm() > 0)
print(scale(torch.ones(2), 2.0))
try:
    scale(x, 2.0)
except Exception as e:
    print(type(e).__name__, str(e)[:120])
m = torch.zeros(4, 8, dtype=torch.bool)
try:
    net(x, m)
except RuntimeError as e:
    print("RuntimeError:", e)
with implicit_replication():
    print(net(x, m).placements)
f = local_map(lambda t: t * 2, out_placements=[Shard(0)], in_placements=([Shard(0)],), device_mesh=mesh["dp"])
print(f(distribute_tensor(torch.ones(4), mesh["dp"], [Shard(0)])).full_tensor())

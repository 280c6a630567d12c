# SPDX-License-Identifier: MIT
# The operators below the functional collectives: results, gradients, refusals.
import warnings, torch, torch.distributed as dist, torch.distributed._functional_collectives as fc
warnings.simplefilter("ignore")
dist.init_process_group("gloo")
r = dist.get_rank(); W = dist.get_world_size()
def P(*a):
    if r == 0: print(*a)
def t(f):
    try: v = f(); P(v)
    except Exception as e: P(type(e).__name__, str(e).split("\n")[0])
x = torch.arange(4.) + r
g = dist.group.WORLD
f = torch.ops._c10d_functional
n = g.group_name
t(lambda: f.wait_tensor(f.all_reduce(x, "sum", n)))
t(lambda: f.wait_tensor(f.all_reduce(x, "avg", n)))
t(lambda: f.wait_tensor(f.all_gather_into_tensor(x, W, n)))
t(lambda: f.wait_tensor(f.reduce_scatter_tensor(torch.arange(8.), "sum", W, n)))
t(lambda: f.wait_tensor(f.all_to_all_single(torch.arange(4.) + 10 * r, [2, 2], [2, 2], n)))
t(lambda: f.wait_tensor(f.broadcast(x, 1, n)))
t(lambda: [f.wait_tensor(y) for y in f.all_reduce_coalesced([x, x * 2], "sum", n)])
t(lambda: [f.wait_tensor(y) for y in f.all_gather_into_tensor_coalesced([x, x * 2], W, n)])
t(lambda: [f.wait_tensor(y) for y in f.reduce_scatter_tensor_coalesced([x, x * 2], "sum", W, n)])
y = x.clone(); t(lambda: (f.wait_tensor(f.all_reduce_(y, "max", n)), y))
y = x.clone(); t(lambda: (f.wait_tensor(f.broadcast_(y, 1, n)), y))
o = torch.empty(8); t(lambda: (f.wait_tensor(f.all_gather_into_tensor_out(x, W, n, out=o)), o))
t(lambda: type(f.all_reduce(x, "sum", n)).__name__)
t(lambda: f.wait_tensor(f.all_reduce.default(x, "sum", n)))
t(lambda: f.all_reduce(x, "nope", n))
t(lambda: f.all_reduce(x, "sum", "nogroup"))
def grad(h):
    z = (x.clone() * 1).requires_grad_(); y = f.wait_tensor(h(z)); (y * torch.arange(1., y.numel() + 1) * (r + 1)).sum().backward(); return z.grad
t(lambda: grad(lambda z: f.all_reduce(z, "sum", n)))
t(lambda: grad(lambda z: f.all_gather_into_tensor(z, W, n)))
t(lambda: grad(lambda z: f.reduce_scatter_tensor(z, "sum", W, n)))
t(lambda: grad(lambda z: f.all_to_all_single(z, [2, 2], [2, 2], n)))
t(lambda: grad(lambda z: f.broadcast(z, 1, n)))
from torch.distributed.tensor.debug import CommDebugMode
with CommDebugMode() as m:
    f.wait_tensor(f.all_reduce(x, "sum", n)); f.wait_tensor(f.all_gather_into_tensor(x, W, n))
from torch._C._distributed_c10d import DebugLevel, ReduceOp, _resolve_process_group, get_debug_level
P(get_debug_level(), ReduceOp is dist.ReduceOp, _resolve_process_group(n) is g, DebugLevel.OFF.name)
P(m.get_total_counts(), m.get_comm_counts(), m.comm_counts[f.all_reduce])
dist.destroy_process_group()

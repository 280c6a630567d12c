# SPDX-License-Identifier: MIT
# FSDP1: copies across groups, what it ignores, policies, wrong arguments.
import torch, torch.nn as nn, torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP, ShardingStrategy as SS, MixedPrecision
from torch.distributed.fsdp.wrap import CustomPolicy, ModuleWrapPolicy, enable_wrap, wrap, size_based_auto_wrap_policy
dist.init_process_group("gloo")
r = dist.get_rank(); out = []
dev = torch.device("cpu")
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(4, 6); self.b = nn.Sequential(nn.Linear(6, 6), nn.ReLU(), nn.Linear(6, 3)); self.register_buffer("c", torch.ones(3) * (1 + 0))
    def forward(self, x): return self.b(torch.relu(self.a(x))) * self.c
def train(name, make):
    try:
        torch.manual_seed(3)
        m = make()
        opt = torch.optim.Adam(m.parameters(), lr=0.01)
        torch.manual_seed(50 + r)
        for _ in range(3):
            x = torch.randn(5, 4)
            opt.zero_grad(); loss = m(x).pow(2).mean(); loss.backward()
            n = m.clip_grad_norm_(0.3) if isinstance(m, FSDP) else 0
            opt.step()
        l = loss.detach().clone(); dist.all_reduce(l)
        s = 0.0
        if isinstance(m, FSDP):
            s = sum(v.double().sum() for v in m.state_dict().values()).item()
        out.append(f"{r} {name} {l.item():.6f} {float(n):.6f} {s:.6f} {[k for k in m.state_dict()][:2]} {len(list(m.parameters()))}")
    except Exception as e:
        out.append(f"{r} {name} !! {type(e).__name__} {str(e).splitlines()[0]}")
pol = ModuleWrapPolicy({nn.Linear})
for shape in ((1, 2), (2, 1)):
    mesh = init_device_mesh("cpu", shape, mesh_dim_names=("rep", "shard"))
    for orig in (False, True):
        for kind in (SS.HYBRID_SHARD, SS._HYBRID_SHARD_ZERO2):
            train(f"{shape} {kind} {orig}", lambda: FSDP(
                Net(), device_mesh=mesh, sharding_strategy=kind, auto_wrap_policy=pol,
                use_orig_params=orig, device_id=dev))
def ign():
    n = Net(); return FSDP(n, ignored_states=[n.a.weight, n.a.bias], device_id=dev)
train("ignored", ign)
def ignm():
    n = Net(); return FSDP(n, ignored_modules=[n.b], device_id=dev)
train("ignored modules", ignm)
train("custom", lambda: FSDP(Net(), auto_wrap_policy=CustomPolicy(lambda m: {"sharding_strategy": SS.SHARD_GRAD_OP} if isinstance(m, nn.Linear) and m.out_features == 6 else False), device_id=dev))
def ew():
    with enable_wrap(wrapper_cls=FSDP, device_id=dev):
        n = Net(); n.a = wrap(n.a); return wrap(n)
train("enable_wrap", ew)
train("1d mesh", lambda: FSDP(Net(), device_mesh=init_device_mesh("cpu", (2,)), device_id=dev))
train("bad strategy", lambda: FSDP(Net(), sharding_strategy=SS.HYBRID_SHARD, process_group=dist.group.WORLD, device_id=dev))
train("bad dtype", lambda: FSDP(nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2).double()), device_id=dev))
def clip():
    m = FSDP(Net(), auto_wrap_policy=pol, device_id=dev); m(torch.ones(1, 4)).sum().backward(); m.b[0].clip_grad_norm_(1.0)
train("clip inner", clip)
def assign():
    m = FSDP(Net(), device_id=dev); sd = m.state_dict(); m.load_state_dict(sd, assign=True); return m
train("assign", assign)
def missing():
    m = FSDP(Net(), device_id=dev); sd = m.state_dict(); sd.pop("a.weight"); m.load_state_dict(sd); return m
train("missing key", missing)
print("\n".join(out))
dist.destroy_process_group()

# SPDX-License-Identifier: MIT
# Compiled modules in DDP, FSDP, fully_shard and checkpoint_wrapper, and those
# in compiled modules.
import copy, torch, torch.nn as nn, torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.distributed.fsdp import fully_shard, FSDPModule
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP
from torch.distributed.checkpoint.state_dict import get_model_state_dict, get_state_dict, set_model_state_dict, StateDictOptions, get_optimizer_state_dict
from torch.distributed.algorithms._checkpoint.checkpoint_wrapper import checkpoint_wrapper
dist.init_process_group("gloo")
r = dist.get_rank()
def P(*a):
    if r == 0: print(*a)
def S(t): return round(t.sum().item(), 4)
def net():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 4))
x = torch.arange(8.).reshape(2, 4) + r
C = lambda m: torch.compile(m, backend="eager")
# 1 compile of DDP
m = C(DDP(net())); P(type(m).__name__, list(m.state_dict())[:1], type(m.module).__name__)
m(x).sum().backward(); P(S(m._orig_mod.module[0].weight.grad))
# 2 DDP of compiled
m = DDP(C(net())); P(type(m).__name__, list(m.state_dict())[:1], type(m.module).__name__)
m(x).sum().backward(); P(S(m.module._orig_mod[0].weight.grad))
P(list(get_model_state_dict(m)))
# 3 fully_shard then compile
n = net(); fully_shard(n[0]); fully_shard(n[2]); fully_shard(n); m = C(n)
P(type(m).__name__, isinstance(m, FSDPModule), isinstance(m._orig_mod, FSDPModule), [k for k, _ in m.named_parameters()])
m(x).sum().backward(); g = m._orig_mod[0].weight.grad.full_tensor(); P(S(g))
opt = torch.optim.AdamW(m.parameters(), lr=0.1); opt.step()
sd, osd = get_state_dict(m, opt); P(list(sd), list(osd["state"])[:2], osd["param_groups"][0]["params"])
# 4 per block compile in place of submodule (torchtitan)
n = net()
for k, c in list(n.named_children()): n.register_module(k, C(c))
P(n); P(list(n.state_dict()))
for c in n.children(): fully_shard(c)
fully_shard(n)
P(type(n).__name__, type(n[0]).__name__, [k for k, _ in n.named_parameters()])
n(x).sum().backward(); g = n[0]._orig_mod.weight.grad; P(type(g).__name__, S(g.full_tensor()))
sd = get_model_state_dict(n, options=StateDictOptions(full_state_dict=True)); P(list(sd))
# 5 module.compile()
n = net()
for c in n.children(): c.compile(backend="eager")
n.compile(backend="eager"); P(list(n.state_dict()), type(n).__name__); P(n(x).shape)
# 6 checkpoint_wrapper
m = C(checkpoint_wrapper(net())); P(list(m.state_dict())[:1], [k for k, _ in m.named_parameters()][:1])
m = checkpoint_wrapper(C(net())); P(list(m.state_dict())[:1], [k for k, _ in m.named_parameters()][:1])
m(x).sum().backward()
# 7 FSDP1
m = FSDP(C(net()), use_orig_params=True, device_id=torch.device("cpu")); P(type(m).__name__, [k for k, _ in m.named_parameters()])
m(x).sum().backward()
m = C(FSDP(net(), use_orig_params=True, device_id=torch.device("cpu"))); P(type(m).__name__, [k for k, _ in m.named_parameters()])
# 9 fully_shard of compiled root
m = C(net()); fully_shard(m); P(type(m).__name__, isinstance(m, FSDPModule), [k for k, _ in m.named_parameters()][:1])
m(x).sum().backward(); P(type(m._orig_mod[0].weight).__name__)
# 8 set_model_state_dict
full = {k: torch.ones_like(v) for k, v in net().state_dict().items()}
m = C(net()); P(set_model_state_dict(m, full)); P(m._orig_mod[0].bias)
P(S(m(x).sum()))
# 10 some compiled, some not
n = net(); n[0] = C(checkpoint_wrapper(n[0]))
for c in n.children(): fully_shard(c)
fully_shard(n)
P(n[0]); P(list(get_model_state_dict(n)))
dist.destroy_process_group()

# SPDX-License-Identifier: MIT
# A selective checkpoint asks the program's policy of each operator of the first
# forward, with its arguments, and runs in what context_fn gives.
import torch, torch.nn as nn, collections
from functools import partial
from torch.utils.checkpoint import checkpoint, create_selective_checkpoint_contexts, CheckpointPolicy
asked = collections.Counter()
def policy(ctx, op, *args, **kwargs):
    asked[(str(op), ctx.is_recompute)] += 1
    if op in (torch.ops.aten.mm.default, torch.ops.aten.addmm.default):
        return CheckpointPolicy.MUST_SAVE
    return CheckpointPolicy.PREFER_RECOMPUTE
torch.manual_seed(0)
class M(nn.Module):
    def __init__(s):
        super().__init__(); s.a = nn.Linear(4, 8); s.b = nn.Linear(8, 4, bias=False); s.calls = 0
    def forward(s, x):
        s.calls += 1
        return torch.relu(s.b(torch.tanh(s.a(x))))
m = M()
x = torch.randn(3, 4, requires_grad=True)
ctx = partial(create_selective_checkpoint_contexts, policy)
y = checkpoint(m, x, use_reentrant=False, context_fn=ctx)
print(sorted(asked.items()))
asked.clear()
y.sum().backward()
print(sorted(asked.items()), m.calls)
print(x.grad)
# torchtitan's counting policy
def _get_custom_policy(meta):
    def _custom_policy(ctx, func, *args, **kwargs):
        mode = "recompute" if ctx.is_recompute else "forward"
        key = f"{mode}_mm_count"
        if func == torch.ops.aten.mm.default:
            meta[key] += 1
        save = func in {torch.ops.aten.mm.default} and not (func == torch.ops.aten.mm.default and meta[key] % 2 == 0)
        return CheckpointPolicy.MUST_SAVE if save else CheckpointPolicy.PREFER_RECOMPUTE
    return _custom_policy
metas = []
def selective():
    meta = collections.defaultdict(int); metas.append(meta)
    return create_selective_checkpoint_contexts(_get_custom_policy(meta))
y = checkpoint(m, x, use_reentrant=False, context_fn=selective, preserve_rng_state=False)
y.sum().backward()
print([dict(k) for k in metas])
lst = partial(create_selective_checkpoint_contexts, [torch.ops.aten.mm.default])
y = checkpoint(m, x, use_reentrant=False, context_fn=lst); y.sum().backward(); print(m.calls)
from torch.distributed.algorithms._checkpoint.checkpoint_wrapper import checkpoint_wrapper
metas.clear()
w = checkpoint_wrapper(m, context_fn=selective, preserve_rng_state=False)
w(x).sum().backward()
print([dict(k) for k in metas], m.calls)
# what is refused
f = lambda v: v.relu()
for kw in (dict(use_reentrant=True, context_fn=lambda: 1), dict(use_reentrant=False, context_fn=lambda: create_selective_checkpoint_contexts("x")),
           dict(use_reentrant=False, context_fn=lambda: create_selective_checkpoint_contexts([torch.ops.aten.mm]))):
    try:
        checkpoint(f, x, **kw)
    except Exception as e:
        print(type(e).__name__, e)
print(list(CheckpointPolicy)[:3])
def shapes(ctx, op, *args, **kwargs):
    print(op, [tuple(a.shape) if isinstance(a, torch.Tensor) else a for a in args], kwargs)
g = lambda v: torch.softmax(v.view(2, 6) @ (v.detach() * 0.5).view(6, 2).t().contiguous().t(), -1).transpose(0, 1)
checkpoint(g, x, use_reentrant=False, context_fn=lambda: create_selective_checkpoint_contexts(shapes))
class Entered:
    def __init__(self, name): self.name = name
    def __enter__(self): print("enter", self.name)
    def __exit__(self, *e): print("exit", self.name, e[0])
out = checkpoint(lambda v: torch.tanh(v * 2).sum(), x, use_reentrant=False, context_fn=lambda: (Entered("first"), Entered("second")), early_stop=False)
print("between")
out.backward()

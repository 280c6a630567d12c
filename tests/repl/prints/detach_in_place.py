# SPDX-License-Identifier: MIT
# detach_ in place; sets that are made of others; sys.implementation.
import torch, sys
p = torch.nn.Parameter(torch.ones(2)); p.detach_(); print(p.requires_grad, p.grad_fn, isinstance(p, torch.nn.Parameter))
a = torch.ones(2, requires_grad=True); b = a * 2; b.detach_(); print(b.requires_grad, b.is_leaf, b)
print({*[1, 2, 2]}, {*"ab"} == {"a", "b"}, {1, *[2], *(3, 4)}, [*range(2), *{5}], (*[1], 2), {**{"a": 1}, "b": 2, **{"a": 3}})
print(sys.implementation.name, sys.implementation.version[:2] == sys.version_info[:2], sys.implementation.cache_tag.startswith("cpython"))
m = torch.nn.Linear(2, 2)
for q in m.parameters(): q.detach_()
print(m(torch.ones(1, 2)).grad_fn, [q.requires_grad for q in m.parameters()])
w = torch.ones(3, requires_grad=True) * 2
try: w[0].detach_()
except RuntimeError as e: print(str(e)[:60])
torch.detach_(w); print(w.requires_grad)

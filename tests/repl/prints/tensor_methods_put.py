# SPDX-License-Identifier: MIT
# Methods that a program puts into torch.Tensor, takes back, and patches.
import torch
from unittest.mock import patch
torch.Tensor.mine = lambda s, k=1: ("mine", k)
print(torch.ones(2).mine(), torch.ones(2).mine(k=3), torch.nn.Parameter(torch.ones(1)).mine(4), hasattr(torch.ones(1), "mine"), torch.Tensor.mine is not None)
o = torch.Tensor.sum
torch.Tensor.sum = lambda s, *a: "patched"
print(torch.Tensor.sum(torch.ones(2)), torch.ones(2).sum(), torch.ones(2).sum(0))
torch.Tensor.sum = o
print(torch.ones(2).sum(), torch.ones(2, 2).sum(0), torch.ones(2, 2).sum(dim=1, keepdim=True))
del torch.Tensor.mine
print(hasattr(torch.ones(1), "mine"))
torch.Tensor.tag = 5
x = torch.ones(1)
print(x.tag)
x.tag = 6
print(x.tag, torch.ones(1).tag)
del torch.Tensor.tag
orig = torch.Tensor.to
def to(self, *args, **kwargs):
    if args and args[0] == "cuda": args = ("cpu",) + args[1:]
    return orig(self, *args, **kwargs)
torch.Tensor.to = to
torch.Tensor.cuda = lambda self, *a, **k: self
print(torch.ones(1).to("cuda").device, torch.ones(1).cuda().device, torch.ones(1).to(torch.float64).dtype)
torch.Tensor.to = orig
with patch.object(torch.Tensor, "backward", autospec=True) as b:
    t = torch.ones(1, requires_grad=True); t.sum().backward()
    print(b.call_count, t.grad)
t.sum().backward(); print(t.grad)

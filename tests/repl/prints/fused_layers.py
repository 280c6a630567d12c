# SPDX-License-Identifier: MIT
# Layers fused with a batch norm, and modules nobody filled.
import torch, torch.nn as nn
from torch.nn.utils import skip_init, fuse_conv_bn_eval, fuse_linear_bn_eval, fuse_conv_bn_weights
class Odd(nn.Module):
    def __init__(self, n): super().__init__()
class Dev(nn.Module):
    def __init__(self, n, device=None):
        super().__init__(); self.w = nn.Parameter(torch.ones(n, device=device)); print("on", device)
for c in (Odd, Dev, int, 3):
    try: print(skip_init(c, 3))
    except Exception as e: print(type(e).__name__, e)
m = skip_init(nn.Linear, 3, 2, bias=False, device="cpu"); print(m, m.weight.device, m.weight.is_leaf)
c, b = nn.ConvTranspose2d(2, 3, 2), nn.BatchNorm2d(3, affine=True)
torch.manual_seed(1)
for p in c.parameters(): nn.init.uniform_(p)
b(torch.rand(4, 3, 5, 5)); c.eval(); b.eval()
x = torch.rand(1, 2, 3, 3)
print(torch.allclose(fuse_conv_bn_eval(c, b, transpose=True)(x), b(c(x)), atol=1e-5), c.weight.shape)
c2 = nn.Conv1d(4, 4, 3, groups=2, bias=False).eval(); b2 = nn.BatchNorm1d(4, affine=False); b2(torch.rand(3, 4, 6)); b2.eval()
try: print(fuse_conv_bn_eval(c2, b2))
except Exception as e: print(type(e).__name__, e)
b3 = nn.BatchNorm1d(4, track_running_stats=False).eval()
try: print(fuse_conv_bn_eval(c2, b3))
except Exception as e: print(type(e).__name__, e)
w, bb = fuse_conv_bn_weights(torch.ones(2, 1, 1, 1), None, torch.zeros(2), torch.ones(2), 0.0, torch.tensor([2.0, 3.0]), None)
print(w, bb)
l = nn.Linear(3, 4).eval(); lb = nn.BatchNorm1d(2).eval()
try: fuse_linear_bn_eval(l, lb)
except Exception as e: print(type(e).__name__, e)
lb = nn.BatchNorm1d(1); lb(torch.rand(4, 1)); lb.eval()
f = fuse_linear_bn_eval(l, lb); print(f.weight.shape, f.bias.shape, type(f).__name__)

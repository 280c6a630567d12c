# SPDX-License-Identifier: MIT
# A function in a field of a module or an object is not bound to it.
import torch, torch.nn as nn, torch.nn.functional as F
class A(nn.Module):
    def __init__(self, f):
        super().__init__(); self.act = f
    def forward(self, x): return self.act(x)
for f in (F.relu, torch.sin, torch.relu, F.silu, F.softplus, F.gelu, F.tanh, F.leaky_relu, F.mish, F.hardswish, torch.tanh, F.sigmoid, torch.matmul,F.elu, F.glu, F.mse_loss,torch.softmax, F.layer_norm, torch.exp):
    try: print(A(f)(torch.ones(2)))
    except Exception as e: print(e)

# SPDX-License-Identifier: MIT
# The default eps is that of float32 for smaller types.
import torch
import torch.nn as nn
import torch.nn.functional as F
x = torch.tensor([[0.02, -0.01, 0.03, 0.05]])
for t in (torch.bfloat16, torch.float16, torch.float32, torch.float64):
    print([round(v, 3) for v in F.rms_norm(x.to(t), (4,)).flatten().tolist()],
          [round(v, 3) for v in nn.RMSNorm(4, dtype=t)(x.to(t)).flatten().tolist()])

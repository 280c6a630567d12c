# SPDX-License-Identifier: MIT
# dtrepl: ranks=1
# What a checkpoint computes again draws what was drawn before, and leaves the
# generator as it was.
import torch
import torch.nn as nn
from torch.utils.checkpoint import checkpoint, checkpoint_sequential

drop = nn.Dropout(0.5)
for reentrant in (False, True):
    for keep in (True, False):
        torch.manual_seed(3)
        w = torch.ones(8, requires_grad=True)
        x = torch.ones(8, requires_grad=True)
        y = checkpoint(lambda t: drop(t * w) if keep else t * w, x,
                       use_reentrant=reentrant, preserve_rng_state=keep)
        between = torch.rand(1).item()
        y.sum().backward()
        print(reentrant, keep, y.tolist(), w.grad.tolist())
        print("%.6f %.6f" % (between, torch.rand(1).item()))

torch.manual_seed(5)
net = nn.Sequential(*[nn.Sequential(nn.Linear(4, 4), nn.Dropout(0.3)) for _ in range(4)])
# Without preserve_rng_state other masks are drawn: a finding (DT1170), so only where nothing is drawn.
for kw, mode in (({}, True), ({"preserve_rng_state": False}, False)):
    torch.manual_seed(6)
    net.zero_grad()
    net.train(mode)
    checkpoint_sequential(net, 2, torch.ones(2, 4, requires_grad=True), use_reentrant=True,
                          **kw).sum().backward()
    print(["%.5f" % p.grad.sum() for p in net.parameters()], "%.6f" % torch.rand(1).item())

# SPDX-License-Identifier: MIT
import torch, torch.nn as nn
from torch.distributed.algorithms._checkpoint.checkpoint_wrapper import checkpoint_wrapper, apply_activation_checkpointing, CheckpointImpl, CheckpointWrapper
from functools import partial
class Blk(nn.Module):
    def __init__(s):
        super().__init__(); s.fc = nn.Linear(2,2); s.register_buffer("b", torch.ones(1))
    def forward(s,x): return s.fc(x)+s.b
class Net(nn.Module):
    def __init__(s):
        super().__init__(); s.layers = nn.ModuleList([Blk(), Blk()]); s.out = nn.Linear(2,1)
    def forward(s,x):
        for l in s.layers: x = l(x)
        return s.out(x)
torch.manual_seed(0)
n = Net()
sd0 = {k: v.clone() for k, v in n.state_dict().items()}
apply_activation_checkpointing(n, checkpoint_wrapper_fn=partial(checkpoint_wrapper, checkpoint_impl=CheckpointImpl.NO_REENTRANT), check_fn=lambda m: isinstance(m, Blk))
print(n)
print(list(n.state_dict().keys()))
print([k for k,_ in n.named_parameters()])
print([k for k,_ in n.named_buffers()])
print([k for k,_ in n.named_modules()])
print([k for k,_ in n.layers[0].named_parameters()])
print(list(n.layers[0].state_dict().keys()), list(n.layers.state_dict(prefix="q.").keys()))
print(n.load_state_dict(sd0))
print(n.load_state_dict({k: v*2 for k, v in n.state_dict().items()}), n.layers[1].fc.weight.equal(sd0["layers.1.fc.weight"]*2))
print(n.layers[0].load_state_dict({"fc.weight": torch.zeros(2,2), "fc.bias": torch.zeros(2), "b": torch.zeros(1)}))
bad = dict(sd0); bad.pop("layers.0.fc.bias"); bad["zz"] = torch.ones(1)
try: n.load_state_dict(bad)
except RuntimeError as e: print(e)
print(n.layers[0].fc, n.layers[0][0] if False else type(n.layers[0]).__name__, isinstance(n.layers[0], CheckpointWrapper))
n(torch.ones(1,2)).sum().backward(); print({k: round(p.grad.sum().item(), 4) for k,p in n.named_parameters()})

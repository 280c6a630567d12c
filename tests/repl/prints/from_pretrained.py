# SPDX-License-Identifier: MIT
import torch.nn as nn, torch
w=torch.arange(6.).view(3,2)
print(nn.Embedding.from_pretrained(w), nn.Embedding.from_pretrained(w, freeze=False, padding_idx=-1).weight)
e = nn.Embedding.from_pretrained(w)
print(e(torch.tensor([0, 2])), e.weight.requires_grad)
class E(nn.Embedding):
    pass
x = E.from_pretrained(w)
print(type(x).__name__, x)
b = nn.EmbeddingBag.from_pretrained(w, mode="sum")
print(b, b(torch.tensor([[0, 1]])), b.weight.requires_grad)
try: nn.Embedding.from_pretrained(w[0])
except AssertionError as err: print(err)
try: nn.Linear.from_pretrained(w)
except AttributeError as err: print(err)
from torch.nn.parallel import DistributedDataParallel as DDP
for f in (lambda: nn.Embedding.from_pretrained(3), lambda: nn.Embedding.from_pretrained(), lambda: DDP._set_params_and_buffers_to_ignore_for_model(nn.Linear(2, 2)), lambda: nn.EmbeddingBag.from_pretrained(torch.ones(2, 2), mode="zz")):
    try: print(f())
    except Exception as e: print(type(e).__name__, e)

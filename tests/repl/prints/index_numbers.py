# SPDX-License-Identifier: MIT
# Tensors of one integer as indices and bounds of slices, and what optimizers
# are called with; and what PyTorch 2.13 printed.
import inspect
import torch
x = torch.arange(10)
i = torch.tensor(2)
print(x[i], x[i:i+3], x[:i], x[i:], x[::i], x[-i:])
print([1,2,3,4][i], [1,2,3,4][i:], "abcdef"[i], "abcdef"[:i], (1,2,3)[i], list(range(i)), range(10)[i])
m = torch.arange(12).view(3, 4)
print(m[:, i], m[:, i:], m[i, i:i+1], m[i:i+1, 0])
m[i:, i:] = 0
print(m)
for j in torch.tensor([0, 2]): print(m[j], m[j:j+1].shape)
print(x[torch.tensor(1):torch.tensor(3)], x[torch.tensor([1]):3], x[torch.tensor(True)].shape)
for bad in [lambda: x[torch.tensor(1.5):], lambda: x[torch.tensor([1, 2]):], lambda: [1,2][torch.tensor(1.0)], lambda: x[1.5:]]:
    try: print(bad())
    except Exception as e: print(type(e).__name__, e)

for name in ("SGD", "Adam", "AdamW", "Adagrad", "RMSprop", "Rprop", "Muon"):
    parameters = inspect.signature(getattr(torch.optim, name)).parameters
    print(name, [(p.name, p.default, p.kind == p.KEYWORD_ONLY)
                 for p in list(parameters.values())[1:]])
print("fused" in inspect.signature(torch.optim.AdamW).parameters)
print(x[True].shape, x[False].shape, m[True, 1].shape, m[1, True].shape,
      m[..., False].shape, m[torch.tensor(False)].shape,
      m[:, torch.tensor(True)].shape, torch.tensor(3)[True],
      torch.tensor(3)[torch.tensor(False)])
m[torch.tensor(True)] = 5
m[False] = 7
print(m)

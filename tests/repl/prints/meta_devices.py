# SPDX-License-Identifier: MIT
# Tensors of meta beside tensors with data: what is refused, and how, what
# stays on meta; and what PyTorch 2.13 printed.
import torch, torch.nn as nn

t, c = torch.ones(2, device="meta"), torch.zeros(2)
number, none = torch.tensor(1.0), torch.tensor(2.0, device="meta")
with torch.device("meta"):
    m = nn.Linear(2, 2)
table = nn.Embedding(3, 2, device="meta")
for name, f in {
        "to": lambda: t.to("cpu"), "cpu": lambda: t.cpu(),
        "to dtype": lambda: t.to(device="cpu", dtype=torch.float64),
        "module to": lambda: m.to("cpu"), "module cpu": lambda: m.cpu(),
        "module dtype": lambda: m.to(torch.float64).weight.dtype,
        "module empty": lambda: m.to_empty(device="cpu").weight.device,
        "copy_": lambda: c.copy_(t), "copy_ there": lambda: t.copy_(c),
        "item": lambda: none.item(), "bool": lambda: bool(none),
        "setitem": lambda: c.__setitem__(0, t[0]),
        "add": lambda: c + t, "add there": lambda: t + c,
        "number": lambda: t + number, "number first": lambda: number + t,
        "meta number": lambda: c * none, "in place": lambda: c.add_(t),
        "cat": lambda: torch.cat([c, t]), "cat there": lambda: torch.cat([t, c]),
        "stack": lambda: torch.stack([c, t]), "eq": lambda: c == t,
        "where": lambda: torch.where(c > 0, t, c),
        "maximum": lambda: torch.maximum(c, t),
        "loss": lambda: nn.functional.mse_loss(c, t),
        "norm": lambda: nn.LayerNorm(2, device="meta")(c),
        "embedding": lambda: table(torch.tensor([1])).shape,
        "index": lambda: t[torch.tensor([0])],
        "like": lambda: torch.zeros_like(t, device="cpu"),
        "as": lambda: c.type_as(t).device, "new": lambda: t.new_zeros(2),
        "expand": lambda: c.expand_as(t)}.items():
    try:
        print(name, f())
    except Exception as e:
        print(name, type(e).__name__, e)

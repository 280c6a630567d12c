# SPDX-License-Identifier: MIT
import io
import collections
import torch
import torch.nn as nn

# What is saved comes back, in the same boxes.
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4))
opt = torch.optim.AdamW(model.parameters(), lr=0.1)
model(torch.randn(5, 3)).sum().backward()
opt.step()
saved = {"model": model.state_dict(), "step": 3, "opt": opt.state_dict(),
         "lr": 0.1, "name": "run", "done": False, "none": None,
         "sizes": torch.Size([2, 3]), "tuple": (1, (2.5, "x"), ()),
         "big": 1 << 70, "minus": -(1 << 65), "long": -(1 << 40),
         "dtype": torch.bfloat16, "device": torch.device("cpu"),
         "set": {1}, "list": [1, [2, []]],
         "ordered": collections.OrderedDict(b=1, a=2)}
buffer = io.BytesIO()
torch.save(saved, buffer)
print(buffer.tell() == len(buffer.getvalue()))
buffer.seek(0)
back = torch.load(buffer, weights_only=True, map_location="cpu")
print(list(back))
for k in back:
    if k not in ("model", "opt"):
        print(k, back[k], type(back[k]) == type(saved[k]))
print(back["opt"]["param_groups"] == saved["opt"]["param_groups"])
for k, v in back["model"].items():
    print(k, v.dtype, v.shape, torch.equal(v, saved["model"][k]))
other = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4))
print(other.load_state_dict(back["model"]))
more = torch.optim.AdamW(other.parameters(), lr=1.0)
more.load_state_dict(back["opt"])
x = torch.randn(2, 3)
for m, o in ((model, opt), (other, more)):
    o.zero_grad()
    m(x).pow(2).sum().backward()
    o.step()
print(all(torch.equal(p, q) for p, q in zip(model.parameters(),
                                             other.parameters())))


def again(v, **options):
    f = io.BytesIO()
    torch.save(v, f)
    f.seek(0)
    return torch.load(f, **options)


# Tensors of every type, views, parameters, nothing.
for dtype in (torch.float64, torch.float32, torch.float16, torch.bfloat16,
              torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8,
              torch.bool, torch.complex64, torch.complex128,
              torch.float8_e4m3fn, torch.float8_e5m2):
    t = torch.arange(4.0).to(dtype)
    u = again(t)
    print(u.dtype, u.tolist() == t.tolist())
base = torch.arange(12.0)
views = again({"base": base, "part": base[3:7], "t": base.view(3, 4).t(),
               "wide": base[:1].expand(5), "same": base})
for k, v in views.items():
    print(k, v.shape, v.stride(), v.storage_offset(), v.tolist())
views["base"][3] = 100.0
print(views["part"][0], views["t"][3, 0], views["same"] is views["base"])
p = again(nn.Parameter(torch.ones(2, 2)))
print(type(p), p.requires_grad, p.is_leaf)
frozen = again(nn.Parameter(torch.ones(2), requires_grad=False))
print(frozen)
print(again(torch.ones(2, requires_grad=True) * 3))
print(again(torch.tensor([1 + 0, 2]).to(torch.complex64).conj()).is_conj())
print(again(torch.zeros(0, 3)), again(torch.tensor(2.5)))
shared = [1, 2]
one, two = again([shared, shared])
print(one is two)
x = [1]
x.append(x)
y = again(x)
print(y[1] is y)

# Errors.
for f in (lambda: torch.load("not_there.pt"),
          lambda: torch.load("not/there.pt"),
          lambda: torch.save([1], "no/such/folder/x.pt"),
          lambda: torch.save([1], 3), lambda: torch.load(3),
          lambda: again([1, {2: base[:2], "u": base.view(torch.int32)}]),
          lambda: torch.load(io.BytesIO())):
    try:
        f()
    except Exception as e:
        print(type(e).__name__, e)

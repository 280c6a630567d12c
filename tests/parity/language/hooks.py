# SPDX-License-Identifier: MIT
# Scopes of autocast, hooks on gradients, modules called with other tensors.
import torch
from torch import nn
from torch.func import functional_call


def told(name, f):
    try:
        print(name, f())
    except Exception as e:
        print(name, type(e).__name__, str(e).split("\n")[0])


def product():
    return (torch.ones(2, 2) @ torch.ones(2, 2)).dtype


# What a program gets by these names casts; a scope of another device or of an
# unknown type leaves the open one alone.
def scopes():
    with torch.autocast("cpu"):
        with torch.amp.autocast("cuda", enabled=False):
            inner = product()
        with torch.autocast("cpu", enabled=False):
            off = product()
        return inner, off, product(), torch.is_autocast_enabled("cpu"), torch.is_autocast_enabled()


@torch.autocast("cpu", dtype=torch.float16)
def decorated(x):
    return nn.functional.linear(x, x).dtype, torch.get_autocast_dtype("cpu")


def einsum(equation, *shapes):
    with torch.autocast("cpu"):
        return torch.einsum(equation, [torch.ones(*s) for s in shapes]).dtype


told("scopes", scopes)
told("decorated", lambda: decorated(x=torch.ones(2, 2)))
for eq, *shapes in (("ij,jk->ik", (2, 3), (3, 2)), ("i,j->ij", (2,), (3,)), ("ij->i", (2, 3)),
                    ("ij,ij->ij", (2, 3), (2, 3)), ("ij,jk", (2, 3), (3, 2)), ("...ij,...jk->...ik", (1, 2, 3), (1, 3, 2))):
    told(eq, lambda: einsum(eq, *shapes))
told("none", torch.autocast)
told("number", lambda: torch.autocast(3))
told("after", lambda: (product(), torch.is_autocast_enabled("cpu")))
with torch.cpu.amp.autocast(False):
    print(product(), torch.cpu.amp.GradScaler(enabled=False).is_enabled())


def scaler():
    s = torch.amp.GradScaler("cpu", init_scale=4.0)
    s.set_growth_factor(3.0)
    s.set_backoff_factor(0.25)
    s.set_growth_interval(5)
    return s.get_growth_factor(), s.get_backoff_factor(), s.get_growth_interval(), s.get_scale()


told("scaler", scaler)


# Hooks: what does not learn has a gradient of zeros and asks for none inside.
class Mixed(nn.Module):
    def forward(self, x, i, y, z):
        self.learns = x.requires_grad, i.requires_grad, z.requires_grad
        return x[i] * z, i, y.detach(), y


def lists(grads):
    return [None if g is None else g.tolist() for g in grads]


m, seen = Mixed(), []
handle = m.register_full_backward_hook(lambda m, gi, go: seen.append((lists(gi), lists(go))))
x, y = (torch.ones(2, requires_grad=True) for _ in range(2))
out = m(x, torch.tensor([0, 1]), y, torch.ones(2))
print(m.learns, [o.requires_grad for o in out])
out[0].sum().backward()
print(seen, x.grad, y.grad)
handle.remove()
lin = nn.Linear(2, 1)
with lin.register_full_backward_hook(lambda m, gi, go: print("inside")):
    lin(x).sum().backward()
lin(x).sum().backward()
with lin.register_forward_hook(lambda m, a, o: print("forward")):
    lin(x)
lin(x)


# functional_call
class Tied(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(2, 2, bias=False), nn.Linear(2, 2, bias=False)
        self.b.weight = self.a.weight

    def forward(self, x, k=1):
        return self.b(self.a(x)) * k


lin, tied, x = nn.Linear(2, 2), Tied(), torch.ones(1, 2)
nn.init.ones_(lin.weight), nn.init.zeros_(lin.bias), nn.init.ones_(tied.a.weight)
zero, one = torch.zeros(2, 2), torch.ones(2, 2)
told("several", lambda: functional_call(lin, ({"weight": zero}, {"bias": torch.ones(2)}), (x,)))
told("twice", lambda: functional_call(lin, [{"weight": zero}, {"weight": one}], x))
told("unknown", lambda: functional_call(lin, {"more": zero}, x).tolist())
told("strict", lambda: functional_call(lin, {"weight": zero}, x, strict=True))
told("module", lambda: functional_call(lin, {"c.weight": zero}, x))
told("tied", lambda: functional_call(tied, {"a.weight": zero}, x))
told("untied", lambda: functional_call(tied, {"a.weight": 2 * one}, x, {"k": 3}, tie_weights=False).tolist())
told("named", lambda: functional_call(tied, {"a.weight": 2 * one}, args=(x,), kwargs={"k": 3}))
told("parted", lambda: functional_call(tied, {"a.weight": zero, "b.weight": one}, x))
told("same", lambda: functional_call(tied, {"a.weight": one, "b.weight": one}, x))
told("back", lambda: (lin.weight.tolist(), tied.a.weight is tied.b.weight))

print(torch.Tensor([1, 2]), torch.Tensor(2, 3).shape, torch.Tensor(torch.Size([2])).shape, torch.Tensor().shape)

# SPDX-License-Identifier: MIT
# A complex number and a tensor of each type, on either side of each sign.
import torch
signs = {
    "add": lambda x: x + 2j, "radd": lambda x: 2j + x, "sub": lambda x: x - 1j, "rsub": lambda x: 1j - x,
    "mul": lambda x: x * (1.1+2j), "div": lambda x: x / (1.1+2j), "rdiv": lambda x: (1+2j) / x,
    "pow": lambda x: x ** (1+2j), "rpow": lambda x: (1.1+2j) ** x, "eq": lambda x: x == (1+0j),
    "req": lambda x: (1+0j) == x, "ne": lambda x: x != 1j, "lt": lambda x: x < 1j, "floor": lambda x: x // 1j,
    "mod": lambda x: x % 1j, "mul_": lambda x: x.clone().mul_(1j), "and": lambda x: x & 1j,
    "matmul": lambda x: x @ 1j, "rmatmul": lambda x: 1j @ x}
for t in (torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.complex32, torch.complex64,
          torch.complex128, torch.int64, torch.bool):
    x = torch.tensor([1, 2]).to(t)
    for name, f in signs.items():
        try: print(t, name, f(x))
        except Exception as e: print(t, name, type(e).__name__, str(e).split("\n")[0])
print(1j in [torch.ones(1)], [1j] == [torch.tensor(1j)], {1: 1j} == {1: torch.tensor(1j)}, 1j != torch.tensor(1j))

# Gradients of a number to the power of a tensor.
for t in (torch.float32, torch.complex64):
    for base in (2.0, 2, True, -2.0, 1+2j, 0, 0.0, 0j):
        x = torch.tensor([1.5, 0.5, 2], dtype=t, requires_grad=True)
        y = base ** x
        y.backward(torch.ones_like(y))
        print(t, base, x.grad)

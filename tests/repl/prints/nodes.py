# SPDX-License-Identifier: MIT
# grad_fn: names of nodes, the graph behind them, hooks on what adds to leaves;
# and what PyTorch 2.13 printed.
import torch

w = torch.ones(2, requires_grad=True)
b = torch.zeros(2, requires_grad=True)
y = (w * 3 + b).sum()
print(type(y.grad_fn).__name__, y.grad_fn.name(), w.grad_fn, w.detach().grad_fn)
print([(type(f).__name__, i) for f, i in y.grad_fn.next_functions])
add = y.grad_fn.next_functions[0][0]
print([(type(f).__name__, i) for f, i in add.next_functions])
print(add.next_functions[1][0].variable is b, str(add)[:20])
acc = w.expand_as(w).grad_fn.next_functions[0][0]
print(type(acc).__name__, acc.name(), acc.variable is w, acc.next_functions)
print(acc is w.view_as(w).grad_fn.next_functions[0][0],
      (y * 2).grad_fn == y.grad_fn, (y * 2).grad_fn.next_functions[0][0] == y.grad_fn)
order = []
h = acc.register_hook(lambda *unused: order.append(w.grad.tolist()))
acc_b = b.expand_as(b).grad_fn.next_functions[0][0]
acc_b.register_hook(lambda *unused: order.append(("b", b.grad.tolist())))
y.backward()
print(sorted(map(str, order)))
h.remove()
(w * 1).sum().backward()
print(len(order), w.grad)
split = torch.ones(4, requires_grad=True).split(2)
print([(t.grad_fn.next_functions[0][1]) for t in (split[0] * 1, split[1] * 1)])
print((w * torch.ones(2)).grad_fn.next_functions[1])


def walk(f, depth=0):
    if f is not None:
        print("  " * depth + type(f).__name__)
        for g, _ in f.next_functions:
            walk(g, depth + 1)


walk((w.exp() @ b).relu().grad_fn)

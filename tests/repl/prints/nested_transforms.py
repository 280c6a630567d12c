# SPDX-License-Identifier: MIT
# Transforms of torch.func inside one another, and of parameters.
import torch
from torch.func import jacfwd, jacrev, hessian, grad, vjp, grad_and_value, vmap
def g(x): return (x ** 3).sum()
x = torch.tensor([1., 2.])
def t(n, f):
    try:
        r = f(); print(n, r, getattr(r, "requires_grad", None))
    except Exception as e: print(n, type(e).__name__, str(e)[:100])
t("rr", lambda: jacrev(jacrev(g))(x)); t("ff", lambda: jacfwd(jacfwd(g))(x)); t("rg", lambda: jacrev(grad(g))(x)); t("fr", lambda: jacfwd(jacrev(g))(x))
t("h", lambda: hessian(g)(x))
t("h2", lambda: hessian(lambda a, b: (a * b ** 2).sum(), 1)(x, x))
s = torch.tensor(2.0)
t("gg", lambda: grad(grad(lambda a: a.sin()))(s))
t("ggg", lambda: grad(grad(grad(lambda a: a.sin())))(s))
t("closed over", lambda: grad(lambda a: grad(lambda b: a * b * b)(s) * a)(s))
t("value", lambda: grad(lambda a: grad_and_value(lambda b: b ** 3)(a)[1] * a)(s))
t("vjp in grad", lambda: grad(lambda a: vjp(lambda b: b.sin(), a)[1](torch.tensor(1.0))[0])(s))
w = torch.tensor(2.0, requires_grad=True)
t("of a parameter", lambda: grad(lambda a: a ** 3)(w))
y = grad(lambda a: a ** 3)(w); y.backward(); print(w.grad)
with torch.no_grad():
    t("without", lambda: grad(lambda a: a ** 3)(w))
t("plain", lambda: grad(lambda a: a ** 3)(s))
try: grad(lambda a: 1 / 0)(s)
except ZeroDivisionError as e: print(e)
t("after", lambda: grad(lambda a: a ** 2)(s))
t("rows", lambda: vmap(grad(lambda a: (a ** 2).sum()))(torch.ones(2, 3)))
def t2(f):
    try: print(f())
    except Exception as e: print(type(e).__name__, e)
x = torch.ones(2)
t2(lambda: grad(lambda x: x)(x)); t2(lambda: grad_and_value(lambda x: x)(x)); t2(lambda: grad(lambda x: 3)(x)); t2(lambda: grad(lambda x: (x.sum(), 1))(x)); t2(lambda: grad(lambda x: x.sum(), has_aux=True)(x)); t2(lambda: grad(lambda x: (x, 1), has_aux=True)(x))
t2(lambda: grad(lambda x: torch.tensor(3.0))(x)); t2(lambda: jacrev(lambda x: torch.ones(3))(x)); t2(lambda: hessian(lambda x: x * 2)(x)); t2(lambda: hessian(lambda x: x.sum())(x)); t2(lambda: grad(grad(lambda x: x * 3))(torch.tensor(2.0)))
t2(lambda: vjp(lambda x: torch.ones(2), x)[1](torch.ones(2)))
t2(lambda: grad_and_value(lambda x: torch.tensor(3.0))(x))

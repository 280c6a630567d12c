# SPDX-License-Identifier: MIT
"""torch.func over trees: vmap of dicts and lists, jvp, vjp, what draws, and operators that run row by row."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.func import *
P = {'w': torch.arange(6.).view(3, 2), 'b': [torch.ones(3), (torch.zeros(3, 4), 5)]}
x = torch.arange(4.).view(2, 2)
print(vmap(lambda p, x: p['w'] * x.sum() + p['b'][0], in_dims=({'w': 0, 'b': [0, (0, None)]}, None))(P, x))
Q = {'w': torch.arange(6.).view(3, 2), 'b': torch.ones(3)}
print(vmap(lambda p, x: (p['w'] @ x + p['b']).sum(), in_dims=(0, None))(Q, x), vmap(lambda p: p['w'].sum() + p['b'])(Q))
print(vmap(lambda p, q, x: p['w'].sum() + x.sum(), in_dims=(0, 0, None))(Q, {}, x))
print(vmap(lambda a: {'s': a.sum(), 't': [a * 2]})(x), vmap(lambda p, x: p['w'] + x, in_dims=(None, 0))({'w': torch.ones(2)}, x))
print(vmap(lambda ab: ab[0] * ab[1])((x, x)), vmap(lambda ab, c: ab[0] + c, in_dims=((0, None), 1))((x, 3), x))
print(vmap(lambda p: {k: v * 2 for k, v in p.items()})(Q))
def t(f):
    try: print(f())
    except Exception as e: print(type(e).__name__, e)
t(lambda: vmap(lambda p: p['w'])({'w': x, 'b': 3}))
t(lambda: vmap(lambda p, y: p['w'], in_dims=({'a': 0}, 0))({'w': x}, x))
t(lambda: vmap(lambda p, y: p['w'], in_dims=({'w': 3}, 0))({'w': x}, x))
t(lambda: vmap(lambda p, y: p['w'], in_dims=(0, 0))({'w': torch.ones(3, 2)}, x))
t(lambda: vmap(lambda p: p, in_dims=None)(x))
t(lambda: vmap(lambda p: p, in_dims=(None,))(x))
t(lambda: vmap(lambda p: p, in_dims=[0])(x))
t(lambda: vmap(lambda p: p, in_dims='a')(x))
t(lambda: vmap(lambda p, q: p, in_dims=(0,))(x, x))
t(lambda: vmap(lambda: 1)())
t(lambda: vmap(lambda p: 3)(x))
t(lambda: vmap(lambda p: p, in_dims=(0.5,))(x))
print(vmap(lambda p, y: grad(lambda p: (p['w'] * y).sum())(p), in_dims=(0, None))({'w': x}, torch.ones(2)), vmap(lambda p: p['w'], out_dims=1)({'w': x}))
print(vmap(lambda q: q['w'].sum(), chunk_size=2)(Q), vmap(lambda p, x: p[0] + x, (0, None))([x, x], 1))
torch.manual_seed(0); x = torch.randn(3, 4); im = torch.randn(2, 3, 1, 5, 5)
def told(f):
    try: print(f())
    except Exception as e: print(type(e).__name__, str(e)[:120])
told(lambda: vmap(lambda z: torch.where(z > 0, z, 0.1 * z))(x)); told(lambda: vmap(lambda z: z[0] + z[1:].sum())(x)); told(lambda: vmap(lambda z: z[[0, 2]])(x))
told(lambda: vmap(lambda z: torch.stack([z, z * 2]))(x).shape); told(lambda: vmap(lambda z: torch.cat([z, z]).norm())(x)); told(lambda: vmap(lambda z: z.max(0))(x)[1]); told(lambda: vmap(lambda z: torch.topk(z, 2).values)(x))
told(lambda: vmap(lambda z: z.view(2, 2) @ z.view(2, 2).T)(x).sum()); told(lambda: vmap(lambda z: z.masked_fill(z > 0, 0.))(x)); told(lambda: vmap(lambda z: F.layer_norm(z, (4,)))(x)); told(lambda: vmap(lambda z: z.std(unbiased=False))(x))
conv = nn.Conv2d(1, 2, 3); p = {k: q.detach() for k, q in conv.named_parameters()}
told(lambda: vmap(lambda z: functional_call(conv, p, (z,)))(im).shape); told(lambda: {k: v.shape for k, v in vmap(grad(lambda p, z: functional_call(conv, p, (z[None],)).square().sum()), (None, 0))(p, im[0]).items()})
net = nn.Sequential(nn.Conv2d(1, 2, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(2, 3), nn.LayerNorm(3)); q = {k: v.detach() for k, v in net.named_parameters()}
g = vmap(grad(lambda p, z, y: F.cross_entropy(functional_call(net, p, (z[None],)), y[None])), (None, 0, 0))(q, im[0], torch.tensor([0, 2, 1])); told(lambda: {k: (tuple(v.shape), round(v.norm().item(), 4)) for k, v in g.items()})
told(lambda: vmap(lambda z: z.add_(1))(x.clone())); told(lambda: vmap(lambda z: torch.randn(2) + z[:2])(x)); torch.manual_seed(1); told(lambda: vmap(lambda z: torch.randn(2) + z[:2] * 0, randomness='different')(x)); torch.manual_seed(1); told(lambda: vmap(lambda z: torch.randn((2,)), randomness='same')(x))
torch.manual_seed(1); told(lambda: vmap(lambda z: torch.rand_like(z), randomness='different')(x)); told(lambda: vmap(lambda z: F.dropout(z, .5), randomness='different')(torch.ones(2, 4)).shape); told(lambda: vmap(lambda z: z, randomness='x')(x)); told(lambda: vmap(lambda z: F.dropout(z))(x))
told(lambda: vmap(lambda z, i: z[i] if False else z.gather(0, i), (0, 0))(x, torch.tensor([[0, 1], [1, 2], [3, 0]]))); told(lambda: vmap(lambda i: F.one_hot(i, 3).float())(torch.tensor([0, 2]))); told(lambda: vmap(lambda z: torch.linalg.det(z.view(2, 2)))(x)); told(lambda: vmap(lambda z: torch.einsum('i,j->ij', z, z))(x).sum())
told(lambda: vmap(lambda a, b: F.cosine_similarity(a, b, dim=0))(x, x + 1)); told(lambda: vmap(lambda z: [z.T.shape, 1][0] and z.flip(0))(x)); told(lambda: vmap(lambda z: F.scaled_dot_product_attention(z, z, z))(torch.randn(2, 1, 3, 4)).shape); told(lambda: vmap(lambda z: z.argmax())(x)); told(lambda: vmap(lambda z: z.tolist())(x))
told(lambda: vmap(lambda z: z.numpy())(x)); told(lambda: vmap(lambda z: z.new_zeros(2) + z[0])(x)); told(lambda: vmap(lambda z: torch.zeros_like(z) + 1)(x).shape); told(lambda: vmap(lambda z: z.to(torch.float64).dtype == torch.float64 and z)(x).shape); told(lambda: vmap(lambda z: 1 / z)(torch.ones(3))); told(lambda: vmap(lambda z: z.sum() if z.size(0) == 4 else z)(x))
def step(z):
    y = torch.zeros(4); y = y + z
    for i in range(2): y = torch.tanh(y) * z.abs().sqrt() + torch.clamp(z, -1, 1)
    return y.prod(), y.cumsum(0)
told(lambda: vmap(step)(x));  told(lambda: vmap(jacrev(lambda z: z.sin()))(x)[1]); told(lambda: vmap(lambda z: vmap(lambda w: torch.where(w > 0, w, -w))(z))(x))
x = torch.arange(1., 7.).view(2, 3)
print(vmap(grad(lambda z: grad(lambda w: (w ** 3).sum())(z).sum()))(x)); print(vmap(hessian(lambda z: (z ** 3).sum() * z[0]))(x))
print(vmap(lambda z: jvp(lambda w: w ** 2, (z,), (z,))[1])(x)); print(vmap(jacfwd(lambda z: z.cumsum(0) ** 2))(x)[0])
print(vmap(grad(lambda z, w: (z * w).sum().sin(), argnums=(0, 1)), in_dims=(0, None))(x, torch.ones(3)))
v = torch.tensor([1., 2., 3.])
f = lambda v: (v ** 3).sum() + v.prod()
print(jvp(torch.sin, (v,), (torch.ones(3),)), jvp(grad(f), (v,), (torch.tensor([1., 0., 0.]),)))
print(grad(lambda x: jvp(torch.sin, (x,), (torch.ones(3),))[1].sum())(v))
print(jvp(lambda a, b: (a * b, a.sum()), (v, v + 1), (torch.ones(3), torch.zeros(3))))
out, fn = vjp(lambda a, b: (a * b, {'s': a.sum()}), v, v + 1); print(out, fn((torch.ones(3), {'s': torch.tensor(2.)})), fn((torch.ones(3), {'s': torch.tensor(0.)})))
lin = nn.Linear(2, 2); p = {k: q.detach() for k, q in lin.named_parameters()}; torch.manual_seed(0)
print({k: tuple(q.shape) for k, q in jacrev(lambda p: functional_call(lin, p, (torch.ones(2),)))(p).items()})
o, j = linearize(lambda t: t.sin() * 2, v); print(o, j(torch.ones(3)), j(v))
print(jvp(lambda x: (x * 2, x.sum()), (v,), (v,), has_aux=True))
print(vjp(lambda p: p['a'] * 2, {'a': v})[1](torch.ones(3)))
print(vmap(lambda x, t: jvp(torch.exp, (x,), (t,))[1])(v, torch.ones(3)), vmap(lambda x: vjp(torch.exp, x)[1](torch.ones(()))[0])(v))
x = v.clone().requires_grad_(); a, b = jvp(torch.tanh, (x,), (torch.ones(3),)); print(b.requires_grad, torch.autograd.grad(b.sum(), x)[0])
print(jvp(lambda x: x.relu().cumsum(0).softmax(0), (v - 2,), (v,))[1])
def brief(f):
    try: print(f())
    except Exception as e: print(type(e).__name__, str(e)[:95])
brief(lambda: vmap(lambda z: z.unique_consecutive())(x)); brief(lambda: vmap(lambda z: z[z > 0])(x + 1)); brief(lambda: vmap(lambda z: torch.nonzero(z))(torch.ones(2, 3)))
brief(lambda: jvp(torch.sin, (v,), (v, v))); brief(lambda: vjp(lambda a: (a, a.sum()), v)[1](v)); brief(lambda: jvp(lambda p: p['a'], ({'a': v},), ({'b': v},)))
brief(lambda: vmap(nn.BatchNorm1d(2).eval())(torch.ones(3, 2, 2)).shape)

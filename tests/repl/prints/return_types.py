# SPDX-License-Identifier: MIT
# What operators with several named results give: torch.return_types.
import torch

x = torch.tensor([[1., 5., 3.], [4., 2., 6.]])
r = torch.max(x, dim=1)
print(r, type(r).__name__, type(r))
print(r.values, r.indices, r[0], len(r), isinstance(r, tuple))
v, i = r
print(v, i)
for r in (x.min(0), x.median(1), torch.mode(x, 1), torch.topk(x, 2),
          x.sort(descending=True), torch.kthvalue(x, 2), x.cummax(1),
          torch.cummin(x, 0), torch.nanmedian(x, dim=1), torch.aminmax(x),
          torch.frexp(x), torch.linalg.slogdet(torch.eye(2) * 2),
          torch.slogdet(torch.eye(2) * 3), torch.linalg.inv_ex(torch.eye(2)),
          torch.linalg.cholesky_ex(torch.eye(2))):
    print(r)
q = torch.linalg.qr(x)
print(type(q).__name__, q.Q.shape, q.R.shape)
s = torch.linalg.svd(x, full_matrices=False)
print(type(s).__name__, s.U.shape, s.S.shape, s.Vh.shape)
e = torch.linalg.eigh(x @ x.T)
print(type(e).__name__, e.eigenvalues.shape, e.eigenvectors.shape)
# Results without names are tuples; one result is a tensor.
print(type(torch.var_mean(x)), torch.max(x))
print(x.max(dim=1, keepdim=True).values.squeeze(-1))
a = torch.sort(x, 0)
print(f"{a.values=}")
print(hasattr(a, "values"), hasattr(a, "_fields"))
try:
    a.foo
except AttributeError as error:
    print(error)
print(torch.return_types.max, isinstance(a, torch.return_types.sort))

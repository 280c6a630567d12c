# SPDX-License-Identifier: MIT
# Weights of covariance and what they refuse; flips, slopes and convolutions
# of arguments that do not fit.
import torch
def r(n, f):
    try: print(n, f())
    except Exception as e: print(n, type(e).__name__, e)
x = torch.tensor([[0., 2., 1.], [1., 0., 2.]])
fw = torch.tensor([1, 2, 1]); aw = torch.tensor([.5, 1., 2.])
r("f", lambda: torch.cov(x, fweights=fw)); r("a", lambda: torch.cov(x, aweights=aw)); r("fa", lambda: torch.cov(x, fweights=fw, aweights=aw, correction=0))
r("fa1", lambda: torch.cov(x, fweights=fw, aweights=aw)); r("1d", lambda: torch.cov(x[0], aweights=aw)); r("big", lambda: torch.cov(x, correction=5, fweights=fw))
r("e1", lambda: torch.cov(x, fweights=aw)); r("e2", lambda: torch.cov(x, aweights=fw)); r("e3", lambda: torch.cov(x, fweights=torch.tensor([1, 2]))); r("e4", lambda: torch.cov(x, fweights=torch.tensor([[1, 2, 3]]))); r("e5", lambda: torch.cov(x, fweights=torch.tensor([-1, 2, 3]))); r("e6", lambda: torch.cov(x, aweights=torch.tensor([-1., 2, 3])))
r("e7", lambda: torch.cov(x, aweights=torch.tensor([1., 2])))
r("zero", lambda: torch.cov(x, fweights=torch.tensor([0, 0, 0])))
r("ud", lambda: torch.flipud(torch.tensor(1.))); r("lr", lambda: torch.fliplr(torch.ones(2))); r("ud1", lambda: torch.flipud(torch.tensor([1., 2]))); r("lr2", lambda: torch.fliplr(torch.tensor([[1., 2]])))
r("gr", lambda: torch.gradient(torch.ones(3, 3), dim=(1, 1))); r("gr2", lambda: torch.gradient(torch.ones(3, 3), dim=(0, -2))); r("gr3", lambda: torch.gradient(torch.ones(3, 3), dim=[1, 0]))
r("ldl", lambda: torch.linalg.ldl_solve(torch.eye(2), torch.tensor([0, 1], dtype=torch.int32), torch.ones(2, 1)))
r("ldl2", lambda: torch.linalg.ldl_solve(torch.eye(2), torch.tensor([1, 2], dtype=torch.int32), torch.ones(2, 1)))

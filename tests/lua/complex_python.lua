-- TEST: ranks=1 world={threads} needs=data
-- SPDX-License-Identifier: MIT
-- Complex numbers of Python beside tensors, adjoints as properties; a
-- pseudo-inverse that reads one triangle, a roll of nothing, and a step that
-- is differentiable.  The values are PyTorch 2.13's.

local T = require "tests.lua.lib.check"
local python = require "torch"

local env = python.environment()
python.run([=[
import torch
z = torch.complex(torch.tensor([[1., 0.], [0., 1.]]),
                  torch.tensor([[2., 3.], [0., 0.]]))
def wrong(f):
    try:
        f()
    except Exception as e:
        return type(e).__name__ + ": " + str(e)
    return "nothing"
def step(name, scope=torch.enable_grad):
    p = torch.nn.Parameter(torch.ones(2))
    o = getattr(torch.optim, name)([p], lr=0.1, differentiable=True)
    p.sum().backward()
    with scope():
        o.step()
]=], env)

local function is(expr, want)
  T.eq(python.value("str(" .. expr .. ")", env), want, expr)
end

is("z.tolist()", "[[(1+2j), 3j], [0j, (1+0j)]]")
is("z[0, 0].item()", "(1+2j)")
is("torch.zeros(0, dtype=torch.complex64).tolist()", "[]")
is("torch.ones(1).item()", "1.0")
is("(z * (1+1j)).tolist()", "[[(-1+3j), (-3+3j)], [0j, (1+1j)]]")
is("(1j * z[0]).tolist()", "[(-2+1j), (-3+0j)]")
is("(2j - z)[0].tolist()", "[(-1+0j), -1j]")
is("(torch.ones(2, dtype=torch.float64) * 0.1j).tolist()", "[0.1j, 0.1j]")
is("(torch.arange(2) * 1j).dtype", "torch.complex64")
is("(z == 1+2j).tolist()", "[[True, False], [False, False]]")
is("(z != 1+2j).tolist()", "[[False, True], [True, True]]")
is("(torch.ones(1).half() * 1j).dtype", "torch.complex32")
is("z.mH[1, 0].item()", "-3j")
is("z.H[0, 0].item()", "(1-2j)")
is("(torch.tensor([[1., 2.], [3., 4.]]) @ torch.eye(2).mH).tolist()",
  "[[1.0, 2.0], [3.0, 4.0]]")

-- the lower triangle only
python.run("h = torch.tensor([[2., 1.], [5., 3.]])\n"
  .. "whole = torch.tensor([[2., 5.], [5., 3.]])\n"
  .. "p = torch.linalg.pinv(h, hermitian=True)", env)
is("torch.allclose(p, torch.linalg.inv(whole), atol=1e-5)", "True")
python.run("h = torch.tensor([[2., 9.], [1., 3.]]) + 1j * "
  .. "torch.tensor([[0., 0.], [1., 0.]])\n"
  .. "p = torch.linalg.pinv(h, hermitian=True)", env)
is("torch.allclose(p[0, 1], torch.tensor(-0.25) + 0.25j, atol=1e-5)", "True")

is("wrong(lambda: torch.linalg.pinv(torch.ones(2, 3), hermitian=True))",
  "RuntimeError: linalg.eigh: A must be batches of square matrices, but they are "
  .. "2 by 3 matrices")
is("tuple(torch.linalg.pinv(torch.ones(0, 3), hermitian=True).shape)", "(3, 0)")

is("wrong(lambda: torch.roll(torch.tensor(1.), 0, 0))",
  "IndexError: Dimension specified as 0 but tensor has no dimensions")
is("torch.roll(torch.tensor(1.), 1).item()", "1.0")

for _, name in ipairs {"SGD", "Adam", "AdamW", "RMSprop", "ASGD"} do
  for _, scope in ipairs {"torch.enable_grad", "torch.no_grad"} do
    is(("wrong(lambda: step('%s', %s))"):format(name, scope), "RuntimeError: a "
      .. "leaf Variable that requires grad is being used in an in-place "
      .. "operation.")
  end
end

T.finish()

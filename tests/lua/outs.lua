-- TEST: ranks=1 world={threads} needs=data
-- SPDX-License-Identifier: MIT
-- out=: results go where the program wants them, a tuple to several tensors;
-- another type is refused in PyTorch 2.13's words, another size is changed.

local T = require "tests.lua.lib.check"
local python = require "torch"

local env = python.environment()
python.run([=[
import torch
x = torch.tensor([[3., 1., 2.], [0., 5., 4.]])
def wrong(f):
    try:
        f()
    except Exception as e:
        return str(e)
    return "nothing"
def pair(*size):
    return (torch.empty(*size), torch.empty(*size, dtype=torch.int64))
]=], env)

local function is(expr, want)
  T.eq(tostring(python.value(expr, env)), tostring(want), expr)
end
local function wrong(call, want)
  python.run("text = wrong(lambda: " .. call .. ")", env)
  T.eq(python.value("text", env), want, call)
end

-- a tuple: each result in its tensor
for _, name in ipairs {"sort(x, 1", "topk(x, 3, 1", "cummax(x, 1"} do
  python.run("o = pair(2, 3)\nr = torch." .. name .. ", out=o)", env)
  is("r[0] is o[0] or r[0].data_ptr() == o[0].data_ptr()", true)
  is(("torch.equal(o[0], torch.%s)[0])"):format(name), true)
  is(("torch.equal(o[1], torch.%s)[1])"):format(name), true)
end
python.run("o = pair(2)\ntorch.median(x, 1, out=o)", env)
is("o[0].tolist() == [2., 4.] and o[1].tolist() == [2, 2]", true)
-- another size
python.run("o = pair(0)\ntorch.kthvalue(x, 1, 1, out=o)", env)
is("o[0].tolist() == [1., 0.] and o[1].tolist() == [1, 0]", true)

-- also where the result is made of other calls: the given tensor is resized
for _, call in ipairs {"sum(x, 1", "cat([x, x], 0", "dot(x[0], x[1]",
    "narrow_copy(x, 1, 0, 2", "nonzero_static(x, size=3"} do
  python.run(("o = torch.empty(7, 7, dtype=torch.%s)\nr = torch.%s, out=o)")
    :format(call:find "nonzero" and "int64" or "float32", call), env)
  is(("torch.equal(o, torch.%s))"):format(call), true)
  is("r is o or r.data_ptr() == o.data_ptr()", true)
end

-- sizes that depend on data: the tensor that was given holds the result
python.run("o = torch.empty(0)\nr = torch.masked_select(x, x > 2, out=o)", env)
is("o.tolist() == [3., 5., 4.]", true)
python.run("o = torch.empty(0, dtype=torch.int64)\ntorch.nonzero(x, out=o)", env)
is("tuple(o.shape) == (5, 2) and o[-1].tolist() == [1, 2]", true)

-- makers take the type of out=
python.run([=[
a = torch.empty(3, dtype=torch.int8)
r = torch.arange(3, out=a)
b = torch.empty(0)
torch.full((2,), 1.5, out=b)
c = torch.empty(2, 3)
torch.eye(2, 3, out=c)
d = torch.empty(0, dtype=torch.int8)
torch.randperm(4, out=d)
]=], env)
is("r is a or r.data_ptr() == a.data_ptr()", true)
is("a.tolist() == [0, 1, 2] and a.dtype == torch.int8", true)
is("b.tolist() == [1.5, 1.5]", true)
is("c.tolist() == [[1., 0., 0.], [0., 1., 0.]]", true)
is("sorted(d.tolist()) == [0, 1, 2, 3] and d.dtype == torch.int8", true)

-- what PyTorch refuses
local I8 = "torch.empty(3, dtype=torch.int8)"
wrong("torch.zeros(3, dtype=torch.float32, out=" .. I8 .. ")",
  "dtype Float does not match dtype of out parameter (Char)")
wrong("torch.masked_select(x, x > 2, out=" .. I8 .. ")",
  "masked_select(): self and result must have the same scalar type")
wrong("torch.nonzero(x, out=" .. I8 .. ")", "nonzero: Expected out tensor to "
  .. "have scalar type Long but got scalar typeChar")
wrong("torch.dot(x[0], x[1], out=" .. I8 .. ")",
  "result dtype Char does not match input dtype Float")
wrong("torch.sort(x[0], out=(" .. I8 .. ", pair(3)[1]))",
  "Expected out tensor to have dtype float, but got signed char instead")
wrong("torch.max(x, 0, out=(" .. I8 .. ", pair(3)[1]))",
  "Expected out tensor to have dtype float, but got signed char instead")
wrong("torch.zeros_like(x, out=x)",
  "zeros_like() got an unexpected keyword argument 'out'")
wrong("torch.sort(x[0].requires_grad_(), out=pair(3))", "sort(): functions with "
  .. "out=... arguments don't support automatic differentiation, but one of "
  .. "the arguments requires grad.")

T.finish()

-- SPDX-License-Identifier: MIT
-- dt/parity/texts.lua: the short Python functions that lines of
-- values/decompose.jsonl and values/shapes_errors.jsonl call "py:name", as
-- the operators they reach tell them.

local python = require "dt.python"
local ops = require "dt.python.ops"

local M = {}

local functions = {
  bool = "def bool(x):\n  return True if x else False",
  int = "def int_(x):\n  return int(x)",
  len = "def len_(x):\n  return len(x)",
  repr = "def repr_(x):\n  repr(x)\n  return None",
  iter = "def iter_(x):\n  return [row for row in x]",
  eq = "def eq(x, y):\n  return x == y",
  mod = "def mod(x, y):\n  return x % y",
  rsub = "def rsub(x):\n  return 1 - x",
  rdiv = "def rdiv(x):\n  return 1 / x",
  matmul_op = "def matmul_op(x, y):\n  return x @ y",
  iadd = "def iadd(x, y):\n  z = x.clone()\n  z += y\n  return z",
  setitem = "def setitem(x, v):\n  y = x.clone()\n  y[1] = v\n  return y",
  rope = [[
def rope(x, freqs):
  y = torch.view_as_complex(x.reshape(*x.shape[:-1], -1, 2))
  f = freqs.view(1, x.shape[1], 1, x.shape[3] // 2)
  return torch.view_as_real(y * f).flatten(3)]],
  rope_real = [[
def rope_real(x, cos, sin):
  a = x[..., : x.shape[-1] // 2]
  b = x[..., x.shape[-1] // 2 :]
  return x * cos[None, :, None, :] + x * sin[None, :, None, :] ]],
  manual_rms = [[
def manual_rms(x, w):
  return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * w]],
  moe_gate = [[
def moe_gate(x, w):
  p = torch.softmax(x @ w.t(), dim=-1)
  v, i = torch.topk(p, 2, dim=-1)
  return v / v.sum(-1, keepdim=True)]],
  backward_nograd = "def f(x):\n  x.sum().backward()",
  backward_nonscalar = "def f(x):\n  (x * 2).backward()",
  backward_twice = [[
def f(x):
  y = (x * x).sum()
  y.backward()
  y.backward()]],
  leaf_inplace = "def f(x):\n  x[0] = 1.0",
  view_leaf_inplace = "def f(x):\n  x[0].add_(1)",
  int_requires_grad = "def f(x):\n  x.requires_grad_(True)",
  saved_modified = [[
def f(x):
  y = x.exp()
  y.add_(1)
  y.sum().backward()]],
  expanded_inplace = "def f(x):\n  x.expand(3).add_(1)",
  view_t = "def f(x):\n  return x.t().view(6)",
  view_slice = "def f(x):\n  return x[:, ::2].view(4)",
  view_dtype_t = "def f(x):\n  return x.t().view(torch.float64)",
}

-- The function called so, or nil.
function M.named(name)
  local text = functions[name]
  if not text then return nil end
  local env = python.environment()
  python.run(text, env)
  return env.vars[text:match("def%s+([%w_]+)%(")]
end

M.slice, M.getitem = ops.slice, ops.getitem

return M

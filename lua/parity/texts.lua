-- SPDX-License-Identifier: MIT
-- parity/texts.lua: the short Python functions that lines of
-- values/decompose.jsonl and values/shapes_errors.jsonl call "py:name", as
-- the operators they reach have them.

local python = require "torch"
local ops = require "python.ops"

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
  rope_real = [=[
def rope_real(x, cos, sin):
  n = x.shape[-1] // 2
  y = torch.cat([-x[..., n:], x[..., :n]], dim=-1)
  return x * cos[None, :, None, :] + y * sin[None, :, None, :]]=],
  mha = [[
def mha(x, w_in, b_in, w_out, b_out):
  B, T, C = x.shape
  q, k, v = F.linear(x, w_in, b_in).split(C, dim=-1)
  q = q.view(B, T, 2, C // 2).transpose(1, 2)
  k = k.view(B, T, 2, C // 2).transpose(1, 2)
  v = v.view(B, T, 2, C // 2).transpose(1, 2)
  y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
  return F.linear(y.transpose(1, 2).reshape(B, T, C), w_out, b_out)]],
  causal_mask_attn = [[
def causal_mask_attn(q, k, v):
  s = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
  return torch.softmax(s, -1) @ v]],
  total_norm = [[
def total_norm(*ps):
  return torch.nn.utils.get_total_norm([p.detach() for p in ps])]],
  clip_grad_norm = [[
def clip_grad_norm(*ps):
  for p in ps:
    p.grad = torch.ones_like(p.detach())
  return torch.nn.utils.clip_grad_norm_(ps, 1.0)]],
  sgd_step = [[
def sgd_step(p):
  p.grad = torch.ones_like(p.detach())
  torch.optim.SGD([p], lr=0.1, momentum=0.9).step()
  return p.detach()]],
  adamw_step_fused = [[
def adamw_step_fused(p):
  p.grad = torch.ones_like(p.detach())
  torch.optim.AdamW([p], lr=1e-3, fused=True).step()
  return p.detach()]],
  zero_grad = [[
def zero_grad(p):
  p.grad = torch.ones_like(p.detach())
  torch.optim.SGD([p], lr=0.1).zero_grad(set_to_none=False)
  return p.grad]],
  checkpoint = [[
def checkpoint(x, w):
  from torch.utils.checkpoint import checkpoint as run
  def f(x, w):
    return torch.relu(x @ w.t())
  return run(f, x, w, use_reentrant=False)]],
  deepcopy_nonleaf = [[
def f(x):
  import copy
  return copy.deepcopy(x * 2)]],
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

-- dtrepl: ranks=4
-- TEST: ranks=4 world={threads,mpi} needs=data same=1
-- SPDX-License-Identifier: MIT
--
-- Founding case 1.  Context parallelism cuts q, k, v along the sequence.  The
-- device's attention is an operator of its own, npu_fusion_attention, and
-- DTensor knows nothing about it.  A user meets two errors, one behind the
-- other, and needs three cures.

require "dt.npu"                    -- defines the operator and its backward
local fill = dt.testing.fill

local mesh = dt.init_device_mesh("cpu", {4}, {mesh_dim_names = {"cp"}})
local q0 = fill({2, 4, 8, 4}, 9, 4, 4)
local k0 = fill({2, 4, 8, 4}, 7, 3, 4)
local v0 = fill({2, 4, 8, 4}, 11, 5, 8)
local mask = dt.ones({8, 8}, {dtype = dt.bool}):tril():logical_not()

local attention = dt.ops.npu.npu_fusion_attention.default

local function title(text) print("\n== " .. text) end

-- One device: what every cure must reproduce.
local function one_device()
  local q, k, v = q0:clone(), k0:clone(), v0:clone()
  for _, t in ipairs {q, k, v} do t:requires_grad_() end
  local out = attention(q, k, v, 4, "BNSD", mask, 0.5)
  local loss = (out * out):sum()
  loss:backward()
  return {out = out:detach(), loss = loss:item(), grads = {q.grad, k.grad,
    v.grad}}
end

local function place(pl)
  local list = {}
  for i, t in ipairs {q0, k0, v0} do
    list[i] = dt.distribute_tensor(t, mesh, pl):detach():requires_grad_()
  end
  return table.unpack(list)
end

local function attempt(what, f)
  local ok, err = pcall(f)
  if ok then
    print(what .. ": works")
  else
    print(what .. " fails:")
    print(tostring(err))
  end
  return ok
end

local want = one_device()
print(("one device: loss %.6f"):format(want.loss))

title "1 the mask is a plain tensor"
local q, k, v = place("S(2)")
attempt("forward", function ()
  return attention(q, k, v, 4, "BNSD", mask, 0.5)
end)

title "2 cured: every input is distributed; then the second error appears"
local dmask = dt.distribute_tensor(mask, mesh, "R")
attempt("forward", function ()
  return attention(q, k, v, 4, "BNSD", dmask, 0.5)
end)

title "3 cured: a strategy for the forward operator"
-- On one mesh dimension: everything replicated, or batch (dim 0) cut.  Heads
-- would need head_num divided too, so S(1) is not offered.
local R, S0, None = Replicate(), Shard(0), dt.None
dt.register_sharding(attention, function (_, _, _, _, _, atten_mask)
  local m = atten_mask and R or None
  return {
    {{R, R, R}, {R, R, R, None, None, m, None}},
    {{S0, S0, S0}, {S0, S0, S0, None, None, m, None}},
  }
end)
local out
attempt("forward", function ()
  out = attention(q, k, v, 4, "BNSD", dmask, 0.5)
end)
print("output " .. out:_header())
attempt("backward", function () (out * out):sum():backward() end)

title "4 cured: a strategy for the backward operator too"
dt.register_sharding(dt.ops.npu.npu_fusion_attention_grad.default,
  function (_, _, _, _, _, _, atten_mask)
    local m = atten_mask and R or None
    return {
      {{R, R, R}, {R, R, R, R, None, None, m, R, R, R, None}},
      {{S0, S0, S0}, {S0, S0, S0, S0, None, None, m, S0, S0, S0, None}},
    }
  end)
q, k, v = place("S(2)")
out = attention(q, k, v, 4, "BNSD", dmask, 0.5)
local loss = (out * out):sum()
attempt("backward", function () loss:backward() end)
print(("loss %.6f"):format(loss:full_tensor():item()))
dt.testing.assert_close(out:full_tensor(), want.out)
for i, t in ipairs {q, k, v} do
  dt.testing.assert_close(t.grad:full_tensor(), want.grads[i])
end
print("output and gradients equal one device")

title "5 inside a Llama-like attention block on the npu device profile"
dt._set_profile(nil, "npu")
local Block = nn.Module:extend("Attention")

function Block:__init__(dim, heads)
  self.heads = heads
  for _, name in ipairs {"wq", "wk", "wv", "wo"} do
    self[name] = nn.Linear(dim, dim, {bias = false})
  end
end

function Block:forward(x)
  local b, s, d = table.unpack(x.shape)
  local function heads(t)
    return t:view({b, s, self.heads, d // self.heads}):transpose(1, 2)
  end
  local o = F.scaled_dot_product_attention(heads(self.wq(x)),
    heads(self.wk(x)), heads(self.wv(x)), {is_causal = true})
  return self.wo(o:transpose(1, 2):reshape({b, s, d}))
end

dt.manual_seed(0)
local block = Block(16, 4)
local x = fill({2, 8, 16}, 13, 6, 4)
local reference = block(x):detach()
dt.distribute_module(block, mesh)
local dx = dt.distribute_tensor(x, mesh, "S(1)")

attempt("block", function () return block(dx) end)
print("cured: the mask that SDPA builds inside counts as replicated")
dt.implicit_replication(function ()
  local y = block(dx)
  print("block output " .. y:_header())
  dt.testing.assert_close(y:full_tensor(), reference)
end)
print("equals one device")

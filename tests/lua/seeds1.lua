-- TEST: ranks=4 world={threads,mpi} needs=data torch=2.13 timeout=120
-- SPDX-License-Identifier: MIT
-- Founding case a: every step of tests/parity/2.13/seeds/seed1.jsonl: a custom
-- attention operator without a strategy, under context parallelism.

local T = require "tests.lua.lib.seeds"
local npu = require "dt.npu"
local data = T.load "seed1"
local fill = dt.testing.fill

local q0 = fill({2, 4, 8, 4}, 9, 4, 4)
local k0 = fill({2, 4, 8, 4}, 7, 3, 4)
local v0 = fill({2, 4, 8, 4}, 11, 5, 8)
local mask0 = dt.ones({8, 8}, {dtype = dt.bool}):tril():logical_not()
local mesh1 = dt.init_device_mesh("cpu", {4}, {mesh_dim_names = {"cp"}})
local mesh2 = dt.init_device_mesh("cpu", {2, 2},
  {mesh_dim_names = {"cp", "tp"}})
local None = dt.None

local forward = dt.ops.npu.npu_fusion_attention.default
local backward = dt.ops.npu.npu_fusion_attention_grad.default

local reference = data["seed1/00/00"]

local function plain_reference()
  local list = {}
  for i, t in ipairs {q0, k0, v0} do list[i] = t:clone():requires_grad_() end
  local out = forward(list[1], list[2], list[3], 4, "BNSD", mask0, 0.5)
  local loss = (out * out):sum()
  loss:backward()
  T.tensor(out, reference.output, "reference output")
  T.same_numbers({loss:item()}, {reference.loss}, "reference loss")
  for i, name in ipairs {"q", "k", "v"} do
    T.tensor(list[i].grad, reference.grads[name], "reference grad " .. name)
  end
end

-- A tensor as the record of an argument says.
local function argument(t, want)
  if want == None or want == nil then return None end
  if want.t then return t end
  local mesh = #want.pl == 2 and mesh2 or mesh1
  return dt.distribute_tensor(t, mesh, want.pl)
end

local function arguments(args)
  local q = argument(q0, args.q):detach():requires_grad_()
  local k = argument(k0, args.k):detach():requires_grad_()
  local v = argument(v0, args.v):detach():requires_grad_()
  return {q = q, k = k, v = v, mask = argument(mask0, args.mask)}
end

local function check_outputs(outs, want, what)
  for i, w in ipairs(want) do
    if type(w) == "table" then
      T.tensor(outs[i], w, ("%s output %d"):format(what, i - 1))
    else
      T.check(outs[i] == w, ("%s output %d"):format(what, i - 1), outs[i], w)
    end
  end
end

-- One forward step; returns arguments and outputs when it worked.
local function forward_step(id, op, kw_mask)
  local rec = data[id]
  local what = id .. " " .. rec.step
  local a = arguments(rec.args)
  local outs, err, colls = T.run(function ()
    if kw_mask then
      return {op(a.q, a.k, a.v, 4, "BNSD", {atten_mask = a.mask, scale = 0.5})}
    end
    return {op(a.q, a.k, a.v, 4, "BNSD", a.mask, 0.5)}
  end)
  if not T.outcome(rec, err, what) then return nil end
  if rec.collectives then T.collectives(colls, rec.collectives, what) end
  if rec.outputs and outs then check_outputs(outs, rec.outputs, what) end
  return a, outs
end

local function backward_step(id, a, outs)
  local rec = data[id]
  local what = id .. " " .. rec.step
  if outs == nil then return T.check(false, what .. ": no forward") end
  local loss = (outs[1] * outs[1]):sum()
  if rec.loss then T.tensor(loss, rec.loss, what .. " loss") end
  local _, err, colls = T.run(function () loss:backward() end)
  if not T.outcome(rec, err, what) then return end
  if rec.collectives then T.collectives(colls, rec.collectives, what) end
  for name, want in pairs(rec.grads or {}) do
    T.tensor(a[name].grad, want, what .. " grad " .. name)
  end
  for name, equal in pairs(rec.full_grad_equals_reference or {}) do
    if equal then
      T.same_numbers(a[name].grad:full_tensor():tolist(),
        reference.grads[name].values, what .. " full grad " .. name)
    end
  end
end

-- Rules that cut everything alike: one row per placement.
local function rows(list, nout, nothers)
  return function (_, _, _, _, _, mask)
    local out = {}
    for i, p in ipairs(list) do
      local o, m = {}, mask and Replicate() or None
      for j = 1, nout do o[j] = p end
      for j = nout + 1, nout + (nothers or 0) do o[j] = None end
      out[i] = {o, {p, p, p, None, None, m, None}}
    end
    return out
  end
end

local function grad_rows(list)
  return function (_, _, _, _, _, _, mask)
    local out = {}
    for i, p in ipairs(list) do
      local m = mask and Replicate() or None
      out[i] = {{p, p, p}, {p, p, p, p, None, None, m, p, p, p, None}}
    end
    return out
  end
end

local R, S = Replicate(), Shard
local all = {R, S(0), S(1)}

local function programs_1_to_4()
  for i = 0, 3 do forward_step("seed1/01/0" .. i, forward) end
  for i, name in ipairs {"q", "k", "v"} do
    local rec = data["seed1/01/0" .. (3 + i)]
    local a = {q = q0, k = k0, v = v0}
    for key, t in pairs(a) do
      if key ~= name then a[key] = dt.distribute_tensor(t, mesh1, "S(1)") end
    end
    local _, err = T.run(function ()
      return forward(a.q, a.k, a.v, 4, "BNSD", None, 0.5)
    end)
    T.outcome(rec, err, rec.id)
  end
  dt.register_sharding(forward, rows(all, 3))
  forward_step("seed1/02/00", forward)
  backward_step("seed1/02/02", forward_step("seed1/02/01", forward))
  forward_step("seed1/02/03", forward)
  backward_step("seed1/02/05", forward_step("seed1/02/04", forward))
  dt.register_sharding(backward, grad_rows(all))
  for _, i in ipairs {0, 2, 4, 7, 9, 11} do
    local id = "seed1/03/%02d"
    backward_step(id:format(i + 1), forward_step(id:format(i), forward))
  end
  forward_step("seed1/03/06", forward)
  local rec = data["seed1/03/13"]
  local out, err, colls = T.run(function ()
    local q, k, v = argument(q0, {pl = {"S(2)"}}),
      argument(k0, {pl = {"S(2)"}}), argument(v0, {pl = {"S(2)"}})
    return (dt.implicit_replication(function ()
      return (forward(q, k, v, 4, "BNSD", mask0, 0.5))
    end))
  end)
  if T.outcome(rec, err, rec.id) then
    T.tensor(out, rec.output, rec.id)
    T.collectives(colls, rec.collectives, rec.id)
  end
  dt.register_sharding(forward, rows({R, S(0)}, 3))
  dt.register_sharding(backward, grad_rows {R, S(0)})
  for _, i in ipairs {0, 2, 4} do
    local id = "seed1/04/%02d"
    backward_step(id:format(i + 1), forward_step(id:format(i), forward))
  end
end

-- Program 5: wrong rules.  The one whose function takes no arguments is left
-- out: Lua functions take any number.
local function program_5()
  local function wrong(id, rule)
    dt.register_sharding(forward, rule)
    forward_step("seed1/" .. id .. "/00", forward)
  end
  local p = S(1)
  wrong("05", function () return {{{p, p, p}, {p, p, p}}} end)
  wrong("06", function ()
    return {{{p}, {p, p, p, None, None, None, None}}}
  end)
  wrong("07", function () return {{{p, p, p}, {p, p, p}}} end)
  wrong("08", function ()
    return {{{p, p, p}, {p, p, p, None, None, R, None}}}
  end)
  wrong("09", function () return {} end)
  wrong("10", function () return nil end)
  local far = S(5)
  wrong("12", function ()
    return {{{far, far, far}, {far, far, far, None, None, None, None}}}
  end)
  local P = Partial()
  wrong("13", function ()
    return {{{P, P, P}, {P, P, P, None, None, None, None}}}
  end)
end

local function programs_6_and_7()
  dt.library.define("npu::npu_fusion_attention_kw(Tensor query, Tensor key, "
    .. "Tensor value, int head_num, str input_layout, *, "
    .. "Tensor? atten_mask=None, float scale=1.0) -> (Tensor, Tensor, Tensor)",
    {impl = npu.forward})
  local kw = dt.ops.npu.npu_fusion_attention_kw.default
  dt.register_sharding(kw, function (_, _, _, _, _, mask)
    return {{{R, R, R}, {R, R, R, None, None, mask and R or None}}}
  end)
  for i = 0, 2 do forward_step("seed1/14/0" .. i, kw, true) end
  dt.register_sharding(kw, function ()
    return {{{R, R, R}, {R, R, R, None, None, R}}}
  end)
  forward_step("seed1/15/00", kw, true)
  dt.library.define("npu::npu_fusion_attention_ints(Tensor query, Tensor key, "
    .. "Tensor value, int head_num, str input_layout, "
    .. "Tensor? atten_mask=None, float scale=1.0) -> (Tensor, Tensor, Tensor, "
    .. "int, int, int)", {impl = function (...)
      local out, top, total = npu.forward(...)
      return out, top, total, 7, 0, 64
    end, meta = function (q)
      local s = q.shape
      local stats = dt.empty({s[1], s[2], s[3], 1})
      return dt.empty_like(q), stats, stats, 7, 0, 64
    end})
  local ints = dt.ops.npu.npu_fusion_attention_ints.default
  forward_step("seed1/16/00", ints)
  dt.register_sharding(ints, rows({R}, 3))
  forward_step("seed1/16/01", ints)
  dt.register_sharding(ints, rows({R}, 3, 3))
  forward_step("seed1/16/02", ints)
end

local function program_8()
  local function run(id, pl, kw)
    local q, k, v = dt.distribute_tensor(q0, mesh1, pl),
      dt.distribute_tensor(k0, mesh1, pl), dt.distribute_tensor(v0, mesh1, pl)
    local _, err = T.run(function ()
      return F.scaled_dot_product_attention(q, k, v, kw)
    end)
    T.outcome(data[id], err, id)
  end
  local keep = mask0:logical_not()
  run("seed1/17/00", "S(1)", {attn_mask = keep})
  run("seed1/17/01", "S(2)", {attn_mask = keep})
  run("seed1/17/02", "R", {is_causal = true})
end

local function program_9()
  local sdpa = require "dt.functional.sdpa"
  local function run(id, causal, math)
    local rec = data[id]
    local out, err, colls = T.run(function ()
      local q, k, v = q0:clone(), k0:clone(), v0:clone()
      return dt.context_parallel(mesh1, {buffers = {q, k, v},
        buffer_seq_dims = {2, 2, 2}}, function ()
          if rec.local_q then
            T.check(tostring(q.shape) == ("torch.Size([%s])"):format(
              table.concat(rec.local_q, ", ")), id .. " local q")
          end
          local scope <close> = math and sdpa.sdpa_kernel("MATH") or nil -- luacheck: ignore
          return F.scaled_dot_product_attention(q, k, v, {is_causal = causal})
        end)
    end)
    if T.outcome(rec, err, id) then
      T.tensor(out, rec.output, id)
      T.collectives(colls, rec.collectives, id)
    end
  end
  run("seed1/18/00", true, false)
  run("seed1/18/01", true, true)
  run("seed1/18/02", false, true)
end

plain_reference()
programs_1_to_4()
program_5()
programs_6_and_7()
program_8()
program_9()
T.finish()

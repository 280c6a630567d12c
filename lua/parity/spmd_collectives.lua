-- SPDX-License-Identifier: MIT
-- parity/spmd_collectives.lua: the transitions of SPMD types against the
-- lines spmd/coll/…: the types and numbers of every rank, the gradients, and
-- the errors.

local dt = require "dt"
local autograd = require "dt.autograd"
local facts = require "parity.facts"
local common = require "parity.spmd_common"
local types = require "parity.spmd_types"
local transitions = require "dt.spmd.transitions"

local M = {}
local None = dt.None

-- ---- the numbers ----

-- q of a rank: coordinates on the axes where the numbers differ, each with the
-- stride of the mesh.
local function place(mesh, device, differs)
  local at, q, stride = device:get_coordinate(), 0, 1
  for i = #mesh.names, 1, -1 do
    if differs(mesh.names[i]) then q = q + at[i] * stride end
    stride = stride * mesh.sizes[i]
  end
  return q
end

local function made(shape, dtype, f)
  local list, n = {}, 1
  for _, s in ipairs(shape) do n = n * s end
  for k = 0, n - 1 do list[k + 1] = f(k) end
  local t = n == 0 and dt.zeros(shape) or dt.tensor(list):view(shape)
  return t:to(dtype)
end

local function input(line, mesh, device)
  local known = line.x.type ~= None and line.x.type or {}
  local q = place(mesh, device, function (name)
    local t = known[name]
    return t == nil or t == "V" or t == "P"
  end)
  local shape = line.x.shape
  if type(shape[1]) == "table" then shape = shape[dt.rank() + 1] end
  return made(shape, common.dtypes[line.x.dtype or "f32"], function (k)
    return (k * k + 3 * k + 7 * q) % 11 - 4
  end)
end

-- Backward types: what R is becomes P.
local function incoming(mesh, device, y, known)
  local q = place(mesh, device, function (name)
    local t = known[name]
    return t == nil or t == "V" or t == "R"
  end)
  return made(y.shape, y.dtype, function (k) return (5 * k + 2 + 3 * q) % 7 - 3 end)
end

-- ---- the call ----

local function keywords(line)
  local a = {}
  for k, v in pairs(line.kwargs) do
    if v ~= None then a[k] = v end
  end
  for _, name in ipairs(line.per_rank_kwargs or {}) do
    a[name] = a[name][dt.rank() + 1]
  end
  local function dtypes(t)
    for _, key in ipairs {"op_dtype", "out_dtype"} do
      if t[key] then t[key] = common.dtypes[t[key]] end
    end
    if type(t.backward_options) == "table" then dtypes(t.backward_options) end
  end
  dtypes(a)
  return a
end

-- This rank's outcome: {error =} or the result's facts.
local function outcome(text, line, mesh)
  local w = types.world(mesh)
  local base = input(line, mesh, w.device)
  local grad = line.x.grad ~= false and base:is_floating_point()
  if grad then base:requires_grad_() end
  local x = grad and base * 1 or base
  types.annotate(w, x, line.x.type, common.keys(text, "type",
    text:find('"x":', 1, true)), line.x.spec)
  local axis = line.id:match("/byname/([%w_]+)")
    or types.group(w, mesh, line.axis)
  types.enter(w, line)
  local ok, y = pcall(transitions[line.fn], x, axis, keywords(line))
  types.leave(w)
  if not ok then return {error = common.failure(y)} end
  return {y = y, base = base, device = w.device, same = y == x,
    facts = {type = types.of(w, y), spec = types.spec_of(w, y),
      dtype = facts.dtype_name(y.dtype), value = common.numbers(y)}}
end

local function backward(line, mesh, o)
  local g = incoming(mesh, o.device, o.y, line.out.type ~= None
    and line.out.type or {})
  local ok, e = pcall(autograd.backward, {o.y}, {g})
  if not ok then return {error = common.failure(e)} end
  return {grad = common.numbers(o.base.grad)}
end

-- ---- the comparison ----

local function collect(list, key)
  local out = {}
  for i, v in ipairs(list) do out[i] = v[key] or None end
  return out
end

local function first_error(ranks)
  for _, r in ipairs(ranks) do
    if r.error then return r.error end
  end
end

local function compare_rank_errors(want, ranks)
  for i, r in ipairs(ranks) do
    local e = r.error and r.error.class .. ": " .. r.error.text or None
    local why = common.differs("error on rank " .. i - 1, want[i], e)
    if why then return why end
  end
end

local function compare_facts(line, ranks)
  local want = line.out
  for _, got in ipairs(ranks) do
    local why = common.differs("type", types.wanted(want.type), got.type)
      or common.differs("spec", types.wanted_spec(want.spec), got.spec)
      or want.dtype and common.differs("dtype", want.dtype, got.dtype)
    if why then return why end
  end
  return want.value and common.compare_values("value", want.value,
    collect(ranks, "value"))
end

local function compare_gradient(line, mesh, o)
  local want = line.out
  if not want.grad and not want.grad_error_ranks then return end
  local ranks = facts.gather(backward(line, mesh, o))
  if want.grad_error_ranks then
    return compare_rank_errors(want.grad_error_ranks, ranks)
  end
  local e = first_error(ranks)
  if e then return "backward: " .. e.text end
  return common.compare_values("grad", want.grad, collect(ranks, "grad"))
end

local function check(text, line, mesh)
  local o = outcome(text, line, mesh)
  local ranks = facts.gather(o.error and {error = o.error} or o.facts)
  local e = first_error(ranks)
  if line.error_ranks then return compare_rank_errors(line.error_ranks, ranks) end
  if line.error or e then
    return common.compare_error(line.error or {class = "no error", text = ""},
      e)
  end
  return compare_facts(line, ranks)
    or line.out.same == true and not o.same and "not the same tensor"
    or compare_gradient(line, mesh, o)
end

-- Check a file; returns a list of {what, why}.  Collective.
function M.check(path, only) return common.each(path, only, check) end

return M

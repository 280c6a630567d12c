-- SPDX-License-Identifier: MIT
-- torch/sharding.lua: inner parts of torch.distributed.tensor that
-- programs import: register_sharding with what its rules may return, the mask
-- of row-wise embeddings, context parallel's modules.

local dt = require "dt"
local util = require "dt.util"
local V = require "python.values"
local attrs = require "python.attrs"
local args = require "python.args"
local eval = require "python.eval"

local M = {}
local None = dt.None

-- ---- register_sharding ----

-- What PyTorch meets when it reads the list that a rule returned.
local function check_rules(v)
  local items, n = V.items(v)
  for i = 1, n do
    local row = items[i]
    if not V.is_seq(row) then
      util.raise("TypeError", "cannot unpack non-iterable %s object",
        V.type_name(row))
    end
    local outs, ins = row[1], row[2]
    if not (V.is_seq(outs) and V.is_seq(ins)) then
      util.raise("TypeError", "unsupported operand type(s) for +: '%s' and "
        .. "'%s'", V.type_name(outs), V.type_name(ins))
    end
    for j = 1, ins.n do
      if not util.is_placement(ins[j]) and ins[j] ~= None then
        util.raise("AttributeError", "'%s' object has no attribute "
          .. "'is_replicate'", V.type_name(ins[j]))
      end
    end
  end
end

-- How many arguments of an overload are given by position; the names of the
-- others.
local function split_arguments(op)
  local n, named = 0, {}
  local inner = tostring(op.schema or ""):match("%((.*)%)%s*%->") or ""
  local keywords = false
  for one in (inner .. ", "):gmatch("(.-), ") do
    if one == "*" then keywords = true
    elseif keywords then named[#named + 1] = one:match("([%w_]+)=?[^=]*$")
    elseif one ~= "" then n = n + 1 end
  end
  return n, named
end

-- register_sharding(op)(f): f gets the specs as they are.
M.register_sharding = args.def("register_sharding", {"op"}, function (a)
  if type(a.op) == "string" then
    util.raise("AttributeError", "'str' object has no attribute '_schema'")
  end
  return V.builtin(function (rule)
    return dt.register_sharding(V.to_lua(a.op), function (...)
      local list = table.pack(...)
      for i = 1, list.n do
        if list[i] == nil then list[i] = None end
      end
      local n, named = split_arguments(V.to_lua(a.op))
      local kw = V.dict()
      for i, name in ipairs(named) do
        local v = list[n + i]
        if v ~= nil and v ~= None then V.dict_set(kw, name, v) end
      end
      if #named == 0 then n = list.n end
      local out = eval.call(rule[1], V.list(list, n), kw)
      check_rules(out)
      return V.to_lua(out)
    end)
  end, "register_sharding")
end)

-- ---- the mask of an embedding ----

local function not_there()
  util.raise("RuntimeError", "MaskBuffer has not been materialized")
end

-- MaskBuffer(): a mask that is kept as often as it was given.
local function new_mask()
  local b = {data = None, refcount = 0, disposed = None}
  local function def(name, body)
    b[name] = V.builtin(function (a) return body(a[1]) end, name)
  end
  def("materialize_mask", function (mask)
    if b.refcount == 0 then
      b.data = mask
    elseif not b.data:eq(mask):all():item() then
      util.raise("RuntimeError", "MaskBuffer has been materialized with "
        .. "conflicting data")
    end
    b.refcount = b.refcount + 1
    return None
  end)
  def("release_mask", function ()
    if b.refcount == 0 then not_there() end
    b.refcount = b.refcount - 1
    if b.refcount == 0 then b.data = None end
    return None
  end)
  def("apply_mask", function (t)
    if b.refcount == 0 then not_there() end
    if b.data.ndim == t.ndim then
      t:masked_fill_(b.data, 0.0)
    else
      t:masked_fill_(b.data:unsqueeze(-1), 0.0)
    end
    return None
  end)
  return attrs.namespace(setmetatable(b, {__name = "MaskBuffer"}))
end

M.MaskBuffer = args.class("MaskBuffer", {
  new = args.def("MaskBuffer.__init__", {}, new_mask, 1)})
attrs.provide("torch.distributed.tensor._ops._mask_buffer",
  attrs.namespace {MaskBuffer = M.MaskBuffer})

return M

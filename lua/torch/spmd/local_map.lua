-- SPDX-License-Identifier: MIT
-- torch/spmd/local_map.lua: local_map(…, spmd_types=True) of
-- torch.distributed.tensor.experimental: the local tensors have the types that
-- the placements say, the body is checked, and what comes out must have the
-- types of out_placements.

local dt = require "dt"
local util = require "dt.util"
local V = require "python.values"
local attrs = require "python.attrs"
local axes = require "dt.spmd.axes"
local state = require "dt.spmd.state"

local core = dt._spmd

local function name_of(p) return p:repr():match("^[%w_]+") end

-- Which gradients go with a placement, and the type that the pair is.
local PAIRS = {
  Replicate = {Partial = "R", Replicate = "I", default = "Partial",
    valid = "Partial (spmd.R) or Replicate (spmd.I)"},
  Shard = {Shard = "V", Partial = "V", default = "Shard",
    valid = "Shard (spmd.V)"},
  Partial = {Replicate = "P", default = "Replicate",
    valid = "Replicate (spmd.P)"},
}

local function kind_of(p, grad)
  local row = PAIRS[name_of(p)]
  if not row then
    util.raise("ValueError", "local_map(spmd_types=True): unsupported placement "
      .. "%s", tostring(p))
  end
  if not grad then
    return row[row.default], row.default == "Partial" and dt.Partial()
      or row.default == "Replicate" and dt.Replicate() or p
  end
  local kind = row[name_of(grad)]
  if not kind then
    util.raise("ValueError", "local_map(spmd_types=True) cannot represent this "
      .. "forward/backward placement pair:\nin_placements=%s, "
      .. "in_grad_placements=%s.\n\nThe local_map boundary assigns one SPMD "
      .. "type to each local tensor, which also fixes the expected backward "
      .. "placement. For in_placements=%s, valid grad placements are %s.\n\nIf "
      .. "the forward and backward layouts intentionally diverge in a way not "
      .. "represented by one SPMD type, expand the local_map region to include "
      .. "that divergence, so the local_map region boundary respects tied "
      .. "FWD-BWD typing.", tostring(p), tostring(grad), tostring(p), row.valid)
  end
  return kind, grad
end

local FITS = {R = {Replicate = true}, I = {Replicate = true},
  V = {Shard = true, Partial = true}, P = {Partial = true}}

local function check_output(t, placements, ids)
  if core.types(t) == nil then
    util.raise("ValueError", "Output tensor has no spmd_types annotation but "
      .. "out_placements expects one.")
  end
  for i, p in ipairs(placements) do
    local kind = core.type_on(t, ids[i])
    if core.axis_info(ids[i]).size > 1 and kind
       and not FITS[kind][name_of(p)] then
      util.raise("ValueError", "Output tensor placement mismatch on %s: "
        .. "out_placements=%s but spmd_types inferred spmd.%s",
        core.axis_info(ids[i]).name, tostring(p), kind)
    end
  end
end

-- The body in a block of its own, over the mesh's axes.
local function run_checked(f, list, mesh)
  local ids, by_name = axes.of_mesh(mesh)
  local entered = state.set_mesh(ids, {by_name = by_name, device_mesh = mesh})
  local mode = state.enter {strict = true, ["local"] = true}
  local out = table.pack(pcall(V.call, f, list))
  state.leave(mode)
  state.leave_mesh(entered)
  if not out[1] then error(out[2], 0) end
  return out[2], ids
end

local function is_list(v)
  return type(v) == "table" and util.is_placement(v[1])
end

local function typed(f, o)
  return V.builtin(function (a)
    local ins, grads, mesh = o.in_placements, {}, o.device_mesh
    local kinds = {}
    for i = 1, a.n do
      local t = a[i]
      if util.is_dtensor(t) then
        mesh = mesh or t.device_mesh
        local pl = ins and is_list(ins[i]) and ins[i] or t.placements
        local given = o.in_grad_placements
        given = given and is_list(given[i]) and given[i] or nil
        kinds[i], grads[i] = {}, {}
        for d, p in ipairs(pl) do
          kinds[i][d], grads[i][d] = kind_of(p, given and given[d])
        end
      else
        grads[i] = dt.None
      end
    end
    local outs = is_list(o.out_placements) and {o.out_placements}
      or o.out_placements
    local function body(...)
      local list, ids = table.pack(...), axes.of_mesh(mesh)
      for i = 1, list.n do
        local types = {}
        for d, kind in ipairs(kinds[i] or {}) do types[d] = {ids[d], kind} end
        if kinds[i] then core.set(list[i], types) end
      end
      local v = run_checked(f, V.list(list, list.n), mesh)
      local results = V.is_tuple(v) and v or {v, n = 1}
      for i = 1, results.n do
        if util.is_tensor(results[i]) and outs and is_list(outs[i]) then
          check_output(results[i], outs[i], ids)
        end
      end
      return table.unpack(results, 1, results.n)
    end
    local out = table.pack(dt.local_map(body, {out_placements = o.out_placements,
      in_placements = ins, in_grad_placements = grads, device_mesh = mesh,
      redistribute_inputs = o.redistribute_inputs})(table.unpack(a, 1, a.n)))
    if out.n == 1 then return out[1] end
    return V.tuple(out, out.n)
  end, "local_map")
end

local NAMES = {"out_placements", "in_placements", "in_grad_placements",
  "device_mesh", "redistribute_inputs"}

local local_map = V.builtin(function (a, kw)
  local wanted = kw and V.dict_get(kw, "spmd_types")
  if wanted ~= nil then V.dict_remove(kw, "spmd_types") end
  if wanted ~= true then return V.call(dt.local_map, a, kw) end
  local o = {}
  for i, name in ipairs(NAMES) do
    local v = a[i + 1]
    if v == nil then v = V.dict_get(kw, name) end
    if v ~= nil and v ~= dt.None then o[name] = V.to_lua(v) end
  end
  if a.n > 0 and a[1] ~= dt.None then return typed(a[1], o) end
  return V.builtin(function (b) return typed(b[1], o) end, "local_map")
end, "local_map")

attrs.provide("torch.distributed.tensor.experimental.local_map", local_map)

return local_map

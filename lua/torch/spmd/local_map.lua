-- SPDX-License-Identifier: MIT
-- torch/spmd/local_map.lua: local_map(…, spmd_types=True) of
-- torch.distributed.tensor.experimental: the local tensors have the types that
-- the placements say, the body is checked, and what comes out must have the
-- types of out_placements.

local dt = require "dt"
local util = require "dt.util"
local V = require "python.values"
local attrs = require "python.attrs"
local asserts = require "dt.spmd.assert"
local axes = require "dt.spmd.axes"
local state = require "dt.spmd.state"
local trees = require "torch.common"

local core = dt._spmd

local function name_of(p) return p:repr():match("^[%w_]+") end

-- Which gradients go with a placement, and the type that the pair is.
local PAIRS = {
  Replicate = {Partial = "R", Replicate = "I", default = "R",
    valid = "Partial (spmd.R) or Replicate (spmd.I)"},
  Shard = {Shard = "V", Partial = "V", default = "V",
    valid = "Shard (spmd.V)"},
  Partial = {Replicate = "P", default = "P", valid = "Replicate (spmd.P)"},
}

local function kind_of(p, grad)
  local row = PAIRS[name_of(p)]
  if not row then
    util.raise("ValueError", "local_map(spmd_types=True) does not support "
      .. "placement type %s: %s", name_of(p), tostring(p))
  end
  local kind = row[grad and name_of(grad) or "default"]
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
  return kind
end

local function given(list, i)
  local v = list and list[i]
  if v ~= nil and not util.is_none(v) then return v end
end

-- The local tensors get the types that in_placements say; without these, none.
local function annotate(o, locals, ids)
  for i = 1, locals.n do
    local places = given(o.in_placements, i)
    if places and util.is_tensor(locals[i]) then
      local grads, types = given(o.in_grad_placements, i), {}
      for d, p in ipairs(places) do
        types[d] = {ids[d], kind_of(p, grads and grads[d])}
      end
      asserts.assert_type(locals[i], asserts.normalized(types))
    end
  end
end

-- ---- what comes out ----

-- The placements that a type may be behind the boundary, and that of its
-- gradient; of a varying one that is the placement itself.
local OUT = {R = {Replicate = dt.Partial()}, I = {Replicate = dt.Replicate()},
  P = {Partial = dt.Replicate()}, V = {Shard = true, Partial = dt.Replicate()}}

local function no_type_on(mesh, d, placement, known)
  local names, dims = mesh.mesh_dim_names, {}
  local function name(i) return names and names[i] or math.tointeger(i - 1) end
  for i = 1, mesh.ndim do
    if known[i] then
      dims[#dims + 1] = names and ("'%s'"):format(names[i]) or tostring(i - 1)
    end
  end
  util.raise("ValueError", "Output tensor has no spmd_types annotation on "
    .. "DeviceMesh dimension %s but out_placements expects %s. Actual "
    .. "annotations on this DeviceMesh are: [%s]", tostring(name(d)),
    tostring(placement), table.concat(dims, ", "))
end

-- Types of an output, by the dims of the mesh.
local function types_by_dim(t, ids)
  local types, known = core.types(t), {}
  if not types or #types == 0 then
    util.raise("ValueError", "Output tensor has no spmd_types annotation but "
      .. "out_placements expects one. Ensure the function's output is derived "
      .. "from annotated inputs or is explicitly annotated.")
  end
  for i, id in ipairs(ids) do known[i] = core.type_on(t, id) or nil end
  return known
end

-- The placements of an output's gradient.
local function gradients_of(t, placements, ids, mesh)
  local known, grads = types_by_dim(t, ids), {}
  for d, p in ipairs(placements) do
    local kind = known[d]
    if not kind then no_type_on(mesh, d, p, known) end
    local grad = OUT[kind][name_of(p)]
    if not grad then
      util.raise("ValueError", "Output tensor placement mismatch on %s: "
        .. "out_placements=%s but spmd_types inferred spmd.%s",
        core.axis_info(ids[d]).name, tostring(p), kind)
    end
    grads[d] = grad == true and p or grad
  end
  return grads
end

local function check_kind(v, places)
  if util.is_none(places) and util.is_tensor(v) then
    util.raise("ValueError", "out_placements has None for a Tensor output. "
      .. "Provide placements for Tensor outputs and use None only for "
      .. "non-Tensor outputs.")
  elseif not util.is_none(places) and not util.is_tensor(v) then
    util.raise("ValueError", "out_placements specifies %s but the "
      .. "corresponding output is %s, not a Tensor", V.repr(V.from_lua(places)),
      V.type_name(V.from_lua(v)))
  end
end

-- The body in a block of its own, over the mesh's axes.
local function run_checked(f, list, mesh, ids, by_name)
  local entered = state.set_mesh(ids, {by_name = by_name, device_mesh = mesh})
  local mode = state.enter {strict = true, ["local"] = true}
  local out = table.pack(pcall(V.call, f, V.list(list, list.n)))
  state.leave(mode)
  state.leave_mesh(entered)
  if not out[1] then error(out[2], 0) end
  local v = out[2]
  return V.is_seq(v) and {n = v.n, table.unpack(v, 1, v.n)} or {v, n = 1}
end

local function typed(f, o)
  local ids, by_name
  local types = {
    run = function (g, locals, mesh)
      ids, by_name = axes.of_mesh(mesh)
      annotate(o, locals, ids)
      return run_checked(g, locals, mesh, ids, by_name)
    end,
    gradients = function (outs, placements, mesh)
      local grads = {}
      for i = 1, outs.n do
        check_kind(outs[i], placements[i])
        grads[i] = util.is_tensor(outs[i])
          and gradients_of(outs[i], placements[i], ids, mesh) or dt.None
      end
      return grads
    end,
  }
  local run = dt._local_map_typed(f, o, types)
  return V.builtin(function (a)
    local out = table.pack(run(table.unpack(a, 1, a.n)))
    if out.n == 1 then return out[1] end
    return V.tuple(out, out.n)
  end, "local_map")
end

-- ---- arguments that are trees ----

local function is_tree(v)
  return V.is_list(v) or V.is_tuple(v) or V.is_dict(v) and not V.is_set(v)
end

-- local_map(f, ...): lists, tuples and dicts among the arguments are taken
-- apart, so that placements are given to their leaves, and f gets them whole.
local function of_trees(f, rest, kw)
  local plain = V.call(dt.local_map, V.list({f, table.unpack(rest, 1, rest.n)},
    rest.n + 1), kw)
  return V.builtin(function (a, named)
    local any = false
    for i = 1, a.n do any = any or is_tree(a[i]) end
    if not any then return V.call(plain, a, named) end
    local whole = V.list({table.unpack(a, 1, a.n)}, a.n)
    local g = V.builtin(function (flat)
      local i = 0
      return V.call(f, trees.walk(whole, function ()
        i = i + 1
        return flat[i]
      end), named)
    end, "local_map")
    return V.call(V.call(dt.local_map, V.list({g, table.unpack(rest, 1,
      rest.n)}, rest.n + 1), kw), trees.leaves(whole))
  end, "local_map")
end

local NAMES = {"out_placements", "in_placements", "in_grad_placements",
  "device_mesh", "redistribute_inputs"}

local local_map = V.builtin(function (a, kw)
  local wanted = kw and V.dict_get(kw, "spmd_types")
  if wanted ~= nil then V.dict_remove(kw, "spmd_types") end
  if wanted ~= true then
    local rest, f = table.pack(table.unpack(a, 2, a.n)), a[1]
    if kw and a.n == 0 then
      f = V.dict_get(kw, "func")
      V.dict_remove(kw, "func")
    end
    if f ~= nil and f ~= dt.None then return of_trees(f, rest, kw) end
    return V.builtin(function (b) return of_trees(b[1], rest, kw) end,
      "local_map")
  end
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

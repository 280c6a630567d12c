-- SPDX-License-Identifier: MIT
-- dt/parallel/distribute.lua: distribute_module and local_map.

local dt = require "dt"
local util = require "dt.util"
local ties = require "dt.nn.ties"
local xla = require "dt.parallel.xla"

local M = {}

-- On an xla mesh PyTorch hands over to torch_xla.
local function is_xla(mesh) return mesh.device_type == "xla" end

local function replicate(m, mesh)
  local full = {}
  for i = 1, mesh.ndim do full[i] = dt.Replicate() end
  for _, name in ipairs {table.unpack(m._parameters.keys)} do
    local p = m._parameters.map[name]
    if p and not p.is_dtensor then
      dt._source(p)
      ties.replace(p, m, name)
      m:register_parameter(name, dt._make_param(
        dt.distribute_tensor(p:detach(), mesh, full), p.requires_grad))
    end
  end
  for _, name in ipairs {table.unpack(m._buffers.keys)} do
    local b = m._buffers.map[name]
    if b and not b.is_dtensor then
      m._buffers:set(name, dt.distribute_tensor(b, mesh, full))
    end
  end
end

-- distribute_module(module, mesh, partition_fn, input_fn, output_fn):
-- partition_fn(name, submodule, mesh) places parameters, what it leaves plain
-- is replicated; input_fn(module, inputs, mesh) returns the new inputs,
-- output_fn(module, output, mesh) the new output (several: a list).
function M.distribute_module(module, mesh, partition_fn, input_fn, output_fn)
  if module._attrs._distribute_module_applied then
    util.raise_for("applied twice", "RuntimeError",
      "distribute_module should only be called once on a module, but it has "
      .. "already been called on this module!")
  end
  if is_xla(mesh) then
    return xla.distribute_module(module, mesh,
      partition_fn, input_fn, output_fn)
  end
  local tied = ties.of(module)
  for name, sub in module:named_modules() do
    if partition_fn then partition_fn(name, sub, mesh) end
    replicate(sub, mesh)
  end
  ties.check(tied)
  if input_fn then
    module:register_forward_pre_hook(function (m, args)
      return input_fn(m, args, mesh)
    end)
  end
  if output_fn then
    module:register_forward_hook(function (m, _, ...)
      local n = select("#", ...)
      return output_fn(m, n == 1 and ... or table.pack(...), mesh)
    end)
  end
  module._attrs._distribute_module_applied = true
  return module
end

-- One placement list, or dt.None / nil.
local function is_placements(v)
  return type(v) == "string" or type(v) == "table"
    and (v[1] == nil or util.is_placement(v[1]) or type(v[1]) == "string")
end

-- A value as Python prints it; a distributed tensor with its local part.
local function repr(v)
  if not util.is_dtensor(v) then return tostring(v) end
  return ("DTensor(local_tensor=%s, device_mesh=%s, placements=%s)"):format(
    tostring(dt._local_of(v)), tostring(v.device_mesh),
    util.tuple_text(v.placements))
end

local function list_text(list)
  return (util.tuple_text(list):gsub("^%(", "["):gsub(",?%)$", "]"))
end

local function local_args(a, mesh, args)
  local out, any = {n = args.n}, false
  for i = 1, args.n do
    local v, want = args[i], nil
    if a.in_placements then want = a.in_placements[i] end
    if util.is_none(want) then want = nil end
    if util.is_dtensor(v) then
      any = true
      mesh = mesh or v.device_mesh
      if a.in_placements then
        if want == nil then
          util.raise("AssertionError",
            "DTensor input %s expects placements but received None!",
            repr(v))
        end
        local have = v.placements
        local same = dt._same_placements(have, want)
        if not same then
          if not a.redistribute_inputs then
            util.raise("ValueError", "arg %s in local_map has a mismatched "
              .. "placements: arg placements is %s but the input placements "
              .. "is %s! If redistribute_inputs is wanted, set "
              .. "redistribute_inputs=True to local_map.", repr(v),
              util.tuple_text(have), util.tuple_text(util.list(want)))
          end
          v = v:redistribute(mesh, want)
        end
      end
      if a.in_grad_placements and i > #a.in_grad_placements then
        util.raise("IndexError", "tuple index out of range")
      end
      local grads = a.in_grad_placements and a.in_grad_placements[i]
      if not util.is_none(grads) then
        v = v:to_local {grad_placements = grads}
      else
        v = v:to_local()
        dt._mapped(v)
      end
    elseif not util.is_tensor(v) and want ~= nil then
      util.raise("AssertionError", "Non-Tensor input %s expects None "
        .. "placements but received %s!", tostring(v),
        list_text(util.list(want)))
    end
    out[i] = v
  end
  return out, any, mesh
end

local function wrap_one(v, pl, mesh, grads)
  if util.is_tensor(v) then
    if v.is_dtensor then
      util.raise("AssertionError", "torch.Tensor output expected but received "
        .. "<class 'torch.distributed.tensor.DTensor'>: %s", repr(v))
    end
    if util.is_none(pl) then return dt.DTensor.from_local(v, mesh) end
    return dt.DTensor.from_local(v, mesh, pl, {run_check = false,
      grad_placements = grads})
  end
  if not util.is_none(pl) then
    util.raise("AssertionError", "Non-tensor output %s expects None placements "
      .. "but received %s!", tostring(v), list_text(util.list(pl)))
  end
  return v
end

-- Are two placement lists (or texts) the same?
function dt._same_placements(a, b)
  local same = dt._same_lists(a, b)
  if same ~= nil then return same end
  local function text(list)
    if type(list) == "string" then return (list:gsub("[%s()]", "")) end
    local out = {}
    for i, p in ipairs(list) do out[i] = tostring(p):gsub("[%s()]", "") end
    return table.concat(out)
  end
  return text(a) == text(b)
end

-- Where placements are listed one alone is refused, as Python says `why` of it.
local function check_listed(pls, why)
  if util.is_placement(pls) then
    util.raise("TypeError", why, pls:repr():match("^[%w_]+"))
  end
end

-- A placement list for each of n outputs.
local function output_placements(pls, n)
  check_listed(pls, "'%s' object is not iterable")
  if not util.is_none(pls) and dt._sequence(pls) == 2 then   -- a tuple has an entry for each output
    for _, v in ipairs(pls) do check_listed(v, "'%s' object is not iterable") end
  end
  if util.is_none(pls) then
    pls = {}
    for i = 1, n do pls[i] = dt.None end
  end
  if n == 1 and is_placements(pls) then pls = {pls} end
  if #pls ~= n then
    util.raise("AssertionError",
      "local_map requires one PlacementType be provided for each output "
      .. "value, received %d out_placements but %d is expected!", #pls, n)
  end
  for i = 1, n > 1 and n or 0 do
    check_listed(pls[i], "'%s' object is not iterable")
  end
  return pls
end

-- f on the local parts of args.  `types`, where given, has run(f, locals,
-- mesh), which calls f in its place, and gradients(outs, placements, mesh),
-- a list of gradients' placements for each output.
local function map_locals(f, a, types, args)
  check_listed(a.in_placements, "object of type '%s' has no len()")
  for _, v in ipairs(a.in_placements or {}) do
    if v ~= dt.None then check_listed(v, "'%s' object is not iterable") end
  end
  if a.in_placements and #a.in_placements ~= args.n then
    util.raise("AssertionError",
      "in_placements length %d does not match the number of input args %d!",
      #a.in_placements, args.n)
  end
  local locals, any, mesh = local_args(a, a.device_mesh, args)
  types = any and types or nil
  local outs = types and types.run(f, locals, mesh)
    or table.pack(f(table.unpack(locals, 1, locals.n)))
  if not any then return table.unpack(outs, 1, outs.n) end
  local pls = output_placements(a.out_placements, outs.n)
  local grads = types and types.gradients(outs, pls, mesh) or {}
  for i = 1, outs.n do
    outs[i] = wrap_one(outs[i], pls[i], mesh, grads[i])
  end
  return table.unpack(outs, 1, outs.n)
end

-- local_map(f, {out_placements=, in_placements=, in_grad_placements=,
-- device_mesh=, redistribute_inputs=}): f on the local parts of distributed
-- arguments; its outputs are wrapped with out_placements.  Without f it is a
-- decorator: a function that takes f.
function M.local_map(f, ...)
  if f == nil or util.is_none(f) or util.is_kwargs(f) then
    local rest = util.is_kwargs(f) and {f} or {...}
    return function (g) return M.local_map(g, table.unpack(rest)) end
  end
  local a = util.bind("local_map", {"out_placements", "in_placements",
    "in_grad_placements", "device_mesh", "redistribute_inputs"},
    {redistribute_inputs = false}, ...)
  return function (...) return map_locals(f, a, nil, table.pack(...)) end
end

-- local_map with arguments as a table, its local tensors typed by `types`.
function dt._local_map_typed(f, a, types)
  return function (...) return map_locals(f, a, types, table.pack(...)) end
end

return M

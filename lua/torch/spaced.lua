-- SPDX-License-Identifier: MIT
-- torch/spaced.lua: linspace and logspace of torch.distributed.tensor: each
-- rank computes its own part from where that part begins, so that last bits
-- may differ from those of the whole.  Source: T/_api.py@2.15

local dt = require "dt"
local util = require "dt.util"
local V = require "python.values"
local A = require "python.args"
local tensors = require "torch.tensor"

local M = {}
local given = A.given

-- A number, also of a tensor without dimensions.
local function number_of(name, v)
  if not util.is_tensor(v) then return v end
  if v.ndim > 0 then
    util.raise("RuntimeError", "%s only supports 0-dimensional start and end "
      .. "tensors", name)
  end
  return v:item()
end

local function check(name, a, placements)
  for i = 1, placements and #placements or 0 do
    if tostring(placements[i]):find("^_S") then
      util.raise("AssertionError", "%s does not support _StridedShard "
        .. "placements", name)
    end
  end
  if math.type(a.steps) ~= "integer" then
    util.raise("TypeError", "torch.Size() takes an iterable of 'int' (item 0 "
      .. "is '%s')", V.type_name(a.steps))
  elseif a.steps < 0 then
    util.raise("RuntimeError", "Expected cond to be True, but got False. "
      .. "(Could this error message be improved? If so, please report an "
      .. "enhancement request to PyTorch.)")
  elseif given(a.layout) and a.layout ~= tensors.strided then
    util.raise("AssertionError", "layout value not supported!")
  end
end

-- Where this rank's n of `steps` numbers begin and end.
local function part_of(first, last, steps, n, offset)
  if n == 0 then return first, last end
  if steps == 1 then return first, first end
  local step = (last - first) / (steps - 1)
  local start = first + offset * step
  return start, start + step * (n - 1)
end

-- `make(start, end, n, dtype, base)` computes numbers; `mesh_of` gives the
-- mesh in use.
local function spaced(name, places, make, mesh_of)
  return A.def(name, places, function (a)
    local pl = given(a.placements) and V.to_lua(a.placements) or nil
    check(name, a, pl)
    local first, last = number_of(name, a.start), number_of(name, a["end"])
    local mesh = mesh_of(a.device_mesh)
    if pl == nil or #pl == 0 then
      pl = {}
      for i = 1, mesh.ndim do pl[i] = dt.Replicate() end
    elseif #pl ~= mesh.ndim then
      util.raise("AssertionError",
        "mesh dimension does not match the length of placements")
    end
    local shape, offset = dt._local_shape({a.steps}, mesh, pl)
    local start, stop = part_of(first, last, a.steps, shape[1], offset[1])
    local dtype = given(a.dtype) and a.dtype or dt.get_default_dtype()
    local part = make(start, stop, shape[1], dtype, a.base)
    local t = dt._wrap_local(part, mesh, pl, {a.steps}, {1})
    if given(a.requires_grad) and V.truth(a.requires_grad) then
      t:requires_grad_(true)
    end
    return t
  end)
end

local OPTIONS <const> = {"*", "dtype?", "layout?", "requires_grad?",
  "device_mesh?", "placements?"}

local function places(...)
  local out = {...}
  table.move(OPTIONS, 1, #OPTIONS, #out + 1, out)
  return out
end

-- Into torch.distributed.tensor, where the release has them; `names` says
-- what the module has at all.
function M.provide(space, names, mesh_of)
  if dt._switch("DTENSOR_SPACED") == 0 then
    names.linspace, names.logspace = nil, nil
    return
  end
  space.linspace = spaced("linspace", places("start", "end", "steps"),
    function (start, stop, n, dtype)
      return dt.linspace(start, stop, n, {dtype = dtype})
    end, mesh_of)
  space.logspace = spaced("logspace", places("start", "end", "steps", "base?"),
    function (start, stop, n, dtype, base)
      return dt.ops.aten.logspace(start, stop, n, base or 10.0,
        {dtype = dtype})
    end, mesh_of)
end

return M

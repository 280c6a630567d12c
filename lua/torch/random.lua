-- SPDX-License-Identifier: MIT
-- torch/random.lua: torch.distributed.tensor._random: which meshes have a
-- tracker of random numbers, the tracker's places in their sequence, and the
-- state of a generator as the bytes that PyTorch shows it in.

local dt = require "dt"
local util = require "dt.util"
local V = require "python.values"
local attrs = require "python.attrs"
local args = require "python.args"
local classes = require "python.class"
local torch_mesh = require "torch.mesh"

local builtin, def = V.builtin, args.def
local None = dt.None
local M = {}

local partly = "DTensor %s may not have complete support on %s device mesh"

local function mesh_of(v)
  return args.given(v) and v or torch_mesh.current()
end

-- Has the mesh's device generators whose state can be set?  Warns if not.
local function is_supported(mesh)
  local device = mesh.device_type
  if device == "cuda" or device == "npu" then return true end
  dt._warn(partly:format("random operators", device))
  return false
end

M.is_rng_supported_mesh = def("is_rng_supported_mesh", {"device_mesh"},
  function (a) return is_supported(mesh_of(a.device_mesh)) end)

M.manual_seed = def("manual_seed", {"seed", "device_mesh"}, function (a)
  local mesh = mesh_of(a.device_mesh)
  if not is_supported(mesh) then
    dt._warn(partly:format("manual_seed()", mesh.device_type))
  end
  dt.manual_seed(a.seed)
  return None
end)

-- ---- a generator's state ----

-- A number of 64 bits that begins at byte `from` of the state.
local function word(name, from)
  local get = builtin(function (a)
    return a[1]._state:narrow(0, from, 8):view(dt.int64)
  end, name)
  local p = classes.names.property.call(V.list {get})
  return attrs.get(p, "setter").call(V.list {builtin(function (a)
    if a[2]:numel() ~= 1 then util.raise("AssertionError", "") end
    a[1]._state:narrow(0, from, 8):copy_(a[2]:view(dt.uint8))
    return None
  end, name)})
end

M._PhiloxState = classes.make("_PhiloxState", {}, {
  __init__ = function (self, state) self._state = state end,
  seed = word("seed", 0), offset = word("offset", 8)}, {}, {})

-- ---- places in the sequence ----

local function layout_of(spec)
  return spec.mesh, V.to_lua(spec.shape), V.to_lua(spec.placements)
end

-- Size of the shard at coordinate 0 of every mesh dimension.
M._calc_first_shard_size = def("_calc_first_shard_size", {"spec"},
  function (a)
    local _, _, first = dt._rng_offsets(layout_of(a.spec))
    return V.list {table.unpack(first)}
  end)

local function add(offset, n) return offset + n end

M.OffsetBasedRNGTracker = classes.make("OffsetBasedRNGTracker", {}, {
  __init__ = function (_, mesh)
    if mesh.device_type == "cpu" then
      util.raise("RuntimeError", "OffsetBasedRNGTracker instantiation requires "
        .. "the presence of CUDA/CUDA-like/XPU device. Got cpu instead.")
    end
  end,
  _compute_rng_offsets = function (_, spec)
    local first, last = dt._rng_offsets(layout_of(spec))
    return V.tuple {first, last}
  end,
  _set_pre_op_offset = function (_, state, spec)
    local first = dt._rng_offsets(layout_of(spec))
    attrs.set(state, "offset", add(attrs.get(state, "offset"), first))
  end,
  _set_post_op_offset = function (_, state, spec, old)
    local _, last = dt._rng_offsets(layout_of(spec))
    attrs.set(state, "offset", add(old, last))
  end}, {}, {})

return attrs.namespace(M)

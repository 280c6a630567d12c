-- SPDX-License-Identifier: MIT
-- torch/local_tensor.lua: torch.distributed._local_tensor: programs that
-- simulate all ranks in one process.  Here every rank is real and runs the
-- program, so the mode has nothing to do: a LocalTensor is the plain tensor
-- that each rank has, reconcile() looks whether they are the same.

local dt = require "dt"
local util = require "dt.util"
local V = require "python.values"
local attrs = require "python.attrs"
local attributes = require "torch.attributes"
local args = require "python.args"
local mesh = require "torch.mesh"

local None, builtin, namespace = dt.None, V.builtin, attrs.namespace
local active = {}                   -- modes, the innermost last

local function plain(v) return util.is_tensor(v) and not util.is_dtensor(v) end

-- The ranks asked for: a number or a set of them.
local function count(ranks)
  if math.type(ranks) == "integer" then return ranks end
  local n = 0
  for _ in V.each(ranks) do n = n + 1 end
  return n
end

-- cb(rank) on every rank: its tensor is what this rank gets.
local function rank_map(cb) return V.call(cb, V.list {dt.rank()}) end

local function tensor_map(t, cb)
  local v = V.call(cb, V.list {dt.rank(), t})
  return v == None and t or v
end

local function mode(ranks)
  local n = count(ranks)
  if dt.world() == "fake" then          -- the program's: the ranks are here
    dt._world_home()
    mesh.forget_groups()
  end
  if n ~= dt.world_size() and dt._wants_ranks(n) then os.exit(0) end
  if n ~= dt.world_size() then
    util.raise("RuntimeError", "LocalTensorMode simulates %d ranks and this "
      .. "world has %d: run the program with -n %d", n, dt.world_size(), n)
  end
  local m = {}
  local all = {}
  for r = 0, n - 1 do all[r + 1] = r end
  m.ranks = V.set(all)
  m.__enter__ = function ()
    active[#active + 1] = m
    return m
  end
  m.__exit__ = function ()
    active[#active] = nil
    return false
  end
  m.disable = builtin(attrs.null_context)
  m.disable_ = builtin(function () return None end)
  m.enable_ = builtin(function () return None end)
  m.rank_map = builtin(function (a) return rank_map(a[1]) end)
  m.tensor_map = builtin(function (a) return tensor_map(a[1], a[2]) end)
  return namespace(m)
end

local function current() return active[#active] or None end

-- reconcile(): the tensor, when every rank has the same.
attributes.tensor_method.reconcile = function (t)
  if not dt.debug.same(t).same then
    util.raise("AssertionError", "LocalTensor shards must be the same to "
      .. "reconcile")
  end
  return t:detach():clone()
end

local M = namespace {
  LocalTensorMode = builtin(function (a, kw)
    return mode(a[1] or V.dict_get(kw, "ranks"))
  end, "LocalTensorMode"),
  -- LocalTensor({rank: tensor}): this rank's.
  LocalTensor = args.class("LocalTensor", {
    test = function (v) return #active > 0 and plain(v) end,
    new = builtin(function (a) return V.dict_get(a[1], dt.rank()) end)}),
  local_tensor_mode = builtin(current),
  enabled_local_tensor_mode = builtin(current),
  maybe_run_for_local_tensor = builtin(function (a) return a[1] end),
  maybe_disable_local_tensor_mode = builtin(attrs.null_context),
  rank_map = builtin(function (a) return rank_map(a[1]) end),
  tensor_map = builtin(function (a) return tensor_map(a[1], a[2]) end),
  get_local_tensor_mode_list = builtin(function () return V.list {} end),
  _LOCAL_TENSOR_MODE = V.list {},   -- of releases before 2.13
}
attrs.provide("torch.distributed._local_tensor", M)

return M

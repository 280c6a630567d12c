-- SPDX-License-Identifier: MIT
-- TEST: ranks={1,2} world={threads} needs=data args="--torch 2.15"
-- release_ways.lua: where a definition knows two ways, 2.15 has the later one:
-- gradients at the bounds of a clamp, words of mm, what out= forms allow.

local n = dt.world_size()
local mesh = dt.init_device_mesh("cpu", {n})

local function shard(t)
  return dt.distribute_tensor(t, mesh, {dt.Shard(0)})
end

-- The gradient of sum(f(...)) by each of the tensors.
local function check(name, f, given, want)
  local leaf = {}
  for i, v in ipairs(given) do leaf[i] = shard(dt.tensor(v)):requires_grad_() end
  f(table.unpack(leaf)):sum():backward()
  for i, t in ipairs(leaf) do
    local same = dt.equal(t.grad:full_tensor(), dt.tensor(want[i]))
    assert(same, name .. ": gradient " .. i .. ": " .. tostring(t.grad:full_tensor()))
  end
end

local at, one = {0.0, 1.0, 2.0, 3.0}, {1.0, 1.0, 1.0, 1.0}
check("clamp", function (x) return x:clamp(1, 2) end, {at}, {{0.0, 0.0, 0.0, 0.0}})
check("clamp_min", function (x) return dt.clamp_min(x, 1) end, {at},
      {{0.0, 0.0, 1.0, 1.0}})
check("clamp_max", function (x) return dt.clamp_max(x, 2) end, {at},
      {{1.0, 1.0, 0.0, 0.0}})
check("clamp_min.Tensor", function (x, y) return dt.clamp_min(x, y) end,
      {at, one}, {{0.0, 0.5, 1.0, 1.0}, {1.0, 0.5, 0.0, 0.0}})
check("clamp_max.Tensor", function (x, y) return dt.clamp_max(x, y) end,
      {at, one}, {{1.0, 0.5, 0.0, 0.0}, {0.0, 0.5, 1.0, 1.0}})

-- A product names itself.
local function refused(f, ...)
  local ok, err = pcall(f, ...)
  assert(not ok, "not refused")
  return tostring(err)
end
local text = refused(dt.mm, dt.ones(2, 3), dt.ones(4, 4))
assert(text:find("mm: mat1 and mat2 shapes cannot be multiplied (2x3 and 4x4)",
                 1, true), text)
text = refused(dt.addmm, dt.ones(4), dt.ones(3), dt.ones(4, 4))
assert(text:find("addmm: self must be a matrix, got 1-D tensor", 1, true), text)

-- Forms that were refused: numbers in a tensor, windows of two sizes.
local function whole(t)
  return dt.distribute_tensor(t, mesh, {dt.Replicate()})
end
local function pair() return {shard(dt.ones(4, 2)), shard(dt.ones(4, 2))} end
local self = pair()
dt.ops.aten._foreach_addcdiv_.Tensor(self, pair(), pair(),
                                     whole(dt.tensor({1.0, 2.0})))
assert(dt.equal(self[1]:full_tensor(), dt.full({4, 2}, 2.0)))
assert(dt.equal(self[2]:full_tensor(), dt.full({4, 2}, 3.0)))
text = refused(function ()
  local list = {shard(dt.ones(4, 4)), shard(dt.ones(4, 4))}
  dt.ops.aten._foreach_addcdiv_.Tensor(list, list, list,
                                       whole(dt.tensor({1.0, 2.0})))
end)
assert(text:find("Attempting to broadcast a dimension of length 2 at -1! " ..
  "Mismatching argument at index 3", 1, true), text)

local like = shard(dt.zeros(4, 4))
dt.ops.aten.randint_like.low_dtype_out(like, 2, 3, {out = like})
assert(dt.equal(like:full_tensor(), dt.full({4, 4}, 2.0)))

-- TEST: ranks={1,2,4} world={threads,mpi}
-- SPDX-License-Identifier: MIT
-- The rows that each rank is sent under _StridedShard, as PyTorch 2.15 sends
-- them, on meshes of one, two and four ranks; parts of unequal length are its
-- assertion, but on a mesh dimension of size 1.

local T = require "tests.lua.lib.check"

local n, rank = dt.world_size(), dt.rank()
local mesh = dt.init_device_mesh("cpu", {n})

-- rows, split factor -> by the size of the mesh, the rows of each rank; none:
-- the assertion
local held = {
  {8, 2, {[1] = {"0 1 2 3 4 5 6 7"}, [2] = {"0 1 4 5", "2 3 6 7"},
    [4] = {"0 4", "1 5", "2 6", "3 7"}}},
  {8, 3, {[1] = {"0 1 2 3 4 5 6 7"}}},
  {7, 2, {[1] = {"0 1 2 3 4 5 6"}}},
  {5, 3, {[1] = {"0 1 2 3 4"}}},
  {2, 2, {[1] = {"0 1"}}},
  {0, 2, {[1] = {""}, [2] = {"", ""}, [4] = {"", "", "", ""}}},
}

local function rows_of(t)
  local list = {}
  for i = 0, t.shape[1] - 1 do
    list[#list + 1] = ("%d"):format(t[{i, 0}]:item() // 2)
  end
  return table.concat(list, " ")
end

for _, case in ipairs(held) do
  local rows, factor, parts = case[1], case[2], case[3][n]
  local what = ("%d rows, factor %d"):format(rows, factor)
  local x = dt.arange(rows * 2):view(rows, 2)
  local ok, d = pcall(dt.distribute_tensor, x, mesh,
    {dt._StridedShard(0, factor)})
  if parts then T.eq(ok and rows_of(d:to_local()), parts[rank + 1], what)
  else T.eq(not ok and d.class, "AssertionError", what) end
end

T.finish()

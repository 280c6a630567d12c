-- SPDX-License-Identifier: MIT
-- dt/debug/sweep.lua: dt.debug.sweep: a function over sizes and meshes; the
-- smallest case that fails.
--
-- f(n, mesh) runs on meshes over the first ranks of this world, and on a mesh
-- of one rank, which is the truth.  A case fails when it raises where one rank
-- does not, or when its results differ from one rank's.

local dt = require "dt"
local page = require "dt.debug.page"

local M = {}

local function is_tensor(v) return require("dt.util").is_tensor(v) end

local function mesh_of(shape)
  local n, ranks = 1, {}
  for _, s in ipairs(shape) do n = n * s end
  for r = 1, n do ranks[r] = r - 1 end
  return dt.DeviceMesh("cpu", page.nest(ranks, shape)), n
end

-- Results of f as plain tensors, whole; or nil and the error.
local function results(f, n, mesh)
  dt.manual_seed(1000 + n)
  local res = table.pack(pcall(f, n, mesh))
  if not res[1] then
    local e = res[2]
    return nil, type(e) == "table" and e.message or tostring(e)
  end
  local ok, list = pcall(function ()
    local out = {}
    for i = 2, res.n do
      local v = res[i]
      if is_tensor(v) then
        out[#out + 1] = v.is_dtensor and v:detach():full_tensor() or v:detach()
      elseif v ~= nil then
        out[#out + 1] = v
      end
    end
    return out
  end)
  if ok then return list end
  return nil, type(list) == "table" and list.message or tostring(list)
end

local function differs(got, want)
  for i, w in ipairs(want) do
    local g = got[i]
    if is_tensor(w) ~= is_tensor(g) then return "another kind of result" end
    if is_tensor(w) then
      local ok, err = pcall(dt.testing.assert_close, g, w, {equal_nan = true})
      if not ok then
        return "differs from one rank: "
          .. tostring(type(err) == "table" and err.message or err)
          :match("[^\n]*")
      end
    elseif g ~= w then
      return ("differs from one rank: %s instead of %s"):format(tostring(g),
        tostring(w))
    end
  end
end

-- Why a case fails, or nil; the same on all ranks.
local function one(f, n, shape, want, want_error)
  local mesh, size = mesh_of(shape)
  local why = ""
  if dt.rank() < size then
    local got, err = results(f, n, mesh)
    if not got then
      if not want_error then why = "raises: " .. err:match("[^\n]*") end
    elseif want then
      why = differs(got, want) or ""
    end
  end
  for _, said in ipairs(dt.debug.from_all(why)) do
    if said ~= "" then return said end
  end
end

local function shapes(most)
  local list = {}
  for n = 1, most do list[#list + 1] = {n} end
  if most >= 4 then list[#list + 1] = {2, 2} end
  return list
end

local function text(d)
  if not d.smallest then
    return ("%d cases, all as on one rank"):format(d.cases)
  end
  local s = d.smallest
  local out = {("%d of %d cases fail; the smallest:"):format(#d.failed,
    d.cases)}
  out[2] = ("  size %d on mesh (%s): %s"):format(s.size,
    table.concat(s.mesh, ", "), s.why)
  for i, f in ipairs(d.failed) do
    if i > 1 and i <= 8 then
      out[#out + 1] = ("  size %d on mesh (%s): %s"):format(f.size,
        table.concat(f.mesh, ", "), f.why)
    end
  end
  return table.concat(out, "\n")
end

local function run(f, o)
  local d = {cases = 0, failed = {}}
  local list = o.meshes or shapes(math.min(o.ranks or 4, dt.world_size()))
  local alone = dt.DeviceMesh("cpu", {dt.rank()})
  local alone2 = dt.DeviceMesh("cpu", {{dt.rank()}})
  for _, shape in ipairs(list) do
    for _, n in ipairs(o.sizes) do
      local want, err = results(f, n, #shape > 1 and alone2 or alone)
      d.cases = d.cases + 1
      local why = one(f, n, shape, want, err)
      if why then
        d.failed[#d.failed + 1] = {size = n, mesh = shape, why = why}
      end
    end
  end
  d.smallest = d.failed[1]
  return d
end

-- dt.debug.sweep(f[, {sizes = {0, 1, ...}, ranks = 4, meshes = {{2}, {2,
-- 2}}}]): {cases, failed = {{size, mesh, why}}, smallest}.  Collective.
function M.sweep(f, o)
  if type(f) ~= "function" then
    page.fail("TYPE", "wanted a function f(n, mesh), not %s", type(f))
  end
  o = o or {}
  if type(o.sizes) == "number" or o.sizes == nil then
    local most, list = o.sizes or 5, {}
    for n = 0, most do list[#list + 1] = n end
    o = {sizes = list, ranks = o.ranks, meshes = o.meshes}
  end
  return page.new(dt.debug.quietly(run, f, o), text)
end

return M

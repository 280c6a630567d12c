-- TEST: ranks=2 needs=data tags=quick
-- SPDX-License-Identifier: MIT
-- measured.lua: what dt.debug.busy counts as which kind of work, and which
-- results dt.debug.sweep takes for the same as one rank's.

local T = require "tests.lua.lib.check"
local aten = dt.ops.aten
local mesh = dt.init_device_mesh("cpu", {dt.world_size()})
local x = dt.ones(64, 64)
local part = dt.DTensor.from_local(x, mesh, "P")

-- ---- where time goes ----

local function busy(f, ...)
  local b = dt.debug.busy(f, ...)
  T.ok(b.kernels >= 0 and b.collectives >= 0
    and b.kernels + b.collectives <= b.wall, "parts are no more than the whole")
  return b
end

local b = busy(function () aten.mm(x, x) end)
T.ok(b.kernels > 0, "a product is a kernel's time")
T.eq(b.collectives, 0, "a product sends nothing")
b = busy(function () part:full_tensor() end)
T.ok(b.collectives > 0, "a sum over ranks is a collective's time")
b = busy(function () end)
T.ok(b.kernels == 0 and b.collectives == 0 and b.wall > 0, "no work")
local got
busy(function (a, c) got = a + c end, 3, 4)
T.eq(got, 7, "arguments")
T.throws("RuntimeError", "mat1 and mat2", function ()
  dt.debug.busy(function () aten.mm(x, dt.ones(3, 3)) end)
end)
b = busy(function () aten.mm(x, x) end)
T.ok(b.kernels > 0 and b.collectives == 0, "counted anew after an error")

-- ---- the same as one rank ----

local function sweep(f) return dt.debug.sweep(f, {sizes = {1, 3}}) end

-- A NaN is the same as a NaN, and not as a number.
local nan = dt.tensor({0 / 0, 1})
local same = sweep(function () return nan end)
T.eq(same.cases, 2 * math.min(4, dt.world_size()), "cases")
T.eq(#same.failed, 0, "NaN on one rank and on all: " .. tostring(same))
T.eq(same.smallest, nil, "no smallest case")
local other = sweep(function (_, m) return m:size() > 1 and nan or dt.ones(2) end)
T.eq(#other.failed, 2, "NaN for a number: " .. tostring(other))
T.eq(other.smallest.size, 1, "the smallest size that fails")
T.has(other.smallest.why, "differs from one rank", "why")
T.eq(#sweep(function (_, m) return m:size() end).failed, 2, "another number")
T.eq(#sweep(function (_, m) return m:size() > 1 and 1 or nan end).failed, 2,
  "another kind of result")
T.eq(#sweep(function (n, m)
  if n == 3 and m:size() > 1 then error "no" end
  return n
end).failed, 1, "an error that one rank does not raise")
T.eq(#sweep(function () error "no" end).failed, 0, "an error that one rank raises")

-- ---- the picture of it ----

-- Everything lies within the picture: a label and two lanes for each rank, one
-- below the other, and nothing but a margin below them.
local text = dt.debug.export("html")
if dt.rank() == 0 then
  local svg = text:match('aria%-label="timeline".-</svg>')
  local wide, high = svg:match 'viewBox="0 0 (%d+) (%d+)"'
  wide, high = tonumber(wide), tonumber(high)
  local labels, last = 0, nil
  for y, r in svg:gmatch 'y="(%d+)" class="t">rank (%d+)' do
    T.eq(tonumber(r), labels, "a rank's label")
    if last then T.ok(tonumber(y) - last > 36, "room for two lanes") end
    labels, last = labels + 1, tonumber(y)
  end
  T.eq(labels, dt.world_size(), "a label for each rank")
  T.ok(high - last >= 14 and high - last < 44, "no rank's room is left empty")
  local drawn = 0
  for x, y, w, h in svg:gmatch(
      '<rect x="([%d.]+)" y="([%d.]+)" width="([%d.]+)" height="([%d.]+)"') do
    drawn = drawn + 1
    if x + w > wide or y + h > high or tonumber(y) < 20 then
      T.ok(false, ("a span outside the picture: %s %s %s %s"):format(x, y, w, h))
    end
  end
  T.ok(drawn > 0, "spans")
  for y2 in svg:gmatch 'y2="(%d+)" class="grid"' do
    T.eq(tonumber(y2), high, "a mark of time goes to the end")
  end
end
T.finish()

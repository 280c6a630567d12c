-- SPDX-License-Identifier: MIT
-- dt/debug/ledger.lua: what was communicated, as data, and assertions on it.

local dt = require "dt"
local page = require "dt.debug.page"
local trace = require "dt.debug.trace"

local M = {}

local function add(map, key, bytes)
  local row = map[key]
  if not row then
    row = {count = 0, bytes = 0}
    map[key] = row
  end
  row.count, row.bytes = row.count + 1, row.bytes + bytes
end

-- {count, bytes, implicit, by = {mesh_dim, collective, op, module, line}} of
-- entries.
local function sums(entries)
  local d = {count = 0, bytes = 0, implicit = 0, implicit_bytes = 0,
    by = {mesh_dim = {}, collective = {}, op = {}, module = {}, line = {}}}
  for _, e in ipairs(entries) do
    for _, c in ipairs(e.collectives) do
      d.count, d.bytes = d.count + 1, d.bytes + c.bytes
      if c.implicit then
        d.implicit = d.implicit + 1
        d.implicit_bytes = d.implicit_bytes + c.bytes
      end
      add(d.by.mesh_dim, c.mesh_dim, c.bytes)
      add(d.by.collective, c.op .. " on " .. c.mesh_dim, c.bytes)
      add(d.by.op, e.op, c.bytes)
      add(d.by.module, e.module ~= "" and e.module or "(no module)", c.bytes)
      add(d.by.line, page.place(e), c.bytes)
    end
  end
  return d
end

-- dt.debug.ledger([first[, last]]): collectives of operators #first to #last:
-- {count, bytes, implicit, implicit_bytes, by = {mesh_dim =, collective =,
-- op =, module =, line = {[key] = {count, bytes}}}}.  Bytes are those this rank
-- sends.
function M.ledger(first, last)
  local d = sums(dt.debug.entries(first, last))
  return page.new(d, function () return dt.debug.ledger_text() end)
end

-- ---- dt.expect ---------------------------------------------------------

local function failed(what, got, want)
  page.fail("EXPECT", "expected %s %s, got %s", what, tostring(want),
    tostring(got))
end

-- A number, {min =, max =}, or a text as "<= 3".
local function number_ok(got, want)
  if type(want) == "table" then
    return (want.min == nil or got >= want.min)
      and (want.max == nil or got <= want.max)
  end
  if type(want) == "string" then
    local op, n = want:match("^%s*([<>=~]*)%s*([%d.e+-]+)%s*$")
    n = tonumber(n)
    if not n then page.fail("VALUE", "no condition: %s", want) end
    return op == "<=" and got <= n or op == "<" and got < n
      or op == ">=" and got >= n or op == ">" and got > n
      or op == "~=" and got ~= n or (op == "" or op == "==") and got == n
  end
  return got == want
end

local function want_text(v)
  if type(v) ~= "table" then return tostring(v) end
  return ("%s..%s"):format(tostring(v.min or ""), tostring(v.max or ""))
end

local function check_number(what, got, want)
  if want ~= nil and not number_ok(got, want) then
    failed(what, got, want_text(want))
  end
end

local function placements_text(x)
  if not x.placements then return "plain" end
  local list = {}
  for i, p in ipairs(x.placements) do list[i] = tostring(p) end
  return table.concat(list, " ")
end

-- "S(0)R", {Shard(0), Replicate()} as "S(0) R".
local function wanted_placements(want)
  if type(want) == "string" then
    if want == "plain" then return want end
    want = want:gsub("Shard%(dim=(%d+)%)", "S(%1)"):gsub("Shard%(", "S(")
      :gsub("Replicate%(%)", "R"):gsub("%f[%w]S(%d)", "S(%1)")
      :gsub("%f[%w]P%f[^%w(]", "P(sum)")
    want = want:gsub("[%[%],]", " ")
    return table.concat(trace.split((want:gsub("%s", ""))),
      " ")
  end
  local list = {}
  for i, p in ipairs(want) do list[i] = tostring(p) end
  return table.concat(list, " ")
end

local function check_tensor(o)
  local x = o[1]
  if x == nil then return end
  if o[2] ~= nil then
    local got, want = placements_text(x), wanted_placements(o[2])
    if got ~= want then failed("placements", got, want) end
  end
  if o.shape then
    local got, want = table.concat(x.shape, ", "), table.concat(o.shape, ", ")
    if got ~= want then failed("shape", got, want) end
  end
  if o.dtype then
    local got, want = tostring(x.dtype), tostring(o.dtype)
    if got ~= want and got ~= "torch." .. want then
      failed("dtype", got, want)
    end
  end
  if o.same then
    if not dt.debug.same_bits(x) then
      page.fail("EXPECT", "expected the same bits on all ranks")
    end
  end
end

-- dt.expect{...}: raise EXPECT (exit code 3) unless all hold.  With a tensor:
-- {x, "S(0) R", shape =, dtype =, same = true}.  Of what was communicated:
-- collectives =, bytes =, implicit =, implicit_bytes = (a number, "<= 3" or
-- {min =, max =}), per = {["all_reduce on tp"] = 2}, op = {["aten.mm.default"]
-- = 0}.  A function as second argument, dt.expect({...}, f), is run, and only
-- what it communicates counts; its results are returned.
function M.expect(o, f)
  if type(o) ~= "table" then
    page.fail("TYPE", "expect wants a table of conditions")
  end
  local known = {shape = 1, dtype = 1, same = 1, collectives = 1, bytes = 1,
    implicit = 1, implicit_bytes = 1, per = 1, op = 1}
  for key in pairs(o) do
    if type(key) == "string" and not known[key] then
      page.fail("KEY", "expect knows no condition called %s", key)
    end
  end
  local res, first = {n = 0}, nil
  if f then
    local before = dt.debug.recording()
    first = before.last + 1
    res = table.pack(f())
  end
  check_tensor(o)
  local d = sums(dt.debug.entries(first))
  check_number("collectives", d.count, o.collectives)
  check_number("bytes sent per rank", d.bytes, o.bytes)
  check_number("implicit collectives", d.implicit, o.implicit)
  check_number("bytes of implicit collectives", d.implicit_bytes,
    o.implicit_bytes)
  for key, want in pairs(o.per or {}) do
    local row = d.by.collective[key] or d.by.mesh_dim[key] or {count = 0}
    check_number("of " .. key, row.count, want)
  end
  for key, want in pairs(o.op or {}) do
    local row = d.by.op[key] or {count = 0}
    check_number("collectives of " .. key, row.count, want)
  end
  return table.unpack(res, 1, res.n)
end

return M

-- TEST: ranks={2} tags=quick
-- SPDX-License-Identifier: MIT
-- Whatever names contain, what is written for machines is JSON: bytes that are
-- no UTF-8, ends of lines, quotes, numbers that JSON does not have.

local T = require "tests.lua.lib.check"

local function is(value, text, what)
  T.eq(dt.debug.json(value), text, what)
end
is("a\255b", [["a\ufffdb"]], "a byte that begins nothing")
is("\xe2\x82", [["\ufffd\ufffd"]], "a character cut short")
is("\xc0\xaf", [["\ufffd\ufffd"]], "longer than needed")
is("\xed\xa0\x80", [["\ufffd\ufffd\ufffd"]], "half of a pair")
is("\xf5\x80\x80\x80", [["\ufffd\ufffd\ufffd\ufffd"]], "beyond Unicode")
is("\u{e9}\u{20ac}\u{10ffff}", '"\u{e9}\u{20ac}\u{10ffff}"', "characters")
is("\0\n\"\\\31\127", [["\u0000\n\"\\\u001f\u007f"]], "marks")
is({0 / 0, math.huge, -math.huge}, "[null,null,null]", "no such numbers")
is({["\255"] = {}}, [[{"\ufffd":[]}]], "a key")
is({["a\0c"] = 1, ["a\0b"] = 2}, [[{"a\u0000b":2,"a\u0000c":1}]], "keys with a NUL")
is({[7] = 1, [-1] = 2, x = 3}, [[{"-1":2,"7":1,"x":3}]], "numbers as keys")
is({[1.5] = 1, [-0.25] = 2, x = 3}, [[{"-0.25":2,"1.5":1,"x":3}]], "also fractions")
local many = {}
for i = 1, 2000 do many["k" .. i] = i end
T.eq(#dt._json_decode("[" .. dt.debug.json(many) .. "]"), 1, "many keys are read")
for k, v in pairs(dt._json_decode(dt.debug.json(many))) do
  T.eq(many[k], v, "each key is written")
  many[k] = nil
end
T.eq(next(many), nil, "no key is left out")

-- Read what was written.
local name = 'a"b\n<script>\t\\n\255'
local mesh = dt.init_device_mesh("cpu", {2}, {mesh_dim_names = {name}})
local x = dt.distribute_tensor(dt.ones(4), mesh, {dt.Shard(0)})
local y = x:redistribute(mesh, {dt.Replicate()}) / 0
T.ok(y, "made")
local trace = dt.debug.export("trace")
if dt.rank() == 0 then
  local t = dt._json_decode(trace)
  local found = false
  for _, e in ipairs(t.traceEvents) do
    local m = e.args and e.args.mesh_dim
    found = found or m == 'a"b\n<script>\t\\n\u{fffd}'
  end
  T.ok(found, "the trace has the mesh dimension's name")
end
for line in dt.debug.export("json"):gmatch("[^\n]+") do
  T.ok(pcall(dt._json_decode, line), "a line of the log")
end
local page = dt.debug.export("html")       -- rank 0 writes it
if dt.rank() == 0 then
  T.eq(select(2, page:gsub("<script", "")), 1,
    "no tag comes from a name: the page's own script is the only one")
  T.ok(page:find("&lt;script", 1, true), "the name is there, as a text")
end
T.finish()

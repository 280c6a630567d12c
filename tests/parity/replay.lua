-- SPDX-License-Identifier: MIT
-- TEST: ranks=1 world=threads args=--trust tags=races
-- replay.lua: `dtrepl replay` on stored logs of programs in this folder, on
-- logs that were changed, and on what is no log.

local program = os.getenv("DTREPL") or "build/dtrepl"
local dir = "tests/parity/bridge/"

local function run(cmd)
  local p = assert(io.popen(cmd .. " 2>&1"))
  local text = p:read("a")
  local _, _, code = p:close()
  return text, code
end

local function read(path)
  local f = assert(io.open(path, "rb"))
  local s = f:read("a")
  f:close()
  return s
end

local function replay(path) return run(program .. " replay " .. path) end

for _, name in ipairs {"matmul", "uneven", "toy_mlp", "meta_inference"} do
  local out, code = replay(dir .. name .. ".json")
  assert(code == 0 and out:find("no difference"), out)
end

-- A log with one fact changed must be found out, with the call's line.
local path = os.tmpname()
local function changed(name, from, to)
  local s, n = read(dir .. name .. ".json"):gsub(from, to, 1)
  assert(n == 1, "nothing to change: " .. from)
  local f = assert(io.open(path, "wb"))
  f:write(s)
  f:close()
  return replay(path)
end

local out, code = changed("matmul", '"op":"all_reduce","group":%["tp"%]',
  '"op":"all_reduce","group":["dp"]')
assert(code == 3 and out:find("_softmax") and out:find("matmul.py:"), out)
out, code = changed("toy_mlp", "got mixed", "got maxed")
assert(code == 3 and out:find("got maxed"), out)
out, code = changed("uneven", '"dtrepl_record":1', '"something":1')
assert(code == 1 and out:find("is no log"), out)
out, code = changed("uneven", '"rows":%[', '"rows":[{"n":0,"op":"aten.no",')
assert(code ~= 0, out)
os.remove(path)
out, code = replay(path)
assert(code == 1 and out:find("cannot read"), out)
out, code = run(program .. " replay")
assert(code == 2 and out:find("usage"), out)

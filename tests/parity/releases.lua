-- SPDX-License-Identifier: MIT
-- TEST: ranks=1 world=threads args=--trust torch=2.13 timeout=300
-- releases.lua: what a release beside the default one answers otherwise: each
-- folder tests/parity/X that is not the default's is read under --torch X, and
-- must pass whole.  The folders hold only cases whose answers differ.  Under a
-- sanitizer some of the files are read (lib/sample.lua).

local sample = require "tests.parity.lib.sample"
local program = os.getenv("DTREPL") or "build/dtrepl"
local default = dt._profile().torch

local function lines(command)
  local p = assert(io.popen(command))
  local list = {}
  for line in p:lines() do list[#list + 1] = line end
  p:close()
  return list
end

local seen = 0
for _, dir in ipairs(lines "ls -d tests/parity/[0-9]*") do
  local release = dir:match "([^/]+)$"
  if release ~= default then
    local folders = {}
    local all = not sample.sanitizer and lines("ls -d " .. dir .. "/*/")
      or sample.files(dir .. "/*/*.jsonl")
    for _, name in ipairs(all) do
      if not name:find "/versions/" then folders[#folders + 1] = name end
    end
    local out = lines(("%s parity --torch %s --show 5 %s 2>&1"):format(program,
      release, table.concat(folders, " ")))
    local passed, failed = (out[#out] or ""):match "^(%d+) passed, (%d+) failed"
    assert(passed, table.concat(out, "\n"))
    assert(tonumber(failed) == 0 and tonumber(passed) > 0, table.concat(out, "\n"))
    seen = seen + 1
  end
end
assert(seen > 0, "no release beside the default one has data")

-- Operators follow the session's release, there and back.
local function any_of()
  local mesh = dt.init_device_mesh("cpu", {dt.world_size()})
  local x = dt.distribute_tensor(dt.ones(4, 4), mesh, {dt.Shard(0)})
  return tostring(x:clone():sum())
end
local before = any_of()
dt._set_profile("2.15")
assert(dt._profile().torch == "2.15")
any_of()
dt._set_profile(default)
assert(any_of() == before)

local ok, err = pcall(dt._set_profile, "2.99")
assert(not ok and tostring(err):find("2.15", 1, true), tostring(err))

-- SPDX-License-Identifier: MIT
-- dt/diagnose/own.lua: the programs of the report itself, completed where lines
-- of them are not shown: the project's reader of Python runs them in the
-- sandbox, on as many ranks as the report says.  Their text is only ever a
-- string of the script.

local evidence = require "dt.diagnose.evidence"
local fragments = require "dt.diagnose.fragments"
local launch = require "dt.diagnose.launch"
local noticed = require "dt.diagnose.noticed"

local M = {}

local MAX_TEXT <const>, MAX_RANKS <const> = 1 << 18, 8

-- Ranks that a mesh is made of, where they are written one by one.
local function ranks_listed(program)
  local list = program:match "DeviceMesh%([^%[%]]-(%[[%d, %[%]]+%])"
  local most = program:match "DeviceMesh%([^\n]-arange%((%d+)"
  most = most and math.tointeger(tonumber(most)) - 1
  for n in (list or ""):gmatch "%d+" do
    most = math.max(most or 0, math.tointeger(tonumber(n)))
  end
  return most and most > 0 and most < MAX_RANKS and most + 1 or nil
end

-- Ranks the report starts the program with.
local function ranks_of(r, program)
  local counts = evidence.counts(r)
  for n, words in pairs(counts) do
    if words:find "nproc" and n <= MAX_RANKS then return n end
  end
  for _, shape in ipairs {
    program:match "init_device_mesh%([^%(%)%[%]]-[%(%[]([%d, ]+)[%)%]]" or "",
    program:match "world_size ?= ?(%d+)" or "",
    program:match "WORLD_SIZE ?= ?(%d+)" or ""} do
    local n = 1
    for s in shape:gmatch "%d+" do n = n * math.tointeger(tonumber(s)) end
    if n > 1 and n <= MAX_RANKS then return n end
  end
  local listed = ranks_listed(program)
  if listed then return listed end
  local least
  for k in pairs(counts) do
    if k <= MAX_RANKS and (not least or k < least) then least = k end
  end
  return least or 2
end

-- What a rank's program is given, as Lua: the arguments of the report's command.
local function arguments(r)
  local c, list = launch.read(r.text), {}
  if c.local_rank then list[1] = '"--local_rank=" .. dt.rank()' end
  for _, a in ipairs(c.args) do list[#list + 1] = ("%q"):format(a) end
  return #list > 0 and ", " .. table.concat(list, ", ") or ""
end

-- The script that runs a program of the report.
function M.script(r, program, prelude)
  return ("%s\ntry(\"repro\", function ()\n  require(\"torch.script\")"
    .. ".run_part(%q, \"report.py\"%s)\nend)\n"):format(prelude, program,
    arguments(r)) .. noticed.tail
end

-- The scripts that run the report's programs, the likeliest first:
-- {script=, ranks=, program=, added= lines, invented= values}.
function M.scripts(r, prelude)
  if not r.text or #r.text > MAX_TEXT then return {} end
  local list = {}
  for i, p in ipairs(fragments.programs(r)) do
    list[i] = {ranks = p.ranks or ranks_of(r, p.text), program = p.text,
      command = launch.read(r.text), added = p.added, invented = p.invented,
      script = M.script(r, p.text, prelude)}
  end
  return list
end

return M

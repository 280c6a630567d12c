-- SPDX-License-Identifier: MIT
-- dt/diagnose/own.lua: the program of the report itself, run as it
-- is: the project's reader of Python runs it in the sandbox, on as many ranks
-- as the report says.  Its text is only ever a string of the script.

local evidence = require "dt.diagnose.evidence"

local M = {}

local MAX_CODE, MAX_RANKS = 30000, 8

local starts = {"^import %w", "^from [%w_%.]+ import "}

local function begins(line)
  for _, s in ipairs(starts) do
    if line:find(s) then return true end
  end
end

-- What ends a program that is in the text without fences.
local function ends(line)
  return line:find "^%s*```" or line:find "^Traceback"
    or line:find "^%[?rank ?%d" or line:find "^%s*File \""
    or line:find "^[%w_%.]*Error: "
end

local function worth(text)
  return #text <= MAX_CODE and text:find "torch" and (text:find "DeviceMesh"
    or text:find "device_mesh" or text:find "distribute_tensor"
    or text:find "fully_shard" or text:find "parallelize_module")
end

-- The largest program of `text`, or nil.
function M.program(text)
  local best, block = nil, nil
  local function close()
    local whole = block and table.concat(block, "\n")
    if whole and worth(whole) and (not best or #whole > #best) then
      best = whole
    end
    block = nil
  end
  local fenced = false
  for line in (text .. "\n"):gmatch "(.-)\r?\n" do
    if line:find "^%s*```" then
      close()
      fenced = not fenced
    elseif block then
      if not fenced and ends(line) then close()
      else block[#block + 1] = line end
    elseif begins(line) then
      block = {line}
    end
  end
  close()
  return best
end

-- Ranks the report starts the program with.
local function ranks_of(r, program)
  local counts = evidence.counts(r)
  for n, words in pairs(counts) do
    if words:find "nproc" and n <= MAX_RANKS then return n end
  end
  local shape = program:match "init_device_mesh%([^%(%)]-%(([%d, ]+)%)"
  local n = 1
  for s in (shape or ""):gmatch "%d+" do n = n * math.tointeger(tonumber(s)) end
  if n > 1 and n <= MAX_RANKS then return n end
  local least
  for k in pairs(counts) do
    if k <= MAX_RANKS and (not least or k < least) then least = k end
  end
  return least or 2
end

-- The script that runs the report's program, and its ranks; nil without one.
function M.script(r, prelude)
  if not r.text or #r.text > 1 << 20 then return nil end
  local program = M.program(r.text)
  if not program then return nil end
  return ("%s\ntry(\"repro\", function ()\n  require(\"torch.script\").run("
    .. "%q, \"report.py\")\nend)\n"):format(prelude, program), ranks_of(r,
    program), program
end

return M

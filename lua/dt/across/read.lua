-- SPDX-License-Identifier: MIT
-- dt/across/read.lua: one run of a program under a release: its calls, what it
-- printed, how it ended.

local M = {}

local DAY <const> = 24 * 3600

-- The fields of a line, as dt.debug._calls() writes them; error and message are
-- there when the call failed.
local LINE <const> = "^" .. ("([^\t]*)\t"):rep(11) .. "([^\t]*)\t?([^\t]*)"

local function operators(path)
  local list = {}
  local f = io.open(path, "r")
  if not f then return nil end
  for line in f:lines() do
    local op, file, at, placed, dtype, shape, moves, nmoves, sent, nsent, bytes,
      failed, message = line:match(LINE)
    list[#list + 1] = {op = op, line = tonumber(at),
      where = (file:match "[^/]+$" or file) .. ":" .. at,
      decision = placed, dtype = dtype, shape = shape, redistribution = moves,
      nmoves = tonumber(nmoves), collectives = sent, nsent = tonumber(nsent),
      bytes = tonumber(bytes), error = failed ~= "" and failed or nil,
      message = message}
  end
  f:close()
  return list
end

-- The first line of an operator's error: what failed, where, which call.  What
-- PyTorch says of it stands below.
local OPERATOR <const> = "^DT%d%d%d%d (.-)%s%s+(%S+:%d+)%s+op #%d+$"

-- Lines a program printed, and the error it ended with: what the program says
-- last, from the line that has an error's code on.
local function split(output)
  local printed, failed = {}, nil
  for line in (output:gsub("\n*$", "\n")):gmatch "([^\n]*)\n" do
    if failed then
      failed = line:match "^  PyTorch %S+ says: (.*)$" or failed
    elseif line:find "^DT%d%d%d%d [%a_]+: " then
      failed = line:gsub("^DT%d+ ", "")
    else
      failed = line:match(OPERATOR)
      if not failed then printed[#printed + 1] = line end
    end
  end
  if #printed == 1 and printed[1] == "" then printed = {} end
  return printed, failed
end

-- Where the error was raised: "at FILE:LINE" below it, or in its first line.
local function place(output)
  local at = output:match "\n%s+at ([^\n]-:%d+)"
    or output:match "\n%s+at ([^\n]+)"
  for line in (at and "" or output):gmatch "[^\n]+" do
    at = at or select(2, line:match(OPERATOR))
  end
  return at and (at:match "([^/]+)$" or at)
end

-- A session's lines and errors.  An error is a line that begins with its code,
-- and the indented ones below it; PyTorch's words and the place stand there.
local function split_session(output)
  local printed, errors, failed = {}, {}, nil
  for line in output:gmatch "([^\n]*)\n" do
    if line:find "^DT%d%d%d%d " then
      failed = {at = line:match "(prompt:%d+)" or "?",
        text = line:gsub("^DT%d+ ", ""):gsub("%s+prompt:.*$", "")}
      errors[#errors + 1] = failed
    elseif failed and line:find "^  " then
      failed.text = line:match "^  PyTorch %S+ says: (.*)$" or failed.text
      failed.at = line:match "^  at (prompt:%d+)" or failed.at
    else
      failed = nil
      printed[#printed + 1] = line
    end
  end
  return printed, errors
end

-- Start `args` (the options and the program) under `release`, or with the options
-- `words` where that is the name of something else; `typed` is a session's text,
-- given to a prompt.  Returns what M.finish() wants, or nil and why.
function M.start(tool, release, args, typed, words)
  local base = os.tmpname()
  local log = base .. ".calls"
  local argv = {tool.program(), table.unpack(words or {"--torch", release})}
  for _, w in ipairs {"-q", "--color", "never", "--no-rc", "--no-history",
    "--record", log, table.unpack(args)} do
    argv[#argv + 1] = w
  end
  local child, err = tool.start(argv, typed or "")
  os.remove(base)
  if not child then return nil, err end
  return {child = child, log = log, release = release, typed = typed}
end

-- Wait for it.  Returns nil and a text when the program could not be run.
function M.finish(tool, run)
  local output, code = tool.finish(run.child, DAY)
  local ops = operators(run.log)
  os.remove(run.log)
  local result = ops and {release = run.release, code = code, ops = ops}
  if ops and run.typed then
    result.printed, result.errors = split_session(output or "")
  elseif ops then
    result.printed, result.error = split(output or "")
    result.at = result.error and place(output)
  end
  if result and (#ops > 0 or result.error or code == 0) then return result end
  return nil, (output or "the program was not run: " .. tostring(code))
end

return M

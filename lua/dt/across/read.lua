-- SPDX-License-Identifier: MIT
-- dt/across/read.lua: one run of a program under a release: its operators as
-- `:export json` writes them, what it printed, how it ended.

local lpeg = require "lpeg"

local M = {}

local P, R, S, V, C, Cc, Ct, Cg, Cf = lpeg.P, lpeg.R, lpeg.S, lpeg.V, lpeg.C,
  lpeg.Cc, lpeg.Ct, lpeg.Cg, lpeg.Cf

local escapes = {b = "\b", f = "\f", n = "\n", r = "\r", t = "\t"}
local space = S " \t\r\n" ^ 0
local plain = (1 - S '"\\') ^ 1
local escape = P "\\" * (P "u" * (C(R("09", "af", "AF") ^ 4) / function (hex)
  return utf8.char(tonumber(hex:sub(1, 4), 16))
end) + C(1) / function (c) return escapes[c] or c end)
local text = P '"' * lpeg.Cs((plain + escape) ^ 0) * P '"'
local number = C(P "-" ^ -1 * R "09" ^ 1 * (P "." * R "09" ^ 1) ^ -1
  * (S "eE" * S "+-" ^ -1 * R "09" ^ 1) ^ -1) / tonumber

local function set(t, k, v)
  t[k] = v
  return t
end

-- JSON; null is left out of objects and false in lists.
local json = P {
  "value",
  value = space * (text + number + P "true" * Cc(true) + P "false" * Cc(false)
    + P "null" * Cc(false) + V "list" + V "object") * space,
  list = P "[" * space * Ct((V "value" * (P "," * V "value") ^ 0) ^ -1) * P "]",
  object = P "{" * space * Cf(Ct "" * (V "pair" * (P "," * V "pair") ^ 0) ^ -1,
    set) * P "}",
  pair = Cg(space * text * space * P ":" * V "value"),
}

local function operators(path)
  local list = {}
  local f = io.open(path, "r")
  if not f then return list end
  for line in f:lines() do
    local row = json:match(line)
    if row and row.op then list[#list + 1] = row end
  end
  f:close()
  return list
end

-- Lines a program printed, and the error it ended with: what the program says
-- last, from the line that has an error's code on.
local function split(output)
  local printed, failed = {}, nil
  for line in (output:gsub("\n*$", "\n")):gmatch "([^\n]*)\n" do
    if not failed and line:find "^DT%d%d%d%d [%a_]+: " then failed = line end
    if not failed then printed[#printed + 1] = line end
  end
  if #printed == 1 and printed[1] == "" then printed = {} end
  return printed, failed and failed:gsub("^DT%d+ ", "")
end

-- Where the error was raised: "at FILE:LINE" below it.
local function place(output)
  local at = output:match "\n%s+at ([^\n]-:%d+)"
    or output:match "\n%s+at ([^\n]+)"
  return at and (at:match "([^/]+)$" or at)
end

-- Run `args` (the options and the program) under `release`.  Returns nil and a
-- text when the program could not be run at all.
function M.run(tool, release, args)
  local base = os.tmpname()
  local record, log = base .. ".rec", base .. ".json"
  local argv = {tool.program(), "--torch", release, "-q", "--color", "never",
    "--record", record, table.unpack(args)}
  local output, code = tool.run(argv, "", 24 * 3600)
  local result
  local f = io.open(record, "rb")
  if f then
    f:close()
    tool.run({tool.program(), "-q", "--color", "never", "--no-rc",
      "--no-history", "--trust", "--open", record},
      ":export json " .. log .. "\n", 3600)
    local printed, failed = split(output or "")
    result = {release = release, code = code, printed = printed,
      error = failed, at = failed and place(output), ops = operators(log)}
  end
  os.remove(base)
  os.remove(record)
  os.remove(log)
  if result and (#result.ops > 0 or result.error or code == 0) then
    return result
  end
  return nil, (output or "the program was not run: " .. tostring(code))
end

return M

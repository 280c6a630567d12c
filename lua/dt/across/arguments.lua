-- SPDX-License-Identifier: MIT
-- dt/across/arguments.lua: the command line of the tools that run a program
-- more than once: their own options, and what each run is given.

local M = {}

-- Options of a run whose value is the next argument.
local valued = {["-n"] = true, ["--fake"] = true, ["--device"] = true,
  ["--mpi"] = true, ["--torch"] = true, ["-l"] = true}

-- parse(args, ours): `ours` names the tool's options that have a value, by
-- their spelling ("--across" or "--across=").  Returns what they and --json
-- say, with `program`, the place of the program in the second result: all
-- other arguments.  What stands behind the program is the program's.
function M.parse(args, ours)
  local o, rest, i = {}, {}, 1
  while i <= #args do
    local a = args[i]
    local name, value = a:match "^(%-%-%w+)=(.*)$"
    if not o.program and ours[a] then
      i = i + 1
      o[ours[a]] = args[i]
    elseif not o.program and name and ours[name] then
      o[ours[name]] = value
    elseif not o.program and a == "--json" then
      o.json = true
    else
      rest[#rest + 1] = a
      if not o.program and valued[a] then
        i = i + 1
        rest[#rest + 1] = args[i]
      elseif not o.program and not a:find "^%-" then
        o.program = #rest
      end
    end
    i = i + 1
  end
  return o, rest
end

return M

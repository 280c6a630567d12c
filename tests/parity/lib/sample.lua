-- SPDX-License-Identifier: MIT
-- lib/sample.lua: how much of the captured data a build runs.  A plain build
-- runs all of it; in the quick set every eighth of the traced programs, the
-- first case of each operator and every third of the rest.  A sanitizer is
-- slower by ten to twenty times and asks another question, which a case answers
-- as soon as it reaches the code: address and undefined run every sixteenth
-- program, the first case of each operator and every 16th of the rest; thread
-- every 64th program, and no cases of one rank.
-- The choice depends on the data alone, so that a failure can be run again.

local M = {}

local sanitizer = os.getenv "DTREPL_SANITIZER"
local quick = os.getenv "DTREPL_QUICK"
M.sanitizer = sanitizer
M.all = not sanitizer and not quick           -- every line of every file
local thread = sanitizer and sanitizer:find "thread"
local line_step = sanitizer and 16 or 3
local file_step = thread and 64 or sanitizer and 16 or quick and 8 or 1
M.all_files = file_step == 1

-- Of the files that fit a pattern of the shell every k-th, from the first on;
-- all where all_files says so.
function M.files(pattern)
  local p, out, n = assert(io.popen("ls " .. pattern)), {}, 0
  for path in p:lines() do
    if n % file_step == 0 then out[#out + 1] = path end
    n = n + 1
  end
  p:close()
  return out
end

-- What a case is about: its operator, else the function or kind it checks, else
-- the first words of its id.
local function subject(line)
  return line:match('"op":"([^"]*)"') or line:match('"fn":"([^"]*)"')
    or line:match('"kind":"([^"]*)"') or line:match('"id": "(%w+/%w+/[%w_]+)')
end

-- The cases of a file that are run, as one text; nil when all are, as of a
-- short one.
function M.lines(path)
  local all, out, seen = {}, {}, {}
  if M.all then return nil end
  for line in io.lines(path) do all[#all + 1] = line end
  if #all < 64 then return nil end
  for i, line in ipairs(all) do
    local key = subject(line)
    if i % line_step == 1 or key and not seen[key] then
      out[#out + 1] = line
    end
    if key then seen[key] = true end
  end
  return table.concat(out, "\n") .. "\n"
end

-- Write a sample to a file of its own and give run(path); run(path of all) when
-- the whole file is run.
function M.with_part(path, run)
  local text = M.lines(path)
  if not text then return run(path) end
  local part = os.tmpname()
  local f = assert(io.open(part, "w"))
  f:write(text)
  f:close()
  local got = run(part)
  os.remove(part)
  return got
end

return M

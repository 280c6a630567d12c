-- SPDX-License-Identifier: MIT
-- dt/diagnose/noticed.lua: what dtrepl notices in the program of a report that
-- says of a wrong result and prints no error: its findings, by line, and what
-- the program prints here.

local M = {}

local MAX_FINDINGS <const>, MAX_LINES <const>, MAX_COLUMNS <const> = 4, 4, 100

-- Ends the script that runs a report's program: its findings, which are read where
-- the program raised nothing.  All ranks come here, also where one has raised.
M.tail = [[
for _, f in ipairs(dt.debug.findings()) do
  print(("@finding %s %s %d %s: %s: %s"):format(f.code, f.severity,
    f.file == "report.py" and f.line or 0, f.op,
    (f.title:gsub("\n", " ")), (f.evidence:gsub("\n", " "))))
end
]]

local RANK <const> = {wrong = 1, likely = 2, note = 3}

local function line_of(program, n)
  for text in (program .. "\n"):gmatch "([^\n]*)\n" do
    n = n - 1
    if n == 0 then return text:match "^%s*(.-)%s*$" end
  end
end

-- {{code=, severity=, line=, source=, text=}}, what is wrong first.
local function findings_of(output, program)
  local list, seen = {}, {}
  for code, severity, line, text in
    output:gmatch "@finding (DT%d+) (%l+) (%d+) ([^\n]*)" do
    local n = math.tointeger(tonumber(line))
    if not seen[code .. line .. text] then
      list[#list + 1] = {code = code, severity = severity, text = text,
        line = n > 0 and n or nil, source = n > 0 and line_of(program, n) or nil,
        order = #list}
    end
    seen[code .. line .. text] = true
  end
  table.sort(list, function (a, b)
    local x, y = RANK[a.severity] or 4, RANK[b.severity] or 4
    return x < y or x == y and a.order < b.order
  end)
  return table.move(list, 1, math.min(#list, MAX_FINDINGS), 1, {})
end

-- The first lines that the program printed, of each text the first one.
local function printed(output)
  local list = {}
  for line in output:gmatch "[^\n]+" do
    local is_ours = line:find "^%[?[%d,%-]*%]? ?@%l" or line:find "^DT%d%d%d%d "
      or line:find "^dtrepl: "
    if not is_ours and #list < MAX_LINES and line:find "^%S" then
      list[#list + 1] = line:sub(1, MAX_COLUMNS)
    end
  end
  return list
end

-- What was noticed in a program that ran to its end: {findings=, printed=,
-- ranks=, torch=}.
function M.read(output, run)
  return {findings = findings_of(output, run.script), printed = printed(output),
    ranks = run.ranks, torch = run.torch, added = run.added}
end

-- Its lines for a person, without marks.
function M.lines(seen)
  local list = {("the report's own program%s raises nothing here, on %d ranks "
    .. "under torch %s%s"):format(seen.added and seen.added > 0
    and ", completed," or "", seen.ranks, seen.torch, #seen.findings == 0
    and "; nothing was found in it" or "")}
  for _, f in ipairs(seen.findings) do
    list[#list + 1] = ("%s%s %s"):format(f.code, f.line and (", line %d: %s:")
      :format(f.line, f.source) or "", f.text)
  end
  for _, line in ipairs(seen.printed) do
    list[#list + 1] = "it prints  " .. line
  end
  return list
end

return M

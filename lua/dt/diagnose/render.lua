-- SPDX-License-Identifier: MIT
-- dt/diagnose/render.lua: a report for a person, for a program, in a table.

local clean = require "dt.diagnose.clean"
local compare = require "dt.diagnose.compare"
local json = require "dt.io.json"
local noticed = require "dt.diagnose.noticed"
local releases = require "dt.diagnose.release"

local M = {}

-- What is less sure is a guess.
M.PROBABLE = 0.6

-- ---- pieces ------------------------------------------------------------

local function shape_text(shape)
  local list = {}
  for i, n in ipairs(shape or {}) do list[i] = ("%d"):format(n) end
  return "[" .. table.concat(list, ", ") .. "]"
end

-- "f32[8, 4]| S(0)R", "[16, 4]", "[f32[2]| R, f32[2]| S(0)]"
function M.arg_text(a)
  if a.kind == "dtensor" then
    return ("%s%s| %s"):format(a.dtype or "", a.shape and shape_text(a.shape)
      or "", table.concat(a.placements or {}))
  elseif a.kind == "tensor" then
    return (a.dtype or "") .. shape_text(a.shape)
  elseif a.kind == "list" then
    local list = {}
    for i, x in ipairs(a.items) do list[i] = M.arg_text(x) end
    return "[" .. table.concat(list, ", ") .. "]"
  end
  return a.text
end

-- "(dp=2, tp=4)" or "(2, 4)", with the device.
function M.mesh_text(m)
  local list = {}
  for i, n in ipairs(m.shape) do
    list[i] = m.names and m.names[i] and ("%s=%d"):format(m.names[i], n)
      or ("%d"):format(n)
  end
  local text = "(" .. table.concat(list, ", ") .. ")"
  return m.device and text .. " " .. m.device or text
end

-- "0-3, 6" of a sorted list.
function M.ranks_text(list)
  local out, i = {}, 1
  while i <= #list do
    local k = i
    while list[k + 1] == list[k] + 1 do k = k + 1 end
    out[#out + 1] = k > i and ("%d-%d"):format(list[i], list[k])
      or ("%d"):format(list[i])
    i = k + 1
  end
  return table.concat(out, ", ")
end

local function how_sure(c)
  if c >= 0.93 then return "certain" end
  if c >= 0.8 then return "likely" end
  if c >= M.PROBABLE then return "probable" end
  return "a guess"
end

-- ---- text --------------------------------------------------------------

-- A line's end that only wrap() made, for who wants whole lines (see lay).
local SOFT = "\1\n"

-- Words of `text` in lines of at most `width`, after `indent`; the breaks are
-- SOFT.
local function wrap(text, indent, width)
  local lines, line = {}, ""
  for w in text:gmatch "%S+" do
    if #line + #w + 1 > width and line ~= "" then
      lines[#lines + 1] = line
      line = w
    else
      line = line == "" and w or line .. " " .. w
    end
  end
  lines[#lines + 1] = line
  return table.concat(lines, SOFT .. indent)
end

-- The text with wrap's breaks, or `whole`, without them: a prompt breaks lines
-- itself, for its terminal.
local function lay(text, whole)
  return (whole and text:gsub(SOFT .. " *", " ") or text:gsub(SOFT, "\n"))
end

-- Where the operator was read when the message does not print it.
local function where_from(r)
  if r.op_how == "letters" then
    return "  (its letters; written without underscores)"
  elseif r.op_how == "line" then
    return ("  (from the line: %s)"):format(r.op_from:sub(1, 60))
  elseif r.op_how == "symbol" then
    return "  (from a C++ frame)"
  elseif r.op_how == "word" then
    return ("  (named in the text: %s)"):format(r.op_from)
  end
  return ""
end

local function put_facts(out, r)
  local function put(label, text)
    out[#out + 1] = ("  %-9s %s"):format(label, text)
  end
  if r.op then
    put("operator", r.op .. where_from(r))
  end
  for i, a in ipairs(r.args) do
    put(i == 1 and "args" or "", ("%d  %s"):format(i - 1, M.arg_text(a)))
  end
  for i, m in ipairs(r.meshes) do
    if i <= 3 then put(i == 1 and "mesh" or "", M.mesh_text(m)) end
  end
  if #r.meshes == 0 and r.device then put("device", r.device) end
  if #r.ranks > 0 then
    local silent = #r.all_ranks > #r.ranks
    put("ranks", M.ranks_text(r.ranks) .. " raised" .. (silent
      and (" (of %s)"):format(M.ranks_text(r.all_ranks)) or ""))
  end
  if r.torch then
    local t = r.torch
    local several = t.how ~= "stated" and t.range and t.range[1] ~= t.range[2]
    put("torch", ("%s, %s (%s)"):format(several and ("%s to %s"):format(
      t.range[1], t.range[2]) or t.release, t.how,
      wrap(t.evidence, "            ", 64)))
  end
  if r.user_frame then
    local installed = r.user_frame.path:find("-packages/", 1, true)
    put(installed and "last line" or "your line",
      ("%s:%d in %s"):format(r.user_frame.path,
      r.user_frame.line, r.user_frame.func))
  end
end

local function put_fixes(out, r)
  if #r.fixes == 0 then return end
  out[#out + 1] = "  fixes"
  for i, f in ipairs(r.fixes) do
    local cured = r.run and r.run.cures and r.run.cures[i]
    out[#out + 1] = ("  %3d  %s%s%s"):format(i, wrap((f.helped
      and "as the report found: " or "") .. f.text, "       ", 68),
      f.fixed_in and not f.text:find("your ", 1, true)
      and ("  [since %s]"):format(f.fixed_in) or "", cured or "")
    if f.lua then
      out[#out + 1] = "       Lua      " .. wrap(f.lua, "                ", 64)
    end
    if f.torch then
      out[#out + 1] = "       PyTorch  " .. f.torch:gsub("\n",
        "\n                ")
    end
  end
end

-- How the repro ended: the error of the report, of its operator or of another
-- one, or what is wrong without one.
local function ended(run, op)
  if not run.reproduced then return run.why or "does not raise it" end
  local parts = run.message and compare.ranks_part(run.message)
  local what = parts and "has its ranks in different collectives, as the report says"
    or "raises the same text"
  if run.own then
    return (run.added == 0 and "the report's own program "
      or ("the report's own code, with %d line%s added, "):format(run.added,
        run.added > 1 and "s" or "")) .. what
  end
  if parts then return what end
  if run.behind then return "shows " .. run.behind end
  if not run.raised then return "shows the same: nothing is raised" end
  local other = op and run.message and run.message:match "^([%w_]+%.[%w_.]+):"
  if other and other ~= op and run.message:find("^" .. other:gsub("%p", "%%%0"))
     and not run.message:find(op, 1, true) then
    return "raises the same error, with " .. other
  end
  if run.match == "form" then
    return "raises this error, with other numbers or in another release's words"
  end
  return "raises the same text"
end

-- The first line of what a fix that does not cure raises.
local function why_not(c)
  local first = c.why and c.why:match "^[^\n]*"
  if not first or first == "" then return "" end
  return " (" .. first .. ")"
end

-- What was raised, without the long line that a release puts behind it.
local function raised(message)
  local at = message:find("%s*\n%s*Sharding propagation failed for ")
  return at and at > 1 and message:sub(1, at - 1) or message
end

-- What the report's own program shows that raises nothing.
local function put_noticed(out, seen)
  for i, line in ipairs(seen and noticed.lines(seen) or {}) do
    out[#out + 1] = ("  %-9s %s"):format(i == 1 and "noticed" or "",
      wrap(line, "            ", 66))
  end
end

local function put_run(out, run, op)
  local without = run.without and "; it does without the report's "
    .. table.concat(run.without, ", ") or ""
  out[#out + 1] = "  repro     " .. wrap(ended(run, op) .. without,
    "            ", 66)
  if run.message then
    out[#out + 1] = "            " .. wrap(raised(run.message), "            ",
      66)
  end
  for _, c in ipairs(run.tried or {}) do
    out[#out + 1] = ("  %-9s %s"):format("tried", wrap(c.text .. ": "
      .. (c.cures and "cures it" or "does not cure it" .. why_not(c)),
      "            ", 66))
  end
  if run.export then out[#out + 1] = "  export    " .. run.export end
  if run.script then
    out[#out + 1] = "  script"
    for line in run.script:gmatch "[^\n]*" do
      out[#out + 1] = "    " .. line
    end
  end
end

local MOST_ASKED <const> = 2    -- of a class; the object has all questions

-- The page for a person.
function M.text(r, file, whole)
  local out = {}
  local head = file and file ~= "-" and file .. ": " or ""
  if r.class then
    out[1] = ("%s%s  %.2f  %s"):format(head, r.class.id, r.confidence,
      how_sure(r.confidence))
    out[2] = "  " .. r.class.name
  else
    out[1] = head .. (r.form == "empty" and "unknown: there is nothing to read"
      or "unknown: no class of the catalogue fits")
    if r.cause then out[2] = "  " .. wrap(r.cause, "  ", 76) end
    local near
    for i, n in ipairs(r.neighbour and {} or r.nearest) do
      near = ("%s (%.2f)%s"):format(n.id, n.score, n.decides
        and ", would print or say " .. n.decides or "")
      out[#out + 1] = ("  %-9s %s"):format(i == 1 and "nearest" or "",
        wrap(near, "            ", 66))
    end
  end
  local seen = r.run and r.run.noticed
  local is_wrong = seen and seen.findings[1]
    and seen.findings[1].severity == "wrong"
  if is_wrong then put_noticed(out, seen) end       -- more than any likeness
  put_facts(out, r)
  if r.class then
    out[#out + 1] = "  cause     " .. wrap(r.cause, "            ", 66)
  end
  for i, b in ipairs(r.because or {}) do
    out[#out + 1] = ("  %-9s %s"):format(i == 1 and "because" or "",
      wrap(b, "            ", 66))
  end
  for _, n in ipairs(r.notes) do
    out[#out + 1] = "  note      " .. wrap(n, "            ", 66)
  end
  put_fixes(out, r)
  if not is_wrong then put_noticed(out, seen) end
  if r.run then put_run(out, r.run, r.op) end
  for i, c in ipairs(r.checks or {}) do
    out[#out + 1] = ("  %-9s %s"):format(i == 1 and "find out" or "",
      wrap(c, "            ", 66))
  end
  if #r.threads > 0 then
    out[#out + 1] = "  threads   " .. wrap(table.concat(r.threads, " "),
      "            ", 66)
  end
  local most = r.class and MOST_ASKED or #r.questions
  for i = 1, math.min(most, #r.questions) do
    out[#out + 1] = ("  %-9s %s"):format(i == 1 and "ask" or "", r.questions[i])
  end
  return clean.utf8(lay(table.concat(out, "\n"), whole)) .. "\n"
end

-- ---- one object a file -------------------------------------------------

local function arg_json(a)
  local o = {{"kind", a.kind}, {"text", M.arg_text(a)}}
  if a.dtype then o[#o + 1] = {"dtype", a.dtype} end
  if a.shape then o[#o + 1] = {"shape", a.shape} end
  if a.placements then o[#o + 1] = {"placements", a.placements} end
  if a.items then
    local list = {}
    for i, x in ipairs(a.items) do list[i] = arg_json(x) end
    o[#o + 1] = {"items", list}
  end
  return json.object(o)
end

local function mesh_json(m)
  if not m then return json.null end
  return json.object {{"shape", m.shape}, {"names", m.names or json.null},
    {"device", m.device or json.null}, {"text", M.mesh_text(m)}}
end

local function fix_json(f)
  return json.object {{"text", f.text}, {"fixed_in", f.fixed_in or json.null},
    {"lua", f.lua or json.null}, {"torch", f.torch or json.null},
    {"helped", f.helped or false}}
end

local function map(list, f)
  local out = {}
  for i, v in ipairs(list) do out[i] = f(v) end
  return out
end

local function noticed_json(seen)
  if not seen then return json.null end
  return json.object {{"ranks", seen.ranks}, {"torch", seen.torch},
    {"findings", map(seen.findings, function (f)
      return json.object {{"code", f.code}, {"severity", f.severity},
        {"line", f.line or json.null}, {"source", f.source or json.null},
        {"text", f.text}}
    end)}, {"printed", seen.printed}}
end

local function run_json(run)
  if not run then return json.null end
  local tried = map(run.tried or {}, function (c)
    return json.object {{"fix", c.text}, {"cures", c.cures or false}}
  end)
  return json.object {{"reproduced", run.reproduced or false},
    {"cured_by", run.cured_by or json.null}, {"tried", tried},
    {"message", run.message or json.null}, {"why", run.why or json.null},
    {"script", run.script or json.null}, {"own", run.own or false},
    {"export", run.export or json.null},
    {"same_operator", run.own or run.same_operator or false},
    {"match", run.match or json.null}, {"without", run.without or {}},
    {"noticed", noticed_json(run.noticed)}}
end

-- Keys and their order are stable; new ones may come at the end of an object.
function M.json(r, file)
  local t = r.torch
  local torch = t and json.object {{"release", t.release}, {"how", t.how},
    {"evidence", t.evidence}, {"range", t.range or json.null}} or json.null
  return json.encode(json.object {
    {"schema", 1}, {"file", file or json.null},
    {"class", r.class and r.class.id or json.null},
    {"confidence", r.confidence or 0}, {"op", r.op or json.null},
    {"args", map(r.args, arg_json)}, {"mesh", mesh_json(r.meshes[1])},
    {"ranks", r.ranks}, {"torch", torch}, {"cause", r.cause or json.null},
    {"fixes", map(r.fixes, fix_json)}, {"threads", r.threads},
    {"questions", r.questions}, {"run", run_json(r.run)},
    {"name", r.class and r.class.name or json.null},
    {"nearest", map(r.nearest, function (n)
      return json.object {{"class", n.id}, {"confidence", n.score},
        {"decides", n.decides or json.null}}
    end)},
    {"meshes", map(r.meshes, mesh_json)}, {"notes", r.notes},
    {"foreign", r.foreign or json.null}, {"device", r.device or json.null},
    {"because", r.because or {}}, {"checks", r.checks or {}}, {"op_from", r.op_from or json.null},
  }) .. "\n"
end

-- ---- many files --------------------------------------------------------

-- The release of a report: as it says, or what its words leave open, "2.4-2.9",
-- "2.10+".
local function release_text(t)
  local range = t and t.how ~= "stated" and t.range
  if not range or range[1] == range[2] then return t and t.release or "-" end
  return range[2] == releases.newest and range[1] .. "+"
    or range[1] .. "-" .. range[2]
end

-- One line of the table.
function M.row(r, file)
  return ("%-34s %5s  %-32s %-8s %s\n"):format(
    r.class and r.class.id or r.foreign and "- (" .. r.foreign .. ")" or "-",
    r.class and ("%.2f"):format(r.confidence) or "", r.op or "-",
    release_text(r.torch), file)
end

-- One line for each cause that came more than once: how often, since when,
-- in which releases, where.
local function clusters(list)
  local by_key, keys = {}, {}
  for _, e in ipairs(list) do
    if e.class then
      local key = ("%s %s %s"):format(e.class, e.op or "-", e.cause or "")
      if not by_key[key] then
        by_key[key] = {n = 0, files = {}, torch = {}, class = e.class, op = e.op,
          cause = e.cause}
        keys[#keys + 1] = key
      end
      local c = by_key[key]
      c.n = c.n + 1
      if #c.files < 4 then c.files[#c.files + 1] = e.file end
      if e.torch and not c.torch[e.torch] then
        c.torch[e.torch] = true
        c.torch[#c.torch + 1] = e.torch
      end
      if e.seen and (not c.seen or e.seen < c.seen) then c.seen = e.seen end
    end
  end
  table.sort(keys, function (a, b)
    if by_key[a].n ~= by_key[b].n then return by_key[a].n > by_key[b].n end
    return a < b
  end)
  local out = {}
  for _, key in ipairs(keys) do
    local c = by_key[key]
    if c.n > 1 then
      table.sort(c.torch, function (a, b)
        return tonumber((a:gsub("^%d+%.", ""))) < tonumber((b:gsub("^%d+%.", "")))
      end)
      out[#out + 1] = ("%6d  %s%s%s%s: %s%s\n"):format(c.n, c.class,
        c.op and " of " .. c.op or "", c.seen and ", first seen " .. c.seen
        or "", #c.torch > 0 and ", torch " .. table.concat(c.torch, " ") or "",
        table.concat(c.files, " "), c.n > #c.files and " …" or "")
      if c.cause then
        out[#out + 1] = lay("        " .. wrap(c.cause:match "^.-%.%f[%s%z]"
          or c.cause, "        ", 70) .. "\n")
      end
    end
  end
  return out
end

-- How often each class came, and which reports are of one cause.
function M.summary(counts, total, entries)
  local list = {}
  for id, n in pairs(counts) do list[#list + 1] = {id, n} end
  table.sort(list, function (a, b)
    if a[2] ~= b[2] then return a[2] > b[2] end
    return a[1] < b[1]
  end)
  local out = {("\n%d reports\n"):format(total)}
  for _, p in ipairs(list) do
    out[#out + 1] = ("%6d  %s\n"):format(p[2], p[1])
  end
  local same = clusters(entries or {})
  if #same > 0 then
    out[#out + 1] = "\nof one cause\n"
    table.move(same, 1, #same, #out + 1, out)
  end
  return table.concat(out)
end

return M

-- SPDX-License-Identifier: MIT
-- dt/debug/report.lua: dt.debug.report: a bug report of what failed, or came
-- out wrong, last: repro in Lua and in PyTorch, expected and actual, a table
-- by rank, versions.  Both repros are run before they are written down.

local dt = require "dt"
local page = require "dt.debug.page"
local agreed = require "dt.debug.agreed"
local program = require "dt.debug.program"
local emit = require "dt.debug.emit"
local replay = require "dt.debug.replay"
local shrink = require "dt.debug.shrink"
local original = require "dt.debug.original"
local emit_python = require "dt.debug.emit_python"

local M = {}

-- The step the report is about: the one that failed, the first found wrong by
-- shadow mode, that of a finding, else the last.  All ranks choose alike: what
-- follows is collective.
-- Of an error of other ranks alone, what ran here then, and its facts.
local function target(P)
  local e = agreed.error_of(P.error)
  if e then
    local step = P.error
    for _, s in ipairs(step and {} or P.steps) do
      if s.seq <= e.seq then step = s end
    end
    return step, "error", e
  end
  local wrong, w = agreed.wrong(P)
  if wrong then return wrong, "wrong", w end
  local s, f = agreed.finding(P)
  if s then return s, "finding", f end
  return P.steps[#P.steps], "ran"
end

local function local_text(v)
  if not v or v.none then return "None" end
  local t = "{" .. table.concat(v.local_shape, ", ") .. "}"
  return t
end

-- An error that the script caught, of a call that was no operator.
local function caught(P)
  local s = P.error
  if not s or s.kind ~= "raise" then return nil end
  return {code = s.error, class = s.class, after = s.seq,
    message = s.message, where = s.where}
end

-- The error inside whose call the program is stopped, where that is no
-- operator of the record.
local function stopped(P)
  local c = dt.debug.raised()
  if not c or not c.stopped or P.error and P.error.kind ~= "raise" then return nil end
  return {code = c.code, class = c.class, after = c.seq, message = c.message,
    where = c.where ~= "" and c.where or nil}
end

-- raised(P) -> an error that is no operator's, when it is the last that was
-- raised: {code, class, message, where, after}; else nil.  Local.
local function raised(P)
  if not dt.debug.last_error then return caught(P) end
  local e, after = dt.debug.last_error()
  if not e or e == true then
    return caught(P) or stopped(P) or dt.debug.ended
  end
  local object = type(e) == "table"
  local r = {code = object and (e.id or e.code) or "DT0007", after = after,
    class = object and e.class or "RuntimeError",
    message = object and e.message or tostring(e), where = object and e.where}
  if not r.where then r.where = r.message:match("^([^:\n]+:%d+): ") end
  local typed = not r.where or r.where:match("^prompt:")
  if typed and (r.code == "DT0007" or r.code:match("^DT07")) then
    return nil                          -- a slip of the person's own
  end
  if P.error and P.error.kind == "raise" then
    return P.error.message == r.message and r or caught(P)
  end
  if P.error and (P.error.seq > after or P.error.message == r.message) then
    return nil
  end
  return r
end

M.raised = raised

-- The text of the script whose line is `where`; nil at the prompt.
local function script(where)
  local name = where and where:match("^(.*):%d+$")
  local text = name and dt.debug.source(name)
  if not text then return nil end
  return name:match("%.lua$") and text:gsub("%s+$", "") or nil
end

-- Rows {rank, input 1, ...} of the operator's inputs on each rank.
local function by_rank(seq)
  local e = program.entries{first = seq, last = seq}[1]
  local mine = {}
  for i, v in ipairs(e and e.inputs or {}) do
    mine[i] = local_text(v)
    local t = v.id and not dt.debug.no_data() and dt.debug.revive(v.id, seq)
    if t and v.kept then
      mine[i] = mine[i] .. dt.debug.quietly(function ()
        local x = t.is_dtensor and t:to_local() or t
        local n = x:numel()
        if n == 0 then return " empty" end
        if not v.dtype:match("float%d") or v.dtype:match("float8") then
          return ""
        end
        return (" sum %.6g"):format(x:to(dt.float64):sum():item())
      end)
    end
  end
  local rows = {}
  for r, text in ipairs(dt.debug.from_all(replay.dump(mine))) do
    rows[r] = {rank = r - 1, inputs = replay.undump(text)}
  end
  return rows, e
end

local function expected(P)
  if dt.debug.no_data() then return nil end
  local ok, Q = pcall(program.plain, P)
  if not ok then return nil end
  local r = replay.run(Q, {ranks = 1})
  if r.ok then
    local last = r.steps[#r.steps]
    return last and last.specs[1] and "one device gives "
      .. table.concat(last.specs, ", ") or "one device runs it"
  end
  return "one device raises, too: " .. tostring(r.error.message)
end

local function describe(d)
  local out = {}
  local function add(fmt, ...)
    out[#out + 1] = select("#", ...) > 0 and fmt:format(...) or fmt
  end
  add("# %s", d.title)
  add("")
  add("%s", d.summary)
  if d.message then
    add("")
    add("```")
    add("%s", (d.message:gsub("%%", "%%%%")))
    add("```")
  end
  add("")
  add("## Repro (dtrepl)")
  add("")
  add("`dtrepl -n %d repro.lua`%s", d.ranks, d.reproduced
    and " – run before writing this: " .. d.reproduced or "")
  add("")
  add("```lua")
  out[#out + 1] = d.lua
  add("```")
  add("")
  add("## Repro (PyTorch)")
  add("")
  add("`python repro.py` (%s), or `torchrun --nproc-per-node %d repro.py`",
    d.ranks <= emit_python.REAL
      and ("it makes its %d processes itself"):format(d.ranks)
      or "one process that pretends to be rank 0", d.ranks)
  add("")
  add("```python")
  out[#out + 1] = d.torch:gsub("\n+$", "")
  add("```")
  add("")
  if d.whole then
    add("<details><summary>All of the %d operators that ran before it"
      .. "</summary>", d.whole.steps)
    add("")
    add("```Lua")
    out[#out + 1] = d.whole.lua
    add("```")
    add("")
    add("```py")
    out[#out + 1] = d.whole.torch:gsub("\n+$", "")
    add("```")
    add("")
    add("</details>")
    add("")
  end
  add("## Expected and actual")
  add("")
  add("- expected: %s", d.expected or dt.debug.no_data()
    and "(not run: there is no data)" or "(does not run on one device)")
  add("- actual: %s", d.actual)
  add("")
  if #d.by_rank > 0 then
    add("## What each rank held")
    add("")
  end
  local head = {"rank"}
  for _, v in ipairs(d.inputs) do
    head[#head + 1] = (v.name and v.name .. " " or "")
      .. v.spec:gsub("|", "\\|")
  end
  if #d.by_rank > 0 then
    add("| %s |", table.concat(head, " | "):gsub("%%", "%%%%"))
    add("|%s", (" --- |"):rep(#head))
  end
  for _, r in ipairs(d.by_rank) do
    add("| %d | %s |", r.rank, table.concat(r.inputs, " | "))
  end
  if #d.by_rank > 0 then add("") end
  add("## Versions")
  add("")
  add("- dtrepl %s, behaving as PyTorch %s", d.versions.dtrepl,
    d.versions.torch)
  add("- world: %d ranks", d.ranks)
  return table.concat(out, "\n") .. "\n"
end

local function about(kind, s, e, w)
  if kind == "error" then
    return ("%s in %s"):format(e.error, e.op),
      ("`%s` raises at %s."):format(e.op, page.place(e)), e.message,
      ("%s: %s"):format(e.error, e.message)
  elseif kind == "wrong" then
    return ("wrong result of %s (%s)"):format(w.op, w.cause or "?"),
      ("`%s` at %s does not give what one device gives: %s."):format(w.op,
      page.place(w), w.words), nil, ("differs by %g from one device: %s")
      :format(w.worst, w.words)
  end
  local specs = {}
  for i, v in ipairs(e and e.outputs or {}) do specs[i] = v.spec end
  if kind == "finding" then
    return ("%s: %s (%s)"):format(w.code, w.title, w.op),
      ("`%s` at %s: %s."):format(w.op, page.place(w), w.evidence), nil,
      ("%s; fix: `%s`"):format(w.cause, w.torch)
  end
  return ("%s #%d"):format(s.op or s.kind, s.seq),
    ("`%s` at %s ran."):format(s.op or s.kind, page.place(s)), nil,
    "gives " .. table.concat(specs, ", ")
end

-- Did the replay raise the same error?
local function compare(r, kind, e)
  if kind ~= "error" then
    return r.ok and "it runs" or "it raises " .. tostring(r.error.message)
  end
  if r.ok then return "it does NOT raise" end
  return replay.shape_of(r.error.message) == replay.shape_of(e.message)
    and "it raises the same" or "it raises " .. tostring(r.error.message)
end

-- Nothing failed and nothing was found: a page about the last operator would be
-- about nothing.  Into a file it is written all the same.
local function nothing()
  local d = {title = "nothing", versions = dt.debug.versions(),
    summary = "nothing failed, and nothing was found: there is nothing to "
      .. "report\n:report FILE writes a repro of what ran last all the same; "
      .. ":verify compares operators with one device"}
  return page.new(d, function () return d.summary end)
end

-- dt.debug.report([file]): {title, summary, message, lua, torch, expected,
-- actual, inputs, by_rank, reproduced, versions}, and of an error that fewer
-- operators raise in the same words, {whole = {lua, torch, steps}}; prints as Markdown, and rank
-- 0 writes that to `file`.  Without one, of a run in which nothing went wrong, title
-- and summary say so and the rest is not there.  Collective.
function M.report(file)
  local P = program.build()
  local no_op = agreed.error_of(raised(P))
  if no_op then return M.finish(M.of_raised(P, no_op), file) end
  if #P.steps == 0 then page.fail("COMMAND", "nothing is recorded") end
  local s, kind, w = target(P)
  if kind == "ran" and (file or "") == "" then return nothing() end
  local Q = agreed.slice(P, {s})
  local rows, e = by_rank(s.seq)
  local d = {ranks = P.ranks, by_rank = rows, inputs = {},
    versions = dt.debug.versions()}
  local failed = kind == "error" and w
  d.title, d.summary, d.message, d.actual = about(kind, s, failed or e or s, w)
  for i, v in ipairs(e and e.inputs or {}) do
    d.inputs[i] = {name = page.name_of(v.id or 0), spec = v.spec or "None"}
  end
  d.lua = emit.lua(Q, {whole = true})
  d.torch = emit.python(Q)
  local small = failed and failed.message and agreed.first(not P.error) == nil
    and shrink.same_words(P)
  if small then
    d.whole = {lua = d.lua, torch = d.torch, steps = small.before}
    d.lua, d.torch, d.steps = small.lua, small.torch, small.steps
  end
  d.expected = expected(Q)
  local r = replay.run_text(d.lua, P.ranks, {fake = dt.debug.no_data()})
  d.reproduced = compare(r, kind, failed or e or s)
  return M.finish(d, file)
end

-- The report of an error that no operator raised: the script is the repro, for
-- PyTorch the call and what it needs, or else what ran before.
function M.of_raised(P, e)
  local d = {ranks = P.ranks, by_rank = {}, inputs = {},
    versions = dt.debug.versions(), message = e.message}
  d.title = ("%s: %s"):format(e.code, e.message:match("[^\n]*"))
  d.summary = ("`%s` raises %s after operator #%d.")
    :format(e.where or "the prompt", e.class, e.after)
  d.actual = ("%s: %s"):format(e.code, e.message)
  d.lua = script(e.where)
  local call = P.error and P.error.kind == "raise" and P.error
  local Q = agreed.first(call and true) and agreed.slice(P, {call})
  local r
  if d.lua then
    r = replay.run_text(d.lua, P.ranks, {fake = dt.debug.no_data()})
    d.reproduced = compare(r, "error", e)
  else
    d.lua = emit.lua(Q or P, {whole = true})
  end
  if Q then
    d.torch = emit.python(Q)
    return d
  end
  d.torch = original.script(P.ranks) or "# The call that raises is no operator: "
    .. "this is what ran before it.\n" .. emit.python(P)
  return d
end

-- Write the report to `file`, when there is one.  Collective.
function M.finish(d, file)
  if file and file ~= "" then page.write(file, describe(d)) d.file = file end
  return page.new(d, function ()
    if d.file then
      return ("report in %s (%s)"):format(d.file, d.reproduced
        or "not run again")
    end
    return describe(d)
  end)
end

return M

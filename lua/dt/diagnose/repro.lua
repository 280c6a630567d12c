-- SPDX-License-Identifier: MIT
-- dt/diagnose/repro.lua: `--run`: a minimal script from the facts of a report,
-- run in the sandbox under the report's release and device; whether the same
-- text arises, and which fixes cure it.
--
-- scenarios.lua says what a class's script does, script.lua writes its values.

local facts = require "dt.diagnose.facts"
local releases = require "dt.diagnose.release"
local beyond = require "dt.diagnose.beyond"
local code = require "dt.diagnose.code"
local compare = require "dt.diagnose.compare"
local export = require "dt.diagnose.export"
local read = require("dt.diagnose").read
local noticed = require "dt.diagnose.noticed"
local keywords = require "dt.diagnose.keywords"
local own_program = require "dt.diagnose.own"
local pyscenes = require "dt.diagnose.pyscenes"
local scenarios = require "dt.diagnose.scenarios"
local script = require "dt.diagnose.script"

local M = {}

local SECONDS = 20              -- a repro takes milliseconds

local prelude = [[
local function try(what, f)
  local ok, e = pcall(f)
  local text = ok and "fine" or type(e) == "table" and e.torch or tostring(e)
  local why = not ok and type(e) == "table" and e.autopsy
    and e.autopsy:match "\n  because: ([^\n]+)"
  if why then text = text .. "\n@because " .. why end
  if not ok and type(e) == "table" and e.class then
    text = text .. "\n@class " .. e.class
  end
  if not ok and type(e) == "table" and e.reason == "absent" then
    text = text .. "\n@absent " .. (e.lacks or "")
  end
  print(("@%s %s %s"):format(what, ok and "ok" or "raises",
    (text:gsub("\n", "\\n"))))
end
]]

-- The same for a reader of the script.
local SHORT <const> = [[
local function try(what, f)
  local ok, e = pcall(f)
  print(what, ok and "fine" or type(e) == "table" and e.torch or e)
end
]]

-- The script as it is shown.
local function readable(text)
  local at, to = text:find(prelude:gsub("\n$", ""), 1, true)
  if not at then return text end
  return text:sub(1, at - 1) .. SHORT:gsub("\n$", "") .. text:sub(to + 1)
end

-- ---- running -----------------------------------------------------------

-- The device profile the report speaks of.
local function device_of(r)
  local m = r.meshes[1]
  local known = {cpu = true, cuda = true, npu = true, xla = true}
  if m and known[m.device] then return m.device end
  if r.op and r.op:find "^npu%." then return "npu" end
  if r.class and r.class.id == "xla-sharded-tensor" then return "xla" end
  return "cpu"
end

-- Releases the profiles know.
local function profile_release(name)
  local n = name and releases.number(name)
  if not n then return releases.newest end
  n = math.max(releases.number(releases.releases[1]),
    math.min(releases.number(releases.newest), n))
  return releases.name(n)
end

local function run_script(tool, text, o, at_prompt)
  local argv = {tool.program(), "--sandbox", "--no-rc", "--no-history",
    "--color", "never", "--torch", o.torch, "--device", o.device}
  if o.ranks <= 8 then
    argv[#argv + 1] = "-n"
  else
    argv[#argv + 1] = "--fake"
  end
  argv[#argv + 1] = ("%d"):format(o.ranks)
  if not at_prompt then argv[#argv + 1] = "-" end
  return tool.run(argv, text, SECONDS)
end

-- What the script printed: {[what] = {ok=, text=}}.  A rank that was left waiting
-- says less than the one that left it.
local function results_of(output)
  local out = {}
  for what, how, text in output:gmatch "@(%w+ ?%d*) (%l+) ([^\n]*)" do
    local before = out[what]
    if not before or how ~= "ok" and compare.ranks_part(before.text)
      and not compare.ranks_part(text) then
      out[what] = {ok = how == "ok", text = text:gsub("\\n", "\n")}
    end
  end
  return out
end

-- The script of a scenario: what fails, then each fix.
local function write(scenario, r, o)
  local mesh = scenario.mesh
  local lines = {("-- dtrepl: %storch=%s device=%s"):format(
    o.ranks <= 8 and ("ranks=%d "):format(o.ranks) or "", o.torch, o.device),
    "-- A repro of " .. r.class.id .. ", written from a report.",
    (prelude:gsub("\n$", ""))}
  if mesh then
    lines[#lines + 1] = script.mesh_line(mesh, o.device)
  end
  for _, line in ipairs(scenario.setup or {}) do lines[#lines + 1] = line end
  lines[#lines + 1] = ('try("repro", function () %s end)'):format(scenario.fail)
  for i, f in ipairs(scenario.fixes or {}) do
    if f.before then lines[#lines + 1] = f.before end
    lines[#lines + 1] = ('try("fix %d", function () %s end)'):format(i, f.lua)
  end
  return table.concat(lines, "\n") .. "\n"
end

-- Whether what was printed is the report's fault.
local function judge(run, got, scene, r)
  run.raised = not got.repro.ok
  run.message = run.raised and compare.message(got.repro.text) or nil
  run.same_operator = not r.op or run.raised
    and got.repro.text:find(r.op, 1, true) ~= nil
  if scene.silent then
    -- what prints a message is no silent fault
    run.reproduced = got.repro.ok and #r.exceptions == 0
    run.match = run.reproduced and "same" or nil
    run.message = run.reproduced and scene.silent or nil
    if not run.reproduced then run.why = "raises nothing" end
  elseif run.raised and scene.expects then
    run.reproduced = got.repro.text:find(scene.expects, 1, true) ~= nil
    run.match = run.reproduced and (scene.behind and "behind" or "form") or nil
    run.behind = run.reproduced and scene.behind or nil
    run.why = "raises another error"
  elseif run.raised then
    local how, why = compare.judge(read, r, got.repro.text)
    run.reproduced, run.match = how ~= nil, how
    run.why = why
  else
    run.reproduced = false
    run.why = "does not raise under the profile of " .. run.torch
  end
end

-- Does `text` say what `cure` says?  All longer words of it, by their stems.
local function same_words(text, cure)
  local stems, low = 0, text:lower()
  for w in cure:lower():gmatch "%a%a%a%a+" do
    stems = stems + 1
    if not low:find(w:sub(1, 6), 1, true) then return false end
  end
  return stems > 0
end

-- The fix that is printed and says what was tried, or nil.  That of a newer
-- release is said by any that says to upgrade to one.
local function printed_fix(r, tried)
  local release = tried.text:match "^torch ([%d.]+)$"
  for _, f in ipairs(r.fixes) do
    if f.text == tried.text or same_words(f.text, tried.text)
      or release and f.text:find "^upgrade"
      and (releases.number(f.fixed_in or release) or 0)
        <= releases.number(release) then
      return f
    end
  end
end

-- Of what was tried the first that cures and is printed, then a newer release
-- that is, else the first that cures; nil for none.
local function first_cure(r, tried)
  local first, release
  for _, t in ipairs(tried) do
    if t.cures then
      local printed, upgrade = printed_fix(r, t), t.text:find "^torch "
      if printed and not upgrade then return t.text end
      release = release or printed and t.text
      first = first or t.text
    end
  end
  return release or first
end

-- What came of fix `i`.  Once ranks have parted no collective works: then it is run
-- by itself.
local function outcome_of_fix(tool, run, got, candidate, i)
  local name = "fix " .. i
  local g = got[name]
  if not candidate.fix_alone or not g or g.ok
    or not g.text:find("ranks took different paths before", 1, true) then
    return g
  end
  local output = run_script(tool, candidate.fix_alone(i), run)
  return output and results_of(output)[name]
end

-- Which fixes cure it, and whether a newer release does.  One that is printed
-- already goes before one that is not.
local function try_fixes(tool, run, got, candidate, r)
  local scene = candidate.scene
  if run.timed_out or not run.raised and not scene.silent then return end
  for i, f in ipairs(scene.fixes or {}) do
    local g = outcome_of_fix(tool, run, got, candidate, i)
    run.tried[#run.tried + 1] = {text = f.text, lua = f.lua, python = f.python,
      cures = g and g.ok or false, why = g and not g.ok and compare.message(g.text) or nil}
  end
  if not run.reproduced then return end
  if not scene.silent and run.torch ~= releases.newest then
    local o = {ranks = run.ranks, torch = releases.newest, device = run.device}
    local out = run_script(tool, candidate.script(releases.newest), o)
    local again = out and results_of(out).repro
    table.insert(run.tried, 1, {text = "torch " .. releases.newest,
      cures = again ~= nil and again.ok,
      why = again and not again.ok and compare.message(again.text) or nil})
  end
  run.cured_by = first_cure(r, run.tried)
end

-- A cure that is printed is marked; one of the very message goes first.
local function mark_cure(r, fix, is_first, elsewhere)
  fix.text = fix.text .. (elsewhere and " (tried here, on a smaller program: cures it)"
    or " (tried here: cures it)")
  for i, f in ipairs(r.fixes) do
    if f == fix and is_first then
      table.insert(r.fixes, 1, table.remove(r.fixes, i))
      return
    end
  end
end

-- The cure is among the fixes that are printed.
local function print_cure(r, run)
  if not run.cured_by then return end
  for _, t in ipairs(run.tried) do
    if t.text == run.cured_by then
      local f = printed_fix(r, t)
      local upgrade = t.text:find "^torch "
      local is_first = run.specific and not upgrade
      if f then return mark_cure(r, f, is_first, t.elsewhere) end
      -- what cures the very message goes before what fits its class
      table.insert(r.fixes, is_first and 1 or #r.fixes + 1, {
        text = upgrade and "upgrade to " .. t.text
          .. ": the same script runs there" or t.text .. " (tried here)",
        lua = t.lua and not t.lua:find "call_sample" and not t.lua:find "\n"
          and t.lua:gsub("^return ", "") or nil, torch = t.python})
      return
    end
  end
end

-- ---- candidates --------------------------------------------------------

-- A candidate is {ranks=, device=, torch=, scene=, script=, run=}: `script`
-- writes what is run under a release, `run` are fields of the result, `torch`
-- is set where the class decides the release.

-- What runs in the script, not here.
local RUN_PYTHON <const> = "local function python(text) "
  .. "require(\"torch.script\").run_part(text, \"repro.py\") end\n"

-- A warning of the library's is an error, as simplefilter("error") makes it.
local WARNS <const> = "dt._warn = function (text) error(text, 0) end\n"

local MAX_OWN_RUNS <const> = 3  -- a program of the report takes longer

-- The report's own programs, completed.
local function own_candidates(r)
  local list = {}
  for i, p in ipairs(own_program.scripts(r, prelude)) do
    list[i] = {ranks = p.ranks, device = device_of(r), scene = {},
      max_runs = i == 1 and MAX_OWN_RUNS or 2,
      script = function () return p.script end,
      run = {script = p.program, own = true, command = p.command, added = p.added,
        invented = p.invented}}
  end
  return list
end

-- A scene in Python.
local function python_candidate(scene)
  local function tried(what, program)
    return ("try(%q, function () python(%q) end)\n"):format(what, program)
  end
  local head = prelude .. RUN_PYTHON .. (scene.warns and WARNS or "")
  local lua = head .. tried("repro", scene.program)
  for i, f in ipairs(scene.fixes) do
    lua = lua .. tried("fix " .. i, f.program)
  end
  return {ranks = scene.ranks, device = "cpu", scene = scene,
    script = function () return lua end,
    fix_alone = function (i)
      return head .. tried("fix " .. i, scene.fixes[i].program)
    end,
    run = {script = scene.program, program = true}}
end

-- A scene in Lua, written from the facts of the report.
local function lua_candidate(r)
  local s = scenarios.find(r)
  if not s then return nil end
  local c = {ranks = s.ranks or s.mesh and s.mesh.size or 4, scene = s,
    device = s.device or device_of(r), torch = s.torch}
  function c.script(torch)
    return write(s, r, {ranks = c.ranks, torch = torch, device = c.device})
  end
  c.run = {scenario = s, mesh_line = s.mesh and script.mesh_line(s.mesh, "cpu")}
  return c
end

-- What says that the operator of a scene is none of dtrepl's, or nil.
local function no_operator(output)
  local space, name = output:match
    "'_OpNamespace' '([%w_]+)' object has no attribute '([%w_]+)'"
  return name and ("cannot be raised here: dtrepl has no operator %s.%s"):format(space,
    name)
end

-- One candidate under one release.
local function run_candidate(tool, r, c, torch)
  local run = {tried = {}, torch = torch, device = c.device, ranks = c.ranks}
  for k, v in pairs(c.run) do run[k] = v end
  local text = c.script(torch)
  run.script = run.script or readable(text)
  local output, code, how = run_script(tool, text, run)
  local got = output and results_of(output)
  if not output then
    run.reproduced = false
    run.why = "the repro could not be started: " .. tostring(code)
  elseif not got.repro then
    run.reproduced = false
    run.tried, run.timed_out = {}, how == "time"
    run.why = how == "time" and "the repro took too long" or no_operator(output)
      or "the repro itself failed: " .. output:sub(1, 200):gsub("%s+", " ")
  else
    judge(run, got, c.scene, r)
    if run.own and not run.raised then run.noticed = noticed.read(output, run) end
  end
  return run, got
end

-- Is `release` one that the report's wording leaves open?
local function in_range(r, release)
  local range, number = r.torch and r.torch.range, releases.number
  return not range or number(release) >= number(range[1])
    and number(release) <= number(range[2])
end

local MAX_RUNS <const> = 6      -- of one candidate

-- At most `n` of a list, spread over it, the first among them.
local function spread(list, n)
  if #list <= n then return list end
  local out = {}
  for i = 0, n - 1 do out[i + 1] = list[1 + i * (#list - 1) // (n - 1)] end
  return out
end

-- Releases to try: the one the report says, else the newest and then those
-- whose words differ from the next one's, as far as the wording leaves them
-- open, newest first.
local function releases_of(tool, r, c)
  local stated = c.torch or r.torch and r.torch.release
  local list, seen = {}, {}
  local function add(release)
    if not seen[release] then list[#list + 1] = release end
    seen[release] = true
  end
  add(profile_release(stated))
  if r.torch and r.torch.how == "stated" and r.torch.evidence:find "%.dev%d" then
    -- a build on the way to a release may still be as the one before
    add(profile_release(releases.name(releases.number(stated) - 1)))
  end
  if r.torch and r.torch.how ~= "inferred" then return list end
  for _, release in ipairs(tool.worded_releases()) do
    if in_range(r, release) then add(release) end
  end
  return spread(list, c.max_runs or MAX_RUNS)
end

-- Classes of a program that misses a name of its own.
local MISSES <const> = {NameError = true, ModuleNotFoundError = true}

local function is_absent(text) return text:find("\n@absent ", 1, true) ~= nil end

-- What a program raises that misses a name or asks for what is not here: no
-- release changes that.
local function is_beyond(text)
  return is_absent(text) or MISSES[text:match "\n@class ([^\n]+)"] or false
end

-- One candidate, under the release the report says or the one whose words fit:
-- the words are those of one release, and what raises in one may run in another.
-- A program with values made up counts by the very words alone.
local function reproduce(tool, r, c)
  local best, got
  for i, release in ipairs(releases_of(tool, r, c)) do
    local run, one = run_candidate(tool, r, c, release)
    if run.invented and run.match ~= "same" then
      run.reproduced, run.match = false, nil
    end
    if i == 1 or run.match == "same" or run.match and not best.match then
      best, got = run, one
    end
    if run.match == "same" or run.behind or c.scene.silent or #r.exceptions == 0
      or one and one.repro and is_beyond(one.repro.text) then
      break
    end
  end
  return best, got
end

-- Of several candidates the first that raises the very message, else the
-- first that raises another form of it, else the last one's reason.
local function best_of(tool, r, candidates)
  local best
  for _, c in ipairs(candidates) do
    local run, got = reproduce(tool, r, c)
    if not best or not best.run.reproduced or run.match == "same" then
      best = {run = run, got = got, candidate = c}
    end
    if run.match == "same" then break end
  end
  return best
end

-- The scenes of a report: of its message, of its class, of its facts.
local function scene_candidates(r)
  local list = {}
  -- a message of no class and no neighbour is another program's
  local of_message = (r.class or r.neighbour) and pyscenes.of_message(r)
  local of_class = r.class and pyscenes.of_class(r)
  if of_message then
    list[1] = python_candidate(of_message)
    list[1].run.specific = true
  end
  if of_class then list[#list + 1] = python_candidate(of_class) end
  list[#list + 1] = r.class and lua_candidate(r) or nil
  return list
end

local GUESS <const> = 0.6       -- a class below this gives way to what is raised

-- What the program of a report raises under a release, or nil.
local function error_of(tool, c, torch)
  local output = run_script(tool, c.script(torch), {ranks = c.ranks,
    device = c.device, torch = torch})
  local got = output and results_of(output).repro
  if got and not got.ok and not is_absent(got.text) then return got end
end

local RECENT <const> = 4        -- releases that a program is run under

-- The last releases that do not have what the printed fixes say is mended, as far as
-- the report leaves them open.
local function before_fixes(r)
  local list, seen = {}, {}
  for _, f in ipairs(r.torch and r.torch.how == "stated" and {} or r.fixes) do
    local release = f.fixed_in and releases.name(releases.number(f.fixed_in) - 1)
    if release and release == profile_release(release) and in_range(r, release)
      and not seen[release] and #list < RECENT then
      seen[release] = true
      list[#list + 1] = release
    end
  end
  return list
end

-- The releases under which a report's program may raise: the stated one, or some
-- recent ones; where the class is known, those before it was mended.
local function torches_of(tool, r)
  if r.class and r.confidence >= GUESS then return before_fixes(r) end
  local list = {profile_release(r.torch and r.torch.release)}
  for _, release in ipairs(r.torch and {} or tool.worded_releases()) do
    if #list < RECENT then list[#list + 1] = release end
  end
  return list
end

-- What a report's program raises, and under which release: the first of those under
-- which it raises anything.
local function own_error(tool, r)
  local torches = torches_of(tool, r)
  for _, c in ipairs(own_candidates(r)) do
    for _, torch in ipairs(c.run.invented and {} or torches) do
      local got = error_of(tool, c, torch)
      if got then return got, torch end
    end
  end
end

-- A report that prints no error and has its program: what that raises is read
-- in its place.
local function read_own_error(tool, r)
  if #r.exceptions > 0
    or r.text:find "%f[%w]%u%w*Error: " then        -- one in a comment, say
    return
  end
  local got, torch = own_error(tool, r)
  if not got then return end
  local message = compare.message(got.text)
  local again = read(r.text .. "\n" .. (got.text:match "\n@class ([^\n]+)"
    or "Error") .. ": " .. message)
  if not again.class or r.class and r.confidence >= GUESS and again.class ~= r.class then
    return
  end
  for k, v in pairs(again) do r[k] = v end
  r.notes[#r.notes + 1] = ("the text prints no error; its program raises here, "
    .. "under torch %s: %s"):format(torch, message:match "^[^\n]+")
end

-- Does the text end in a call whose result nobody keeps?  Then it is a program
-- that was written to raise, not the lines before the one that does.
local function ends_in_call(text)
  local tree = code.program(text)
  local last = tree and tree[#tree]
  return last ~= nil and #code.calls(last) > 0 and last.kind ~= "assign"
    and last.kind ~= "def" and last.kind ~= "class"
end

-- The release under which the report's own program, shown whole, runs to its
-- end, the newest if it does there; nil where it does not or was not run.
local function runs_under(tool, own)
  if not own or own.run.raised ~= false or own.run.invented
    or not own.got or not own.got.repro or not ends_in_call(own.run.script)
  then
    return nil
  end
  return error_of(tool, own.candidate, releases.newest) and own.run.torch
    or releases.newest
end

-- A program of the report that runs here: what its message says is not raised
-- by it, and a newer release may be all that is needed.
local function tell_that_it_runs(r, run, own, torch)
  local others = run.reproduced and "; the script below raises the text in "
    .. "another way" or ""
  run.reproduced, run.match, run.cured_by = false, nil, nil
  run.why = ("the report's own program runs here under torch %s without "
    .. "raising%s"):format(torch, others)
  local stated = r.torch and r.torch.how == "stated" and r.torch.release
  if torch ~= releases.newest or stated == torch then return end
  local tried = {text = "torch " .. torch, cures = true}
  local f = printed_fix(r, tried)
  local said = " (tried here: your program runs under " .. torch .. ")"
  if f then
    f.text = f.text .. said
  else
    table.insert(r.fixes, 1, {text = "upgrade to torch " .. torch .. said})
  end
  run.cured_by, run.tried = tried.text, {tried}
  if others == "" then run.script, run.message = own.run.script, nil end
end

-- The printed fixes that are a keyword of a call which the report's own program
-- makes: what came of the program with it.
local function keyword_fixes(tool, r, own)
  local list = {}
  for _, f in ipairs(r.fixes) do
    local text = keywords.apply(own.run.script, f.torch)
    if text and #list < MAX_OWN_RUNS then
      local c = {ranks = own.candidate.ranks, device = own.candidate.device}
      local lua = own_program.script(r, text, prelude)
      function c.script() return lua end
      local got = error_of(tool, c, own.run.torch)
      list[#list + 1] = {text = f.text, python = f.torch, cures = not got,
        why = got and compare.message(got.text) or nil}
    end
  end
  return list
end

-- What was tried for the report's own program: the fixes that are edits of it, those
-- of the scene, and the program itself under the newest release.
local function tried_of(tool, r, own, scene)
  local list, seen = keyword_fixes(tool, r, own), {}
  for _, t in ipairs(list) do seen[t.text] = true end
  for _, t in ipairs(scene.reproduced and scene.tried or {}) do
    if not t.text:find "^torch " and not seen[t.text] then
      t.elsewhere = true
      list[#list + 1] = t
    end
  end
  if own.run.torch ~= releases.newest then
    local got = error_of(tool, own.candidate, releases.newest)
    table.insert(list, 1, {text = "torch " .. releases.newest, cures = not got,
      why = got and compare.message(got.text) or nil})
  end
  return list
end

-- What the report's own program needs and dtrepl has not, or nil.
local function lacks_of(own)
  local got = own and own.got and own.got.repro
  local what = got and got.text:match "\n@absent ([^\n]+)"
  return what and ("its program needs %s, which is not part of dtrepl: "
    .. "dtrepl_record.py records it where PyTorch is"):format(what)
end

-- What the report's own program raises where the report prints no error, or nil.
local function raised_by(r, own)
  local got = own and own.got and own.got.repro
  if not got or got.ok or own.run.invented or #r.exceptions > 0 then return nil end
  local said = compare.message(got.text):match "^%s*([^\n]+)"
  local class = got.text:match "\n@class ([^\n]+)"
  return ("the report prints no error; its program raises here, under torch %s: %s")
    :format(own.run.torch, said and class and class .. ": " .. said or said or class
      or "an error")
end

-- What a report may have around its operator: how it is called, the words that
-- say it, what a script has in it that has it.
local wrappers <const> = {
  {"fully_shard", {"fully_shard", "FSDP2", "FSDP 2", "fsdp2", "FSDP-2"},
    {"fully_shard"}},
  {"tensor parallel plan", {"wiseParallel", "SequenceParallel",
    "parallelize_module", "tp_plan"}, {"parallelize_module"}},
  {"activation checkpoint", {"recompute_fn", "in unpack_hook"},
    {"checkpoint("}},
  {"state dict helper", {"set_model_state_dict", "set_optimizer_state_dict",
    "dcp.load"}, {"state_dict(", "load_plan("}},
}

local function holds_any(text, words)
  for _, w in ipairs(words) do
    if text:find(w, 1, true) then return true end
  end
  return false
end

-- The wrappers that the report names and its repro does without.
local function left_out(r, run)
  local list = {}
  for _, w in ipairs(wrappers) do
    if holds_any(r.doc.flat, w[2]) and not holds_any(run.script, w[3]) then
      list[#list + 1] = w[1]
    end
  end
  return #list > 0 and list or nil
end

-- `tool`, whose runs are remembered: a program is asked about more than once under
-- one release.
local function remembering(tool)
  local runs = {}
  return setmetatable({run = function (argv, text, seconds)
    local key = table.concat(argv, "\0") .. "\0" .. text
    runs[key] = runs[key] or table.pack(tool.run(argv, text, seconds))
    return table.unpack(runs[key], 1, runs[key].n)
  end}, {__index = tool})
end

-- A report that prints no error, and whose own program ran to its end here: a scene
-- that raises is another fault.
local function is_another_fault(seen, run) return seen and run.raised end

-- Write, run, compare.  The result goes into the report as `run`.  The
-- report's own program counts before a scene; the scene then only says what
-- cures it.
function M.run(tool, r)
  tool = remembering(tool)
  read_own_error(tool, r)
  local own = best_of(tool, r, own_candidates(r))
  local is_own = own ~= nil and own.run.reproduced
  local seen = own and #r.exceptions == 0 and not own.run.invented
    and own.run.noticed or nil
  local best = best_of(tool, r, scene_candidates(r))
  local run = best and best.run or {reproduced = false}
  if best and best.got then try_fixes(tool, run, best.got, best.candidate, r) end
  run.noticed = seen
  if is_another_fault(seen, run) then
    run = {reproduced = false, noticed = seen, script = own.run.script}
  end
  if is_own then
    own.run.tried = tried_of(tool, r, own, run)
    own.run.cured_by = first_cure(r, own.run.tried)
    own.run.specific = run.specific
    run = own.run
  end
  -- a program that runs is no news where nothing could raise its message
  local cannot, mended = beyond.why(r)
  local torch = not is_own and not seen and (not cannot or mended)
    and runs_under(tool, own)
  if torch then
    tell_that_it_runs(r, run, own, torch)
    return run
  end
  if not run.reproduced then
    run.why = not r.class and not own and not best
      and "unknown: nothing to reproduce" or cannot or lacks_of(own)
      or raised_by(r, own) or run.why or seen and "of the report's own program, see what was noticed in it"
      or "no repro can be written from what the report says"
  elseif not run.own and run.raised then
    run.without = left_out(r, run)
  end
  print_cure(r, run)
  return run
end

-- The run as a script for PyTorch; nil and why there is none.
function M.export(tool, run)
  return export.python(run, function (lines, o)
    return run_script(tool, table.concat(lines, "\n") .. "\n", o, true)
  end)
end

return M

-- SPDX-License-Identifier: MIT
-- dt/across/cli.lua: `dtrepl --across A,B [--json] [options] program`: the
-- program under each release, and what differs.  A record (dtrepl --record FILE)
-- is run as the calls that it holds.  `:across` gives a session: the lines typed
-- in a file (--typed FILE), and a file for what is told (--out FILE).
--
-- Exit status: 0 nothing differs, 1 the program could not be run, 2 wrong
-- usage or a release that is not known, 3 something differs.

local arguments = require "dt.across.arguments"
local compare = require "dt.across.compare"
local read = require "dt.across.read"
local show = require "dt.across.show"

local usage = "usage: dtrepl --across REL,REL [--json] [options] program "
  .. "[args]   (for instance --across 2.13,2.15)\n"

local function complain(o, text)
  if o.out then
    local f = assert(io.open(o.out, "w"))
    f:write((text:gsub("\n*$", "")))
    f:close()
  else
    io.stderr:write("dtrepl --across: ", text, text:find "\n$" and "" or "\n")
  end
end

local ours = {["--across"] = "releases", ["--typed"] = "typed",
  ["--out"] = "out"}

local function read_text(path)
  local f = path and io.open(path, "rb")
  local text = f and f:read "a"
  if f then f:close() end
  return text
end

-- A record becomes the script that makes its calls; its path, to be removed.
local function script_of_record(tool, path)
  local head = (read_text(path) or ""):sub(1, 13)
  if head ~= "dtrepl-record" then return nil end
  local base = os.tmpname()
  local script = base .. ".lua"
  local said = tool.run({tool.program(), "-q", "--color", "never", "--no-rc",
    "--no-history", "--trust", "--open", path}, ":export lua " .. script .. "\n",
    3600)
  os.remove(base)
  return script, not read_text(script) and said or nil
end

-- Both at once: they know nothing of each other.
local function run_both(tool, releases, rest, typed)
  local runs, err = {}, nil
  for i, release in ipairs(releases) do
    local run, why = read.start(tool, release, rest, typed)
    runs[i] = run
    err = err or why
  end
  for i, run in ipairs(runs) do
    local done, why = read.finish(tool, run)
    runs[i] = done or false
    err = err or why
  end
  return runs, err
end

return function (tool, args)
  local o, rest = arguments.parse(args, ours)
  local first, second = (o.releases or ""):match "^([^,]+),([^,]+)$"
  local typed = read_text(o.typed)
  if not first or #rest == 0 or o.typed and not typed then
    io.stderr:write(usage)
    return 2
  end
  local script, why
  if o.program then script, why = script_of_record(tool, rest[o.program]) end
  if script then rest[o.program] = script end
  local runs, err = {}, why
  if not err then runs, err = run_both(tool, {first, second}, rest, typed) end
  if script then os.remove(script) end
  if err then
    local unknown = err:match "unknown release[^\n]*"
    complain(o, unknown or err)
    return unknown and 2 or 1
  end
  local a, b = runs[1], runs[2]
  if a.error and a.error == b.error and #a.ops + #b.ops == 0 then
    complain(o, a.error)
    return 1
  end
  local list, ta, tb = compare.runs(a, b)
  local out = o.out and assert(io.open(o.out, "w")) or io.stdout
  local tell = o.json and show.as_json or show.as_text
  tell(out, list, a, b, ta, tb)
  out:flush()
  return #list > 0 and 3 or 0
end

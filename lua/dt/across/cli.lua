-- SPDX-License-Identifier: MIT
-- dt/across/cli.lua: `dtrepl --across A,B [--json] [options] program`: the
-- program under each release, and what differs.
--
-- Exit status: 0 nothing differs, 1 the program could not be run, 2 wrong
-- usage or a release that is not known, 3 something differs.

local compare = require "dt.across.compare"
local json = require "dt.io.json"
local read = require "dt.across.read"

local usage = "usage: dtrepl --across REL,REL [--json] [options] program "
  .. "[args]   (for instance --across 2.13,2.15)\n"

local function complain(text)
  io.stderr:write("dtrepl --across: ", text, text:find "\n$" and "" or "\n")
end

-- Options whose value is the next argument.
local valued = {["-n"] = true, ["--fake"] = true, ["--device"] = true,
  ["--mpi"] = true, ["-l"] = true}

-- The arguments without ours.
local function parse(args)
  local o, rest, i = {}, {}, 1
  while i <= #args do
    local a = args[i]
    if a == "--across" then
      i = i + 1
      o.releases = args[i]
    elseif a:find "^%-%-across=" then
      o.releases = a:match "=(.*)"
    elseif a == "--json" and not o.program then
      o.json = true
    else
      rest[#rest + 1] = a
      if valued[a] and not o.program then
        i = i + 1
        rest[#rest + 1] = args[i]
      elseif not a:find "^%-" then
        o.program = true
      end
    end
    i = i + 1
  end
  return o, rest
end

local function pad(s, n) return s .. (" "):rep(n - #s) end

local function show(list, a, b, ta, tb)
  local ra, rb = a.release, b.release
  if #list == 0 then
    io.write(("%s and %s: nothing differs\n"):format(ra, rb))
  else
    io.write(("%s and %s: %d %s, the first at %s\n"):format(ra, rb, #list,
      #list == 1 and "difference" or "differences", list[1].at))
  end
  if a.error and a.error == b.error then
    io.write("both end with ", a.error, "\n")
  end
  local at
  for _, d in ipairs(list) do
    local head = d.at .. (d.op and "  " .. d.op or "")
    if head ~= at then io.write("\n", head, "\n") end
    at = head
    io.write("  ", d.what, d.count > 1 and (" (%d times)"):format(d.count)
      or "", "\n    ", pad(ra, 6), d[1], "\n    ", pad(rb, 6), d[2], "\n")
  end
  io.write("\n", pad("", 18), pad(ra, 12), rb, "\n")
  for _, k in ipairs {"operators", "redistributions", "collectives", "bytes"} do
    io.write(pad(k, 18), pad(tostring(ta[k]), 12), tostring(tb[k]), "\n")
  end
end

local function object(t, keys)
  local out = {}
  for i, k in ipairs(keys) do out[i] = {k, t[k]} end
  return json.object(out)
end

local function show_json(list, a, b, ta, tb)
  local rows, keys = {}, {"operators", "redistributions", "collectives", "bytes"}
  for i, d in ipairs(list) do
    rows[i] = json.object {{"at", d.at}, {"what", d.what}, {"op", d.op or ""},
      {a.release, d[1]}, {b.release, d[2]}, {"count", d.count}}
  end
  io.write(json.encode(json.object {{"differs", #list > 0},
    {"differences", rows},
    {"totals", json.object {{a.release, object(ta, keys)},
      {b.release, object(tb, keys)}}}}), "\n")
end

return function (tool, args)
  local o, rest = parse(args)
  local first, second = (o.releases or ""):match "^([^,]+),([^,]+)$"
  if not first or #rest == 0 then
    io.stderr:write(usage)
    return 2
  end
  local runs = {}
  for i, release in ipairs {first, second} do
    local run, err = read.run(tool, release, rest)
    if not run then
      local unknown = err:match "unknown release[^\n]*"
      complain(unknown or err)
      return unknown and 2 or 1
    end
    runs[i] = run
  end
  local a, b = runs[1], runs[2]
  if a.error and a.error == b.error and #a.ops + #b.ops == 0 then
    complain(a.error)
    return 1
  end
  local list, ta, tb = compare.runs(a, b)
  local tell = o.json and show_json or show
  tell(list, a, b, ta, tb)
  return #list > 0 and 3 or 0
end

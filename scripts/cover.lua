-- SPDX-License-Identifier: MIT
-- cover.lua [--map]: which tests of the quick set reach which
-- functions, measured once for scripts/mutate.lua.
--
-- Builds with the compiler's counters, runs each test with a folder of its own
-- for them and with scripts/lua_calls.c, and writes build/cov/reach: lines
-- "file first last name-of-test", C functions with their ends, Lua functions
-- with their first lines.  build/cov/cases has "milliseconds name"; a
-- measurement that was cut off goes on where it ended.  --map: only write the
-- map of what was measured.

local root <const> = "build/cov"

local function capture(cmd)
  local p = assert(io.popen(cmd))
  local s = p:read("a")
  p:close()
  return s
end

local function read_file(path)
  local f = io.open(path, "rb")
  if not f then return "" end
  local s = f:read("a")
  f:close()
  return s
end

local function must(cmd)
  if not os.execute(cmd) then error("failed: " .. cmd, 0) end
end

-- ---- files of the compiler (gcc's gcov-io.h: tag, length, payload) ----------

local FUNCTION <const>, ARCS <const> = 0x01000000, 0x01a10000

local function string_at(s, at)
  local n
  n, at = ("<I4"):unpack(s, at)
  return s:sub(at, at + n - 1):gsub("%z.*", ""), at + n
end

-- Start of the first record; a .gcno file has two words and a text more.
local function first_record(s, notes)
  if not notes then return 17 end
  local _, at = string_at(s, 17)
  return at + 4
end

local function records(s, at)
  return function ()
    if at + 7 > #s then return nil end
    local tag, n = ("<I4i4"):unpack(s, at)
    local from = at + 8
    at = from + math.max(n, 0)
    return tag, from, n
  end
end

-- Functions of a .gcno file by their number: {file, first, last}.
local function functions_of(path)
  local found = {}
  local s = read_file(path)
  for tag, at in records(s, first_record(s, true)) do
    if tag == FUNCTION then
      local id = ("<I4"):unpack(s, at)
      local _, file, first, last
      _, at = string_at(s, at + 12)
      file, at = string_at(s, at + 4)
      first, _, last = ("<I4I4I4"):unpack(s, at)
      found[id] = {file = file, first = first, last = last}
    end
  end
  return found
end

-- Numbers of the functions that a .gcda file counted at least once; a length
-- below zero stands for counters that are all 0.
local function reached_in(path)
  local ids, id = {}, nil
  local s = read_file(path)
  for tag, at, n in records(s, first_record(s, false)) do
    if tag == FUNCTION and n >= 12 then
      id = ("<I4"):unpack(s, at)
    elseif tag == ARCS and n > 0 and s:sub(at, at + n - 1):find("[^%z]") then
      ids[#ids + 1] = id
    end
  end
  return ids
end

-- ---- the map -----------------------------------------------------------------

-- Files of Lua modules by the names their chunks have.
local function module_files()
  local files = {}
  for path in read_file(root .. "/gen/lua_files"):gmatch("%S+%.lua") do
    local name = path:gsub("^lua/", ""):gsub("%.lua$", ""):gsub("/", ".")
    if name ~= "dt.init" then name = name:gsub("%.init$", "") end
    files[name] = path
  end
  return files
end

local notes = {}
local function add_c(lines, id, obj, name)
  local list = capture(("find %s/%s -name '*.gcda' 2>/dev/null"):format(root, id))
  for path in list:gmatch("[^\n]+") do
    local own = path:match("(/obj%-[^/]+/.*)%.gcda$")
    local gcno = obj .. own:gsub("^/obj%-[^/]+", "") .. ".gcno"
    notes[gcno] = notes[gcno] or functions_of(gcno)
    for _, fn in ipairs(reached_in(path)) do
      local f = notes[gcno][fn]
      if f and f.file:find("^src/") then
        lines[#lines + 1] = ("%s %d %d %s"):format(f.file, f.first, f.last, name)
      end
    end
  end
end

local function add_lua(lines, id, files, name)
  local seen = {}
  for line in read_file(("%s/%s.calls"):format(root, id)):gmatch("[^\n]+") do
    local chunk, first = line:match("^%[(%S+)%] (%d+)$")
    local path = chunk and files[(chunk:gsub("^dt:", ""))]
    if path and not seen[line] then
      seen[line] = true
      lines[#lines + 1] = ("%s %s 0 %s"):format(path, first, name)
    end
  end
end

local function run_tests(obj)
  must("make -j2 --no-print-directory COV=1 B=" .. root .. " test-programs >&2")
  local dir = capture("pwd"):gsub("%s+$", "") .. "/" .. root
  must(("cc -std=c11 -D_GNU_SOURCE -O2 -shared -fPIC $(pkg-config --cflags "
    .. "lua5.4) -o %s/lua_calls.so scripts/lua_calls.c -ldl"):format(root))
  os.execute(("lua5.4 scripts/run-tests.lua --build %s --obj %s --quick "
    .. "--jobs 1 --cover %s >%s/tests.log 2>&1"):format(root, obj, dir, root))
end

local function write_map(obj)
  local lines, files = {}, module_files()
  for name in read_file(root .. "/cases"):gmatch("%d+ ([^\n]+)") do
    local id = name:gsub("%W", "_")
    add_c(lines, id, obj, name)
    add_lua(lines, id, files, name)
  end
  table.sort(lines)
  local f = assert(io.open(root .. "/reach", "w"))
  local last
  for _, line in ipairs(lines) do
    if line ~= last then f:write(line, "\n") end
    last = line
  end
  f:close()
end

local obj = capture("make -s COV=1 B=" .. root .. " print-obj"):gsub("%s+$", "")
if arg[1] ~= "--map" then run_tests(obj) end
write_map(obj)

-- SPDX-License-Identifier: MIT
-- TEST: ranks=1 world=threads needs=torch,release timeout=600 args=--trust
-- cpython.lua: CPython's own tests of the core, found in the Python at hand and
-- run as they stand.  A test that asks for what dtrepl refuses by name
-- (weakref, threads, sizes, another process, …) counts as refused; of the
-- others a share has to pass.  A share that has grown is raised here.

local program = os.getenv("DTREPL") or "build/dtrepl"
local python = os.getenv("DTREPL_PYTHON") or "python3"

-- The least share of its tests that passes, by file.
local FLOORS = {
  {"test_dict", 0.96}, {"test_list", 0.96}, {"test_tuple", 0.96},
  {"test_with", 0.97}, {"test_userlist", 0.97}, {"test_userdict", 0.97},
  {"test_int", 0.93}, {"test_float", 0.86}, {"test_contextlib", 0.93},
  {"test_dataclasses", 0.95}, {"test_enum", 0.91}, {"test_functools", 0.91},
  {"test_string", 0.97}, {"test_generators", 0.96}, {"test_collections", 0.84},
  {"test_super", 0.91}, {"test_class", 0.88}, {"test_fstring", 0.89},
}

local function output(command)
  local p = assert(io.popen(command))
  local text = p:read("a")
  p:close()
  return text
end

local folder = output(python .. " -c 'import os, test; "
  .. "print(os.path.dirname(test.__file__))' 2>/dev/null"):match("^(/[^\n]+)")
if not folder or not io.open(folder .. "/test_dict.py") then
  print("SKIP: the Python at hand has no tests (libpython3-testsuite)")
  os.exit(77)
end

-- The reason that is told for each failing test, by name.
local function reasons(text)
  local out = {}
  for name, report in text:gmatch("\n%u+: (test%S* %(%S+%)).-\n(.-)\n\n") do
    out[name] = report
  end
  return out
end

-- Did the whole file run?  One that its time limit or a fault ends is judged by
-- nothing; the closing line must count the tests that were seen.
local function unfinished(text, status, seen)
  if status == 124 then return "its time is over" end
  local ran = tonumber(text:match("\nRan (%d+) tests? in"))
  if not ran then return "it did not come to its end" end
  return ran ~= seen and ("%d tests seen, %d ran"):format(seen, ran)
end

-- The file of a test, which may be a package.
local function file_of(name)
  local path = folder .. "/" .. name .. ".py"
  return io.open(path) and path or folder .. "/" .. name .. "/__init__.py"
end

-- Goes over the tests and what is said of each.  Where subtests failed or were
-- skipped they have the lines below, moved in, and the test's own says nothing:
-- the last of them counts that is no "skipped".
local function verdicts(text)
  return coroutine.wrap(function ()
    local test, word, part            -- part: of the subtests so far
    for line in (text .. "\ntest (end) ... "):gmatch("[^\n]+") do
      local name, said = line:match("^(test%S* %(%S+%)) %.%.%. ?(%S*)")
      local below = line:match("^  test.* %.%.%. (%S+)")
      if name then
        if test and (part or word ~= "") then
          coroutine.yield(test, part or word)
        end
        test, word, part = name, said, nil
      elseif below and word == "" and (not part or below ~= "skipped") then
        part = below
      end
    end
  end)
end

local failed = 0
for _, row in ipairs(FLOORS) do
  local name, floor = row[1], row[2]
  local text = output(("timeout 100 %s -n 1 %s 2>&1; echo \"exit $?\"")
    :format(program, file_of(name)))
  local status, seen = tonumber(text:match("exit (%d+)\n$")), 0
  local why, passed, refused, wrong = reasons(text), 0, 0, {}
  for test, word in verdicts(text) do
    seen = seen + 1
    if word == "ok" or word == "expected" then
      passed = passed + 1
    elseif word == "skipped"
       or (why[test] or ""):find("\n[%w_.]*NotImplementedError[^\n]*$") then
      refused = refused + 1
    else
      wrong[#wrong + 1] = test
    end
  end
  local share = passed / math.max(1, passed + #wrong)
  print(("%s: %d pass, %d refused, %d fail: %.1f %%"):format(name, passed,
    refused, #wrong, 100 * share))
  local why_not = unfinished(text, status, seen)
  if why_not then print("not ok - " .. name .. ": " .. why_not) end
  if why_not or share < floor then
    failed = failed + 1
    print(("# %s: %.1f %% of at least %d %%"):format(name, 100 * share,
      100 * floor))
    print("  " .. table.concat(wrong, "\n  "))
    if passed == 0 then print(text:sub(-2000)) end
  end
end
print(("%d passed, %d failed"):format(#FLOORS - failed, failed))
os.exit(failed == 0 and 0 or 1)

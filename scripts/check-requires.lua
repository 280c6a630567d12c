-- SPDX-License-Identifier: MIT
-- check-requires.lua: who may require whom in Lua.  Four trees stand on one
-- another: dt, the library; python, which reads Python and knows no torch;
-- torch, what stands under that name in a Python program; parity, which
-- compares with PyTorch.  None may know of what stands on it.  Inside dt, a
-- folder may require itself, dt, dt.util and the folders it lists.  Required
-- modules must exist, in tests, scripts and examples too; modules that require
-- each other are named.

-- folder = folders it may require, floor by floor; "dt.*": all of dt
local law = {
  ["dt.util"] = "", dt = "dt.tensor dt.torch dt.debug",   -- loads on demand
  ["dt.torch"] = "", ["dt.io"] = "", ["dt.autograd"] = "", ["dt.npu"] = "",
  ["dt.testing"] = "",
  ["dt.tensor"] = "dt.torch",
  ["dt.functional"] = "dt.torch dt.npu",
  ["dt.checkpoint"] = "dt.io",
  ["dt.distributed"] = "dt.autograd dt.checkpoint",
  ["dt.optim"] = "",
  ["dt.nn"] = "dt.torch dt.autograd dt.functional",
  ["dt.parallel"] = "dt.nn",
  ["dt.fsdp"] = "dt.autograd dt.nn dt.parallel",
  ["dt.cp"] = "dt.autograd dt.functional dt.parallel",
  ["dt.float8"] = "dt.autograd dt.nn dt.parallel dt.fsdp",
  ["dt.spmd"] = "dt.autograd dt.distributed dt.functional dt.nn",
  ["dt.zoo"] = "dt.functional dt.nn dt.parallel dt.fsdp",
  ["dt.debug"] = "dt.tensor dt.torch dt.distributed dt.functional " ..
    "dt.parallel dt.spmd dt.testing",
  ["dt.diagnose"] = "dt.io dt.npu dt.parallel",
  ["dt.across"] = "dt.io",
  python = "",
  ["python.std"] = "python",
  torch = "python python.std dt.*",
  parity = "python python.std torch dt.*",
}

-- Debts: what still breaks the law.  A row that no longer holds is an error,
-- so the list only shrinks.  All are paid.
local debts = {}

-- Modules that require each other in a circle; the list only shrinks.
local circles = {
  "dt dt.tensor dt.torch dt.torch.autocast dt.torch.library " ..
    "dt.torch.signature dt.util",               -- dt loads them on demand
}

-- Requires inside functions hide circles: how many are left.  The number may
-- only go down, and is written down when it does.
local late_allowed <const> = 26

local modules, files, late, bad = {}, 0, 0, 0

local function complain(path, line, ...)
  bad = bad + 1
  print(("%s:%d: %s"):format(path, line, table.concat({...}, " ")))
end

local function list(command)
  local p, out = assert(io.popen(command)), {}
  for path in p:lines() do out[#out + 1] = path end
  p:close()
  return out
end

local function module_of(path)
  return (path:gsub("^lua/", ""):gsub("%.lua$", ""):gsub("/", ".")
    :gsub("%.init$", ""))
end

-- "dt.nn.linear" is of dt.nn, "python.eval" of python, "dt" itself of dt.
local function folder_of(module)
  local two = module:match("^[%w_]+%.[%w_]+")
  return law[two] and two or module:match("^dt%.[%w_]+")
    or module:match("^[%w_]+")
end

local function allowed(from, to)
  if from == to or to == "dt" or to == "dt.util" then return true end
  local row = " " .. law[from] .. " "
  return row:find(" " .. to .. " ", 1, true)
    or to:find("^dt%.") and row:find(" dt.* ", 1, true)
end

local function owed(from, to)
  local row = debts[from]
  return row and (" " .. row .. " "):find(" " .. to .. " ", 1, true)
end

local edges = {}                -- module = set of those it requires
local paid = {}                 -- debts that still stand, "from to"

local function check(path, n, from, to)
  if not modules[to] then
    complain(path, n, "no such module:", to)
  elseif from and not allowed(folder_of(from), folder_of(to)) then
    if owed(from, to) then
      paid[from .. " " .. to] = true
    else
      complain(path, n, folder_of(from), "may not require", to)
    end
  end
end

-- A module of ours, of which a text may speak.
local function ours(name)
  return name:find("^dt%f[%W]") or name:find("^python%f[%W]")
    or name:find("^torch%f[%W]") or name:find("^parity%f[%W]")
end

-- Calls of require with a name in quotes, and rows that load on demand.
local function scan(path, from)
  local n = 0
  for line in io.lines(path) do
    n = n + 1
    if not line:find("^%s*%-%-") then
      for to in line:gmatch("require%s*%(?%s*[\"']([%w_.]*%w)[\"']") do
        if ours(to) then check(path, n, from, to) end
        if from then edges[from][to] = true end
      end
      if from and line:find("^%s+.*require%s*%(?%s*[\"']") then
        late = late + 1
      end
      local on_demand = line:match("^provide%(\"(dt[%w_.]*)\"")
        or line:match("^lazy%.[%w_]+ = {\"(dt[%w_.]*)\"")
      if on_demand then check(path, n, nil, on_demand) end
    end
  end
end

local library = list("find lua/dt lua/python lua/torch lua/parity " ..
  "-name '*.lua' | sort")
for _, path in ipairs(library) do modules[module_of(path)] = true end
for _, path in ipairs(library) do
  local from = module_of(path)
  files = files + 1
  edges[from] = {}
  if not law[folder_of(from)] then
    complain(path, 1, "no such folder in the table:", folder_of(from))
  else
    scan(path, from)
  end
end
for _, path in ipairs(list("find lua/repl lua/examples scripts tests src " ..
    "\\( -name '*.lua' -o -name '*.sh' -o -name '*.dt' -o -name '*.c' \\) " ..
    "! -path scripts/check-requires.lua | sort")) do
  scan(path, nil)
end
for from, row in pairs(debts) do
  for to in row:gmatch("%S+") do
    if not paid[from .. " " .. to] then
      complain("scripts/check-requires.lua", 1, "paid, remove the row:", from,
        to)
    end
  end
end
-- What can be reached from a module.
local function reach(from, seen)
  for to in pairs(edges[from] or {}) do
    if not seen[to] then
      seen[to] = true
      reach(to, seen)
    end
  end
  return seen
end

local function check_circles()
  local reached, found, known = {}, {}, {}
  for m in pairs(edges) do reached[m] = reach(m, {}) end
  for m in pairs(edges) do
    local members = {}
    for other in pairs(reached[m]) do
      if reached[other] and reached[other][m] then
        members[#members + 1] = other
      end
    end
    table.sort(members)
    if #members > 1 then found[table.concat(members, " ")] = true end
  end
  for _, circle in ipairs(circles) do
    known[circle] = true
    if not found[circle] then
      complain("scripts/check-requires.lua", 1, "no circle any more:", circle)
    end
  end
  for circle in pairs(found) do
    if not known[circle] then
      complain("scripts/check-requires.lua", 1, "a circle of:", circle)
    end
  end
end
check_circles()

if late ~= late_allowed then
  complain("scripts/check-requires.lua", 1, ("%d requires inside functions, "
    .. "%d allowed"):format(late, late_allowed))
end
print(("%d modules, %d violations"):format(files, bad))
os.exit(bad == 0 and files > 0 and 0 or 1)

-- SPDX-License-Identifier: MIT
-- check-requires.lua: who may require whom in lua/dt.  A folder may require
-- itself, dt and dt.util, and the folders it lists; python/torch (the reader
-- of Python programs) stands on top, and nothing below it may know of it.
-- Required modules must exist, in tests, scripts and examples too.

-- folder = folders it may require, floor by floor
local law = {
  util = "", dt = "tensor torch debug",         -- loads everything on demand
  torch = "", io = "", autograd = "", npu = "", testing = "",
  tensor = "torch",
  functional = "torch npu",
  checkpoint = "io",
  distributed = "autograd checkpoint",
  optim = "",
  nn = "torch autograd functional",
  parallel = "nn",
  fsdp = "autograd nn parallel",
  cp = "autograd functional parallel",
  float8 = "autograd nn parallel fsdp",
  spmd = "autograd distributed functional",
  zoo = "functional nn parallel fsdp",
  debug = "tensor torch distributed functional parallel testing",
  diagnose = "io npu parallel",
  across = "io",
  python = "tensor torch io autograd functional checkpoint distributed nn " ..
    "optim parallel fsdp cp float8 spmd",
  parity = "autograd nn parallel cp spmd python",
}

-- Debts: what still breaks the law.  A row that no longer holds is an error,
-- so the list only shrinks.
local debts = {
  ["dt.diagnose.code"] = "dt.python.parser",
  ["dt.distributed"] = "dt.python.values",
  ["dt.functional.guard"] = "dt.python.values",
  ["dt.optim.base"] = "dt.python.values",
  ["dt.spmd.check"] = "dt.python.values",
  ["dt.spmd.global"] = "dt.python.values",
  ["dt.spmd.labels"] = "dt.python.values",
  ["dt.spmd.reshape"] = "dt.python.values",
  ["dt.spmd.say"] = "dt.python.values",
  ["dt.spmd.watch"] = "dt.python.values dt.python.attrs dt.python.call " ..
    "dt.python.ops dt.python.names",
}

local modules, files, bad = {}, 0, 0

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

-- "dt.nn.linear" is of nn, "dt" itself of dt.
local function folder_of(module)
  return module:match("^dt%.([%w_]+)") or "dt"
end

local function allowed(from, to)
  if from == to or to == "dt" or to == "util" then return true end
  return (" " .. law[from] .. " "):find(" " .. to .. " ", 1, true)
end

local function owed(from, to)
  local row = debts[from]
  return row and (" " .. row .. " "):find(" " .. to .. " ", 1, true)
end

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

-- Calls of require with a name in quotes, and rows that load on demand.
local function scan(path, from)
  local n = 0
  for line in io.lines(path) do
    n = n + 1
    if not line:find("^%s*%-%-") then
      for to in line:gmatch("require%s*%(?%s*[\"'](dt[%w_.]*%w)[\"']") do
        check(path, n, from, to)
      end
      local late = line:match("^provide%(\"(dt[%w_.]*)\"")
        or line:match("^lazy%.[%w_]+ = {\"(dt[%w_.]*)\"")
      if late then check(path, n, nil, late) end
    end
  end
end

local library = list "find lua/dt -name '*.lua' | sort"
for _, path in ipairs(library) do modules[module_of(path)] = true end
for _, path in ipairs(library) do
  local from = module_of(path)
  files = files + 1
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
print(("%d modules, %d violations"):format(files, bad))
os.exit(bad == 0 and files > 0 and 0 or 1)

-- SPDX-License-Identifier: MIT
-- check-layers.lua: who may include whom.  The table is the law of the
-- source tour in README.md; a module may include itself and what it lists.
-- The same law for Lua is in check-requires.lua, and which file of a module
-- may call which in check-calls.lua, what nobody uses in check-unused.lua; this runs
-- them.

local all = "base compat tensor kernel mesh comm op shard spmd oplib engine" ..
  " debug diag render"

-- module = {modules it may include, [third-party header pattern] = files}
local law = {
  base   = {"", ["^jansson%.h$"] = "."},
  compat = {"base tensor"},   -- DtDevice
  tensor = {"base"},
  kernel = {"base tensor", ["^cblas%.h$"] = "gemm%.c",
            ["^fftw3%.h$"] = "fft.*%.c", ["^lapacke%.h$"] = "linalg.*%.c"},
  mesh   = {"base compat tensor"},
  comm   = {"base tensor kernel", ["^mpi%.h$"] = "^mpi%.c"},
  op     = {"base compat tensor mesh"},
  shard  = {"base compat tensor mesh op"},
  spmd   = {"base tensor mesh op shard"},
  oplib  = {"base compat tensor kernel mesh op shard"},
  engine = {"base compat tensor kernel mesh comm op shard"},
  debug  = {"base tensor mesh op shard engine", ["^zstd%.h$"] = "dump%.c"},
  diag   = {"base compat tensor mesh op shard engine debug"},
  render = {"base tensor mesh op shard engine debug diag"},
  parity = {"base compat tensor mesh op shard engine comm oplib",
            ["^jansson%.h$"] = "."},
  bind   = {all, ["^lua%.h$"] = ".", ["^lauxlib%.h$"] = ".",
            ["^lualib%.h$"] = ".", ["^jansson%.h$"] = "l_json_read%.c",
            ["^pcre2%.h$"] = "l_regex%.c"},
  repl   = {"base oplib engine debug diag render bind parity",
            ["^readline/"] = "^line_readline%.c",
            ["^lua%.h$"] = "^main%.c ^repl.*%.c ^repl_int%.h",
            ["^lauxlib%.h$"] = "^main%.c ^repl.*%.c ^repl_int%.h",
            ["^lualib%.h$"] = "^main%.c ^repl.*%.c ^repl_int%.h"},
}
-- Where a module may use only some headers of another: mesh never sees
-- storage, render sees the engine only through its events.
local only = {
  mesh = {tensor = {["tensor/meta.h"] = true, ["tensor/dtype.h"] = true,
                    ["tensor/redop.h"] = true}},
  render = {engine = {["engine/event.h"] = true}},
  parity = {oplib = {["oplib/ops.h"] = true}},
  oplib = {compat = {["compat/text.h"] = true}},
}

local third = {"^jansson%.h$", "^cblas%.h$", "^fftw3%.h$", "^lapacke%.h$",
  "^mpi%.h$", "^lua%.h$", "^lauxlib%.h$", "^lualib%.h$", "^readline/"}

local bad = 0
local function complain(path, line, ...)
  bad = bad + 1
  print(("%s:%d: %s"):format(path, line, table.concat({...}, " ")))
end

local function words(s)
  local set = {}
  for w in s:gmatch("%S+") do set[w] = true end
  return set
end

local function check_third(path, n, module, file, inc)
  for _, pat in ipairs(third) do
    if inc:find(pat) then
      local where = law[module][pat]
      for p in (where or ""):gmatch("%S+") do
        if file:find(p) then return end
      end
      complain(path, n, module, "may not include", "<" .. inc .. ">", "here")
      return
    end
  end
end

local function check_own(path, n, module, inc)
  local target = inc:match("^([%w_]+)/")
  if not target or not law[target] then
    complain(path, n, "include paths start at src/:", inc)
  elseif target ~= module then
    if not words(law[module][1])[target] then
      complain(path, n, module, "may not include", inc)
    end
    local narrow = only[module] and only[module][target]
    if narrow and not narrow[inc] then
      complain(path, n, module, "may include of", target,
        "only its metadata, not", inc)
    end
    if inc:find("_int%.h$") then
      complain(path, n, "private header of another module:", inc)
    end
  end
end

local p = assert(io.popen("ls src/*/*.c src/*/*.h src/*/*.def 2>/dev/null"))
local files = 0
for path in p:lines() do
  local module, file = path:match("^src/([^/]+)/(.+)$")
  files = files + 1
  if not law[module] then
    complain(path, 1, "no such module in the table:", module)
  else
    local n = 0
    for line in io.lines(path) do
      n = n + 1
      local own = line:match('^%s*#%s*include%s+"([^"]+)"')
      local sys = line:match("^%s*#%s*include%s+<([^>]+)>")
      if own then check_own(path, n, module, own) end
      if sys then check_third(path, n, module, file, sys) end
    end
  end
end
p:close()
print(("%d files, %d violations"):format(files, bad))
local function holds(other)
  return os.execute((arg[-1] or "lua") .. " " .. arg[0]:gsub("layers", other))
end
local others = holds("requires")
others = holds("calls") and others
others = holds("unused") and others
os.exit(bad == 0 and files > 0 and others and 0 or 1)

-- SPDX-License-Identifier: MIT
-- dt/spmd/watch.lua: while calls are checked, looks at those that a program in
-- Lua makes: operators, functions of torch.nn.functional, what modules call.
-- While none are, nothing of this is in their way.  Who looks at programs in
-- another language turns on and off with it (M.also).

local dt = require "dt"
local util = require "dt.util"
local V = require "dt.spmd.values"
local check = require "dt.spmd.check"
local state = require "dt.spmd.state"
local F = require "dt.functional"
local init = require "dt.nn.init_values"

local core = dt._spmd
local M = {}

-- Arguments of Lua as Python's: the last table of names holds the keywords.
local function as_python(...)
  local n, kw = select("#", ...), nil
  local list = {...}
  local last = list[n]
  if type(last) == "table" and getmetatable(last) == nil and #last == 0
     and next(last) ~= nil then
    kw, n = V.dict(), n - 1
    for _, k in ipairs(util.sorted_keys(last)) do
      V.dict_set(kw, k, V.from_lua(last[k]))
    end
  end
  local args = {}
  for i = 1, n do
    local v = list[i]
    if v == nil then v = dt.None
    elseif type(v) == "table" and getmetatable(v) == nil then
      v = V.from_lua(v)
      if V.is_list(v) and not util.is_tensor(v[1]) then
        v = V.tuple({table.unpack(v, 1, v.n)}, v.n)
      end
    end
    args[i] = v
  end
  while n > 0 and args[n] == dt.None do n = n - 1 end
  return V.list(args, n), kw
end

-- Several tensors from Lua are a tuple for who looks.
local function looked_at(key, name, f, ...)
  local args, kw = as_python(...)
  local given, out = table.pack(...), nil
  check.run(key, name, function ()
    out = table.pack(f(table.unpack(given, 1, given.n)))
    if out.n == 1 then return V.from_lua(out[1]) end
    return V.tuple({table.unpack(out, 1, out.n)}, out.n)
  end, args, kw, function (a, k) return V.call(f, a, k) end)
  return table.unpack(out, 1, out.n)
end

-- Parts of the library that stand for a program's own code.
local function like_a_program(module)
  return module:find("^dt%.nn") or module:find("^dt%.zoo")
end

-- Is what is called at this moment, at that level of the stack, the business
-- of the library?
local function by_library(level)
  while true do
    local info = debug.getinfo(level, "S")
    if not info then return false end
    if info.what ~= "C" then
      local module = info.source:match("%[(dt[%w_.]*)%]")
      if not module then return false end
      if module ~= "dt.tensor" then return not like_a_program(module) end
    end
    level = level + 1
  end
end

local function operator(name, f, ...)
  if check.busy() or by_library(3) then return f(...) end
  return looked_at("torch." .. name, name, f, ...)
end

-- Functions for modules, which are written in Lua: {plain, watched} of
-- torch.nn.functional and of those of nn.init that PyTorch lets others see.
local functional, inits

local function is_seen()
  return not check.busy() and (state.on() or check.has_modes())
    and not by_library(4)
end

local function watched_pair(place, name, f)
  local function watched(...)
    if not is_seen() then return f(...) end
    return looked_at(place .. name, name, f, ...)
  end
  V.set_plain(watched, f)
  return {f, watched}
end

local function watched_functional(F)
  local out = {}
  for name, f in pairs(F) do
    if type(f) == "function" then out[name] = watched_pair("F.", name, f) end
  end
  return out
end

-- A parameter that PyTorch fills after it is made.
local function filled_pair(make, name, ...)
  local value = {...}
  return {make, function (...)
    local t = make(...)
    if is_seen() then
      looked_at("Tensor." .. name, name, function () return t end, t,
        table.unpack(value))
    end
    return t
  end}
end

local function watched_inits()
  local out = {_new_tensor = watched_pair("Tensor.", "new_tensor",
    init._new_tensor),
    _ones_param = filled_pair(init._ones_param, "fill_", 1.0),
    _zeros_param = filled_pair(init._zeros_param, "zero_")}
  for _, name in ipairs {"eye", "empty_like"} do
    out[name] = watched_pair("torch.", name, init[name])
  end
  for _, name in ipairs {"uniform_", "normal_", "constant_",
      "kaiming_uniform_"} do
    out[name] = watched_pair("init.", name, init[name])
  end
  return out
end

local function patch_functional(which)
  functional = functional or watched_functional(F)
  inits = inits or watched_inits()
  for name, pair in pairs(functional) do F[name] = pair[which] end
  for name, pair in pairs(inits) do init[name] = pair[which] end
end

-- ---- on and off ----

-- also(on): is told as well.
M.also = function () end

local on = false

local function turn(now)
  now = now or check.has_modes()
  if now == on then return end
  on = now
  M.also(now)
  patch_functional(now and 2 or 1)
  core.watch_ops(now and operator or nil)
end

state.watch = turn

-- set_modes(m): a program's own modes see each call, or no longer do.
function M.set_modes(m)
  check.set_modes(m)
  turn(state.on())
end

return M

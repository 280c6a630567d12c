-- SPDX-License-Identifier: MIT
-- python/near.lua: "did you mean", as Python says it of names and
-- attributes that are not there.  The error keeps what was sought, and where;
-- only one that ends a program is looked at.

local dt = require "dt"
local util = require "dt.util"
local V = require "python.values"
local builtin_names = require "python.builtin_names"

local M = {}

-- raise(class, place, name, fmt, …): as util.raise(); the name was sought in
-- the place, an object or the environment of a function.
function M.raise(class, place, name, fmt, ...)
  local e = dt.error(class == "NameError" and "RUNTIME" or "ATTR", fmt:format(...),
    class)
  e.sought, e.sought_in = name, place
  error(e, 0)
end

-- raise_of_module(v, module, name): the module v, called `module`, has no such
-- name.  Where its metatable lists all names that it `has` in truth, one that is
-- not among them is nobody's.
function M.raise_of_module(v, module, name)
  local has = (getmetatable(v) or {}).has
  local text = ("module '%s' has no attribute '%s'"):format(module, name)
  if has and not has[name] then M.raise("AttributeError", v, name, "%s", text) end
  util.raise_for("absent", "AttributeError", text
    .. ", or it is not part of dtrepl")
end

local MOVE <const>, CASE <const> = 2, 1     -- what a change of a letter costs
local MOST <const> = 750                    -- candidates that are looked at

local function cost(a, b)
  if a == b then return 0 end
  return a | 32 == b | 32 and (a | 32) >= 97 and (a | 32) <= 122 and CASE or MOVE
end

-- The least cost of making b of a.
local function distance(a, b)
  local row = {}
  for j = 0, #b do row[j] = j * MOVE end
  for i = 1, #a do
    local diagonal = row[0]
    row[0] = i * MOVE
    for j = 1, #b do
      local above = row[j]
      row[j] = math.min(diagonal + cost(a:byte(i), b:byte(j)), above + MOVE,
        row[j - 1] + MOVE)
      diagonal = above
    end
  end
  return row[#b]
end

-- The candidate next to the name, or nil where all are far.
local function nearest(name, candidates)
  if #candidates > MOST or #name == 0 then return nil end
  local best, least = nil, math.huge
  for _, c in ipairs(candidates) do
    local most = math.min((#name + #c + 3) * MOVE // 6, least - 1)
    local d = c ~= name and math.abs(#name - #c) * MOVE <= most
      and distance(name, c)
    if d and d <= most then best, least = c, d end
  end
  return best
end

-- The names that a function's environment sees, the innermost first.
local function names_of(env)
  local out = {}
  while env do
    local own = {}
    for name in pairs(env.vars) do
      if type(name) == "string" then own[#own + 1] = name end
    end
    table.sort(own)
    table.move(own, 1, #own, #out + 1, out)
    env = env.up
  end
  local own = {}
  for name in pairs(builtin_names) do own[#own + 1] = name end
  table.sort(own)
  return table.move(own, 1, #own, #out + 1, out)
end

local function names_in(v)
  if util.is_tensor(v) then return {} end      -- near.c knows them
  local listed, names = pcall(V.call, builtin_names.dir, V.list({v}, 1))
  return listed and V.is_list(names) and names or {}
end

-- hint(e): "did you mean 'name'?" for an error that names what is not there, or
-- nil.
function M.hint(e)
  local name = type(e) == "table" and rawget(e, "sought")
  if not name then return nil end
  local place = rawget(e, "sought_in")
  local found
  if e.class == "NameError" then
    found = nearest(name, names_of(place))
    local object = not found and place.vars.self
    for _, known in ipairs(object and names_in(object) or {}) do
      if known == name then found = "self." .. name end
    end
  else
    found = nearest(name, names_in(place))
  end
  return found and ("did you mean '%s'?"):format(found) or nil
end

return M

-- SPDX-License-Identifier: MIT
-- torch/optimizer_views.lua: optimizer.state and optimizer.param_groups as
-- Python has them: one dict and one list, in which a program may also write.
-- What it wrote is taken before the optimizer works; what the optimizer made is
-- shown after it.

local dt = require "dt"
local util = require "dt.util"
local V = require "python.values"
local attrs = require "python.attrs"
local builtin_names = require "python.builtin_names"
local attributes = require "torch.attributes"

local M = {}
local None = dt.None

local function each_param(opt, f)
  for _, group in ipairs(opt.param_groups) do
    for _, p in ipairs(group.params) do f(p, p._id) end
  end
end

-- ---- state ----

-- By optimizer: the dict; by a parameter's number, the dict of its state that
-- stands there; by such a dict, what was last seen in it.
local states = setmetatable({}, {__mode = "k"})

local function new_view(dict)
  return {dict = dict, of = {}, seen = setmetatable({}, {__mode = "k"})}
end

-- Only tensors and numbers are state of the optimizers here.
local function put(own, key, v)
  if v == None then
    own[key] = nil
  elseif util.is_tensor(v) or type(v) == "number" then
    own[key] = v
  end
end

local function take_one(opt, id, inner, last)
  local own = opt.state[id] or {}
  for key, v in V.each(inner) do
    if last[key] ~= v then
      put(own, key, v)
      last[key] = v
    end
  end
  for key in pairs(last) do
    if V.dict_get(inner, key) == nil then own[key], last[key] = nil, nil end
  end
  opt.state[id] = next(own) ~= nil and own or nil
end

local function take_state(opt, view)
  each_param(opt, function (p, id)
    local inner = V.dict_get(view.dict, p)
    if inner ~= view.of[id] then opt.state[id] = nil end
    if V.is_dict(inner) then
      view.seen[inner] = view.seen[inner] or {}
      take_one(opt, id, inner, view.seen[inner])
    end
    view.of[id] = inner
  end)
end

-- The names of a parameter's state; "step" was made first.
local function names_of(t)
  local names = {}
  for name in pairs(t) do names[#names + 1] = name end
  table.sort(names, function (a, b)
    if (a == "step") ~= (b == "step") then return a == "step" end
    return a < b
  end)
  return names
end

local function show_one(inner, t, last)
  for _, name in ipairs(names_of(t)) do
    if last[name] ~= t[name] then
      V.dict_set(inner, name, t[name])
      last[name] = t[name]
    end
  end
  for key, v in pairs(last) do
    if t[key] == nil and (util.is_tensor(v) or type(v) == "number") then
      V.dict_remove(inner, key)
      last[key] = nil
    end
  end
end

local function show_state(opt, view)
  each_param(opt, function (p, id)
    local own = opt.state[id]
    local inner = view.of[id]
    if own and next(own) ~= nil then
      if not V.is_dict(inner) then
        inner = V.dict()
        V.dict_set(view.dict, p, inner)
      end
      view.of[id], view.seen[inner] = inner, view.seen[inner] or {}
      show_one(inner, opt:state_dict_of(own), view.seen[inner])
    elseif V.is_dict(inner) and inner.n > 0 and next(view.seen[inner]) then
      V.dict_remove(view.dict, p)
      view.of[id] = nil
    end
  end)
end

-- ---- groups ----

local lists = setmetatable({}, {__mode = "k"})    -- by optimizer
local groups = setmetatable({}, {__mode = "k"})   -- by the dict: the group
local shown_groups = setmetatable({}, {__mode = "k"})   -- by the list: its dicts

-- A group that a program put there by hand.
local function group_of(dict)
  local g = {}
  for key, v in V.each(dict) do
    if key == "params" then
      g.params = {table.unpack((V.items(v)))}
    elseif v ~= None then
      g[key] = V.to_lua(v)
    end
  end
  return g
end

-- Are these the groups that were shown last?
local function as_shown(list, last)
  if list.n ~= #last then return false end
  for i = 1, list.n do if list[i] ~= last[i] then return false end end
  return true
end

local function take_groups(opt, list)
  if as_shown(list, shown_groups[list] or {}) then return end
  local items, n = V.items(list)
  for i = 1, n do
    opt.param_groups[i] = groups[items[i]] or group_of(items[i])
  end
  for i = #opt.param_groups, n + 1, -1 do opt.param_groups[i] = nil end
end

local function show_groups(opt, list)
  for i = list.n, #opt.param_groups + 1, -1 do list[i] = nil end
  for i, g in ipairs(opt.param_groups) do
    local d = M.view(opt, g)
    groups[d], list[i] = g, d
  end
  list.n = #opt.param_groups
  shown_groups[list] = {table.unpack(list, 1, list.n)}
end

-- ---- when ----

--- taken(opt): what the program wrote counts from now on.
function M.taken(opt)
  if lists[opt] then take_groups(opt, lists[opt]) end
  if states[opt] then take_state(opt, states[opt]) end
end

--- shown(opt): what the program holds has what the optimizer made.
function M.shown(opt)
  if lists[opt] then show_groups(opt, lists[opt]) end
  if states[opt] then show_state(opt, states[opt]) end
end

--- forget(opt): what the program holds is no longer the optimizer's.
function M.forget(opt) lists[opt], states[opt] = nil, nil end

local function default_dict()
  local make = attrs.get(attrs.module "collections", "defaultdict")
  return V.call(make, V.list({builtin_names.dict}, 1))
end

function attributes.optimizer_state(opt)
  states[opt] = states[opt] or new_view(default_dict())
  M.taken(opt)
  M.shown(opt)
  return states[opt].dict
end

function attributes.param_groups(opt)
  if lists[opt] then M.taken(opt) else lists[opt] = V.list({}) end
  M.shown(opt)
  return lists[opt]
end

--- optimizer.state = {...}, optimizer.param_groups = [...]
function attributes.set_optimizer(opt, name, v)
  if name == "state" and V.is_dict(v) then
    states[opt] = new_view(v)
    opt.state = {}
    take_state(opt, states[opt])
    return true
  elseif name == "param_groups" and V.is_list(v) then
    lists[opt] = v
    take_groups(opt, v)
    show_groups(opt, v)
    return true
  end
end

return M

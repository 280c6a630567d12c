-- SPDX-License-Identifier: MIT
-- torch/optimizer.lua: optimizer.state_dict() and load_state_dict() as
-- Python has them: the state by the parameters' number in the groups, the
-- groups with their settings in the order of the class's arguments.

local dt = require "dt"
local util = require "dt.util"
local restored = require "torch.restored"
local V = require "python.values"
local attributes = require "torch.attributes"
local base = require "dt.optim.base"
local hooks = require "torch.optimizer_hooks"
local optimizer_views = require "torch.optimizer_views"

local M = attributes.optimizer_method
local None = dt.None

-- A pair of rates is a tuple.
local function shown(v)
  if v == nil then return None end
  if type(v) == "table" and getmetatable(v) == nil and #v > 0 then
    local of = type(v[1]) == "string" and V.list or V.tuple   -- param_names
    return of({table.unpack(v)}, #v)
  end
  return V.from_lua(v)
end

-- The names of a group's settings as Python has them: those that the program
-- gave in a dict, in its order, then the class's defaults
-- (torch/optim/optimizer.py: add_param_group sets what is missing).
base.set_key_order(V.key_order)

local function in_given_order(g, names)
  local order = base.given_order(g)
  if not order then return names end
  local out, known, seen = {}, {}, {}
  for _, name in ipairs(names) do known[name] = true end
  for _, list in ipairs {order, names} do
    for _, name in ipairs(list) do
      if known[name] and not seen[name] then
        seen[name], out[#out + 1] = true, name
      end
    end
  end
  return out
end

-- A group as a dict that is the group: what is set in it (a rate, by hand) is
-- what the next step uses.
local views = setmetatable({}, {__mode = "k"})

local function view(opt, g)
  local d = views[g]
  if not d then
    d = V.dict()
    d.added = {}                        -- names that no setting has, in order
    d.map = setmetatable({}, {
      __index = function (_, id)
        local v = g[id]
        if id == "params" and v then return V.list(v, #v) end
        if v ~= nil then return shown(v) end
        return d.fixed[id]
      end,
      __newindex = function (_, id, v)
        if v == nil then                        -- del group[name]
          g[id], d.fixed[id] = nil, nil
          return
        end
        if g[id] == nil and d.fixed[id] == nil then
          d.added[#d.added + 1] = id
        end
        if v == None then v = nil end
        g[id] = V.to_lua(v)
        d.fixed[id] = None
      end})
    views[g] = d
  end
  local settings, values = base.settings(opt, g, d.added)
  local names = in_given_order(g, settings)
  if g ~= opt.defaults then
    names = {"params", table.unpack(names)}
    local seen = {decoupled = true}
    for _, name in ipairs(names) do seen[name] = true end
    for _, name in ipairs(util.sorted_keys(g)) do
      if not seen[name] then names[#names + 1] = name end
    end
  end
  d.keys, d.fixed, d.n, d.top = names, {}, #names, #names
  d.first, d.places = nil, nil
  for _, name in ipairs(names) do
    local v = values[name]
    d.fixed[name] = v == nil and None or shown(v)
  end
  return d
end

optimizer_views.view = view

-- optimizer.defaults: what a group has where it says nothing else; what is set in it
-- holds for groups that are added.
function attributes.defaults(opt) return view(opt, opt.defaults) end

-- The parts of one parameter's state, the count of steps first.
local function parts(state)
  local keys = {}
  for _, key in ipairs(util.sorted_keys(state)) do
    if key == "step" then table.insert(keys, 1, key)
    else keys[#keys + 1] = key end
  end
  return keys
end

local function state_dict(opt)
  optimizer_views.taken(opt)
  local state, groups, n = V.dict(), {}, 0
  dt._moments_saving()
  for i, g in ipairs(opt.param_groups) do
    local group, numbers = V.dict(), {}
    local seen = views[g]
    local names, values = base.settings(opt, g, seen and seen.added)
    for _, name in ipairs(in_given_order(g, names)) do
      V.dict_set(group, name, shown(values[name]))
    end
    for k, p in ipairs(g.params) do
      local own = opt.state[p._id]
      if own and next(own) ~= nil then
        local d = V.dict()
        for _, key in ipairs(parts(own)) do
          V.dict_set(d, key, shown(own[key]))
          restored.note_moment(dt._moment_saved, p, own[key], key)
        end
        V.dict_set(state, n, d)
      end
      numbers[k], n = n, n + 1
    end
    V.dict_set(group, "params", V.list(numbers, #g.params))
    groups[i] = group
  end
  local out = V.dict()
  V.dict_set(out, "state", state)
  V.dict_set(out, "param_groups", V.list(groups, #groups))
  return out
end

-- As many groups, each with as many parameters.
local function check(opt, groups)
  if groups.n ~= #opt.param_groups then
    util.raise("ValueError", "loaded state dict has a different number of "
      .. "parameter groups")
  end
  for i = 1, groups.n do
    if V.dict_get(groups[i], "params").n ~= #opt.param_groups[i].params then
      util.raise("ValueError", "loaded state dict contains a parameter group "
        .. "that doesn't match the size of optimizer's group")
    end
  end
end

-- In the parameter's dtype; the count of steps keeps its own.  What has it
-- already is taken, not copied: two optimizers share it then, as in PyTorch.
local function taken(key, v, p)
  if util.is_tensor(v) and key ~= "step" and p:is_floating_point()
     and v.dtype ~= p.dtype then
    return v:to(p.dtype)
  end
  return v
end

-- Is what is loaded the same on all ranks for parts that are not?
local function claim_own(key, v, p)
  if util.is_tensor(v) and not v.placements and not p.placements
     and dt.world_size() > 1 then
    dt._claim("OTHERS_STATE", "load_state_dict", key,
      "the part of the parameter; what is loaded for it is the same on all", p, v)
  end
end

local function load_state_dict(opt, d)
  optimizer_views.taken(opt)
  local groups, state = V.dict_get(d, "param_groups"), V.dict_get(d, "state")
  check(opt, groups)
  local guard <close> = dt.no_grad()            -- luacheck: ignore guard
  local fresh = {}
  dt._restoring()
  for i, g in ipairs(opt.param_groups) do
    local numbers = V.dict_get(groups[i], "params")
    for k, p in ipairs(g.params) do
      local from = V.dict_get(state, numbers[k])
      if from then
        local own = {}
        for key, v in V.each(from) do
          own[key] = taken(key, v, p)
          claim_own(key, own[key], p)
          restored.note_moment(dt._moment_given, p, own[key], key)
          if util.is_tensor(own[key]) and key ~= "step" then
            dt._restored(own[key], key)
          end
        end
        fresh[p._id] = own
      end
    end
    for name, v in V.each(groups[i]) do
      if name ~= "params" then
        if name == "decoupled_weight_decay" and g.decoupled ~= nil then
          name = "decoupled"
        end
        if v == None then g[name] = nil else g[name] = V.to_lua(v) end
      end
    end
  end
  for id in pairs(opt.state) do opt.state[id] = nil end
  for id, own in pairs(fresh) do opt.state[id] = own end
  optimizer_views.forget(opt)
  restored.note(opt)
end

-- ---- between their hooks ----

function M.state_dict(opt)
  return hooks.state(opt, function () return state_dict(opt) end)
end

function M.load_state_dict(opt, args, kw)
  hooks.load(opt, args[1] or V.dict_get(kw, "state_dict"),
    function (d) load_state_dict(opt, d) end)
  return None
end

function M.add_param_group(opt, args, kw)
  optimizer_views.taken(opt)
  V.call(opt.add_param_group, V.list({opt, table.unpack(args, 1, args.n)},
    args.n + 1), kw)
  optimizer_views.shown(opt)
  return None
end

function M.step(opt, args, kw)
  local all = V.list({opt, table.unpack(args, 1, args.n)}, args.n + 1)
  local first = next(opt.state) == nil
  return hooks.step(opt, all, kw, function (a, k)
    optimizer_views.taken(opt)
    local v = V.call(opt.step, a, k)
    optimizer_views.shown(opt)
    if first and next(opt.state) ~= nil then restored.note_first_step(opt) end
    return v
  end)
end

for name, f in pairs(hooks.registers) do
  M[name] = function (opt, args, kw)
    return V.call(f, V.list({opt, table.unpack(args, 1, args.n)}, args.n + 1),
      kw)
  end
end

return M

-- SPDX-License-Identifier: MIT
-- torch/optimizer_class.lua: torch.optim.Optimizer as a base of a
-- program's own optimizers, and classes below the optimizers of dtrepl.
--
-- A program's optimizer keeps its groups and its state in dicts of Python's.
-- Below an optimizer that is here already the real one does the work (`_own`),
-- and the groups and the state are views of it.

local dt = require "dt"
local util = require "dt.util"
local base = require "dt.optim.base"
local V = require "python.values"
local builtin_names = require "python.builtin_names"
local args = require "python.args"
local attrs = require "python.attrs"
local calls = require "python.call"
local classes = require "python.class"
local hooks = require "torch.optimizer_hooks"
local object = require "python.object"

local M = {}
local None = dt.None

local function append(list, v)
  list.n = list.n + 1
  list[list.n] = v
end

-- Methods by signature: body(arguments by name); the first is self.
local function methods(list)
  local out = {}
  for name, m in pairs(list) do
    local f = args.def(name, m[1], m[2])
    rawset(f, "binds", true)
    out[name] = f
  end
  return out
end

-- ---- groups ----

local function shown(params)
  local list = V.items(params)
  return V.list({table.unpack(list)}, #list)
end

local function check_param(p)
  if not util.is_tensor(p) then
    util.raise("TypeError", "optimizer can only optimize Tensors, but one of "
      .. "the params is %s", V.type_name(p))
  elseif not p.is_leaf then
    util.raise("ValueError", "can't optimize a non-leaf Tensor")
  end
end

local function check_apart(groups, fresh)
  local seen = {}
  for i = 1, groups.n do
    local list = V.dict_get(groups[i], "params")
    for k = 1, list.n do seen[list[k]._id] = true end
  end
  for k = 1, fresh.n do
    if seen[fresh[k]._id] then
      util.raise("ValueError",
        "some parameters appear in more than one parameter group")
    end
  end
end

-- A set of parameters is refused: its order is another in each run.
local function check_ordered(params)
  if not V.is_set(params) then return end
  util.raise("TypeError", "optimizer parameters need to be organized in ordered "
    .. "collections, but the ordering of tensors in sets will change between "
    .. "runs. Please use a list instead.")
end

local function add_group(self, group)
  if not V.is_dict(group) then
    util.raise("TypeError", "param_group must be a dict, but got %s",
      V.str(V.call(attrs.get(builtin_names, "type"), V.list {group})))
  end
  local params = V.dict_get(group, "params")
  check_ordered(params)
  params = util.is_tensor(params) and V.list {params} or shown(params)
  local plain, names = base.split_names(params)
  params = V.list(plain, params.n)
  V.dict_set(group, "params", params)
  if names then V.dict_set(group, "param_names", V.list(names)) end
  for k = 1, params.n do check_param(params[k]) end
  for name, v in V.each(attrs.get(self, "defaults")) do
    if V.dict_get(group, name) == nil then
      if V.type_name(v) == "_RequiredParameter" then
        util.raise("ValueError", "parameter group didn't specify a value of "
          .. "required optimization parameter %s", name)
      end
      V.dict_set(group, name, v)
    end
  end
  local groups = attrs.get(self, "param_groups")
  check_apart(groups, params)
  append(groups, group)
end

-- ---- for schedulers ----

-- A group as schedulers see it: a table that is the dict.
local function table_of(group)
  return setmetatable({}, {
    __index = function (_, name)
      local v = V.dict_get(group, name)
      if v ~= nil and v ~= None then return V.to_lua(v) end
    end,
    __newindex = function (_, name, v)
      V.dict_set(group, name, V.from_lua(v))
    end})
end

local function groups_of(self)
  return setmetatable({}, {__index = function (_, name)
    if name ~= "param_groups" then return nil end
    local out, groups = {}, attrs.get(self, "param_groups")
    for i = 1, groups.n do out[i] = table_of(groups[i]) end
    return out
  end})
end

-- What schedulers take for the optimizer; a copy needs its own.
local function put_inside(self, own)
  rawset(self, "schedulable", own)
  rawset(self, "rebuilds", true)
end

-- ---- state dicts ----

local function each_param(self, f)
  local groups, n = attrs.get(self, "param_groups"), 0
  for i = 1, groups.n do
    local list = V.dict_get(groups[i], "params")
    for k = 1, list.n do
      f(list[k], n, i)
      n = n + 1
    end
  end
end

local function state_dict(self)
  local state, groups, out = V.dict(), V.list({}, 0), V.dict()
  local numbers, number = {}, {}
  each_param(self, function (p, n, i)
    numbers[i] = numbers[i] or V.list({}, 0)
    append(numbers[i], n)
    number[p._id] = n
  end)
  for p, s in V.each(attrs.get(self, "state")) do   -- keys that are no
    V.dict_set(state, util.is_tensor(p) and number[p._id] or p, s)  -- tensors too
  end
  local from = attrs.get(self, "param_groups")
  for i = 1, from.n do
    local group = V.dict()
    for name, v in V.each(from[i]) do
      if name ~= "params" then V.dict_set(group, name, v) end
    end
    V.dict_set(group, "params", numbers[i] or V.list({}, 0))
    append(groups, group)
  end
  V.dict_set(out, "state", state)
  V.dict_set(out, "param_groups", groups)
  return out
end

-- What is loaded, in a parameter's dtype but for the count of steps; boxes
-- are new ones.
local function cast(p, v, key)
  if util.is_tensor(v) then
    if key ~= "step" and p:is_floating_point() and v.dtype ~= p.dtype then
      return v:to(p.dtype)
    end
  elseif V.is_dict(v) then
    local out = V.dict()
    for k, x in V.each(v) do V.dict_set(out, k, cast(p, x, k)) end
    return out
  elseif V.is_seq(v) and not rawget(v, "record") then
    local out = {}
    for i = 1, v.n do out[i] = cast(p, v[i]) end
    return (V.is_tuple(v) and V.tuple or V.list)(out, v.n)
  end
  return v
end

local function check_lengths(groups, from)
  if groups.n ~= from.n then
    util.raise("ValueError", "loaded state dict has a different number of "
      .. "parameter groups")
  end
  for i = 1, groups.n do
    if V.dict_get(groups[i], "params").n ~= V.dict_get(from[i], "params").n then
      util.raise("ValueError", "loaded state dict contains a parameter group "
        .. "that doesn't match the size of optimizer's group")
    end
  end
end

local function new_state()
  return calls.call(attrs.get(attrs.module("collections"), "defaultdict"),
    V.list {attrs.get(builtin_names, "dict")})
end

-- Groups and state are those of `d`; of the present ones only the parameters
-- stay.
local function load_state_dict(self, d)
  local groups, from = attrs.get(self, "param_groups"),
    V.dict_get(d, "param_groups")
  check_lengths(groups, from)
  local fresh, param, state = V.list({}, 0), {}, new_state()
  for i = 1, groups.n do
    local group, params = V.dict(), V.dict_get(groups[i], "params")
    for name, v in V.each(from[i]) do V.dict_set(group, name, v) end
    local numbers = V.dict_get(from[i], "params")
    for k = 1, params.n do param[numbers[k]] = params[k] end
    V.dict_set(group, "params", params)
    append(fresh, group)
  end
  for k, s in V.each(V.dict_get(d, "state")) do
    local p = param[k]
    V.dict_set(state, p or k, p and cast(p, s) or s)
  end
  attrs.set(self, "state", state)
  attrs.set(self, "param_groups", fresh)
end

-- As PyTorch prints it: each group's settings, sorted.
local function text(self)
  local lines, groups = {V.type_name(self) .. " ("},
    attrs.get(self, "param_groups")
  for i = 1, groups.n do
    local names = {}
    for name in V.each(groups[i]) do
      if name ~= "params" then names[#names + 1] = name end
    end
    table.sort(names)
    if i > 1 then lines[#lines + 1] = "" end
    lines[#lines + 1] = "Parameter Group " .. (i - 1)
    for _, name in ipairs(names) do
      local v = V.dict_get(groups[i], name)
      if util.is_tensor(v) and v.ndim == 0 then v = v:item() end
      lines[#lines + 1] = ("    %s: %s"):format(name, V.str(v))
    end
  end
  return table.concat(lines, "\n") .. "\n)"
end

-- The step of the object's class runs between its hooks from the first object
-- on, as in PyTorch.
local function hook_step(self)
  local class = rawget(self, "_class")
  local f = attrs.get(class, "step")
  if type(f) == "table" and rawget(f, "hooked") then return end
  local step = V.builtin(function (a, kw)
    local label <close> = base.label(V.type_name(a[1]), "step") -- luacheck: ignore
    return hooks.step(a[1], a, kw, function (...) return calls.call(f, ...) end)
  end, "step")
  rawset(step, "binds", true)
  rawset(step, "hooked", true)
  class.step = calls.lua_method(step)
end

-- ---- torch.optim.Optimizer ----

local function zero_grad(self, set_to_none)
  local label <close> = base.label(V.type_name(self), "zero_grad") -- luacheck: ignore
  dt._clearing()
  each_param(self, function (p)
    if p.grad == nil then return end
    if set_to_none == false then p.grad:zero_() else p.grad = dt.None end
  end)
end

-- A program may have put anything there.
local function each_kept(o, see)
  local all = attrs.get(o, "state")
  for _, state in V.each(V.is_dict(all) and all or V.dict()) do
    see(state)
    for _, value in V.each(V.is_dict(state) and state or V.dict()) do see(value) end
  end
end

local function start(self, params, defaults)
  if util.is_tensor(params) then
    util.raise("TypeError", "params argument given to the optimizer should be "
      .. "an iterable of Tensors or dicts, but got torch.FloatTensor")
  end
  hook_step(self)
  local list = shown(params)
  attrs.set(self, "defaults", defaults)
  attrs.set(self, "state", new_state())
  base.keeps(self, each_kept)
  attrs.set(self, "param_groups", V.list({}, 0))
  put_inside(self, groups_of(self))
  local function add(group)             -- as the program's class has it
    V.call(attrs.get(self, "add_param_group"), V.list {group})
  end
  if list.n == 0 then
    util.raise("ValueError", "optimizer got an empty parameter list")
  elseif V.is_dict(list[1]) then
    for i = 1, list.n do add(list[i]) end
  else
    local group = V.dict()
    V.dict_set(group, "params", list)
    add(group)
  end
end

local function with_hooks(list)
  local out = methods(list)
  for name, f in pairs(hooks.registers) do
    rawset(f, "binds", true)
    out[name] = f
  end
  return out
end

local KEPT <const> = {"defaults", "state", "param_groups"}

local function kept(self)
  local out = V.dict()
  for _, name in ipairs(KEPT) do V.dict_set(out, name, attrs.get(self, name)) end
  return out
end

-- rebuilt(class, own, state): an optimizer of the program's class on one of
-- dtrepl, or with that state.
local rebuilt = V.builtin(function (a)
  local out, own = object.bare(a[1]), a[2]
  if own ~= None then
    rawset(own, "label_as", V.type_name(out))
    put_inside(out, own)
    return out
  end
  put_inside(out, groups_of(out))
  for name, v in V.each(a[3]) do attrs.set(out, name, v) end
  local defaults = attrs.get(out, "defaults")
  if V.dict_get(defaults, "differentiable") == nil then
    V.dict_set(defaults, "differentiable", false)
  end
  return out
end, "_rebuilt")

-- How copy and pickle make another: it has the class, groups, state and
-- defaults, and nothing else that the program put there.
local function reduced(self)
  local own = rawget(self, "schedulable")
  if own and rawget(own, "class") then
    return V.tuple {rebuilt, V.tuple {self._class, own}}
  end
  return V.tuple {rebuilt, V.tuple {self._class, None, kept(self)}}
end

M.Optimizer = classes.make("Optimizer", {}, with_hooks {
  __init__ = {{"self", "params", "defaults"}, function (a)
    start(a.self, a.params, a.defaults)
    return None
  end},
  add_param_group = {{"self", "param_group"}, function (a)
    add_group(a.self, a.param_group)
    return None
  end},
  zero_grad = {{"self", "set_to_none?"}, function (a)
    zero_grad(a.self, a.set_to_none)
    return None
  end},
  state_dict = {{"self"}, function (a)
    return hooks.state(a.self, function () return state_dict(a.self) end)
  end},
  load_state_dict = {{"self", "state_dict"}, function (a)
    hooks.load(a.self, a.state_dict, function (d) load_state_dict(a.self, d) end)
    return None
  end},
  __repr__ = {{"self"}, function (a) return text(a.self) end},
  __getstate__ = {{"self"}, function (a) return kept(a.self) end},
  __reduce__ = {{"self"}, function (a) return reduced(a.self) end},
  step = {{"self", "closure?"}, function ()
    util.raise("NotImplementedError", "")
  end}}, {}, {})

rawset(M.Optimizer, "__home", "torch.optim.optimizer")

-- ---- below an optimizer of dtrepl ----

-- The method of the real optimizer, as Python calls it.
local function passed(name)
  local f = V.builtin(function (a, kw)
    local own = rawget(a[1], "schedulable")
    return calls.call(attrs.get(own, name), V.list({table.unpack(a, 2, a.n)},
      a.n - 1), kw)
  end, name)
  rawset(f, "binds", true)
  return f
end

local function view(name)
  local get = V.builtin(function (a)
    return attrs.get(rawget(a[1], "schedulable"), name)
  end, name)
  local set = V.builtin(function (a)
    attrs.set(rawget(a[1], "schedulable"), name, a[2])
    return None
  end, name)
  return classes.names.property.call(V.list {get, set})
end

local wrapped = setmetatable({}, {__mode = "k"})

local function is_ours(class)
  return type(class) == "table" and rawget(class, "args") ~= nil
    and rawget(class, "defaults") ~= nil
end

--- below(class): for an optimizer of dtrepl the class that a program's class
--- is on; anything else as it is.
function M.below(class)
  if not is_ours(class) or rawget(class, "__python") then return class end
  if wrapped[class] then return wrapped[class] end
  local members = {param_groups = view "param_groups", state = view "state",
    defaults = view "defaults"}
  for _, name in ipairs {"step", "zero_grad", "state_dict", "load_state_dict",
      "add_param_group"} do
    members[name] = passed(name)
  end
  local init = V.builtin(function (a, kw)
    hook_step(a[1])
    local own = calls.call(class, V.list({table.unpack(a, 2, a.n)}, a.n - 1), kw)
    rawset(own, "label_as", V.type_name(a[1]))
    put_inside(a[1], own)
    return None
  end, "__init__")
  rawset(init, "binds", true)
  members.__init__ = init
  wrapped[class] = classes.make(class.name, {M.Optimizer}, members, {}, {})
  return wrapped[class]
end

-- isinstance(v, torch.optim.Optimizer): those of dtrepl are too.
rawset(M.Optimizer, "holds", function (v)
  return type(v) == "table" and rawget(v, "param_groups") ~= nil
end)

classes.below = M.below

rawset(M.Optimizer, "below", is_ours)

-- The class above, where that is another than Optimizer.
local above = {AdamW = "Adam"}
local optim = require "dt.optim"

local function is_below(c, class)
  return c == class or is_ours(c) and optim[above[c.name]] == class
    or classes.is_below(c, wrapped[class])
end

local home_of = {Adafactor = "torch.optim"}

-- What Python asks of a class of ours.
local function as_class(class)
  local home = home_of[class.name] or "torch.optim." .. class.name:lower()
  rawset(class, "__module__", home)
  rawset(class, "__name__", class.name)
  rawset(class, "above", optim[above[class.name]] or M.Optimizer)
  rawset(class, "test", function (v) return rawget(class, "holds")(v) end)
  rawset(class, "shown", ("<class '%s.%s'>"):format(home, class.name))
  rawset(class, "holds", function (v)
    return type(v) == "table" and (is_below(rawget(v, "class"), class)
      or classes.is_instance(v, wrapped[class]))
  end)
  rawset(class, "below", function (c) return is_below(c, class) end)
end

for _, class in pairs(optim) do
  if is_ours(class) then as_class(class) end
end

return M

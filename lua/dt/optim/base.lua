-- SPDX-License-Identifier: MIT
-- dt/optim/base.lua: what all optimizers share: groups, state by parameter,
-- step and zero_grad, the choice of loop, foreach or fused.

local dt = require "dt"
local util = require "dt.util"

local M = {}
local A = dt.ops.aten
M.A = A

-- ---- parameters and groups ----

local function tensors_of(params)
  if type(params) == "function" then
    local list = {}
    for p, named in params do       -- or a name and a parameter
      list[#list + 1] = type(p) == "string" and {p, named} or p
    end
    return list
  end
  if util.is_tensor(params) then return {params} end
  return params
end

-- No parameter is in two groups.
local function check_groups(groups)
  local seen, named = {}, groups[1] and groups[1].param_names ~= nil
  for _, g in ipairs(groups) do
    if (g.param_names ~= nil) ~= named then
      util.raise("ValueError", "all optimizer param groups should be "
        .. "with/without names. cannot add param group %s names to the "
        .. "optimizer", named and "without" or "with")
    end
    local own = {}
    for _, p in ipairs(g.params) do
      if seen[p._id] then
        util.raise("ValueError",
          "some parameters appear in more than one parameter group")
      end
      own[p._id] = true
    end
    for id in pairs(own) do seen[id] = true end
  end
end

local function check_leaf(p)
  if not util.is_tensor(p) then
    util.raise("TypeError", "optimizer can only optimize Tensors, but one of "
      .. "the params is %s", util.type_text(p))
  end
  if not p.is_leaf then
    util.raise("ValueError", "can't optimize a non-leaf Tensor")
  end
end

-- A group among groups: a table of settings, no tensor.
local function check_is_group(g)
  if type(g) == "table" and not util.is_tensor(g) then return end
  local kind = util.type_text(g)
  local home = kind == "Parameter" and "torch.nn.parameter."
    or kind == "DTensor" and "torch.distributed.tensor."
    or kind == "Tensor" and "torch." or ""
  util.raise("TypeError", "param_group must be a dict, but got <class '%s%s'>",
    home, kind)
end

local function is_named(p)
  return type(p) == "table" and not util.is_tensor(p)
    and type(p[1]) == "string" and p[2] ~= nil
end

-- split_names(list): the parameters of a list and their names: of (name,
-- parameter) pairs, or nil.
function M.split_names(list)
  local params, names = {}, {}
  for i, p in ipairs(list) do
    if is_named(p) then
      params[i], names[#names + 1] = p[2], p[1]
    else
      params[i] = p
    end
  end
  if #names > 0 and #names < #params then
    util.raise("ValueError", "all optimizer params should be with/without "
      .. "names. Some param names are missing")
  end
  return params, #names > 0 and names or nil
end

-- The order in which a program gave a group's settings: known to languages
-- whose dicts have one.  `key_order(table)` is set by them.
local given, key_order = setmetatable({}, {__mode = "k"}), nil
function M.set_key_order(f) key_order = f end
function M.given_order(group) return given[group] end

local function group_of(params, defaults)
  local group = {}
  given[group] = key_order and type(params) == "table" and key_order(params)
  for key, value in pairs(defaults) do group[key] = value end
  if type(params) == "table" and params.params then
    for key, value in pairs(params) do group[key] = value end
  elseif type(params) == "table" and params[1] == nil then
    util.raise("KeyError", "'params'")
  else
    group.params = params
  end
  local names
  group.params, names = M.split_names(tensors_of(group.params))
  group.param_names = names or group.param_names
  for _, p in ipairs(group.params) do check_leaf(p) end
  return group
end

-- ---- lists ----

local function map(list, f)
  local out = {}
  for i, v in ipairs(list) do out[i] = f(v) end
  return out
end
M.map = map

local function pick(list, which)
  return map(which, function (i) return list[i] end)
end

-- The tensors called `name` of a list of states.
function M.field(states, name)
  return map(states, function (s) return s[name] end)
end

-- The step counter of a new state: on the parameter's device where a graph of
-- it may be captured.
function M.step(group)
  if group.capturable then
    return A.zeros.default({}, {dtype = dt.float32})
  end
  return M.scalar(0.0)
end

-- A number as a tensor, as torch.tensor(v, dtype=) makes it.
function M.scalar(v, dtype)
  return A.lift_fresh.default(dt.tensor(v, dtype and {dtype = dtype}))
end

-- ---- the class ----

local Optimizer = {}
Optimizer.__index = Optimizer

-- A part of an optimizer's work, named as PyTorch's profiler has it; ends with
-- the block.
local ending = setmetatable({}, {__close = function () dt._label() end})
function M.label(name, method)
  dt._label(("Optimizer.%s#%s.%s"):format(method, name, method))
  return ending
end

-- The same of an optimizer of dtrepl; one below a class of a program's has that
-- one's name (`label_as`), whose step has the label.
function M.labelled(self, method)
  local as = rawget(self, "label_as")
  if as and method == "step" then return nil end
  return M.label(as or getmetatable(self).__name, method)
end

-- Forget the gradients of all parameters (or make them zero).
function Optimizer:zero_grad(set_to_none)
  local label <close> = M.labelled(self, "zero_grad")   -- luacheck: ignore
  if type(set_to_none) == "table" then set_to_none = set_to_none.set_to_none end
  dt._clearing()
  for _, group in ipairs(self.param_groups) do
    for _, p in ipairs(group.params) do
      if p.grad then
        if set_to_none == false then p.grad:zero_() else p.grad = dt.None end
      end
    end
  end
end

-- add_param_group{params = list, lr = ...}
function Optimizer:add_param_group(group)
  if type(group) ~= "table" or group[1] ~= nil then
    util.raise("TypeError", "param_group must be a dict, but got <class '%s'>",
      type(group) == "table" and "list" or util.type_text(group))
  end
  local all = {table.unpack(self.param_groups)}
  all[#all + 1] = group_of(group, self.defaults)
  if (all[#all].param_names == nil) ~= (all[1].param_names == nil) then
    util.raise("ValueError", "all optimizer param groups should be with/without "
      .. "names. cannot add param group %s names to the optimizer",
      all[#all].param_names and "with" or "without")
  end
  check_groups(all)
  table.insert(self.param_groups, all[#all])
end

-- A step that is differentiable writes to parameters while gradients are
-- recorded, which a leaf forbids.
local function check_written(group, active)
  if not group.differentiable then return end
  for _, p in ipairs(active) do
    if p.requires_grad and p.is_leaf then
      util.raise("RuntimeError", "a leaf Variable that requires grad is being "
        .. "used in an in-place operation.")
    end
  end
end

-- A parameter without a gradient: does its module have another one now, which has a
-- gradient and is not the optimizer's?
local function look_for_newer(self, p)
  local now = dt._put_for and dt._put_for(p)
  if not (now and now.grad) then return end
  for _, group in ipairs(self.param_groups) do
    for _, q in ipairs(group.params) do
      if q == now then return end
    end
  end
  dt._finding("STALE_PARAM", p, "it has no gradient; its module has another parameter "
    .. "in its place, which has one and is not the optimizer's", "optimizer.step")
end

-- One step; `closure`, if given, computes the loss again and returns it.
function Optimizer:step(closure)
  local label <close> = M.labelled(self, "step")        -- luacheck: ignore
  local loss
  if closure then
    loss = dt.enable_grad(closure)
  end
  local guard <close> = dt.no_grad()            -- luacheck: ignore guard
  local n, without = 0, nil
  for _, group in ipairs(self.param_groups) do
    local active = {}
    for _, p in ipairs(group.params) do
      if not p.grad then without = without or p end
      if p.grad then active[#active + 1] = p
      elseif dt._was_source(p) then
        dt._finding("STALE_PARAM", p, "it has no gradient; a distributed "
          .. "tensor was made from it", "optimizer.step")
      else
        look_for_newer(self, p)
      end
    end
    n = n + #active
    check_written(group, active)
    dt._steps_on(active)
    if #active > 0 then self:run(group, active) end
  end
  if without then dt._stepping(n, without) end
  self.went_on = rawget(self, "restored")
  if closure then return loss end       -- else nothing, which no prompt shows
end

-- The state of one parameter, made on first use by `make(p)`.
function Optimizer:state_of(p, make)
  local state = self.state[p._id]
  if state == nil then
    state = make(p)
    self.state[p._id] = state
  end
  return state
end

-- The tensors and numbers of one parameter's state by name.
function Optimizer:state_dict_of(state)
  local out = {}
  for name, v in pairs(state) do
    if util.is_tensor(v) or type(v) == "number" then out[name] = v end
  end
  return out
end

-- foreach when asked for; else the default of the parameters' device.
local function use_foreach(group, params)
  if group.foreach ~= nil then return group.foreach end
  for _, p in ipairs(params) do
    if p.device == "cpu" or p.device == "xla" then return false end
  end
  return true
end

-- Steps that a graph of the device can hold need such a device.
local function check_capturable(class, params, foreach)
  local xla = not foreach and class.name ~= "Adadelta"
    or class.name == "Rprop" or class.name == "RMSprop"
  for _, p in ipairs(params) do
    local d = tostring(p.device):gsub(":.*", "")
    if d == "cpu" or d == "meta" or d == "xla" and not xla then
      util.raise("AssertionError", "If capturable=True, params%s and "
        .. "state_steps must be on supported devices: ['cuda', 'xpu', 'hpu', "
        .. "'privateuseone'%s].", foreach and class.lists_with_steps
        or class.with_steps or "", xla and ", 'xla'" or "")
    end
  end
end

function Optimizer:run(group, params)
  local class = self.class
  local how = group.fused and class.fused
    or use_foreach(group, params) and class.foreach
  if util.is_tensor(group.lr) and not (class.tensor_rate
     and how ~= class.foreach) then             -- what it is now
    group = setmetatable({lr = M.number(group.lr)}, {__index = group})
  end
  local states = map(params, function (p)
    return self:state_of(p, function (q) return class.init(group, q) end)
  end)
  if group.capturable and not group.fused then
    check_capturable(class, params, how == class.foreach)
  end
  if not how then
    for i, p in ipairs(params) do
      local grad = p.grad
      if group.maximize then grad = -grad end
      class.one(group, p, grad, states[i])
    end
    return
  end
  local _, places = util.by_dtype(params)
  for _, which in ipairs(places) do
    local list = pick(params, which)
    local grads = map(list, function (p) return p.grad end)
    if group.maximize and how == class.foreach and not class.maximizes then
      grads = A._foreach_neg.default(grads)
    end
    how(group, list, grads, pick(states, which))
  end
end

local alive = setmetatable({}, {__mode = "k"})  -- optimizers, for :mem

-- keeps(o, each): a new optimizer; each(o, see) calls see(value) for all that
-- is in the states of its parameters.
function M.keeps(o, each) alive[o] = each end

-- Storages of what optimizers keep between steps: {[number] = true}.
function M.storages()
  local out = {}
  local function see(value)
    if util.is_tensor(value) then out[dt._storage(value).id] = true end
  end
  for o, each in next, alive do each(o, see) end
  return out
end

local function each_kept(o, see)
  for _, state in next, o.state do
    for _, value in next, state do see(value) end
  end
end

-- Parameters of one dimension that hold matrices, as FSDP1 flattens them; told by it.
M.flat = setmetatable({}, {__mode = "k"})

-- The groups were chosen by how many dimensions a parameter has: the one that decays is
-- empty, and matrices that were flattened are among those that do not.
local function tell_undecayed(o)
  local empty, flat, n = false, nil, 0
  for _, g in ipairs(o.param_groups) do
    local decay = g.weight_decay
    if #g.params == 0 then
      empty = empty or (type(decay) == "number" and decay > 0)
    elseif decay == 0 then
      for _, p in ipairs(g.params) do
        if M.flat[p] then flat, n = flat or p, n + 1 end
      end
    end
  end
  if empty and flat and dt._finding then
    dt._finding("FLAT_UNDECAYED", flat, ("the group with weight decay is empty; %d "
      .. "parameters of one dimension, in which matrices are flattened, have none")
      :format(n), o.class.__name)
  end
end

-- copied(o, copy): another optimizer of o's class; copy(t) is a copy of a table
-- and of the tensors in it.
function M.copied(o, copy)
  local out = setmetatable({state = {}, param_groups = copy(o.param_groups),
    defaults = copy(o.defaults), class = o.class}, getmetatable(o))
  local states = copy(o.state)
  for i, g in ipairs(o.param_groups) do
    local group = out.param_groups[i]
    given[group] = given[g]
    for k, p in ipairs(g.params) do
      out.state[group.params[k]._id] = states[p._id]
    end
  end
  M.keeps(out, each_kept)
  return out
end

local function new(class, params, defaults)
  local o = setmetatable({state = {}, param_groups = {}, defaults = defaults,
    class = class}, class)
  M.keeps(o, each_kept)
  if util.is_tensor(params) then
    util.raise("TypeError", "params argument given to the optimizer should be "
      .. "an iterable of Tensors or dicts, but got torch.FloatTensor")
  end
  local kind = type(params)
  if params == nil or params == dt.None or kind == "number"
     or kind == "boolean" then
    util.raise("TypeError", "'%s' object is not iterable",
      util.type_text(params))
  end
  params = kind == "table" and params or tensors_of(params)
  local first = type(params) == "table" and params[1]
  if first == nil and type(params) == "table"
     and type(next(params)) == "string" then      -- a dict is its keys
    check_leaf(next(params))
  elseif first == nil then
    util.raise("ValueError", "optimizer got an empty parameter list")
  end
  if type(first) == "table" and not is_named(first) then
    for _, g in ipairs(params) do
      check_is_group(g)
      table.insert(o.param_groups, group_of(g, defaults))
    end
    check_groups(o.param_groups)
  else
    table.insert(o.param_groups, group_of(params, defaults))
  end
  tell_undecayed(o)
  return o
end

-- ---- what arguments may be ----

-- A number, or a tensor of one, as Python's format() writes it.
local function shown(v)
  if util.is_tensor(v) then
    if v.ndim > 0 then return tostring(v) end
    v = v:item()
  end
  return math.type(v) == "float" and util.float_text(v) or tostring(v)
end
M.shown = shown

local function check_rate(d, a)
  if not util.is_tensor(a.lr) then return end
  if d.scalar_rate and a.foreach and not a.capturable then
    util.raise("ValueError", "lr as a Tensor is not supported for "
      .. "capturable=False and foreach=True")
  end
  if a.lr:numel() ~= 1 then
    util.raise("ValueError", "Tensor lr must be 1-element")
  end
end

-- Both betas are in [0, 1).
function M.check_betas(a)
  if type(a.betas) ~= "table" then
    util.raise("TypeError", "'%s' object is not subscriptable",
      util.type_text(a.betas))
  end
  for i = 1, 2 do
    local b = a.betas[i]
    b = util.is_tensor(b) and b:item() or b
    if type(b) ~= "number" then
      util.raise("TypeError", "'<=' not supported between instances of 'float' "
        .. "and '%s'", util.type_text(b))
    end
    if not (b >= 0 and b < 1) then
      util.raise("ValueError", "Invalid beta parameter at index %d: %s",
        i - 1, shown(a.betas[i]))
    end
  end
end

-- One argument: not negative, or as `ok` decides.
local function check_one(c, a)
  local v = a[c[1]]
  local n = util.is_tensor(v) and v:item() or v
  if type(n) ~= "number" then
    util.raise("TypeError", "'<=' not supported between instances of 'float' "
      .. "and '%s'", util.type_text(n))
  end
  local ok = n >= 0
  if c.ok then ok = c.ok(n) end
  if not ok then
    util.raise("ValueError", c.text or "Invalid " .. c[2] .. ": %s", shown(v))
  end
end

local function check_least(d, a)
  check_rate(d, a)
  for _, c in ipairs(d.least) do
    if type(c) == "function" then c(a) else check_one(c, a) end
  end
end

-- What fused steps do not go with.
local function check_fused(a)
  if not a.fused then return end
  if a.differentiable then
    util.raise("RuntimeError", "`fused` does not support `differentiable`")
  end
  if a.foreach then
    util.raise("RuntimeError",
      "`fused` and `foreach` cannot be `True` together.")
  end
end

-- The settings of a group: names in the class's order (`settings`, where it is
-- another than that of its arguments), then
-- those of `added` in their order, then the others, and values by name; a switch
-- that was not given is off.
function M.settings(o, g, added)
  local names, values = {}, {params = true}
  local function add(name, v)
    if type(name) ~= "string" or values[name] ~= nil then return end
    if v == nil and (name == "capturable" or name == "differentiable") then
      v = false
    end
    names[#names + 1], values[name] = name, v == nil and dt.None or v
  end
  if g.param_names then add("param_names", g.param_names) end
  for _, name in ipairs(o.class.settings or o.class.args or {}) do
    add(name, g[name])
  end
  if g.decoupled ~= nil then add("decoupled_weight_decay", g.decoupled) end
  for _, name in ipairs(added or {}) do
    if g[name] ~= nil then add(name, g[name]) end
  end
  for _, name in ipairs(util.sorted_keys(g)) do
    if name ~= "decoupled" then add(name, g[name]) end
  end
  return names, values
end

-- A setting as Python prints it.
local function setting_text(v)
  if util.is_none(v) then return "None" end
  if type(v) == "boolean" then return v and "True" or "False" end
  if type(v) == "table" and getmetatable(v) == nil then
    local parts = {}
    for i, x in ipairs(v) do parts[i] = setting_text(x) end
    return "(" .. table.concat(parts, ", ") .. ")"
  end
  if util.is_tensor(v) and v.ndim == 0 then v = v:item() end
  return math.type(v) == "float" and util.float_text(v) or tostring(v)
end

-- An optimizer as Python prints it: each group's settings, sorted.
function M.text(o)
  local lines = {o.class.name .. " ("}
  for i, g in ipairs(o.param_groups) do
    local names, values = M.settings(o, g)
    if i > 1 then lines[#lines + 1] = "" end
    lines[#lines + 1] = "Parameter Group " .. (i - 1)
    table.sort(names)
    for _, name in ipairs(names) do
      local v = values[name]
      lines[#lines + 1] = ("    %s: %s"):format(name, name == "param_names"
        and "['" .. table.concat(v, "', '") .. "']" or setting_text(v))
    end
  end
  lines[#lines + 1] = ")"
  return table.concat(lines, "\n")
end

-- A class from its description: name; args, the names of the arguments;
-- settings, those names in the order of a group; defaults; least, those that may
-- not be negative, with their names in messages (or text, and ok(value), another
-- test), or a check of all arguments;
-- scalar_rate, foreach steps want lr to be a number; tensor_rate, the other
-- steps compute with lr as it is, a tensor too; check(a), more
-- checks; check_groups(groups), of the groups; init(group, p), the state of a
-- parameter;
-- one(group, p, grad, state), a step of one parameter; foreach and
-- fused(group, params, grads, states), a step of a list; maximizes, foreach
-- looks at `maximize` itself; with_steps (lists_with_steps for foreach), what
-- else capturable wants on the device.
function M.class(d)
  local C = setmetatable(d, {__index = Optimizer, __call = function (C, ps, ...)
    local a = util.bind(d.name, d.args, d.defaults, ...)
    check_least(d, a)
    if d.check then d.check(a) end
    local o = new(C, ps, a)
    if d.check_groups then d.check_groups(o.param_groups) end
    check_fused(a)
    if d.check_params then
      for _, group in ipairs(o.param_groups) do d.check_params(group.params) end
    end
    if d.at_once then                 -- state is made with the optimizer
      for _, group in ipairs(o.param_groups) do
        for _, p in ipairs(group.params) do
          o:state_of(p, function (q) return d.init(group, q) end)
        end
      end
    end
    return o
  end})
  C.__index, C.__name = C, d.name
  C.__tostring = M.text
  return C
end

-- number(t): the value of a state's scalar; 0.5 where there is no data and
-- only shapes matter.
function M.number(t)
  if dt.world() == "fake" then return 0.5 end
  return t:item()
end

-- rate(v): a number for the steps' arguments, of a number or a tensor.
function M.rate(v) return util.is_tensor(v) and M.number(v) or v end

return M

-- SPDX-License-Identifier: MIT
-- torch/state_dict.lua: torch.distributed.checkpoint.state_dict: the state of
-- models and optimizers by the names of parameters, and back.

local dt = require "dt"
local util = require "dt.util"
local V = require "python.values"
local args = require "python.args"
local attrs = require "python.attrs"
local attributes = require "torch.attributes"
local dist = require "dt.distributed"
local objects = require "torch.objects"
local loaded = require "dt.nn.loaded"
local nn = require "dt.nn"
local plan = require "torch.dcp_plan"
local restored = require "torch.restored"

local None, builtin, namespace = dt.None, V.builtin, attrs.namespace

local keys_of = attributes.incompatible_keys

-- A field of StateDictOptions (pylib/more) is set.
local function option(options, name)
  return options ~= nil and V.truth(attrs.get(options, name))
end

-- A tensor as the options want it; nil where this rank keeps none.
local function shown(t, options)
  if not option(options, "full_state_dict") then return t end
  local whole = t.is_dtensor and t:full_tensor() or t
  if option(options, "cpu_offload") and dt.rank() ~= 0 then return nil end
  return whole
end

-- cleaner(model): a function that gives a name without those of the wrappers
-- around what it stands in.
local function cleaner(model)
  local above = {}
  for path, m in model:named_modules() do
    if nn.isinstance(m, nn.parallel.DistributedDataParallel) then
      above[#above + 1] = path == "" and "module." or path .. ".module."
    end
  end
  return function (name)
    for i = #above, 1, -1 do
      local prefix = above[i]
      if name:sub(1, #prefix) == prefix then
        name = prefix:sub(1, -8) .. name:sub(#prefix + 1)
      end
    end
    return (name:gsub("_checkpoint_wrapped_module%.", "")
      :gsub("_fsdp_wrapped_module%.", ""):gsub("_orig_mod%.", ""))
  end
end

-- named_parameters() as the model's class has it, which may be the program's:
-- f(name, parameter).
local function each_parameter(model, f)
  local given = V.call(attrs.get(model, "named_parameters"), V.list({}, 0))
  local next_pair = V.iter(given)
  local more, pair = next_pair()
  while more do
    f(pair[1], pair[2])
    more, pair = next_pair()
  end
end

-- The tensors of model.state_dict(), in its order; the real parameters, whose
-- gradients may be asked for, in place of the detached ones.
local function each_entry(model)
  local clean = cleaner(model)
  local own, list = {}, {}
  -- First: state_dict's hooks put FSDP's parts back where whole parameters are.
  local state = V.call(attrs.get(model, "state_dict"), V.list({}, 0))
  each_parameter(model, function (name, p) own[clean(name)] = p end)
  for name, t in V.each(state) do
    if util.is_tensor(t) then list[#list + 1] = {name, own[clean(name)] or t} end
  end
  return list
end


local function refuse_submodules(a, name)
  if not args.given(a.submodules) then return end
  util.refuse("%s(submodules=) is not part of dtrepl",
    name)
end

local function options_of(a) return args.given(a.options) and a.options or nil end

local function get_model(a)
  refuse_submodules(a, "get_model_state_dict")
  local options, out = options_of(a), V.dict()
  local clean, renamed = cleaner(a.model), {}
  for _, item in ipairs(each_entry(a.model)) do
    local name = clean(item[1])
    local frozen = option(options, "ignore_frozen_params")
      and item[2].is_parameter and not item[2].requires_grad
    local t = not frozen and shown(item[2]:detach(), options)
    if t and name == item[1] then
      V.dict_set(out, name, t)
    elseif t then                       -- PyTorch takes it out and puts it back
      renamed[#renamed + 1] = {name, t}
    end
  end
  for _, item in ipairs(renamed) do V.dict_set(out, item[1], item[2]) end
  return out
end

-- What rank 0 was given for a tensor, on every rank, where the options say so;
-- else this rank's own.
local function given_for(state, name, t, options)
  local v = state and V.dict_get(state, name)
  if not option(options, "broadcast_from_rank0") then return v end
  local whole = dt.rank() == 0 and v
    or dt.zeros({table.unpack(t.shape)}, {dtype = t.dtype})
  return dist.broadcast(whole, 0) or whole
end

-- A whole tensor of a state, cut as the one that is there.  Without
-- broadcast_from_rank0 each rank gives one, and those of the first rank of the
-- mesh are taken.
local function cut_like(v, old, options)
  if not (util.is_tensor(v) and util.is_dtensor(old)) or v.is_dtensor then
    return v
  end
  local sent = option(options, "broadcast_from_rank0")
  return dt.distribute_tensor(v, old.device_mesh, old.placements,
    sent and {src_data_rank = dt.None} or nil)
end

-- What the model holds now, with what was given in its place as each tensor
-- is placed: a whole tensor where the options say so.
local function spread(model, state, options)
  local clean = cleaner(model)
  local out = {}
  for _, item in ipairs(each_entry(model)) do
    local name, t = clean(item[1]), item[2]:detach()
    local v = given_for(state, name, t, options)
    if v and t.is_dtensor and not v.is_dtensor then
      v = cut_like(v, t, options)
    end
    out[item[1]] = v or t
  end
  return out
end

-- Names as the model has them: a wrapper adds to them.
local function as_named(model, state)
  local clean = cleaner(model)
  local out, real = {}, {}
  for _, item in ipairs(each_entry(model)) do
    real[clean(item[1])] = item[1]
  end
  for name, v in V.each(state) do out[real[name] or name] = v end
  return out
end

-- broadcast_from_rank0 tells shapes and dtypes before the tensors.
local function tell_shapes(state)
  local list = {}
  for name, v in V.each(state or V.dict()) do
    if util.is_tensor(v) and #v.shape > 0 then
      list[#list + 1] = {name, {table.unpack(v.shape)},
        tostring(v.dtype):match("([%w_]+)$")}
    end
  end
  plan.broadcast(plan.shapes(list))
end

local function check_whole(options)
  if option(options, "broadcast_from_rank0")
     and not option(options, "full_state_dict") then
    util.raise("ValueError",
      "full_state_dict must be True when broadcast_from_rank0 is True.")
  end
end

-- What lies on meta takes no values: the tensors of the state take its place.
local function on_meta(model)
  for _, item in ipairs(each_entry(model)) do
    if item[2].device == "meta" then return true end
  end
  return false
end

-- What the model holds stands in for what a whole state lacks, so that no name is
-- missing when it is loaded: which were is asked of what was given.
local function look_at_names(model, state)
  local clean = cleaner(model)
  local own, missing, unexpected, real, given = {}, {}, {}, {}, {}
  for _, item in ipairs(each_entry(model)) do
    local name = clean(item[1])
    real[name] = true
    own[#own + 1] = {name, item[2]}
    if V.dict_get(state, name) == nil then missing[#missing + 1] = name end
  end
  for name, v in V.each(state) do
    given[name] = v
    if not real[clean(name)] then unexpected[#unexpected + 1] = name end
  end
  loaded.look(own, missing, unexpected, given, "set_model_state_dict")
end

local function set_model(a)
  local model, options = a.model, options_of(a)
  local state = a.model_state_dict
  check_whole(options)
  local strict = not options or option(options, "strict")
  local whole = option(options, "full_state_dict")
  local from0 = option(options, "broadcast_from_rank0")
  local empty = not state or V.count(state) == 0
  if empty and not from0 then
    if strict and not (whole and option(options, "cpu_offload")) then
      util.raise("RuntimeError", "The option indicates that model state_dict "
        .. "is required to save or load, but model state_dict is "
        .. "empty.rank = dist.get_rank()=%d.", dt.rank())
    end
    return keys_of {missing_keys = {}, unexpected_keys = {}}
  end
  local guard <close> = dt.no_grad()            -- luacheck: ignore guard
  -- All ranks look at the model's tensors, also those that were given no state.
  local all = as_named(model, empty and V.dict() or state)
  if whole then
    if from0 then tell_shapes(state) end
    for name, v in pairs(spread(model, state, options)) do all[name] = v end
    if not from0 and not strict then look_at_names(model, state) end
  end
  return keys_of(model:load_state_dict(all, {strict = strict,
    assign = whole and on_meta(model)}))
end

local function names_of(model)
  local clean = cleaner(model)
  local names = {}
  each_parameter(model, function (name, p) names[p._id] = clean(name) end)
  return names
end

-- One key for each value: state.NAME.KEY, param_groups.NAME.KEY.
local function flattened(states, groups)
  local out = V.dict()
  for name, own in V.each(states) do
    for key, v in V.each(own) do
      V.dict_set(out, ("state.%s.%s"):format(name, key), v)
    end
  end
  for _, group in ipairs(groups) do
    local names = V.dict_get(group, "params")
    for i = 1, names.n do
      for key, v in V.each(group) do
        if key ~= "params" then
          V.dict_set(out, ("param_groups.%s.%s"):format(names[i], key), v)
        end
      end
    end
  end
  return out
end

-- What is below a prefix of the names of a flat state: a value, or the dict of
-- the names that go on.
local function below(state, prefix)
  local v = V.dict_get(state, prefix)
  if v ~= nil then return v end
  local out = V.dict()
  for name, item in V.each(state) do
    if name:sub(1, #prefix + 1) == prefix .. "." then
      local at, rest = out, name:sub(#prefix + 2)
      for part in rest:gmatch "([^.]+)%." do
        if V.dict_get(at, part) == nil then V.dict_set(at, part, V.dict()) end
        at = V.dict_get(at, part)
      end
      V.dict_set(at, rest:match "[^.]+$", item)
    end
  end
  return out
end

-- The settings of one group in a flat state: those of its first parameter.
local function flat_group(state, names, group)
  local out = V.dict()
  V.dict_set(out, "params", V.list(names))
  for key in V.each(group) do
    if key ~= "params" then
      local name = ("param_groups.%s.%s"):format(names[1], key)
      local v = V.dict_get(state, name)
      if v == nil then util.raise("KeyError", "'%s'", name) end
      V.dict_set(out, key, v)
    end
  end
  return out
end

-- The optimizer that does the work below one of the program's classes.
local function working(opt)
  local own = type(opt) == "table" and rawget(opt, "schedulable")
  return own and rawget(own, "state") and own or opt
end

-- The groups of an optimizer, of the program's or of here, as dicts.
local function groups_of(opt)
  local list, n = V.items(attrs.get(opt, "param_groups"))
  local i = 0
  return function ()
    i = i + 1
    if i <= n then
      return i, list[i], (V.items(V.dict_get(list[i], "params")))
    end
  end
end

-- An optimizer that made no step yet gets its state by one that changes
-- nothing: zero gradients, rate 0.
local function init_state(opt)
  if V.count(attrs.get(opt, "state")) > 0 then return end
  local rates, all = {}, {}
  for i, g, params in groups_of(opt) do
    for _, p in ipairs(params) do
      if p.grad ~= nil then return end
      if p.requires_grad then all[#all + 1] = p end
    end
    rates[i] = V.dict_get(g, "lr")
  end
  local guard <close> = dt.no_grad()            -- luacheck: ignore guard
  for _, p in ipairs(all) do p.grad = dt.zeros_like(p:detach()) end
  for i, g in groups_of(opt) do
    if rates[i] ~= nil then V.dict_set(g, "lr", 0.0) end
  end
  local closure = V.dict()
  V.dict_set(closure, "closure", None)
  V.call(attrs.get(opt, "step"), V.list({}, 0), closure)
  for i, g in groups_of(opt) do
    if rates[i] ~= nil then V.dict_set(g, "lr", rates[i]) end
  end
  V.call(attrs.get(opt, "zero_grad"), V.list({}, 0))
end

-- One optimizer's states by the names of its parameters, and its groups.
local function named_states(opt, names, options, states, groups)
  init_state(opt)
  local numbered = V.call(attrs.get(opt, "state_dict"), V.list({}, 0))
  local given_states = V.dict_get(numbered, "state")
  local given_groups = V.dict_get(numbered, "param_groups")
  local n = 0
  for i, _, params in groups_of(opt) do
    local list = {}
    for k, p in ipairs(params) do
      list[k] = names[p._id]
      if not list[k] then       -- none of the model's: made before it was cut
        util.raise("KeyError", "%d", n)
      end
      local own, n_th = V.dict(), V.dict_get(given_states, n)
      for key, v in V.each(n_th or V.dict()) do
        if util.is_tensor(v) then v = shown(v, options) end
        if v ~= nil then V.dict_set(own, key, v) end
      end
      V.dict_set(states, names[p._id], own)
      n = n + 1
    end
    V.dict_set(given_groups[i], "params", V.list(list))
    groups.n = groups.n + 1
    groups[groups.n] = given_groups[i]
  end
end

-- The optimizers of an argument, one or several, as a list.
local function optimizers_of(v)
  local list = {}
  if V.is_seq(v) then
    for i = 1, v.n do list[i] = working(v[i]) end
  elseif args.given(v) then
    list[1] = working(v)
  end
  return list
end

local function get_optimizer(a)
  refuse_submodules(a, "get_optimizer_state_dict")
  local names, options = names_of(a.model), options_of(a)
  local states, groups = V.dict(), V.list({}, 0)
  for _, opt in ipairs(optimizers_of(a.optimizers)) do
    named_states(opt, names, options, states, groups)
  end
  if option(options, "full_state_dict") and option(options, "cpu_offload")
     and dt.rank() ~= 0 then
    return V.dict()
  end
  if option(options, "flatten_optimizer_state_dict") then
    return flattened(states, groups)
  end
  local out = V.dict()
  V.dict_set(out, "state", states)
  V.dict_set(out, "param_groups", groups)
  return out
end

-- A tensor is copied into the one that is there.
local function take(old, v)
  if util.is_tensor(old) and util.is_tensor(v) then return old:copy_(v) end
  return util.is_tensor(v) and v:clone() or v
end

local function set_state(opt, p, from)
  if rawget(opt, "state") then                  -- one of here
    local own = opt.state[p._id] or {}
    for key, v in V.each(from) do own[key] = take(own[key], v) end
    opt.state[p._id] = own
    return
  end
  local all = attrs.get(opt, "state")
  local own = V.dict_get(all, p) or V.dict()
  for key, v in V.each(from) do
    V.dict_set(own, key, take(V.dict_get(own, key), v))
  end
  V.dict_set(all, p, own)
end

-- The settings of the group that has a parameter of this name.
local function set_group(group, name, given_groups)
  for i = 1, given_groups and given_groups.n or 0 do
    local params = V.dict_get(given_groups[i], "params")
    for k = 1, params.n do
      if params[k] == name then
        for key, v in V.each(given_groups[i]) do
          if key ~= "params" then V.dict_set(group, key, v) end
        end
        return
      end
    end
  end
end

-- Rank 0's value on every rank: objects as objects, tensors by a broadcast of
-- what `like` has the shape of.
local function from_rank0(v, like)
  if util.is_tensor(like) then
    return dist.broadcast(dt.rank() == 0 and v or dt.zeros(
      {table.unpack(like.shape)}, {dtype = like.dtype}), 0)
  end
  local list = V.list {v == nil and None or v}
  V.call(objects.functions.broadcast_object_list, V.list {list})
  return list[1]
end

-- {key, value} of a parameter's state, by key: ranks send in this order.
local function entries_of(opt, p)
  local list = {}
  if rawget(opt, "state") then                  -- one of here
    for key, v in pairs(opt.state[p._id] or {}) do list[#list + 1] = {key, v} end
  else
    local own = V.dict_get(attrs.get(opt, "state"), p)
    for key, v in V.each(own or V.dict()) do list[#list + 1] = {key, v} end
  end
  table.sort(list, function (x, y) return x[1] < y[1] end)
  return list
end

-- The state of one parameter as the options want it read: whole tensors are
-- cut, those of rank 0 alone are sent.
local function read_state(opt, p, from, options)
  if not option(options, "full_state_dict") then return from end
  local out = V.dict()
  for _, row in ipairs(entries_of(opt, p)) do
    local key, old = row[1], row[2]
    local v = from and V.dict_get(from, key)
    if option(options, "broadcast_from_rank0") then v = from_rank0(v, old) end
    if v ~= nil then V.dict_set(out, key, cut_like(v, old, options)) end
  end
  return out
end

-- A state that holds some parameters and lacks one that is trained is refused,
-- unless the options say otherwise; an empty one belongs to an optimizer that
-- keeps no state.
local function refuse_missing(p, name, all, options)
  local loose = options ~= nil and not option(options, "strict")
  if loose or not p.requires_grad or V.dict_get(all, name) ~= nil
    or not V.truth(all) or option(options, "broadcast_from_rank0") then
    return
  end
  util.raise("RuntimeError", ("Missing optimizer state for parameter '%s' in "
    .. "checkpoint. The parameter requires gradients but has no saved optimizer "
    .. "state. To load anyway, use StateDictOptions(strict=False)."):format(name))
end

-- A state with one key for each value as one with dicts; others as they are.
local function unflattened(opt, names, state)
  if not V.truth(state) or V.dict_get(state, "state") ~= nil then return state end
  local out, states, groups = V.dict(), V.dict(), V.list({}, 0)
  for i, group, params in groups_of(opt) do
    local own_names = {}
    for k, p in ipairs(params) do
      local own, name = V.dict(), names[p._id]
      own_names[k] = name
      for _, row in ipairs(p.requires_grad and entries_of(opt, p) or {}) do
        V.dict_set(own, row[1], below(state, ("state.%s.%s"):format(name, row[1])))
      end
      if p.requires_grad then V.dict_set(states, name, own) end
    end
    groups.n, groups[i] = i, flat_group(state, own_names, group)
  end
  V.dict_set(out, "state", states)
  V.dict_set(out, "param_groups", groups)
  return out
end

local function load_states(opt, names, given_state, options)
  init_state(opt)
  given_state = unflattened(opt, names, given_state)
  local all = V.dict_get(given_state, "state") or V.dict()
  local given_groups = V.dict_get(given_state, "param_groups")
  if option(options, "broadcast_from_rank0") then
    given_groups = from_rank0(given_groups)
  end
  if V.is_seq(given_groups) and given_groups.n == 0 then
    util.raise("ValueError", "loaded state dict has a different number of "
      .. "parameter groups")
  end
  for _, g, params in groups_of(opt) do
    for _, p in ipairs(params) do
      refuse_missing(p, names[p._id], all, options)
      local from = read_state(opt, p, V.dict_get(all, names[p._id]), options)
      if from then set_state(opt, p, from) end
    end
    set_group(g, names[params[1]._id], given_groups)
  end
  restored.note(opt)
end

local function set_optimizer(a)
  local options = options_of(a)
  check_whole(options)
  local all = optimizers_of(a.optimizers)
  if #all > 0 and V.is_dict(a.optim_state_dict)
     and V.count(a.optim_state_dict) == 0
     and not option(options, "broadcast_from_rank0")
     and not (option(options, "cpu_offload")
       and option(options, "full_state_dict")) then
    util.raise("RuntimeError", "The option indicates that model state_dict is "
      .. "required to save, or load but optim state_dict is empty. {}")
  end
  local names = names_of(a.model)
  local guard <close> = dt.no_grad()            -- luacheck: ignore guard
  for _, opt in ipairs(optimizers_of(a.optimizers)) do
    load_states(opt, names, a.optim_state_dict, options)
  end
  return None
end

-- get_state_dict(model, optimizers): both state dicts; the states of several
-- optimizers in one.
local function get_both(a)
  local model = get_model(a)
  if #optimizers_of(a.optimizers) == 0 then
    return V.tuple {model, V.dict()}
  end
  return V.tuple {model, get_optimizer(a)}
end

-- An empty state of the model says that only the optimizers' is to be set.
local function set_both(a)
  set_optimizer(a)
  if not V.truth(a.model_state_dict) then
    return keys_of {missing_keys = {}, unexpected_keys = {}}
  end
  return set_model(a)
end

local def = args.def

return namespace {
  get_state_dict = def("get_state_dict", {"model", "optimizers", "*",
    "submodules?", "options?"}, get_both),
  set_state_dict = def("set_state_dict", {"model", "optimizers", "*",
    "model_state_dict", "optim_state_dict", "options?"}, set_both),
  get_model_state_dict = def("get_model_state_dict", {"model", "*",
    "submodules?", "options?"}, get_model),
  set_model_state_dict = def("set_model_state_dict", {"model",
    "model_state_dict", "*", "options?"}, set_model),
  get_optimizer_state_dict = def("get_optimizer_state_dict", {"model",
    "optimizers", "*", "submodules?", "options?"}, get_optimizer),
  set_optimizer_state_dict = def("set_optimizer_state_dict", {"model",
    "optimizers", "optim_state_dict", "*", "options?"}, set_optimizer),
  _init_optim_state = builtin(function (list)
    init_state(working(list[1]))
    return None
  end, "_init_optim_state"),
}

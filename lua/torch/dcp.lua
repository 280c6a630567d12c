-- SPDX-License-Identifier: MIT
-- torch/dcp.lua: torch.distributed.checkpoint for Python programs, over
-- dt.checkpoint: save, load, and the state dicts that go in and out.  The
-- files are dt.checkpoint's (safetensors and an index), not PyTorch's.

local dt = require "dt"
local util = require "dt.util"
local V = require "python.values"
local attrs = require "python.attrs"
local attributes = require "torch.attributes"
local checkpoint = require "dt.checkpoint"
local exceptions = require "python.exceptions"
local files = require "python.std.files"
local plan = require "torch.dcp_plan"
local trace = require "torch.dcp_trace"

local M = {}
local None, builtin, namespace = dt.None, V.builtin, attrs.namespace

local function get(args, kw, i, name)
  local v = kw and V.dict_get(kw, name)
  if v == nil then v = args[i] end
  if v == None then return nil end
  return v
end

-- ---- save and load ----

-- Dicts and lists below a state dict as tables of dt.checkpoint.
local function tables(v)
  if V.is_dict(v) then
    local out = {}
    for k, item in V.each(v) do out[V.str(k)] = tables(item) end
    return out
  elseif V.is_seq(v) then
    local out = {}
    for i = 1, v.n do out[tostring(i - 1)] = tables(v[i]) end
    return out
  end
  return v
end

-- Numbers that a load has replaced go back to where they came from.
local function put_back(v, loaded)
  if V.is_dict(v) then
    for k, item in V.each(v) do
      local new = loaded[V.str(k)]
      if type(new) == "table" and not util.is_tensor(new) then
        put_back(item, new)
      elseif not util.is_tensor(new) and new ~= nil then
        V.dict_set(v, k, new)
      end
    end
  elseif V.is_list(v) then
    for i = 1, v.n do
      local new = loaded[tostring(i - 1)]
      if type(new) == "table" and not util.is_tensor(new) then
        put_back(v[i], new)
      elseif not util.is_tensor(new) and new ~= nil then
        v[i] = new
      end
    end
  end
end

-- What is in a state dict and in the folder, too: other entries are left
-- out.
local function present(v, name, saved)
  local out = V.dict()
  for k, item in V.each(v) do
    local own = (name and name .. "." or "") .. V.str(k)
    if V.is_dict(item) then
      V.dict_set(out, k, present(item, own, saved))
    elseif V.is_seq(item) or saved[own] ~= nil then
      V.dict_set(out, k, item)
    end
  end
  return out
end

local planners = {DefaultSavePlanner = true, DefaultLoadPlanner = true}

-- The planner of a call, or nil.  One of the program's own would be asked for
-- every tensor: it is refused.
local function planner_of(args, kw)
  local planner = get(args, kw, 99, "planner")
  if planner and not planners[V.type_name(planner)] then
    util.raise("NotImplementedError", "planner=%s(): a planner of the "
      .. "program's own is not part of dtrepl", V.type_name(planner))
  end
  return planner
end

local function place(args, kw, storage)
  local id = get(args, kw, 99, "checkpoint_id")
  if id then return V.str(id) end
  local s = get(args, kw, 99, storage)
  return s and s.path or util.raise("RuntimeError", "`checkpoint_id` must be "
    .. "specified if storage_reader/storage_writer is None.")
end

local classes = exceptions.classes
classes.CheckpointException = exceptions.define("CheckpointException",
  classes.BaseException)

-- no_dist: this rank by itself.
local function alone(args, kw, phase)
  local single = get(args, kw, 99, "no_dist") == true
  if single then
    dt._warn("torch.distributed is disabled, unavailable or uninitialized, "
      .. "assuming the intent is to " .. phase .. " in a single process.")
  end
  return single or dt.world_size() == 1
end

-- What the plans of ranks fail with: class and message, by rank.
local function failed(e, single)
  local told = {ValueError = true, RuntimeError = true, KeyError = true,
    AssertionError = true}
  local own = type(e) == "table" and told[e.class]
    and e.class .. "\0" .. e.message or ""
  return single and {own} or dt._gather_text(own)
end

-- CheckpointException of all ranks for what those of `all` failed with in
-- this phase, "save" or "load".
local function all_fail(all, phase)
  local failures, text = V.dict(), {}
  for r, row in ipairs(all) do
    local class, message = row:match("^(%w+)%z(.*)$")
    if class then
      local e = classes[class].make(V.list {message})
      V.dict_set(failures, r - 1, V.tuple {e, None})
      text[#text + 1] = ("Traceback (most recent call last): (RANK %d)\n%s%s: "
        .. "%s\n"):format(r - 1, trace.frames(phase, message), class, message)
    end
  end
  if #text == 0 then return end
  local ranks = {}
  for k in V.each(failures) do ranks[#ranks + 1] = tostring(k) end
  local e = dt.error("RUNTIME", ("CheckpointException ranks:dict_keys([%s])\n%s")
    :format(table.concat(ranks, ", "), table.concat(text)),
    "CheckpointException")
  e.failures = failures
  error(e, 0)
end

-- f() with PyTorch's exception for what it raises in this phase.
local function planned(single, phase, f)
  local ok, e = pcall(f, single)
  all_fail(failed(not ok and e, single), phase)
  if not ok then error(e, 0) end
  return None
end

-- A method of an object that keeps a state of its own (Stateful), or nil.
local function method(v, name)
  if type(v) ~= "table" or V.is_seq(v) or V.is_dict(v) or V.is_set(v) then
    return nil
  end
  local ok, f = pcall(attrs.get, v, name)
  return ok and f or nil
end

-- The entries of a state dict, with the states of objects in their place; and
-- what each of these takes its state back by.
local function opened(state)
  if not V.is_dict(state) then return state, {} end
  local out, owners = V.dict(), {}
  for k, v in V.each(state) do
    local give, take = method(v, "state_dict"), method(v, "load_state_dict")
    if give and take then
      v = V.call(give, V.list({}, 0))
      owners[#owners + 1] = {take, v}
    end
    V.dict_set(out, k, v)
  end
  return out, owners
end

local function save_in(single, args, kw)
  local path = place(args, kw, "storage_writer")
  planner_of(args, kw)
  local state = opened(get(args, kw, 1, "state_dict"))
  local writer = get(args, kw, 99, "storage_writer")
  return planned(single, "save", function ()
    if writer and writer.overwrite == false and checkpoint.exists(path) then
      util.raise("RuntimeError", "Checkpoint already exists and "
        .. "self.overwrite=False.")
    end
    local function write(told)
      checkpoint.save(tables(state), {checkpoint_id = path}, told)
    end
    if single then return write() end
    plan.save(state, path, write)
  end)
end

local function save(args, kw)
  return save_in(alone(args, kw, "save"), args, kw)
end

-- What the folder says of itself; nil where it holds no checkpoint.
local function told(path)
  return checkpoint.exists(path) and checkpoint.told(path) or nil
end

-- One entry of a state dict against what the folder has under its name.
local function check_entry(name, v, saved)
  if saved == nil then
    util.raise("RuntimeError", "Missing key in checkpoint state_dict: %s.",
      name)
  elseif saved.shape and not util.is_tensor(v) then
    util.raise("ValueError", "Invalid checkpoint metadata for %s, expected "
      .. "BytesStorageMetadata but found <class 'torch.distributed.checkpoint."
      .. "metadata.TensorStorageMetadata'>", name)
  elseif saved.shape and table.concat(saved.shape, ",")
      ~= table.concat(v.shape, ",") then
    util.raise("ValueError", "Size mismatch between saved torch.Size([%s]) and "
      .. "current: torch.Size([%s]) for %s", table.concat(saved.shape, ", "),
      table.concat(v.shape, ", "), name)
  end
end

-- The plan of a load: every tensor and number is in the folder; the first keys
-- sorted, below them in the order of the state dict.  Texts and the like are
-- not kept there.
local function check(state, path)
  if not checkpoint.exists(path) then
    local none = "[Errno 2] No such file or directory: '" .. path
    util.raise("AssertionError", "metadata is None; global metadata read "
      .. "failed: %s/.metadata'; rank local metadata read failed: "
      .. "%s/__%d.metadata'", none, none, dt.rank())
  end
  local saved, first = checkpoint.entries(path), {}
  local function walk(v, name)
    if V.is_dict(v) then
      for k, item in V.each(v) do walk(item, name .. "." .. V.str(k)) end
    elseif V.is_seq(v) then
      for i = 1, v.n do walk(v[i], name .. "." .. tostring(i - 1)) end
    elseif util.is_tensor(v) or type(v) == "number" or type(v) == "boolean" then
      check_entry(name, v, saved[name])
    end
  end
  for k in V.each(state) do first[#first + 1] = V.str(k) end
  table.sort(first)
  for _, k in ipairs(first) do walk(V.dict_get(state, k), k) end
end

local function load_in(single, args, kw)
  local given = get(args, kw, 1, "state_dict")
  local path = place(args, kw, "storage_reader")
  local planner = planner_of(args, kw)
  local state, owners = opened(given)
  local part = state
  if planner and V.truth(attrs.get(planner, "allow_partial_load"))
     and checkpoint.exists(path) then
    part = present(state, nil, checkpoint.entries(path))
  end
  local plain = tables(part)
  planned(single, "load", function ()
    check(part, path)
    local all = not single and plan.load(part, told(path))
    checkpoint.load(plain, {checkpoint_id = path})
    if all then plan.loaded() end
    put_back(state, plain)
    for k, v in V.each(V.is_dict(given) and state or V.dict()) do
      if not method(V.dict_get(given, k), "load_state_dict") then
        V.dict_set(given, k, v)
      end
    end
  end)
  for _, row in ipairs(owners) do
    V.call(row[1], V.list({row[2]}, 1))
  end
  return None
end

local function load(args, kw)
  return load_in(alone(args, kw, "load"), args, kw)
end

-- save_state_dict and load_state_dict, as programs called them before 2.2:
-- the storage is the second argument, and no_dist is said without a warning
-- of its own.
local function older(phase, storage, f)
  local name = phase .. "_state_dict"
  local names = {"state_dict", storage, "process_group", "coordinator_rank",
    "no_dist", "planner"}
  return builtin(function (args, kw)
    local named = V.dict()
    for i, arg in ipairs(names) do
      local v = get(args, kw, i, arg)
      if v ~= nil then V.dict_set(named, arg, v) end
    end
    if get(args, kw, 3, "process_group") then
      util.raise("NotImplementedError", "%s(process_group=): checkpoints of a "
        .. "part of the ranks are not part of dtrepl", name)
    end
    dt._warn(("`%s` is deprecated and will be removed in future versions."
      .. "Please use `%s` instead."):format(name, phase))
    local single = dt.world_size() == 1
      or get(args, kw, 5, "no_dist") == true
    return f(single, V.list({}, 0), named)
  end, name)
end

local function storage(name)
  return builtin(function (args, kw)
    local path = V.str(get(args, kw, 1, "path"))
    return namespace {__name__ = name, path = path,
      overwrite = get(args, kw, 99, "overwrite"),
      read_metadata = builtin(function ()
        if not checkpoint.exists(path) then
          util.raise("FileNotFoundError", "[Errno 2] No such file or "
            .. "directory: '%s/.metadata'", path)
        end
        return plan.metadata(checkpoint.told(path))
      end, "read_metadata")}
  end, name)
end

-- ---- state dicts ----

local keys_of = attributes.incompatible_keys

local function option(options, name)
  local v = options and options[name]
  if v == nil then return false end
  return v
end

-- A tensor as the options want it; nil where this rank keeps none.
local function shown(t, options)
  if not option(options, "full_state_dict") then return t end
  local whole = t.is_dtensor and t:full_tensor() or t
  if option(options, "cpu_offload") and dt.rank() ~= 0 then return nil end
  return whole
end

local function each_entry(model)
  local list = {}
  for name, p in model:named_parameters() do list[#list + 1] = {name, p} end
  for name, b in model:named_buffers() do list[#list + 1] = {name, b} end
  return list
end

local function clean(name)
  return (name:gsub("_checkpoint_wrapped_module%.", ""))
end

local function get_model(args, kw)
  local model, options = args[1], get(args, kw, 99, "options")
  local out = V.dict()
  for _, item in ipairs(each_entry(model)) do
    local t = shown(item[2]:detach(), options)
    if t then V.dict_set(out, clean(item[1]), t) end
  end
  return out
end

local function given(state, name, t, options)
  local v = state and V.dict_get(state, name)
  if not option(options, "broadcast_from_rank0") then return v end
  local whole = dt.rank() == 0 and v
    or dt.zeros({table.unpack(t.shape)}, {dtype = t.dtype})
  return require("dt.distributed").broadcast(whole, 0) or whole
end

-- What the model holds now, with what was given in its place as each tensor
-- is placed: a whole tensor where the options say so.
local function spread(model, state, options)
  local out = {}
  for _, item in ipairs(each_entry(model)) do
    local name, t = clean(item[1]), item[2]:detach()
    local v = given(state, name, t, options)
    if v and t.is_dtensor and not v.is_dtensor then
      v = dt.distribute_tensor(v, t.device_mesh, t.placements,
        {src_data_rank = dt.None})
    end
    out[item[1]] = v or t
  end
  return out
end

-- Names as the model has them: a wrapper adds to them.
local function as_named(model, state)
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

local function set_model(args, kw)
  local model = args[1]
  local state = get(args, kw, 2, "model_state_dict")
  local options = get(args, kw, 99, "options")
  local strict = not options or options.strict ~= false
  local whole = option(options, "full_state_dict")
  local from0 = option(options, "broadcast_from_rank0")
  if from0 and not whole then
    util.raise("ValueError",
      "full_state_dict must be True when broadcast_from_rank0 is True.")
  end
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
  local all = empty and {} or as_named(model, state)
  if whole then
    if from0 then tell_shapes(state) end
    for name, v in pairs(spread(model, state, options)) do all[name] = v end
  end
  return keys_of(model:load_state_dict(all, {strict = strict}))
end

local function names_of(model)
  local names = {}
  for name, p in model:named_parameters() do names[p._id] = clean(name) end
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

local function get_optimizer(args, kw)
  local model, opt = args[1], working(args[2])
  local names, options = names_of(model), get(args, kw, 99, "options")
  init_state(opt)
  local numbered = V.call(attrs.get(opt, "state_dict"), V.list({}, 0))
  local given_states = V.dict_get(numbered, "state")
  local given_groups = V.dict_get(numbered, "param_groups")
  local states, groups, n = V.dict(), {}, 0
  for i, _, params in groups_of(opt) do
    local list = {}
    for k, p in ipairs(params) do
      list[k] = names[p._id]
      local own, n_th = V.dict(), V.dict_get(given_states, n)
      for key, v in V.each(n_th or V.dict()) do
        if util.is_tensor(v) then v = shown(v, options) end
        if v ~= nil then V.dict_set(own, key, v) end
      end
      V.dict_set(states, names[p._id], own)
      n = n + 1
    end
    groups[i] = given_groups[i]
    V.dict_set(groups[i], "params", V.list(list))
  end
  if option(options, "flatten_optimizer_state_dict") then
    return flattened(states, groups)
  end
  local out = V.dict()
  V.dict_set(out, "state", states)
  V.dict_set(out, "param_groups", V.list(groups))
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

local function set_optimizer(args, kw)
  local model, opt = args[1], working(args[2])
  local given_state = get(args, kw, 3, "optim_state_dict")
  local names, all = names_of(model), V.dict_get(given_state, "state")
  init_state(opt)
  local guard <close> = dt.no_grad()            -- luacheck: ignore guard
  for _, g, params in groups_of(opt) do
    for _, p in ipairs(params) do
      local from = V.dict_get(all, names[p._id])
      if from then set_state(opt, p, from) end
    end
    set_group(g, names[params[1]._id], V.dict_get(given_state, "param_groups"))
  end
  return None
end

-- The optimizers of an argument: one, or several.
local function optimizers(v)
  if V.is_seq(v) then return v, v.n end
  return {v}, v and 1 or 0
end

-- get_state_dict(model, optimizers): both state dicts; the states of several
-- optimizers in one.
local function get_both(args, kw)
  local model = get(args, kw, 1, "model")
  local list, n = optimizers(get(args, kw, 2, "optimizers"))
  local states, groups = V.dict(), V.list({}, 0)
  for i = 1, n do
    local d = get_optimizer(V.list {model, list[i]}, kw)
    for k, v in V.each(V.dict_get(d, "state")) do V.dict_set(states, k, v) end
    local own = V.dict_get(d, "param_groups")
    for k = 1, own.n do
      groups.n = groups.n + 1
      groups[groups.n] = own[k]
    end
  end
  local out = V.dict()
  V.dict_set(out, "state", states)
  V.dict_set(out, "param_groups", groups)
  return V.tuple {get_model(V.list {model}, kw), n > 0 and out or V.dict()}
end

local function set_both(args, kw)
  local model = get(args, kw, 1, "model")
  local list, n = optimizers(get(args, kw, 2, "optimizers"))
  local options = V.dict()
  local o = get(args, kw, 99, "options")
  if o then V.dict_set(options, "options", o) end
  for i = 1, n do
    set_optimizer(V.list {model, list[i],
      get(args, kw, 99, "optim_state_dict")}, options)
  end
  return set_model(V.list {model, get(args, kw, 99, "model_state_dict")},
    options)
end

local function state_options(_, kw)
  local out = namespace {__name__ = "StateDictOptions"}
  for k, v in V.each(kw or V.dict()) do out[k] = v end
  return out
end

M.state_dict = namespace {
  get_state_dict = builtin(get_both, "get_state_dict"),
  set_state_dict = builtin(set_both, "set_state_dict"),
  get_model_state_dict = builtin(get_model, "get_model_state_dict"),
  set_model_state_dict = builtin(set_model, "set_model_state_dict"),
  get_optimizer_state_dict = builtin(get_optimizer,
    "get_optimizer_state_dict"),
  set_optimizer_state_dict = builtin(set_optimizer,
    "set_optimizer_state_dict"),
  _init_optim_state = builtin(function (a)
    init_state(working(a[1]))
    return None
  end, "_init_optim_state"),
  StateDictOptions = builtin(state_options, "StateDictOptions"),
}
M.module = namespace {CheckpointException = classes.CheckpointException,
  save = builtin(save, "save"),
  load = builtin(load, "load"), state_dict = M.state_dict,
  save_state_dict = older("save", "storage_writer", save_in),
  load_state_dict = older("load", "storage_reader", load_in),
  FileSystemReader = storage "FileSystemReader",
  FileSystemWriter = storage "FileSystemWriter"}
files.set_listing(function (path)
  return checkpoint.exists(path) and plan.files(checkpoint.told(path)) or nil
end)
attrs.provide("torch.distributed.checkpoint", M.module)
attrs.provide("torch.distributed.checkpoint.api", M.module)
attrs.provide("torch.distributed.checkpoint.state_dict", M.state_dict)

return M

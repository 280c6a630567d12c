-- SPDX-License-Identifier: MIT
-- torch/dcp.lua: torch.distributed.checkpoint for Python programs, over
-- dt.checkpoint: save, load, and the state dicts that go in and out.  The
-- files are dt.checkpoint's (safetensors and an index), not PyTorch's.

local dt = require "dt"
local util = require "dt.util"
local V = require "python.values"
local attrs = require "python.attrs"
local checkpoint = require "dt.checkpoint"
local loaded = require "dt.nn.loaded"
local exceptions = require "python.exceptions"
local files = require "python.std.files"
local plan = require "torch.dcp_plan"
local restored = require "torch.restored"
local state_dict = require "torch.state_dict"
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
  if util.is_tensor(v) then return v end
  if plan.is_value(v) then return plan.kept(v) end
  local out = {}
  if V.is_dict(v) then
    for k, item in V.each(v) do out[V.str(k)] = tables(item) end
  else
    for i = 1, v.n do out[tostring(i - 1)] = tables(v[i]) end
  end
  return out
end

-- f(item, what the load has of it) of each item of a dict or list; what f
-- gives takes the item's place.
local function replace(v, loaded, f)
  if V.is_dict(v) then
    for k, item in V.each(v) do
      local new = f(item, loaded[V.str(k)])
      if new ~= nil then V.dict_set(v, k, new) end
    end
    return
  end
  for i = 1, v.n do
    local new = f(v[i], loaded[tostring(i - 1)])
    if new ~= nil then v[i] = new end
  end
end

-- Values that a load has replaced go back to where they came from.
local function put_back(v, loaded)
  replace(v, loaded, function (item, new)
    if new == nil or util.is_tensor(item) then return nil end
    if plan.is_value(item) then return plan.opened(new) end
    put_back(item, new)
    return nil
  end)
end

-- What is in a state dict and in the folder, too: other entries are left
-- out.
local function present(v, name, saved)
  local out = V.dict()
  for k, item in V.each(v) do
    local own = (name and name .. "." or "") .. V.str(k)
    if V.is_dict(item) then
      V.dict_set(out, k, present(item, own, saved))
    elseif not plan.is_value(item) or saved[own] ~= nil then
      V.dict_set(out, k, item)
    end
  end
  return out
end

-- Tensors of a state dict, {name, tensor}, put into `list`.
local function tensors_of(v, name, list)
  for k, item in V.each(v) do
    local own = (name and name .. "." or "") .. V.str(k)
    if V.is_dict(item) then tensors_of(item, own, list)
    elseif util.is_tensor(item) then list[#list + 1] = {own, item} end
  end
  return list
end

-- A partial load passes over names that the folder does not have.
local function look_for_lost(state, saved)
  local own, missing, unexpected, named = tensors_of(state, nil, {}), {}, {}, {}
  for _, item in ipairs(own) do
    named[item[1]] = true
    if not saved[item[1]] then missing[#missing + 1] = item[1] end
  end
  for name, entry in pairs(saved) do
    if entry.shape and not named[name] then unexpected[#unexpected + 1] = name end
  end
  table.sort(unexpected)
  loaded.look(own, missing, unexpected, saved, "dcp.load")
end

local planners = {DefaultSavePlanner = true, DefaultLoadPlanner = true}

-- The planner of a call, or nil.  One of the program's own would be asked for
-- every tensor: it is refused.
local function planner_of(args, kw)
  local planner = get(args, kw, 99, "planner")
  if planner and not planners[V.type_name(planner)] then
    util.refuse("planner=%s(): a planner of the "
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

-- How many ranks take part: those of process_group.  What is gathered here is
-- gathered of all ranks, so that a part of them would wait for the others, or have
-- its folder written by them.
local function refuse_parts(args, kw, phase)
  local group = get(args, kw, 99, "process_group")
  local n = group ~= nil and group ~= None and group.size()
  if n and n < dt.world_size() then
    util.refuse("dcp.%s(process_group=) of %d of the %d ranks: checkpoints of a "
      .. "part of the ranks are not part of dtrepl", phase, n, dt.world_size())
  end
end

-- no_dist: this rank by itself.
local function alone(args, kw, phase)
  refuse_parts(args, kw, phase)
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

-- Tensors that are not distributed, by the names that lists of keys give them.
local function tell_plain(v, key)
  if util.is_tensor(v) then
    if not util.is_dtensor(v) then dt._saved(v, key) end
  elseif V.is_dict(v) then
    for k, x in V.each(v) do tell_plain(x, (key and key .. "." or "") .. V.str(k)) end
  end
end

local function save_in(single, args, kw)
  local path = place(args, kw, "storage_writer")
  planner_of(args, kw)
  local state = opened(get(args, kw, 1, "state_dict"))
  local writer = get(args, kw, 99, "storage_writer")
  if not single then tell_plain(state) end
  return planned(single, "save", function ()
    if writer and writer.overwrite == false and checkpoint.exists(path) then
      util.raise("RuntimeError", "Checkpoint already exists and "
        .. "self.overwrite=False.")
    end
    local function write(told, owners)
      checkpoint.save(tables(state), {checkpoint_id = path, alone = single,
        owners = owners}, told)
    end
    if not files.exists {path} then files.note_made(path) end
    plan.save(state, path, write, single)
    restored.note_saved(path, plan.rows(plan.by_key(state)))
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

-- The plan of a load: every tensor and value is in the folder; the first keys
-- sorted, below them in the order of the state dict.
local function check(state, path)
  if not checkpoint.exists(path) then
    local none = "[Errno 2] No such file or directory: '" .. path
    util.raise("AssertionError", "metadata is None; global metadata read "
      .. "failed: %s/.metadata'; rank local metadata read failed: "
      .. "%s/__%d.metadata'", none, none, dt.rank())
  end
  local saved = checkpoint.entries(path)
  for _, row in ipairs(plan.rows(plan.by_key(state))) do
    local name = table.concat(row.path, ".")
    check_entry(name, row.value, saved[name])
  end
end

local function load_in(single, args, kw)
  local given = get(args, kw, 1, "state_dict")
  local path = place(args, kw, "storage_reader")
  local planner = planner_of(args, kw)
  local state, owners = opened(given)
  local part = state
  if planner and V.truth(attrs.get(planner, "allow_partial_load"))
     and checkpoint.exists(path) then
    local saved = checkpoint.entries(path)
    part = present(state, nil, saved)
    look_for_lost(state, saved)
  end
  local plain = tables(part)
  planned(single, "load", function ()
    check(part, path)
    local all = not single and plan.load(part, told(path))
    checkpoint.load(plain, {checkpoint_id = path, alone = single})
    if all then plan.loaded() end
    restored.note_loaded(path, plan.rows(plan.by_key(part)))
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
      util.refuse("%s(process_group=): checkpoints of a "
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

-- For format_utils (pylib): what a folder holds, on this rank alone.
attrs.provide("_dtrepl_checkpoint", namespace {
  read = builtin(function (a)
    local path = V.str(a[1])
    if not checkpoint.exists(path) then
      util.raise("FileNotFoundError", "[Errno 2] No such file or directory: "
        .. "'%s/.metadata'", path)
    end
    local state = plan.state(checkpoint.told(path), checkpoint.entries(path))
    local plain = tables(state)
    checkpoint.load(plain, {checkpoint_id = path, alone = true})
    return state
  end, "read"),
})

M.module = namespace {CheckpointException = classes.CheckpointException,
  save = builtin(save, "save"),
  load = builtin(load, "load"), state_dict = state_dict,
  save_state_dict = older("save", "storage_writer", save_in),
  load_state_dict = older("load", "storage_reader", load_in),
  FileSystemReader = storage "FileSystemReader",
  FileSystemWriter = storage "FileSystemWriter"}
files.set_listing(function (path)
  return checkpoint.exists(path) and plan.files(checkpoint.told(path)) or nil
end)
attrs.provide("torch.distributed.checkpoint.api", M.module)
attrs.provide("torch.distributed.checkpoint", M.module)
attrs.provide("torch.distributed.checkpoint.state_dict", state_dict)

return M

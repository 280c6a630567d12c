-- SPDX-License-Identifier: MIT
-- torch/attributes.lua: attributes of tensors, meshes,
-- placements, modules and optimizers, registered as kinds of values that are
-- not Python's own.  The tables of methods are added to by the modules that
-- know more (dtensor.lua, mesh.lua, placements.lua, optimizer.lua).

local dt = require "dt"
local util = require "dt.util"
local nnm = require "dt.nn.module"
local optimizers = require "dt.optim.base"
local V = require "python.values"
local foreign = require "python.foreign"
local attrs = require "python.attrs"
local builtin_names = require "python.builtin_names"
local calls = require "python.call"
local dtype = require "torch.dtype"
local node = require "torch.node"

-- filled by torch/module_facts.lua, a layer above
local facts = {check_get = function () end, check_set = function () end}

local M = {}

function M.set_facts(t) facts = t end
local None = dt.None

-- A method: f(self, args, kw) in Python's convention.
local function method(self, f, name)
  return V.builtin(function (args, kw) return f(self, args, kw) end, name)
end

-- ---- modules: iterators become lists ----

-- The function of a module's first class that is no program's: what a class of
-- the program has under this name may ask for it by super().
local function beneath(m, name)
  local c = rawget(m, "_class")
  while c and rawget(c, "__python") do c = rawget(c, "__base") end
  return (c or nnm.Module)[name]
end

-- A generator over what the program's own named_… gives, without the names;
-- nil where no class of the program has one.
local function of_own_names(m, name, a, kw)
  local c = rawget(m, "_class")
  local own = c and rawget(c, "__python") and c["named_" .. name]
  if not own or own == beneath(m, "named_" .. name) then return nil end
  local given = V.dict()
  if kw then for k, v in V.each(kw) do V.dict_set(given, k, v) end end
  if a[1] ~= nil then V.dict_set(given, "recurse", a[1]) end
  local out = {}
  local next_pair = V.iter(V.call(attrs.get(m, "named_" .. name), V.list({}, 0),
    given))
  local more, pair = next_pair()
  while more do
    out[#out + 1] = pair[2]
    more, pair = next_pair()
  end
  return V.generator(V.iter(V.list(out)))
end

-- f(...) of a module that gives names or things, as a generator; `words`: what
-- its arguments are called.
local function listed(name, width, words)
  local places = {}
  for word in (words or ""):gmatch("%S+") do places[#places + 1] = word end
  return function (m, a, kw)
    local named = width == 1 and of_own_names(m, name, a, kw)
    if named then return named end
    local t
    if kw or a.n > 0 then
      t = {}
      for i = 1, a.n do
        local word = places[i]
        if not word then
          util.raise("TypeError", "Module.%s() takes %s but %d were given", name,
            #places == 0 and "1 positional argument" or ("from 1 to %d "
            .. "positional arguments"):format(#places + 1), a.n + 1)
        end
        t[word] = a[i]
      end
      for k, v in V.each(kw or V.dict()) do t[k] = v end
    end
    local memo = t and t.memo
    if V.is_set(memo) then
      t.seen = {}
      local items, n = V.items(memo)
      for i = 1, n do t.seen[items[i]] = true end
    end
    local out = {}
    for first, second in beneath(m, name)(m, t) do
      out[#out + 1] = width == 2 and V.tuple {first, second} or first
    end
    for one in pairs(t and t.seen or {}) do
      V.call(attrs.get(memo, "add"), V.list {one})
    end
    return V.generator(V.iter(V.list(out)))
  end
end

-- What load_state_dict returns.
local incompatible = V.record("_IncompatibleKeys", {"missing_keys",
  "unexpected_keys"}, {__repr__ = function (t)
    return t[1].n + t[2].n == 0 and "<All keys matched successfully>"
  end})

function M.incompatible_keys(t)
  return incompatible.call(V.list {V.list(t.missing_keys),
    V.list(t.unexpected_keys)})
end

local function load_state(m, args, kw)
  local strict = kw and V.dict_get(kw, "strict")
  if strict == nil then strict = args[2] end
  local state = args[1] or kw and V.dict_get(kw, "state_dict")
  if not V.is_dict(state) then
    util.raise("TypeError", "Expected state_dict to be dict-like, got <class "
      .. "'%s'>.", V.type_name(state))
  end
  local order = {}
  for key in V.each(state) do order[#order + 1] = key end
  return M.incompatible_keys(m:load_state_dict(V.to_lua(state), {order = order,
    strict = strict == nil or V.truth(strict),
    assign = V.truth(kw and V.dict_get(kw, "assign") or args[3] or false)}))
end

-- get_parameter("a.weight"), get_buffer("a.mean")
local function of_path(kind, word)
  return function (m, args, kw)
    local path = args[1] or kw and V.dict_get(kw, "target")
    local above, name = path:match("^(.*)%.([^.]+)$")
    local at = m:get_submodule(above or "")
    name = name or path
    local v = at[kind].map[name]
    if v == nil then
      util.raise("AttributeError", at[name] == nil
        and "%s has no attribute `%s`" or "`%s` is not " .. word,
        at[name] == nil and at._class.__name or name, name)
    end
    return v
  end
end

local of_module = {
  get_parameter = of_path("_parameters", "an nn.Parameter"),
  get_buffer = of_path("_buffers", "a buffer"),
  load_state_dict = load_state,
  parameters = listed("parameters", 1,
    "recurse"), modules = listed("modules", 1,
    "remove_duplicate"),
  children = listed("children", 1), buffers = listed("buffers", 1,
    "recurse"),
  named_parameters = listed("named_parameters", 2,
    "prefix recurse remove_duplicate"),
  named_modules = listed("named_modules", 2,
    "memo prefix remove_duplicate"),
  named_children = listed("named_children", 2),
  named_buffers = listed("named_buffers", 2,
    "prefix recurse remove_duplicate"),
}

function of_module.__call__(m, args, kw) return calls.call_native(m, args, kw) end
M.of_module = of_module                 -- module_hooks.lua has more

-- Methods of the modules that have one of this name in Lua, too.
M.of_some_modules = {}

-- list.extend(modules or parameters): Lua's name is taken by classes.
local function extend(m, args)
  m:extend_with((V.items(args[1])))
  return m
end

-- ---- optimizers: state by parameter ----

-- ---- tensors: names that are no method of ours ----

-- Both are added to by the modules that know more (dtensor.lua, stdlib.lua).
local of_tensor = {
  T = function (t) return t.T end,
  mT = function (t) return t.mT end,
  H = function (t) return t.H end,
  mH = function (t) return t.mH end,
  real = function (t)
    return tostring(t.dtype):find("complex", 1, true) and t:real() or t
  end,
  imag = function (t) return t:imag() end,
  data = function (t) return dt._data_view(t) end,
  is_sparse = function () return false end,
  itemsize = function (t) return t:element_size() end,
}
local function holds_complex(t)
  return tostring(t.dtype):find("complex", 1, true) ~= nil
end

local tensor_method = {
  ["repeat"] = function (t, args, kw) return calls.call(t.repeat_op, V.list({t,
    table.unpack(args, 1, args.n)}, args.n + 1), kw) end,
  ["detach_"] = function (t)
    dt.no_grad(function () dt.ops.aten.detach_.default(t) end)
    dt._forget_history(t)
    return t
  end,
  requires_grad_ = function (t, args)
    t.requires_grad = args[1] == nil or V.truth(args[1])
    return t
  end,
  tolist = function (t)
    return holds_complex(t) and V.complex_list(t) or V.from_lua(t:tolist())
  end,
  item = function (t)
    if not holds_complex(t) or t:numel() ~= 1 then return t:item() end
    return V.complex_list(t:reshape({}))
  end,
  size = function (t, args)
    if args.n == 0 or args[1] == None then return V.from_lua(t.shape) end
    return t:size(args[1])
  end,
  is_floating_point = function (t) return t:is_floating_point() end,
  is_conj = function (t) return t:is_conj() end,
  is_neg = function (t) return t:is_neg() end,
}


-- A module's _parameters, _buffers and _modules: dictionaries, and what is put
-- into them is put into the module.
local module_maps = {}
M.module_maps = module_maps             -- module_hooks.lua has those of hooks
for name, put in pairs {_parameters = "register_parameter",
    _buffers = "register_buffer", _modules = "register_module"} do
  module_maps[name] = function (m)
    local d = V.dict()
    for key, v in m[name]:each() do
      V.dict_set(d, key, v == false and None or V.from_lua(v))
    end
    d.changed = function (key, v)
      if v == nil then
        m[name]:remove(key)
      else
        m[put](m, key, v ~= None and v or nil)
      end
    end
    return d
  end
end


-- ---- kinds of values ----

M.of_tensor, M.tensor_method = of_tensor, tensor_method

-- What the arguments of methods are called whose functions take them by place.
local PLACES <const> = {size = {"dim"}, stride = {"dim"},
  requires_grad_ = {"requires_grad"},
  type = {"dtype", "non_blocking"}, pin_memory = {"device"},
  cuda = {"device", "non_blocking", "memory_format"}, polygamma = {"n"},
  set_ = {"source", "storage_offset", "size", "stride"}}

-- f(t, args, kw) of a method: where it takes no keywords these are put in their
-- places; one that has none is refused, not lost.
local function by_place(f, name)
  local info = debug.getinfo(f, "u")
  if info.isvararg or info.nparams > 2 then return f end
  local places = PLACES[name] or {}
  return function (t, args, kw)
    if kw == nil or V.count(kw) == 0 then return f(t, args) end
    local all = V.list({table.unpack(args, 1, args.n)}, args.n)
    for word, v in V.each(kw) do
      local at
      for i, place in ipairs(places) do if place == word then at = i end end
      if not at then
        util.raise("TypeError", "%s() got an unexpected keyword argument '%s'",
          name, word)
      end
      all[at], all.n = v, math.max(all.n, at)
    end
    for i = 1, all.n do if all[i] == nil then all[i] = None end end
    return f(t, all)
  end
end
M.tensor_setter = {}                    -- data, grad: filled by tensor.lua
M.placement_method = {}                 -- by placements.lua
M.of_mesh, M.mesh_method = {}, {}       -- by mesh.lua
M.optimizer_method = {}                 -- by optimizer.lua

-- Who looks at what is asked of tensors and put into them (dt.spmd.watch).
local watcher, set_watcher
function M.watch(f, set) watcher, set_watcher = f, set end

local tensor = {is = util.is_tensor}
local functions_only = require "torch.functions_only"

-- Where an attribute of the program's lies that has the name of one of them: the
-- engine would find the operator first.
local function own_key(name) return "own " .. name end
local function get_field(v, key) return v[key] end      -- raises without one

-- Methods that plain tensors have in Lua, where they say what is wrong; a
-- program asks hasattr(t, "full_tensor") to tell the two kinds apart.
local only_distributed = {full_tensor = true, to_local = true,
  redistribute = true, placements = true, device_mesh = true}

-- ---- what a program puts into the classes of tensors ----

local put_into, put_any = {}, false     -- by class, by name
local was, busy = {}, {}        -- what was there; names whose function runs

-- Special methods that are asked for by their names here, too.
local asked_for = {__reduce__ = true, __reduce_ex__ = true, __doc__ = true,
  __module__ = true}

-- of_classes(...): attributes that a program sets of these classes, the first
-- of which counts, are those of their tensors.
function M.of_classes(...)
  for _, class in ipairs {...} do
    put_into[class] = {}
    put_into[#put_into + 1] = class
    class.put_member = function (name, x)
      if name:find("^__.*__$") and not asked_for[name] then
        util.refuse("%s.%s of a program's own is not part of dtrepl",
          class.__name__, name)
      end
      local id = class.__name__ .. "." .. name
      if was[id] == nil then
        local has, old = pcall(attrs.get, class, name)
        was[id] = has and old or false
      end
      if was[id] and rawequal(was[id], x) then x = nil end      -- put back
      put_into[class][name], put_any = x, true
    end
  end
end

-- A program ended.
function M.reset()
  if not put_any then return end
  for _, class in ipairs(put_into) do
    for name in pairs(put_into[class]) do class[name] = nil end
    put_into[class] = {}
  end
  was, busy, put_any = {}, {}, false
end

-- Call a function of the program's; the one that was there before it, which
-- asks the tensor for the name, is found meanwhile.
local function call_put(f, name, args, kw)
  local before = busy[name]
  busy[name] = true
  local out = table.pack(pcall(calls.call, f, args, kw))
  busy[name] = before
  if not out[1] then error(out[2], 0) end
  return table.unpack(out, 2, out.n)
end

-- What the program put there for tensor v, bound to it.
local function put_member(v, name)
  if busy[name] then return nil end
  for _, class in ipairs(put_into) do
    local x = put_into[class][name]
    if x ~= nil and class.test(v) then
      local has, own = pcall(get_field, v, name)
      if was[class.__name__ .. "." .. name] == false and has and own ~= nil then
        return own                      -- the tensor's own, set on it
      end
      if not V.is_function(x) and type(x) ~= "function" then return x end
      return V.builtin(function (a, kw)
        return call_put(x, name, V.list({v, table.unpack(a, 1, a.n)}, a.n + 1),
          kw)
      end, name)
    end
  end
end

function tensor.get(v, name)
  local own
  if put_any then own = put_member(v, name) end
  if own ~= nil then return own, true end
  if functions_only[name] then
    local has, own = pcall(get_field, v, own_key(name))
    if has and own ~= nil then return own, true end
  end
  if functions_only[name] or
     only_distributed[name] and not util.is_dtensor(v) then
    util.raise("AttributeError", "'%s' object has no attribute '%s'",
      V.type_name(v), name)
  end
  if watcher then
    local done, x = watcher(v, name)
    if done then return x, true end
  end
  if of_tensor[name] then return V.from_lua(of_tensor[name](v)), true end
  if tensor_method[name] then
    return method(v, by_place(tensor_method[name], name), name), true
  end
  if name == "grad" then
    local x = V.from_lua(v[name])
    return x == nil and None or x, true
  end
  if name == "grad_fn" then return node.of(v), true end
end

-- Several tables' keys in one.
local function keys_of(...)
  local out = {}
  for _, t in ipairs {...} do
    for name in pairs(t) do out[name] = true end
  end
  return out
end

function tensor.names(v)
  local out = keys_of(of_tensor, tensor_method, {grad = 1, grad_fn = 1})
  for _, name in ipairs(dt._op_names()) do
    name = name:match("^aten%.(%a[%w_]*)$")
    if name and not functions_only[name] then out[name] = true end
  end
  for name in pairs(dt.Tensor) do out[name] = true end
  for _, name in ipairs(dt._attr_names()) do out[name] = true end
  for _, name in ipairs {"origin", "is_dtensor", "reconcile", "wait"} do
    out[name] = nil                     -- Lua's
  end
  for name in pairs(only_distributed) do
    out[name] = util.is_dtensor(v) or nil
  end
  return out
end

function tensor.lacks(name)
  return functions_only[name] or dt._find(name) == nil
end

function tensor.set(v, name, x)
  local set = M.tensor_setter[name]
  if set then
    if set_watcher then set_watcher(set, v, x) else set(v, x) end
  elseif util.is_dtensor(v) and (name == "placements"
     or name == "device_mesh") then
    util.raise("AttributeError", "property '%s' of 'DTensor' object has no "
      .. "setter", name)
  else
    v[functions_only[name] and own_key(name) or name] = x == None and dt.None
      or x
  end
  return true
end

local mesh = {is = util.is_mesh}

function mesh.get(v, name)
  if M.of_mesh[name] then return M.of_mesh[name](v), true end
  if M.mesh_method[name] then
    return method(v, M.mesh_method[name], name), true
  end
end

function mesh.names() return keys_of(M.of_mesh, M.mesh_method) end

local placement = {is = util.is_placement}

function placement.get(v, name)
  if M.placement_method[name] then
    return method(v, M.placement_method[name], name), true
  end
end

function placement.names() return keys_of(M.placement_method) end

local of_dtype = {is = util.is_dtype}
function of_dtype.get(v, name)
  local x = dtype.fact(v, name)
  return x, x ~= nil
end

local module = {is = nnm.is_module, isinstance = nnm.isinstance}

function module.get(v, name)
  facts.check_get(v, name)
  -- self.act = F.relu: what an instance holds is not bound to it.
  local held = rawget(v, "_attrs")[name]
  if type(held) == "function" or type(held) == "userdata" then
    return name == "forward" and V.python_of(held) or held, true
  end
  if name == "__call__" and v._class.__call__ then return nil end
  local f = of_module[name]
    or M.of_some_modules[name] and v[name] and M.of_some_modules[name]
  if f then return method(v, f, name), true end
  if module_maps[name] then return module_maps[name](v), true end
  if name == "extend" and v.extend_with then
    return method(v, extend, name), true
  end
end

-- super().named_parameters(): a generator there, too.
local LISTED = {}
for name in ([[parameters buffers children modules named_parameters
    named_buffers named_children named_modules]]):gmatch "%S+" do
  LISTED[name] = true
end
function module.above(v, name)
  local f = M.of_any_module[name]
  if f then return f(v) end
  return (LISTED[name] or name == "__call__") and method(v, of_module[name], name) or nil
end

function module.names(v)
  return keys_of(of_module, M.of_any_module, v._parameters.map, v._modules.map, v._buffers.map)
end

-- The classes that PyTorch has between a layer and nn.Module (pylib), the
-- nearest first.
local function classes_between(c)
  local ok, file = pcall(attrs.module, V.module_of(c))
  local out = {}
  if not ok then return out end
  for _, v in pairs(file) do
    local order = type(v) == "table" and rawget(v, "__registered")
      and rawget(v, "__order") or {}
    for _, below in ipairs(#order > #out and v.__registered or {}) do
      if below == c then out = order end
    end
  end
  local own = {}
  for _, v in ipairs(out) do
    if rawget(v, "__python") then own[#own + 1] = v end
  end
  return own
end

local function base_of(c)
  local between = classes_between(c)
  return between[1] or rawget(c, "__base")
end

-- nn.Linear.__mro__, nn.Linear.__bases__
function attrs.class_fact_of_library.__mro__(c)
  local order = {c}
  for _, between in ipairs(classes_between(c)) do
    order[#order + 1] = between
  end
  c = rawget(c, "__base")
  while c do
    order[#order + 1] = c
    c = rawget(c, "__base")
  end
  order[#order + 1] = builtin_names.object
  return V.tuple(order, #order)
end
function attrs.class_fact_of_library.__bases__(c)
  return V.tuple({base_of(c) or builtin_names.object}, 1)
end

-- nn.Module.__getattr__(self, name): what is registered.
function attrs.class_fact_of_library.__getattr__()
  return V.builtin(function (a)
    local v, name = a[1], a[2]
    for _, kind in ipairs {"_parameters", "_buffers", "_modules"} do
      local x = v[kind].map[name]
      if x ~= nil then return x or None end
    end
    return attrs.missing(v, name)
  end, "__getattr__")
end

-- A parameter, child or buffer that was registered as None; else what the class's
-- __getattr__ says.  Only names that the program writes come here: what the
-- library asks of its own tables does not.
function module.absent(v, name)
  local f = M.of_any_module[name]
  if f then return f(v) end
  if v._parameters.map[name] == false or v._modules.map[name] == false
     or v._buffers.map[name] == false then
    return None
  end
  local own = V.special(v, "__getattr__")
  return own and own(name)
end

-- What a module has where its class says nothing else, by name: module_state.lua.
M.of_any_module = {}

-- A container's items are its modules; other modules have none.
function module.itemless(v) return v._class.__len == nil end

-- Fields of modules that are tuples.
local tuple_field = {kernel_size = true, stride = true, padding = true,
  dilation = true, output_padding = true, normalized_shape = true}

function module.shown(_, name, x)
  return tuple_field[name] and V.is_list(x) and V.tuple(x, x.n) or x
end

-- Tensors that torch.nn.Buffer made, by their number: do they persist?  Each
-- module that one is assigned to registers it.
local buffers = {}

-- mark_buffer(t, persistent): t becomes a buffer where it is assigned.
function M.mark_buffer(t, persistent)
  buffers[t._id] = persistent and "persistent" or "transient"
  return t
end

-- is_buffer(t): did nn.Buffer make this tensor?
function M.is_buffer(t) return buffers[t._id] ~= nil end

local function take_buffer(v, name, x)
  local how = util.is_tensor(x) and buffers[x._id]
  if not how or v._parameters.map[name] ~= nil or v._modules.map[name] ~= nil then
    return false
  end
  v:register_buffer(name, x, how == "persistent")
  return true
end

-- m._forward_hooks = {}: what stands there goes, what is given comes.
local function set_map(v, name, given)
  local items = {}
  for key, x in V.each(given) do items[#items + 1] = {key, x} end
  local d = module_maps[name](v)
  V.dict_clear(d)
  for _, item in ipairs(items) do V.dict_set(d, item[1], item[2]) end
end

function module.set(v, name, x, class)
  facts.check_set(v, x)
  if module_maps[name] and V.is_dict(x) then
    set_map(v, name, x)
    return true
  end
  if next(buffers) and take_buffer(v, name, x) then return true end
  local mine = class and rawget(class, "__python")
  if mine and x == None and v._parameters.map[name] == nil
     and v._modules.map[name] == nil and v._buffers.map[name] == nil then
    if v._attrs[name] == nil then attrs.note_order(v, name) end
    v._attrs[name] = None           -- set, and None: not an absent name
    return true
  end
  if class and v._modules.map[name] and x ~= None and not nnm.is_module(x) then
    util.raise("TypeError", "cannot assign '%s' as child module '%s' "
      .. "(torch.nn.Module or None expected)", V.type_name(x), name)
  end
  if name == "forward" and type(x) == "table" then
    v._attrs.forward = calls.lua_attribute(x)
    return true
  end
  if mine and v._attrs[name] == nil then attrs.note_order(v, name) end
  v[name] = x
  return true
end

-- v.__dict__[name] = x: what stands there is no parameter, child or buffer.
function module.keep(v, name, x)
  if v._attrs[name] == nil then attrs.note_order(v, name) end
  v._attrs[name] = x
end

function module.delete(v, name)
  local there = v._attrs[name] ~= nil
  for _, map in ipairs {v._parameters, v._modules, v._buffers} do
    there = there or map.map[name] ~= nil
  end
  if not there then
    util.raise("AttributeError", "'%s' object has no attribute '%s'",
      v._class.__name, name)
  end
  for _, map in ipairs {v._parameters, v._modules, v._buffers} do
    map:remove(name)
  end
  v._attrs[name] = nil
end

function module.callable(v)
  return V.special(v, "__call__") ~= nil or v.forward ~= nil
end

-- A module with its own attributes and the same parameters and children.
function module.copy(v)
  local out = setmetatable({}, getmetatable(v))
  for key, x in next, v do rawset(out, key, x) end
  local own = {}
  for key, x in next, v._attrs do own[key] = x end
  rawset(out, "_attrs", own)
  return out
end

function module.deepcopy(v, copy_table)
  if v._attrs._fsdp_state then
    util.raise("AssertionError", "FSDP does not support deepcopy. Please use "
      .. "state dict for serialization.")
  end
  return copy_table(v)
end

local optimizer = {is = function (v)
  return type(v) == "table" and rawget(v, "param_groups") ~= nil
end}

function optimizer.get(v, name)
  if name == "state" then return M.optimizer_state(v), true end
  if name == "param_groups" then return M.param_groups(v), true end
  if name == "defaults" then return M.defaults(v), true end
  local f = M.optimizer_method[name]
  if f then return method(v, f, name), true end
end

function optimizer.set(v, name, x) return M.set_optimizer(v, name, x) end
optimizer.deepcopy = optimizers.copied

-- What needs more than this file knows: tensor.lua, mesh.lua.
M.kinds = {tensor = tensor, mesh = mesh}

for _, kind in ipairs {tensor, mesh, placement, of_dtype, module,
    optimizer} do
  foreign.register(kind)
end
foreign.register_class(nnm.Module)

return M

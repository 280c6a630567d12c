-- SPDX-License-Identifier: MIT
-- dt/nn/module.lua: nn.Module: parameters, buffers, children, hooks, state.
--
-- A module is a table that holds only its bookkeeping (ordered parameters,
-- buffers, children, other attributes, hooks); reading and writing a field go
-- through these, so that `m.weight = nn.Parameter(t)` registers it, as in
-- PyTorch.  Classes are made with nn.Module:extend("Name"):
--
--   local Net = nn.Module:extend("Net")
--   function Net:__init__(n) self.a = nn.Linear(n, n) end
--   function Net:forward(x) return self.a(x) end
--   local net = Net(4)

local dt = require "dt"
local ties = require "dt.nn.ties"
local util = require "dt.util"
local module_state = require "dt.nn.module_state"

local join = module_state.join

-- ---- ordered maps ----

local Map = {}
Map.__index = Map

local function new_map() return setmetatable({keys = {}, map = {}}, Map) end

function Map:set(key, value)
  if self.map[key] == nil then self.keys[#self.keys + 1] = key end
  self.map[key] = value
end

function Map:remove(key)
  if self.map[key] == nil then return end
  self.map[key] = nil
  for i, k in ipairs(self.keys) do
    if k == key then table.remove(self.keys, i) break end
  end
end

-- In the order they were set.
function Map:each()
  local i = 0
  return function ()
    i = i + 1
    local key = self.keys[i]
    if key ~= nil then return key, self.map[key] end
  end
end

-- ---- classes ----

local Module = {__name = "Module"}
local instance_mt = {}
local version = 0                   -- changes when any tree of modules does

-- nn.Module:extend("Name"): a subclass.
function Module:extend(name)
  local class = {__name = name or "Module", __base = self}
  return setmetatable(class, {
    __index = self,
    __call = self.__new,
    __tostring = function () return ("<class '%s'>"):format(class.__name) end,
  })
end

-- Arguments that are not Lua's own: they and the results pass as they are,
-- but for what a hook gives in their place.
local function packed_of(v)
  local mt = type(v) == "table" and getmetatable(v)
  return type(mt) == "table" and mt.packed and v
end

-- __init__ of the first class of the library's below `class`.
local function library_init(class)
  while rawget(class, "__python") do class = rawget(class, "__base") end
  return class.__init__
end

-- A new instance: bookkeeping first, then the class's own __init__.
function Module.__new(class, ...)
  local m = setmetatable({
    _class = class, _parameters = new_map(), _buffers = new_map(),
    _modules = new_map(), _attrs = {training = true},
    _pre_hooks = {}, _hooks = {}, _transient = {},
  }, instance_mt)
  local init = class.__init__
  if init then
    -- A class of the program's that calls its base's __init__ itself.
    if packed_of((...)) and library_init(class) == Module.__init__ then
      rawset(m, "_bare", true)
    end
    init(m, ...)
  end
  return m
end

-- What the program may have to call: nothing but the bookkeeping is left to do.
function Module:__init__(...)
  local pos, kw = util.split(...)
  rawset(self, "_bare", nil)
  local word = next(kw)
  if word or pos.n > 0 then
    util.raise("TypeError", word and "%s.__init__() got an unexpected keyword "
      .. "argument '%s'" or "%s.__init__() takes 1 positional argument but %d "
      .. "were given", self._class.__name, word or pos.n + 1)
  end
end

setmetatable(Module, {__call = Module.__new})

-- Is `v` a module?
local function is_module(v) return getmetatable(v) == instance_mt end

-- isinstance(m, class)
local function isinstance(m, class)
  if not is_module(m) then return false end
  local c = m._class
  while c do
    if c == class then return true end
    c = rawget(c, "__base")
  end
  return false
end

function instance_mt.__index(m, key)
  local v = rawget(m, "_parameters").map[key]
  if v ~= nil then return v or nil end
  v = rawget(m, "_modules").map[key]
  if v ~= nil then return v or nil end
  v = rawget(m, "_buffers").map[key]
  if v ~= nil then return v or nil end
  v = rawget(m, "_attrs")[key]
  if v ~= nil then return v end
  local class = rawget(m, "_class")
  local get = class.__getitem
  if get and math.type(key) == "integer" then return get(m, key) end
  v = class[key]
  -- A class of Python's is asked where Python asks (torch/attributes.lua).
  if v == nil and class.__getattr__ and not rawget(class, "__python") then
    return class.__getattr__(m, key)
  end
  -- What has its value at each object, as Python's property (python/class.lua).
  local mt = type(v) == "table" and getmetatable(v)
  if mt and mt.value_of then return mt.value_of(v, m) end
  return v
end

-- A parameter is put into a module, maybe in the place of another.
local function replace(m, name, p)
  local was = m._parameters.map[name]
  m._parameters:set(name, p)
  version = version + 1
  if was and was ~= p then ties.assign(was, m, name) end
  ties.tied()
end

function instance_mt.__newindex(m, key, value)
  if math.type(key) == "integer" and m._class.__setitem then
    return m._class.__setitem(m, key, value)
  end
  local params, children, buffers = m._parameters, m._modules, m._buffers
  if value == dt.None then value = nil end
  if util.is_tensor(value) and value.is_parameter then
    children:remove(key)
    buffers:remove(key)
    m._attrs[key] = nil
    replace(m, key, value)
  elseif is_module(value) then
    params:remove(key)
    m._attrs[key] = nil
    children:set(key, value)
    version = version + 1
  elseif params.map[key] ~= nil then
    if value ~= nil then
      util.raise("TypeError", "cannot assign '%s' as parameter '%s' "
        .. "(torch.nn.Parameter or None expected)",
        util.is_tensor(value) and "torch.FloatTensor" or util.type_text(value),
        key)
    end
    params:set(key, false)
  elseif children.map[key] ~= nil and value == nil then
    children:set(key, false)
  elseif buffers.map[key] ~= nil then
    buffers:set(key, value or false)
  else
    m._attrs[key] = value
  end
end

-- ---- registration ----

-- What PyTorch's messages call the type of a value.
local function type_name(v)
  if util.is_tensor(v) then
    return ("torch.%sTensor"):format(util.kind_word(v.dtype) or "")
  end
  return util.type_text(v)
end

-- A name under which something may be registered; `held`: where it may be
-- already.
local function check_name(m, kind, name, held)
  if type(name) ~= "string" then
    util.raise("TypeError", "%s name should be a string. Got %s", kind,
      util.type_text(name))
  elseif name == "" then
    util.raise("KeyError", "'%s name can\\'t be empty string \"\"'", kind)
  elseif name:find(".", 1, true) then
    util.raise("KeyError", kind == "module" and "'%s name can\\'t contain \".\", "
      .. "got: %s'" or "'%s name can\\'t contain \".\"'", kind, name)
  elseif held.map[name] == nil and m[name] ~= nil and name ~= "extend" then
    util.raise("KeyError", "\"attribute '%s' already exists\"", name)
  end
end

-- m:register_parameter(name, parameter or nil)
function Module:register_parameter(name, p)
  check_name(self, "parameter", name, self._parameters)
  if p == dt.None then p = nil end
  if p ~= nil and not (util.is_tensor(p) and p.is_parameter) then
    util.raise("TypeError", "cannot assign '%s' object to parameter '%s' "
      .. "(torch.nn.Parameter or None required)", type_name(p), name)
  end
  self._attrs[name] = nil
  if p then replace(self, name, p)
  else self._parameters:set(name, false) end
end

-- m:register_buffer(name, tensor or nil, persistent)
function Module:register_buffer(name, t, persistent)
  if type(persistent) == "table" then persistent = persistent.persistent end
  if t == dt.None then t = nil end
  check_name(self, "buffer", name, self._buffers)
  if t and not util.is_tensor(t) then
    util.raise("TypeError", "cannot assign '%s' object to buffer '%s' (torch "
      .. "Tensor or None required)", type_name(t), name)
  end
  self._buffers:set(name, t or false)
  if t then dt._buffer(t, name) end
  self._transient[name] = persistent == false or nil
end

-- m:register_module(name, module), m:add_module(name, module)
function Module:register_module(name, child)
  if child == dt.None then child = nil end
  if child and not is_module(child) then
    util.raise("TypeError", "%s is not a Module subclass", type_name(child))
  end
  check_name(self, "module", name, self._modules)
  self._modules:set(name, child or false)
  version = version + 1
end
Module.add_module = Module.register_module

-- ---- walking ----

-- Direct children as name, module; an object seen before is skipped.
function Module:named_children()
  local seen, nexts = {}, self._modules:each()
  return function ()
    for name, child in nexts do
      if child and not seen[child] then
        seen[child] = true
        return name, child
      end
    end
  end
end

-- Direct children.
function Module:children()
  local nexts = self:named_children()
  return function ()
    local _, child = nexts()
    return child
  end
end

-- `seen`: modules that are left out; `again`: a module may come twice.
local function walk(m, prefix, seen, out, again)
  if seen[m] then return out end
  if not again then seen[m] = true end
  out[#out + 1] = {prefix, m}
  for name, child in m._modules:each() do
    if child then walk(child, join(prefix, name), seen, out, again) end
  end
  return out
end

local function pairs_of(list)
  local i = 0
  return function ()
    i = i + 1
    if list[i] then return list[i][1], list[i][2] end
  end
end

-- All modules of the tree as name, module; the root's name is "" or the prefix,
-- which may be an option as `remove_duplicate` is.
function Module:named_modules(kw)
  if type(kw) == "string" then kw = {prefix = kw} end
  return pairs_of(walk(self, kw and kw.prefix or "", kw and kw.seen or {}, {},
    kw and kw.remove_duplicate == false))
end

-- All modules of the tree.
function Module:modules(kw)
  local nexts = self:named_modules(kw)
  return function ()
    local _, m = nexts()
    return m
  end
end

-- Options: prefix, recurse, remove_duplicate.
local function members(m, field, kw)
  local out, seen = {}, {}
  local again = kw and kw.remove_duplicate == false
  for prefix, sub in m:named_modules(kw and {prefix = kw.prefix,
      remove_duplicate = kw.remove_duplicate}) do
    if sub._attrs._uninitialized then           -- lazy.lua
      util.raise("ValueError", "Attempted to use an uninitialized parameter of "
        .. "%s: call the module once before its parameters are asked for",
        sub._class.__name)
    end
    for name, v in sub[field]:each() do
      if v and (again or not seen[v._id]) then
        seen[v._id] = true
        out[#out + 1] = {join(prefix, name), v}
      end
    end
    if kw and kw.recurse == false then break end
  end
  return out
end

-- All parameters as name, parameter, in order of registration.
function Module:named_parameters(kw)
  return pairs_of(members(self, "_parameters", kw))
end

-- All parameters.
function Module:parameters(kw)
  local list, i = members(self, "_parameters", kw), 0
  return function ()
    i = i + 1
    if list[i] then return list[i][2] end
  end
end

-- All buffers as name, buffer.
function Module:named_buffers(kw)
  return pairs_of(members(self, "_buffers", kw))
end

-- All buffers.
function Module:buffers(kw)
  local list, i = members(self, "_buffers", kw), 0
  return function ()
    i = i + 1
    if list[i] then return list[i][2] end
  end
end

-- The submodule at a dotted path.
function Module:get_submodule(path)
  local m = self
  for name in path:gmatch("[^.]+") do
    local child = m._modules.map[name]
    if not child then
      util.raise("AttributeError", "%s has no attribute `%s`",
        m._class.__name, name)
    end
    m = child
  end
  return m
end

-- ---- changes to the whole tree ----

-- m:apply(f): f on every submodule, children first, then on m.
function Module:apply(f)
  for child in self:children() do child:apply(f) end
  f(self)
  return self
end

-- Replace the data of every parameter, gradient and buffer by f(tensor);
-- recurse false: of this module only.  Data on another device is a parameter of
-- its own: what was tied is several then.
function Module:_apply(f, recurse)
  if recurse ~= false then
    for child in self:children() do child:_apply(f) end
  end
  for name, p in self._parameters:each() do
    if p then
      local guard <close> = dt.no_grad()        -- luacheck: ignore guard
      local new = f(p:detach())
      if new.is_dtensor and not p.is_dtensor then
        util.raise("RuntimeError", "_apply(): Couldn't swap %s.%s",
          self._class._get_name(self), name)
      end
      if new.device ~= p.device and not p.is_dtensor then
        self._parameters:set(name, dt._make_param(new, p.requires_grad))
        version = version + 1
      else
        dt._set_data(p, new)
        if p.grad then p.grad = f(p.grad) end
      end
    end
  end
  for name, b in self._buffers:each() do
    if b then self._buffers:set(name, f(b)) end
  end
  return self
end

local function check_convertible(dtype)
  local text = tostring(dtype)
  if dtype ~= nil and not text:find("float", 1, true)
     and not text:find("complex", 1, true) then
    util.raise("TypeError", "nn.Module.to only accepts floating point or complex "
      .. "dtypes, but got desired dtype=%s", text)
  end
end

-- m:to(dtype or device or tensor): integers keep their dtype.
function Module:to(...)
  local pos, kw = util.split(...)
  local dtype, device = kw.dtype, kw.device
  for i = 1, pos.n do
    local v = pos[i]
    if util.is_dtype(v) then dtype = v
    elseif util.is_tensor(v) then dtype, device = v.dtype, v.device
    else device = v end
  end
  check_convertible(dtype)
  return self:_apply(function (t)
    if t.device == "meta" and device and device ~= "meta" then
      util.raise("NotImplementedError", "Cannot copy out of meta tensor; no "
        .. "data! Please use torch.nn.Module.to_empty() instead of "
        .. "torch.nn.Module.to() when moving module from meta to a different "
        .. "device.")
    end
    local formatted = t.ndim == 4 or t.ndim == 5
    return t:to {dtype = t:is_floating_point() and dtype or nil,
      device = device, memory_format = formatted and kw.memory_format or nil}
  end)
end

-- The engine has one device, and programs for another run on it.
function Module:cpu()
  return self:_apply(function (t) return t:cpu() end)
end
Module.cuda = Module.cpu

-- m:type(dtype): of all parameters and buffers, integers too.
function Module:type(dtype)
  return self:_apply(function (t) return t:to(dtype) end)
end

-- f of the part that is here, distributed as t is.
local function local_map(t, f)
  if not t.is_dtensor then return f(t) end
  local shape, stride = {table.unpack(t.shape)}, {table.unpack(t:stride())}
  return dt._wrap_local(f(dt._local_of(t)), t.device_mesh, t.placements, shape,
    stride)
end

-- m:to_empty{device = "cpu", recurse = true}: parameters and buffers as memory
-- that nobody has written, on a device; device None: where they are.
function Module:to_empty(...)
  local pos, kw = util.split(...)
  if pos.n > 0 then
    util.raise("TypeError", "Module.to_empty() takes 1 positional argument but "
      .. "%d %s given", pos.n + 1, kw.device == nil and "were"
      or "positional arguments (and 1 keyword-only argument) were")
  end
  local a = util.bind("Module.to_empty", {"device", "recurse"},
    {recurse = true}, kw)
  if kw.device == nil then
    util.raise("TypeError", "Module.to_empty() missing 1 required keyword-only "
      .. "argument: 'device'")
  end
  local tied = ties.of(self)
  self:_apply(function (t)
    return local_map(t, function (own)       -- an operator, so that findings
      return dt.empty_like(own, {device = a.device})    -- know the memory
    end)
  end, a.recurse)
  ties.check(tied)
  return self
end

for name, dtype in pairs {float = "float32", double = "float64",
                          half = "float16", bfloat16 = "bfloat16"} do
  Module[name] = function (self) return self:to(dt[dtype]) end
end

-- m:train(on): training mode of the whole tree.
function Module:train(on)
  if on == nil then on = true end
  if type(on) == "table" then on = on.mode ~= false end
  if type(on) ~= "boolean" then
    util.raise("ValueError", "training mode is expected to be boolean")
  end
  if not on then dt._evaluates() end
  self._attrs.training = on
  for child in self:children() do child:train(on) end
  return self
end

-- m:eval(): training mode off.
function Module:eval() return self:train(false) end

-- m:requires_grad_(on)
function Module:requires_grad_(on)
  for p in self:parameters() do p:requires_grad_(on ~= false) end
  return self
end

-- m:zero_grad(): forget all gradients.
function Module:zero_grad(set_to_none)
  if type(set_to_none) == "table" then set_to_none = set_to_none.set_to_none end
  dt._clearing()
  for p in self:parameters() do
    if set_to_none == false then
      if p.grad then p.grad:detach():zero_() end
    else
      p.grad = dt.None
    end
  end
end

-- ---- state ----

-- m:state_dict(): a table from names to tensors that share the data.
function Module:state_dict() return module_state.collect(self) end

-- m:load_state_dict(state, {strict = true, assign = false}): copies values in
-- place.  Returns the missing and the unexpected names.
function Module:load_state_dict(state, kw)
  return module_state.load(self, state,
    type(kw) == "table" and kw or {strict = kw}, members)
end

-- ---- hooks ----

-- What takes a hook away again, by hand or at the end of a scope.
local handle_mt = {__name = "RemovableHandle",
  __close = function (h) h.remove() end}

local function add_hook(list, f, kw)
  kw = kw or {}
  local hook = {f = f, with_kwargs = kw.with_kwargs,
    always_call = kw.always_call, given = kw.given}
  if kw.prepend then table.insert(list, 1, hook)
  else list[#list + 1] = hook end
  return setmetatable({remove = function ()
    for i, h in ipairs(list) do
      if h == hook then table.remove(list, i) break end
    end
  end}, handle_mt)
end

-- m:register_forward_pre_hook(f, {prepend=, with_kwargs=}): f(module, args)
-- returns nothing, or the new arguments.  With kwargs: f(module, args,
-- kwargs) returns nothing or both tables.
function Module:register_forward_pre_hook(f, kw)
  return add_hook(self._pre_hooks, f, kw)
end

-- m:register_forward_hook(f, {prepend=, with_kwargs=, always_call=}):
-- f(module, args, output...) returns nothing, or the new outputs; with kwargs
-- f(module, args, kwargs, output...).
function Module:register_forward_hook(f, kw)
  return add_hook(self._hooks, f, kw)
end

local function with_kwargs(args, call)
  local pos, kw = util.split(table.unpack(args, 1, args.n))
  local new_pos, new_kw = call(pos, kw)
  if new_pos == nil then return args end
  new_pos.n = new_pos.n or #new_pos
  if next(new_kw or {}) then
    new_pos.n = new_pos.n + 1
    new_pos[new_pos.n] = new_kw
  end
  return new_pos
end

-- What a pre-hook returned: several values, or one list of them.
local function unwrapped(new)
  local one = new[1]
  if new.n == 1 and type(one) == "table" and getmetatable(one) == nil
     and (one.n or not util.is_kwargs(one)) then
    one.n = one.n or #one
    return one
  end
  return new
end

-- The hooks of all modules (torch.nn.modules.module.register_module_…), which
-- run before a module's own.
local everywhere = {pre = {}, after = {}, full = {}, full_pre = {}}

-- A list that hooks may change while it is walked.
local function joined(all, own)
  local out = {table.unpack(all)}
  table.move(own, 1, #own, #out + 1, out)
  return out
end

local function gradient_hooks_of(m)
  local own = rawget(m, "_backward_hooks") or {full = {}, pre = {}}
  if #everywhere.full + #everywhere.full_pre == 0 then return own end
  return {full = joined(everywhere.full, own.full),
    pre = joined(everywhere.full_pre, own.pre)}
end

-- Does any hook run in a call of m?
local function is_hooked(m)
  return #m._pre_hooks > 0 or #m._hooks > 0 or rawget(m, "_backward_hooks")
    or #everywhere.pre > 0 or #everywhere.after > 0
    or #everywhere.full > 0 or #everywhere.full_pre > 0
end

local function run_pre_hooks(m, args)
  for _, hook in ipairs(joined(everywhere.pre, m._pre_hooks)) do
    if hook.with_kwargs then
      args = with_kwargs(args, function (pos, kw)
        return hook.f(m, pos, kw)
      end)
    else                              -- keywords pass by
      local pos, kw = util.split(table.unpack(args, 1, args.n))
      local new = table.pack(hook.f(m, pos))
      if new.n > 0 and new[1] ~= nil then
        args = unwrapped(new)
        if next(kw) then
          args.n = (args.n or #args) + 1
          args[args.n] = kw
        end
      end
    end
  end
  return args
end

local function run_hooks(m, args, outs, always_only)
  for _, hook in ipairs(joined(everywhere.after, m._hooks)) do
    if hook.always_call or not always_only then
      local new
      if hook.with_kwargs then
        local pos, kw = util.split(table.unpack(args, 1, args.n))
        new = table.pack(hook.f(m, pos, kw, table.unpack(outs, 1, outs.n)))
      else
        new = table.pack(hook.f(m, (util.split(table.unpack(args, 1, args.n))),
          table.unpack(outs, 1, outs.n)))
      end
      if new.n > 0 and new[1] ~= nil then outs = new end
    end
  end
  return outs
end

-- ---- calling ----

local stack = {}                    -- modules whose forward is under way
local names_of = setmetatable({}, {__mode = "k"})   -- root -> module -> path
local names_at = setmetatable({}, {__mode = "k"})

-- The path of m below the module at the bottom of the stack.
local function path_of(m)
  local root = stack[1] or m
  if names_at[root] ~= version then
    local map = {}
    for name, sub in root:named_modules() do map[sub] = name end
    names_of[root], names_at[root] = map, version
  end
  local name = names_of[root][m]
  if name == nil or name == "" then return m._class.__name end
  return name
end

-- listen(f): from now on f(m, root) is called when m.forward begins, root
-- being the module at the bottom of the stack, and f(nil) that one ends; nil:
-- nobody listens.  Gives back who did.
local listener
local function listen(f)
  local before = listener
  listener = f
  return before
end

local leave_mt = {__close = function (self)
  if listener then listener(nil) end
  stack[#stack] = nil
  dt._module(self.outer, true)
end}

local function is_same(a, b)
  if a.n ~= b.n then return false end
  for i = 1, a.n do if not rawequal(a[i], b[i]) then return false end end
  return true
end

local function copy_of(list) return {n = list.n, table.unpack(list, 1, list.n)} end

-- relay(m, see, ...): m(...) for a module around m; see(results) is shown the
-- list of them and gives that of this module.
local function relay(m, see, ...)
  local given = packed_of((...))
  if not given then
    local outs = see(table.pack(m(...)))
    return table.unpack(outs, 1, outs.n)
  end
  local whole = given:call(m)
  local outs = given:contents(whole)
  local new = see(copy_of(outs))
  if is_same(outs, new) then return whole end
  return table.unpack(new, 1, new.n)
end

-- watch(m, hooks, args) for modules with hooks on gradients: set by
-- dt.nn.backward_hooks, whose methods alone make such hooks.
local gradient_hooks = {}

local function forward_with_hooks(m, f, ...)
  local back, outputs = gradient_hooks_of(m), nil
  local given = packed_of((...))
  local args = run_pre_hooks(m, given and given:plain() or table.pack(...))
  if #back.full > 0 or #back.pre > 0 then
    args, outputs = gradient_hooks.watch(m, back, args)
  end
  local whole, outs
  if given then
    whole = f(m, given:again(args))
    outs = given:results(whole)
  else
    outs = table.pack(f(m, table.unpack(args, 1, args.n)))
  end
  local first = copy_of(outs)
  outs = run_hooks(m, args, outs)
  if outputs then outs = outputs(outs) end
  if given and is_same(first, outs) then return whole end
  return table.unpack(outs, 1, outs.n)
end

local function forward(m, ...)
  local outer = dt._module(path_of(m))
  stack[#stack + 1] = m
  if listener then listener(m, stack[1]) end
  local leave <close> = setmetatable({outer = outer}, leave_mt) -- luacheck: ignore
  local f = m._class.forward
  f = rawget(m, "_attrs").forward or f
  if f == nil then
    util.raise("NotImplementedError",
      "Module [%s] is missing the required \"forward\" function",
      m._class.__name)
  end
  if not is_hooked(m) then return f(m, ...) end
  return forward_with_hooks(m, f, ...)
end

instance_mt.__call = dt._framed(forward)  -- `return m(x)` keeps its line

-- ---- printing, as PyTorch's repr ----

local function indent(text)
  return (text:gsub("\n", "\n  "))
end

function Module:_get_name() return self._class.__name end

function Module:__repr__()
  local class = self._class
  local extra = class.extra_repr and class.extra_repr(self) or ""
  local lines = {}
  for name, child in self._modules:each() do
    lines[#lines + 1] = ("(%s): %s"):format(name,
      child and indent(tostring(child)) or "None")
  end
  local name = class._get_name(self)
  if #lines == 0 then return name .. "(" .. extra .. ")" end
  if extra ~= "" then table.insert(lines, 1, extra) end
  return name .. "(\n  " .. table.concat(lines, "\n  ") .. "\n)"
end

function instance_mt.__tostring(m) return m._class.__repr__(m) end

function instance_mt.__len(m)
  local f = m._class.__len
  return f and f(m) or #m._modules.keys
end

function instance_mt.__pairs(m)
  local f = m._class.__pairs
  if f then return f(m) end
  return m:named_children()
end

instance_mt.__name = "nn.Module"

return {Module = Module, everywhere = everywhere,
  gradient_hooks = gradient_hooks, listen = listen,
  is_module = is_module, isinstance = isinstance,
  add_hook = add_hook, relay = relay, packed_of = packed_of,
  new_map = new_map, touch = function () version = version + 1 end,
  -- No forward is under way: one that was killed may not have said so.
  reset = function () for i = #stack, 1, -1 do stack[i] = nil end end}

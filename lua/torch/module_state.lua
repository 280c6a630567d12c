-- SPDX-License-Identifier: MIT
-- torch/module_state.lua: the rest of nn.Module for Python programs: hooks
-- around state_dict and load_state_dict, state that is no tensor
-- (get_extra_state), set_submodule, and devices.

local dt = require "dt"
local util = require "dt.util"
local V = require "python.values"
local args = require "python.args"
local attrs = require "python.attrs"
local attributes = require "torch.attributes"
local kinds = require "torch.kinds"
local names = require "torch.names"
local dir = require "python.dir"

local None = dt.None
local of_module = attributes.of_module

local function join(prefix, name) return prefix == "" and name
  or prefix .. "." .. name end

-- What the program's class says of a name that nn.Module has too, or nil.
local function own_method(m, name)
  local f = V.raw(m._class[name])
  return getmetatable(f) == V.func_mt and attrs.get(m, name) or nil
end

-- ---- hooks ----

local KINDS = {"state_dict_pre", "state_dict_post", "load_state_dict_pre",
  "load_state_dict_post"}
local hooks = setmetatable({}, {__mode = "k"})      -- by module: by kind

local function handle(list, hook)
  return attrs.namespace {remove = V.builtin(function ()
    for i, h in ipairs(list) do
      if h == hook then table.remove(list, i) break end
    end
    return None
  end, "remove")}
end

local function add_hook(m, kind, hook)
  local of = hooks[m] or {}
  hooks[m] = of
  of[kind] = of[kind] or {}
  table.insert(of[kind], hook)
  return handle(of[kind], hook)
end

local function first_of(a, kw) return a[1] or kw and V.dict_get(kw, "hook") end

for _, kind in ipairs(KINDS) do
  of_module["register_" .. kind .. "_hook"] = function (m, a, kw)
    return add_hook(m, kind, {f = first_of(a, kw)})
  end
end

-- The older two, which programs still use: a hook of a state may give one, and
-- one of a load takes no module unless it was asked for.
function of_module._register_state_dict_hook(m, a, kw)
  return add_hook(m, "state_dict_post", {f = first_of(a, kw), gives = true})
end

function of_module._register_load_state_dict_pre_hook(m, a, kw)
  local with = a[2]
  if with == nil then with = kw and V.dict_get(kw, "with_module") end
  return add_hook(m, "load_state_dict_pre", {f = first_of(a, kw),
    alone = with == nil or not V.truth(with)})
end

local function check_given(kind, hook, v, state)
  if v == None or not kind:find "post" then return end
  if hook.gives then
    if not rawequal(v, state) then
      util.refuse("a hook of _register_state_dict_hook that gives another "
        .. "state_dict is not part of dtrepl")
    end
    return
  end
  util.raise("RuntimeError", kind == "state_dict_post"
    and "state_dict post-hook must return None"
    or "Hooks registered with ``register_load_state_dict_post_hook`` are "
    .. "not expected to return new values, if incompatible_keys need to "
    .. "be modified, it should be done inplace.")
end

local function run_hooks(m, kind, ...)
  for _, hook in ipairs(hooks[m] and hooks[m][kind] or {}) do
    local n = select("#", ...)
    local given = hook.alone and V.list({...}, n) or V.list({m, ...}, n + 1)
    check_given(kind, hook, V.call(hook.f, given), (...))
  end
end

local function dotted(path) return path == "" and "" or path .. "." end

-- The child of a wrapper that no name in a state_dict says, or nil.
local function unnamed(m) return m._class.unnamed_in_states end

-- f(module, prefix, below, plain) of a module and of all below it: `below()`
-- goes on with the children; `plain` is the prefix without wrappers.
local function walk(m, path, f, plain)
  plain = plain or path
  f(m, dotted(path), function ()
    for name, child in m._modules:each() do
      if child then
        walk(child, join(path, name), f,
          name == unnamed(m) and plain or join(plain, name))
      end
    end
  end, dotted(plain))
end

-- The entries of a wrapper's state go by the names of what is inside.
local function unwrap_names(d, prefix, child)
  local long, keys = prefix .. child .. ".", {}
  for k in V.each(d) do
    if k:sub(1, #long) == long then keys[#keys + 1] = k end
  end
  for _, k in ipairs(keys) do
    local v = V.dict_get(d, k)
    V.dict_remove(d, k)
    V.dict_set(d, prefix .. k:sub(#long + 1), v)
  end
end

local function any_hooks(m, kind)
  for sub in m:modules() do
    if hooks[sub] and hooks[sub][kind] then return true end
  end
  return false
end

-- ---- state_dict ----

local EXTRA <const> = "_extra_state"

-- The entries of one module, in the order in which they were registered; the
-- engine names them without wrappers, `plain`.
local function add_own(sub, prefix, state, d, start, plain)
  for _, map in ipairs {sub._parameters, sub._buffers} do
    for name in map:each() do
      local t = state[plain .. name]
      if t ~= nil then V.dict_set(d, start .. prefix .. name, t) end
    end
  end
  local extra = own_method(sub, "get_extra_state")
  if extra then
    V.dict_set(d, start .. prefix .. EXTRA, V.call(extra, V.list({}, 0)))
  end
end

-- What the engine keeps under no module's name, behind all others.
local function add_rest(state, d, start)
  for _, key in ipairs(util.sorted_keys(state)) do
    if V.dict_get(d, start .. key) == nil then
      V.dict_set(d, start .. key, state[key])
    end
  end
end

-- The version of a module's own format: 2 where normalization counts batches.
local function version_of(m)
  local class = rawget(m, "_class")
  if class._version ~= nil then return class._version end
  while class do
    local name = rawget(class, "__name") or ""
    if name:find("BatchNorm", 1, true) or name:find("^InstanceNorm") then
      return 2
    end
    class = rawget(class, "__base")
  end
  return 1
end

-- state_dict()._metadata: the version of each module.
local function versions_of(m, start)
  local d = V.call(attrs.get(attrs.module "collections", "OrderedDict"),
    V.list({}, 0))
  for path, sub in m:named_modules() do
    local version = V.dict()
    V.dict_set(version, "version", version_of(sub))
    V.dict_set(d, (((start .. path):gsub("%.$", ""))), version)
  end
  return d
end

-- state_dict(keep_vars=True): the parameters and buffers themselves.
local function keep_vars(m, state)
  local all = {remove_duplicate = false}
  local function keep(name, t) if state[name] ~= nil then state[name] = t end end
  for name, t in m:named_parameters(all) do keep(name, t) end
  for name, t in m:named_buffers(all) do keep(name, t) end
end

function of_module.state_dict(m, a, kw)
  local own = own_method(m, "state_dict")
  if own then return V.call(own, a, kw) end
  local start = kw and V.dict_get(kw, "prefix") or a[2] or ""
  local state = m:state_dict()
  local keep = kw and V.dict_get(kw, "keep_vars") or a[3]
  if args.given(keep) and V.truth(keep) then keep_vars(m, state) end
  local d = V.call(attrs.get(attrs.module "collections", "OrderedDict"),
    V.list({}, 0))
  d._metadata = versions_of(m, start)
  local before = any_hooks(m, "state_dict_pre")
  walk(m, "", function (sub, prefix, below, plain)
    run_hooks(sub, "state_dict_pre", start .. prefix, false)
    if before then state = m:state_dict() end     -- a hook may replace tensors
    add_own(sub, prefix, state, d, start, plain)
    below()
    if unnamed(sub) then unwrap_names(d, start .. prefix, unnamed(sub)) end
    if not any_hooks(m, "state_dict_post") then return end
    run_hooks(sub, "state_dict_post", d, start .. prefix, V.dict())
  end)
  if not any_hooks(m, "state_dict_post") then add_rest(state, d, start) end
  return d
end

-- ---- load_state_dict ----

-- Takes out of the state what set_extra_state of the program is given; returns
-- a list of functions that give it, with the first name that is missing.
local function take_extra(m, state)
  local extra = {}
  for path, sub in m:named_modules() do
    local f, key = own_method(sub, "set_extra_state"), join(path, EXTRA)
    local v = f and V.dict_get(state, key)
    if v ~= nil then
      extra[#extra + 1] = function () V.call(f, V.list {v}) end
      V.dict_remove(state, key)
    elseif f then
      extra.missing = extra.missing or key
    end
  end
  return extra
end

-- A state without versions is of a time when batches were not counted: those
-- that it does not have stay as they are.
local function add_batch_counts(m, state, rest)
  if rawget(state, "_metadata") then return end
  for path, sub in m:named_modules() do
    local key = join(path, "num_batches_tracked")
    local own = version_of(sub) >= 2 and sub._buffers.map.num_batches_tracked
    if own and V.dict_get(rest, key) == nil then V.dict_set(rest, key, own) end
  end
end

local plain_load = of_module.load_state_dict

function of_module.load_state_dict(m, a, kw)
  local state = a[1] or kw and V.dict_get(kw, "state_dict")
  if not V.is_dict(state) then return plain_load(m, a, kw) end
  local rest = V.dict()
  for k, v in V.each(state) do V.dict_set(rest, k, v) end
  if any_hooks(m, "load_state_dict_pre") then
    walk(m, "", function (sub, prefix, below)
      run_hooks(sub, "load_state_dict_pre", rest, prefix, V.dict(), true,
        V.list {}, V.list {}, V.list {})
      below()
    end)
  end
  add_batch_counts(m, state, rest)
  local extra = take_extra(m, rest)
  local keys = plain_load(m, V.list({rest, table.unpack(a, 2, a.n)},
    math.max(a.n, 1)), kw)
  for _, set in ipairs(extra) do set() end
  if extra.missing then
    keys[1].n = keys[1].n + 1
    keys[1][keys[1].n] = extra.missing
  end
  if any_hooks(m, "load_state_dict_post") then
    walk(m, "", function (sub, _, below)
      below()
      run_hooks(sub, "load_state_dict_post", keys)
    end)
  end
  local strict = kw and V.dict_get(kw, "strict")
  if strict == nil then strict = a[2] end
  if extra.missing and (strict == nil or V.truth(strict)) then
    util.raise("RuntimeError", "Error(s) in loading state_dict for %s:\n\t"
      .. "Missing key(s) in state_dict: \"%s\". ", m._class.__name,
      extra.missing)
  end
  return keys
end

for _, name in ipairs {"get_extra_state", "set_extra_state"} do
  of_module[name] = function (m, a, kw)
    local f = own_method(m, name)
    if f then return V.call(f, a, kw) end
    return util.raise("RuntimeError", "Reached a code path in Module.%s() that "
      .. "should never be called. Please file an issue at "
      .. "https://github.com/pytorch/pytorch/issues/new?template=bug-report.yml"
      .. " to report this bug.", name)
  end
end

-- ---- the tree ----

-- set_submodule("a.0", module, strict=False)
of_module.set_submodule = function (m, a, kw)
  local path = args.given(a[1]) and a[1] or V.dict_get(kw, "target")
  local new = a[2] or V.dict_get(kw, "module")
  local strict = a[3]
  if strict == nil then strict = kw and V.dict_get(kw, "strict") end
  if path == "" then
    util.raise("ValueError", "Cannot set the submodule without a target name!")
  end
  local above, name = path:match("^(.*)%.([^.]+)$")
  local at = m:get_submodule(above or "")
  name = name or path
  if args.given(strict) and V.truth(strict) and not at._modules.map[name] then
    util.raise("AttributeError", "%s has no attribute `%s`", at._class.__name,
      name)
  end
  attrs.set(at, name, new)
  return None
end

-- torch.nn.Buffer(data, *, persistent=True)
names.nn.Buffer = args.class("Buffer", {__module__ = "torch.nn.parameter",
  above = names.Tensor,
  test = function (v) return util.is_tensor(v) and attributes.is_buffer(v) end,
  new = args.def("Buffer", {"data?", "*", "persistent?"}, function (a)
    local data = args.given(a.data) and a.data or dt.empty(0)
    return attributes.mark_buffer(data:detach(), a.persistent == nil
      or V.truth(a.persistent))
  end)})

-- ---- devices, and what has no meaning on one process ----

of_module.cuda = function (m)
  kinds.check_device("cuda")
  return m:cuda()
end
of_module.share_memory = function (m) return m end
of_module.compile = function (m, a, kw)
  local call = attrs.get(m, "__call__")
  m._attrs._compiled_call_impl = V.call(names.torch.compile, V.list({call,
    table.unpack(a, 1, a.n)}, a.n + 1), kw)
  return None
end

-- ---- what each module has ----

local any = attributes.of_any_module
function any._compiled_call_impl() return None end
function any.extra_repr(m)
  return V.builtin(function () return "" end, "extra_repr")
end
function any.__dir__(m)
  return V.builtin(function () return dir(m) end,
    "__dir__")
end

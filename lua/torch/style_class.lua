-- SPDX-License-Identifier: MIT
-- torch/style_class.lua: the parallel styles as Python's classes: with
-- fields that are tuples, as bases of a program's own styles, whose methods
-- (_apply, _prepare_input_fn …) do then what the style's would.
--
-- An object keeps the style of dt.parallel that does the work (`own`); its
-- fields are views of that.

local dt = require "dt"
local util = require "dt.util"
local V = require "python.values"
local attrs = require "python.attrs"
local calls = require "python.call"
local classes = require "python.class"
local hooks = require "torch.module_hooks"
local style = require "dt.parallel.style"

local M = {}
local None = dt.None

-- ---- fields ----

-- What a style keeps, as Python has it: layouts are a tuple, by keyword a
-- dict.
local function to_python(name, v)
  if v == nil or v == None then return None end
  if type(v) ~= "table" then return v end
  if name:find("kwarg", 1, true) then
    local d = V.dict()
    for key, pl in pairs(v) do V.dict_set(d, key, pl) end
    return d
  end
  return V.tuple({table.unpack(v)}, #v)
end

local function own(self) return rawget(self, "own") end

-- A property whose value the style keeps.
local function view(name)
  local get = V.builtin(function (a) return to_python(name, own(a[1])[name]) end)
  local set = V.builtin(function (a)
    own(a[1])[name] = V.to_lua(a[2])
    return None
  end)
  local d = classes.names.property.call(V.list {get})
  rawset(d, "set", set)
  return d
end

-- ---- methods ----

local function method(name, f)
  local b = V.builtin(f, name)
  rawset(b, "binds", true)
  return b
end

local function lua_list(seq)
  return {n = seq.n, table.unpack(seq, 1, seq.n)}
end

-- _prepare_input_fn(*settings, mod, inputs, device_mesh) of a style class, and
-- the like for outputs: what `hook` of a style with these settings does.
local function prepare(class, hook, settings)
  return classes.names.staticmethod.call(V.list {V.builtin(function (a)
    local s, n = {}, #settings
    for i, name in ipairs(settings) do s[name] = V.to_lua(a[i]) end
    local values = a[n + 2]
    local f = class[hook](setmetatable(s, class))
    return f(a[n + 1], V.is_tuple(values) and lua_list(values) or values,
      a[n + 3])
  end)})
end

-- The other way: the method of the program's class in place of the hook.
local function from_prepare(self, name, settings, inputs)
  return function ()
    return function (module, values, mesh)
      local list = {}
      for i, setting in ipairs(settings) do
        list[i] = to_python(setting, own(self)[setting])
      end
      local n = #settings
      list[n + 1], list[n + 3] = module, mesh
      list[n + 2] = inputs and hooks.inputs(values) or V.from_lua(values)
      local got = V.call(attrs.get(self, name), V.list(list, n + 3))
      if inputs then return hooks.new_inputs(got) end
      return hooks.new_outputs(got)
    end
  end
end

-- _partition_linear_fn(self, name, module, device_mesh) and the like.
local function partition(class, hook)
  return function (a)
    class[hook](own(a[1]))(a[2], a[3], a[4])
    return None
  end
end

local function from_partition(self, name)
  return function ()
    return V.lua_function(attrs.get(self, name))
  end
end

-- A hook of a style: Python's name, the settings that its method takes first.
local layouts = {"input_layouts", "desired_input_layouts"}
local output = {"output_layouts", "use_local_output"}
local both = {
  {"_prepare_input_fn", "input_hook", layouts, true},
  {"_prepare_output_fn", "output_hook", output},
  {"_partition_linear_fn", "partition_linear"},
  {"_partition_embedding_fn", "partition_embedding"}}
local HOOKS = {
  ColwiseParallel = both, RowwiseParallel = both,
  SequenceParallel = {
    {"_prepare_input_fn", "input_hook", {"sequence_sharding"}, true},
    {"_prepare_output_fn", "output_hook", {"use_local_output"}},
    {"_replicate_module_fn", "partition"}}}

-- _prepare_input_fn(self, inputs, device_mesh) of PrepareModuleInput, and of
-- PrepareModuleOutput _prepare_out_fn.
local PREPARES = {PrepareModuleInput = "_prepare_input_fn",
  PrepareModuleOutput = "_prepare_out_fn"}

local function prepares(class, outputs)
  return function (a)
    local values = a[2]
    if not V.is_tuple(values) then values = V.tuple {values} end
    local got = class.prepare(own(a[1]), lua_list(values), a[3])
    if outputs and got.n == 1 then return got[1] end
    return V.tuple(got, got.n)
  end
end

local function from_prepares(self, name)
  return function (_, values, mesh)
    local got = V.call(attrs.get(self, name), V.list {
      V.tuple({table.unpack(values, 1, values.n)}, values.n), mesh})
    return V.is_tuple(got) and lua_list(got) or {got, n = 1}
  end
end

-- ---- classes ----

local nothing = method("_apply", function () return None end)
rawset(nothing, "abstract", true)
M.ParallelStyle = classes.make("ParallelStyle", {}, {
  src_data_rank = 0, _apply = nothing}, {}, {})
rawset(M.ParallelStyle, "__abstract", {"_apply"})
local home = "torch.distributed.tensor.parallel.style"
rawset(M.ParallelStyle, "__home", home)

local given = {}                    -- Lua's class -> Python's

-- Methods that the program's class below has of its own go to the style.
local function take_over(self, s, name)
  local class, face = rawget(self, "_class"), given[name]
  if class == face then return end
  for _, h in ipairs(HOOKS[name] or {}) do
    if class[h[1]] ~= face[h[1]] then
      s[h[2]] = h[3] and from_prepare(self, h[1], h[3], h[4])
        or from_partition(self, h[1])
    end
  end
  local own_prepare = PREPARES[name]
  if own_prepare and class[own_prepare] ~= face[own_prepare] then
    s.prepare = from_prepares(self, own_prepare)
  end
end

local function text(self)
  return (tostring(own(self)):gsub("^%w+", V.type_name(self):match "[^.]+$"))
end

local function face(name, class)
  local members = {}
  for _, key in ipairs {"src_data_rank", "desired_input_layouts",
      "sequence_sharding", "with_kwargs", table.unpack(class.shown)} do
    members[key] = view(key)
  end
  members.__init__ = method("__init__", function (a, kw)
    if a.n > 1 then
      util.raise("TypeError", "%s.__init__() takes 1 positional argument but %d "
        .. "were given", name, a.n)
    end
    local s = calls.call(class, V.list({}, 0), kw)
    rawset(a[1], "own", s)
    take_over(a[1], s, name)
    return None
  end)
  members.__repr__ = method("__repr__", function (a) return text(a[1]) end)
  members._apply = method("_apply", function (a)
    return own(a[1]):apply(a[2], a[3])
  end)
  for _, h in ipairs(HOOKS[name] or {}) do
    members[h[1]] = h[3] and prepare(class, h[2], h[3])
      or method(h[1], partition(class, h[2]))
  end
  if PREPARES[name] then
    members[PREPARES[name]] = method(PREPARES[name],
      prepares(class, name == "PrepareModuleOutput"))
  end
  local made = classes.make(name, {M.ParallelStyle}, members, {}, {})
  rawset(made, "__home", home)
  return made
end

for name, class in pairs(style) do
  if type(class) == "table" and rawget(class, "construct") then
    M[name] = face(name, class)
    given[name] = M[name]
  end
end

rawset(M.ParallelStyle, "holds", function (v)
  return classes.is_instance(v, M.ParallelStyle) or style.is_style(v)
end)

-- A style of the program's own: its _apply.
local function of_program(v)
  local s = style.as_style {src_data_rank = 0}
  function s:apply(module, mesh)
    attrs.set(v, "src_data_rank", self.src_data_rank)
    return V.call(attrs.get(v, "_apply"), V.list {module, mesh})
  end
  return s
end

--- of(v): the style of dt.parallel behind a Python object, or nil where `v` is
--- no style.
function M.of(v)
  if not classes.is_instance(v, M.ParallelStyle) then return nil end
  local class, mine = rawget(v, "_class"), own(v)
  for name, f in pairs(given) do
    if mine and classes.is_below(class, f) and class._apply == f._apply then
      return mine, name
    end
  end
  return of_program(v)
end

return M

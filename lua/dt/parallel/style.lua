-- SPDX-License-Identifier: MIT
-- dt/parallel/style.lua: how one module is parallelised: Colwise, Rowwise,
-- Sequence, PrepareModuleInput, Output, InputOutput.

local dt = require "dt"
local util = require "dt.util"
local ties = require "dt.nn.ties"
local nnm = require "dt.nn.module"
local distribute_module = require("dt.parallel.distribute").distribute_module

local M = {}
local from_local = dt.DTensor.from_local

local Style = {}
Style.__index = Style

-- A field as Python prints it; layouts by keyword are a dict.
local function shown(v, keyed)
  if keyed then
    local parts = {}
    for key, pl in pairs(v) do
      parts[#parts + 1] = ("'%s': %s"):format(key, util.is_placement(pl)
        and pl:repr() or tostring(pl))
    end
    return "{" .. table.concat(parts, ", ") .. "}"
  end
  if v == nil then return "None" end
  return type(v) == "table" and util.tuple_text(v) or v == true and "True"
    or v == false and "False" or tostring(v)
end

local function style(name, base)
  local C = setmetatable({name = name}, {__index = base or Style,
    __call = function (class, ...)
      local s = setmetatable({src_data_rank = 0}, class)
      class.construct(s, ...)
      return s
    end})
  C.__index = C
  C.__tostring = function (s)
    local parts = {}
    for i, key in ipairs(C.shown) do
      parts[i] = key .. "=" .. shown(s[key], key:find("kwarg", 1, true))
    end
    return name .. "(" .. table.concat(parts, ", ") .. ")"
  end
  M[name] = C
  return C
end

-- The base of all styles, which cannot be made.
M.ParallelStyle = setmetatable({name = "ParallelStyle"}, {__call = function ()
  util.raise("TypeError", "Can't instantiate abstract class ParallelStyle "
    .. "with abstract method _apply")
end})

-- Is `v` a style?
function M.is_style(v)
  local class = getmetatable(v)
  while type(class) == "table" do
    local up = getmetatable(class)
    class = type(up) == "table" and up.__index
    if class == Style then return true end
  end
  return false
end

-- A style `name` that is another one but for what is set on it; it is not
-- among this module's.
function M.derived(name, base)
  local C = style(name, base)
  M[name] = nil
  return C
end

-- A table with a method apply(module, mesh) as a style.
function M.as_style(t)
  local C = setmetatable({}, {__index = Style})
  C.__index = C
  return setmetatable(t, C)
end

local function modules() return require "dt.nn" end

-- Placements given as one placement, a list or a text: a list.
local function layouts(v, default)
  if util.is_none(v) then return default end
  if util.is_placement(v) then return {v} end
  return v
end

local function same(a, b) return dt._same_placements(a, b) end

local function source(s)
  if util.is_none(s.src_data_rank) then return dt.None end
  return s.src_data_rank
end

local function place(s, m, name, mesh, placement)
  local p = m._parameters.map[name]
  ties.replace(p, m, name)
  m:register_parameter(name, dt._make_param(
    dt.distribute_tensor(p, mesh, {placement}, {src_data_rank = source(s)}),
    p.requires_grad))
end

-- Hooks of Colwise and Rowwise: declared input layout to the wanted one.  A
-- style may cast the input before it moves (cast_input), and say what it is
-- afterwards (moved_input).
local function input_hook(s)
  return function (_, args, mesh)
    local x = args[1]
    if x == nil then
      util.raise("IndexError", "tuple index out of range")
    elseif not util.is_dtensor(x) then
      x = from_local(x, mesh, s.input_layouts, {run_check = false})
    end
    if s.cast_input then x = s.cast_input(x) end
    if not same(s.input_layouts, s.desired_input_layouts) then
      x = x:redistribute {placements = s.desired_input_layouts}
      if s.moved_input then x = s.moved_input(x) end
    end
    return x
  end
end

local function output_hook(s)
  return function (_, out, mesh)                -- luacheck: ignore mesh
    if not same(out.placements, s.output_layouts) then
      out = out:redistribute {placements = s.output_layouts}
    end
    return s.use_local_output and out:to_local() or out
  end
end

-- ---- Colwise ----

-- ColwiseParallel{input_layouts=R, output_layouts=S(-1),
-- use_local_output=true}: weight S(0) (embedding S(1)).
local Colwise = style "ColwiseParallel"
Colwise.input_hook, Colwise.output_hook = input_hook, output_hook
Colwise.shown = {"input_layouts", "output_layouts", "use_local_output"}

function Colwise.construct(s, ...)
  local a = util.bind("ColwiseParallel", {"input_layouts", "output_layouts",
    "use_local_output"}, {use_local_output = true}, ...)
  s.input_layouts = layouts(a.input_layouts, {dt.Replicate()})
  s.output_layouts = layouts(a.output_layouts, {dt.Shard(-1)})
  s.desired_input_layouts = {dt.Replicate()}
  s.use_local_output = a.use_local_output
end

local function each_parameter(s, placement)
  return function (_, m, mesh)
    for _, name in ipairs {table.unpack(m._parameters.keys)} do
      if m._parameters.map[name] then place(s, m, name, mesh, placement) end
    end
  end
end

-- How a style places a linear layer's parameters, or an embedding's: a
-- function for distribute_module.
function Colwise:partition_linear() return each_parameter(self, dt.Shard(0)) end
function Colwise:partition_embedding()
  return each_parameter(self, dt.Shard(1))
end

local function partition_of(s, module, name)
  if nnm.isinstance(module, modules().Linear) then
    return s:partition_linear()
  elseif nnm.isinstance(module, modules().Embedding) then
    return s:partition_embedding()
  end
  util.raise_for("module class", "NotImplementedError",
    "%s currently only support nn.Linear and nn.Embedding!", name)
end

function Colwise:apply(module, mesh)
  local partition = partition_of(self, module, "ColwiseParallel")
  return distribute_module(module, mesh, partition, self:input_hook(),
    self:output_hook())
end

-- ---- Rowwise ----

-- RowwiseParallel{input_layouts=S(-1), output_layouts=R,
-- use_local_output=true}: weight S(1), bias R (embedding S(0)).
local Rowwise = style "RowwiseParallel"
Rowwise.input_hook, Rowwise.output_hook = input_hook, output_hook
Rowwise.shown = Colwise.shown

function Rowwise.construct(s, ...)
  local a = util.bind("RowwiseParallel", {"input_layouts", "output_layouts",
    "use_local_output"}, {use_local_output = true}, ...)
  s.input_layouts = layouts(a.input_layouts, {dt.Shard(-1)})
  s.output_layouts = layouts(a.output_layouts, {dt.Replicate()})
  s.use_local_output = a.use_local_output
end

function Rowwise:partition_linear()
  return function (_, m, on)
    place(self, m, "weight", on, dt.Shard(1))
    if m.bias then place(self, m, "bias", on, dt.Replicate()) end
  end
end

function Rowwise:partition_embedding()
  return each_parameter(self, dt.Shard(0))
end

function Rowwise:apply(module, mesh)
  local partition = partition_of(self, module, "RowwiseParallel")
  self.desired_input_layouts = {nnm.isinstance(module, modules().Linear)
    and dt.Shard(-1) or dt.Replicate()}
  return distribute_module(module, mesh, partition, self:input_hook(),
    self:output_hook())
end

-- ---- Sequence ----

-- SequenceParallel{sequence_dim=1, use_local_output=false}: activations S on
-- the sequence, parameters R.
local Sequence = style "SequenceParallel"
Sequence.shown = {"sequence_dim", "use_local_output"}

function Sequence.construct(s, ...)
  local a = util.bind("SequenceParallel", {"sequence_dim",
    "use_local_output"}, {sequence_dim = 1, use_local_output = false}, ...)
  s.sequence_dim = a.sequence_dim
  s.sequence_sharding = {dt.Shard(a.sequence_dim)}
  s.use_local_output = a.use_local_output
end

function Sequence.partition()
  return function (_, m, on)
    for name in m:named_parameters() do
      if name:find(".", 1, true) then
        util.raise("KeyError", "%s", "'parameter name can\\'t contain "
          .. "\".\"'")
      end
    end
    for _, name in ipairs {table.unpack(m._parameters.keys)} do
      local p = m._parameters.map[name]
      if p then
        m:register_parameter(name, dt._make_param(
          from_local(p:detach(), on, {dt.Replicate()}, {run_check = false}),
          true))
      end
    end
  end
end

function Sequence:input_hook()
  return function (m, args, on)
    local x = args[1]
    if util.is_dtensor(x) then
      if not same(x.placements, self.sequence_sharding) then
        x = x:redistribute {placements = self.sequence_sharding}
      end
      return x
    elseif util.is_tensor(x) then
      return from_local(x, on, self.sequence_sharding, {run_check = false})
    end
    util.raise("ValueError", "expecting input of %s to be a torch.Tensor or "
      .. "DTensor, but got %s", tostring(m), util.python_text(x))
  end
end

function Sequence:output_hook()
  return function (_, out)
    return self.use_local_output and out:to_local() or out
  end
end

function Sequence:apply(module, mesh)
  return distribute_module(module, mesh, self:partition(), self:input_hook(),
    self:output_hook())
end

-- ---- Prepare* ----

-- A list with one entry per argument; an entry is a placement or dt.None.
local function per_argument(v)
  if util.is_none(v) then return nil end
  if util.is_placement(v) then return {v} end
  return v
end

local function one_layout(v)
  if util.is_none(v) then return nil end
  return v
end

local function count(t)
  local n = 0
  for _ in pairs(t) do n = n + 1 end
  return n
end

-- Plain to distributed, declared layout to the desired one, maybe back.
local function convert(v, layout, desired, mesh, to_local, what)
  layout, desired = one_layout(layout), one_layout(desired)
  if layout == nil then return v end
  if not util.is_dtensor(v) then
    if not util.is_tensor(v) then
      util.raise("AssertionError", what)
    end
    v = from_local(v, mesh, {layout}, {run_check = false})
  end
  if desired ~= nil and layout ~= desired then
    v = v:redistribute {placements = {desired}}
  end
  return to_local and v:to_local() or v
end

-- PrepareModuleInput{input_layouts=, desired_input_layouts=,
-- input_kwarg_layouts=, desired_input_kwarg_layouts=, use_local_output=false}
local Input = style "PrepareModuleInput"
Input.shown = {"input_layouts", "desired_input_layouts",
  "input_kwarg_layouts", "desired_input_kwarg_layouts", "use_local_output"}

function Input.construct(s, ...)
  local a = util.bind("PrepareModuleInput", {"input_layouts",
    "desired_input_layouts", "input_kwarg_layouts",
    "desired_input_kwarg_layouts", "use_local_output"},
    {use_local_output = false}, ...)
  s.input_layouts = per_argument(a.input_layouts)
  s.desired_input_layouts = per_argument(a.desired_input_layouts)
  s.use_local_output = a.use_local_output
  if s.input_layouts then
    if s.desired_input_layouts == nil then
      util.raise("AssertionError", "desired module inputs should not be None!")
    end
    if #s.input_layouts ~= #s.desired_input_layouts then
      util.raise("AssertionError",
        "input_layouts and desired_input_layouts should have same length!")
    end
  end
  s.with_kwargs = a.input_kwarg_layouts ~= nil
  s.input_kwarg_layouts = a.input_kwarg_layouts or {}
  s.desired_input_kwarg_layouts = a.desired_input_kwarg_layouts or {}
  if s.with_kwargs and count(s.input_kwarg_layouts)
     ~= count(s.desired_input_kwarg_layouts) then
    util.raise("AssertionError", "input_kwarg_layouts and "
      .. "desired_input_kwarg_layouts should have same length!")
  end
end

local no_tensor = "expecting input to be a torch.Tensor!"

function Input:prepare(args, mesh)
  if self.input_layouts == nil then return args end
  if args.n ~= #self.input_layouts then
    util.raise("ValueError",
      "module inputs and input_layouts should have same length!")
  end
  local out = {n = args.n}
  for i = 1, args.n do
    out[i] = convert(args[i], self.input_layouts[i],
      self.desired_input_layouts[i], mesh, self.use_local_output, no_tensor)
  end
  return out
end

function Input:prepare_kwargs(kw, mesh)
  local out = {}
  for key, v in pairs(kw) do
    out[key] = convert(v, self.input_kwarg_layouts[key],
      self.desired_input_kwarg_layouts[key], mesh, self.use_local_output, no_tensor)
  end
  return out
end

function Input:apply(module, mesh)
  if self.with_kwargs then
    module:register_forward_pre_hook(function (_, args, kw)
      return self:prepare(args, mesh), self:prepare_kwargs(kw, mesh)
    end, {with_kwargs = true})
  else
    module:register_forward_pre_hook(function (_, args)
      local out = self:prepare(args, mesh)
      return table.unpack(out, 1, out.n)
    end)
  end
  return module
end

-- PrepareModuleOutput{output_layouts=, desired_output_layouts=,
-- use_local_output=true}
local Output = style "PrepareModuleOutput"
Output.shown = {"output_layouts", "desired_output_layouts",
  "use_local_output"}

-- Both keywords must be given.
local function needs_outputs(name, a)
  local missing = {}
  for _, key in ipairs {"output_layouts", "desired_output_layouts"} do
    if a[key] == nil then missing[#missing + 1] = "'" .. key .. "'" end
  end
  if #missing > 0 then
    util.raise("TypeError", "%s.__init__() missing %d required keyword-only "
      .. "argument%s: %s", name, #missing, #missing > 1 and "s" or "",
      table.concat(missing, " and "))
  end
end

function Output.construct(s, ...)
  local a = util.bind("PrepareModuleOutput", {"output_layouts",
    "desired_output_layouts", "use_local_output"}, {use_local_output = true},
    ...)
  needs_outputs("PrepareModuleOutput", a)
  s.output_layouts = per_argument(a.output_layouts)
  s.desired_output_layouts = per_argument(a.desired_output_layouts)
  s.use_local_output = a.use_local_output
  if #(s.output_layouts or {}) ~= #(s.desired_output_layouts or {}) then
    util.raise("AssertionError",
      "output_layouts and desired_output_layouts should have same length!")
  end
end

function Output:prepare(outs, mesh)
  if outs.n ~= #self.output_layouts then
    util.raise("ValueError",
      "module outputs and output_layouts should have same length!")
  end
  local out = {n = outs.n}
  for i = 1, outs.n do
    out[i] = convert(outs[i], self.output_layouts[i],
      self.desired_output_layouts[i], mesh, self.use_local_output,
      "expecting output to be a torch.Tensor!")
  end
  return out
end

function Output:apply(module, mesh)
  module:register_forward_hook(function (_, _, ...)
    local out = self:prepare(table.pack(...), mesh)
    return table.unpack(out, 1, out.n)
  end)
  return module
end

-- PrepareModuleInputOutput{...}: both, with use_local_input=false and
-- use_local_output=true.
local Both = style "PrepareModuleInputOutput"
Both.shown = {"input_layouts", "desired_input_layouts", "input_kwarg_layouts",
  "desired_input_kwarg_layouts", "use_local_input", "output_layouts",
  "desired_output_layouts", "use_local_output"}

function Both.construct(s, ...)
  local a = util.bind("PrepareModuleInputOutput", {"input_layouts",
    "desired_input_layouts", "input_kwarg_layouts",
    "desired_input_kwarg_layouts", "use_local_input", "output_layouts",
    "desired_output_layouts", "use_local_output"},
    {use_local_input = false, use_local_output = true}, ...)
  needs_outputs("PrepareModuleInputOutput", a)
  s.input = Input {input_layouts = a.input_layouts,
    desired_input_layouts = a.desired_input_layouts,
    input_kwarg_layouts = a.input_kwarg_layouts,
    desired_input_kwarg_layouts = a.desired_input_kwarg_layouts,
    use_local_output = a.use_local_input}
  for _, key in ipairs {"input_layouts", "desired_input_layouts",
    "input_kwarg_layouts", "desired_input_kwarg_layouts"} do
    s[key] = s.input[key]
  end
  s.use_local_input, s.use_local_output = a.use_local_input, a.use_local_output
  s.output = Output {output_layouts = a.output_layouts,
    desired_output_layouts = a.desired_output_layouts,
    use_local_output = a.use_local_output}
  s.output_layouts = s.output.output_layouts
  s.desired_output_layouts = s.output.desired_output_layouts
end

function Both:apply(module, mesh)
  self.input:apply(module, mesh)
  self.output:apply(module, mesh)
  return module
end

return M

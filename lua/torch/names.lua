-- SPDX-License-Identifier: MIT
-- torch/names.lua: what a Python program over torch can name: builtins,
-- math, and torch's name spaces over the table dt.  A name that is not listed
-- is looked up where Lua has it: torch.x in dt, then in nn.functional.

local dt = require "dt"
local util = require "dt.util"
local nnm = require "dt.nn.module"
local V = require "python.values"
local attrs = require "python.attrs"
local managers = require "python.managers"
local arrays = require "torch.arrays"
local attributes = require "torch.attributes"
local calls = require "python.call"
local env_of = require "python.env"
local eval = require "python.eval"
local dtensor = require "torch.dtensor"
local pytorch_names = require "torch.pytorch_names"
local state = require "dt.spmd.state"
local accelerator = require "torch.accelerator"
local tensors = require "torch.tensor"
local stdlib = require "torch.stdlib"
local kinds = require "torch.kinds"
local module_hooks = require "torch.module_hooks"
local node = require "torch.node"
local once = require "torch.once"
local signatures = require "torch.signatures"
local dt_parallel = require "dt.parallel"
local args = require "python.args"
local scope = require "dt.torch.scope"
local structseq = require "torch.structseq"
local overloads = require "torch.overloads"
local distributed = require "dt.distributed"
local fsdp = require "dt.fsdp"
local nn_parallel = require "dt.nn.parallel"
local float8_parallel = require "dt.float8.parallel"

local M = require "torch.spaces"
local None = dt.None
local call = eval.call
local builtin, namespace = V.builtin, attrs.namespace

local asked = 0
-- How often a name space got a name from behind it.
function M.count() return asked end

-- The names that tables hold, and dt's operators, as the keys of a table.
local function names_behind(tables)
  local out = {}
  for _, place in ipairs(tables) do
    for name in pairs(place) do out[name] = true end
    for _, name in ipairs(place == dt and dt._op_names() or {}) do
      name = name:match("^aten%.(%a[%w_]*)$")
      if name then out[name] = true end
    end
  end
  return out
end

local anything = setmetatable({}, {__index = function () return true end})

-- A name space that asks the tables behind it, for the names in `has` alone.
local function space_within(has, own, ...)
  local behind = {...}
  return namespace(setmetatable(own, {__index = function (t, name)
    for _, place in ipairs(has[name] and behind or {}) do
      local v = place[name]
      if v == nil then v = place[name .. "_op"] end
      if v ~= nil then
        v = V.plain_of[v] or v
        rawset(t, name, v)
        attrs.name_function(v, name)
        asked = asked + 1
        return v
      end
    end
  end, __name = "module", has = has ~= anything and has or nil,
    names = function ()
      local out = names_behind(behind)
      for name in pairs(out) do out[name] = has[name] end
      return out
    end}))
end

local function space(own, ...) return space_within(anything, own, ...) end

-- ---- builtins ----

local builtins = require "python.builtins"
local B, class = builtins.names, builtins.class
V.dtypes[B.bool], V.dtypes[B.int] = dt.bool, dt.int64
V.dtypes[B.float], V.dtypes[B.complex] = dt.float64, dt.complex128
M.builtins = B
attrs.provide("builtins", attrs.namespace(setmetatable({}, {__index = B,
  __newindex = B, __name = "module", names = function () return B end})))

require "python.memoryview"
require "python.std"
require "python.std.types"
require "python.std.frames"

-- ---- torch ----

local nn, F = require "dt.nn", require "dt.functional"
local optim, styles = require "dt.optim", require "torch.style_class"
local parallel = setmetatable({}, {__index = function (_, name)
  return name ~= "of" and styles[name] or dt_parallel[name]
end})

M.F = space_within(pytorch_names["torch.nn.functional"],
  {logsigmoid = function (x) return dt.log_sigmoid(x) end}, F, dt)
-- torch.Tensor(2, 3): sizes; torch.Tensor([1, 2]): numbers, of the default
-- type; torch.Tensor(t): t.
local function new_tensor(a)
  local one, sizes = arrays.unwrap(a[1]), a
  if util.is_tensor(one) then
    return one == a[1] and one:detach() or one:to(dt.get_default_dtype())
  end
  if V.is_seq(one) then
    if not rawget(one, "is_size") then
      return dt.tensor(V.to_lua(one), {dtype = dt.get_default_dtype()})
    end
    sizes = one
  end
  local list = {}
  for i = 1, sizes.n do list[i] = sizes[i] end
  return dt.empty(#list > 0 and list or {0})
end

M.Tensor = args.class("Tensor", {__module__ = "torch",
  test = util.is_tensor, new = V.builtin(new_tensor, "Tensor")})
dtensor.DTensor.above, kinds.Parameter.above = M.Tensor, M.Tensor
kinds.size_class.above = B.tuple
attributes.of_classes(dtensor.DTensor, kinds.Parameter, M.Tensor)

-- torch.LongTensor([1, 2]): the same for one dtype.
local function add_typed_tensors(torch, class)
  for _, name in ipairs {"float32", "float64", "float16", "bfloat16", "int64",
      "int32", "int16", "int8", "uint8", "bool"} do
    local own, dtype = util.kind_word(dt[name]) .. "Tensor", dt[name]
    torch[own] = class(own, {__module__ = "torch", test = function (v)
      return util.is_tensor(v) and v.dtype == dtype
    end, new = V.builtin(function (a)
      return state.unseen(function () return new_tensor(a):to(dtype) end)
    end, own)})
  end
end

local function size_list(a, kw, f)
  local list = {}
  if a.n == 1 and V.is_seq(a[1]) then a = a[1] end
  for i = 1, a.n do list[i] = V.to_lua(a[i]) end
  local t = {}
  if kw then
    for k, v in V.each(kw) do t[k] = V.option(k, v) end
    if t.placements and not util.is_placement(t.placements[1]) then
      t.placements = nil
    end
  end
  return V.from_lua(f(list, t))
end

-- zeros(2, 3) and zeros((2, 3)).
local function sized(name, where)
  where = where or dt
  return builtin(function (a, kw)
    return size_list(a, kw, where[name])
  end, name)
end

-- A function that cuts a tensor in a tuple of parts: its arguments' names.
local function parts(name, tensor, size)
  return args.def(name, {tensor, size, "dim?"}, function (a)
    local list = call(attrs.get(a[tensor], name), V.list {a[size],
      a.dim == nil and 0 or a.dim})
    return V.is_list(list) and V.tuple(list, list.n) or list
  end)
end

M.optim = space({Optimizer = require("torch.optimizer_class").Optimizer},
  setmetatable({}, {__index = function (_, name)
    return name ~= "lr_scheduler" and optim[name] or nil
  end}))
local linalg_error = require("python.exceptions").classes._LinAlgError
-- torch.linalg.norm is dt.linalg_norm; `own`: what is no operator.
local function family(prefix, own)
  return namespace(setmetatable(own or {}, {__index = function (t, name)
    local v = dt[prefix .. name]
    rawset(t, name, v)
    return v
  end, __name = "module"}))
end

-- The names of `from torch.nn.attention import`.
local attention = space({}, require "dt.functional.sdpa")

-- no_grad() as a scope of Python: it holds from where it is entered, again
-- and again; @no_grad and @no_grad() hold in each call of the function.
local function stage(name)
  return builtin(function (a, kw)
    local f = scope[name]
    local open = {}
    local s = namespace {
      __enter__ = function (s)
        open[#open + 1] = call(f, a, kw)
        return s
      end,
      __exit__ = function ()
        managers.leave(table.remove(open))
        return false
      end,
    }
    if getmetatable(a[1]) ~= V.func_mt then return s end
    local decorated = a[1]
    a = V.list({}, 0)
    return call(s, V.list {decorated})
  end, name)
end

-- set_grad_enabled(on) holds at once, and ends with its scope, if it is one.
local function switch(name)
  return builtin(function (a, kw)
    return call(scope[name], a, kw)
  end, name)
end

M.torch = space_within(pytorch_names.torch, {
  Tensor = M.Tensor, zeros = sized "zeros", ones = sized "ones",
  empty = sized "empty", rand = sized "rand", randn = sized "randn",
  float = dt.float32, double = dt.float64, long = dt.int64, half = dt.float16,
  int = dt.int32, short = dt.int16, inf = math.huge,
  pi = math.pi, e = math.exp(1), newaxis = dt.None,
  linalg = family("linalg_", {LinAlgError = linalg_error}),
  _C = namespace {_LinAlgError = linalg_error,
    _log_api_usage_once = builtin(function () return dt.None end,
      "_log_api_usage_once")}, fft = family "fft_",
  return_types = namespace(structseq.names),
  special = family "special_", optim = M.optim, no_grad = stage "no_grad",
  enable_grad = stage "enable_grad",
  split = parts("split", "tensor", "split_size_or_sections"),
  chunk = parts("chunk", "input", "chunks"),
  Size = kinds.size_class, manual_seed = dt.manual_seed,
  set_grad_enabled = switch "set_grad_enabled",
  inference_mode = stage "inference_mode",
  is_tensor = util.is_tensor, device = kinds.device_class,
  dtype = kinds.dtype_class,
  strided = tensors.strided, sparse_coo = tensors.sparse_coo,
  sparse_csr = tensors.sparse_csr, save = stdlib.save, load = stdlib.load,
}, dt, F)
add_typed_tensors(M.torch, args.class)
for _, name in ipairs {"layout", "memory_format"} do
  M.torch[name] = args.class(name, {__module__ = "torch",
    test = function (v) return V.type_name(v) == "torch." .. name end})
  attrs.name_kind("torch." .. name, M.torch[name])
end

for name, f in pairs(tensors.functions) do
  if pytorch_names.torch[name] then M.torch[name] = f end
end
for name, f in pairs(accelerator.formats) do M.torch[name] = f end
M.torch.accelerator = accelerator.accelerator
for _, name in ipairs {"qint8", "quint8", "qint32"} do
  M.torch[name] = namespace {__name__ = name}
end

M.nn = space({functional = M.F, Module = nnm.Module, attention = attention,
  Parameter = kinds.Parameter, init = signatures.init}, nn)
M.torch.nn = M.nn
-- Classes alone: torch.nn.modules.utils is not torch.nn.utils.
local nn_classes = setmetatable({}, {__index = function (_, name)
  return name:find("^%u") and M.nn[name] or nil
end})
M.nn.modules = space({}, nn_classes)
for _, file in ipairs(kinds.module_files) do
  M.nn.modules[file] = space(file == "module" and module_hooks.for_all or {},
    nn_classes)
end
attrs.provide("torch.nn.modules", M.nn.modules)
attrs.provide("torch.nn.init", space(M.nn.init, nn.init))
M.nn.utils = space(signatures.utils, nn.utils)
M.nn.parallel = space({}, nn.parallel)
attrs.provide("torch.nn.parallel", M.nn.parallel)
M.torch.testing = space({}, dt.testing)
attrs.provide("torch.testing", M.torch.testing)
local collective = require "torch.collective"
M.dist = space(collective, require "dt.distributed")
M.aten = space({__name__ = "torch.ops.aten", shown =
  "<module 'torch.ops.aten' from 'torch.ops'>"}, dt.ops.aten)
M.torch.ops = space({__name__ = "torch.ops", shown =
  "<module 'torch.ops' from '_ops.py'>", aten = M.aten, c10d = collective.c10d,
  c10d_functional = collective.c10d_functional,
  _c10d_functional = collective._c10d_functional}, dt.ops)
M.torch._ops = overloads.module
attrs.provide("torch._ops", overloads.module)
M.torch.distributed = M.dist
M.dist.distributed_c10d = M.dist

-- A plan keeps its order.
local function plan_of(v)
  if not V.is_dict(v) then
    return v == None and dt.None or styles.of(v) or V.to_lua(v)
  end
  local list = {}
  for k, item in V.each(v) do list[#list + 1] = {k, plan_of(item)} end
  return list
end
M.plan_of = plan_of

M.parallelize_module = builtin(function (a, kw)
  local t = {}
  for k, v in V.each(kw or V.dict()) do t[k] = v end
  local plan = a[3] or t.parallelize_plan
  if V.is_list(plan) then
    util.raise("TypeError", "Expect Union[ParallelStyle, Dict[str, "
      .. "ParallelStyle]] for parallelize_plan, <class 'list'> found!")
  end
  local mesh = a[2] or t.device_mesh
  return parallel.parallelize_module(a[1] or t.module,
    mesh ~= None and mesh or nil,
    plan_of(plan or None), {src_data_rank = t.src_data_rank})
end, "parallelize_module")

M.FSDPModule = namespace {__name__ = "FSDPModule", instance = function (m)
  return m._attrs._fsdp_state ~= nil
end}
for name, f in pairs(dt.FSDPModule) do
  M.FSDPModule[name] = f
  attrs.name_function(f, name)
end

-- Where `from x import name` finds what has no module of its own here.
local flat = {
  parallelize_module = M.parallelize_module, FSDPModule = M.FSDPModule,
  clip_grad_norm_ = signatures.utils.clip_grad_norm_,
}
for _, name in ipairs {"DTensor", "Shard", "Replicate", "Partial",
  "_StridedShard", "_MaskPartial", "Placement", "DeviceMesh", "distribute_tensor",
  "distribute_module", "init_device_mesh", "DTensorSpec"} do
  flat[name] = dtensor[name]
end
flat._Partial = dtensor.Partial
for name, one in pairs(styles) do
  if name ~= "of" then flat[name] = one end
end
M.flat = flat

-- torch.distributed.tensor
M.tensor = space_within(pytorch_names["torch.distributed.tensor"], dtensor,
  parallel, dt)
M.dist.tensor, M.dist._tensor = M.tensor, M.tensor
M.dist.device_mesh = require("torch.mesh").module
M.dist.init_device_mesh = dtensor.init_device_mesh
M.dist.DeviceMesh = dtensor.DeviceMesh
attrs.provide("torch.distributed.tensor", M.tensor)

-- anywhere(name, module): what is called so somewhere in torch: names move
-- between its modules from release to release.  In a `module` of another
-- package it is something else.
attrs.anywhere = function (name, module)
  if module and not module:find("^torch%f[.%z]") then return nil end
  if flat[name] ~= nil then return flat[name] end
  for _, place in ipairs {dt, parallel, nn, F} do
    local ok, v = pcall(function () return place[name] end)
    if ok and v ~= nil then
      attrs.name_function(v, name)
      return v
    end
  end
end

-- Gradients come as a tuple, and so does what a Function's ctx holds, in which
-- what is not there is None.
function dt.autograd._packed(list, n)
  for i = 1, n or #list do
    if list[i] == nil then list[i] = dt.None end
  end
  return V.tuple(list, n)
end
dt.autograd._pack_call = V.pack_call
-- forward is given what the program gave apply.
local extend_function = dt.autograd.Function.extend
function dt.autograd.Function:extend(name)
  local class = extend_function(self, name)
  calls.leave_arguments(class.apply)
  return class
end
-- What follows the outputs and inputs of grad, by position.
local GRAD_ARGUMENTS <const> = {"grad_outputs", "retain_graph", "create_graph",
  "only_inputs", "allow_unused"}

-- The arguments with tensors in the place of edges of the graph, which the first
-- `names` hold, and those by position.
local function without_edges(a, kw, ...)
  a = V.list({table.unpack(a, 1, a.n)}, a.n)
  local left = V.dict()
  if kw then for k, v in V.each(kw) do V.dict_set(left, k, v) end end
  for i, name in ipairs {...} do
    local v = a[i]
    if i == a.n + 1 and V.dict_get(left, name) ~= nil then
      v, a.n = V.dict_get(left, name), i
      V.dict_remove(left, name)
    end
    a[i] = node.tensors_of(v)
  end
  return a, kw and left
end

local function name_grad_arguments(a, kw)
  a, kw = without_edges(a, kw, "outputs", "inputs")
  if a.n <= 2 then return a, kw end
  local named = V.dict()
  for i, name in ipairs(GRAD_ARGUMENTS) do
    if a[i + 2] ~= nil then V.dict_set(named, name, a[i + 2]) end
  end
  if kw then for k, v in V.each(kw) do V.dict_set(named, k, v) end end
  return V.list({a[1], a[2]}, 2), named
end

M.torch.autograd = space({grad = builtin(function (a, kw)
    local list = call(dt.autograd.grad, name_grad_arguments(a, kw))
    return V.is_list(list) and V.tuple(list, list.n) or list
  end, "grad"),
  backward = builtin(function (a, kw)
    return call(dt.autograd.backward, without_edges(a, kw, "tensors"))
  end, "backward"),
  no_grad = stage "no_grad", enable_grad = stage "enable_grad",
  Variable = kinds.Variable,
  set_grad_enabled = switch "set_grad_enabled"}, dt.autograd)
attrs.provide("torch.autograd", M.torch.autograd)
attrs.provide("torch.autograd.function", space({
  once_differentiable = once}, dt.autograd))

M.torch.library = space(require "torch.library", dt.library)

-- What an exchange gives is such a tensor; wait() of one with a gradient is a
-- view of it, which the way back knows nothing of; the operator wait_tensor
-- gives the tensor itself.
local waited = require("dt.autograd").Function:extend(
  "GeneratedBackwardFor__c10d_functional_wait_tensor_default")
function waited.forward(_, t) return t:view(t.shape) end
function waited.backward(_, g) return g end
local function is_async(v)
  return util.is_tensor(v) and dt._own_attr(v, "_async") == true
end
local function wait(t)
  if t.requires_grad then return waited.apply(t) end
  t._waited = true
  return t
end
attributes.tensor_method.wait = function (t)
  if not is_async(t) then
    util.raise("AttributeError", "'Tensor' object has no attribute 'wait'")
  end
  return wait(t)
end
-- Since 2.15: the results of a collective of several tensors.
local function wait_tensors(a)
  local list = a[1]
  if list == nil or list.n == 0 then
    util.raise("RuntimeError", "wait_tensors requires at least one tensor")
  end
  local out = {}
  for i = 1, list.n do out[i] = is_async(list[i]) and wait(list[i]) or list[i] end
  return V.list(out, list.n)
end
M.funcol = space({AsyncCollectiveTensor = args.class("AsyncCollectiveTensor",
  {__module__ = "torch.distributed._functional_collectives", test = is_async}),
  wait_tensor = builtin(function (a, kw)
    local t = call(collective.functional.wait_tensor, a, kw)
    return is_async(t) and wait(t) or t
  end, "wait_tensor"),
  wait_tensors = dt._switch("EXTREMA_BACKWARD") ~= 0
    and builtin(wait_tensors, "wait_tensors") or nil},
  collective.functional,
  distributed.functional)
-- type() of one that nobody has waited for; to print it is to wait for it.
local function is_on_the_way(t)
  return is_async(t) and dt._own_attr(t, "_waited") ~= true
end
kinds.set_async(function (t)
  return is_on_the_way(t) and M.funcol.AsyncCollectiveTensor
end)
local tensor_text = V.tensor_text
function V.tensor_text(t)
  local text = tensor_text(t)
  if not is_on_the_way(t) then return text end
  return ("AsyncCollectiveTensor(%s)"):format((text:gsub(
    "_wrap_tensor_autograd_defaultBackward", "wait_tensor_defaultBackward")))
end
attrs.provide("torch.distributed._functional_collectives", M.funcol)
attrs.provide("torch.distributed.distributed_c10d", M.dist)
attrs.brings("torch.distributed.tensor",
  {"torch.distributed._functional_collectives"})
for _, name in ipairs {"fsdp", "checkpoint", "pipelining"} do
  attrs.brings("torch.distributed." .. name, {"torch.distributed.tensor"})
end
attrs.provide("torch.distributed._composable.replicate_with_fsdp",
  space({replicate = fsdp.replicate}))
attrs.provide("torch.distributed._composable.replicate",
  space({replicate = nn_parallel.replicate}))

attrs.provide("torchao.float8", space({}, require "dt.float8"))
attrs.provide("torchao.float8.float8_tensor_parallel", space({},
  float8_parallel))
attrs.provide("torchao", namespace {__version__ = "0.18.0"})

M.cpa = space({}, require "dt.cp")
-- context_parallel puts a function of its own into dt's F: what F has read from
-- there before is looked up again, as an attribute of a module is.
require("dt.cp").on_replace(function (name) rawset(M.F, name, nil) end)
M.cpa._cp_options = namespace(M.cpa._cp_options or require("dt.cp").options)

for _, path in ipairs {"_attention", "_context_parallel._attention",
  "_context_parallel"} do
  attrs.provide("torch.distributed.tensor.experimental." .. path, M.cpa)
end
flat.register_sharding = require("torch.sharding").register_sharding
attrs.provide("torch.distributed.tensor.parallel", space({
  parallelize_module = M.parallelize_module, loss_parallel = dt.loss_parallel},
  parallel))
require "torch.placement_moves"
require "torch.debugging"
require "torch.testing"
require "torch.notes"
require "torch.local_tensor"
require "torch.common"
require "torch.spmd"
require("torch.spmd.raw").provide(M.dist)
require("torch.spmd.functional").provide(collective.functional)
require("torch.spmd.watch").set_spaces(function ()
  return {{M.torch, "torch.", ""}, {M.F, "F.", ""},
    {{grad = M.torch.autograd.grad}, "autograd.", ""},
    {M.torch.linalg, "torch.", "linalg_"}, {M.torch.fft, "torch.", "fft_"},
    {M.torch.special, "torch.", "special_"}}
end, M.count)
require "torch.spmd.local_map"
attrs.provide("torch._C", M.torch._C)
M.torch.autograd.profiler = attrs.module "torch.autograd.profiler"
M.torch.profiler = attrs.module "torch.profiler"
require "torch.containers"
M.torch.utils = namespace {data = require "torch.data"}
for name, m in pairs {torch = M.torch, ["torch.nn"] = M.nn, ["torch.nn.functional"] = M.F,
  ["torch.optim"] = M.optim, ["torch.distributed"] = M.dist} do
  attrs.provide(name, m)
end

require("torch.functions").provide(M.torch)
require("torch.removed").provide(M.torch)
require("torch.more").provide(M.torch)
arrays.provide(M.torch)
require("torch.functorch").provide(M.torch)

-- The name of a module that `from module import *` asked for.
local function asked_of(asked, name)
  if type(name) ~= "string" or name:find("^_") then return nil end
  for _, module in ipairs(asked) do
    local ok, v = pcall(attrs.member, module, name)
    if ok then return v end
  end
end

-- environment([tell]): a fresh environment with everything a program may name
-- without import; tell(name) hears of each name that Python would not find, once
-- unless it says false.
function M.environment(tell)
  dt._set_warn_random(true)             -- a Python program is told as there
  local asked, told = {}, {}
  local vars = env_of.module_vars(function (_, name)
    local v = B[name]
    if v == nil then v = asked_of(asked, name) end
    if v ~= nil then return v end
    v = rawget(M, name)
    if name == "flat" or name == "environment" then v = nil end
    if name == "math" then v = attrs.module "math" end     -- read by who names it
    if v == nil then v = attrs.anywhere(name) end
    if v ~= nil and tell and not told[name] then
      told[name] = tell(name) ~= false
    end
    return v
  end, {asked = asked})
  return {vars = vars}
end

return M

-- SPDX-License-Identifier: MIT
-- torch/kinds.lua: what type(v) is: one object per class, so that
-- type(x) is DTensor holds, with the module that PyTorch's class is in
-- (print shows it); and torch.device, which is no text in Python.

local dt = require "dt"
local util = require "dt.util"
local V = require "python.values"
local attrs = require "python.attrs"
local foreign = require "python.foreign"
local attributes = require "torch.attributes"
local spaces = require "torch.spaces"
local overloads = require "torch.overloads"
local create = require "dt.tensor.create"
local nnm = require "dt.nn.module"
local args = require "python.args"
local nn = require "dt.nn"

local M = {}
local None = dt.None

-- ---- modules of classes ----

-- A line: a file of torch.nn.modules, then its classes; a class that is named
-- by its ending is in the second list.
local FILES = [[
linear Linear Bilinear Identity LazyLinear
sparse Embedding EmbeddingBag
flatten Flatten Unflatten
fold Fold Unfold
normalization LayerNorm RMSNorm GroupNorm LocalResponseNorm
container Sequential ModuleList ModuleDict ParameterList ParameterDict
distance CosineSimilarity PairwiseDistance
module Module
pixelshuffle PixelShuffle PixelUnshuffle
rnn RNN LSTM GRU RNNCell LSTMCell GRUCell RNNBase
upsampling Upsample
]]
local ENDINGS = {{"Loss$", "loss"}, {"Dropout%d?d?$", "dropout"},
  {"^BatchNorm", "batchnorm"}, {"^SyncBatchNorm", "batchnorm"},
  {"^InstanceNorm", "instancenorm"}, {"^Conv", "conv"},
  {"Pool%dd$", "pooling"}, {"Pad%dd$", "padding"},
  {"^Transformer", "transformer"}}
local file_of = {}
-- Files that hold nothing but classes of torch.nn; pylib has the others.
M.module_files = {"activation", "transformer"}
for line in FILES:gmatch("[^\n]+") do
  local file
  if line:match("%S+") ~= "rnn" then
    table.insert(M.module_files, line:match("%S+"))
  end
  for word in line:gmatch("%S+") do
    if not file then file = word else file_of[word] = file end
  end
end

-- The module of a class of torch.nn, or of a library's that is one here.
function V.module_of(class)
  local own = rawget(class, "__module__")
  if own then return own end
  local name = rawget(class, "__name")
  local file = file_of[name]
  for _, e in ipairs(ENDINGS) do
    if not file and name:find(e[1]) then file = e[2] end
  end
  return "torch.nn.modules." .. (file or "activation")
end

-- ---- torch.device ----

-- Programs for cuda run here as they are.  Where `M.cpu_only` is set, a
-- device that PyTorch for the CPU does not have is refused as there.
M.cpu_only = false

local known_devices = "cpu, cuda, ipu, xpu, mkldnn, opengl, opencl, ideep, "
  .. "hip, ve, fpga, maia, xla, lazy, vulkan, mps, meta, hpu, mtia, "
  .. "privateuseone"

function M.check_device(v)
  if type(v) ~= "string" then return end
  local kind = v:match("^%a+")
  if not (", " .. known_devices .. ","):find(", " .. (kind or v) .. ",", 1,
    true) then
    util.raise("RuntimeError", "Expected one of %s device type at start of "
      .. "device string: %s", known_devices, v)
  elseif M.cpu_only and kind == "cuda" then
    if dt._switch("BUILT_WITH_CUDA") == 0 then
      util.raise("AssertionError", "Torch not compiled with CUDA enabled")
    end
    util.raise("RuntimeError", "Found no NVIDIA driver on your system. Please "
      .. "check that you have an NVIDIA GPU and installed a driver from "
      .. "http://www.nvidia.com/Download/index.aspx")
  elseif M.cpu_only and kind == "xla" then
    util.raise("RuntimeError", "PyTorch is not linked with support for xla "
      .. "devices")
  end
end

-- m.cuda(): where device="cuda" is one of the profile's, which holds no more
-- than the CPU.
function attributes.of_module.cuda(m)
  M.check_device("cuda")
  return m
end

local device_mt = {__name = "torch.device"}
device_mt.__tostring = function (d)
  return d.index == None and d.type or d.type .. ":" .. d.index
end
device_mt.__eq = function (a, b) return tostring(a) == tostring(b) end

device_mt.hash = function (d, hash) return hash(tostring(d)) end

function V.is_device(v) return getmetatable(v) == device_mt end

-- device(text): the device that a text of the engine's names.
function M.device(text)
  local kind, index = text:match("^([%w_]+):?(%d*)$")
  local d = {type = kind or text, index = math.tointeger(tonumber(index or ""))
    or None}
  d.shown = d.index == None and ("device(type='%s')"):format(d.type)
    or ("device(type='%s', index=%d)"):format(d.type, d.index)
  return setmetatable(d, device_mt)
end

local function new_device(a, kw)
  local kind = a[1]
  if kind == nil and kw then
    kind = V.dict_get(kw, "type") or V.dict_get(kw, "device")
  end
  local index = a[2] or kw and V.dict_get(kw, "index")
  if V.is_device(kind) then return kind end
  if math.type(kind) == "integer" then return M.device("cuda:" .. kind) end
  if type(kind) ~= "string" then
    util.raise("TypeError", "device(): argument 'type' (position 1) must be "
      .. "str, not %s", V.type_name(kind or None))
  end
  M.check_device(kind)
  if index and index ~= None then kind = kind .. ":" .. index end
  if not kind:find("^%a+$") and not kind:find("^%a+:%d+$") then
    util.raise("RuntimeError", "Invalid device string: '%s'", kind)
  end
  return M.device(kind)
end

M.device_class = args.class("device", {__module__ = "torch",
  test = V.is_device, new = V.builtin(new_device, "device")})

M.dtype_class = args.class("dtype", {__module__ = "torch",
  test = util.is_dtype, new = V.builtin(function ()
    util.raise("TypeError", "cannot create 'torch.dtype' instances")
  end, "dtype")})

local function is_size(v) return V.is_tuple(v) and rawget(v, "is_size") == true end
M.size_class = args.class("Size", {__module__ = "torch", test = is_size,
  new = V.builtin(function (a)
    local items, n = V.items(a[1] or V.tuple {})
    local sizes = {}
    for i = 1, n do
      sizes[i] = V.index_of(items[i])
      if math.type(sizes[i]) ~= "integer" and type(sizes[i]) ~= "boolean" then
        util.raise("TypeError", "torch.Size() takes an iterable of 'int' (item "
          .. "%d is '%s')", i - 1, V.type_name(items[i]))
      end
    end
    return V.size(sizes)
  end, "Size")})

attributes.of_tensor.device = function (t) return M.device(t.device) end

-- ---- type(v) ----

M.Parameter = args.class("Parameter", {__module__ = "torch.nn.parameter",
  test = function (v) return util.is_tensor(v) and v.is_parameter end,
  new = V.builtin(function (a, kw)
    local data = a[1] or kw and V.dict_get(kw, "data")
    local needs = a[2]
    if needs == nil and kw then needs = V.dict_get(kw, "requires_grad") end
    if data == nil then data = dt.empty(0) end
    return nn.Parameter(data, needs == nil or V.truth(needs))
  end, "Parameter")})

-- Variable(t): what tensors that have gradients once were.
M.Variable = args.class("Variable", {__module__ = "torch.autograd.variable",
  test = util.is_tensor,
  new = V.builtin(function (a, kw)
    local data, needs = a[1], a[2]
    if data == nil and kw then data = V.dict_get(kw, "data") end
    if needs == nil and kw then needs = V.dict_get(kw, "requires_grad") end
    if not util.is_tensor(data) then
      util.raise("TypeError", "Variable data has to be a tensor, but got %s",
        V.type_name(data))
    end
    return data:detach():requires_grad_(needs ~= nil and V.truth(needs))
  end, "Variable")})

local made = {}                     -- classes that only type() names
local MODULE = {
  ProcessGroup = "torch.distributed.distributed_c10d",
  Work = "torch.distributed.distributed_c10d"}
-- What Python calls a value whose class has no other name here.
local function plain(v)
  local name = V.type_name(v)
  if getmetatable(v) == V.builtin_mt then
    name = (rawget(v, "__qualname__") or rawget(v, "test")) and "type"
      or "builtin_function_or_method"
  end
  if type(v) == "function" then name = "builtin_function_or_method" end
  if type(v) == "table" and (rawget(v, "__base") or rawget(v, "test")) then
    name = "type"
  end
  name = name:gsub("^torch%.", ""):gsub("^dt%.", "")
  made[name] = made[name] or attrs.namespace {__name__ = name,
    __module__ = MODULE[name]}
  return made[name]
end

-- set_async(f): f(t) is the class of a tensor that is being exchanged, or nil.
local async_class
function M.set_async(f) async_class = f end

-- Classes by their names: DTensor, DeviceMesh, Shard; dtensor.lua fills it.
M.classes = {}

-- The class of a value that is no instance of a class of the program's.
function M.class_of(v)
  if util.is_tensor(v) then
    if v.is_dtensor then return M.classes.DTensor end
    local async = async_class(v)
    if async then return async end
    return v.is_parameter and M.Parameter or spaces.Tensor
  elseif util.is_mesh(v) then
    return M.classes.DeviceMesh
  elseif util.is_placement(v) then
    return M.classes[v:repr():match("^[%w_]+")] or plain(v)
  elseif V.is_device(v) then
    return M.device_class
  elseif util.is_dtype(v) then
    return M.dtype_class
  elseif is_size(v) then
    return M.size_class
  elseif type(v) == "table" and rawget(v, "param_groups")
     and rawget(v, "class") then
    return v.class                      -- an optimizer's
  elseif type(v) == "table" and rawget(v, "data_class") then
    return v.data_class
  elseif V.is_tuple(v) and rawget(v, "record") then
    return v.record
  end
  return overloads.class_of(v) or plain(v)
end

-- torch.device("meta") as a scope.
foreign.register {is = V.is_device,
  enter = function (v) return create.enter_device(tostring(v)) end,
  leave = create.leave_device}

-- An instance of a class of the program below one of the library's.
local function bare(class)
  local v = nnm.Module.__new(setmetatable({__init__ = false},
    {__index = class}))
  rawset(v, "_class", class)
  return v
end

foreign.set_classes(M.class_of, bare, nnm.Module)

return M

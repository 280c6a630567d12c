-- SPDX-License-Identifier: MIT
-- torch/more.lua: names of torch whose Python functions do more than
-- call an operator, what tensors say of themselves, methods called through the
-- class, and settings of a process that change nothing here.

local dt = require "dt"
local util = require "dt.util"
local V = require "python.values"
local arrays = require "torch.arrays"
local attrs = require "python.attrs"
local attributes = require "torch.attributes"
local args = require "python.args"
local builtin_names = require "python.builtin_names"
local dunder = require "python.dunder"
local functional = require "dt.functional"
local functions_only = require "torch.functions_only"

local M = {}
local None, builtin = dt.None, V.builtin
local of_tensor, method = attributes.of_tensor, attributes.tensor_method
local def, given = args.def, args.given

-- ---- what tensors say of themselves ----

local function kind_of(t) return tostring(t.dtype):match("%.(.*)$") end

local asks = {
  is_complex = function (t) return kind_of(t):find("complex", 1, true) ~= nil end,
  is_floating_point = function (t) return t:is_floating_point() end,
  is_signed = function (t)
    local kind = kind_of(t)
    return kind ~= "bool" and kind:sub(1, 4) ~= "uint"
  end,
  is_inference = function (t) return t._inference end,
  is_distributed = function () return false end,
  is_conj = function (t) return t:is_conj() end,
  is_neg = function (t) return t:is_neg() end,
  numel = function (t) return t:numel() end,
  get_device = function () return -1 end,
}
local only_methods = {
  is_coalesced = function (t)
    if t.is_dtensor then return false end
    util.raise("RuntimeError", "is_coalesced expected sparse coordinate tensor "
      .. "layout but got Strided")
  end,
  cfloat = function (t) return t:to(dt.complex64) end,
  cdouble = function (t) return t:to(dt.complex128) end,
  share_memory_ = function (t) return t end,
}
for name, f in pairs(asks) do method[name] = function (t) return f(t) end end
for name, f in pairs(only_methods) do method[name] = f end

for _, name in ipairs {"is_ipu", "is_maia", "is_mkldnn", "is_mps", "is_mtia",
  "is_nested", "is_sparse_csr", "is_vulkan", "is_xla", "is_xpu"} do
  of_tensor[name] = function () return false end
end
of_tensor.is_cpu = function (t) return t.device == "cpu" end
of_tensor._base = function (t) return dt._view_base(t) or None end
function method._is_view(t) return dt._view_base(t) ~= nil end
of_tensor.output_nr = function () return 0 end
-- t.new(2, 3), t.new([1., 2.]): of t's type.
function method.new(t, a)
  if a.n == 1 and V.is_seq(a[1]) and not rawget(a[1], "is_size") then
    return dt.tensor(V.to_lua(a[1]), {dtype = t.dtype})
  end
  local sizes = a.n == 1 and V.is_seq(a[1]) and a[1] or a
  local list = {}
  for i = 1, sizes.n do list[i] = sizes[i] end
  return t:new_empty(#list > 0 and list or {0})
end

-- ---- torch ----

local F = {}

for name, f in pairs(asks) do
  F[name] = def(name, {"input"}, function (a)
    if not util.is_tensor(a.input) then
      util.raise("TypeError", "%s(): argument 'input' (position 1) must be "
        .. "Tensor, not %s", name, V.type_name(a.input))
    end
    return f(a.input)
  end)
end

local function options(a)
  local t = {}
  for _, name in ipairs {"dtype", "device", "requires_grad"} do
    if given(a[name]) then t[name] = a[name] end
  end
  return t
end

F.asarray = def("asarray", {"obj", "*", "dtype?", "device?", "copy?",
  "requires_grad?"}, function (a)
    local t = a.obj
    if not util.is_tensor(t) then return dt.tensor(V.to_lua(t), options(a)) end
    if given(a.dtype) and a.dtype ~= t.dtype then t = t:to(a.dtype) end
    if a.copy == true and t == a.obj then t = t:clone() end
    return t
  end)

-- range(start, end, step): to the end itself; its numbers are computed as doubles.
local RANGE <const> = "torch.range is deprecated and will be removed in a future "
  .. "release because its behavior is inconsistent with Python's range builtin. "
  .. "Instead, use torch.arange, which produces values in [start, end)."
F.range = def("range", {"start", "end", "step?", "*", "out?", "dtype?", "layout?",
  "device?", "requires_grad?"}, function (a)
    dt._warn(RANGE)
    if given(a.out) then util.refuse("torch.range(out=) is not part of dtrepl") end
    local first, last, step = V.to_lua(a.start), V.to_lua(a["end"]), a.step or 1
    if step == 0 then util.raise("RuntimeError", "step must be nonzero") end
    if (last - first) * step < 0 then
      util.raise("RuntimeError",
        "upper bound and lower bound inconsistent with step sign")
    end
    local n = (last - first) // step + 1
    local t = dt.arange(0, n, 1, {dtype = dt.float64}) * step + first
    t = t:to(given(a.dtype) and a.dtype or dt.get_default_dtype())
    if a.requires_grad then t.requires_grad = true end
    return t
  end)

F.from_numpy = def("from_numpy", {"ndarray"}, function (a)
  local t = arrays.tensor_of(a.ndarray)
  if not t then
    util.raise("TypeError", "expected np.ndarray (got %s)",
      V.type_name(a.ndarray))
  end
  return t:detach()
end)

-- The bytes are copied: what is written into either is not seen in the other.
F.frombuffer = def("frombuffer", {"buffer", "*", "dtype", "count?", "offset?",
  "requires_grad?"}, function (a)
    local buffer, kind = a.buffer, V.type_name(a.buffer)
    if kind == "memoryview" or kind == "array" then
      buffer = V.call(builtin_names.bytes, V.list({buffer}, 1))
    end
    if not V.is_bytes(buffer) then
      util.raise("ValueError", "object does not implement Python buffer protocol.")
    end
    local text = buffer.s
    local size, from = dt.empty(0, {dtype = a.dtype}):element_size(), a.offset or 0
    local n = a.count or -1
    if #text == 0 or n == 0 then
      util.raise("ValueError", "both buffer length (%d) and count (%d) must not be "
        .. "0", #text, n)
    elseif from < 0 or from >= #text then
      util.raise("ValueError", "offset (%d bytes) must be non-negative and no "
        .. "greater than buffer length (%d bytes) minus 1", from, #text)
    elseif n < 0 and (#text - from) % size ~= 0 then
      util.raise("ValueError", "buffer length (%d bytes) after offset (%d bytes) "
        .. "must be a multiple of element size (%d)", #text - from, from, size)
    end
    n = n < 0 and (#text - from) // size or n
    if from + n * size > #text then
      util.raise("ValueError", "requested buffer length (%d * %d bytes) after "
        .. "offset (%d bytes) must not be greater than actual buffer length (%d "
        .. "bytes)", n, size, from, #text)
    end
    local t = dt._from_bytes(text, a.dtype, {n}, from)
    if a.requires_grad then t.requires_grad = true end
    return t
  end)

F.typename = def("typename", {"obj"}, function (a)
  local t = a.obj
  if util.is_tensor(t) then
    return t.is_dtensor and "torch.distributed.tensor.DTensor"
      or method.type(t, V.list({}, 0))
  end
  return V.type_name(t)
end)

-- How distances are computed: by a matrix product where there are many, always,
-- never.
local WAYS = {use_mm_for_euclid_dist_if_necessary = 0,
  use_mm_for_euclid_dist = 1, donot_use_mm_for_euclid_dist = 2}
F.cdist = def("cdist", {"x1", "x2", "p?", "compute_mode?"}, function (a)
  local mode = a.compute_mode
  if mode == nil then mode = "use_mm_for_euclid_dist_if_necessary" end
  if WAYS[mode] == nil then
    util.raise("ValueError", "%s is not a valid value for compute_mode",
      V.str(mode))
  end
  return dt.cdist(a.x1, a.x2, a.p or 2.0, WAYS[mode])
end)

-- Transforms of pieces begin half a piece before the signal.
F.stft = def("stft", {"input", "n_fft", "hop_length?", "win_length?",
  "window?", "center?", "pad_mode?", "normalized?", "onesided?",
  "return_complex?", "align_to_window?"}, function (a)
    local x = a.input
    local function or_none(v) return v == nil and None or v end
    if a.center ~= false then
      if given(a.align_to_window) then
        util.raise("RuntimeError", "stft only supports align_to_window for "
          .. "center = False.")
      end
      local pad, shape = a.n_fft // 2, {1, 1}
      for d = 1, x.ndim do shape[math.max(3 - x.ndim, 0) + d] = x.shape[d] end
      local wide = functional.pad(x:view(shape), {pad, pad},
        a.pad_mode or "reflect")
      local back = {}
      for d = x.ndim, 1, -1 do back[d] = wide.shape[wide.ndim - x.ndim + d] end
      x = wide:view(back)
    end
    return dt.ops.aten.stft.default(x, a.n_fft, or_none(a.hop_length),
      or_none(a.win_length), or_none(a.window), a.normalized or false,
      or_none(a.onesided), or_none(a.return_complex),
      or_none(a.align_to_window))
  end)
method.stft = function (t, a, kw)
  return V.call(F.stft, V.list({t, table.unpack(a, 1, a.n)}, a.n + 1), kw)
end

-- ---- settings ----

local function setting(get, set, value, check)
  F[get] = def(get, {}, function () return value end)
  F[set] = def(set, {"value"}, function (a)
    value = check and check(a.value) or a.value
    return None
  end)
end

setting("get_float32_matmul_precision", "set_float32_matmul_precision",
  "highest")
setting("get_num_threads", "set_num_threads", 1)
setting("get_num_interop_threads", "set_num_interop_threads", 1)
setting("get_default_device", "set_default_device", "cpu")
setting("is_warn_always_enabled", "set_warn_always", false)

local deterministic, warn_only = false, false
F.use_deterministic_algorithms = def("use_deterministic_algorithms", {"mode",
  "*", "warn_only?"}, function (a)
    deterministic, warn_only = a.mode, a.warn_only or false
    return None
  end)
F.are_deterministic_algorithms_enabled = def(
  "are_deterministic_algorithms_enabled", {}, function ()
    return deterministic
  end)
F.is_inference_mode_enabled = def("is_inference_mode_enabled", {}, function ()
  return dt._set_inference()
end)
F.is_deterministic_algorithms_warn_only_enabled = def(
  "is_deterministic_algorithms_warn_only_enabled", {}, function ()
    return warn_only
  end)

-- ---- torch.fft ----

local function frequencies(name, upto)
  return def(name, {"n", "d?", "*", "out?", "dtype?", "layout?", "device?",
    "requires_grad?"}, function (a)
      local o, n = options(a), a.n
      if n <= 0 then
        util.raise("RuntimeError", "%s expected a positive n, but got %d", name,
          n)
      end
      o.dtype = o.dtype or dt.get_default_dtype()
      return upto(n, o) * (1 / (n * (a.d or 1)))
    end)
end
local fft = {
  rfftfreq = frequencies("rfftfreq", function (n, o)
    return dt.arange(0, n // 2 + 1, 1, o)
  end),
  fftfreq = frequencies("fftfreq", function (n, o)
    local half = (n + 1) // 2
    return dt.cat({dt.arange(0, half, 1, o), dt.arange(-(n // 2), 0, 1, o)})
  end),
}

-- ---- methods called through the class: torch.Tensor.add(x, y) ----

local function has_method(name)
  if method[name] ~= nil then return true end
  if functions_only[name] then return false end
  if dunder.has("tensor", name) then return true end
  return dt._find(name) ~= nil or type(name) == "string" and name:sub(1, 1) ~= "_"
    and dt.Tensor[name] ~= nil
end

local made = {}                     -- by name: a method is one object

local function new_unbound(name)
  return builtin(function (a, kw)
    if not util.is_tensor(a[1]) then
      util.raise("TypeError", a.n == 0
        and "unbound method TensorBase.%s() needs an argument"
        or "descriptor '%s' for 'torch._C.TensorBase' objects doesn't apply to "
        .. "a '%s' object", name, V.type_name(a[1]))
    end
    return V.call(attrs.get(a[1], name), V.list({table.unpack(a, 2, a.n)},
      a.n - 1), kw)
  end, name)
end

local function unbound(name)
  if made[name] == nil and has_method(name) then
    made[name] = new_unbound(name)
  end
  return made[name]
end

-- Put it where programs look.
function M.provide(torch)
  for name, f in pairs(F) do rawset(torch, name, f) end
  for name, f in pairs(fft) do rawset(torch.fft, name, f) end
  rawset(torch.Tensor, "unbound", unbound)
end

return M

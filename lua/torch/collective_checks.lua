-- SPDX-License-Identifier: MIT
-- torch/collective_checks.lua: what PyTorch's collectives refuse before they
-- send anything: tensors of several types, sizes that do not fit, bitwise
-- reductions of floating point numbers.  Gloo's words.  A size that only gloo
-- refuses and NCCL takes (the ranks along a dimension of their own, parts of
-- several sizes) passes, as programs are written for both.

local util = require "dt.util"
local V = require "python.values"

local M = {}

-- Calls whose tensors have one type, by the arguments that hold them.
local ONE_TYPE <const> = {all_gather = {"tensor_list", "tensor"},
  gather = {"tensor", "gather_list"}, scatter = {"tensor", "scatter_list"},
  reduce_scatter = {"output", "input_list"},
  all_to_all = {"output_tensor_list", "input_tensor_list"},
  all_to_all_single = {"output", "input"}}

local BITWISE <const> = {BAND = true, BOR = true, BXOR = true}

-- What C++ calls the types.
local CPP <const> = {float32 = "float", float64 = "double", int64 = "long int",
  int32 = "int", int16 = "short int", int8 = "signed char",
  uint8 = "unsigned char", bool = "bool", float16 = "c10::Half",
  bfloat16 = "c10::BFloat16"}

local function cpp(t)
  local name = tostring(t.dtype):gsub("^torch%.", "")
  return CPP[name] or name
end

local function options_of(t)
  return ("TensorOptions(dtype=%s, device=cpu, layout=Strided, requires_grad="
    .. "false (default), pinned_memory=false (default), memory_format="
    .. "(nullopt))"):format(cpp(t))
end

local function is_complex(t) return tostring(t.dtype):find("complex") ~= nil end

local function each_tensor(v, f)
  if util.is_tensor(v) then f(v) end
  for i = 1, V.is_seq(v) and v.n or 0 do
    if util.is_tensor(v[i]) then f(v[i]) end
  end
end

local function check_one_type(names, a)
  local last
  for _, name in ipairs(names) do
    each_tensor(a[name], function (t)
      if last and last.dtype ~= t.dtype and not is_complex(last)
         and not is_complex(t) then
        util.raise("ValueError", "Invalid usage of tensors with different "
          .. "dtypesFound %s and  %s", V.str(last.dtype), V.str(t.dtype))
      end
      last = t
    end)
  end
end

local function shape_of(t)
  local out = {}
  for i = 1, t.ndim do out[i] = t.shape[i] end
  return out
end

local function shape_text(shape) return "(" .. table.concat(shape, ", ") .. ")" end

local function same_shape(a, b) return shape_text(a) == shape_text(b) end

local function refuse_size(call, i, want, got)
  util.raise("RuntimeError", "ProcessGroupGloo::%s: invalid tensor size at "
    .. "index %d (expected %s, got %s)", call, i, shape_text(want),
    shape_text(got))
end

--- check_part(call, i, place, part): the i-th part (from 0) of what was
--- received goes into `place` as it is; nothing is broadcast.
function M.check_part(call, i, place, part)
  local want, got = shape_of(part), shape_of(place)
  if not same_shape(want, got) then refuse_size(call, i, want, got) end
end

-- Gloo cuts the output along its first dimension, one part a rank.
local function refuse_gathered(out, input, n)
  local shape = shape_of(out)
  local rows = shape[1] or 0
  local each = -(-rows // n)
  if each * (n - 1) >= rows then
    util.raise("RuntimeError", "ProcessGroupGloo::allgather: invalid output "
      .. "tensor list at index 0 (expected length %d, got %d)", n,
      each > 0 and -(-rows // each) or 1)
  end
  local want = shape_of(input)
  for i = 0, n - 1 do
    shape[1] = math.min(each, rows - i * each)
    if not same_shape(want, shape) then
      refuse_size("allgather", i, want, shape)
    end
  end
end

local function check_gathered(out, input, n)
  if out.dtype ~= input.dtype and not is_complex(out)
     and not is_complex(input) then
    util.raise("RuntimeError", "ProcessGroupGloo::allgather: invalid tensor "
      .. "type at index 0 (expected %s, got %s)", options_of(input),
      options_of(out))
  end
  if out:numel() ~= input:numel() * n then refuse_gathered(out, input, n) end
end

local function check_scattered(out, input, n)
  if out.dtype ~= input.dtype then
    util.raise("RuntimeError", "Check failed: outputTensors[i].dtype() == "
      .. "inputTensors[i].dtype() (%s vs. %s). ", cpp(out), cpp(input))
  end
  if out:numel() * n ~= input:numel() then
    util.raise("RuntimeError", "Check failed: outputShape[0] * worldSize == "
      .. "inputShape[0] (%d vs. %d). ", (out.shape[1] or 1) * n,
      input.shape[1] or 1)
  end
end

local function check_bitwise(a)
  local op = a.op
  if op == nil or not BITWISE[op.name] then return end
  each_tensor(a.tensor or a.input or a.input_list, function (t)
    if t:is_floating_point() then
      util.raise("RuntimeError", "Cannot use ReduceOp.%s with non-integral "
        .. "dtype", op.name)
    end
  end)
end

-- Only the part that this rank gets is looked at; the others may have other sizes.
local function check_listed(list, t, n, me)
  if V.is_seq(list) and list.n ~= n then
    util.raise("RuntimeError", "invalid input tensor list size, must be world "
      .. "size")
  end
  local mine = list[me + 1]
  if util.is_tensor(mine) and not same_shape(shape_of(mine), shape_of(t)) then
    util.raise("RuntimeError", "Check failed: outputs[0].sizes().vec() == "
      .. "inputs[0][i].sizes().vec() (%s vs. %s). ",
      table.concat(shape_of(t), " "), table.concat(shape_of(mine), " "))
  end
end

local function check_like(call, list, t)
  for i = 1, V.is_seq(list) and list.n or 0 do
    if util.is_tensor(list[i]) then M.check_part(call, i - 1, list[i], t) end
  end
end

--- check(name, a, n, me): the arguments of a call among n ranks, all plain; `me`:
--- this rank's place.
function M.check(name, a, n, me)
  if ONE_TYPE[name] then check_one_type(ONE_TYPE[name], a) end
  check_bitwise(a)
  if name:find("^all_gather_.") then
    check_gathered(a.output_tensor, a.input_tensor, n)
  elseif name:find("^reduce_scatter_.") then
    check_scattered(a.output, a.input, n)
  elseif name == "reduce_scatter" then
    check_listed(a.input_list, a.output, n, me)
  elseif name == "gather" or name == "scatter" then
    check_like(name, a.gather_list or a.scatter_list, a.tensor)
  end
end

return M

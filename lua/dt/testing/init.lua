-- SPDX-License-Identifier: MIT
-- dt/testing/init.lua: comparing tensors with PyTorch's tolerances and words,
-- and exact numbers for tests.

local dt = require "dt"
local util = require "dt.util"

local M = {}

-- rtol and atol per dtype, PyTorch's assert_close.
local tolerance = {
  ["torch.float64"] = {1e-7, 1e-7}, ["torch.float32"] = {1.3e-6, 1e-5},
  ["torch.bfloat16"] = {1.6e-2, 1e-5}, ["torch.float16"] = {1e-3, 1e-5},
  ["torch.complex64"] = {1.3e-6, 1e-5}, ["torch.complex128"] = {1e-7, 1e-7},
}

-- The numbers of a nested list, put behind the n that are in out; how many
-- there are then.
local function flatten(list, out, n)
  for i = 1, #list do
    local item = list[i]
    if type(item) == "table" then
      n = flatten(item, out, n)
    else
      n = n + 1
      out[n] = item
    end
  end
  return n
end

local function whole(t)
  t = t:detach()
  return t.is_dtensor and t:full_tensor() or t
end

-- All numbers of a tensor in row-major order; a distributed one is gathered.
function M.numbers(t)
  local list, out = whole(t):tolist(), {}
  if type(list) ~= "table" then return {list} end
  flatten(list, out, 0)
  return out
end

local function number(v)
  if v == true then return 1 elseif v == false then return 0 end
  return v
end

local function close(a, b, rtol, atol, equal_nan)
  a, b = number(a), number(b)
  if a ~= a or b ~= b then return equal_nan and a ~= a and b ~= b end
  if a == b then return true end
  if math.abs(a) == math.huge or math.abs(b) == math.huge then return false end
  return math.abs(a - b) <= atol + rtol * math.abs(b)
end

local function all_close(x, y, o)
  local rtol, atol, equal_nan = o.rtol, o.atol, o.equal_nan
  for i = 1, #x do
    local a, b = x[i], y[i]
    if a ~= b and not close(a, b, rtol, atol, equal_nan) then return false end
  end
  return true
end

-- dt.allclose(a, b, {rtol = 1e-5, atol = 1e-8, equal_nan =})
function M.allclose(a, b, ...)
  local o = util.bind("allclose", {"rtol", "atol", "equal_nan"},
    {rtol = 1e-5, atol = 1e-8, equal_nan = false}, ...)
  if whole(a).shape ~= whole(b).shape then return false end
  return all_close(M.numbers(a), M.numbers(b), o)
end

local function index_text(k, shape)
  local at = {}
  for d = #shape, 1, -1 do
    at[d] = k % shape[d]
    k = k // shape[d]
  end
  return "(" .. table.concat(at, ", ") .. (#at == 1 and ",)" or ")")
end

local function worst_of(x, y, o)
  local w = {bad = 0, abs = -1, rel = -1, abs_at = 0, rel_at = 0}
  for i = 1, #x do
    local a, b = number(x[i]), number(y[i])
    if not close(a, b, o.rtol, o.atol, o.equal_nan) then
      w.bad = w.bad + 1
    end
    local diff = math.abs(a - b)
    local rel = b ~= 0 and diff / math.abs(b) or (diff > 0 and math.huge or 0)
    if diff > w.abs then w.abs, w.abs_at = diff, i - 1 end
    if rel > w.rel then w.rel, w.rel_at = rel, i - 1 end
  end
  return w
end

local function pair_of(actual, expected)
  if not util.is_tensor(expected) then expected = dt.tensor(expected) end
  if not util.is_tensor(actual) then actual = dt.tensor(actual) end
  return whole(actual), whole(expected)
end

-- dt.testing.assert_close(actual, expected, {rtol=, atol=, equal_nan=}):
-- raises an AssertionError in PyTorch's words.
function M.assert_close(actual, expected, ...)
  local o = util.bind("assert_close", {"rtol", "atol", "equal_nan",
    "check_dtype", "msg", "allow_subclasses", "check_device", "check_layout",
    "check_stride"}, {equal_nan = false, check_dtype = true,
    check_device = true, check_stride = false}, ...)
  local a, b = pair_of(actual, expected)
  if a.shape ~= b.shape then
    util.raise("AssertionError",
      "The values for attribute 'shape' do not match: %s != %s.",
      tostring(a.shape), tostring(b.shape))
  end
  if o.check_device and a.device ~= b.device then
    util.raise("AssertionError",
      "The values for attribute 'device' do not match: %s != %s.",
      tostring(a.device), tostring(b.device))
  end
  if o.check_dtype and a.dtype ~= b.dtype then
    util.raise("AssertionError",
      "The values for attribute 'dtype' do not match: %s != %s.",
      tostring(a.dtype), tostring(b.dtype))
  end
  if o.check_stride and tostring(a:stride()) ~= tostring(b:stride()) then
    util.raise("AssertionError",
      "The values for attribute 'stride()' do not match: %s != %s.",
      tostring(a:stride()), tostring(b:stride()))
  end
  if dt.no_grad(function () return dt.equal(a, b) end) then return end
  local t = tolerance[tostring(a.dtype)] or {0, 0}
  o.rtol, o.atol = o.rtol or t[1], o.atol or t[2]
  local x, y = M.numbers(a), M.numbers(b)
  if all_close(x, y, o) then return end
  local w = worst_of(x, y, o)
  if o.msg then util.raise("AssertionError", "%s", o.msg) end
  local exact = o.rtol == 0 and o.atol == 0
  util.raise("AssertionError", "%s", ("Tensor-likes are not %s!\n\n"
    .. "Mismatched elements: %d / %d (%.1f%%)\n"
    .. "Greatest absolute difference: %s at index %s (up to %g allowed)\n"
    .. "Greatest relative difference: %s at index %s (up to %g allowed)")
    :format(exact and "equal" or "close", w.bad, #x, 100 * w.bad / #x,
      tostring(w.abs), index_text(w.abs_at, a.shape), o.atol,
      tostring(w.rel), index_text(w.rel_at, a.shape), o.rtol))
end

-- dt.testing.fill({sizes}, mod, off, div): element k, in row-major order, is
-- ((k mod `mod`) - off) / div: exact numbers everywhere.
function M.fill(sizes, mod, off, div)
  local n, list = 1, {}
  for _, s in ipairs(sizes) do n = n * s end
  for k = 0, n - 1 do list[k + 1] = ((k % mod) - off) / div end
  return dt.tensor(list):view(sizes)
end

-- call_sample(op, wrap[, wanted]): an overload with its own sample inputs.
function M.call_sample(...)
  return require("dt.testing.samples").call_sample(...)
end

return M

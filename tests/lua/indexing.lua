-- TEST: ranks=1 world=threads tags=quick
-- SPDX-License-Identifier: MIT
-- Indices at their bounds, masks, tensors without dims: values and errors as
-- PyTorch 2.13 has them.

local x = dt.arange(6, {dtype = dt.f32}):view(2, 3)
local scalar = dt.tensor(0.98)

local function text(v)
  if type(v) ~= "table" then return ("%g"):format(v) end
  local parts = {}
  for i, p in ipairs(v) do parts[i] = text(p) end
  return "[" .. table.concat(parts, ", ") .. "]"
end

local function mask(list, dtype) return dt.tensor(list, {dtype = dtype}) end
local by_rows = {{1, 0, 1}, {0, 1, 0}}
local range = "IndexError: index %d is out of bounds for dimension %d with size %d"
local many = "IndexError: too many indices for tensor of dimension 2"
local none = "IndexError: invalid index of a 0-dim tensor. Use `tensor.item()` "
  .. "in Python or `tensor.item<T>()` in C++ to convert a 0-dim tensor to a "
  .. "number"

-- {tensor, index, values or error}
local rows = {
  {x, 1, "[3, 4, 5]"},
  {x, -2, "[0, 1, 2]"},
  {x, 2, range:format(2, 0, 2)},
  {x, -3, range:format(-3, 0, 2)},
  {x, {0, 2}, "2"},
  {x, {0, 3}, range:format(3, 1, 3)},
  {x, {0, -3}, "0"},
  {x, {0, 1, 2}, many},
  {scalar, 0, none},
  {scalar, -1, range:format(-1, 0, 0)},
  {scalar, 1, range:format(1, 0, 0)},
  {scalar, {0, 0}, "IndexError: too many indices for tensor of dimension 0"},
  {scalar, dt.slice(0, 1),
    "IndexError: slice() cannot be applied to a 0-dim tensor."},
  {scalar, dt.None, "[0.98]"},
  {scalar, dt.ellipsis, "0.98"},
  {x, {dt.ellipsis, 2}, "[2, 5]"},
  {x, {1, dt.ellipsis}, "[3, 4, 5]"},
  {x, {1, dt.ellipsis, 0}, "3"},
  -- a mask takes its dims, numbers take one
  {x, mask({1, 0}, dt.bool), "[[0, 1, 2]]"},
  {x, mask({1, 0}, dt.uint8), "[[0, 1, 2]]"},
  {x, mask({1, 0}, dt.i64), "[[3, 4, 5], [0, 1, 2]]"},
  {x, mask({0, 0}, dt.bool), "[]"},
  {x, {mask({1, 0}, dt.bool), 1}, "[1]"},
  {x, mask(by_rows, dt.bool), "[0, 2, 4]"},
  {x, mask(by_rows, dt.uint8), "[0, 2, 4]"},
  {x, {mask(by_rows, dt.bool), 0}, many},
  {x, {mask(by_rows, dt.uint8), 0}, many},
}
for i, row in ipairs(rows) do
  local t, index, want = table.unpack(row)
  local ok, got = pcall(function () return t[index] end)
  if ok then
    local v = got.ndim == 0 and got:item() or got:tolist()
    got = text(v)
  else
    got = got.class .. ": " .. got.message
  end
  assert(got == want, ("row %d: %s, not %s"):format(i, got, want))
end

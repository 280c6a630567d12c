-- SPDX-License-Identifier: MIT
-- dt/debug/sample.lua: inputs written as "f32[8, 6], [f32[2], i64[3]], dim=0":
-- tensors with distinct small numbers of both signs, the same on every rank.

local dt = require "dt"
local page = require "dt.debug.page"

local M = {}

local DTYPE = {f32 = "float32", f64 = "float64", f16 = "float16",
  bf16 = "bfloat16", i64 = "int64", i32 = "int32", i16 = "int16", i8 = "int8",
  u8 = "uint8", b8 = "bool", bool = "bool", c64 = "complex64",
  c128 = "complex128"}

-- Tensor number k of a call.
function M.tensor(dtype, shape, k)
  local n, list = 1, {}
  for _, s in ipairs(shape) do n = n * s end
  local whole = dtype:match("^[iub]") and not dtype:match("^bf")
  for i = 1, n do
    local r = ((i - 1 + 131 * k) * 7919 + 13) % 1000
    list[i] = whole and r % 2 or (r % 256 - 127) / 64
  end
  local t = dt.tensor(list, {dtype = dt.float64}):reshape(shape)
  return t:to(dt[DTYPE[dtype]])
end

local value

local function list(s, pos, state)
  local out = {}
  pos = s:match("^%s*()", pos)
  while s:sub(pos, pos) ~= "]" do
    if pos > #s then page.fail("PARSE", "a ] is missing in \"%s\"", s) end
    out[#out + 1], pos = value(s, pos, state)
    pos = s:match("^%s*,?%s*()", pos)
  end
  return out, pos + 1
end

function value(s, pos, state)
  local name, after = s:match("^(%l%w*)%[()", pos)
  if name and DTYPE[name] then
    local shape, stop = list(s, after, state)
    state.k = state.k + 1
    return M.tensor(name, shape, state.k), stop
  end
  if s:sub(pos, pos) == "[" then return list(s, pos + 1, state) end
  local _, text, stop = s:match("^(['\"])(.-)%1()", pos)
  if text then return text, stop end
  local word
  word, stop = s:match("^([%w_.+-]+)()", pos)
  if word == "None" then return dt.None, stop end
  if word == "True" or word == "true" then return true, stop end
  if word == "False" or word == "false" then return false, stop end
  if word and DTYPE[word] then return dt[DTYPE[word]], stop end
  local number = tonumber(word)
  if number == nil then
    page.fail("PARSE", "not understood: \"%s\"; wanted inputs as f32[6, 4], 1, "
      .. "dim=0", s:sub(pos))
  end
  return number, stop
end

-- parse(text) -> positional arguments (with n), keyword arguments or nil.
function M.parse(s)
  local args, kw, pos, state = {n = 0}, nil, s:match("^%s*()"), {k = 0}
  while pos <= #s do
    local name, after = s:match("^([%a_][%w_]*)%s*=%s*()", pos)
    if name then
      kw = kw or {}
      kw[name], pos = value(s, after, state)
    else
      args.n = args.n + 1
      args[args.n], pos = value(s, pos, state)
    end
    pos = s:match("^%s*,?%s*()", pos)
  end
  return args, kw
end

local function is_tensor(v) return require("dt.util").is_tensor(v) end

-- A copy of the arguments with replace(tensor, number) for each tensor, in the
-- order of the schema's slots; and how many there are.
function M.map(args, kw, replace)
  local n = 0
  local function one(v)
    if is_tensor(v) then
      n = n + 1
      return replace(v, n)
    end
    if type(v) == "table" and v ~= dt.None and getmetatable(v) == nil then
      local out = {}
      for i, x in ipairs(v) do out[i] = one(x) end
      return out
    end
    return v
  end
  local out, named = {n = args.n}, nil
  for i = 1, args.n do out[i] = one(args[i]) end
  if kw then
    named = {}
    for k, v in pairs(kw) do named[k] = one(v) end
  end
  return out, named, n
end

-- Call an overload with them.
function M.call(op, args, kw)
  local all = {table.unpack(args, 1, args.n)}
  if kw then all[args.n + 1] = kw end
  return op(table.unpack(all, 1, args.n + (kw and 1 or 0)))
end

return M

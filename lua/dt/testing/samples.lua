-- SPDX-License-Identifier: MIT
-- dt/testing/samples.lua: the inputs that operators give for validators
-- ("f32[8, 6], [f32[2], f32[3]], 1, dim=0"), as Lua values: for tests/ops, for
-- :doctor, and for repros of reports that do not state their arguments.
-- Values are the same on every rank: small, distinct, both signs for floats,
-- exact in half precision; 0 and 1 for integers, so that they are good indices
-- too.

local dt = require "dt"
local util = require "dt.util"

local M = {}

local DTYPE = {
  f32 = "float32", f64 = "float64", f16 = "float16", bf16 = "bfloat16",
  i64 = "int64", i32 = "int32", i16 = "int16", i8 = "int8", u8 = "uint8",
  b8 = "bool", bool = "bool", c64 = "complex64", c128 = "complex128",
  f8e4m3 = "float8_e4m3fn", f8e5m2 = "float8_e5m2",
  f8_e4m3fn = "float8_e4m3fn", f8_e5m2 = "float8_e5m2",
}

local function bad(s, pos)
  error(dt.error("PARSE", ("not understood: \"%s\"; wanted inputs as f32[6, 4], "
    .. "1, dim=0"):format(s:sub(pos))), 0)
end

-- tensor(dtype, shape, k): tensor number k of a call; element i is made of
-- ((i + 131 k) * 7919 + 13) mod 1000.
function M.tensor(dtype, shape, k)
  local n, v = 1, {}
  for _, s in ipairs(shape) do n = n * s end
  local integer = dtype:match("^[iub]") and not dtype:match("^bf")
  for i = 1, n do
    local r = ((i - 1 + 131 * k) * 7919 + 13) % 1000
    v[i] = integer and r % 2 or (r % 256 - 127) / 64
  end
  local t = dt.tensor(v, {dtype = dt.float64}):reshape(shape)
  return t:to(dt[DTYPE[dtype]])
end

local WORDS = {None = dt.None, True = true, ["true"] = true, False = false,
  ["false"] = false, inf = math.huge, ["-inf"] = -math.huge}

local value

-- A list in brackets, or the shape of a tensor such as f32[2, 3].
local function list(s, pos, state)
  local out = {}
  pos = s:match("^%s*()", pos)
  while s:sub(pos, pos) ~= "]" do
    if pos > #s then
      error(dt.error("PARSE", ("a ] is missing in \"%s\""):format(s)), 0)
    end
    out[#out + 1], pos = value(s, pos, state)
    pos = s:match("^%s*,?%s*()", pos)
  end
  return out, pos + 1
end

function value(s, pos, state)
  local name, after = s:match("^(%l[%w_]*)%[()", pos)
  if name and DTYPE[name] then
    local shape, stop = list(s, after, state)
    for _, n in ipairs(shape) do
      if math.type(n) ~= "integer" or n < 0 then bad(s, pos) end
    end
    state.k = state.k + 1
    return M.tensor(name, shape, state.k), stop
  end
  if s:sub(pos, pos) == "[" then return list(s, pos + 1, state) end
  local _, text, stop = s:match("^(['\"])(.-)%1()", pos)
  if text then return text, stop end
  local word
  word, stop = s:match("^([%w_.+-]+)()", pos)
  if not word then bad(s, pos) end
  if WORDS[word] ~= nil then return WORDS[word], stop end
  if DTYPE[word] then return dt[DTYPE[word]], stop end
  local number = tonumber(word)
  if number == nil then bad(s, pos) end
  return number, stop
end

-- parse(text) -> positional arguments (with n), keyword arguments or nil.
-- PARSE when the text is no list of inputs.
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

-- map(args, kw, replace) -> copies with replace(tensor, number) for each
-- tensor, in the order of the schema's slots; and how many there are.
function M.map(args, kw, replace)
  local n = 0
  local function one(v)
    if util.is_tensor(v) then
      n = n + 1
      return replace(v, n)
    end
    if type(v) == "table" and v ~= dt.None and getmetatable(v) == nil then
      local items = {}
      for i, x in ipairs(v) do items[i] = one(x) end
      return items
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

-- call(op, args, kw): an overload with them.
function M.call(op, args, kw)
  local all = {table.unpack(args, 1, args.n)}
  if kw then all[args.n + 1] = kw end
  return op(table.unpack(all, 1, args.n + (kw and 1 or 0)))
end

-- call_sample(op, wrap[, wanted]): call an overload with its first sample of at
-- least `wanted` (1) tensors; each tensor is wrap(tensor, number).
function M.call_sample(op, wrap, wanted)
  for _, text in ipairs(dt.debug.op_info(op).samples) do
    local args, kw = M.parse(text)
    local _, _, n = M.map(args, kw, function (t) return t end)
    if n >= (wanted or 1) then return M.call(op, M.map(args, kw, wrap)) end
  end
  util.raise("ValueError", "no sample of %s has %d tensors",
    dt.debug.op_info(op).name, wanted or 1)
end

return M

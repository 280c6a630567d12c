-- SPDX-License-Identifier: MIT
-- parity/facts.lua: the numbers programs start from and the facts that are
-- kept of a tensor, in the encodings of the reference traces.

local dt = require "dt"
local util = require "dt.util"
local V = require "python.values"

local M = {}

M.dtypes = {float32 = "f32", float64 = "f64", bfloat16 = "bf16",
  float16 = "f16", float8_e4m3fn = "f8_e4m3fn", float8_e5m2 = "f8_e5m2",
  int64 = "i64", int32 = "i32", int16 = "i16", int8 = "i8", uint8 = "u8",
  bool = "bool", complex64 = "c64", complex128 = "c128"}

-- The short name of a dtype.
function M.dtype_name(dtype)
  return M.dtypes[tostring(dtype):match("[%w_]+$")]
end

-- ---- numbers by formula ----

local function numel(shape)
  local n = 1
  for _, s in ipairs(shape) do n = n * s end
  return n
end

local function residue(i, k) return ((i + 131 * k) * 7919 + 13) % 1000 end

local function made(shape, f, dtype)
  local list = {}
  for i = 0, numel(shape) - 1 do list[i + 1] = f(i) end
  if #list == 0 then return dt.zeros(shape, {dtype = dtype}) end
  return dt.tensor(list, {dtype = dtype}):view(shape)
end

-- Element i is base + scale * (r / 1000 - 1/2), rounded once to the dtype.
function M.val(shape, k, dtype, scale, base)
  scale, base = scale or 1.0, base or 0.0
  local t = made(shape, function (i)
    return base + scale * (residue(i, k) / 1000.0 - 0.5)
  end, dt.float64)
  dtype = dtype or dt.float32
  return dtype == dt.float64 and t or t:to(dtype)
end

-- Ids below `vocab`.
function M.ids(shape, k, vocab)
  return made(shape, function (i) return residue(i, k) % vocab end, dt.int64)
end

-- Fill the parameters of a model; returns what was done, one row each.
function M.init_model(model, dtype, scale)
  local info, k = {}, 0
  for name, p in model:named_parameters() do
    local norm = name:find("norm", 1, true)
    local s, base = norm and 0.2 or scale or 1.0, norm and 1.0 or 0.0
    dt._set_data(p, M.val(p.shape, k, dtype, s, base))
    info[#info + 1] = {name = name, k = k, shape = p.shape, scale = s,
      base = base}
    k = k + 1
  end
  return info
end

-- ---- gathering ----

local function quote(s)
  return '"' .. s:gsub('[%c"\\]', function (c)
    return ("\\u%04x"):format(c:byte())
  end) .. '"'
end

local encode

local function encode_list(v, n)
  local out = {}
  for i = 1, n do out[i] = encode(v[i]) end
  return "[" .. table.concat(out, ",") .. "]"
end

-- A value as JSON; lists, dicts and None are Python's or Lua's.
function encode(v)
  if v == nil or v == dt.None then return "null" end
  if type(v) == "boolean" then return tostring(v) end
  if type(v) == "string" then return quote(v) end
  if math.type(v) == "integer" then return ("%d"):format(v) end
  if type(v) == "number" then
    if v ~= v then return '{"nan":true}' end
    if v == math.huge then return '{"inf":1}' end
    if v == -math.huge then return '{"inf":-1}' end
    local s = ("%.17g"):format(v)
    return s:find("[.e]") and s or s .. ".0"
  end
  if V.is_seq(v) then return encode_list(v, v.n) end
  local out = {}
  if V.is_dict(v) then
    for k, item in V.each(v) do
      out[#out + 1] = quote(V.str(k)) .. ":" .. encode(item)
    end
    return "{" .. table.concat(out, ",") .. "}"
  end
  if type(v) ~= "table" or util.is_tensor(v) then return quote(V.str(v)) end
  if util.is_kwargs(v) then
    for k, item in pairs(v) do
      out[#out + 1] = quote(k) .. ":" .. encode(item)
    end
    return "{" .. table.concat(out, ",") .. "}"
  end
  return encode_list(v, v.n or #v)
end
M.encode = encode

-- The value every rank gives, as a list by rank (Collective).
function M.gather(v)
  local out = {}
  for i, text in ipairs(dt._gather_text(encode(v))) do
    out[i] = dt._json_decode(text)
  end
  return out
end

-- A value without Python's types: what comes out of JSON.
function M.plain(v) return dt._json_decode(encode(v)) end

-- ---- tensors ----

local function placement_texts(t)
  local out = {}
  for i, p in ipairs(t.placements) do
    out[i] = tostring(p):gsub("^MaskP%(.*$", "MaskP(sum)")
  end
  return out
end
M.placement_texts = placement_texts

local function contiguous(t)
  if t.is_dtensor then return true end
  return true
end

-- The spec of a tensor; `names` are those of the program's mesh.
function M.spec(t, names)
  local s = {shape = {table.unpack(t.shape)}}
  if t.is_dtensor then
    s.dt, s.pl = M.dtype_name(t.dtype), placement_texts(t)
    local have = t.device_mesh.mesh_dim_names or {}
    if names and table.concat(have, ",") ~= table.concat(names, ",") then
      s.mesh = {table.unpack(have)}
    end
  else
    s.t = M.dtype_name(t.dtype)
  end
  return contiguous(t) and s or s
end

-- This rank's part as a plain tensor outside autograd.
function M.local_of(t)
  local guard <close> = dt.no_grad()            -- luacheck: ignore guard
  t = t:detach()
  return t.is_dtensor and t:to_local() or t
end

function M.local_shape(t) return {table.unpack(t._local_shape)} end

local function flatten(v, out)
  if type(v) ~= "table" then
    out[#out + 1] = v == true and 1 or v == false and 0 or v
  else
    for _, item in ipairs(v) do flatten(item, out) end
  end
  return out
end

-- All numbers of a tensor (a distributed one is gathered), in f64.
function M.numbers(t)
  local guard <close> = dt.no_grad()            -- luacheck: ignore guard
  t = t:detach()
  if t.is_dtensor then t = t:full_tensor() end
  if t:numel() == 0 then return {} end
  if tostring(t.dtype):find("float") and t.dtype ~= dt.float64 then
    t = t:to(dt.float64)
  end
  return flatten(t:tolist(), {})
end

-- dtype, shape and all numbers: compared with data, or with norm, sum, head
-- and tail of long ones.
function M.tensor_values(t)
  return {dt = M.dtype_name(t.dtype), shape = {table.unpack(t.shape)},
    data = M.numbers(t)}
end

-- failure(e): what was raised, by class and text.
function M.failure(e)
  if type(e) == "table" and e.class then
    return {class = e.class, text = e.message or ""}
  end
  return {class = "RuntimeError", text = tostring(e)}
end

-- read(path): the bytes of a file, or nil.
function M.read(path)
  local f = io.open(path, "rb")
  if not f then return nil end
  local s = f:read("a")
  f:close()
  return s
end

return M

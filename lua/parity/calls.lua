-- SPDX-License-Identifier: MIT
-- parity/calls.lua: lines that call what PyTorch has in Python
-- (torch.nn.functional, methods, short functions), against
-- values/shapes_errors.jsonl and values/decompose.jsonl: the class and text of
-- the error, and the operators that are reached, on plain tensors, on
-- replicated DTensors and with the first one sharded.
--
-- The names are those of torch; what the lines call "py:name" is a Python
-- text in parity.texts.

local dt = require "dt"
local util = require "dt.util"
local python = require "torch"
local V = require "python.values"
local attrs = require "python.attrs"
local facts = require "parity.facts"
local texts = require "parity.texts"

local M = {}
local None = dt.None

local dtypes = {f32 = dt.float32, f64 = dt.float64, bf16 = dt.bfloat16,
  f16 = dt.float16, i64 = dt.int64, i32 = dt.int32, i16 = dt.int16,
  i8 = dt.int8, u8 = dt.uint8, bool = dt.bool, c64 = dt.complex64,
  c128 = dt.complex128, f8_e4m3fn = dt.float8_e4m3fn,
  f8_e5m2 = dt.float8_e5m2}

-- ---- arguments ----

local function number(v)
  if type(v) ~= "table" then return v end
  if v.nan then return 0 / 0 end
  if v.inf then return v.inf * math.huge end
  return v
end

-- Where a line has no numbers: between 0 and 1 and in no special position;
-- whole numbers are 0.
local function any_number(short, i)
  if short:find("^[iub]%d") then return 0 end
  if short == "bool" then return false end
  local v = (i + 1) * 0.6180339887498949
  return 0.05 + 0.9 * (v - math.floor(v))
end

local function numel(shape)
  local n = 1
  for _, s in ipairs(shape) do n = n * s end
  return n
end

-- Numbers in one row; data may be nested.
local function flat(data, out)
  for _, v in ipairs(data) do
    if type(v) == "table" and not v.nan and not v.inf and not v.c then
      flat(v, out)
    else
      out[#out + 1] = number(v)
    end
  end
  return out
end

-- A mask without data chooses as many elements as the line's result has.
local function chosen(v, line)
  local out = line and type(line.out) == "table" and line.out[1]
  if v.t ~= "bool" or v.data or not out or not out.shape
     or #out.shape ~= 1 then
    return 0
  end
  return out.shape[1]
end

local function plain_tensor(v, line)
  local n, list = numel(v.shape), v.data and flat(v.data, {}) or {}
  local dtype = dtypes[v.t]
  for i = 1, chosen(v, line) do list[i] = true end
  for i = #list + 1, n do list[i] = any_number(v.t, i - 1) end
  local t
  if n == 0 then
    t = dt.zeros(v.shape, {dtype = dtype})
  elseif v.t:find("^c") then
    t = dt.complex(dt.tensor(list, {dtype = dt.float32}),
      dt.zeros({n})):to(dtype):view(v.shape)
  else
    t = dt.tensor(list, {dtype = dtype}):view(v.shape):clone()
  end
  if v.stride then
    local top = 1
    for d, s in ipairs(v.shape) do top = top + (s - 1) * v.stride[d] end
    local home = dt.zeros({top}, {dtype = dtype})
    t = home:as_strided(v.shape, v.stride):copy_(t)
  end
  return t
end

-- The same tensor on a mesh; only the local part is made.
local function on_mesh(t, mesh, sharded)
  local pl = {sharded and dt.Shard(0) or dt.Replicate()}
  local sizes = dt._local_shape(t.shape, mesh, pl)
  local stride, n = {}, 1
  for i = #t.shape, 1, -1 do
    stride[i] = n
    n = n * math.max(t.shape[i], 1)
  end
  local part = t
  if sharded then part = t:narrow(0, 0, sizes[1]):contiguous() end
  return dt.DTensor.from_local(part, mesh, pl, {shape = {table.unpack(t.shape)},
    stride = stride, run_check = false})
end

-- A value of a line for Python; `make` turns what stands for a tensor into one.
local function value(v, make)
  if type(v) ~= "table" then return v end
  if v == None then return None end
  if v.t and v.shape then return make(v) end
  if v.dtype then return dtypes[v.dtype] end
  if v.nan or v.inf then return number(v) end
  if v.slice then
    return texts.slice(v.slice[1], v.slice[2], v.slice[3])
  end
  if v.ellipsis then return dt.ellipsis end
  if v.device then return v.device end
  if v.layout then return dt[v.layout] end
  if v.memory_format then return dt[v.memory_format] end
  local out = {}
  for i = 1, #v do out[i] = value(v[i], make) end
  return V.tuple(out, #v)
end

local function arguments(line, make)
  local args, kw = {}, nil
  for i, v in ipairs(line.args or {}) do args[i] = value(v, make) end
  for k, v in pairs(line.kw or {}) do
    kw = kw or V.dict()
    V.dict_set(kw, k, value(v, make))
  end
  return V.list(args, #(line.args or {})), kw
end

-- ---- functions ----

-- torch.Tensor.name is the method of the first argument.
local function method(name)
  return function (args, kw)
    local self = table.remove(args, 1)
    args.n = args.n - 1
    if not pcall(attrs.get, self, name) and name:sub(1, 2) ~= "__" then
      util.raise("AttributeError", "type object 'Tensor' has no attribute '%s'",
        name)
    end
    if name == "__getitem__" then return texts.getitem(self, args[1]) end
    return python.call(attrs.get(self, name), args, kw)
  end
end

-- f(args, kw) for the name in a line, or nil.
local function called(fn)
  local name = fn:match("^torch%.Tensor%.([%w_]+)$")
  if name then return method(name) end
  name = fn:match("^py:([%w_]+)$")
  local f
  if name then
    f = texts.named(name)
  else
    f = python.names.torch
    for part in fn:gmatch("[^.]+") do
      if part ~= "torch" or f ~= python.names.torch then
        local ok, v = pcall(attrs.get, f, part)
        f = ok and v or nil
        if f == nil then break end
      end
    end
  end
  if f == nil or f == None then return nil end
  return function (args, kw) return python.call(f, args, kw) end
end

-- ---- errors ----

-- Texts are cut after 2,000 characters.
local function same_failure(want, e)
  local got = facts.failure(e)
  local text = #want.text >= 2000 and got.text:sub(1, #want.text) or got.text
  if got.class == want.class and text == want.text then return nil end
  return ("want %s: %s, got %s: %s"):format(want.class, want.text, got.class,
    got.text)
end

local function shapes(v, out)
  if util.is_tensor(v) then
    out[#out + 1] = facts.dtype_name(v.dtype) .. facts.encode(v.shape)
  elseif type(v) == "table" and v.shape and v.t then
    out[#out + 1] = v.t .. facts.encode(v.shape)
  elseif type(v) == "table" and v ~= None then
    for i = 1, v.n or #v do shapes(v[i], out) end
  end
  return out
end

local function same_shapes(want, got)
  local a = table.concat(shapes(want, {}), " ")
  local b = table.concat(shapes(got, {}), " ")
  if a ~= b then return ("want %s, got %s"):format(a, b) end
end

local function check_error(line)
  local f = called(line.fn)
  if not f then return ("no %s"):format(line.fn) end
  local ok, e = pcall(function ()
    local args, kw = arguments(line, function (v)
      local t = plain_tensor(v)
      if v.requires_grad then t.requires_grad = true end
      return t
    end)
    return f(args, kw)
  end)
  if line.error and ok then
    return ("no error, want %s: %s"):format(line.error.class, line.error.text)
  elseif line.error then
    return same_failure(line.error, e)
  elseif not ok then
    local got = facts.failure(e)
    return ("error %s: %s"):format(got.class, got.text)
  end
  return same_shapes(line.ok, e)
end

-- ---- operators ----

local function pl_text(pl)
  local out = {}
  for i, p in ipairs(pl) do out[i] = p:gsub("^MaskP%(.*$", "MaskP(sum)") end
  return table.concat(out, ",")
end

-- DTensors have no strides there.
local function spec_text(v)
  return ("%s%s%s%s"):format(v.dt or v.t, facts.encode(v.shape),
    v.t and v.stride and facts.encode(v.stride) or "", v.pl and pl_text(v.pl) or "")
end

local function tensors_of(v, out)
  if type(v) ~= "table" or v == None then return out end
  if v.shape and (v.dt or v.t) then
    out[#out + 1] = spec_text(v)
    return out
  end
  for i = 1, #v do tensors_of(v[i], out) end
  local keys = {}
  for k in pairs(v) do
    if type(k) == "string" then keys[#keys + 1] = k end
  end
  table.sort(keys)
  for _, k in ipairs(keys) do tensors_of(v[k], out) end
  return out
end

-- Lists of numbers and the like, where both have them.
local function same_plain(want, got)
  for i, w in ipairs(want) do
    local g = got[i]
    local kind = type(w)
    if (kind == "number" or kind == "boolean" or kind == "string")
       and type(g) == kind and number(w) ~= number(g)
       and facts.encode(w) ~= facts.encode(g) then
      return ("want %s, got %s"):format(facts.encode(w), facts.encode(g))
    end
  end
end

local function same_rows(what, ops, args, rows)
  local names = {}
  for i, row in ipairs(rows) do names[i] = row.op:gsub("^aten%.", "") end
  local want = {}
  local kept = {}
  for i, op in ipairs(ops or {}) do     -- a profiler's marks are none of ours
    if not op:find("^profiler%.") then
      want[#want + 1] = op:gsub("^aten%.", "")
      kept[#want] = args and args[i]
    end
  end
  local a, b = table.concat(want, " "), table.concat(names, " ")
  if a ~= b then return ("%s: want %s, got %s"):format(what, a, b) end
  for i, row in ipairs(rows) do
    local w = kept[i]
    if w then
      local t = table.concat(tensors_of(w, {}), " ")
      local g = table.concat(tensors_of({row["in"], row.kw or {}}, {}), " ")
      local why = t ~= g and ("want %s, got %s"):format(t, g)
        or same_plain(w, row["in"])
      if why then
        return ("%s: %s in %s, call %d"):format(what, why, row.op, i - 1)
      end
    end
  end
end

-- Operators that `f` reaches, or its error.
local function recorded(f)
  local rec = dt._record()
  rec(true)
  local out = table.pack(pcall(f))
  rec(false)
  local rows = rec:take()
  rec:close()
  return out[1], out[2], rows
end

local function outputs(v, list)
  if util.is_tensor(v) then
    if v.requires_grad then list[#list + 1] = v end
  elseif V.is_seq(v) then
    for i = 1, v.n do outputs(v[i], list) end
  end
  return list
end

local function backward(run, out)
  local want, list, ones = run.bwd_error, outputs(out, {}), {}
  if not run.bwd_ops and not want then return nil end
  for i, y in ipairs(list) do ones[i] = dt.ones_like(y) end
  local ok, e, rows = recorded(function ()
    return dt.autograd.backward(list, ones)
  end)
  if want and ok then
    return ("no error, want %s: %s"):format(want.class, want.text)
  elseif want then
    return same_failure(want, e)
  elseif not ok then
    return "backward: " .. facts.failure(e).class .. ": " .. facts.failure(e).text
  end
  return same_rows("bwd_ops", run.bwd_ops, run.bwd_args, rows)
end

-- One of the three runs; `how`: "plain", "R", "S0".
local function trial(line, run, how, f)
  local mesh = how ~= "plain" and dt.init_device_mesh("cpu", {2},
    {mesh_dim_names = {"tp"}})
  local seen = 0
  local args, kw = arguments(line, function (v)
    local t = plain_tensor(v, line)
    if mesh then t = on_mesh(t, mesh, how == "S0" and seen == 0
      and (t.shape[1] or 0) > 1) end
    seen = seen + 1
    if v.requires_grad then t.requires_grad = true end
    return t
  end)
  local ok, out, rows = recorded(function () return f(args, kw) end)
  if run.error and ok then
    return ("no error, want %s: %s"):format(run.error.class, run.error.text)
  elseif run.error then
    return same_failure(run.error, out)
  elseif not ok then
    return facts.failure(out).class .. ": " .. facts.failure(out).text
  end
  return same_rows("fwd_ops", run.fwd_ops, run.fwd_args, rows)
    or backward(run, out)
end

local function check_operators(line)
  local f = called(line.fn)
  if not f then return ("no %s"):format(line.fn) end
  local why = trial(line, line, "plain", f)
  if why then return why .. " (plain)" end
  why = line.dtensor and trial(line, line.dtensor, "R", f)
  if why then return why .. " (DTensor)" end
  why = line.dtensor_s0 and trial(line, line.dtensor_s0, "S0", f)
  return why and why .. " (DTensor, first S(0))"
end

-- ---- files ----

-- Check the lines of a file whose ids are in `ids`, a text with one a line;
-- returns a list of {what, why}.
function M.check(path, ids)
  local wanted, report = {}, {}
  for id in ids:gmatch("[^\n]+") do wanted[id] = true end
  dt._pretend_data(true)
  for text in io.lines(path) do
    local id = text:match('^{"id":%s*"([^"]*)"')
    if id and wanted[id] then
      local line = dt._json_decode(text)
      local check = id:find("/dec/", 1, true) and check_operators
        or check_error
      local ok, why = pcall(check, line)
      if not ok then why = facts.failure(why).text end
      report[#report + 1] = {what = id, why = why}
      dt._set_grad_enabled(true)
    end
  end
  dt._pretend_data(false)
  return report
end

return M

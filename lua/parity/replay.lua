-- SPDX-License-Identifier: MIT
-- parity/replay.lua: runs the calls that scripts/dtrepl_record.py wrote
-- down of a PyTorch program, one by one, and compares each with what PyTorch
-- did: the results' placements, the redistributions, the collectives with
-- their bytes, small results' numbers, the error.
--
-- A log holds calls below autograd, so a backward pass is calls like others.
-- Tensors are known by numbers; one that no call gave is a leaf, with its
-- elements where they were kept.  What cannot be run again (random numbers,
-- the program's own collectives, operators of other libraries) gave leaves.
-- Every rank replays its own log, where it has one.

local dt = require "dt"
local facts = require "parity.facts"
local compare = require "parity.compare"

local M = {}
local None = dt.None
local Replay = {}
Replay.__index = Replay

local dtypes = {f16 = "float16", bf16 = "bfloat16", f32 = "float32",
  f64 = "float64", i8 = "int8", i16 = "int16", i32 = "int32", i64 = "int64",
  u8 = "uint8", bool = "bool", c64 = "complex64", c128 = "complex128",
  f8_e4m3fn = "float8_e4m3fn", f8_e5m2 = "float8_e5m2"}

local function dtype_of(name)
  local t = dtypes[name] and dt[dtypes[name]]
  if not t then error("dtype " .. tostring(name) .. " is not known", 0) end
  return t
end

local function given(v)
  if v == nil or v == None then return nil end
  return v
end

local function number(v)
  if type(v) ~= "table" then return v end
  if v.nan then return 0 / 0 end
  if v.inf then return v.inf > 0 and math.huge or -math.huge end
  return v
end

local function numel(shape)
  local n = 1
  for _, s in ipairs(shape) do n = n * s end
  return n
end

local contiguous_stride = require("dt.util").contiguous_stride

-- ---- meshes ----

local function flat(v, out)
  if type(v) ~= "table" then
    out[#out + 1] = v
  else
    for _, item in ipairs(v) do flat(item, out) end
  end
  return out
end

local function is_whole(m)
  local ranks = flat(m.ranks, {})
  for i, r in ipairs(ranks) do
    if r ~= i - 1 then return false end
  end
  return #ranks == dt.world_size()
end

-- The mesh of a log: made anew, or sliced from the one it was sliced from.
function Replay:mesh(i)
  i = (i or 0) + 1
  if self.meshes[i] then return self.meshes[i] end
  local m = self.log.meshes[i]
  local names, root = given(m.names), given(m.root)
  local kw = names and {mesh_dim_names = names} or nil
  local mesh
  if root and names then
    local ok, part = pcall(function () return self:mesh(root)[names] end)
    mesh = ok and part or nil
  end
  if not mesh and is_whole(m) then
    mesh = dt.init_device_mesh("cpu", m.shape, kw)
  end
  mesh = mesh or dt.DeviceMesh("cpu", m.ranks, kw)
  self.meshes[i] = mesh
  return mesh
end

-- ---- tensors ----

-- A plain tensor of a shape from its numbers; zeros where they are unknown.
function Replay:dense(spec, shape)
  local dtype, data = dtype_of(spec.dt or spec.t), given(spec.data)
  if not data or self.no_data then
    if numel(shape) > 0 and not self.no_data then self.exact = false end
    return dt.zeros(shape, {dtype = dtype})
  end
  if #data == 0 then return dt.zeros(shape, {dtype = dtype}) end
  local list = {}
  for k, v in ipairs(data) do list[k] = number(v) end
  local t = dt.tensor(list, {dtype = dtype})
  return t:view(shape)
end

local function with_stride(t, stride)
  if not stride then return t end
  local out = dt.ops.aten.empty_strided.default({table.unpack(t.shape)},
    stride, {dtype = t.dtype})
  return out:copy_(t)
end

function Replay:leaf(id)
  local s = self.leaves[id]
  if not s then error("tensor " .. id .. " was given by no call", 0) end
  if not s.dt then return with_stride(self:dense(s, s.shape), given(s.stride)) end
  local mesh = self:mesh(s.m)
  return dt.DTensor.from_local(self:dense(s, s["local"]), mesh,
    table.concat(s.pl, " "), {run_check = false, shape = s.shape,
    stride = given(s.stride) or contiguous_stride(s.shape)})
end

-- `device`: where the call that wants it says that it lies.
function Replay:tensor(id, device)
  local t = self.tensors[id]
  if not t then
    t = self:leaf(id)
    if device == "meta" and not t.is_dtensor then
      t = dt.empty_like(t, {device = "meta"})
    end
    self.tensors[id] = t
  end
  return t
end

function Replay:value(v)
  if type(v) ~= "table" or v == None then return v end
  if v.id then return self:tensor(v.id, v.device) end
  if v.dtype then return dtype_of(v.dtype) end
  if v.memory_format then return (v.memory_format:gsub("_format$", "")) end
  if v.layout then return v.layout end
  if v.device then return "cpu" end
  if v.obj then return None end
  if v.nan or v.inf then return number(v) end
  local out = {}
  for i = 1, #v do out[i] = self:value(v[i]) end
  return out
end

-- ---- calls ----

local skipped_kw = {device = true, layout = true, pin_memory = true}

function Replay:aten(row)
  local ns, base, overload = row.op:match("^([%w_]+)%.([%w_]+)%.([%w_]+)$")
  local found, f = pcall(function () return dt.ops[ns][base][overload] end)
  if not (found and f) and given(row.schema) then
    -- It fails before it computes.
    dt.library.define(row.schema, {impl = function (...) return ... end})
    f = dt.ops[ns][base][overload]
  end
  if not f then error(row.op .. " is not known to dtrepl", 0) end
  local args, n, kw = {}, #row["in"], nil
  for i = 1, n do args[i] = self:value(row["in"][i]) end
  for k, v in pairs(given(row.kw) or {}) do
    if v ~= None and not skipped_kw[k] then
      kw = kw or {}
      kw[k] = self:value(v)
    end
  end
  if kw then
    n = n + 1
    args[n] = kw
  end
  return table.pack(f(table.unpack(args, 1, n)))
end

-- The calls of the DTensor library; backward ones do what they are for.
function Replay:dtensor(row)
  local what = row.op:match("^dtensor%.(.*)$")
  local t = self:value(row["in"][1])
  local out = type(row.out) == "table" and row.out or {}
  if what == "to_local" or what == "from_local_backward" then
    local wanted = self.last_from or t
    if wanted ~= t then t = wanted end
    for _, moved in ipairs(row.redist or {}) do     -- a gradient, as its input was
      t = t:redistribute(t.device_mesh, table.concat(moved.dst, " "))
    end
    return table.pack(t:to_local())
  end
  local mesh = self:mesh(row.mesh or out.m)
  local to = table.concat(row.to or out.pl or {}, " ")
  if row.size then                      -- full, zeros, ones
    local kw = {device_mesh = mesh, placements = to, dtype = dtype_of(out.dt)}
    if row.fill == nil then return table.pack(dt[what](row.size, kw)) end
    return table.pack(dt.full(row.size, self:value(row.fill), kw))
  end
  if what == "redistribute" or what == "redistribute_backward" then
    return table.pack(t:redistribute(mesh, to))
  elseif what == "distribute_tensor" then
    local src = row.src and (row.src < 0 and dt.None or row.src)
    if t.device == "meta" then src = dt.None end      -- nothing is sent
    return table.pack(dt.distribute_tensor(t, mesh, to, src
      and {src_data_rank = src} or nil))
  end
  local kw = {run_check = row.check == true}
  if out.shape then
    kw.shape = out.shape
    kw.stride = given(out.stride) or contiguous_stride(out.shape)
  end
  return table.pack(dt.DTensor.from_local(t, mesh, to, kw))
end

function Replay:run(row)
  if row.inference then
    local guard <close> = dt.inference_mode()   -- luacheck: ignore guard
    return self:call(row)
  end
  return self:call(row)
end

function Replay:call(row)
  if row.op:find("^dtensor%.") then return self:dtensor(row) end
  return self:aten(row)
end

-- Keep results under the numbers the log gives them.
function Replay:keep(out, got)
  if type(out) ~= "table" or out == None or got == nil then return end
  if out.id then
    self.tensors[out.id] = got
  elseif not (out.shape or out.obj) then
    for i = 1, #out do self:keep(out[i], got[i]) end
  end
end

-- Results that no call can give here: leaves of their shape.
function Replay:forget(out)
  if type(out) ~= "table" or out == None then return end
  if out.id then
    self.leaves[out.id] = out
    self.tensors[out.id] = nil
  else
    for i = 1, #out do self:forget(out[i]) end
  end
end

local function has_id(out)
  if type(out) ~= "table" or out == None then return false end
  if out.id then return true end
  for i = 1, #out do
    if has_id(out[i]) then return true end
  end
  return false
end

-- ---- comparing ----

local function spec_of(t, names)
  local s = facts.spec(t, names)
  local stride, dense = {table.unpack(t:stride())},
    contiguous_stride(s.shape)
  for i, n in ipairs(s.shape) do
    if n == 0 then return s end
    if n > 1 and stride[i] ~= dense[i] then s.stride = stride end
  end
  return s
end

-- Tensors among results, nested lists flattened.
local function specs_of(v, names, out)
  if type(v) == "userdata" and v ~= None then
    out[#out + 1] = spec_of(v, names)
  elseif type(v) == "table" and v ~= None then
    for i = 1, v.n or #v do specs_of(v[i], names, out) end
  end
  return out
end

-- A collective as it is compared: what one rank sends to the others is given
-- by that rank alone.
local function collective(c)
  if c.ns ~= "c10d" or dt.rank() == 0 then return c end
  return {op = c.op, group = c.group, reduce = c.reduce, bytes_in = 0,
    bytes_out = 0}
end

-- What the calls inside this one did, as one row.
local function joined(row, rows, outs)
  local all = {op = row.op, ["in"] = {}, out = outs, plain = row.plain}
  for _, r in ipairs(rows) do
    for _, key in ipairs {"redist", "coll"} do
      for _, item in ipairs(r[key] or {}) do
        all[key] = all[key] or {}
        table.insert(all[key], key == "coll" and collective(item) or item)
      end
    end
  end
  return all
end

-- Keys of a recorded row that take part.
local function wanted(row, explicit)
  local coll
  for _, c in ipairs(row.coll or {}) do
    coll = coll or {}
    coll[#coll + 1] = collective(c)
  end
  return {op = row.op, ["in"] = {}, out = row.out, redist = not explicit
    and row.redist or nil, coll = coll}
end

function Replay:close_numbers(out, got)
  local val = type(out) == "table" and given(out.val)
  if not val or not self.exact or self.no_data or not got then return end
  local own = facts.numbers(facts.local_of(got))
  local dtype = out.dt or out.t
  if #own ~= #val then return end
  for k, v in ipairs(val) do
    if type(v) == "boolean" then val[k] = v and 1 or 0 end
  end
  self.numbers = self.numbers + 1
  return compare.tree(val, own, dtype, "number")
end

local function first_line(s) return (s:match("^[^\n]*")) end
local function one_line(s) return (s:gsub("%s*\n%s*", " | ")) end

local function failure(e)
  if type(e) ~= "table" then return "RuntimeError", tostring(e) end
  return e.class or "RuntimeError", e.torch or e.message or tostring(e)
end

local function difference(row, want, got)
  return {op = row.op, n = row.n, at = given(row.at) or "?",
    module = given(row.module) or "", node = given(row.node) or "",
    want = want, got = got}
end

function Replay:same_error(row, ok, err)
  local want = row.error.class .. ": " .. one_line(row.error.text)
  if ok then return difference(row, want, "no error") end
  local class, text = failure(err)
  local got = class .. ": " .. one_line(text)
  if got ~= want then return difference(row, want, got) end
end

-- Run one call; returns a difference or nil.
function Replay:step(row)
  local explicit = row.op:find("^dtensor%.") ~= nil
  self.rec(true)
  local ok, got = pcall(self.run, self, row)
  self.rec(false)
  local rows = self.rec:take()
  if given(row.error) then
    if self.no_data and row.plain then return nil, true end
    return self:same_error(row, ok, got)
  end
  local expected = wanted(row, explicit)
  local names = self.names
  local joined_names = table.concat(names or {}, ",")
  local want = compare.row_text(expected, joined_names)
  if not ok and self.no_data and row.plain then
    self:forget(row.out)
    return nil, true
  end
  if not ok then
    local class, text = failure(got)
    return difference(row, want, class .. ": " .. first_line(text))
  end
  local mine = joined(row, rows, specs_of(got, names, {}))
  if explicit then mine.redist = nil end
  local have = compare.row_text(mine, joined_names)
  if have ~= want then return difference(row, want, have) end
  self:keep(row.out, type(row.out) == "table" and row.out.id and got[1]
    or got.n == 1 and type(got[1]) == "table" and got[1] or got)
  local why = self:close_numbers(row.out, got[1])
  if why then return difference(row, want, why) end
end

-- Is there an operator of this name?
local function known(op)
  local ns, base, overload = op:match("^([%w_]+)%.([%w_]+)%.([%w_]+)$")
  return ns ~= nil and pcall(function () return dt.ops[ns][base][overload] end)
end

-- Can this call be run again?
local function runnable(row)
  if row.op:find("^dtensor%.") or given(row.error) and given(row.schema) then
    return true
  end
  if not row.op:find("^aten%.") then return false end
  if row.op:find("_local_scalar_dense", 1, true) then return false end
  if given(row.error) then return true end
  return not row.plain or has_id(row.out) and known(row.op)
end

-- Replay all calls; returns the first difference or nil.
function Replay:all()
  local guard <close> = dt.no_grad()              -- luacheck: ignore guard
  for _, row in ipairs(self.log.rows) do
    if runnable(row) then
      local why, left = self:step(row)
      if why then return why end
      local kind = left and "left" or row.plain and "plain" or "dist"
      self.count[kind] = self.count[kind] + 1
    else
      self:forget(row.out)
      self.count.left = self.count.left + 1
    end
  end
end

-- The log this rank replays: its own, else rank 0's.
local function open(path)
  local own = dt.rank() > 0 and facts.read((path:gsub("%.json$", ".rank"
    .. dt.rank() .. ".json")))
  local text = own or facts.read(path)
  if not text then error(path .. ": cannot be read", 0) end
  local log = dt._json_decode(text)
  if type(log) ~= "table" or log.dtrepl_record ~= 1 then
    error(path .. ": no log of dtrepl_record.py", 0)
  end
  return log, dt.rank() == 0 or own ~= nil and own ~= false
end

-- Replay a log in this world; returns {difference=, count=, numbers=}.
function M.run(path)
  local log, own = open(path)
  local self = setmetatable({log = log, meshes = {}, tensors = {},
    leaves = {}, exact = own, numbers = 0, no_data = log.fake,
    rec = dt._record(), count = {plain = 0, dist = 0, left = 0}}, Replay)
  for _, s in ipairs(log.leaves) do self.leaves[s.id] = s end
  self.names = log.meshes[1] and given(log.meshes[1].names)
  local why = self:all()
  self.rec:close()
  return {difference = why, count = self.count, numbers = self.numbers,
    raised = given(log.raised), dropped = log.dropped}
end

local function say(d)
  print(("call %d %s  %s%s"):format(d.n, d.op, d.at, d.module ~= ""
    and "  module " .. d.module or ""))
  print("  PyTorch: " .. d.want)
  print("  dtrepl:  " .. d.got)
end

local function summary(found)
  local c = found.count
  print(("%d calls with DTensors, %d plain, %d not run again; %d results "
    .. "compared by number"):format(c.dist, c.plain, c.left, found.numbers))
  if found.dropped > 0 then
    print(("the log ends %d calls early"):format(found.dropped))
  end
  local raised = given(found.raised)
  if raised then
    print("the program ended with " .. raised.class .. ": "
      .. first_line(raised.text))
  end
end

-- `dtrepl replay FILE`: 0 where all agrees, 3 where not.  Every rank prints
-- the same, which the shell shows once.
function M.command(path)
  local ok, found = pcall(M.run, path)
  if not ok then
    error("replay: " .. (type(found) == "table" and found.message
      or tostring(found)), 0)
  end
  local fine, all = pcall(facts.gather, found)
  if not fine then
    -- Other ranks are elsewhere: what this one found, by itself.
    if found.difference then say(found.difference) end
    error(all, 0)
  end
  summary(all[1])
  for r, one in ipairs(all) do
    local d = given(one.difference)
    if d then
      print("first difference" .. (#all > 1 and ", rank " .. r - 1 or ""))
      say(d)
      os.exit(3)
    end
  end
  print "no difference"
end

return M

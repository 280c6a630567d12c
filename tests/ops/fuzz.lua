-- TEST: ranks=1 world=threads needs=data args=--trust timeout=120 tags=nightly
-- SPDX-License-Identifier: MIT
-- Every overload with arguments that do not belong to it: wrong counts, types,
-- shapes, dtypes and sizes, empty and 0-dim and non-contiguous tensors, plain
-- and distributed ones mixed.  Each call ends with a result or an error
-- object that names a class; the process must survive (this is run in builds
-- with sanitizers, too).
--
--   dtrepl --trust tests/ops/fuzz.lua [SEED [SECONDS [PART OF A NAME]]]
--   dtrepl --fake 4 --trust tests/ops/fuzz.lua ...     decisions on two meshes
-- On real ranks SECONDS means 500 calls each.
--
-- With FUZZ_TRACE set every call is written to the standard error output
-- before it is made: the last line is the call that crashed.

local S = require "tests.ops.lib.samples"

local seed = tonumber(arg and arg[1]) or 1
local seconds = tonumber(arg and arg[2]) or 6
local only = arg and arg[3]
local trace = os.getenv("FUZZ_TRACE")

-- ---- numbers that are the same everywhere ----

local state = seed * 2654435761 % 4294967296

local function random(n)
  state = (state * 1664525 + 1013904223) % 4294967296
  return (state >> 8) % n + 1
end

local function pick(list) return list[random(#list)] end

-- ---- arguments ----

-- Every rank makes the same calls; where there are four, on two meshes.
local n_ranks = dt.distributed.get_world_size()
local meshes = {dt.init_device_mesh("cpu", {n_ranks})}
if n_ranks == 4 then
  meshes[2] = dt.init_device_mesh("cpu", {2, 2})
end
local dtypes = {"float32", "float64", "float16", "bfloat16", "int64", "int32",
  "int8", "uint8", "bool", "complex64", "float8_e4m3fn"}
local shapes = {{}, {0}, {1}, {2}, {7}, {2, 3}, {3, 2}, {3, 3}, {0, 3}, {3, 0},
  {1, 1}, {4, 4}, {2, 3, 4}, {1, 3, 3}, {2, 0, 3}, {2, 2, 4, 4}, {1, 4, 5, 5},
  {1, 2, 3, 4, 5}, {1, 1, 1, 1, 1, 1}}

local function placement(ndim)
  local k = random(10)
  if k == 1 then return dt.Partial(pick {"sum", "avg", "max", "min"}) end
  if k == 2 and ndim > 0 then
    return dt._StridedShard(random(ndim) - 1, 2)
  end
  if k <= 6 and ndim > 0 then return dt.Shard(random(ndim) - 1) end
  return dt.Replicate()
end

local function tensor()
  local shape, name = pick(shapes), pick(dtypes)
  local t = dt.arange(1, 1 + math.max(1, math.tointeger(
    (function () local n = 1 for _, s in ipairs(shape) do n = n * s end
      return n end)())), {dtype = dt.float32})
  local n = 1
  for _, s in ipairs(shape) do n = n * s end
  t = t:narrow(0, 0, n):reshape(shape)
  if random(3) == 1 then t = t - 2 end
  t = t:to(dt[name])
  if #shape >= 2 and random(3) == 1 then t = t:transpose(0, #shape - 1) end
  if #shape >= 1 and random(6) == 1 then t = t:unsqueeze(0):expand({2,
    table.unpack(t.shape)}) end
  if random(4) == 1 then
    local mesh, pl = pick(meshes), {}
    for i = 1, mesh.ndim do pl[i] = placement(#t.shape) end
    -- shards are uneven, and empty, where the sizes are
    local ok, d = pcall(dt.distribute_tensor, t, mesh, pl)
    if ok then t = d end
  end
  if random(8) == 1 then
    pcall(function () t.requires_grad = true end)
  end
  return t
end

-- Huge sizes are so large that no machine has the memory; what a machine
-- could do in a minute is no test.
local ints = {0, 1, -1, 2, 3, -2, -3, 5, 17, -100, 400, -(1 << 46), 1 << 46,
  math.maxinteger, math.mininteger}
local floats = {0.0, 1.5, -1.0, 0.5, 1e30, -1e-30, math.huge, -math.huge,
  0 / 0}
local texts = {"", "mean", "sum", "none", "reflect", "x,y->z", "ij,jk->ik",
  "linear", "\0\255", ("a"):rep(300)}

local value

local function list()
  local out = {}
  for i = 1, random(5) - 1 do out[i] = value(1) end
  return out
end

function value(depth)
  local k = random(12)
  if k <= 4 then return tensor() end
  if k <= 6 then return pick(ints) end
  if k == 7 then return pick(floats) end
  if k == 8 then return pick(texts) end
  if k == 9 then return random(2) == 1 end
  if k == 10 then return dt.None end
  if k == 11 or depth then return dt[pick(dtypes)] end
  return list()
end

-- A value of the same kind as v, or, now and then, of any.
local function other(v)
  if random(5) == 1 then return value() end
  if require("dt.util").is_tensor(v) then return tensor() end
  if type(v) == "boolean" then return not v end
  if math.type(v) == "integer" then return pick(ints) end
  if type(v) == "number" then return pick(floats) end
  if type(v) == "string" then return pick(texts) end
  if type(v) == "table" and v ~= dt.None and #v > 0 and random(3) > 1 then
    local out = {table.unpack(v)}
    local i = random(#out)
    if random(3) == 1 then
      table.remove(out, i)
    else
      out[i] = other(out[i])
    end
    return out
  end
  return value()
end

local function changed(args, kw)
  local out = {n = args.n, table.unpack(args, 1, args.n)}
  for _ = 1, random(3) do
    local k = random(10)
    if k == 1 and out.n > 0 then
      out.n = out.n - 1
    elseif k == 2 and out.n < 12 then
      out.n = out.n + 1
      out[out.n] = value()
    elseif out.n > 0 then
      local i = random(out.n)
      out[i] = other(out[i])
    end
  end
  local named
  for name, v in pairs(kw or {}) do
    named = named or {}
    named[name] = random(2) == 1 and other(v) or v
  end
  return out, named
end

-- ---- calls ----

local function shown(v)
  if require("dt.util").is_tensor(v) then
    local ok, s = pcall(function () return v:_header() end)
    return ok and s or "tensor"
  end
  if type(v) == "table" and v ~= dt.None and getmetatable(v) == nil then
    local out = {}
    for i, x in ipairs(v) do out[i] = shown(x) end
    return "[" .. table.concat(out, ", ") .. "]"
  end
  return type(v) == "string" and ("%q"):format(v) or tostring(v)
end

local function text(name, args, kw)
  local out = {}
  for i = 1, args.n do out[i] = shown(args[i]) end
  for k, v in pairs(kw or {}) do out[#out + 1] = k .. "=" .. shown(v) end
  return name .. "(" .. table.concat(out, ", ") .. ")"
end

local bad, calls, refused = {}, 0, 0

local function try(item, args, kw)
  local name = item.info.name
  if trace then io.stderr:write(text(name, args, kw), "\n") end
  local before = os.clock()
  local ok, e = pcall(S.call, item.op, args, kw)
  calls = calls + 1
  if not ok then
    refused = refused + 1
    if type(e) ~= "table" or type(e.class) ~= "string" then
      if not tostring(e):find("not enough memory", 1, true) then
        bad[#bad + 1] = text(name, args, kw) .. ": " .. tostring(e)
      end
    end
  end
  if os.clock() - before > 5 then
    bad[#bad + 1] = text(name, args, kw) .. ": took too long"
  end
end

local function parsed(item)
  local samples = item.info.samples or {}
  if #samples == 0 then return {n = 0}, nil end
  local ok, args, kw = pcall(S.parse, pick(samples))
  if not ok then return {n = 0}, nil end
  return args, kw
end

local items = S.all()
local start, round = os.clock(), 0

-- Ranks end after the same call, whatever their clocks say; a pretended world
-- is one process, with one clock.
local by_clock = n_ranks == 1 or dt.is_fake()

local function done()
  if not by_clock then return calls >= seconds * 500 end
  return os.clock() - start > seconds
end

repeat
  round = round + 1
  -- another order each round, so that every operator has its turn early
  local first = random(#items)
  for i = 1, #items do
    local item = items[(first + i * 37) % #items + 1]
    if not only or item.info.name:find(only, 1, true) then
      local args, kw = parsed(item)
      try(item, changed(args, kw))
    end
    if done() then break end
  end
until done()

print(("seed %d: %d calls, %d refused"):format(seed, calls, refused))
if #bad > 0 then
  error(#bad .. " calls ended without an error object:\n"
    .. table.concat(bad, "\n", 1, math.min(20, #bad)), 0)
end
assert(calls > 200 or only, "too few calls were made")

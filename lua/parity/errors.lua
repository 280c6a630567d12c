-- SPDX-License-Identifier: MIT
-- parity/errors.lua: short Python programs with what came of them: the
-- class and text of the error, the result of the last line, the warnings.
--
-- A program runs in a pretend world of eight ranks (rank 0), one of the lines
-- "multi/..." on four real ones.  Every program starts with fresh meshes and
-- with the switches of the session as they are at the start.

local dt = require "dt"
local util = require "dt.util"
local python = require "torch"
local V = require "python.values"
local attrs = require "python.attrs"
local meshes = require "torch.mesh"
local kinds = require "torch.kinds"
local facts = require "parity.facts"
local system = require "python.std.system"

local M = {}
local None = dt.None
local names = python.names

-- ---- the names of the programs ----

local dtypes = {f32 = dt.float32, f64 = dt.float64, bf16 = dt.bfloat16,
  f16 = dt.float16, i64 = dt.int64, i32 = dt.int32, i16 = dt.int16,
  i8 = dt.int8, u8 = dt.uint8, bool = dt.bool, c64 = dt.complex64,
  c128 = dt.complex128, f8_e4m3fn = dt.float8_e4m3fn,
  f8_e5m2 = dt.float8_e5m2}

local function keyword(kw, name, default)
  local v = kw and V.dict_get(kw, name)
  if v == nil then return default end
  return v
end

-- A plain tensor of halves; integers and booleans are zero.
local function plain(shape, short)
  local dtype = dtypes[short] or dt.float32
  local exact = short and short:find("^[iub]")
  if exact then return dt.zeros(shape, {dtype = dtype}) end
  return dt.full(shape, 0.5, {dtype = dt.float32}):to(dtype)
end

local custom = {
  {"thing(Tensor x) -> Tensor", function (x) return x + 0 end},
  {"pair(Tensor a, Tensor b) -> Tensor", function (a, b) return a + b end},
  {"scale(Tensor x, float k) -> Tensor", function (x, k) return x * k end},
  {"kwt(Tensor x, *, Tensor? y=None) -> Tensor",
    function (x) return x + 0 end},
  {"sink(Tensor x) -> ()", function () end},
  {"many(Tensor x) -> Tensor[]",
    function (x) return {x + 0, x + 0} end},
  {"bump_(Tensor(a!) x) -> Tensor(a!)", function (x) return x:add_(1) end},
  {"fwdok(Tensor x) -> Tensor", function (x) return x + 0 end},
}

local function define_custom()
  for _, c in ipairs(custom) do
    pcall(dt.library.define, "mylib::" .. c[1], c[2])
  end
  pcall(dt.library.define,
    "mynpu::_npu_dtype_cast(Tensor x, ScalarType dtype) -> Tensor",
    function (x, dtype) return x:to(dtype) end)
end

local function fresh_names(vars)
  vars.R = dt.Replicate()
  vars.S, vars.P = names.flat.Shard, names.flat.Partial
  vars.m = dt.DeviceMesh("cpu", {0, 1, 2, 3}, {mesh_dim_names = {"x"}})
  if dt.world_size() ~= 8 then return end
  vars.m2 = dt.init_device_mesh("cpu", {2, 4},
    {mesh_dim_names = {"dp", "tp"}})
  vars.m3 = dt.init_device_mesh("cpu", {2, 2, 2},
    {mesh_dim_names = {"a", "b", "c"}})
end

-- Names of torch that stand for operators with a prefix.
local function prefixed(prefix)
  return attrs.namespace(setmetatable({}, {__index = function (_, name)
    local v = dt[prefix .. name]
    return v
  end}))
end

for _, part in ipairs {"linalg", "fft", "special"} do
  if rawget(names.torch, part) == nil then
    rawset(names.torch, part, prefixed(part .. "_"))
  end
end

local function explicit_context()
  local old
  return {
    __enter__ = function () old = dt._set_explicit_redist(1) end,
    __exit__ = function () dt._set_explicit_redist(old) end,
  }
end

-- What the programs import that has no module here.
local imported = {
  ExplicitRedistributionContext = V.builtin(explicit_context,
    "ExplicitRedistributionContext"),
  CommDebugMode = V.builtin(function () return None end, "CommDebugMode"),
  checkpoint = V.builtin(function (a)
    return python.call(a[1], V.list({table.unpack(a, 2, a.n)}, a.n - 1))
  end, "checkpoint"),
}

local function environment(multi)
  local env = python.environment()
  local vars = env.vars
  fresh_names(vars)
  for name, v in pairs(imported) do
    vars[name] = v
    if names.flat[name] == nil then names.flat[name] = v end
  end
  vars.T = V.builtin(function (a, kw)
    if multi then
      local shape = V.to_lua(a)
      return dt.ones(shape)
    end
    return plain(V.to_lua(a), keyword(kw, "dt"))
  end, "T")
  vars.D = V.builtin(function (a, kw)
    local shape, pl = V.to_lua(a[1]), {}
    for i = 2, a.n do pl[i - 1] = a[i] end
    local mesh = keyword(kw, "m", vars.m)
    local sizes = dt._local_shape(shape, mesh, pl)
    local stride, n = {}, 1
    for i = #shape, 1, -1 do
      stride[i] = n
      n = n * math.max(shape[i], 1)
    end
    return dt.DTensor.from_local(plain({table.unpack(sizes)},
      keyword(kw, "dt")), mesh, pl, {shape = shape, stride = stride,
      run_check = false})
  end, "D")
  return env
end

-- ---- results ----

local function spec_names(t)
  local pl = {}
  for i, p in ipairs(t.placements) do
    pl[i] = tostring(p):gsub("^MaskP%(.*$", "MaskP(sum)")
  end
  return pl
end

local function described(v)
  if util.is_tensor(v) then
    local out = {shape = {table.unpack(v.shape)}}
    local name = facts.dtype_name(v.dtype)
    if util.is_dtensor(v) then
      out.dt, out.pl = name, spec_names(v)
    else
      out.t = name
    end
    return out
  elseif util.is_mesh(v) then
    return {mesh = tostring(v)}
  elseif V.is_seq(v) then
    local out = {}
    for i = 1, v.n do out[i] = described(v[i]) end
    return out
  elseif type(v) == "table" and getmetatable(v) == nil and #v > 0 then
    local out = {}
    for i, x in ipairs(v) do out[i] = described(x) end
    return out
  elseif type(v) == "string" or type(v) == "number"
     or type(v) == "boolean" or v == None then
    return v
  end
  return V.repr(v)
end

local function json(v) return facts.encode(v) end

local function same_value(want, got)
  if type(want) == "table" and (want.dt or want.t) and want.shape then
    if type(got) ~= "table" then return false end
    return got.dt == want.dt and got.t == want.t
      and json(got.shape) == json(want.shape)
      and json(got.pl or {}) == json(want.pl or {})
  elseif type(want) == "table" and want.mesh then
    return type(got) == "table" and got.mesh == want.mesh
  elseif type(want) == "table" then
    if type(got) ~= "table" or #got ~= #want then return false end
    for i, w in ipairs(want) do
      if not same_value(w, got[i]) then return false end
    end
    return true
  end
  return want == got
end

-- ---- texts ----

-- Addresses and folders have no fixed text.
local function plain_text(s)
  s = s:gsub("0x%x+", "0xADDR")
  return s
end

local no_order = {["Mixed Partial reduce types"] = true,
  ["FSDP expects uniform original parameter dtype"] = true}

-- Words of a set in Python's order of the day: compared as a set.
local function same_text(want, got)
  want, got = plain_text(want), plain_text(got)
  if want == got then return true end
  for start in pairs(no_order) do
    if want:sub(1, #start) == start and got:sub(1, #start) == start then
      local function words(s)
        local list = {}
        for w in s:gmatch("[%w_']+") do list[#list + 1] = w end
        table.sort(list)
        return table.concat(list, " ")
      end
      return words(want) == words(got)
    end
  end
  return false
end

local function raised_text(r)
  return ("%s: %s"):format(tostring(r.class), tostring(r.text))
end

-- ---- one program ----

-- The statements, and the value of the last line where it is an expression.
local function execute(text, env)
  local value = python.last(text, env)
  return value
end

local function reset()
  dt._set_implicit_replication(false)
  dt._set_grad_enabled(true)
  dt._set_inference(false)
  meshes.reset()
end

-- Run; returns value, error, warnings.
local function outcome(text, multi)
  local env = environment(multi)
  dt._forget_decisions()
  local value
  local events, _, e = dt.debug.record(function ()
    value = execute(text, env)
  end)
  reset()
  local warns = {}
  for _, ev in ipairs(events) do
    if ev.kind == "WARNING" then warns[#warns + 1] = ev.text end
  end
  return value, e, warns
end

-- Where two texts part.
local function first_difference(want, got)
  local at = 1
  while at <= #want and want:byte(at) == got:byte(at) do at = at + 1 end
  return at > 60 and (" (from character %d)"):format(at) or ""
end

-- Programs whose warnings come as often as the generator has it: PyTorch's
-- trunc_normal_ draws again until all numbers are inside, and warns each time;
-- of a local f32[2, 8] after torch.manual_seed(0) twice, after (1) once.
local by_draws = {"trunc_normal_"}

-- The list, repeated texts once.
local function once(list)
  local out = {}
  for _, text in ipairs(list) do
    if text ~= out[#out] then out[#out + 1] = text end
  end
  return out
end

local function same_warnings(want, got, program)
  local list = {}
  for _, w in ipairs(want or {}) do
    local text = type(w) == "table" and w.text or w
    list[#list + 1] = (text:gsub(" %(Triggered internally at .*$", ""))
  end
  for _, name in ipairs(by_draws) do
    if program:find(name, 1, true) then list, got = once(list), once(got) end
  end
  local a, b = table.concat(list, " | "), table.concat(got, " | ")
  if plain_text(a) == plain_text(b) then return nil end
  return ("warnings: want [%s], got [%s]"):format(a, b)
end

-- What a program of ours cannot have, by what its text names.
local absent = {
  {"torch%.compile", "a compiler"}, {"%.cuda%(", "a CUDA device"},
  {"torch%.jit", "a compiler"}, {"torch%._dynamo", "a compiler"},
  {"torch%.export", "a compiler"}, {"make_fx", "a tracer"},
  -- here ranks agree on sizes before they exchange data, and all stop
  {"distribute_tensor%(T%(%d+ %+ r%)", "ranks that exchange unlike sizes"},
}

local function left_out(text)
  for _, a in ipairs(absent) do
    if text:find(a[1]) then return a[2] end
  end
end

local function check(line)
  local value, e, warns = outcome(line.python)
  local got = e and facts.failure(e)
  if line.raises then
    if not got then
      return ("no error, want %s"):format(raised_text(line.raises))
    end
    if got.class ~= line.raises.class
       or not same_text(line.raises.text, got.text) then
      return ("want %s, got %s%s"):format(raised_text(line.raises),
        raised_text(got), first_difference(line.raises.text, got.text))
    end
  else
    if got then return "raised " .. raised_text(got) end
    if line.out ~= nil then
      local d = described(value == nil and None or value)
      if not same_value(line.out, d) then
        return ("want %s, got %s"):format(json(line.out), json(d))
      end
    end
  end
  return same_warnings(line.warns, warns, line.python)
end

-- ---- four real ranks ----

local function per_rank(line)
  local env = environment(true)
  local ok, got = pcall(function ()
    python.run(line.python, env)
    local name = line.python:match("def%s+([%w_]+)%(")
    return described(python.call(env.vars[name],
      V.list {dt.rank(), env.vars.m}))
  end)
  reset()
  local mine
  if ok then
    mine = {value = got}
  else
    mine = {raises = facts.failure(got)}
  end
  for i, r in ipairs(facts.gather(mine)) do
    local want = line.all_ranks or line.per_rank[i]
    if want.raises then
      if not r.raises or r.raises.class ~= want.raises.class
         or not same_text(want.raises.text, r.raises.text) then
        return ("rank %d: want %s, got %s"):format(i - 1,
          raised_text(want.raises), json(r))
      end
    elseif r.raises or not same_value(want.value, r.value) then
      return ("rank %d: want %s, got %s"):format(i - 1, json(want.value),
        json(r))
    end
  end
end

-- Check a file; returns a list of {what, why, skip}.
function M.check(path, only)
  local report = {}
  define_custom()
  dt._warn_always(true)
  kinds.cpu_only = true
  dt._pretend_data(true)                -- as in PyTorch's fake process group
  for text in io.lines(path) do
    local line = dt._json_decode(text)
    local id = line.id or ""
    if only == "" or id:find(only, 1, true) then
      local skip = left_out(line.python)
      local f = id:find("^multi/") and per_rank or check
      local why = not skip and f(line) or nil
      report[#report + 1] = {what = id, why = why, skip = skip}
    end
  end
  system.remove_folders()
  dt._pretend_data(false)
  kinds.cpu_only = false
  dt._warn_always(false)
  return report
end

return M

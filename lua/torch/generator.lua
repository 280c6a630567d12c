-- SPDX-License-Identifier: MIT
-- torch/generator.lua: torch.Generator, the state of the random numbers and
-- torch.random.  On the CPU the numbers after a seed are PyTorch's; a state is
-- shorter than PyTorch's, a seed and counts in a tensor of uint8.

local dt = require "dt"
local util = require "dt.util"
local V = require "python.values"
local attrs = require "python.attrs"
local attributes = require "torch.attributes"
local args = require "python.args"
local eval = require "python.eval"
local signatures = require "torch.signatures"

local M = {}
local None, given, def = dt.None, args.given, args.def

-- ---- states ----

local function to_tensor(state)
  return dt.tensor({state:byte(1, -1)}, {dtype = dt.uint8})
end

local function from_tensor(t)
  if not util.is_tensor(t) or t.dtype ~= dt.uint8 then
    util.raise("TypeError", "RNG state must be a torch.ByteTensor")
  end
  local bytes = t:tolist()
  if #bytes ~= #dt._rng() then
    util.raise("RuntimeError", "RNG state is wrong size")
  end
  return string.char(table.unpack(bytes))
end

local function seed_of(state) return (string.unpack("=i8", state)) end

-- A seed nobody chose, the same on no two calls.
local function any_seed()
  local seed, offset = string.unpack("=i8i8", dt._rng())
  local x = (seed + 1) * 6364136223846793005 + offset * 1442695040888963407 + 1
  return (x ~ (x >> 29)) & 0x1fffffffffffff
end

-- ---- generators ----

local generator_mt = {__name = "Generator"}

local function new_generator(device)
  local g = attrs.namespace(setmetatable({device = device or "cpu",
    state = dt._rng_seeded(67280421310721)}, generator_mt))
  g.manual_seed = V.builtin(function (a)
    g.state = dt._rng_seeded(a[1])
    return g
  end, "manual_seed")
  g.initial_seed = V.builtin(function () return seed_of(g.state) end,
    "initial_seed")
  g.seed = V.builtin(function ()
    g.state = dt._rng_seeded(any_seed())
    return seed_of(g.state)
  end, "seed")
  g.get_state = V.builtin(function () return to_tensor(g.state) end,
    "get_state")
  g.set_state = V.builtin(function (a)
    g.state = from_tensor(a[1])
    return g
  end, "set_state")
  return g
end

M.Generator = def("Generator", {"device?"}, function (a)
  return new_generator(given(a.device) and tostring(a.device) or nil)
end)

-- f's random numbers come from g.
local function with_generator(g, f)
  if getmetatable(g) ~= generator_mt then
    util.raise("TypeError", "argument 'generator' must be torch._C.Generator, "
      .. "not %s", V.type_name(g))
  end
  local own = dt._rng(g.state, true)
  local r = table.pack(pcall(f))
  g.state = dt._rng(own, false)
  if not r[1] then error(r[2], 0) end
  return table.unpack(r, 2, r.n)
end

-- f(a, kw), its random numbers from kw's generator.
local function drawn(f, a, kw)
  local call = eval.call
  local g = kw and V.dict_get(kw, "generator")
  if g == nil then return call(f, a, kw) end
  local rest = V.dict()
  for k, v in V.each(kw) do
    if k ~= "generator" then V.dict_set(rest, k, v) end
  end
  if g == None then return call(f, a, rest) end
  return with_generator(g, function () return call(f, a, rest) end)
end

-- A function of torch that takes generator=.
local function taking(name, f)
  return V.builtin(function (a, kw) return drawn(f, a, kw) end, name)
end

-- A tensor's method that does.
local function method_taking(name)
  return function (t, a, kw)
    return drawn(t[name], V.list({t, table.unpack(a, 1, a.n)}, a.n + 1), kw)
  end
end

-- ---- torch's own state ----

-- States that this rank has asked for last: put back, they are its own.
local KEPT = 256
local asked, order, n = {}, {}, 0

local function note_asked(state)
  local slot = n % KEPT + 1
  if order[slot] then asked[order[slot]] = nil end
  order[slot], asked[state], n = state, true, n + 1
end

M.get_rng_state = def("get_rng_state", {}, function ()
  local state = dt._rng()
  note_asked(state)
  return to_tensor(state)
end)

M.set_rng_state = def("set_rng_state", {"new_state"}, function (a)
  local state = from_tensor(a.new_state)
  local before = dt._rng(state, true)
  if dt.world_size() > 1 then
    dt._claim("OTHERS_GENERATOR", "set_rng_state", "torch.default_generator",
      "states of the generators before; now they are one rank's", before, state,
      asked[state])
  end
  return None
end)

M.initial_seed = def("initial_seed", {}, function ()
  return seed_of(dt._rng())
end)

M.seed = def("seed", {}, function ()
  local seed = any_seed()
  dt.manual_seed(seed)
  return seed
end)

-- with torch.random.fork_rng(): the state is afterwards what it was before.
M.fork_rng = def("fork_rng", {"devices?", "enabled?", "_caller?",
  "_devices_kw?", "device_type?"}, function (a)
  local scope, state = attrs.namespace {}, nil
  local on = a.enabled ~= false
  scope.__enter__ = function ()
    state = dt._rng()
    return None
  end
  scope.__exit__ = function ()
    if on then dt._rng(state) end
    return false
  end
  return scope
end)

local drawing = {"rand", "randn", "randint", "randperm", "bernoulli",
  "multinomial", "normal", "rand_like", "randn_like", "randint_like"}
local drawing_methods = {"bernoulli", "bernoulli_", "cauchy_", "exponential_",
  "geometric_", "log_normal_", "multinomial", "normal_", "random_", "uniform_"}

-- Functions of nn.init that draw.
local drawing_inits = {"uniform_", "normal_", "trunc_normal_", "kaiming_normal_",
  "kaiming_uniform_", "xavier_normal_", "xavier_uniform_", "orthogonal_",
  "sparse_"}

-- Put them into torch and torch.random.
function M.provide(torch)
  M.default_generator = new_generator()
  for name, f in pairs {get_state = M.get_rng_state, set_state = M.set_rng_state,
      initial_seed = M.initial_seed} do
    M.default_generator[name] = f
  end
  M.default_generator.manual_seed = V.builtin(function (a)
    dt.manual_seed(a[1])
    return M.default_generator
  end, "manual_seed")
  local random = attrs.namespace {manual_seed = M.default_generator.manual_seed}
  for _, name in ipairs {"get_rng_state", "set_rng_state", "initial_seed",
      "seed", "fork_rng", "default_generator"} do
    random[name] = M[name]
    if name ~= "fork_rng" then rawset(torch, name, M[name]) end
  end
  rawset(torch, "Generator", M.Generator)
  rawset(torch, "random", random)
  attrs.provide("torch.random", random)
  for _, name in ipairs(drawing) do
    local f = torch[name]
    if f ~= nil then rawset(torch, name, taking(name, f)) end
  end
  for _, name in ipairs(drawing_methods) do
    attributes.tensor_method[name] = method_taking(name)
  end
  local init = signatures.init
  for _, name in ipairs(drawing_inits) do init[name] = taking(name, init[name]) end
end

return M

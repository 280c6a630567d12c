-- SPDX-License-Identifier: MIT
-- torch/spmd/watch.lua: while calls are checked, looks at those that a Python
-- program makes: functions of torch, methods and signs of tensors.

local util = require "dt.util"
local V = require "python.values"
local attrs = require "python.attrs"
local attributes = require "torch.attributes"
local calls = require "python.call"
local ops = require "python.ops"
local check = require "dt.spmd.check"
local values = require "dt.spmd.values"
local watch = require "dt.spmd.watch"

local M = {given_to_modes = {}}

local function set(text)
  local out = {}
  for word in text:gmatch("%S+") do out[word] = true end
  return out
end

-- What asks of a tensor and does nothing with it.
local silent = set [[size stride dim ndimension numel nelement element_size
  is_contiguous is_floating_point is_complex is_signed is_conj is_neg
  data_ptr storage untyped_storage storage_offset requires_grad_ retain_grad
  register_hook register_post_accumulate_grad_hook get_device backward
  is_inference is_pinned numpy wait]]
local properties = set "T mT H mH real imag"
-- And what a program's own modes see of it.
local facts = set [[shape dtype device requires_grad grad grad_fn is_leaf data
  ndim layout itemsize nbytes output_nr retains_grad is_meta is_cuda is_sparse
  is_quantized names]]

-- ---- functions of torch ----

-- Functions that are no operation.
local counted = set "is_floating_point is_complex is_nonzero numel"
local unseen = set [[is_tensor is_storage is_floating_point is_complex
  is_nonzero numel save load manual_seed seed no_grad enable_grad
  set_grad_enabled inference_mode is_grad_enabled set_default_dtype
  get_default_dtype compile Tensor Size device dtype Generator get_rng_state
  set_rng_state from_numpy Parameter]]

-- {table, qualifier, prefix of names}, and how often they got a name from
-- behind them: torch.names gives both.
local spaces, list_spaces, names_count
function M.set_spaces(list, count) list_spaces, names_count = list, count end

local known = setmetatable({}, {__mode = "k"})
local index, indexed                -- function -> {key, name, own name}

local function place_of(s, name)
  return {s[2] .. s[3] .. name, s[3] .. name, name}
end

local function is_callable(v)
  local kind = type(v)
  return kind == "function" or kind == "table" or kind == "userdata"
end

-- Functions of the spaces; of several names the first in the first space.
local function build_index()
  index, indexed = {}, names_count()
  for _, s in ipairs(spaces) do
    local names = {}
    for name in pairs(s[1]) do
      if type(name) == "string" then names[#names + 1] = name end
    end
    table.sort(names)
    for _, name in ipairs(names) do
      local v = rawget(s[1], name)
      if is_callable(v) and index[v] == nil then index[v] = place_of(s, name) end
    end
  end
end

local function find(f)
  spaces = spaces or list_spaces()
  local own = type(f) == "table" and rawget(f, "name")
  if type(own) ~= "string" then
    -- A name space gets a name when it is first asked for it.
    if indexed ~= names_count() then build_index() end
    return index[f] or false
  end
  for _, s in ipairs(spaces) do
    if rawequal(rawget(s[1], own), f) then return place_of(s, own) end
  end
  return false
end

-- The key and the name of a function of torch, or nil.
local function key_of(f)
  if not is_callable(f) or type(f) == "table" and rawget(f, "is_looked_at") then
    return nil
  end
  local found = known[f]
  if found == nil then
    found = find(f)
    if found and (unseen[found[3]] or found[3]:find("^%u%w*Tensor$")) then
      found = false
    end
    known[f] = found
  end
  if found then return found[1], found[2] end
end

local passing                       -- is being called, and was looked at

-- torch.autograd.grad looks at tuples.
local function in_tuple(v)
  if util.is_tensor(v) then return V.tuple({v}, 1) end
  return V.is_list(v) and V.tuple({table.unpack(v, 1, v.n)}, v.n) or v
end

local function seen(f, args, kw)
  local given = M.given_to_modes[f]     -- a method that a mode calls
  if given then
    M.given_to_modes[f] = nil
    return true, given(args, kw)
  end
  if check.busy() then return false end
  if check.has_modes() then return M.seen_by_modes(f, args, kw) end
  if passing == f then
    passing = nil
    return false
  end
  local key, name = key_of(f)
  if not key then return false end
  if key == "autograd.grad" then
    for i = 1, math.min(args.n, 3) do args[i] = in_tuple(args[i]) end
  end
  return true, check.run(key, name, function (a, k)
    if not check.busy() then passing = f end
    return calls.call(f, a, k)
  end, args, kw)
end

-- ---- methods ----

local function rest(args) return V.list({table.unpack(args, 2, args.n)},
  args.n - 1) end

local function joined(t, args)
  return V.list({t, table.unpack(args, 1, args.n)}, args.n + 1)
end

local inside = false                -- asks for the plain attribute

local function attribute(t, name)
  local modes = check.has_modes()
  if inside or check.busy() or silent[name] and not modes
     or name:find("^_") then
    return false
  end
  if properties[name] or modes and facts[name] then
    return true, check.run("Tensor." .. name, "__get__", function (a)
      return attrs.get(a[1], name)
    end, V.list({t}, 1))
  end
  inside = true
  local ok, f = pcall(attrs.get, t, name)
  inside = false
  if not ok then error(f, 0) end
  if not V.is_function(f) and type(f) ~= "function" then return true, f end
  local method = V.builtin(function (args, kw)
    return check.run("Tensor." .. name, name, function (a, k)
      return calls.call(f, rest(a), k)
    end, joined(t, args), kw, function (a, k)
      return calls.call(attrs.get(a[1], name), rest(a), k)
    end)
  end, name)
  method.is_looked_at = true
  return true, method
end

-- ---- signs ----

-- What a sign is called: where the tensor is on the left, and on the right.
local sign = {["+"] = {"add", "add"}, ["-"] = {"sub", "__rsub__"},
  ["*"] = {"mul", "mul"}, ["/"] = {"div", "__rdiv__"},
  ["//"] = {"__floordiv__", "__rfloordiv__"},
  ["%"] = {"remainder", "__rmod__"}, ["**"] = {"pow", "__rpow__"},
  ["@"] = {"matmul", "__rmatmul__"}, ["|"] = {"__or__", "__ror__"},
  ["&"] = {"__and__", "__rand__"}, ["^"] = {"__xor__", "__rxor__"},
  ["<<"] = {"__lshift__", "__rlshift__"},
  [">>"] = {"__rshift__", "__rrshift__"}, ["=="] = {"__eq__", "__eq__"},
  ["!="] = {"ne", "ne"}, ["<"] = {"lt", "gt"}, [">"] = {"gt", "lt"},
  ["<="] = {"le", "ge"}, [">="] = {"ge", "le"}}

local function binary(op, f, a, b)
  if check.busy() then return f(a, b) end
  local left = util.is_tensor(a)
  local name = sign[op][left and 1 or 2]
  return check.run("Tensor." .. name, name, function (args)
    if left then return f(args[1], args[2]) end
    return f(args[2], args[1])
  end, left and V.list({a, b}, 2) or V.list({b, a}, 2))
end

-- Is one of them a number with types?
local function takes(a, b)
  return not check.busy() and (check.scalar(a) or check.scalar(b)) ~= nil
end

local one_sided = {["-"] = "neg", ["+"] = "positive", ["~"] = "__invert__"}

local function unary(op, f, a)
  if check.busy() then return f(a) end
  return check.run("Tensor." .. one_sided[op], one_sided[op], function (args)
    return f(args[1])
  end, V.list({a}, 1))
end

-- A method by its name: __getitem__, add_, __float__.
local function method(name, f, ...)
  if check.busy() then return f(...) end
  local list = table.pack(...)
  return check.run("Tensor." .. name, name, function (a)
    return f(table.unpack(a, 1, a.n))
  end, V.list(list, list.n))
end
M.method = method

-- ---- on and off ----

local plain = {}

local function patch(name, f)
  plain[name] = V[name]
  V[name] = f
end

local function patch_values()
  patch("tensor_truth", function (t)
    return method("__bool__", plain.tensor_truth, t)
  end)
  for _, name in ipairs {"repr", "str"} do
    patch(name, function (v)
      if not util.is_tensor(v) or v.is_dtensor then return plain[name](v) end
      return method("__repr__", plain[name], v)
    end)
  end
  patch("tensor_number", function (t)
    return method("__float__", plain.tensor_number, t)
  end)
  patch("contains", function (box, v)
    if not util.is_tensor(box) then return plain.contains(box, v) end
    return method("__contains__", plain.contains, box, v)
  end)
  for _, name in ipairs {"iter", "items"} do
    patch(name, function (v)
      if not util.is_tensor(v) or check.busy() then return plain[name](v) end
      return plain[name](attrs.get(v, "unbind").call(V.list({}, 0)))
    end)
  end
end

local before

local function turn(now)
  attributes.watch(now and attribute or nil, now and function (f, t, v)
    method("__set__", f, t, v)
  end or nil)
  ops.watch(now and {binary = binary, unary = unary, method = method,
    takes = takes} or nil)
  if now then
    before = calls.set_seen(seen)
    patch_values()
  else
    calls.set_seen(before)
    for name, f in pairs(plain) do V[name] = f end
  end
end

-- What a program's own modes see of a call; they are given the function itself.
function M.seen_by_modes(f, args, kw)
  local found = type(f) == "table" and rawget(f, "is_looked_at") and nil
    or is_callable(f) and find(f)
  if not found or found[3]:find("^%u%w*Tensor$")
     or unseen[found[3]] and not counted[found[3]] then
    return false
  end
  return true, check.run(found[1], found[2], f, args, kw, "itself")
end

values.use(V)
watch.also = turn
M.key_of = key_of

return M

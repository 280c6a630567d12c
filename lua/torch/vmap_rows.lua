-- SPDX-License-Identifier: MIT
-- torch/vmap_rows.lua: under vmap, operators without a rule of their own: the
-- operator runs for each row, and its results are stacked; and what draws
-- numbers, as vmap's `randomness` says.
--
-- The numbers are those of PyTorch's batched operators but for the last bits.
-- A DTensor would lose its placements so: there the operator is refused.

local dt = require "dt"
local util = require "dt.util"
local V = require "python.values"
local attrs = require "python.attrs"
local calls = require "python.call"
local builtin_names = require "python.builtin_names"
local spaces = require "torch.spaces"

local None = dt.None
local M = {MODES = {error = true, same = true, different = true}}
local wrap, is_batched, mode

-- What draws a tensor of a size; of the shape of one; and what draws otherwise.
local FACTORIES <const> = {"rand", "randn", "randint"}
local OTHERS <const> = {rand_like = "like", randn_like = "like",
  randint_like = "like", bernoulli = "like", dropout = "like",
  randperm = "other", normal = "other", multinomial = "other",
  alpha_dropout = "other", feature_dropout = "other", dropout1d = "other",
  dropout2d = "other", dropout3d = "other", rrelu = "other",
  gumbel_softmax = "other", poisson = "other"}

local DRAWN_IN_PLACE <const> = {bernoulli_ = true, cauchy_ = true,
  exponential_ = true, geometric_ = true, log_normal_ = true, normal_ = true,
  random_ = true, uniform_ = true}

-- The sizes of their results come of the numbers: rows would have different ones,
-- and where they happen to have the same PyTorch refuses them as well.
local SIZED_BY_DATA <const> = {nonzero = true, argwhere = true, unique = true,
  unique_consecutive = true, masked_select = true}

local OF_DATA <const> = {data_ptr = true, numpy = true, tolist = true}

-- ---- trees with rows ----

-- v with f(x) in place of each tensor with a hidden dim in it.
local function with(v, f)
  if is_batched(v) then return f(v) end
  if type(v) ~= "table" or util.is_tensor(v) then return v end
  if V.is_dict(v) and not V.is_set(v) then
    local d = V.dict()
    for k, x in V.each(v) do V.dict_set(d, k, with(x, f)) end
    return d
  elseif V.is_seq(v) and not rawget(v, "is_size") then
    local out = {}
    for i = 1, v.n do out[i] = with(v[i], f) end
    return (V.is_tuple(v) and V.tuple or V.list)(out, v.n)
  end
  return v
end

function M.has_batched(v)
  local any = false
  with(v, function (x) any = true return x end)
  return any
end

-- has_tensor(kw): is a tensor among keywords?
function M.has_tensor(kw)
  for _, v in V.each(kw or V.dict()) do
    if is_batched(v) or util.is_tensor(v) and not util.is_dtensor(v) then
      return true
    end
  end
  return false
end

-- Is one of these a mask of booleans with rows, or a tuple with one?
local function has_mask(at)
  local any = false
  with(at, function (x)
    any = any or attrs.get(x.value, "dtype") == dt.bool
    return x
  end)
  return any
end

local function check_sizes(name, args)
  if SIZED_BY_DATA[name] or name == "where" and args.n == 1 then
    util.raise("RuntimeError", "vmap: We do not support batching operators that "
      .. "can output dynamic shape. Attempted to vmap over aten::%s.", name)
  elseif name == "__getitem__" and has_mask(args[2]) then
    util.raise("RuntimeError", "vmap: We do not support batching operators that "
      .. "can support dynamic shape. Attempting to batch over indexing with a "
      .. "boolean mask.")
  end
end

-- How many rows; refuses DTensors, and no rows, of which nothing is learnt.
local function count(name, args, kw)
  local n
  local function see(x)
    local value = x.value
    if util.is_dtensor(value) then
      util.refuse("vmap of %s is not part of dtrepl", name)
    end
    n = V.items(attrs.get(value, "shape"))[1]
    return x
  end
  with(args, see)
  if kw then with(kw, see) end
  if n == 0 then
    util.refuse("vmap of %s over no rows is not part of dtrepl", name)
  end
  return n
end

local function row_of(i)
  return function (x)
    return V.call(attrs.get(x.value, "select"), V.list {0, i})
  end
end

-- The results of all rows as one with the hidden dim.
local function stacked(all)
  local one = all[1]
  if util.is_tensor(one) or is_batched(one) then
    return wrap(V.call(spaces.torch.stack, V.list {V.list(all)}))
  elseif V.is_seq(one) and not rawget(one, "is_size") then
    local out = {}
    for k, v in next, one do out[k] = v end     -- the names of its parts, too
    for i = 1, one.n do
      local of = {}
      for k, v in ipairs(all) do of[k] = v[i] end
      out[i] = stacked(of)
    end
    return setmetatable(out, getmetatable(one))
  end
  return one                            -- a size, a number, None
end

local function by_rows(name, f, args, kw)
  check_sizes(name, args)
  local all = {}
  for i = 0, count(name, args, kw) - 1 do
    local row = row_of(i)
    all[i + 1] = V.call(f, with(args, row), kw and with(kw, row))
  end
  return stacked(all)
end

-- ---- numbers that are drawn ----

local draws

local function find_draws()
  draws = {}
  for _, name in ipairs(FACTORIES) do draws[spaces.torch[name]] = "size" end
  for name, kind in pairs(OTHERS) do
    for _, space in ipairs {spaces.torch, spaces.F} do
      local f = space[name]
      if f then draws[f] = kind end
    end
  end
end

-- is_draw(f, args, kw): does f draw numbers?  F.dropout(x, p, False) does not.
function M.is_draw(f, args, kw)
  if not draws then find_draws() end
  local on = kw and V.dict_get(kw, "training")
  return draws[f] ~= nil and not (on == false
    or f == spaces.F.dropout and args[3] == false)
end

-- f itself, which is not asked for again.
local function plain(f, args, kw)
  local before = calls.set_seen(nil)
  local out = table.pack(pcall(V.call, f, args, kw))
  calls.set_seen(before)
  if not out[1] then error(out[2], 0) end
  return out[2]
end

-- The arguments of a factory with `n` before the sizes.
local function with_rows(args, kw, n)
  local out, done = {}, false
  for i = 1, args.n do
    local v = args[i]
    if not done and V.is_seq(v) then
      v, done = V.list({n, table.unpack(v, 1, v.n)}, v.n + 1), true
    end
    out[i] = v
  end
  local size = kw and V.dict_get(kw, "size")
  if size then
    local d = V.dict()
    for k, v in V.each(kw) do V.dict_set(d, k, v) end
    V.dict_set(d, "size", V.list({n, table.unpack(size, 1, size.n)}, size.n + 1))
    return V.list(out, args.n), d
  elseif not done then
    table.insert(out, 1, n)
    return V.list(out, args.n + 1), kw
  end
  return V.list(out, args.n), kw
end

-- draw(f, args, kw): whether the call is done here, and its result.
function M.draw(f, args, kw)
  local how, n = mode()
  if how == "error" then
    util.raise("RuntimeError", "vmap: called random operation while in "
      .. "randomness error mode. Please either use the 'same' or 'different' "
      .. "randomness flags on vmap or perform the randomness operation out of "
      .. "vmap")
  end
  local batched = M.has_batched(args)
  if not batched and how == "same" then return false end
  if draws[f] == "size" then
    return true, wrap(plain(f, with_rows(args, kw, n)))
  elseif draws[f] == "like" and batched and how == "different" then
    return true, wrap(plain(f, with(args, function (x) return x.value end), kw))
  end
  return util.refuse("vmap of such a draw with randomness='%s' is not part of "
    .. "dtrepl", how)
end

-- ---- for vmap.lua ----

-- apply(name, f, args, kw): torch's function f row by row.
function M.apply(name, f, args, kw)
  if not f then util.refuse("vmap of %s is not part of dtrepl", name) end
  return by_rows(name, f, args, kw)
end

-- method(name, args): the method of the first argument row by row.
function M.method(name, args, kw)
  local f = V.builtin(function (a, k)
    return V.call(attrs.get(a[1], name), V.list({table.unpack(a, 2, a.n)},
      a.n - 1), k)
  end, name)
  local out = by_rows(name, f, args, kw)
  return out == nil and None or out
end

-- other(v, name): an attribute of v that has no rule: a method of the rows, or
-- what all rows have alike.
function M.other(v, name)
  if name:find("^__") then return attrs.missing(v, name) end
  if OF_DATA[name] then
    util.raise("RuntimeError", "Cannot access data pointer of Tensor that "
      .. "doesn't have storage")
  end
  local own = attrs.get(v.value, name)
  if util.is_tensor(own) then
    return by_rows(name, V.builtin(function (a) return attrs.get(a[1], name) end,
      name), V.list {v})
  elseif not V.truth(V.call(builtin_names.callable, V.list {own})) then
    return own
  elseif DRAWN_IN_PLACE[name] then
    util.refuse("vmap of %s is not part of dtrepl", name)
  end
  return V.builtin(function (a, kw)
    return M.method(name, V.list({v, table.unpack(a, 1, a.n)}, a.n + 1), kw)
  end, name)
end

return function (own)
  wrap, is_batched, mode = own.wrap, own.is_batched, own.mode
  return M
end

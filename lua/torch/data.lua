-- SPDX-License-Identifier: MIT
-- torch/data.lua: torch.utils.data: data sets, samplers and loaders, as
-- far as repros go: one process, batches by stacking.

local dt = require "dt"
local util = require "dt.util"
local object = require "python.object"
local V = require "python.values"
local spaces = require "torch.spaces"
local builtin_names = require "python.builtin_names"
local attrs = require "python.attrs"
local calls = require "python.call"
local ops = require "python.ops"
local classes = require "python.class"
local eval = require "python.eval"
local samplers = require "torch.samplers"

local None, builtin, namespace = dt.None, V.builtin, attrs.namespace

local function kwarg(kw, name)
  local v = kw and V.dict_get(kw, name)
  if v == None then return nil end
  return v
end

local function length(v)
  if V.is_seq(v) or V.is_range(v) then return v.n end
  if util.is_tensor(v) then return v.shape[1] end
  return builtin_names.len.call(V.list {v})
end

-- A class of torch.utils.data.`file`.
local function class(name, file, base, methods)
  local c = object.extend(base, name)
  c.__python, c.__home = true, "torch.utils.data." .. file
  for key, f in pairs(methods) do c[key] = calls.lua_method(builtin(f, key)) end
  return c
end

local Dataset = class("Dataset", "dataset", object.Object, {})

-- TensorDataset(a, b, …): tuples of rows.
local TensorDataset = class("TensorDataset", "dataset", Dataset, {
  __init__ = function (a)
    for i = 3, a.n do
      if a[i].shape[1] ~= a[2].shape[1] then
        util.raise("AssertionError", "Size mismatch between tensors")
      end
    end
    a[1].tensors = V.tuple({table.unpack(a, 2, a.n)}, a.n - 1)
    return None
  end,
  __len__ = function (a) return a[1].tensors[1].shape[1] end,
  __getitem__ = function (a)
    local t, row = a[1].tensors, {}
    for i = 1, t.n do row[i] = ops.getitem(t[i], a[2]) end
    return V.tuple(row, t.n)
  end,
})

-- ---- orders ----

local function torch() return spaces.torch end

-- A generator that starts with `seed`.
local function seeded(seed)
  local g = V.call(torch().Generator, V.list({}, 0))
  V.call(attrs.get(g, "manual_seed"), V.list {seed})
  return g
end

-- A number for a generator's seed, drawn by PyTorch's default one or `g`.
local function draw_seed(g)
  local kw = V.dict()
  if g then V.dict_set(kw, "generator", g) end
  local t = dt.empty({}, {dtype = dt.int64})
  return V.call(attrs.get(t, "random_"), V.list({}, 0), kw):item()
end

-- 0 … n-1 as generator `g` shuffles them.
local function shuffled(n, g)
  local kw, out = V.dict(), {}
  V.dict_set(kw, "generator", g)
  local p = V.call(torch().randperm, V.list {n}, kw)
  for i = 1, n do out[i] = p[i - 1]:item() end
  return out
end

local function in_order(n)
  local out = {}
  for i = 1, n do out[i] = i - 1 end
  return out
end

-- What a sampler begins: whether it goes through the same order as before
-- although parameters were updated since, as a text or nil; are some items
-- given twice where nothing is trained?
local function look_at(s)
  local now, again = dt._updates()
  local trains = dt.is_grad_enabled()   -- else a pass that only evaluates
  if trains and s.shuffle and s.looked == s.epoch and now > s.updates then
    again = ("epoch %d was begun again after %d updates"):format(s.epoch,
      now - s.updates)
  end
  if trains then s.looked, s.updates = s.epoch, now end
  dt._pass_begins(s.num_replicas)
  if s.size % s.num_replicas ~= 0 and not s.drop_last and not trains then
    dt._padded(s.size, s.num_replicas)
  end
  return again
end

-- The ranks among which items are dealt out must have them in one order: by one
-- seed, in one epoch.
local function compare_order(s, word)
  local ranks = s.num_replicas
  if not s.shuffle or ranks == 1 or ranks ~= dt.world_size()
     or not dt.is_grad_enabled() then
    return
  end
  dt._claim("SHUFFLED_APART", "DistributedSampler", "", word,
    tostring(s[word]), ("%d items"):format(s.size))
end

-- A list of whole numbers of which this rank takes every n-th one, or its run, where
-- there are n ranks: all must have them in one order.
local function compare_list(items, n, first, last, step)
  local MOST <const> = 4096
  local ranks, rank = dt.world_size(), dt.rank()
  local each = n // ranks
  if ranks < 2 or each < 2 or n > MOST or not dt.is_grad_enabled()
     or not (step == ranks and first == rank
             or step == 1 and first == rank * each and last == first + each) then
    return
  end
  local sorted = {}
  for i = 1, n do
    if math.type(items[i]) ~= "integer" then return end
    sorted[i] = items[i]
  end
  table.sort(sorted)
  dt._claim("SHUFFLED_APART", "list", "", "the order of a list of which each rank takes "
    .. "a part", table.concat(items, " ", 1, n), table.concat(sorted, " "))
end

ops.watch_parts(compare_list)

-- The items of a list.  Who trains on an order for the second time is told when
-- he asks for more after an update, or has them all: a look at the first batch
-- is no pass.
local function deal(out, again, updates)
  local next_item = V.iter(V.list(out))
  if not again then return next_item end
  return function ()
    local more, item = next_item()
    if again and (not more or dt._updates() > updates) then
      dt._finding("SAME_ORDER", nil, again, "DistributedSampler")
      again = nil
    end
    return more, item
  end
end

-- Tensors of a data set that have a row for each item.
local function look_at_rows(s, data)
  if s.num_replicas ~= dt.world_size() or type(data) ~= "table" then return end
  local found = util.is_tensor(data) and {data} or data.tensors
    or rawget(data, "_attrs") or {}
  for _, v in pairs(found) do
    if util.is_tensor(v) and #v.shape > 0 and v.shape[1] == s.size then
      dt._dealt_out(v)
    end
  end
end

-- What a subset takes of its data set must be the same on all ranks.
local function compare_subset(s, data)
  local items = type(data) == "table" and V.is_seq(data.indices) and data.indices
  if not items or s.num_replicas ~= dt.world_size() then return end
  local text = {}
  for i = 1, items.n do text[i] = V.str(items[i]) end
  dt._claim("SUBSETS_APART", "DistributedSampler", "", "the items that the subset of "
    .. "each rank takes", table.concat(text, " "), ("%d items"):format(s.size))
end

local DistributedSampler = class("DistributedSampler", "distributed", Dataset, {
  __init__ = function (a, kw)
    local s = a[1]
    s.size = length(a[2])
    s.num_replicas = kwarg(kw, "num_replicas") or a[3] or dt.world_size()
    s.rank = kwarg(kw, "rank") or a[4] or dt.rank()
    if s.rank >= s.num_replicas or s.rank < 0 then
      util.raise("ValueError", "Invalid rank %d, rank should be in the interval "
        .. "[0, %d]", s.rank, s.num_replicas - 1)
    end
    s.dataset, s.shuffle = a[2], kwarg(kw, "shuffle")
    if s.shuffle == nil then s.shuffle = a[5] == nil or a[5] end
    s.drop_last = kwarg(kw, "drop_last") or a[7] or false
    s.seed, s.epoch = kwarg(kw, "seed") or a[6] or 0, 0
    s.num_samples = s.drop_last and s.size // s.num_replicas
      or -(-s.size // s.num_replicas)
    s.total_size = s.num_samples * s.num_replicas
    dt._sampled(s.num_replicas)
    compare_order(s, "seed")
    look_at_rows(s, a[2])
    compare_subset(s, a[2])
    return None
  end,
  set_epoch = function (a)
    a[1].epoch = a[2]
    return None
  end,
  __len__ = function (a) return a[1].num_samples end,
  -- As PyTorch: the list is filled up from its head to an even share.
  __iter__ = function (a)
    local s = a[1]
    local again = look_at(s)
    compare_order(s, "epoch")
    local all = s.shuffle and shuffled(s.size, seeded(s.seed + s.epoch))
      or in_order(s.size)
    local each = V.special(s, "__len__")()
    local out = {}
    for i = 1, each do
      local at = s.rank + (i - 1) * s.num_replicas
      out[i] = all[at % s.size + 1]
    end
    return V.generator(deal(out, again, s.updates))
  end,
})

local COLLATE <const> = "torch.utils.data._utils.collate"

-- A function of collate.py, by name.
local function collator(name)
  return function (a, kw)
    return V.call(attrs.get(attrs.module(COLLATE), name), a, kw)
  end
end

local collate_any = collator "default_collate"
local simple

-- Of each item the one under a key, as a batch; nil where one has none.  What
-- stays as it is is a tuple or a list: `make`.
local function column(items, get, key, make)
  local out = {}
  for i = 1, items.n do
    local v = get(items[i], key)
    if v == nil then return nil end
    out[i] = v
  end
  return simple(make(out, items.n))
end

-- What default_collate makes of a batch, by the type of its first item; nil
-- where an item is of another type, or has other places.
local by_type = {
  Tensor = function (items) return V.from_lua(dt.stack(V.to_lua(items))) end,
  int = function (items) return dt.tensor(V.to_lua(items), {dtype = dt.int64}) end,
  float = function (items)
    return dt.tensor(V.to_lua(items), {dtype = dt.float64})
  end,
  str = function (items) return items end,
  list = function (items)
    local first, out = items[1], {}
    for i = 1, items.n do
      if items[i].n ~= first.n then return nil end
    end
    for i = 1, first.n do
      out[i] = column(items, rawget, i, V.tuple)
      if out[i] == nil then return nil end
    end
    return V.list(out, first.n)
  end,
  dict = function (items)
    local d = V.dict()
    for key in V.each(items[1]) do
      local v = column(items, V.dict_get, key, V.list)
      if v == nil then return nil end
      V.dict_set(d, key, v)
    end
    return d
  end,
}
by_type.tuple = by_type.list

-- A batch of the common types alone, which needs no Python.
function simple(items)
  local kind = V.type_name(items[1])
  for i = 2, items.n do
    if V.type_name(items[i]) ~= kind then return nil end
  end
  local f = by_type[kind]
  return f and f(items)
end

-- A program that has collate.py at hand may have changed its table of functions.
local function collate(items)
  local out = items.n > 0 and V.dict_get(attrs.imported, COLLATE) == nil
    and simple(items)
  return out or collate_any(V.list({items}, 1))
end

local convert_any = collator "default_convert"

-- A sample that stays by itself.
local function converted(v)
  return util.is_tensor(v) and v or convert_any(V.list({v}, 1))
end

-- ---- loaders ----

local IterableDataset = class("IterableDataset", "dataset", Dataset, {})

-- What samplers.lua defines, by name, when a program first asks.
local function written_in_python()
  local env = {vars = setmetatable({Dataset = Dataset,
    IterableDataset = IterableDataset}, {__index = builtin_names})}
  eval.run(samplers, env)
  return env.vars
end

local function is_iterable(dataset)
  return builtin_names.isinstance.call(V.list {dataset, IterableDataset})
end

-- An item that is no part of a batch.
local function give_alone(l, v)
  calls.yield(l._collate and V.call(l._collate, V.list {v}) or converted(v))
end

-- Batches of an iterable data set, in its order.
local function batches_of(l, give)
  local next, items = V.iter(l.dataset), {}
  while true do
    local more, v = next()
    if not more then break end
    items[#items + 1] = v
    if not l._size then
      give_alone(l, v)
      items = {}
    elseif #items == l._size then
      give(items)
      items = {}
    end
  end
  if #items > 0 and not l.drop_last then give(items) end
end

-- Batches whose indices `rows` gives, each a list.
local function batches_by(l, rows, give)
  local next = V.iter(rows)
  while true do
    local more, row = next()
    if not more then break end
    local at, n = V.items(row)
    local items = {}
    for i = 1, n do items[i] = ops.getitem(l.dataset, at[i]) end
    give(items)
  end
end

-- What a loader is given, by place and by name.  One process does the work, so
-- that what concerns workers and copies to devices is kept and nothing else.
local LOADER <const> = {"dataset", "batch_size", "shuffle", "sampler",
  "batch_sampler", "num_workers", "collate_fn", "pin_memory", "drop_last",
  "timeout", "worker_init_fn", "multiprocessing_context", "generator"}
local LOADER_BY_NAME <const> = {prefetch_factor = true, in_order = true,
  persistent_workers = true, pin_memory_device = true}

local function loader_arguments(a, kw)
  local given, known = {}, {}
  if a.n - 1 > #LOADER then
    util.raise("TypeError", "DataLoader.__init__() takes from 2 to %d "
      .. "positional arguments but %d were given", #LOADER + 1, a.n)
  end
  for i, name in ipairs(LOADER) do
    known[name] = true
    given[name] = a[i + 1]
  end
  for name, v in V.each(kw or V.dict()) do
    if not known[name] and not LOADER_BY_NAME[name] then
      util.raise("TypeError", "DataLoader.__init__() got an unexpected keyword "
        .. "argument '%s'", name)
    end
    given[name] = v
  end
  for name, v in pairs(given) do
    if v == None and name ~= "batch_size" then given[name] = nil end
  end
  return given
end

-- Raise what PyTorch raises of options of workers; there are none here, so nothing
-- else is done with them.
local function check_workers(l)
  local function is_negative(v) return V.truth(ops.compare["<"](v, 0)) end
  if is_negative(l.num_workers) then
    util.raise("ValueError", "num_workers option should be non-negative; use "
      .. "num_workers=0 to disable multiprocessing.")
  elseif is_negative(l.timeout) then
    util.raise("ValueError", "timeout option should be non-negative")
  elseif l.num_workers == 0 and l.prefetch_factor ~= None then
    util.raise("ValueError", "prefetch_factor option could only be specified in "
      .. "multiprocessing.let num_workers > 0 to enable multiprocessing, "
      .. "otherwise set prefetch_factor to None.")
  elseif l.prefetch_factor ~= None and is_negative(l.prefetch_factor) then
    util.raise("ValueError", "prefetch_factor option should be non-negative")
  elseif l.num_workers == 0 and l.persistent_workers then
    util.raise("ValueError", "persistent_workers option needs num_workers > 0")
  end
end

-- Where a loader keeps what it was given under a name whose attribute says
-- more (made_late), or that PyTorch's loader has no attribute for.
local SAID <const> = {sampler = "_given_sampler", batch_sampler = "_rows",
  shuffle = "_shuffle"}

-- Raise what PyTorch raises of options that do not go together; `size` as given.
local function check_options(l, size)
  for _, name in ipairs(is_iterable(l.dataset)
    and {"shuffle", "sampler", "batch_sampler"} or {}) do
    local v = l[SAID[name] or name]
    if v then
      util.raise("ValueError", "DataLoader with IterableDataset: expected "
        .. "unspecified %s option, but got %s=%s", name, name, V.repr(v))
    end
  end
  if l._size and not (math.type(size) == "integer" and size > 0) then
    util.raise("ValueError", "batch_size should be a positive integer value, "
      .. "but got batch_size=%s", V.str(size))
  elseif not l._size and l.drop_last then
    util.raise("ValueError", "batch_size=None option disables auto-batching "
      .. "and is mutually exclusive with drop_last")
  elseif l._rows and (l._size ~= 1 or l._shuffle or l._given_sampler
     or l.drop_last) then
    util.raise("ValueError", "batch_sampler option is mutually exclusive with "
      .. "batch_size, shuffle, sampler, and drop_last")
  elseif l._given_sampler and l._shuffle then
    util.raise("ValueError", "sampler option is mutually exclusive with shuffle")
  end
end

-- ---- what a loader says of itself ----

local M                                 -- torch.utils.data, below

-- What stands in a loader's attributes that PyTorch makes when the loader is
-- made (torch/utils/data/dataloader.py: DataLoader.__init__@2.15).  Here the
-- loader goes its own way over the data and makes these when they are asked
-- for, once, so that a loader that is only walked over costs nothing.
local made_late = {}

function made_late.sampler(l)
  if l._given_sampler then return l._given_sampler end
  if is_iterable(l.dataset) then
    return V.call(M._InfiniteConstantSampler, V.list {})
  end
  if not l._shuffle then
    return V.call(M.SequentialSampler, V.list {l.dataset})
  end
  local kw = V.dict()
  V.dict_set(kw, "generator", l.generator)
  return V.call(M.RandomSampler, V.list {l.dataset}, kw)
end

function made_late.batch_sampler(l)
  if l._rows then return l._rows end
  if not l._size then return None end
  return V.call(M.BatchSampler, V.list {attrs.get(l, "sampler"), l._size,
    l.drop_last})
end

-- The function that makes a batch; of what is no part of one, what converts it.
function made_late.collate_fn(l)
  return l._collate or (l._rows or l._size) and M.default_collate
    or M.default_convert
end

-- loader.collate_fn = f is what the next batches are made by.
local set_late = {collate_fn = function (l, f)
  l._collate = f
  rawset(l, "_made_collate_fn", nil)
end}

-- The loader's attribute `name`, made at its first use.
local function late(name)
  local change = set_late[name]
  local set = change and builtin(function (a)
    change(a[1], a[2])
    return None
  end, name)
  local get = builtin(function (a)
    local l = a[1]
    local at = "_made_" .. name
    local v = rawget(l, at)
    if v == nil then
      v = made_late[name](l)
      rawset(l, at, v)
    end
    return v
  end, name)
  return classes.names.property.call(V.list {get, set})
end

-- What the loader goes by, which nobody may change under it once it is made.
local FIXED <const> = {batch_size = true, batch_sampler = true, sampler = true,
  drop_last = true, dataset = true, persistent_workers = true}

local DataLoader = class("DataLoader", "dataloader", Dataset, {
  __init__ = function (a, kw)
    local l, given = a[1], loader_arguments(a, kw)
    l.dataset = given.dataset
    local size = given.batch_size
    if size == nil then size = 1 end
    l.batch_size, l._size = size, size ~= None and size or false
    for _, name in ipairs {"shuffle", "sampler", "batch_sampler", "drop_last",
        "pin_memory", "persistent_workers"} do
      l[SAID[name] or name] = given[name] or false
    end
    for _, name in ipairs {"generator", "multiprocessing_context"} do
      l[name] = given[name] or None
    end
    l.in_order = given.in_order ~= false
    l.pin_memory_device = given.pin_memory_device or ""
    l._collate = given.collate_fn or false
    l.num_workers, l.timeout = given.num_workers or 0, given.timeout or 0
    l.worker_init_fn = given.worker_init_fn or None
    l.prefetch_factor = given.prefetch_factor or None
    check_workers(l)
    if l.num_workers ~= 0 and l.prefetch_factor == None then
      l.prefetch_factor = 2
    end
    check_options(l, size)
    if l._rows then l.batch_size = None end
    return None
  end,
  __setattr__ = function (a)
    if FIXED[a[2]] and rawget(a[1], "_attrs")._size ~= nil then
      util.raise("ValueError", "%s attribute should not be set after %s is "
        .. "initialized", a[2], V.type_name(a[1]))
    end
    classes.set_object(a[1], a[2], a[3])
    return None
  end,
  __len__ = function (a)
    local l = a[1]
    if l._rows then return length(l._rows) end
    if not l._size then return length(l._given_sampler or l.dataset) end
    local n = length(l._given_sampler or l.dataset)
    if l.drop_last then return n // l._size end
    return -(-n // l._size)
  end,
  __iter__ = function (a)
    local l = a[1]
    local generator = l.generator ~= None and l.generator or false
    draw_seed(generator)                -- that of its workers
    return calls.generate(function ()
      local function give(items)
        local list = V.list(items)
        calls.yield(l._collate and V.call(l._collate, V.list {list})
          or collate(list))
      end
      if l._rows then return batches_by(l, l._rows, give) end
      if is_iterable(l.dataset) then return batches_of(l, give) end
      local n = length(l.dataset)
      local next = V.iter(l._given_sampler or V.list(l._shuffle
        and shuffled(n, generator or seeded(draw_seed())) or in_order(n)))
      local items = {}
      while true do
        local more, i = next()
        if not more then break end
        items[#items + 1] = ops.getitem(l.dataset, i)
        if not l._size then
          give_alone(l, items[1])
          items = {}
        elseif #items == l._size then
          give(items)
          items = {}
        end
      end
      if l._shuffle and generator then shuffled(n, generator) end
      if #items > 0 and not l.drop_last then give(items) end
    end)
  end,
})

for name in pairs(made_late) do DataLoader[name] = late(name) end
rawset(DataLoader, "__home", "torch.utils.data.dataloader")

-- a + b: one after the other.
Dataset.__add__ = calls.lua_method(builtin(function (a)
  return V.call(M.ConcatDataset, V.list {V.list {a[1], a[2]}})
end, "__add__"))
IterableDataset.__add__ = calls.lua_method(builtin(function (a)
  return V.call(attrs.get(M, "ChainDataset"), V.list {V.list {a[1], a[2]}})
end, "__add__"))

M = namespace {Dataset = Dataset, IterableDataset = IterableDataset,
  TensorDataset = TensorDataset, DataLoader = DataLoader,
  DistributedSampler = DistributedSampler,
  default_collate = builtin(collate_any, "default_collate"),
  default_convert = builtin(convert_any, "default_convert")}

local complete = false
local function fill()
  if complete then return M end
  complete = true
  for name, v in pairs(written_in_python()) do
    if name:find("^_?%u") or name == "random_split" then rawset(M, name, v) end
  end
  return M
end
setmetatable(M, {all = fill, __index = function (_, name)
  return not complete and rawget(fill(), name) or nil
end})
M.distributed = namespace {DistributedSampler = DistributedSampler}
attrs.provide("torch.utils.data", M)
attrs.provide("torch.utils.data.distributed", M.distributed)

return M

-- SPDX-License-Identifier: MIT
-- torch/dcp_plan.lua: what torch.distributed.checkpoint's ranks tell each
-- other before and after they save or load (Collective): the collectives, and
-- how many bytes each moves.  dt.checkpoint.plan makes the plans; the data
-- itself goes through dt.checkpoint.

local dt = require "dt"
local util = require "dt.util"
local V = require "python.values"
local P = require "dt.io.pickle"
local json = require "dt.io.json"
local plans = require "dt.checkpoint.plan"
local dist = require "dt.distributed"
local system = require "python.std.system"
local attrs = require "python.attrs"
local checkpoint = require "dt.checkpoint"
local serialize = require "torch.serialize"

local M = {}
local None = dt.None

-- ---- a state dict as items ----

-- A list is a value of its own unless a tensor or a dict is somewhere in it.
local function is_value(v)
  if V.is_dict(v) then return false end
  if not V.is_list(v) then return true end
  for i = 1, v.n do
    if util.is_tensor(v[i]) or not is_value(v[i]) then return false end
  end
  return true
end

M.is_value = is_value

local function walk(v, path, out)
  local function below(key, x)
    local longer = table.move(path, 1, #path, 1, {})
    longer[#longer + 1] = key
    walk(x, longer, out)
  end
  if V.is_dict(v) then
    for k, x in V.each(v) do below(V.str(k), x) end
  elseif #path > 0 and is_value(v) then
    out[#out + 1] = {path = path, value = v}
  elseif V.is_seq(v) then
    for i = 1, v.n do below(i - 1, v[i]) end
  end
end

-- A value of a program as dt.pickle describes it; nil for what it cannot.
local function described(v)
  if v == None then return P.none end
  if type(v) == "string" then return P.str(v) end
  if type(v) == "boolean" or type(v) == "number" then return v end
  local out = {}
  if V.is_dict(v) then
    for k, x in V.each(v) do out[#out + 1] = {described(k), described(x)} end
    return P.dict(out)
  elseif V.is_list(v) or V.is_tuple(v) then
    for i = 1, v.n do out[i] = described(v[i]) end
    return V.is_list(v) and P.list(out) or P.tuple(out)
  end
  return P.none
end

local function shape_of(t) return {table.unpack(t.shape)} end

local function tensor_item(t, item)
  local own = t.is_dtensor and t:to_local() or t
  item.kind = t.is_dtensor and "shard" or "tensor"
  item.sizes, item.size, item.offset = shape_of(own), shape_of(t), {}
  for d = 1, #item.size do
    local first = t.is_dtensor and dt._runs(t, d - 1)[1]
    item.offset[d] = first and first[1] or t.is_dtensor and item.size[d] or 0
  end
  item.dtype = tostring(t.dtype):match("([%w_]+)$")
  item.element, item.grad = own:element_size(), own.requires_grad
  if dt._switch("DCP_STRIDES") ~= 0 then
    item.strides = {table.unpack(own:stride())}
  end
  item.length = plans.tensor_length {sizes = item.sizes, dtype = item.dtype,
    stride = util.contiguous_stride(item.sizes), element = item.element, grad = item.grad}
end

-- rows(state): {path =, value =} of each tensor and each value of its own.
function M.rows(state)
  local rows = {}
  walk(state, {}, rows)
  return rows
end

-- items(state): the items of this rank; a tensor of a mesh it is not in is
-- none of them.
function M.items(state)
  local out = {}
  for _, row in ipairs(M.rows(state)) do
    local v = row.value
    local item = {path = row.path, fqn = table.concat(row.path, ".")}
    if not util.is_tensor(v) then
      item.kind, item.length = "bytes", plans.value_length(described(v))
      out[#out + 1] = item
    elseif not v.is_dtensor or v.device_mesh:get_coordinate() then
      tensor_item(v:detach(), item)
      out[#out + 1] = item
    end
  end
  return out
end

local FIELDS = {"fqn", "path", "kind", "length", "offset", "sizes", "size",
  "dtype", "element", "grad", "strides"}

-- Every rank's items, by rank.
local function exchanged(items)
  local rows = {}
  for i, item in ipairs(items) do
    local row = {}
    for k, name in ipairs(FIELDS) do
      row[k] = item[name] or false         -- no holes in JSON
    end
    rows[i] = row
  end
  local all = dt._gather_text(json.encode(rows))
  for r, text in ipairs(all) do
    all[r] = dt._json_decode(text)
    for _, row in ipairs(all[r]) do
      for k, name in ipairs(FIELDS) do
        if row[k] or name == "grad" then row[name] = row[k] end
      end
    end
  end
  return all
end

-- ---- the collectives ----

local function most(lengths)
  local out = 0
  for _, n in ipairs(lengths) do out = math.max(out, n) end
  return out
end

local function bytes(n) return dt.zeros({n}, {dtype = dt.uint8}) end

local function many(n, make)
  local out = {}
  for i = 1, n do out[i] = make() end
  return out
end

-- gather_object of pickles of these lengths to rank 0.
local function gathered(lengths)
  local n, me = dt.world_size(), dt.rank()
  dist.all_gather(dt.tensor {lengths[me + 1]})
  local size = most(lengths)
  dist.gather(bytes(size), me == 0 and many(n, function ()
    return bytes(size)
  end) or nil, 0)
end

local function scattered(lengths)
  local n, me = dt.world_size(), dt.rank()
  local size = most(lengths)
  dist.broadcast(dt.tensor {size}, 0)
  dist.scatter(bytes(size), me == 0 and many(n, function ()
    return bytes(size)
  end) or nil, 0)
  local list = {}
  for i, length in ipairs(lengths) do list[i] = dt.tensor {length} end
  dist.scatter(dt.tensor {0}, me == 0 and list or nil, 0)
end

-- broadcast(length): broadcast_object_list of one pickle from rank 0.
function M.broadcast(length)
  local n = dist.broadcast(dt.tensor {length}, 0):item()
  dist.broadcast(bytes(n), 0)
end
M.shapes = plans.shapes

-- ---- saving ----

local function kept(plan)
  local order, stored = {}, {}
  for i, md in ipairs(plan.order) do
    local chunks = {}
    for k, c in ipairs(md.chunks) do chunks[k] = {c.offset, c.sizes} end
    order[i] = {md.fqn, md.first.kind, md.first.size or {},
      md.first.dtype or false, chunks, md.first.path}
  end
  for r, rows in ipairs(plan.rows) do
    for _, row in ipairs(rows) do
      stored[#stored + 1] = {row.item.fqn, row.item.offset or false,
        plan.files[r], row.at, row.item.length}
    end
  end
  return json.encode {order, stored, plan.files}
end

-- {[full name] = the rank that writes it}, of what is not sharded.
local function owners(plan)
  local out = {}
  for r, rows in ipairs(plan.rows) do
    for _, row in ipairs(rows) do
      if row.item.kind ~= "shard" then out[row.item.fqn] = r - 1 end
    end
  end
  return out
end

-- save(state, folder, write): the plans of a save, write(told, owners) between
-- them, where `told` is what the checkpoint is to keep, and the metadata after;
-- single: this rank by itself, without a collective.
function M.save(state, folder, write, single)
  local items = M.items(state)
  local plan = plans.save(single and {items} or exchanged(items),
    system.named(folder))
  if single then return write(kept(plan), owners(plan)) end
  gathered(plan.offered)
  scattered(plan.sent)
  write(kept(plan), owners(plan))
  gathered(plan.written)
  M.broadcast(plan.metadata)
end

-- ---- loading ----

local function same(a, b)
  return table.concat(a, ",") == table.concat(b, ",")
end

-- by_key(state): what is loaded goes by the sorted names of its first level.
function M.by_key(state)
  if not V.is_dict(state) then return state end
  local names, out = {}, V.dict()
  for k in V.each(state) do names[#names + 1] = k end
  table.sort(names, function (a, b) return V.str(a) < V.str(b) end)
  for _, k in ipairs(names) do V.dict_set(out, k, V.dict_get(state, k)) end
  return out
end

-- load(state, told): the plans of a load; false without them, where a rank's
-- will fail or the checkpoint does not say what is where.
function M.load(state, told)
  local length, saved, chunks = "-", {}, {}
  for _, row in ipairs(told and told[1] or {}) do
    saved[row[1]], chunks[row[1]] = row, {}
    for k, c in ipairs(row[5]) do
      chunks[row[1]][k] = {offset = c[1], sizes = c[2]}
    end
  end
  local items, fits = M.items(M.by_key(state)), told ~= nil
  for _, item in ipairs(items) do
    local row = saved[item.fqn]
    fits = fits and row and (item.kind == "bytes") == (row[2] == "bytes")
      and (item.kind == "bytes" or same(item.size, row[3]))
  end
  if fits then length = plans.load(items, chunks) end
  local all = dt._gather_text(tostring(length))
  for r, text in ipairs(all) do
    all[r] = tonumber(text)
    if not all[r] then return false end
  end
  gathered(all)
  scattered(all)
  return true
end

-- loaded(): each has read its part, and says None.
function M.loaded()
  dist._all_gather_parts(dt.tensor {#P.dumps(P.none)})
  dist._all_gather_parts(bytes(#P.dumps(P.none)))
end

-- ---- values ----

-- kept(v): a value that is no tensor as dt.checkpoint keeps it.
function M.kept(v)
  if type(v) == "boolean" or math.type(v) == "integer"
    or type(v) == "number" and v - v == 0
    or type(v) == "string" and utf8.len(v) then
    return v
  end
  return checkpoint.sealed(serialize.bytes(v))
end

-- opened(v): what it kept.
function M.opened(v)
  return checkpoint.is_sealed(v) and serialize.value(v.bytes) or v
end

-- ---- what was saved, as a program reads it ----

-- made(name, names, values): one of the classes of torch.distributed.checkpoint.
-- metadata, of these fields.
local function made(name, names, values)
  local kw = V.dict()
  for i, field in ipairs(names) do V.dict_set(kw, field, values[i]) end
  local module = attrs.module "torch.distributed.checkpoint.metadata"
  return V.call(attrs.get(module, name), V.list({}, 0), kw)
end

-- A tensor that was saved: its row has its sizes, its dtype and its parts.
local function tensor_metadata(row)
  local chunks = {}
  for k, c in ipairs(row[5]) do
    chunks[k] = made("ChunkStorageMetadata", {"offsets", "sizes"},
      {V.size(c[1]), V.size(c[2])})
  end
  return made("TensorStorageMetadata", {"properties", "size", "chunks"},
    {made("TensorProperties", {"dtype"}, {dt[row[4]]}), V.size(row[3]),
      V.list(chunks)})
end

-- metadata(told): Metadata, with the tensors and where their parts lie.
function M.metadata(told)
  local tensors, stored, paths = V.dict(), V.dict(), V.dict()
  for _, row in ipairs(told and told[1] or {}) do
    if row[6] then V.dict_set(paths, row[1], V.tuple(row[6])) end
    V.dict_set(tensors, row[1], row[2] == "bytes"
      and made("BytesStorageMetadata", {}, {}) or tensor_metadata(row))
  end
  for _, row in ipairs(told and told[2] or {}) do
    local offset = row[2] and V.size(row[2]) or None
    V.dict_set(stored, made("MetadataIndex", {"fqn", "offset"}, {row[1], offset}),
      attrs.record("_StorageInfo", {"relative_path", "offset", "length"},
        {relative_path = row[3], offset = row[4], length = row[5]}))
  end
  return made("Metadata", {"state_dict_metadata", "planner_data", "storage_data",
    "storage_meta", "version"}, {tensors, paths, stored, None, "1.0.0"})
end

-- Put v where the path leads: numbers are places of lists, texts keys.
local function place(top, path, v)
  local at = top
  for i, key in ipairs(path) do
    local step = i == #path and v or math.type(path[i + 1]) == "integer"
      and V.list({}, 0) or V.dict()
    local there
    if V.is_list(at) then there = at[key + 1] else there = V.dict_get(at, key) end
    if there == nil or i == #path then
      there = step
      if V.is_list(at) then
        at[key + 1], at.n = there, math.max(at.n, key + 1)
      else
        V.dict_set(at, key, there)
      end
    end
    at = there
  end
end

-- state(told, values): the state dict that was saved, with tensors that nobody
-- wrote yet and the values that are none from `values` (checkpoint.entries).
function M.state(told, values)
  local top = V.dict()
  for _, row in ipairs(told and told[1] or {}) do
    local name, kind, size, dtype, _, path = table.unpack(row, 1, 6)
    local own, v = values[name], nil
    if kind ~= "bytes" then v = dt.empty(size, {dtype = dt[dtype]})
    elseif own then v = M.opened(own.value) end
    if v == nil then v = None end
    place(top, path, v)
  end
  return top
end

-- files(told): the names in the folder, as PyTorch would have them.
function M.files(told)
  local out = {".metadata", table.unpack(told and told[3] or {})}
  return V.list(out)
end

return M

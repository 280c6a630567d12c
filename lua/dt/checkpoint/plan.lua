-- SPDX-License-Identifier: MIT
-- dt/checkpoint/plan.lua: who writes and who reads what of a checkpoint, as
-- torch.distributed.checkpoint's default planners decide it, and how long the
-- pickles are in which its ranks exchange them.
--
-- Pure: the items of all ranks go in, on every rank the same plans come out.
-- An item of a state dict is {fqn =, path = {keys and list indices}, kind =
-- "tensor" | "shard" | "bytes", length = bytes of its torch.save, and of a
-- tensor: offset =, sizes = (the part that this rank has), size = (the whole),
-- dtype = "float32", element = bytes of one, grad = requires_grad, strides = of
-- that part, where the release tells them}.

local P = require "dt.io.pickle"
local torch_file = require "dt.io.torch_file"

local M = {}

-- ---- classes and constants, each one object ----

local PLANNER = "torch.distributed.checkpoint.planner"
local METADATA = "torch.distributed.checkpoint.metadata"
local STORAGE = "torch.distributed.checkpoint.storage"
local FILES = "torch.distributed.checkpoint.filesystem"

local class = {}
for module, names in pairs {
  [PLANNER] = {"SavePlan", "LoadPlan", "WriteItem", "ReadItem",
    "WriteItemType", "LoadItemType", "TensorWriteData"},
  [METADATA] = {"MetadataIndex", "ChunkStorageMetadata", "TensorProperties",
    "TensorStorageMetadata", "BytesStorageMetadata", "Metadata", "StorageMeta",
    "_MEM_FORMAT_ENCODING"},
  [STORAGE] = {"WriteResult"}, [FILES] = {"_StorageInfo", "_StoragePrefix"}} do
  for _, name in ipairs(names) do class[name] = P.global(module, name) end
end

-- The name of torch's module is one string for its C classes, another where
-- pickle looks the owner of a dtype up.
local SIZE = P.global(P.str "torch", "Size")
local OWNER = P.str "torch"
local STRIDED = P.call(P.global("torch.serialization", "_get_layout"),
  P.tuple {P.str "torch.strided"})
local function member(name, value)
  return P.call(class[name], P.tuple {value})
end
local CONTIGUOUS = member("_MEM_FORMAT_ENCODING", 0)
local WRITE = {tensor = member("WriteItemType", 1),
  shard = member("WriteItemType", 2), bytes = member("WriteItemType", 3)}
local READ = {tensor = member("LoadItemType", 1),
  bytes = member("LoadItemType", 2)}

local dtypes = {}
local function dtype_of(name)
  dtypes[name] = dtypes[name] or P.global(OWNER, name)
  return dtypes[name]
end

local function size_of(list)
  return P.call(SIZE, P.tuple {P.tuple {table.unpack(list)}})
end

local function struct(name, fields) return P.object(class[name], P.dict(fields)) end

-- ---- strings ----

-- The strings of one rank's state dict, which are the same objects wherever
-- its plan has them: full names, and the keys they are made of.  A key that
-- could be a name in a program is one that Python interns, until it was sent.
-- A name of one key is that key.
local function strings(sent)
  local names, keys = {}, {}
  local function key_at(prefix, key)
    if type(key) ~= "string" then return key end
    if key:find("^[%w_]*$") then
      if not sent then return key end
      prefix = key
    end
    keys[prefix] = keys[prefix] or P.str(key)
    return keys[prefix]
  end
  return {
    name = function (item)
      if #item.path == 1 then return key_at("\0" .. item.fqn, item.fqn) end
      names[item.fqn] = names[item.fqn] or P.str(item.fqn)
      return names[item.fqn]
    end,
    path = function (path)
      local out, prefix = {}, ""
      for i, key in ipairs(path) do
        prefix = prefix .. "\0" .. tostring(key)
        out[i] = key_at(prefix, key)
      end
      return P.tuple(out)
    end}
end

-- ---- what is saved where ----

local function index_of(name, offset, hint)
  local fields = {{"fqn", name}, {"index", hint or P.none}}
  if offset then fields[3] = {"offset", size_of(offset)} end
  return struct("MetadataIndex", fields)
end

local function chunk_of(item)
  return struct("ChunkStorageMetadata", {{"offsets", size_of(item.offset)},
    {"sizes", size_of(item.sizes)}})
end

local function properties_of(item)
  local state = {dtype_of(item.dtype), STRIDED, item.grad, CONTIGUOUS, false}
  if item.strides then state[6] = P.tuple {table.unpack(item.strides)} end
  return P.object(class.TensorProperties, P.tuple(state))
end

local function write_item(item, names, hint)
  local data = P.none
  if item.kind ~= "bytes" then
    data = struct("TensorWriteData", {{"chunk", chunk_of(item)},
      {"properties", properties_of(item)}, {"size", size_of(item.size)}})
  end
  return struct("WriteItem", {
    {"index", index_of(names.name(item), item.offset, hint)},
    {"type", WRITE[item.kind]}, {"bytes_io_data", P.none},
    {"tensor_data", data}})
end

local function mapping(items, names)
  local out = {}
  for i, item in ipairs(items) do
    out[i] = {names.name(item), names.path(item.path)}
  end
  return P.dict(out)
end

-- A rank's SavePlan: `chosen` are the items it is to write (all of them, in
-- the plan it offers), with the index hints of the whole.
local function save_plan(all, chosen, prefix, hints)
  local names, list = strings(), {}
  for i, item in ipairs(chosen) do
    list[i] = write_item(item, names, hints and hints[item])
  end
  return struct("SavePlan", {{"items", P.list(list)}, {"storage_data", prefix
      and struct("_StoragePrefix", {{"prefix", P.str(prefix)}}) or P.none},
    {"planner_data", mapping(all, names)}, {"usable", true}})
end

local function key_of(item)
  return item.fqn .. "\0" .. (item.offset and table.concat(item.offset, ",")
    or "-")
end

-- The storage that the planner thinks an item takes: the whole tensor's.
local function weight(item)
  if item.kind == "bytes" then return 1 end
  local n = item.element
  for _, s in ipairs(item.size) do n = n * s end
  return n > 0 and n or 1
end

-- What several ranks offer goes to the one with the least so far.
local function choose(ranks)
  local order, holders, last = {}, {}, {}
  for r, items in ipairs(ranks) do
    for _, item in ipairs(items) do
      local key = key_of(item)
      if not holders[key] then
        holders[key] = {}
        order[#order + 1] = key
      end
      table.insert(holders[key], r)
      last[key] = item
    end
  end
  local load, owner = {}, {}
  for r = 1, #ranks do load[r] = 0 end
  for _, key in ipairs(order) do
    local best = holders[key][1]
    for _, r in ipairs(holders[key]) do
      if load[r] < load[best] then best = r end
    end
    owner[key] = best
    load[best] = load[best] + weight(last[key])
  end
  local out = {}
  for r, items in ipairs(ranks) do
    out[r] = {}
    for _, item in ipairs(items) do
      if owner[key_of(item)] == r then table.insert(out[r], item) end
    end
  end
  return out
end

-- Every tensor's chunks in the order of the plans; each item's place there.
local function chunks_of(chosen)
  local order, table_of, hints = {}, {}, {}
  for r, items in ipairs(chosen) do
    for _, item in ipairs(items) do
      local md = table_of[item.fqn]
      if not md then
        md = {fqn = item.fqn, rank = r, first = item, chunks = {}}
        table_of[item.fqn] = md
        order[#order + 1] = md
      end
      if item.kind ~= "bytes" then
        hints[item] = #md.chunks
        table.insert(md.chunks, item)
      end
    end
  end
  return order, hints
end

-- ---- what was written ----

-- A rank's items as they lie in its file: bytes first.
local function laid_out(items)
  local out, at = {}, 0
  for _, bytes in ipairs {true, false} do
    for _, item in ipairs(items) do
      if (item.kind == "bytes") == bytes then
        out[#out + 1] = {item = item, at = at}
        at = at + item.length
      end
    end
  end
  return out
end

local function storage_info(file, row)
  return struct("_StorageInfo", {{"relative_path", file}, {"offset", row.at},
    {"length", row.item.length}})
end

local function result_list(rows, hints, file)
  local names, list = strings(), {}
  local path = P.str(file)
  for i, row in ipairs(rows) do
    list[i] = struct("WriteResult", {
      {"index", index_of(names.name(row.item), row.item.offset,
        hints[row.item])},
      {"size_in_bytes", row.item.length},
      {"storage_data", storage_info(path, row)}})
  end
  return P.list(list)
end

-- ---- the metadata of all ----

local function described(order, domains)
  local out = {}
  for i, md in ipairs(order) do
    local v
    if md.first.kind == "bytes" then
      v = P.object(class.BytesStorageMetadata)
    else
      local chunks = {}
      for k, item in ipairs(md.chunks) do chunks[k] = chunk_of(item) end
      v = struct("TensorStorageMetadata", {
        {"properties", properties_of(md.first)},
        {"size", size_of(md.first.size)}, {"chunks", P.list(chunks)}})
    end
    out[i] = {domains[md.rank].name(md.first), v}
  end
  return P.dict(out)
end

-- The mappings of all ranks in one: names in the order of the last rank's,
-- the path of the first that has it.
local function merged(ranks, domains)
  local paths, seen, out = {}, {}, {}
  for r = #ranks, 1, -1 do
    for _, item in ipairs(ranks[r]) do
      paths[item.fqn] = {r, item.path}
      if not seen[item.fqn] then
        seen[item.fqn] = true
        out[#out + 1] = {r, item}
      end
    end
  end
  for i, row in ipairs(out) do
    local path = paths[row[2].fqn]
    out[i] = {domains[row[1]].name(row[2]),
      domains[path[1]].path(path[2])}
  end
  return P.dict(out)
end

local function path_of(folder)
  local parts = folder:sub(1, 1) == "/" and {"/"} or {}
  for part in folder:gmatch("[^/]+") do
    if part ~= "." then parts[#parts + 1] = part end
  end
  return P.call(P.global("pathlib", "PosixPath"), P.tuple(parts))
end

local function metadata(plan, ranks, folder)
  local domains = {}
  for r = 1, #ranks do domains[r] = strings(true) end
  local stored = {}
  for r, rows in ipairs(plan.rows) do
    local names, file = strings(true), P.str(plan.files[r])
    for _, row in ipairs(rows) do
      stored[#stored + 1] = {index_of(names.name(row.item),
        row.item.offset, plan.hints[row.item]), storage_info(file, row)}
    end
  end
  return struct("Metadata", {
    {"state_dict_metadata", described(plan.order, domains)},
    {"planner_data", merged(ranks, domains)},
    {"storage_data", P.dict(stored)},
    {"storage_meta", struct("StorageMeta", {{"checkpoint_id", path_of(folder)},
      {"save_id", P.str(("x"):rep(36))}, {"load_id", P.none},
      {"modules", P.list {}}})},
    {"version", P.str "1.0.0"}})
end

-- ---- plans ----

local function lengths(list)
  local out = {}
  for i, v in ipairs(list) do out[i] = #P.dumps(v) end
  return out
end

-- save(ranks, folder): `ranks` has every rank's items.  Gives order (the
-- tensors, each with its chunks), files and rows (what lies in each rank's
-- file, and where), and the lengths of the pickles: offered, sent, written (a
-- list of the ranks' each) and metadata.
function M.save(ranks, folder)
  local chosen = choose(ranks)
  local plan = {files = {}, rows = {}}
  plan.order, plan.hints = chunks_of(chosen)
  local offered, sent, written = {}, {}, {}
  for r, items in ipairs(ranks) do
    local prefix = ("__%d_"):format(r - 1)
    plan.files[r] = prefix .. "0.distcp"
    plan.rows[r] = laid_out(chosen[r])
    offered[r] = save_plan(items, items)
    sent[r] = save_plan(items, chosen[r], prefix, plan.hints)
    written[r] = result_list(plan.rows[r], plan.hints, plan.files[r])
  end
  plan.offered, plan.sent = lengths(offered), lengths(sent)
  plan.written = lengths(written)
  plan.metadata = #P.dumps(metadata(plan, ranks, folder))
  return plan
end

-- Where a saved chunk and a wanted part meet: offsets in each and lengths, or
-- nil.
local function meeting(saved, offset, sizes)
  local from, to, n = {}, {}, {}
  for d = 1, #offset do
    local first = math.max(saved.offset[d], offset[d])
    local last = math.min(saved.offset[d] + saved.sizes[d],
      offset[d] + sizes[d])
    if last <= first then return nil end
    from[d], to[d] = first - saved.offset[d], first - offset[d]
    n[d] = last - first
  end
  return from, to, n
end

-- The dimension along which PyTorch looks chunks up: the longest.
local function sweep(chunks, item)
  local best, most = 1, 0
  for d = 1, #item.offset do
    local far = item.offset[d] + item.sizes[d]
    for _, c in ipairs(chunks) do far = math.max(far, c.offset[d] + c.sizes[d]) end
    if far > most then best, most = d, far end
  end
  return best
end

local function read_item(kind, dest, to, storage, from, n)
  return struct("ReadItem", {{"type", READ[kind]}, {"dest_index", dest},
    {"dest_offsets", size_of(to)}, {"storage_index", storage},
    {"storage_offsets", size_of(from)}, {"lengths", size_of(n)}})
end

local function reads(item, chunks, names, out)
  local name = names.name(item)
  if item.kind == "bytes" then
    out[#out + 1] = read_item("bytes", index_of(name), {0}, index_of(name),
      {0}, {0})
    return
  end
  local d, found = sweep(chunks, item), {}
  for i, c in ipairs(chunks) do
    local from, to, n = meeting(c, item.offset, item.sizes)
    if from then
      found[#found + 1] = {i = i, stop = d <= #c.offset
        and c.offset[d] + c.sizes[d] or 1, from = from, to = to, n = n}
    end
  end
  table.sort(found, function (a, b)
    if a.stop ~= b.stop then return a.stop < b.stop end
    return a.i < b.i
  end)
  for _, f in ipairs(found) do
    out[#out + 1] = read_item("tensor", index_of(name, item.offset, 0), f.to,
      index_of(name, chunks[f.i].offset, f.i - 1), f.from, f.n)
  end
end

-- load(items, chunks): the length of the pickle of this rank's LoadPlan;
-- chunks[fqn] lists {offset =, sizes =} of what was saved.
function M.load(items, chunks)
  local names, list = strings(), {}
  for _, item in ipairs(items) do
    reads(item, chunks[item.fqn] or {}, names, list)
  end
  return #P.dumps(struct("LoadPlan", {{"items", P.list(list)},
    {"storage_data", P.none}, {"planner_data", P.none}}))
end

-- shapes(list): the length of the pickle of {name: (size, dtype)} that
-- set_model_state_dict broadcasts; an item is {name, shape, dtype}.
function M.shapes(list)
  local info = P.global("torch.distributed._state_dict_utils", "_TensorInfo")
  local out = {}
  for i, item in ipairs(list) do
    out[i] = {P.str(item[1]), P.object(info, nil,
      P.tuple {size_of(item[2]), dtype_of(item[3])})}
  end
  return #P.dumps(P.dict(out))
end

-- ---- torch.save ----

-- tensor_length(t): of a plain tensor whose storage holds nothing else: {dtype
-- =, element =, sizes =, stride =, grad =}.
function M.tensor_length(t)
  local n = t.element
  for _, s in ipairs(t.sizes) do n = n * s end
  return torch_file.length(torch_file.rebuilt {dtype = t.dtype, grad = t.grad,
    element = t.element, sizes = t.sizes, stride = t.stride, bytes = n,
    key = P.str "0"}, {n})
end

-- value_length(v): of a value described as dt.pickle has it.
function M.value_length(v) return torch_file.length(v) end

return M

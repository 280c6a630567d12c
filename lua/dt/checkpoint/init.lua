-- SPDX-License-Identifier: MIT
-- dt/checkpoint/init.lua: distributed checkpoints: every rank writes the
-- shards it holds, any other mesh reads them back in its own layout.
--
-- A folder holds one safetensors file a rank and an index, checkpoint.json,
-- which is written last and names the files of its save: until it is replaced
-- the old checkpoint is the one that counts, whatever happens meanwhile.

local dt = require "dt"
local util = require "dt.util"
local io_ = require "dt.io"
local json = require "dt.io.json"

local M = {}

local INDEX = "checkpoint.json"
local FORMAT = 1

local sealed = {}                   -- metatable

-- sealed(bytes): a value of a state dict that the caller has as bytes; a load
-- gives one back, whose `bytes` are those.
function M.sealed(bytes) return setmetatable({bytes = bytes}, sealed) end

-- is_sealed(v)
function M.is_sealed(v) return getmetatable(v) == sealed end

-- state {a = {b = t}} -> {["a.b"] = t}; numbers and texts stay as they are.
local function flatten(state, prefix, out)
  for key, v in pairs(state) do
    local name = prefix .. tostring(key)
    if type(v) == "table" and not util.is_tensor(v) and not M.is_sealed(v) then
      flatten(v, name .. ".", out)
    else
      out[name] = v
    end
  end
  return out
end

local function runs_of(t)
  local runs = {}
  for d = 0, #t.shape - 1 do
    runs[d + 1] = t.is_dtensor and dt._runs(t, d) or {{0, t.shape[d + 1]}}
  end
  return runs
end

-- What has addends has no value to save yet.
local function check_no_addends(t)
  for _, p in ipairs(t.is_dtensor and t.placements or {}) do
    if p:is_partial() then
      util.raise("ValueError", "Any checkpointing related operations are not "
        .. "supported for DTensor with partial placements!")
    end
  end
end

-- Is this rank the first of those that hold the same shard?
local function first_holder(t)
  local coord = t.device_mesh:get_coordinate()
  if not coord then return false end
  for m, p in ipairs(t.placements) do
    if p:is_replicate() and coord[m] ~= 0 then return false end
  end
  return true
end

local function index_text(path)
  local f = io.open(path .. "/" .. INDEX, "rb")
  if not f then return nil end
  local text = f:read("a")
  f:close()
  return text
end

local function hex(bytes)
  return (bytes:gsub(".", function (c) return ("%02x"):format(c:byte()) end))
end

local function unhex(text)
  return (text:gsub("%x%x", function (x) return string.char(tonumber(x, 16)) end))
end

local function read_index(path)
  local text = index_text(path)
  if not text then
    util.raise("FileNotFoundError", "%s holds no checkpoint (no %s)", path,
      INDEX)
  end
  local ok, index = pcall(dt._json_decode, text)
  if not ok or type(index) ~= "table" or type(index.tensors) ~= "table" then
    util.raise("ValueError", "%s/%s is cut short or not ours", path, INDEX)
  end
  if index.format ~= FORMAT then
    util.raise("ValueError", "%s was written in format %s; this program reads "
      .. "format %d", path, tostring(index.format), FORMAT)
  end
  for _, entry in pairs(index.tensors) do
    if entry.sealed then entry.value = M.sealed(unhex(entry.sealed)) end
  end
  return index
end

local function run_text(runs)
  local dims = {}
  for d, list in ipairs(runs) do
    local parts = {}
    for i, r in ipairs(list) do
      parts[i] = ("[%d,%d]"):format(r[1], r[2])
    end
    dims[d] = "[" .. table.concat(parts, ",") .. "]"
  end
  return "[" .. table.concat(dims, ",") .. "]"
end

-- Which part of the whole a shard is, when it is one block of it.
local function block_text(t)
  local off = {}
  for d, list in ipairs(runs_of(t)) do
    if #list > 1 then return nil end
    off[d] = list[1] and list[1][1] or 0
  end
  return io_.part_text(t.shape, off)
end

-- A value of a state dict that is no tensor as the index has it, exactly; nil
-- for what is not saved.
local function value_text(v, name)
  if M.is_sealed(v) then return ('"%s"'):format(hex(v.bytes)) end
  if type(v) == "string" then
    if not utf8.len(v) then
      util.raise("ValueError", "save: the text of '%s' is not UTF-8", name)
    end
    return json.encode(v)
  elseif math.type(v) == "float" then
    local short = tostring(v)
    return tonumber(short) == v and short or ("%.17g"):format(v)
  end
  return (type(v) == "number" or type(v) == "boolean") and tostring(v) or nil
end

-- What {alone = true} changes: the others take no part.
local function together_of(where)
  local alone = type(where) == "table" and where.alone
  return alone and function (f) f() end or io_.together, alone
end

local function is_sharded(v) return util.is_tensor(v) and v.is_dtensor end

-- {[name] = the rank that writes it}, of what is not distributed: the first that
-- has it.  Collective.
local function first_owners(flat, names)
  local list, owners = {}, {}
  for _, name in ipairs(names) do
    if not is_sharded(flat[name]) then list[#list + 1] = name .. "\0" end
  end
  for r, text in ipairs(dt._gather_text(table.concat(list))) do
    for name in text:gmatch "([^\0]*)\0" do owners[name] = owners[name] or r - 1 end
  end
  return owners
end

-- What the index says of an entry, or nil for what is not saved.
local function entry_text(name, v)
  if util.is_tensor(v) then
    return ('%s:{"shape":[%s],"dtype":"%s"}'):format(json.encode(name),
      table.concat(v.shape, ","), tostring(v.dtype))
  end
  local value = value_text(v, name)
  return value and ('%s:{"%s":%s}'):format(json.encode(name),
    M.is_sealed(v) and "sealed" or "value", value)
end

-- Lines of all ranks, each once, joined.
local function union(all)
  local list, seen = {}, {}
  for _, text in ipairs(all) do
    for line in text:gmatch "[^\n]+" do
      if not seen[line] then
        seen[line], list[#list + 1] = true, line
      end
    end
  end
  return table.concat(list, ",")
end

-- save(state_dict, {checkpoint_id = folder}) or save(state_dict, folder);
-- alone = true: this rank without the others, for its plain tensors; owners =
-- {[name] = rank}: who writes what is not distributed (default: the first rank
-- that has it); `told` is JSON that the index keeps for who saved, read back by
-- M.told.
function M.save(state, where, told)
  local path = type(where) == "table" and where.checkpoint_id or where
  if type(path) ~= "string" then
    util.raise("TypeError", "save: wanted {checkpoint_id = folder}")
  end
  local together, alone = together_of(where)
  local flat = flatten(state, "", {})
  local names = util.sorted_keys(flat)
  local old = index_text(path)
  local turn = old and (tonumber(old:match('"turn":(%d+)')) or 0) + 1 or 1
  local file = ("%d-rank%d.safetensors"):format(turn, dt.rank())
  local owners = not alone
    and (type(where) == "table" and where.owners or first_owners(flat, names))
  local mine, chunks, parts, entries = {}, {}, {}, {}
  together(function ()
    for _, name in ipairs(names) do
      local t = flat[name]
      local owned = alone or not is_sharded(t) and owners[name] == dt.rank()
      if owned or is_sharded(t) then
        entries[#entries + 1] = entry_text(name, t)
      end
      if util.is_tensor(t) then check_no_addends(t) end
      if util.is_tensor(t) and (owned or is_sharded(t) and first_holder(t)) then
        mine[name] = t.is_dtensor and t:to_local() or t
        if t.is_dtensor then parts[io_.part_key(name)] = block_text(t) end
        chunks[#chunks + 1] = ('%s:{"file":"%s","runs":%s}'):format(
          json.encode(name), file, run_text(runs_of(t)))
      end
    end
    dt._make_dir(path)
    if next(mine) then
      dt._write_file(path .. "/" .. file, io_.safetensors(mine, parts))
    end
  end)
  local own = "{" .. table.concat(chunks, ",") .. "}"
  local all = alone and {own} or dt._gather_text(own)
  local text = table.concat(entries, "\n")
  local known = union(alone and {text} or dt._gather_text(text))
  together(function ()
    if not alone and dt.rank() ~= 0 then return end
    dt._write_file(path .. "/" .. INDEX, ('{"format":%d,"turn":%d,"told":%s,'
      .. '"tensors":{%s},"chunks":[%s]}\n'):format(FORMAT, turn,
      told or "null", known, table.concat(all, ",")))
    for r = 0, 4095 do                        -- files of the save before
      local gone = ("%s/%d-rank%d.safetensors"):format(path, turn - 1, r)
      if not os.remove(gone) and r >= dt.world_size() then break end
    end
  end)
end

-- exists(folder): does it hold a checkpoint?
function M.exists(path)
  local ok, text = pcall(index_text, path)
  return ok and text ~= nil
end

-- told(folder): what M.save was given to keep, decoded; nil without.
function M.told(path) return read_index(path).told end

-- entries(folder): by name, {shape =, dtype =} of a tensor, {value =} of a
-- number or a text.
function M.entries(path) return read_index(path).tensors end

-- remove(folder): the files of a checkpoint and the folder, if nothing else is
-- in it.
function M.remove(path)
  local text = index_text(path)
  for file in (text or ""):gmatch('"file":"([^"/]+)"') do
    os.remove(path .. "/" .. file)
  end
  os.remove(path .. "/" .. INDEX)
  os.remove(path)
end

-- ---- reading ----

-- Where two lists of runs meet: {from, to, length}: positions in each.
local function meet(a, b)
  local out, at_a = {}, 0
  for _, x in ipairs(a) do
    local at_b = 0
    for _, y in ipairs(b) do
      local first = math.max(x[1], y[1])
      local last = math.min(x[1] + x[2], y[1] + y[2])
      if last > first then
        out[#out + 1] = {at_a + first - x[1], at_b + first - y[1],
          last - first}
      end
      at_b = at_b + y[2]
    end
    at_a = at_a + x[2]
  end
  return out
end

-- Copy the blocks that are in both; returns how many elements.
local function copy_blocks(src, dst, blocks, d)
  local list = blocks[d]
  if not list then
    dst:copy_(src)
    return src:numel()
  end
  local n = 0
  for _, b in ipairs(list) do
    n = n + copy_blocks(src:narrow(d - 1, b[1], b[3]),
      dst:narrow(d - 1, b[2], b[3]), blocks, d + 1)
  end
  return n
end

local function opener(path)
  local open = {}
  return function (file)
    if file:find("/", 1, true) then
      util.raise("ValueError", "%s: a file of another folder: %s", path, file)
    end
    local f = open[file]
    if not f then
      local name = path .. "/" .. file
      local text = io_.read_all(name)
      local entries, base = io_.header(text, name)
      f = {text = text, entries = entries, base = base, name = name}
      open[file] = f
    end
    return f
  end
end

local function fill(t, name, index, open)
  local want, got = index.tensors[name], 0
  if type(want) ~= "table" or type(want.shape) ~= "table" then
    util.raise("RuntimeError", "Missing key in checkpoint state_dict: %s.",
      name)
  end
  if table.concat(want.shape, ",") ~= table.concat(t.shape, ",") then
    util.raise("ValueError", "Size mismatch between saved torch.Size([%s]) and "
      .. "current: torch.Size([%s]) for %s", table.concat(want.shape, ", "),
      table.concat(t.shape, ", "), name)
  end
  local dst = t.is_dtensor and t:to_local() or t
  local runs, src = runs_of(t), nil
  for _, of_rank in ipairs(index.chunks) do
    local c = of_rank[name]
    if c then
      local blocks, some = {}, true
      for d, list in ipairs(runs) do
        blocks[d] = meet(c.runs[d], list)
        some = some and #blocks[d] > 0
      end
      if some then
        local f = open(c.file)
        if not f.entries[name] then
          util.raise("ValueError", "%s does not hold '%s'", f.name, name)
        end
        src = io_.tensor(f.text, f.entries[name], f.base, f.name)
        got = got + copy_blocks(src, dst, blocks, 1)
      end
    end
  end
  if src and dst:is_floating_point() and src:is_floating_point()
     and src:element_size() > dst:element_size() then
    dt._mark(dst, "rounded", true)
  end
  if got ~= dst:numel() then
    util.raise("ValueError", "'%s': %d of %d elements are in the checkpoint",
      name, got, dst:numel())
  end
end

-- load(state_dict, {checkpoint_id = folder}): fills the tensors in place, each
-- in its own layout, whatever mesh wrote them; numbers and texts are replaced.
-- alone = true: this rank by itself.
function M.load(state, where)
  local path = type(where) == "table" and where.checkpoint_id or where
  together_of(where)(function ()
    local guard <close> = dt.no_grad()          -- luacheck: ignore guard
    local index = read_index(path)
    local open = opener(path)
    local function walk(map, prefix)
      for _, key in ipairs(util.sorted_keys(map)) do
        local v, name = map[key], prefix .. tostring(key)
        if util.is_tensor(v) then
          fill(v:detach(), name, index, open)
          dt._filled(v, name)
        elseif type(v) == "table" and not M.is_sealed(v) then
          walk(v, name .. ".")
        elseif index.tensors[name] and index.tensors[name].value ~= nil then
          map[key] = index.tensors[name].value
        end
      end
    end
    walk(state, "")
  end)
end

return M

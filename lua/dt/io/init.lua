-- SPDX-License-Identifier: MIT
-- dt/io/init.lua: tensors in files: dt.save and dt.load for .npy (one tensor),
-- .safetensors (several by name) and PyTorch's .pt (torch_file.lua).  All are
-- little-endian, as this program is; a file cut short is refused before
-- anything is made of it.

local dt = require "dt"
local util = require "dt.util"
local torch_values = require "dt.io.torch_values"

local M = {}

-- dtype name here, in safetensors, in numpy (none: numpy has no such type).
local TYPES = {
  {"float64", "F64", "<f8"}, {"float32", "F32", "<f4"},
  {"float16", "F16", "<f2"}, {"bfloat16", "BF16"},
  {"float8_e4m3fn", "F8_E4M3"}, {"float8_e5m2", "F8_E5M2"},
  {"int64", "I64", "<i8"}, {"int32", "I32", "<i4"}, {"int16", "I16", "<i2"},
  {"int8", "I8", "|i1"}, {"uint8", "U8", "|u1"}, {"bool", "BOOL", "|b1"},
  {"complex64", "C64", "<c8"}, {"complex128", "C128", "<c16"},
}

local function find(column, value)
  for _, row in ipairs(TYPES) do
    if row[column] == value then return row end
  end
end

local function type_of(t)
  return find(1, tostring(t.dtype):gsub("^torch%.", ""))
end

local function bad(path, ...)
  util.raise("ValueError", "%s: %s", path, string.format(...))
end

local function read_all(path)
  local f, err = io.open(path, "rb")
  if not f then util.raise("FileNotFoundError", "%s", err) end
  local text = f:read("a")
  f:close()
  return text
end

local function plain(t)
  if not util.is_tensor(t) then
    util.raise("TypeError", "a file holds tensors: this is a %s",
      util.type_text(t))
  end
  if t.is_dtensor then
    util.raise("TypeError", "a distributed tensor is written by "
      .. "dt.distributed.checkpoint.save, or as x:full_tensor()")
  end
  return t:detach()
end

-- ---- numpy ----

local function npy_text(t, path)
  local row = type_of(t)
  if not row[3] then bad(path, "numpy has no %s", row[1]) end
  local shape = table.concat(t.shape, ", ")
  if #t.shape == 1 then shape = shape .. "," end
  local head = ("{'descr': '%s', 'fortran_order': False, 'shape': (%s), }")
    :format(row[3], shape)
  local pad = -(10 + #head + 1) % 64
  head = head .. (" "):rep(pad) .. "\n"
  return "\x93NUMPY\1\0" .. string.pack("<I2", #head) .. head, dt._bytes(t)
end

local function npy_tensor(text, path)
  if #text < 10 then bad(path, "cut short") end
  local major = text:byte(7)
  local len, at
  if major == 1 then
    len, at = string.unpack("<I2", text, 9)
  else
    if #text < 12 then bad(path, "cut short") end
    len, at = string.unpack("<I4", text, 9)
  end
  local head = text:sub(at, at + len - 1)
  local descr = head:match("'descr': *'([^']+)'")
  local order = head:match("'fortran_order': *(%a+)")
  local dims = head:match("'shape': *%(([^)]*)%)")
  local row = descr and find(3, descr)
  if #head < len or not descr or not dims then bad(path, "not a .npy file") end
  if not row then bad(path, "numpy type %s is not known here", descr) end
  local shape = {}
  for n in dims:gmatch("%d+") do
    local size = math.tointeger(tonumber(n))
    if not size then bad(path, "a size of %s", n) end
    shape[#shape + 1] = size
  end
  if order == "True" then
    local back = {}
    for i = #shape, 1, -1 do back[#back + 1] = shape[i] end
    local t = dt._from_bytes(text, dt[row[1]], back, at + len - 1)
    local dims_back = {}
    for i = #shape - 1, 0, -1 do dims_back[#dims_back + 1] = i end
    return t:permute(dims_back)
  end
  return dt._from_bytes(text, dt[row[1]], shape, at + len - 1)
end

-- ---- safetensors ----

local function quote(s)
  return '"' .. s:gsub('[%c"\\]', function (c)
    return ("\\u%04x"):format(c:byte())
  end) .. '"'
end

-- The pieces of a file for named tensors (and metadata, name to text).
function M.safetensors(map, metadata)
  local names, parts, data, at = {}, {}, {}, 0
  for name in pairs(map) do names[#names + 1] = name end
  table.sort(names)
  if metadata then
    local list = {}
    for _, key in ipairs(util.sorted_keys(metadata)) do
      list[#list + 1] = quote(key) .. ":" .. quote(metadata[key])
    end
    parts[1] = '"__metadata__":{' .. table.concat(list, ",") .. "}"
  end
  for i, name in ipairs(names) do
    local t = plain(map[name])
    data[i] = dt._bytes(t)
    parts[#parts + 1] = ('%s:{"dtype":"%s","shape":[%s],"data_offsets":[%d,%d]}')
      :format(quote(name), type_of(t)[2], table.concat(t.shape, ","), at,
        at + #data[i])
    at = at + #data[i]
  end
  local head = "{" .. table.concat(parts, ",") .. "}"
  head = head .. (" "):rep(-#head % 8)
  return string.pack("<I8", #head) .. head, table.unpack(data)
end

-- header(text, path) -> entries by name, where the data begins, metadata.
function M.header(text, path)
  if #text < 8 then bad(path, "cut short") end
  local n = string.unpack("<I8", text)
  if n < 2 or n > #text - 8 then bad(path, "cut short, or not safetensors") end
  local ok, head = pcall(dt._json_decode, text:sub(9, 8 + n))
  if not ok or type(head) ~= "table" then bad(path, "its header is no JSON") end
  local entries, metadata = {}, head.__metadata__
  for name, e in pairs(head) do
    if name ~= "__metadata__" then
      local row = type(e) == "table" and find(2, e.dtype)
      local off = type(e) == "table" and e.data_offsets
      if not row or type(off) ~= "table" or type(e.shape) ~= "table"
         or math.type(off[1]) ~= "integer" or math.type(off[2]) ~= "integer"
         or off[1] < 0 or off[2] < off[1] then
        bad(path, "the entry of '%s' is not understood", name)
      end
      if off[2] > #text - 8 - n then
        bad(path, "cut short: '%s' ends at byte %d of %d", name, off[2],
          #text - 8 - n)
      end
      entries[name] = {dtype = dt[row[1]], shape = e.shape, first = off[1],
        last = off[2]}
    end
  end
  return entries, 8 + n, metadata
end

-- One tensor of a file read before.
function M.tensor(text, entry, base, path)
  local t = dt._from_bytes(text, entry.dtype, entry.shape, base + entry.first)
  if t:numel() * t:element_size() ~= entry.last - entry.first then
    bad(path, "sizes and offsets of an entry disagree")
  end
  return t
end

-- ---- by file name ----

local KINDS = {npy = "npy", safetensors = "safetensors"}
for ending in ("pt pth bin ckpt tar"):gmatch("%a+") do KINDS[ending] = "torch" end

local function kind(path)
  local found = KINDS[path:match("%.(%w+)$")]
  if not found then
    util.raise("ValueError", "%s: a file is .npy (one tensor), .safetensors "
      .. "(a table of tensors) or .pt (PyTorch's: tensors, numbers, tables)",
      path)
  end
  return found
end

-- Errors of one rank are everybody's.
local function together(f)
  local ok, err = pcall(f)
  for r, text in ipairs(dt._gather_text(ok and "" or tostring(err))) do
    if text ~= "" then
      if not ok then error(err, 0) end
      util.raise("OSError", "rank %d: %s", r - 1, text:match("[^\n]*"))
    end
  end
end
M.together = together

-- write(tensor or table, path): the file, by the calling rank alone.  Local.
function M.write(what, path)
  local ending = kind(path)
  if ending == "torch" then
    dt._write_file(path, table.unpack(torch_values.save(what, path)))
  elseif ending == "npy" then
    dt._write_file(path, npy_text(plain(what), path))
  else
    dt._write_file(path, M.safetensors(what))
  end
end

-- dt.save(tensor or table, path): rank 0 writes; the file is there, whole,
-- when it returns on any rank.
function M.save(what, path)
  kind(path)
  together(function ()
    if dt.rank() == 0 then M.write(what, path) end
  end)
end

local PART = "part of "

local function ints(text)
  local out = {}
  for n in text:gmatch("%d+") do out[#out + 1] = math.tointeger(tonumber(n)) end
  return out
end

-- part_key(name), part_text(shape, offsets): the entry of a file's metadata
-- that says which part of the tensor `name` it holds.
function M.part_key(name) return PART .. name end
function M.part_text(shape, offsets)
  return table.concat(shape, ",") .. ";" .. table.concat(offsets, ",")
end

-- What a file says about itself goes to the findings.
local function note_part(t, name, metadata)
  local text = type(metadata) == "table" and metadata[PART .. name]
  local shape, off = tostring(text):match("^([%d,]+);([%d,]+)$")
  if not shape then return end
  shape, off = ints(shape), ints(off)
  if #shape == #t.shape and #off == #shape then
    dt._file_part(t, name, shape, off)
  end
end

-- dt.load(path) -> a tensor (.npy), a table of tensors (.safetensors) or what
-- torch.save was given (.pt and its like).
function M.load(path)
  local ending = kind(path)
  local text = read_all(path)
  if ending == "torch" then return torch_values.load(text, path) end
  if ending == "npy" then return npy_tensor(text, path) end
  local entries, base, metadata = M.header(text, path)
  local out = {}
  for name, e in pairs(entries) do
    out[name] = M.tensor(text, e, base, path)
    note_part(out[name], name, metadata)
  end
  return out
end
M.read_all = read_all

return M

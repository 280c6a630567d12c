-- SPDX-License-Identifier: MIT
-- dt/io/torch_file.lua: torch.save's files: an archive (dt/io/zip.lua) of a
-- pickle of protocol 2 and of the storages it names.  Tensors that share a
-- storage share it in the file and after reading it.
--
-- Values go through as dt/io/pickle.lua describes them; what they are besides
-- tensors is the caller's: tables of Lua (dt/io) or a program's values
-- (torch/serialize.lua).  Local: nothing is said to other ranks.

local dt = require "dt"
local util = require "dt.util"
local P = require "dt.io.pickle"
local zip = require "dt.io.zip"
local unpickle = require "dt.io.unpickle"

local M = {}

-- Storages with a type of their own; others are untyped, and the tensor says
-- its type itself.
local STORED = {float32 = "Float", float64 = "Double", float16 = "Half",
  bfloat16 = "BFloat16", int64 = "Long", int32 = "Int", int16 = "Short",
  int8 = "Char", uint8 = "Byte", bool = "Bool", complex64 = "ComplexFloat",
  complex128 = "ComplexDouble"}

-- ---- writing ----

local REBUILD = {P.global("torch._utils", "_rebuild_tensor_v2"),
  P.global("torch._utils", "_rebuild_tensor_v3")}
local PARAMETER = P.global("torch._utils", "_rebuild_parameter")
local ORDERED = P.global("collections", "OrderedDict")
local UNTYPED = P.global("torch.storage", "UntypedStorage")

local typed, dtypes = {}, {}
for dtype, name in pairs(STORED) do
  typed[dtype] = P.global("torch", name .. "Storage")
end
-- dtype_of(name): torch.float32 and the like, described.
function M.dtype_of(name)
  dtypes[name] = dtypes[name] or P.global("torch", name)
  return dtypes[name]
end

-- ordered(items): collections.OrderedDict, described.
function M.ordered(items)
  local v = P.call(ORDERED, P.tuple {})
  v.items = items
  return v
end

-- rebuilt(t): a tensor described: {dtype =, element = (bytes of one), sizes =,
-- stride =, offset =, grad =, key = (the storage's, a str), bytes = (the
-- storage's), conj =, neg =}.
function M.rebuilt(t)
  local own = typed[t.dtype]
  local storage = P.persistent(P.tuple {"storage", own or UNTYPED, t.key, "cpu",
    own and t.bytes // t.element or t.bytes})
  local args = P.tuple {storage, t.offset or 0,
    P.tuple {table.unpack(t.sizes)}, P.tuple {table.unpack(t.stride)},
    t.grad or false, M.ordered()}
  if not own then args[#args + 1] = M.dtype_of(t.dtype) end
  local marks = {}
  for _, name in ipairs {"conj", "neg"} do
    if t[name] then marks[#marks + 1] = {name, true} end
  end
  if #marks > 0 then args[#args + 1] = P.dict(marks) end
  return P.call(REBUILD[own and 1 or 2], args)
end

-- What is in an archive: `data` has the pickle, `storages` a list; for each the
-- text, or in both its length where only the length of all is asked for.
local function files(prefix, data, storages, id)
  local length = type(data) == "number"
  local function text(s) return length and #s or s end
  local out = {{"data.pkl", data}, {".format_version", text "1"},
    {".storage_alignment", text "64"}, {"byteorder", text "little"}}
  for i, s in ipairs(storages) do
    out[#out + 1] = {("data/%d"):format(i - 1), s}
  end
  out[#out + 1] = {"version", text "3\n"}
  out[#out + 1] = {".data/serialization_id", length and 40 or id}
  for _, f in ipairs(out) do f[1] = prefix .. "/" .. f[1] end
  return out
end

-- length(v, bytes): of torch.save's archive of a described value, with the
-- lengths of its storages.
function M.length(v, bytes)
  return zip.length(files("archive", #P.dumps(v, 2), bytes or {}))
end

local function plain_parts(t)
  local s = dt._storage(t)
  local sizes, stride = {table.unpack(t.shape)}, {table.unpack(t:stride())}
  return {dtype = tostring(t.dtype):match("([%w_]+)$"), sizes = sizes,
    element = t:element_size(), stride = stride, offset = s.offset,
    bytes = s.bytes, conj = s.conj, neg = s.neg}, s.id
end

-- writer() -> w: w.tensor(t) is the description of a tensor; w.archive(v, name)
-- the file of a value described with them, as a list of texts.
function M.writer()
  local keys, types, storages, known = {}, {}, {}, {}
  local function add(t, id)
    storages[#storages + 1] = dt._storage_bytes(t)
    keys[id] = P.str(tostring(#storages - 1))
    return keys[id]
  end
  local function described(t)
    if t.is_dtensor then
      util.refuse("torch.save of a DTensor is not part "
        .. "of dtrepl: save its full_tensor() or to_local(), or use "
        .. "torch.distributed.checkpoint")
    end
    local parts, id = plain_parts(t)
    if id == 0 or parts.bytes == 0 then id = t end   -- nothing to share
    parts.key = keys[id] or add(t, id)
    if types[id] and types[id] ~= parts.dtype and STORED[parts.dtype]
       and STORED[types[id]] then
      util.raise("RuntimeError", "Cannot save multiple tensors or storages "
        .. "that view the same data as different types")
    end
    types[id] = types[id] or parts.dtype
    parts.grad = t.requires_grad and not t.is_parameter
    local out = M.rebuilt(parts)
    return t.is_parameter and P.call(PARAMETER, P.tuple {out, t.requires_grad,
      M.ordered()}) or out
  end
  local w = {}
  function w.tensor(t)
    known[t] = known[t] or described(t)
    return known[t]
  end
  function w.archive(v, name)
    local pickle = P.dumps(v, 2)
    local id = ("%020d%020d"):format(dt._crc32(pickle), #pickle)
    return zip.write(files(name, pickle, storages, id))
  end
  return w
end

-- name(path): what the folder in the archive is called.
function M.name(path)
  local base = path:match("([^/]*)$")
  return base:match("^(.+)%.[^.]*$") or base
end

-- ---- reading ----

local BROKEN = "PytorchStreamReader failed reading zip archive: %s. This is an "
  .. "internal miniz error. If you are seeing this error, there is a high "
  .. "likelihood that your checkpoint file is corrupted. This can happen if the "
  .. "checkpoint was not saved properly, was transferred incorrectly, or the "
  .. "file was modified after saving."

local UNSAFE = "Weights only load failed. This file can still be loaded, to do "
  .. "so you have two options, \27[1mdo those steps only if you trust the source "
  .. "of the checkpoint\27[0m. \n\t(1) In PyTorch 2.6, we changed the default "
  .. "value of the `weights_only` argument in `torch.load` from `False` to "
  .. "`True`. Re-running `torch.load` with `weights_only` set to `False` will "
  .. "likely succeed, but it can result in arbitrary code execution. Do it only "
  .. "if you got the file from a trusted source.\n\t(2) Alternatively, to load "
  .. "with `weights_only=True` please check the recommended steps in the "
  .. "following error message.\n\tWeightsUnpickler error: Unsupported global: "
  .. "GLOBAL %s was not an allowed global by default. Please use "
  .. "`torch.serialization.add_safe_globals([%s])` or the "
  .. "`torch.serialization.safe_globals([%s])` context manager to allowlist this "
  .. "global if you trust this class/function.\n\nCheck the documentation of "
  .. "torch.load to learn more about types accepted by default with weights_only "
  .. "https://pytorch.org/docs/stable/generated/torch.load.html."

-- refuse_global(name): what weights_only=True says of a class or function.
function M.refuse_global(full)
  full = full:gsub("^__builtin__%.", ""):gsub("^builtins%.", "")
  util.raise("UnpicklingError", "%s", UNSAFE:format(full, full, full))
end

local ALLOWED = {["torch.Size"] = true, ["torch.device"] = true,
  ["collections.OrderedDict"] = true, ["__builtin__.set"] = true,
  ["builtins.set"] = true, ["_codecs.encode"] = true,
  ["torch.storage.UntypedStorage"] = true}
for _, f in ipairs {"tensor_v2", "tensor_v3", "parameter"} do
  ALLOWED["torch._utils._rebuild_" .. f] = true
end
local element = {}                       -- dtype name, by a storage's name
for dtype, name in pairs(STORED) do
  ALLOWED["torch." .. name .. "Storage"] = true
  element["torch." .. name .. "Storage"] = dtype
end

local DTYPES = {float8_e4m3fn = true, float8_e5m2 = true}
for name in pairs(STORED) do DTYPES[name] = true end
local function is_dtype(name) return DTYPES[name] and dt[name] or nil end

local function checker(path, weights_only)
  return function (module, name)
    local full = module .. "." .. name
    if ALLOWED[full] or module == "torch" and is_dtype(name) then return end
    if module:find("^torch$") or module:find("^torch%._")
       or module:find("^torch%.distributed") or not weights_only then
      util.raise("NotImplementedError", "%s: %s is not read here",
        path, full)
    end
    M.refuse_global(full)
  end
end

local Reader = {}
Reader.__index = Reader

local function wrong(r, ...)
  util.raise("UnpicklingError", "%s: %s", r.path, string.format(...))
end

local function of_kind(v, kind) return type(v) == "table" and v.kind == kind end

local function name_of(v) return v.module .. "." .. v.name end

-- A list of integers from a described tuple.
local function ints(r, v)
  if not of_kind(v, "tuple") then wrong(r, "a size is no tuple") end
  for i = 1, v.n do
    if math.type(v[i]) ~= "integer" then wrong(r, "a size of no integers") end
  end
  return {table.unpack(v, 1, v.n)}
end

-- The storage of a persistent id: one tensor over all of it, for each type.
local function storage(r, v, dtype)
  local id = of_kind(v, "persistent") and v.v
  if not of_kind(id, "tuple") or id[1] ~= "storage" or type(id[3]) ~= "string"
     or not of_kind(id[2], "global") then
    wrong(r, "a tensor without a storage")
  end
  dtype = dtype or element[name_of(id[2])]
  if not dtype then wrong(r, "a storage of no type") end
  local key = id[3] .. "\n" .. dtype
  if not r.storages[key] then
    local f = r.files[r.prefix .. "data/" .. id[3]]
    if not f then
      util.raise("RuntimeError", "PytorchStreamReader failed locating file "
        .. "data/%s: file not found", id[3])
    end
    local size = dt.empty({0}, {dtype = dt[dtype]}):element_size()
    r.storages[key] = dt._from_bytes(r.text, dt[dtype], {f.length // size},
      f.first)
  end
  return r.storages[key]
end

local function rebuilt(r, call, version)
  local a = call.args
  local dtype
  if version == 3 then
    dtype = of_kind(a[7], "global") and a[7].module == "torch"
      and is_dtype(a[7].name) and a[7].name
    if not dtype then wrong(r, "a tensor of no dtype") end
  end
  local shape, stride = ints(r, a[3]), ints(r, a[4])
  if math.type(a[2]) ~= "integer" then wrong(r, "a tensor without an offset") end
  local marks, of = a[version == 3 and 8 or 7], {}
  for _, item in ipairs(of_kind(marks, "dict") and marks or {}) do
    if type(item[1]) == "string" then of[item[1]] = item[2] == true end
  end
  local t = dt._view_at(storage(r, a[1], dtype), shape, stride, a[2],
    of.conj, of.neg)
  if a[5] == true then t.requires_grad = true end
  return t
end

-- r:tensor(call): the tensor or parameter that a described call makes, or nil.
function Reader:tensor(call)
  local name = name_of(call.f)
  if name == "torch._utils._rebuild_tensor_v2" then
    return rebuilt(self, call, 2)
  elseif name == "torch._utils._rebuild_tensor_v3" then
    return rebuilt(self, call, 3)
  elseif name == "torch._utils._rebuild_parameter" then
    local data = call.args[1]
    local t = of_kind(data, "call") and data.f ~= call.f and self:tensor(data)
    if not util.is_tensor(t) then wrong(self, "a parameter without a tensor") end
    return dt._make_param(t, call.args[2] == true)
  end
end

-- r:dtype(global): a dtype, or nil.
function Reader:dtype(v) return v.module == "torch" and is_dtype(v.name) end

-- open(text, path, weights_only) -> a reader; its `root` is what the pickle
-- describes.  Errors: RuntimeError for an archive that is cut short or none,
-- UnpicklingError for a pickle that is, or that names what is not allowed.
function M.open(text, path, weights_only)
  if text == "" then util.raise("EOFError", "") end
  if text:sub(1, 4) ~= "PK\3\4" then
    util.raise("RuntimeError", "%s: no file of torch.save's: it is no zip "
      .. "archive (what PyTorch wrote before 1.6 is not read here)", path)
  end
  local all = zip.read(text, function (why)
    util.raise("RuntimeError", BROKEN, why)
  end)
  local prefix, data
  for name, f in pairs(all) do
    local head = name:match("^([^/]*/)data%.pkl$")
    if head then prefix, data = head, f end
  end
  if not data then
    util.raise("RuntimeError", "PytorchStreamReader failed locating file "
      .. "data.pkl: file not found")
  end
  local order = all[prefix .. "byteorder"]
  if order and text:sub(order.first + 1, order.first + order.length)
     ~= "little" then
    util.raise("RuntimeError", "%s: its numbers are big-endian", path)
  end
  local root = unpickle.loads(text:sub(data.first + 1, data.first
    + data.length), checker(path, weights_only))
  return setmetatable({root = root, text = text, path = path, files = all,
    prefix = prefix, storages = {}}, Reader)
end

return M

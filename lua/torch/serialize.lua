-- SPDX-License-Identifier: MIT
-- torch/serialize.lua: torch.save and torch.load for Python programs:
-- values of a program in files that PyTorch reads and writes
-- (dt/io/torch_file.lua).  Every rank reads and writes for itself.
--
-- What such a file does not hold (modules, functions, distributed tensors)
-- is kept as the object itself, as pickle.dumps does, and the process that saved
-- it can load it.

local dt = require "dt"
local util = require "dt.util"
local V = require "python.values"
local kinds = require "torch.kinds"
local P = require "dt.io.pickle"
local args = require "python.args"
local attrs = require "python.attrs"
local big = require "python.bigint"
local exceptions = require "python.exceptions"
local builtin_names = require "python.builtin_names"
local streams = require "python.std.streams"
local torch_file = require "dt.io.torch_file"
local torch_values = require "dt.io.torch_values"
local dt_io = require "dt.io"

local M = {}
local None = dt.None

local classes = exceptions.classes
for _, name in ipairs {"PickleError", "PicklingError", "UnpicklingError"} do
  local class = exceptions.define(name, classes.PickleError
    or classes.Exception)
  class.__module__ = "_pickle"
  classes[name] = class
end

-- ---- a program's values, described ----

local SIZE, DEVICE = P.global("torch", "Size"), P.global("torch", "device")
local SET = {[false] = P.global("__builtin__", "set"),
  [true] = P.global("__builtin__", "frozenset")}

-- A large integer as the bytes of its two's complement.
local function long(v)
  local out = {}
  while true do
    local q, byte = big.divmod(v, 256)
    out[#out + 1] = string.char(byte)
    v = q
    if v == 0 and byte < 128 or v == -1 and byte >= 128 then break end
  end
  return P.long(table.concat(out))
end

local function of_long(s)
  local negative = s:byte(-1) >= 128
  local v = 0
  for i = #s, 1, -1 do
    local byte = s:byte(i)
    v = big.add(big.mul(v, 256), negative and 255 - byte or byte)
  end
  return negative and big.bnot(v) or v
end

-- What a pickle names of such a value: its class, or itself where it is a class
-- or a function; nil of what PyTorch reads with weights_only=True, too, and of what
-- it might.
local function global_of(v)
  local name = V.type_name(v)
  if name == "Counter" or util.is_tensor(v) then return nil end
  local of, itself = v, name == "type" or name:find "function"
  if not itself then of = V.call(builtin_names.type, V.list({v}, 1)) end
  local module = attrs.get(of, "__module__")
  if type(module) ~= "string" or module:find "^torch%.distributed"
     or module:find "^numpy" or module == "builtins" and not itself then
    return nil
  end
  local word = attrs.get(of, "__qualname__")
  if word:find(".", 1, true) then return "getattr" end   -- a class in another
  return module .. "." .. word
end

local met                               -- what was refused last

local function refused(v)
  met = v
  util.refuse("torch.save of an object of %s is not part "
    .. "of dtrepl: a file holds tensors, numbers, texts, lists, tuples, sets and "
    .. "dicts, such as a state_dict()", V.type_name(v))
end

local described

local function items_of(w, v, out)
  local items, n = V.items(v)
  for i = 1, n do out[i] = described(w, items[i]) end
  out.n = n
  return out
end

local function of_dict(w, v)
  if v.factory or v.shown_as and not v.ordered or rawget(v, "_native") then
    refused(v)
  end
  local items = {}
  local out = v.ordered and torch_file.ordered(items) or P.dict(items)
  w.known[v] = out
  for k, item in V.each(v) do
    items[#items + 1] = {described(w, k), described(w, item)}
  end
  return out
end

local function of_object(w, v)
  if util.is_tensor(v) then return w.tensor(v) end
  if util.is_dtype(v) then
    return torch_file.dtype_of(tostring(v):match("([%w_]+)$"))
  end
  if V.is_device(v) then
    return P.call(DEVICE, v.index == None and P.tuple {v.type}
      or P.tuple {v.type, v.index})
  end
  if big.is(v) then return long(v) end
  if V.is_dict(v) then return of_dict(w, v) end
  if V.is_set(v) then
    return P.call(SET[rawget(v, "frozen") == true], P.tuple {P.list(items_of(w, v, {}))})
  end
  if V.is_tuple(v) and not rawget(v, "record") then
    local out = P.tuple(items_of(w, v, {}))
    return v.is_size and P.call(SIZE, P.tuple {out}) or out
  end
  if V.type_name(v) == "list" then
    local out = P.list {}
    w.known[v] = out
    return items_of(w, v, out)
  end
  return refused(v)
end

function described(w, v)
  if v == None then return P.none end
  if type(v) == "boolean" or type(v) == "number" or type(v) == "string" then
    return v
  end
  local known = w.known[v]
  if known then return known end
  w.known[v] = of_object(w, v)
  return w.known[v]
end

-- The file of a value as a list of texts.
local function written(v, name)
  local w = torch_file.writer()
  w.known = {}
  return w.archive(described(w, v), name)
end

local host = {list = function () return V.list({}, 0) end,
  append = function (box, v)
    box.n = box.n + 1
    box[box.n] = v
  end,
  dict = function (ordered)
    if not ordered then return V.dict() end
    return V.call(attrs.module("collections").OrderedDict, V.list({}, 0))
  end,
  set_item = V.dict_set, tuple = V.tuple,
  set = function (items, _, frozen)
    local s = V.set(items)
    s.frozen = frozen
    return s
  end,
  size = V.size, long = of_long, device = function (text)
    return kinds.device(text)
  end, none = None}

local function read(text, path, weights_only)
  return torch_values.decode(torch_file.open(text, path, weights_only), host)
end

-- bytes(v), value(bytes): a value as a file of torch.save's, and what one holds.
function M.bytes(v) return table.concat(written(v, "archive")) end
function M.value(bytes) return read(bytes, "state dict", false) end

-- ---- torch.save and torch.load ----

-- Files of other kinds are dt's.
local function other_kind(path)
  return path:find("%.npy$") or path:find("%.safetensors$")
end

local function no_file_holds(ok, parts)
  return not ok and type(parts) == "table"
    and parts.class == "NotImplementedError"
end

local function to_stream(s, v, keep)
  met = nil
  local ok, parts = pcall(written, v, "archive")
  if ok then
    streams.write(s, table.concat(parts))
    if s.path then streams.settle() end
  elseif not s.path and no_file_holds(ok, parts) then
    s.held = {keep(v), met and global_of(met)}     -- the object itself
  else
    error(parts, 0)
  end
end

-- Has the program said that a class or function of this name may be read?
local function is_safe(name)
  return V.call(attrs.get(attrs.module "torch.serialization", "_is_safe"),
    V.list {name})
end

local function from_held(held, safe, give)
  if safe and held[2] and not is_safe(held[2]) then
    torch_file.refuse_global(held[2])
  end
  return give(held[1])
end

-- A file of an object that no file holds has this text, and this process the
-- object.
local HELD <const> = "dtrepl keeps object %d of process %s\n"
local files_held, own = {}, tostring({}):match "%w+$"

local function hold(v, keep)
  local n = #files_held + 1
  files_held[n] = {keep(v), met and global_of(met)}
  return HELD:format(n, own)
end

-- found(text): what a file of such a text holds, or nil for any other file.
local function found(text, path)
  local n, process = text:match("^dtrepl keeps object (%d+) of process (%w+)\n$")
  if not n then return nil end
  if process ~= own then
    util.refuse("torch.load of %s is not part of dtrepl: it is an object (such as "
      .. "a whole module) that another process or rank saved; a state_dict() "
      .. "can be read anywhere", path)
  end
  return files_held[tonumber(n)]
end

local function to_file(path, v, keep)
  met = nil
  local packed, parts = pcall(written, v, torch_file.name(path))
  if no_file_holds(packed, parts) then parts = {hold(v, keep)}
  elseif not packed then error(parts, 0) end
  local ok, e = pcall(dt._write_file, path, table.unpack(parts))
  if ok then return end
  local parent = path:match("^(.*)/[^/]*$")
  if parent and tostring(e):find("No such file or directory", 1, true) then
    util.raise("RuntimeError", "Parent directory %s does not exist.", parent)
  end
  error(e, 0)
end

-- Files of one name but for its digits, which the ranks saved each for itself:
-- who reads another's, and never his own, has lost what he saved.
local function pattern_of(path)
  local name = path:gsub("%d+", "#")
  return name
end

local function note_saved(files, path, v)
  local ok, parts = pcall(written, v, "archive")
  files[pattern_of(path)] = {path = path, text = ok and type(parts) == "table"
    and table.concat(parts) or nil}
end

local function note_loaded(files, path)
  local mine = files[pattern_of(path)]
  if not mine or not mine.text then return end
  if mine.read and mine.read ~= path then
    dt._excuse("LOADS_OTHERS")
    return
  end
  mine.read = path
  dt._claim("LOADS_OTHERS", "torch.load", "", "what each rank saved under such a "
    .. "name; all of them load " .. path:match("[^/]*$"), mine.text, path)
end

-- define(keep, give): the two functions; keep(v) is a copy of an object that no
-- file holds, give(kept) one of it.
function M.define(keep, give)
  local files = {}
  local save = args.def("save", {"obj", "f", "pickle_module?",
    "pickle_protocol?", "_use_new_zipfile_serialization?",
    "_disable_byteorder_record?"}, function (a)
    local s = streams.of(a.f)
    local path = not s and streams.path_of(a.f)
    if s then to_stream(s, a.obj, keep)
    elseif not path then
      util.raise("AttributeError", "expected 'f' to be string, path, or a "
        .. "file-like object with a 'write' attribute")
    elseif other_kind(path) then
      dt_io.write(V.to_lua(a.obj), path)  -- this rank's, as PyTorch's
    else
      to_file(path, a.obj, keep)
      note_saved(files, path, a.obj)
    end
    return None
  end)
  local load = args.def("load", {"f", "map_location?", "pickle_module?", "*",
    "weights_only?", "mmap?", "**more"}, function (a)
    local safe = a.weights_only ~= false
    local s = streams.of(a.f)
    local path = not s and streams.path_of(a.f)
    if s then
      if s.held and s.text == "" then return from_held(s.held, safe, give) end
      return read(s.text:sub(s.at + 1), s.path or "BytesIO", safe)
    elseif not path then
      util.raise("AttributeError", "'%s' object has no attribute 'seek'. You "
        .. "can only torch.load from a file that is seekable. Please pre-load "
        .. "the data into a buffer like io.BytesIO and try to load from it "
        .. "instead.", V.type_name(a.f))
    elseif other_kind(path) then
      return V.from_lua(dt.load(path))
    end
    note_loaded(files, path)
    local text = streams.whole(path)
    local held = found(text, path)
    if held then return from_held(held, safe, give) end
    return read(text, path, safe)
  end)
  return save, load
end

return M

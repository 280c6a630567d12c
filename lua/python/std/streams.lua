-- SPDX-License-Identifier: MIT
-- python/std/streams.lua: io.BytesIO, io.StringIO and open() for Python
-- programs.  A file is held whole: read when it is opened, written when it is
-- closed, flushed or asked for by another call of this process, or the program
-- ends.
--
-- Every rank reads and writes for itself, where the engine lets it: below the
-- working folder and in the folders of tempfile.

local dt = require "dt"
local util = require "dt.util"
local V = require "python.values"
local attrs = require "python.attrs"
local builtins = require "python.builtins"
local args = require "python.args"
local exceptions = require "python.exceptions"

local M = {}
local None, builtin = dt.None, V.builtin

-- failed(code, why, path): raise what Python does for that number of a system
-- call's error.
function M.failed(code, why, path)
  error(exceptions.classes.OSError.make(V.list {code, why, path}), 0)
end

local streams = setmetatable({}, {__mode = "k"})  -- {text =, at =, path =, …}

-- What a stream holds is s.text, s.size bytes.  What is written at its end lies
-- in s.parts until somebody asks for the text: a log of many lines would be
-- copied once a line.
local held = {__index = function (s, key)
  if key ~= "text" then return nil end
  local text = table.concat(s.parts)
  s.text, s.parts = text, {text}
  return text
end}

local function set_text(s, text)
  s.text, s.parts, s.size = text, {text}, #text
end

local function add_at_end(s, text)
  s.text, s.size = nil, s.size + #text
  s.parts[#s.parts + 1] = text
end

-- A stream of these fields that holds a text.
local function hold(s, text)
  set_text(s, text)
  return setmetatable(s, held)
end
local unwritten = {}                    -- files that are not yet as they hold

-- of(v): what a stream of a program holds, or nil.
function M.of(v)
  if type(v) ~= "table" then return nil end
  local below = rawget(v, "_attrs")         -- of a class below io.StringIO
  return streams[v] or below and streams[below._stream] or nil
end

local function store(s)
  unwritten[s] = nil
  dt._write_file(s.path, s.codec and V.encoded(s.text, s.codec, s.how).s or s.text)
end

-- What a stream cannot do, as io says it.
local function unsupported(what)
  local class = attrs.get(attrs.module "io", "UnsupportedOperation")
  error(V.call(class, V.list {what}), 0)
end

-- settle(): write every file that is open for writing.
function M.settle()
  for s in pairs(unwritten) do store(s) end
end

-- whole(path): the text of a file, which may lie beside the program.
function M.whole(path)
  M.settle()
  local seen, f, why, code = pcall(io.open, path, "rb")
  if not seen or not f then
    local beside = dt._read_beside(path)
    if beside then return beside end
    if not seen then error(f, 0) end
    M.failed(code or 5, why:gsub("^.*: ", ""), path)
  end
  local text = f:read("a")
  f:close()
  if not text then M.failed(21, "Is a directory", path) end
  return text
end

-- write(s, text): at its place, or at the end where a file is appended to.
function M.write(s, text)
  if type(text) ~= "string" then
    util.raise("TypeError", s.words and "write() argument must be str, not %s"
      or "a bytes-like object is required, not '%s'", V.type_name(text))
  elseif s.path and not s.writes then
    unsupported(s.words and "not writable" or "write")
  end
  local size = s.words and utf8.len(text) or #text
  if s.codec then V.encoded(text, s.codec, s.how) end      -- can it be written?
  if s.newline then text = text:gsub("\n", s.newline) end
  if s.appends then s.at = s.size end
  if s.at == s.size then
    add_at_end(s, text)
  else
    local gap = math.max(0, s.at - s.size)
    set_text(s, s.text:sub(1, s.at) .. ("\0"):rep(gap) .. text
      .. s.text:sub(s.at + #text + 1))
  end
  s.at = s.at + #text
  if s.path then unwritten[s] = true end
  return size
end

-- How many bytes the next n characters, or bytes, are.
local function bytes_of(s, n)
  if not s.words or n >= s.size - s.at then return n end
  local stop = utf8.offset(s.text, n + 1, s.at + 1)
  return stop and stop - 1 - s.at or s.size - s.at
end

-- The place of StringIO counts characters.
local function counts(s) return s.words and not s.path end

local function place(s)
  if not counts(s) then return s.at end
  return (utf8.len(s.text, 1, math.min(s.at, s.size)) or s.at)
    + math.max(0, s.at - s.size)
end

local function set_place(s, n)
  local size = counts(s) and utf8.len(s.text)
  if size and n <= size then
    s.at = utf8.offset(s.text, n + 1) - 1
  else
    s.at = n + (size and s.size - size or 0)
  end
  return n
end

-- The number of characters an argument allows, or nil where it is all.
local function limit(n) return math.type(n) == "integer" and n >= 0 and n or nil end

local function take(s, n)
  if s.path and not s.reads then unsupported(s.words and "not readable" or "read") end
  local out = s.text:sub(s.at + 1, s.at + n)
  s.at = s.at + #out
  return out
end

local function line(s)
  local stop = s.text:find("\n", s.at + 1, true) or s.size
  return take(s, stop - s.at)
end

-- What a stream gives: texts, or bytes.
local function given(s, text) return s.words and text or V.bytes(text) end

local methods = {
  write = function (s, a)
    local v = V.unbox(a[1])
    if s.words then return M.write(s, v) end
    if not V.is_bytes(v) then
      util.raise("TypeError", "a bytes-like object is required, not '%s'",
        V.type_name(v))
    end
    return M.write(s, v.s)
  end,
  read = function (s, a)
    local n = limit(a[1])
    return given(s, take(s, n and bytes_of(s, n) or s.size))
  end,
  readline = function (s, a)
    local n, at = limit(a[1]), s.at
    local out = line(s)
    if n then
      s.at = at
      out = take(s, math.min(#out, bytes_of(s, n)))
    end
    return given(s, out)
  end,
  readlines = function (s, a)
    local out, most, size = {}, limit(a[1]), 0
    while s.at < s.size and not (most and most > 0 and size >= most) do
      local text = line(s)
      out[#out + 1], size = given(s, text), size + #text
    end
    if s.at >= s.size then take(s, 0) end
    return V.list(out)
  end,
  read1 = function (s, a) return given(s, take(s, limit(a[1]) or s.size)) end,
  peek = function (s) return V.bytes(s.text:sub(s.at + 1, s.at + 8192)) end,
  readinto = function (s, a)
    local room = V.unbox(a[1])
    if not V.is_bytearray(room) then
      util.refuse("readinto() of what is no bytearray is not part of dtrepl")
    end
    local text = take(s, #room.s)
    room.s = text .. room.s:sub(#text + 1)
    return #text
  end,
  getbuffer = function (s)
    return V.call(builtins.names.memoryview, V.list {V.bytes(s.text)})
  end,
  fileno = function () return unsupported "fileno" end,
  writelines = function (s, a)
    local items, n = V.items(a[1])
    for i = 1, n do
      local v = V.unbox(items[i])
      M.write(s, V.is_bytes(v) and not s.words and v.s or v)
    end
    return None
  end,
  truncate = function (s, a)
    local size, at = s.at, s.at
    if math.type(a[1]) == "integer" then
      set_place(s, a[1])
      size, s.at = s.at, at
    end
    set_text(s, s.text:sub(1, size) .. ("\0"):rep(size - s.size))
    if s.path then unwritten[s] = true end
    return a[1] ~= nil and a[1] ~= None and a[1] or place(s)
  end,
  readable = function (s) return not s.path or s.reads end,
  writable = function (s) return not s.path or s.writes end,
  seekable = function () return true end,
  isatty = function () return false end,
  seek = function (s, a)
    local from = a[2] == 1 and s.at or a[2] == 2 and s.size or 0
    if s.words and a[1] ~= 0 and (a[2] == 1 or a[2] == 2) then
      local which = a[2] == 1 and "cur" or "end"
      if s.path then unsupported("can't do nonzero " .. which .. "-relative seeks") end
      util.raise("OSError", "Can't do nonzero cur-relative seeks")
    end
    if math.type(a[1]) ~= "integer" or from + a[1] < 0 then
      util.raise("ValueError", "negative seek value %s", V.str(a[1]))
    end
    if from > 0 then
      s.at = from + a[1]
      return place(s)
    end
    return set_place(s, a[1])
  end,
  tell = place,
  getvalue = function (s) return given(s, s.text) end,
  flush = function (s)
    if unwritten[s] then store(s) end
    return None
  end,
  close = function (s)
    if unwritten[s] then store(s) end
    s.closed = true
    return None
  end,
}

-- Which streams have a method that others lack.
local ONLY <const> = {read1 = "bytes", peek = "file",
  readinto = "bytes", getbuffer = "memory"}
local function has(s, name)
  local kind = ONLY[name]
  if name == "getvalue" then return not s.path end
  return not kind or not s.words and (kind == "bytes"
    or (kind == "file") == (s.path ~= nil))
end

-- What a stream of texts says of itself.
local FACTS <const> = {encoding = true, errors = true, newlines = true,
  line_buffering = true}
local function fact(s, name)
  if not s.words or not FACTS[name] then return nil end
  if name == "line_buffering" then return false end
  if name == "newlines" or not s.path then return None end
  if name == "errors" then return s.how or "strict" end
  return s.encoding or "UTF-8"
end

-- A stream for the program: an object with those methods.
local function object(s, class)
  local obj = {}
  for name, f in pairs(methods) do
    if has(s, name) then
      obj[name] = builtin(function (a)
        if s.closed and name ~= "close" then
          util.raise("ValueError", counts(s) and "I/O operation on closed file"
            or "I/O operation on closed file.")
        end
        return f(s, a)
      end, name)
    end
  end
  function obj.__enter__() return obj end
  function obj.__exit__()
    methods.close(s)
    return false
  end
  obj.specials = {__iter__ = function () return obj end,
    __next__ = function ()
      if s.at >= s.size then util.raise("StopIteration", "") end
      return given(s, line(s))
    end}
  streams[obj] = s
  return attrs.namespace(setmetatable(obj, {__name = class,
    __index = function (_, key)
      if key == "closed" then return s.closed == true end
      return fact(s, key)
    end}))
end

M.BytesIO = args.def("BytesIO", {"initial_bytes?"}, function (a)
  local first = V.unbox(a.initial_bytes)
  return object(hold({at = 0}, V.is_bytes(first) and first.s or ""),
    "_io.BytesIO")
end)

-- universal(text, newline): lines of a text as open() gives them: without a
-- newline=, "\r\n" and "\r" are read as "\n".
local function universal(text, newline)
  if newline ~= nil and newline ~= None or not text:find("\r", 1, true) then
    return text
  end
  return (text:gsub("\r\n?", "\n"))
end

-- StringIO(text): writing begins over the text.
M.StringIO = args.def("StringIO", {"initial_value?", "newline?"}, function (a)
  local text = V.unbox(a.initial_value)
  if text ~= nil and text ~= None and type(text) ~= "string" then
    util.raise("TypeError", "initial_value must be str or None, not %s",
      V.type_name(text))
  end
  text = type(text) == "string" and text or ""
  if a.newline == None then text = universal(text) end
  return object(hold({at = 0, words = true}, text), "_io.StringIO")
end)

-- The two as classes: of these streams, and of the program's classes below them.
for _, name in ipairs {"StringIO", "BytesIO"} do
  local class = M[name]
  local function below() return attrs.get(attrs.module "_io_classes", name) end
  class.__qualname__, class.__module__, class.base_class = name, "_io", below
  class.test = function (v)
    local s = M.of(v)
    return s ~= nil and not s.path and (s.words == true) == (name == "StringIO")
  end
end

-- in_memory(name, mode): a file of tempfile that no folder holds.
function M.in_memory(name, mode)
  local obj = object(hold({at = 0, words = not mode:find "b"}, ""), "_io.BytesIO")
  rawset(obj, "name", name)
  return obj
end

-- path_of(v): the text of a path: of a str, or what __fspath__ gives; else nil.
function M.path_of(v)
  v = V.unbox(v)
  if type(v) == "string" then return v end
  local f = V.special(v, "__fspath__")
  return f and M.path_of(f())
end

-- path_text(v): the same, or what os says of something else.
function M.path_text(v)
  return M.path_of(v) or util.raise("TypeError", "expected str, bytes or "
    .. "os.PathLike object, not %s", V.type_name(v))
end

-- Note how a stream of texts writes them, by what open() was given.
local function note_codec(s, given)
  if not s.words then
    if given.encoding ~= nil and given.encoding ~= None then
      util.raise("ValueError", "binary mode doesn't take an encoding argument")
    end
    return
  end
  s.how = given.errors ~= None and given.errors or nil
  if given.encoding ~= nil and given.encoding ~= None then
    s.encoding = given.encoding
    s.codec, s.how = s.encoding, s.how or "strict"
    V.encoded("", s.codec, s.how)
  end
  if given.newline == "\r\n" or given.newline == "\r" then
    s.newline = given.newline
  end
end

-- The bytes of a file as what the stream gives.
local function read_as(s, text, newline)
  if not s.words then return text end
  local wide = (s.codec or ""):lower():match("^utf[-_]?(%d%d)$")
  if wide and text ~= "" and not text:find("^\xff\xfe") and not text:find("\xfe\xff")
     then
    util.raise("UnicodeError", "UTF-%s stream does not start with BOM", wide)
  end
  return universal(V.decoded(text, s.codec or "utf-8", s.how or "strict"), newline)
end

M.open = args.def("open", {"file", "mode?", "buffering?", "encoding?",
  "errors?", "newline?", "**more"}, function (a)
  local path, mode = a.file, type(a.mode) == "string" and a.mode or "r"
  path = M.path_of(path) or path
  local how, rest = mode:match("^([rwax])([bt+]*)$")
  if mode:find "[^rwaxbt+]" then
    util.raise("ValueError", "invalid mode: %s", V.repr(mode))
  end
  if type(path) ~= "string" or not how then
    util.refuse("open(%s, %s) is not part of dtrepl: a "
      .. "path as a text is opened as r, w, x or a, with or without b and +",
      V.repr(path), V.repr(mode))
  end
  local s = hold({at = 0, path = path,
    words = not rest:find("b", 1, true),
    reads = how == "r" or rest:find("+", 1, true) ~= nil,
    writes = how ~= "r" or rest:find("+", 1, true) ~= nil,
    appends = how == "a"}, "")
  note_codec(s, a)
  if how == "r" then
    set_text(s, read_as(s, M.whole(path), a.newline))
  else
    if how == "x" and pcall(M.whole, path) then
      M.failed(17, "File exists", path)
    end
    if how == "a" then
      local ok, text = pcall(M.whole, path)
      set_text(s, ok and read_as(s, text, "") or "")
      s.at = s.size
    end
    local ok, e = pcall(store, s)
    if not ok and tostring(e):find("No such file or directory", 1, true) then
      M.failed(2, "No such file or directory", path)
    elseif not ok then
      error(e, 0)
    end
  end
  local obj = object(s, s.words and "_io.TextIOWrapper"
    or how == "r" and "_io.BufferedReader" or "_io.BufferedWriter")
  obj.name, obj.mode = path, mode
  return obj
end)

builtins.names.open = M.open
attrs.provide("io", attrs.namespace {BytesIO = M.BytesIO,
  StringIO = M.StringIO, open = M.open})

return M

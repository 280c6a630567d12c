-- SPDX-License-Identifier: MIT
-- python/std/system.lua: modules of Python's library about the process and
-- its texts: os, sys, warnings, string, …
-- Nothing real is touched but files (files.lua): no process, no clock but Lua's.

local dt = require "dt"
local util = require "dt.util"
local V = require "python.values"
local attrs = require "python.attrs"
local builtins = require "python.builtins"
local tools = require "python.std.tools"
local files = require "python.std.files"
local streams = require "python.std.streams"
local frames = require "python.std.frames"
local exceptions = require "python.exceptions"
local abandoned = require "python.abandoned"

local M = {}
local None = dt.None
local builtin, namespace, provide = V.builtin, attrs.namespace, attrs.provide
local module = tools.module

local function kwarg(kw, name) return kw and V.dict_get(kw, name) end
local function nothing() return None end

-- ---- os, sys ----

-- The variables of the process, and those that torchrun sets.
local function environ()
  local d = V.dict()
  local rank, size = tostring(dt.rank()), tostring(dt.world_size())
  local all = dt._environment()
  for k, v in pairs {RANK = rank, LOCAL_RANK = rank, WORLD_SIZE = size,
    LOCAL_WORLD_SIZE = size} do
    all[k] = v
  end
  all.MASTER_ADDR = all.MASTER_ADDR or "localhost"
  all.MASTER_PORT = all.MASTER_PORT or "29500"
  for k, v in pairs(all) do V.dict_set(d, k, v) end
  d.changed = function (name, v)
    for _, one in ipairs {name, v} do
      if type(V.unbox(one)) ~= "string" then
        V.dict_remove(d, name)
        util.raise("TypeError", "str expected, not %s", V.type_name(one))
      end
    end
  end
  return d
end

local path_text = streams.path_text

local function joined(a)
  local out = path_text(a[1])
  for i = 2, a.n do
    local part = path_text(a[i])
    if part:sub(1, 1) == "/" then out = part
    elseif out == "" or out:sub(-1) == "/" then out = out .. part
    else out = out .. "/" .. part end
  end
  return out
end

-- The working folder; in the sandbox it has no name.
local function folder() return dt._folder() or "." end

local refused = files.refused
local folders = {}              -- those that tempfile made

-- stream(write): sys.stdout or sys.stderr, whose texts go to write(text).
local function stream(write)
  local function put(text)
    text = V.unbox(text)
    if type(text) ~= "string" then
      util.raise("TypeError", "write() argument must be str, not %s",
        V.type_name(text))
    end
    write(text)
    return utf8.len(text) or #text
  end
  return namespace(setmetatable({
    write = builtin(function (a) return put(a[1]) end, "write"),
    writelines = builtin(function (a)
      local items, n = V.items(a[1])
      for i = 1, n do put(items[i]) end
      return None
    end, "writelines"), flush = builtin(nothing),
    isatty = builtin(function () return false end), encoding = "utf-8",
    name = write == builtins.write and "<stdout>" or "<stderr>", mode = "w",
    errors = write == builtins.write and "strict" or "backslashreplace",
    closed = false,
    readable = builtin(function () return false end),
    writable = builtin(function () return true end),
    fileno = builtin(function ()
      return write == builtins.write and 1 or 2
    end)}, {__name = "_io.TextIOWrapper"}))
end

-- A tuple whose items have names, as sys has them.
local function named_tuple(name, text)
  local names, values = {}, {}
  for key, value in text:gmatch("([%w_]+)=(%S+)") do
    names[#names + 1] = key
    values[#values + 1] = tonumber(value)
    if value == "False" then values[#values + 1] = false end
  end
  local class = V.record(name, names)
  class.structseq, class.__module__ = true, "sys"
  return class.call(V.list(values, #values))
end

local function facts_of_numbers()
  return {
    float_info = named_tuple("float_info", "max=0x1.fffffffffffffp+1023 "
      .. "max_exp=1024 max_10_exp=308 min=0x1p-1022 min_exp=-1021 "
      .. "min_10_exp=-307 dig=15 mant_dig=53 epsilon=0x1p-52 radix=2 rounds=1"),
    int_info = named_tuple("int_info", "bits_per_digit=30 sizeof_digit=4 "
      .. "default_max_str_digits=4300 str_digits_check_threshold=640"),
    hash_info = named_tuple("hash_info", "width=64 modulus=2305843009213693951 "
      .. "inf=314159 nan=0 imag=1000003 hash_bits=64 seed_bits=128 cutoff=0"),
    flags = named_tuple("flags", "debug=0 inspect=0 interactive=0 optimize=0 "
      .. "dont_write_bytecode=1 no_user_site=0 no_site=0 ignore_environment=0 "
      .. "verbose=0 bytes_warning=0 quiet=0 hash_randomization=1 isolated=0 "
      .. "dev_mode=False utf8_mode=0 warn_default_encoding=0 safe_path=False "
      .. "int_max_str_digits=-1")}
end

-- argv: what sys.argv holds.
function M.provide(argv)
  local env = environ()
  local path = {join = builtin(joined, "join"),
    basename = builtin(function (a)
      return path_text(a[1]):match("([^/]*)$")
    end),
    dirname = builtin(function (a)
      return path_text(a[1]):match("^(.*)/") or ""
    end),
    abspath = builtin(function (a)
      local norm = attrs.get(attrs.module "os.path", "normpath")
      return V.call(norm, V.list {joined(V.list {folder(), a[1]})})
    end, "abspath"),
    expanduser = builtin(function (a)
      local path, home = path_text(a[1]), V.dict_get(env, "HOME")
      local rest = path:match("^~(.*)$")
      if not rest or not home or not rest:find("^/") and rest ~= "" then
        return path
      end
      return (home:gsub("/+$", "") .. rest)
    end, "expanduser"),
    exists = builtin(files.exists), isdir = builtin(files.isdir),
    isfile = builtin(files.isfile), getsize = builtin(files.getsize),
    splitext = builtin(function (a)
      local path = path_text(a[1])
      local head, tail = path:match("^(.*[^/])(%.[^./]*)$")
      return V.tuple {head or path, tail or ""}
    end),
    split = builtin(function (a)
      local head, tail = path_text(a[1]):match("^(.-)/*([^/]*)$")
      return V.tuple {head, tail}
    end)}
  module("os", {
    getenv = function (a)
      local v = V.dict_get(env, a[1])
      if v == nil then return a[2] or None end
      return v
    end,
    getpid = function () return 1000 + dt.rank() end,
    cpu_count = function () return 1 end, makedirs = files.makedirs,
    mkdir = files.mkdir,
    getcwd = folder,
    fspath = function (a) return path_text(a[1]) end,
    system = refused "os.system", popen = refused "os.popen",
    remove = files.remove, unlink = files.remove,
    rmdir = files.rmdir,
    fork = refused "os.fork", kill = refused "os.kill",
    execv = refused "os.execv", listdir = files.listdir,
  }, {environ = env, path = namespace(path), sep = "/", linesep = "\n"})
  path.__name__ = "posixpath"
  provide("os.path", namespace(path))
  local out, err = stream(builtins.write), stream(builtins.write_error)
  local function exit(a)
    local e = exceptions.classes.SystemExit.make(a)
    e.code = a[1] == nil and None or a[1]
    return error(e, 0)
  end
  builtins.names.exit = builtin(exit, "exit")
  builtins.names.quit = builtin(exit, "quit")
  module("sys", {exit = exit, exc_info = function ()
    local e = exceptions.handled[1]
    if not e then return V.tuple {None, None, None} end
    return V.tuple {exceptions.class_of(e), e, exceptions.trace(e)}
  end, getsizeof = refused "sys.getsizeof", getrefcount = refused "sys.getrefcount",
    getrecursionlimit = function () return 1000 end,
    get_int_max_str_digits = refused "sys.get_int_max_str_digits",
    set_int_max_str_digits = refused "sys.set_int_max_str_digits",
    getdefaultencoding = function () return "utf-8" end,
    getfilesystemencoding = function () return "utf-8" end,
    gettrace = nothing, getprofile = nothing,
    setrecursionlimit = nothing, _getframe = frames.get_frame},
    {argv = argv, version = "3.11.0",
      platform = "linux", stdout = out, stderr = err,
      __stdout__ = out, __stderr__ = err,
      hexversion = 0x030b00f0, api_version = 1013,
      maxsize = math.maxinteger, maxunicode = 0x10ffff, byteorder = "little",
      modules = attrs.imported, path = V.list {}})
  for name, v in pairs(facts_of_numbers()) do attrs.module("sys")[name] = v end
  M.argv = argv
  local sys = attrs.module "sys"
  builtins.set_stdout(function ()
    local now = sys.stdout
    return now ~= out and now or nil
  end)
end

-- ---- quiet ones ----

-- What a program would wait for, and what to write instead.
local instead = {["socket.socket"] = "no connection is opened"}

for _, name in ipairs {"faulthandler",
  "pdb", "socket", "platform"} do
  provide(name, namespace(setmetatable({}, {__index = function (_, key)
    if key:find("^__") then return nil end
    local why = instead[name .. "." .. key]
    if name == "platform" then
      why = why or "nothing is known of it"     -- None would be an answer
    end
    return builtin(why and function ()
      return util.refuse("%s.%s is not part of dtrepl: "
        .. "%s", name, key, why)
    end or nothing, key)
  end})))
end
-- What a program may ask of gc that changes nothing here.
local GC_QUIET <const> = {enable = true, disable = true, freeze = true,
  unfreeze = true, set_debug = true, set_threshold = true}

provide("gc", namespace(setmetatable({collect = builtin(function ()
  abandoned.settle()
  collectgarbage()
  return 0
end, "collect"), garbage = V.list({}, 0), callbacks = V.list({}, 0)},
  {__index = function (_, key)
    if key:find("^__") then return nil end
    if not GC_QUIET[key] then
      return builtin(function ()
        return util.refuse("gc.%s is not part of dtrepl: objects are not counted",
          key)
      end, key)
    end
    return builtin(nothing, key)
  end})))
-- importlib.import_module("a.b"): the module itself.
module("importlib", {import_module = function (a, kw)
  local name = a[1]
  if name == nil then name = kwarg(kw, "name") end
  if type(name) ~= "string" then
    util.raise("TypeError", "the name of a module is a str, not %s",
      V.type_name(name))
  elseif name:sub(1, 1) == "." then
    util.refuse("importlib.import_module of a relative "
      .. "name is not part of dtrepl")
  end
  return attrs.module(name)
end, reload = refused "importlib.reload",
  invalidate_caches = nothing})

-- importlib.util.find_spec("a.b"): is there such a module?
local function find_spec(a, kw)
  local name = a[1] or kwarg(kw, "name")
  local parent = name:match("^(.*)%.[^.]+$")
  if parent then attrs.module(parent) end       -- it is imported, and must be
  if not pcall(attrs.module, name) then return None end
  return namespace {name = name, origin = None, __name__ = "ModuleSpec"}
end
module("importlib.util", {find_spec = find_spec,
  module_from_spec = refused "importlib.util.module_from_spec",
  spec_from_file_location = refused "importlib.util.spec_from_file_location"})
attrs.module("importlib").util = attrs.module "importlib.util"

-- tempfile: folders to save in; the files in them go with them.  In the sandbox
-- they have names only, which is enough for init_method="file://...": what
-- writes there is refused.
local function name_only()
  local list = folders
  list[#list + 1] = ("/tmp/tmp%08d"):format(#list)
  return list[#list]
end
local function folder()
  if not dt._folder() then return name_only() end
  folders[#folders + 1] = dt._temp_dir()
  files.note_made(folders[#folders])
  return folders[#folders]
end
-- gettempdir(): one folder of all ranks.
local shared
local function shared_folder()
  if not dt._folder() then return "/tmp" end
  if not shared then
    shared = dt._temp_dir(true)
    folders[#folders + 1] = shared
    files.note_made(shared)
  end
  return shared
end
-- NamedTemporaryFile(mode="w+b", ...): a file in a folder of its own.
local function named_file(a, kw)
  local mode = a[1] or kw and V.dict_get(kw, "mode") or "w+b"
  local suffix = kw and V.dict_get(kw, "suffix")
  local path = folder() .. "/tmp" .. (type(suffix) == "string" and suffix or "")
  if not dt._folder() then return streams.in_memory(path, mode) end
  return V.call(streams.open, V.list {path, mode})
end
-- remove_folders(): all that were made, with the checkpoints in them.
function M.remove_folders()
  for i = #folders, 1, -1 do
    if dt._folder() then files.remove_tree(folders[i]) end
    folders[i] = nil
  end
  shared = nil
end
-- named(path): a path in one of them under the name Python's tempfile would
-- have given it, so that what holds the path has its length there.
function M.named(path)
  for _, name in ipairs(folders) do
    if path:sub(1, #name) == name then
      return name:gsub("[^/]*$", "tmp" .. ("x"):rep(8)) .. path:sub(#name + 1)
    end
  end
  return path
end
local function clean(name)
  return builtin(function ()
    if dt._folder() then files.remove_tree(name) end
    return None
  end, "cleanup")
end
module("shutil", {rmtree = files.rmtree})
module("tempfile", {mkdtemp = folder,
  gettempdir = shared_folder, TemporaryDirectory = function ()
  local name = folder()
  local gone = clean(name)
  return namespace {name = name, cleanup = gone,
    __enter__ = function () return name end,
    __exit__ = function ()
      gone.call(V.list {})
      return false
    end}
end, NamedTemporaryFile = named_file,
  mkstemp = refused "tempfile.mkstemp"})
-- subprocess: no program is started.
provide("subprocess", namespace(setmetatable({}, {__index = function (_, key)
  if key:find("^__") then return nil end
  return builtin(function ()
    return util.refuse("subprocess.%s is not part of "
      .. "dtrepl: no program is started", key)
  end, key)
end})))

-- _warnings: what pylib/warnings.py asks of the engine: hear(f): f(text) for
-- each of its warnings from now on (None: nobody), which gives the one that
-- heard before; repeat(on): what was said before is said again.
local hears
module("_warnings", {hear = function (a)
  local before, f = hears or None, a[1]
  hears = f
  dt._hear_warnings(f ~= None and function (text)
    V.call(f, V.list({text}, 1))
  end or nil)
  return before
end, ["repeat"] = function (a)
  dt._warn_always(a[1])
  return None
end})
module("string", {}, {ascii_lowercase = "abcdefghijklmnopqrstuvwxyz",
  ascii_uppercase = "ABCDEFGHIJKLMNOPQRSTUVWXYZ", digits = "0123456789",
  ascii_letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ",
  hexdigits = "0123456789abcdefABCDEF", octdigits = "01234567",
  printable = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
    .. "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~ \t\n\r\v\f",
  punctuation = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~", whitespace = " \t\n\r\v\f"})

return M

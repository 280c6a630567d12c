-- SPDX-License-Identifier: MIT
-- python/exceptions.lua: Python's exception classes, as values that can be
-- called, raised, named in except and inherited from.  What is raised is the
-- engine's error object, so that the shell, Lua's pcall and Python's except
-- see the same thing; its class is found by the name it carries.

local dt = require "dt"
local util = require "dt.util"
local V = require "python.values"
local protect = require "python.protect"

local M = {}

-- A line: the class and those right below it.
local TREE = [[
BaseException: Exception KeyboardInterrupt SystemExit GeneratorExit
Exception: ArithmeticError AssertionError AttributeError BufferError EOFError
Exception: ImportError LookupError MemoryError NameError OSError RuntimeError
Exception: ReferenceError StopIteration StopAsyncIteration SyntaxError SystemError TypeError
Exception: ValueError Warning
ArithmeticError: ZeroDivisionError OverflowError FloatingPointError
ImportError: ModuleNotFoundError
LookupError: IndexError KeyError
NameError: UnboundLocalError
OSError: FileNotFoundError FileExistsError PermissionError TimeoutError
OSError: ConnectionError IsADirectoryError NotADirectoryError ProcessLookupError
OSError: ChildProcessError InterruptedError BlockingIOError
RuntimeError: NotImplementedError RecursionError OutOfMemoryError
RuntimeError: DistBackendError DistError DistNetworkError DistStoreError
RuntimeError: _LinAlgError SpmdTypeError
SpmdTypeError: RedistributeError DTensorPropagationError
ValueError: UnicodeError
UnicodeError: UnicodeDecodeError UnicodeEncodeError UnicodeTranslateError
SyntaxError: IndentationError
IndentationError: TabError
Warning: UserWarning DeprecationWarning FutureWarning RuntimeWarning
Warning: SyntaxWarning PendingDeprecationWarning ImportWarning BytesWarning
Warning: UnicodeWarning ResourceWarning EncodingWarning
ConnectionError: BrokenPipeError ConnectionResetError ConnectionRefusedError
ConnectionError: ConnectionAbortedError
]]

-- Where the classes that are not Python's own live.
local MODULES = {
  OutOfMemoryError = "torch", DistBackendError = "torch.distributed",
  DistError = "torch.distributed", DistNetworkError = "torch.distributed",
  DistStoreError = "torch.distributed", _LinAlgError = "torch._C",
  SpmdTypeError = "spmd_types",
  RedistributeError = "spmd_types", DTensorPropagationError = "spmd_types",
}

local classes = {}                  -- by name
M.classes = classes

local class_mt = {__name = "type"}
class_mt.__tostring = function (c)
  local module = rawget(c, "__module__")
  return ("<class '%s%s'>"):format(module and module .. "." or "",
    rawget(c, "__qualname__") or c.__name__)
end

function M.is_class(v) return getmetatable(v) == class_mt end

-- The class that a system call's error of that number has.
local OF_NUMBER <const> = {[1] = "PermissionError", [2] = "FileNotFoundError",
  [3] = "ProcessLookupError", [4] = "InterruptedError", [10] =
  "ChildProcessError", [11] = "BlockingIOError", [13] = "PermissionError",
  [17] = "FileExistsError", [20] = "NotADirectoryError", [21] =
  "IsADirectoryError", [32] = "BrokenPipeError", [103] =
  "ConnectionAbortedError", [104] = "ConnectionResetError", [110] =
  "TimeoutError", [111] = "ConnectionRefusedError"}

-- OSError(number, reason[, file]): the error, or nil for other arguments.
local function of_system(class, args)
  if args.n < 2 or args.n > 5 or not M.is_below(class, classes.OSError) then
    return nil
  end
  local number, reason, file = args[1], args[2], args[3]
  if class == classes.OSError and OF_NUMBER[number] then
    class = classes[OF_NUMBER[number]]
  end
  local text = ("[Errno %s] %s"):format(V.str(number), V.str(reason))
  if file ~= nil and file ~= dt.None then text = text .. ": " .. V.repr(file) end
  local e = dt.error("RUNTIME", text, class.__name__)
  e.args, e.python = V.tuple({number, reason}, 2), class
  e.errno, e.strerror, e.filename = number, reason, file
  return e
end

-- What a SyntaxError's second argument says, in its order.
M.PLACE = {"filename", "lineno", "offset", "text", "end_lineno", "end_offset"}

-- SyntaxError(words[, (file, line, offset, text[, …])]): the error's own facts.
local function tell_syntax(e, args)
  e.msg = args[1]
  if args.n == 2 then
    local place, n = V.items(args[2])
    if n < 4 or n > 6 then
      util.raise("TypeError", "function takes at %s arguments (%d given)",
        n < 4 and "least 4" or "most 6", n)
    end
    for i, key in ipairs(M.PLACE) do e[key] = place[i] end
  end
  local file = type(e.filename) == "string" and e.filename:match "[^/]*$"
  local line = math.type(e.lineno) == "integer" and "line " .. e.lineno
  local where = file and line and file .. ", " .. line or file or line
  e.message = V.str(e.msg == nil and dt.None or e.msg)
    .. (where and " (" .. where .. ")" or "")
end

-- What a UnicodeError of five arguments says of the place.
local UNICODE <const> = {"encoding", "object", "start", "end", "reason"}
local function tell_unicode(e, class, args)
  if args.n ~= 5 then return end
  for i, key in ipairs(UNICODE) do e[key] = args[i] end
  local decodes = M.is_below(class, classes.UnicodeDecodeError)
  local start, stop = e.start, e["end"]
  local what = decodes and "byte" or "character"
  if stop == start + 1 then
    local code = decodes and V.unbox(e.object).s:byte(start + 1)
      or not decodes and V.code_at(e.object, start)
    what = decodes and ("byte 0x%02x"):format(code) or ("character '%s'"):format(
      (code < 0x100 and "\\x%02x" or code < 0x10000 and "\\u%04x"
        or "\\U%08x"):format(code))
  else
    what = what .. "s"
  end
  e.message = ("'%s' codec can't %s %s in position %s: %s"):format(V.str(e.encoding),
    decodes and "decode" or "encode", what, stop == start + 1 and start
      or start .. "-" .. stop - 1, V.str(e.reason))
end

-- unicode_error(what, …): such an error, for codec.lua.
function V.unicode_error(what, ...) return classes[what].make(V.list {...}) end

-- Keyword arguments that a class of exceptions takes, and where an error keeps them.
local KEYWORDS <const> = {
  ImportError = {name = "module_name", path = "module_path"},
  AttributeError = {name = "sought", obj = "sought_in"},
  NameError = {name = "sought"},
}

-- What BaseException.__init__ makes of keyword arguments: facts, or a TypeError.
local function take_keywords(e, class, kw)
  if not kw or kw.n == 0 then return end
  local of, known
  for name, row in pairs(KEYWORDS) do
    if M.is_below(class, classes[name]) then of, known = name, row end
  end
  if not known then
    util.raise("TypeError", "%s() takes no keyword arguments", class.__name__)
  end
  for name in V.each(kw) do
    if not known[name] then
      util.raise("TypeError", "'%s' is an invalid keyword argument for %s()", name, of)
    end
    e[known[name]] = V.dict_get(kw, name)
  end
end

-- An instance: the engine's error, with Python's args.
local function make(class, args, told_later)
  local system = of_system(class, args)
  if system then return system end
  local text = args.n == 1 and (class.of_key and V.repr(args[1])
    or V.str(args[1])) or args.n > 1 and V.repr(V.tuple({table.unpack(args, 1,
    args.n)}, args.n)) or ""
  local e = dt.error("RUNTIME", text, class.__name__)
  e.args = V.tuple({table.unpack(args, 1, args.n)}, args.n)
  e.python = class
  if M.is_below(class, classes.StopIteration) then
    e.value = args[1] == nil and dt.None or args[1]
  elseif M.is_below(class, classes.SystemExit) then
    e.code = args[1] == nil and dt.None or args[1]
  elseif told_later then                -- by the class's own __init__
    return e
  elseif M.is_below(class, classes.UnicodeDecodeError)
         or M.is_below(class, classes.UnicodeEncodeError) then
    tell_unicode(e, class, args)
  elseif M.is_below(class, classes.SyntaxError) then
    tell_syntax(e, args)
  end
  return e
end

-- Members of the program's classes beside exceptions: of those that a class of
-- exceptions names as bases, too.
local function member_of(class, name)
  if M.is_class(class) then return class.members[name] end
  if name:find("^__") and not name:find("__$") then return nil end
  local v = rawget(class, name)
  return V.raw(v) or v
end

-- define(name, bases[, members, order]): a class below these (one, or a list),
-- which is asked with them in that order.
function M.define(name, bases, members, order)
  if M.is_class(bases) then bases = {bases} end
  bases = bases or {}
  local base                        -- the first that is one of exceptions
  for _, b in ipairs(bases) do
    if not base and M.is_class(b) then base = b end
  end
  if members and members.__eq__ ~= nil and members.__hash__ == nil then
    members.__hash__ = dt.None      -- equal, but no key
  end
  local class = setmetatable({__name__ = name, base = base, __bases = bases,
    members = members or {}}, class_mt)
  class.__order = {class, table.unpack(order or base and base.__order or {})}
  for _, c in ipairs(class.__order) do
    class.of_key = class.of_key or rawget(c, "of_key")
  end
  class.make = function (args, kw)
    local new = M.member(class, "__new__")
    local e = new and V.call(new, V.list({class, table.unpack(args, 1, args.n)},
      args.n + 1), kw) or make(class, args, M.member(class, "__init__") ~= nil)
    if new and not (V.is_error(e) and rawget(e, "python")
       and M.is_below(e.python, class)) then
      return e
    end
    local init = M.member(class, "__init__")
    if init then
      V.call(init, V.list({e, table.unpack(args, 1, args.n)}, args.n + 1), kw)
    else
      take_keywords(e, class, kw)
    end
    return e
  end
  return class
end

local of_all                        -- what every exception has

-- member(class, name[, after]): what the program wrote in the class or above
-- it; above the class `after` of its order.
function M.member(class, name, after)
  for _, c in ipairs(class.__order) do
    if not after then
      local v = member_of(c, name)
      if v ~= nil then return v end
      if c == classes.BaseException and of_all[name] then return nil end
    elseif c == after then
      after = nil
    end
  end
end

-- Is the class `base`, or below it?
function M.is_below(class, base)
  for _, c in ipairs(class.__order) do if c == base then return true end end
  return false
end

V.error_member = M.member

-- Exception.__init__(e, …): the text, and what else it says, is made of these
-- arguments.
local TOLD <const> = {"msg", "code", "value"}
function M.init(e, args)
  local again = make(e.python or classes[e.class] or classes.Exception, args)
  e.message, e.args = again.message, again.args
  for _, list in ipairs {TOLD, M.PLACE, UNICODE} do
    for _, key in ipairs(list) do
      local v = rawget(again, key)
      if v ~= nil then e[key] = v end
    end
  end
end

-- Names that the engine or the reader itself asks an exception for.
local asked = {args = true, __cause__ = true, __context__ = true,
  __traceback__ = true, __suppress_context__ = true, __notes__ = true,
  value = true}

local function is_exit(e)
  return e.python and M.is_below(e.python, classes.SystemExit)
end

-- set_field(e, name, v): what a program keeps in an exception is kept apart
-- from what the engine does: e.message = "x" is no other text.
function M.set_field(e, name, v)
  if asked[name] or name == "code" and is_exit(e) then
    if name == "__cause__" then return M.set_cause(e, v) end
    e[name] = v
    if name == "args" then M.init(e, v) end
    return
  end
  M.put_field(e, name, v)
end

function M.put_field(e, name, v)
  local fields = rawget(e, "fields") or {}
  e.fields, fields[name] = fields, v
end

-- field(e, name): what the program keeps there, or nil.
function M.field(e, name)
  local fields = rawget(e, "fields")
  return fields and fields[name]
end

-- What every exception has by these names: f(e, args, kw).
of_all = {
  add_note = function (e, args)
    if type(V.unbox(args[1])) ~= "string" then
      util.raise("TypeError", "note must be a str, not '%s'",
        V.type_name(args[1]))
    end
    local notes = rawget(e, "__notes__") or V.list({}, 0)
    e.__notes__, notes.n = notes, notes.n + 1
    notes[notes.n] = args[1]
    return dt.None
  end,
  __init__ = function (e, args, kw)
    M.init(e, args)
    take_keywords(e, M.class_of(e), kw)
    return dt.None
  end,
  __new__ = function (class, args) return make(class, args) end,
  __str__ = function (e) return e.message end,
  __repr__ = function (e)
    local inner = {}
    for i = 1, e.args.n do inner[i] = V.repr(e.args[i]) end
    return M.class_of(e).__name__ .. "(" .. table.concat(inner, ", ") .. ")"
  end,
}

-- default(name): that member of BaseException as a function of the exception
-- and its arguments, or nil.
function M.default(name)
  local f = of_all[name]
  return f and V.builtin(function (a, kw)
    return f(a[1], V.list({table.unpack(a, 2, a.n)}, a.n - 1), kw)
  end, name)
end

classes.BaseException = M.define("BaseException")
for base, below in TREE:gmatch("(%w+): ([^\n]+)") do
  for name in below:gmatch("[%w_]+") do
    classes[name] = M.define(name, classes[base])
    classes[name].__module__ = MODULES[name]
  end
end
classes.KeyError.of_key = true
classes.IOError, classes.EnvironmentError = classes.OSError, classes.OSError

-- The class of an error; errors of the engine name theirs.
function M.class_of(e)
  return type(e) == "table" and (rawget(e, "python") or classes[e.class])
    or classes.RuntimeError
end

-- Is the error one of `class` (an exception class, a tuple of them)?
function M.catches(class, e)
  if V.is_tuple(class) then
    for i = 1, class.n do
      if M.catches(class[i], e) then return true end
    end
    return false
  end
  if not M.is_class(class) then return false end
  if M.is_below(M.class_of(e), class) then return true end
  -- A class of torch's that is not in the tree.
  return type(e) == "table" and e.class == class.__name__
    or class == classes.Exception and not classes[e.class]
end

-- Is it an error of the class of that name, or of one below?
function V.is_error_below(e, name)
  return type(e) == "table" and e.class ~= nil
    and M.catches(classes[name], e)
end

-- The errors that are being handled, the innermost one first.
M.handled = {}

-- chain(e, before): e was raised while `before` was handled.  An error that
-- stands below itself is cut out there.
function M.chain(e, before)
  if type(e) ~= "table" or type(before) ~= "table" or rawequal(e, before) then
    return
  end
  local above, seen = before, {}
  while rawget(above, "__context__") and not seen[above] do
    seen[above] = true                  -- the program may have made a circle
    if rawequal(above.__context__, e) then
      above.__context__ = nil
      break
    end
    above = above.__context__
  end
  e.__context__ = before
end

-- set_trace_facts(f): f(t, name) says what frames.lua knows of a traceback, or nil.
local trace_facts
function M.set_trace_facts(f) trace_facts = f end

local trace_mt = {__name = "traceback"}
M.trace_mt = trace_mt
trace_mt.__index = function (t, name)
  local known = trace_facts and trace_facts(t, name)
  if known ~= nil then return known end
  if name == "tb_next" then return dt.None end
  if name == "tb_lineno" then
    local where = rawget(rawget(t, "error"), "where")
    return tonumber(tostring(where or ""):match(":(%d+)$")) or dt.None
  end
  if name == "tb_frame" then
    util.refuse("the frame of a traceback is not part of "
      .. "dtrepl")
  end
end

-- trace(e): e.__traceback__ of an error that was raised.
function M.trace(e)
  if rawget(e, "__traceback__") == nil then
    e.__traceback__ = setmetatable({tb_lasti = -1, error = e}, trace_mt)
  end
  return e.__traceback__
end

-- while_handled(e, f, env): as pcall(f, env), while e is being handled; an error
-- that is raised meanwhile has it as its context.
function M.while_handled(e, f, env)
  local before = M.handled[1]
  if rawget(e, "__context__") == nil then M.chain(e, before) end
  table.insert(M.handled, 1, e)
  local ok, signal, v = protect.noting(f, env)
  table.remove(M.handled, 1)
  if not ok then
    signal = M.exception(signal)
    if rawget(signal, "__context__") == nil then M.chain(signal, e) end
  end
  return ok, signal, v
end

-- raise e from cause.
function M.set_cause(e, cause)
  if M.is_class(cause) then cause = cause.make(V.list({}, 0)) end
  if cause ~= dt.None and (type(cause) ~= "table"
     or not rawget(cause, "class")) then
    util.raise("TypeError", "exception causes must derive from BaseException")
  end
  e.__cause__, e.__suppress_context__ = cause, true
end

-- line(e): the last line of what CPython prints of an error.
function M.line(e)
  local text, class = V.str(e), M.class_of(e)
  local module = rawget(class, "__module__")
  return (module and module .. "." or "") .. class.__name__
    .. (text == "" and "" or ": " .. text)
end

-- came_from(e): the error before it, and in whose words the two are told
-- ("cause" or "context"), or nil.
function M.came_from(e)
  local cause = rawget(e, "__cause__")
  if cause and cause ~= dt.None then return cause, "cause" end
  local context = rawget(e, "__context__")
  if context and context ~= dt.None and not rawget(e, "__suppress_context__")
  then
    return context, "context"
  end
end

-- What `raise v` raises: a class makes an instance.
function M.raised(v)
  if M.is_class(v) then return v.make(V.list({}, 0)) end
  if type(v) ~= "table" or not rawget(v, "class") then
    util.raise("TypeError", "exceptions must derive from BaseException")
  end
  return v
end

-- The Python view of a Lua error.
function M.exception(e)
  if type(e) == "table" and rawget(e, "class") then return e end
  local text, deep = tostring(e), protect.too_deep(e)
  if deep then return deep end
  if text:find("not enough memory", 1, true)
     or text:find("resulting string too large", 1, true) then
    return dt.error("RUNTIME", "", "MemoryError")
  end
  return dt.error("RUNTIME", text, "RuntimeError")
end

return M

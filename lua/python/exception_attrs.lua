-- SPDX-License-Identifier: MIT
-- python/exception_attrs.lua: what a program reads and sets of exceptions and
-- of their classes.

local dt = require "dt"
local V = require "python.values"
local builtin_names = require "python.builtin_names"
local exceptions = require "python.exceptions"
local classes = require "python.class"
local attrs = require "python.attrs"

local M = {}
attrs.set_errors(M)
local None = dt.None

-- Fields of the engine's error that Python's exceptions do not have.
local ENGINE = {message = true, class = true, python = true, where = true,
  fields = true, params = true}

M.is_error = V.is_error
function M.is_of(e, name)
  return exceptions.catches(exceptions.classes[name], e)
end

local function dict_of(e)
  local d, fields = V.dict(), rawget(e, "fields") or {}
  local names = {}
  for name in pairs(fields) do names[#names + 1] = name end
  table.sort(names)
  for _, name in ipairs(names) do V.dict_set(d, name, fields[name]) end
  d.changed = function (name, v) exceptions.put_field(e, name, v) end
  return d
end

-- What an error of a system call says of it; None of one without a number.
local function of_system(key)
  return function (e)
    if not M.is_of(e, "OSError") then return nil end
    local v = rawget(e, key)
    return v == nil and None or v
  end
end

-- Where a SyntaxError says that it is; None of what is not known.
local function of_syntax(key)
  return function (e)
    if not M.is_of(e, "SyntaxError") then return nil end
    local v = rawget(e, key)
    return v == nil and None or v
  end
end

-- The arguments of a SyntaxError of a text that was read: its words and where
-- they stand.  Where a word ends is not kept: CPython's tokens know it.
local function of_text(e)
  local place = {}
  for i, key in ipairs(exceptions.PLACE) do
    local v = rawget(e, key)
    place[i] = v == nil and None or v
  end
  return V.tuple({e.msg, V.tuple(place, 4)}, 2)
end

-- The module that an import did not find, or found without the name.
local function sought_module(e)
  local given = rawget(e, "module_name")
  if given ~= nil then return given end
  return not rawget(e, "args") and (e.message:match "^No module named '([^']+)'$"
    or e.message:match "^cannot import name '[^']*' from '([^']+)'$") or None
end

-- The words of an ImportError: its only argument.
local function import_words(e)
  local args = rawget(e, "args")
  if not args then return e.message end
  return args.n == 1 and args[1] or None
end

local fact = {
  __cause__ = function (e) return rawget(e, "__cause__") or None end,
  __context__ = function (e) return rawget(e, "__context__") or None end,
  __traceback__ = function (e) return rawget(e, "__traceback__") or None end,
  __suppress_context__ = function (e)
    return rawget(e, "__suppress_context__") or false
  end,
  __dict__ = dict_of,
  name = function (e)                 -- what was looked for, and of what
    return M.is_of(e, "AttributeError") and (rawget(e, "sought") or None)
      or M.is_of(e, "NameError") and (rawget(e, "sought") or None)
      or M.is_of(e, "ImportError") and sought_module(e) or nil
  end,
  msg = function (e)
    return M.is_of(e, "ImportError") and import_words(e) or of_syntax "msg"(e)
  end,
  path = function (e)
    if not M.is_of(e, "ImportError") then return nil end
    local v = rawget(e, "module_path")
    return v == nil and None or v
  end,
  lineno = of_syntax "lineno",
  offset = of_syntax "offset", text = of_syntax "text",
  end_lineno = of_syntax "end_lineno", end_offset = of_syntax "end_offset",
  print_file_and_line = of_syntax "print_file_and_line",
  errno = of_system "errno", strerror = of_system "strerror",
  filename = function (e)
    return of_system "filename"(e) or of_syntax "filename"(e)
  end,
  obj = function (e)
    if not M.is_of(e, "AttributeError") then return nil end
    local v = rawget(e, "sought_in")
    return v == nil and None or v
  end,
  __doc__ = function (e) return M.of_class(exceptions.class_of(e), "__doc__") end,
  args = function (e)
    if not rawget(e, "args") and rawget(e, "lineno") then return of_text(e) end
    local key = e.class == "KeyError" and e.message:match("^(['\"])")
    local inner = key and e.message:match("^" .. key .. "(.*)" .. key .. "$")
    return rawget(e, "args") or V.tuple {inner or e.message}
  end,
  add_note = function (e)
    return V.builtin(function (a)
      return exceptions.default("add_note").call(V.list({e, a[1]}, 2))
    end, "add_note")
  end,
  with_traceback = function (e)
    return V.builtin(function (a)
      e.__traceback__ = a[1] ~= None and a[1] or nil
      return e
    end, "with_traceback")
  end,
  -- Of an SpmdTypeError that was raised outside of a call.
  context = function (e)
    if e.context == nil
       and exceptions.catches(exceptions.classes.SpmdTypeError, e) then
      return None
    end
    return e.context
  end,
}

-- get(e, name, quiet): e.name, or nil; `quiet`: without its __getattr__.
function M.get(e, name, quiet)
  local class = exceptions.class_of(e)
  local member = exceptions.member(class, name)
  local own = exceptions.field(e, name)
  if own ~= nil and not (type(member) == "table"
     and V.special(member, "__set__")) then
    return own
  end
  if member ~= nil then return classes.bind(member, e, class) end
  local x
  if fact[name] then x = fact[name](e)
  elseif not ENGINE[name] then x = e[name] end
  if x ~= nil then return x end
  local special = not quiet and V.special(e, "__getattr__") or nil
  return special and special(name)
end

local class_fact = {
  __name__ = function (c) return c.__name__ end,
  __qualname__ = function (c) return rawget(c, "__qualname__") or c.__name__ end,
  __module__ = function (c) return c.__module__ or "builtins" end,
  __doc__ = function (c) return rawget(c, "doc") or None end,
  __mro__ = function (c) return classes.shown_order(c) end,
  __bases__ = function (c)
    local b = rawget(c, "__bases")
    return #b > 0 and V.tuple({table.unpack(b)}, #b)
      or V.tuple {builtin_names.object}
  end,
  mro = classes.mro_method,
}

-- of_class(class, name): class.name, or nil.
function M.of_class(class, name)
  if class_fact[name] then return class_fact[name](class) end
  local x = exceptions.member(class, name)
  if x ~= nil then return classes.bind(x, nil, class) end
  return exceptions.default(name)
end

-- set(e, name, v): e.name = v, by a property where the class has one.
function M.set(e, name, v)
  local member = exceptions.member(exceptions.class_of(e), name)
  if type(member) == "table" then
    local own = V.special(member, "__set__")
    if own then return own(e, v) end
    if classes.is_property(member) then return classes.put(member, e, name, v) end
  end
  exceptions.set_field(e, name, v)
end

-- above(class, self, name): what super().name is in a method of `class` of the
-- exception, or the class of exceptions, `self`; nil where there is none.
function M.above(class, self, name)
  local own = exceptions.is_class(self) and self or exceptions.class_of(self)
  local x = exceptions.member(own, name, class)
  if x == nil then x = exceptions.default(name) end
  local instance = not exceptions.is_class(self) and self or nil
  return classes.bind(x, instance, own)
end

return M

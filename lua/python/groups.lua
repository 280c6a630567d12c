-- SPDX-License-Identifier: MIT
-- python/groups.lua: exceptions that hold several: BaseExceptionGroup and
-- ExceptionGroup, their parts by class or condition, and what except* makes of
-- an error.  A group that is taken apart keeps cause, context, traceback and
-- notes; its parts stay the same objects.

local dt = require "dt"
local util = require "dt.util"
local V = require "python.values"
local exceptions = require "python.exceptions"

local M = {}
local None = dt.None
local base_class, class                 -- of groups; defined below

local function is_group(e)
  return V.is_error(e) and exceptions.is_below(exceptions.class_of(e), base_class)
end

local function fields(e) return rawget(e, "fields") end

-- ---- making one ----

local function check_parts(parts)
  if not V.is_seq(parts) then
    util.raise("TypeError", "second argument (exceptions) must be a sequence")
  elseif parts.n == 0 then
    util.raise("ValueError", "second argument (exceptions) must be a non-empty "
      .. "sequence")
  end
  local plain = true
  for i = 1, parts.n do
    if not V.is_error(parts[i]) then
      util.raise("ValueError", "Item %d of second argument (exceptions) is not an "
        .. "exception", i - 1)
    end
    plain = plain and exceptions.is_below(exceptions.class_of(parts[i]),
      exceptions.classes.Exception)
  end
  return plain
end

-- The class of a group that was asked for, which holds these parts.
local function class_for(own, plain)
  if own == base_class then return plain and class or own end
  if plain or not exceptions.is_below(own, exceptions.classes.Exception) then
    return own
  end
  util.raise("TypeError", own == class and "Cannot nest BaseExceptions in an "
    .. "ExceptionGroup" or "Cannot nest BaseExceptions in '%s'", own.__name__)
end

local function new(a)
  if a.n ~= 3 then
    util.raise("TypeError", "BaseExceptionGroup.__new__() takes exactly 2 arguments "
      .. "(%d given)", a.n - 1)
  elseif type(V.unbox(a[2])) ~= "string" then
    util.raise("TypeError", "argument 1 must be str, not %s", V.type_name(a[2]))
  end
  local plain = check_parts(a[3])
  local e = exceptions.default("__new__").call(V.list({class_for(a[1], plain),
    a[2], a[3]}, 3))
  e.message = ("%s (%d sub-exception%s)"):format(V.unbox(a[2]), a[3].n,
    a[3].n == 1 and "" or "s")
  e.fields = {message = a[2], exceptions = V.tuple({table.unpack(a[3], 1,
    a[3].n)}, a[3].n)}
  return e
end

-- ---- taking one apart ----

local KEPT <const> = {"__cause__", "__context__", "__traceback__",
  "__suppress_context__"}

-- The group of these parts in the place of e, or None for no part.
local function with_parts(e, parts)
  if #parts == 0 then return None end
  local made = V.call(exceptions.member(exceptions.class_of(e), "derive"),
    V.list({e, V.list(parts)}, 2))
  if not is_group(made) then
    util.raise("TypeError", "derive must return an instance of "
      .. "BaseExceptionGroup")
  end
  for _, name in ipairs(KEPT) do made[name] = rawget(e, name) end
  local notes = rawget(e, "__notes__")
  if notes then made.__notes__ = V.list({table.unpack(notes, 1, notes.n)}, notes.n) end
  return made
end

-- The parts of e of which fits(part) is true, and the rest; each None or a group
-- (or e itself).
local function split(e, fits)
  if fits(e) then return e, None end
  if not is_group(e) then return None, e end
  local inner, matched, rest = fields(e).exceptions, {}, {}
  for i = 1, inner.n do
    local a, b = split(inner[i], fits)
    if a ~= None then matched[#matched + 1] = a end
    if b ~= None then rest[#rest + 1] = b end
  end
  return with_parts(e, matched), with_parts(e, rest)
end

-- The condition that split(condition) names: a class, several, or a function.
local function condition(c)
  local classes_only = exceptions.is_class(c) or V.is_tuple(c)
  for i = 1, V.is_tuple(c) and c.n or 0 do
    classes_only = classes_only and exceptions.is_class(c[i])
  end
  if classes_only then
    return function (e) return exceptions.catches(c, e) end
  elseif exceptions.is_class(c) or V.is_tuple(c) or V.type_name(c) == "type"
     or type(c) ~= "table" and type(c) ~= "function" then
    util.raise("TypeError", "expected a function, exception type or tuple of "
      .. "exception types")
  end
  return function (e) return V.truth(V.call(c, V.list({e}, 1))) end
end

local function method(name, f)
  local b = V.builtin(f, name)
  b.binds = true
  return b
end

local MEMBERS = {
  __new__ = V.builtin(new, "__new__"),
  derive = method("derive", function (a)
    return V.call(base_class, V.list({fields(a[1]).message, a[2]}, 2))
  end),
  split = method("split", function (a)
    local matched, rest = split(a[1], condition(a[2]))
    return V.tuple({matched, rest}, 2)
  end),
  subgroup = method("subgroup", function (a)
    return (split(a[1], condition(a[2])))
  end),
}
base_class = exceptions.define("BaseExceptionGroup",
  exceptions.classes.BaseException, MEMBERS)
class = exceptions.define("ExceptionGroup", {base_class,
  exceptions.classes.Exception}, {}, {base_class,
  table.unpack(exceptions.classes.Exception.__order)})
exceptions.classes.BaseExceptionGroup = base_class
exceptions.classes.ExceptionGroup = class

-- ---- except* ----

-- Which class an except* may name.
local function check_named(c)
  for i = 1, V.is_tuple(c) and c.n or 1 do
    local one = V.is_tuple(c) and c[i] or c
    if not exceptions.is_class(one) then
      util.raise("TypeError", "catching classes that do not inherit from "
        .. "BaseException is not allowed")
    elseif exceptions.is_below(one, base_class) then
      util.raise("TypeError", "catching ExceptionGroup with except* is not "
        .. "allowed. Use except instead.")
    end
  end
end

-- Groups that a part handled: what raises one again raises no new error.
local handed = setmetatable({}, {__mode = "k"})

-- part(e, c): what `except* c` handles of the error e, as a group, or nil; and
-- what is left, or nil.
function M.part(e, c)
  check_named(c)
  local matched, rest = split(e, function (x)
    return exceptions.catches(c, x)
  end)
  if matched == None then return nil, e end
  if not is_group(matched) then
    matched = V.call(base_class, V.list({"", V.tuple({matched}, 1)}, 2))
  end
  handed[matched] = true
  return matched, rest ~= None and rest or nil
end

-- anew(e): `raise e` names the error, which so is one of its own.
function M.anew(e) handed[e] = nil end

-- The errors at the ends of a group's branches, put into a set.
local function add_leaves(e, set)
  if not is_group(e) then
    set[e] = true
    return
  end
  local inner = fields(e).exceptions
  for i = 1, inner.n do add_leaves(inner[i], set) end
end

-- together(raised, rest, e): the error that a try with except* ends in, or nil:
-- what its parts raised, and behind it, in the shape of the error e, what they
-- raised again and what none of them handled.
function M.together(raised, rest, e)
  if #raised == 0 then return rest end
  local parts, again = V.list({}, 0), {}
  for _, one in ipairs(raised) do
    if handed[one] and is_group(e) then
      add_leaves(one, again)
    else
      parts.n = parts.n + 1
      parts[parts.n] = one
    end
  end
  if rest then add_leaves(rest, again) end
  if next(again) then
    parts.n = parts.n + 1
    parts[parts.n] = (split(e, function (x) return again[x] == true end))
  end
  if parts.n == 1 then return parts[1] end
  return V.call(base_class, V.list({"", parts}, 2))
end

return M

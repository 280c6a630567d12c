-- SPDX-License-Identifier: MIT
-- python/shown.lua: repr and str of every value: part of values.lua, which adds
-- these functions to its own.

local dt = require "dt"
local util = require "dt.util"
local unicode = require "python.unicode"

local V                             -- values.lua's table
local M = {}
local None, float_text = dt.None, util.float_text
local list_mt, tuple_mt, dict_mt, set_mt, generator_mt, func_mt, builtin_mt

-- What Python shows of where an object is.
local function place_of(v) return ("0x%x"):format(V.identity(v)) end

-- Builtins that are classes have a capital, or are one of these.
local LOWER_CLASSES = {}
for name in ([[int str float bool list tuple dict set frozenset range slice
  object type bytes complex enumerate zip map filter reversed property
  staticmethod classmethod defaultdict deque partial device super]])
  :gmatch "%S+" do
  LOWER_CLASSES[name] = true
end

-- Is it a class of those that are built in?
function M.is_class_builtin(v)
  if getmetatable(v) ~= builtin_mt or rawget(v, "absent") then return false end
  return rawget(v, "test") ~= nil or rawget(v, "is_data") ~= nil
    or LOWER_CLASSES[rawget(v, "__name__")] ~= nil
    and rawget(v, "bound_to") == nil and rawget(v, "of_type") == nil
end

-- Functions and classes as Python shows them, or nil.
local function callable_text(v, mt)
  if rawget(v, "shown_as") then return v.shown_as() end
  if mt == func_mt then
    return ("<function %s at %s>"):format(rawget(v, "name") or "<lambda>",
      place_of(v))
  end
  if rawget(v, "bound_to") then
    return ("<bound method %s of %s>"):format(rawget(v, "full_name")
      or v.__name__, V.repr(v.bound_to))
  end
  local name = v.__name__
  if rawget(v, "of_type") then
    return (name:find("^__") and "<slot wrapper '%s' of '%s' objects>"
      or "<method '%s' of '%s' objects>"):format(name, v.of_type)
  end
  if mt == builtin_mt and type(name) == "string" and not rawget(v, "test")
     and not LOWER_CLASSES[name] and name:find("^%l") then
    return ("<built-in function %s>"):format(name)
  end
end

-- An instance of a class of the program's that is no nn.Module.
--- home(class): the module of a class: that of the program, or where PyTorch
--- has it.
function M.home(class) return rawget(class, "__home") or "__main__" end

-- full_name(class): its name with those of what it stands in: f.<locals>.C.
function M.full_name(class)
  return rawget(class, "__qualname") or rawget(class, "__name")
end

function M.object_text(v)
  if type(v) ~= "table" or not rawget(v, "_class") then
    return ("<%s object at %s>"):format(V.type_name(v), place_of(v))
  end
  local class = rawget(v, "_class")
  if not V.is_object(v) and not rawget(class, "__order") then return nil end
  for _, c in ipairs(rawget(class, "__order") or {}) do
    if not rawget(c, "__python") and not V.is_object(v) then return nil end
  end
  return ("<%s.%s object at %s>"):format(V.home(class), V.full_name(class),
    place_of(v))
end

local showing = {}                  -- boxes whose text is being made

-- f() while v is being shown; `inner` where v is inside itself.
local function shown_once(v, inner, f)
  if showing[v] then return inner end
  showing[v] = true
  local ok, text = pcall(f)
  showing[v] = nil
  if not ok then error(text, 0) end
  return text
end

local function joined(v, first, last, n)
  local parts = {}
  for i = 1, n do parts[i] = V.repr(v[i]) end
  if last == ")" and n == 1 then last = ",)" end
  return first .. table.concat(parts, ", ") .. last
end

local function escaped(c)
  local code = utf8.codepoint(c)
  return (code < 256 and "\\x%02x" or code < 65536 and "\\u%04x"
    or "\\U%08x"):format(code)
end

local function hidden(c) return unicode.is("hidden", c) and escaped(c) or c end

local plain_repr

-- What __str__ or __repr__ gave, which has to be a text.
local function said_text(name, text)
  text = V.unbox(text)
  if type(text) ~= "string" then
    util.raise("TypeError", "%s returned non-string (type %s)", name,
      V.type_name(text))
  end
  return text
end

function M.repr(v)
  local mt = type(v) == "table" and getmetatable(v)
  if mt == list_mt or mt == dict_mt then
    return shown_once(v, mt == list_mt and "[...]" or "{...}", function ()
      return plain_repr(v)
    end)
  end
  return plain_repr(v)
end

-- repr(v) of what no __repr__ of the program is for.  The marks of a value (view,
-- deque, is_size, record, frozen) are asked before its metatable alone, since
-- several kinds share one: a deque is a list, torch.Size a tuple.
function plain_repr(v)
  if type(v) == "string" then
    local q = v:find("'", 1, true) and not v:find('"', 1, true) and '"' or "'"
    local out = v:gsub("\\", "\\\\"):gsub("\n", "\\n"):gsub("\t", "\\t")
      :gsub("\r", "\\r"):gsub("%c", escaped)
    if not unicode.is_ascii(out) then
      out = out:gsub("[\xc2-\xf4][\x80-\xbf]+", hidden)
    end
    if q == "'" then out = out:gsub("'", "\\'") end
    return q .. out .. q
  end
  local special = V.special(v, "__repr__")
  if special then return said_text("__repr__", special()) end
  if type(v) == "table" and rawget(v, "shown") then return v.shown end
  if type(v) == "table" and rawget(v, "_boxed") ~= nil then
    return V.repr(v._boxed)
  end
  local mt = type(v) == "table" and getmetatable(v)
  if V.is_object(v) and not rawget(v, "_native") then
    return V.object_text(v)
  end
  if V.is_range(v) then return V.range_text(v) end
  if mt == list_mt and v.view then
    return joined(v, v.view .. "([", "])", v.n)
  end
  if mt == list_mt and v.deque then
    local class = rawget(v, "_class")
    return joined(v, (class and class.__name or "deque") .. "([", v.most
      and "], maxlen=" .. v.most .. ")" or "])", v.n)
  end
  if mt == list_mt then return joined(v, "[", "]", v.n) end
  if V.is_view(v) then
    local items, n = V.items(v)
    return joined(items, mt.__name .. "([", "])", n)
  end
  if mt == generator_mt then
    if rawget(v, "shown_as") then return v.shown_as() end
    local f = rawget(v, "func")
    return ("<%s object %sat %s>"):format(v.iterator or "generator",
      v.iterator and "" or (f and f.name or "<genexpr>") .. " ", place_of(v))
  end
  if mt == tuple_mt and v.is_size then
    return joined(v, "torch.Size([", "])", v.n)
  end
  if mt == tuple_mt and v.called then            -- a class of tuples
    return (joined(v, v.called .. "(", ")", v.n):gsub(",%)$", ")"))
  end
  if mt == tuple_mt and v.record then
    local own = v.record.members.__repr__
    if type(own) == "function" and own(v) then return own(v) end
    local parts = {}
    for i, field in ipairs(v.record.names) do
      parts[i] = field .. "=" .. V.repr(v[i])
    end
    return v.record.__name__ .. "(" .. table.concat(parts, ", ") .. ")"
  end
  if mt == tuple_mt then return joined(v, "(", ")", v.n) end
  if mt == dict_mt then
    local parts = {}
    for k, item in V.each(v) do
      parts[#parts + 1] = V.repr(k) .. ": " .. V.repr(item)
    end
    local text = "{" .. table.concat(parts, ", ") .. "}"
    return v.shown_as and v.shown_as(v, text) or text
  end
  if mt == set_mt and rawget(v, "_class") then
    local items, n = V.items(v)
    return v._class.__name .. (n == 0 and "()" or joined(items, "({", "})", n))
  end
  if mt == set_mt then
    local items, n = V.items(v)
    if v.frozen then
      return n == 0 and "frozenset()" or joined(items, "frozenset({", "})", n)
    end
    if n == 0 then return "set()" end
    return joined(items, "{", "}", n)
  end
  if type(v) == "table" and rawget(v, "class")
     and rawget(v, "message") then
    local args = rawget(v, "args") or V.tuple({v.message})
    if v.class == "KeyError" and not rawget(v, "args") then
      return "KeyError(" .. v.message .. ")"    -- the key's repr already
    end
    return v.class .. joined(args, "(", ")", args.n):gsub(",%)$", ")")
  end
  if util.is_placement(v) then return v:repr() end
  if util.is_dtensor(v) then
    return ("DTensor(local_tensor=%s, device_mesh=%s, placements=%s)"):format(
      V.formatted(dt._local_of(v)), tostring(v.device_mesh),
      util.tuple_text(v.placements))
  end
  return V.str(v)
end

-- A tensor as Python shows it.
function M.tensor_text(v)
  return (v.is_parameter and "Parameter containing:\n" or "") .. tostring(v)
end

-- str(v).  Numbers and texts first: nearly all calls are of those.  Containers are
-- their repr, unless a class of the program is below them and has __str__; an
-- error's str is its message, its repr is not.
function M.str(v)
  local kind = math.type(v)
  if kind == "integer" then return ("%d"):format(v) end
  if kind then return float_text(v) end
  if type(v) == "string" then return v end
  if util.is_dtensor(v) then return V.repr(v) end
  if util.is_tensor(v) then return V.tensor_text(v) end
  if v == None then return "None" end
  if v == true then return "True" elseif v == false then return "False" end
  if math.type(v) == "float" then return float_text(v) end
  if type(v) == "table" then
    local mt = getmetatable(v)
    if mt and mt.shows_itself then return tostring(v) end
    if not rawget(v, "_class") and (mt == list_mt or mt == tuple_mt
       or mt == dict_mt or mt == set_mt or mt == generator_mt
       or V.is_view(v) or V.is_range(v)) then
      return V.repr(v)
    end
    local special = V.special(v, "__str__")
    if special then return said_text("__str__", special()) end
    special = V.special(v, "__repr__")
    if special then return said_text("__repr__", special()) end
    if rawget(v, "_boxed") ~= nil then return V.str(v._boxed) end
    if rawget(v, "_native") then return V.repr(v) end
    if V.is_object(v) then return V.object_text(v) end
    if rawget(v, "class") and rawget(v, "message") then return v.message end
    if rawget(v, "said") then return v.said end   -- str() is not repr()
    if type(rawget(v, "shown")) == "string" and not (mt and mt.__tostring) then
      return v.shown
    end
    local text = (mt == func_mt or mt == builtin_mt) and callable_text(v, mt)
      or rawget(v, "_class") and rawget(v._class, "__python")
      and V.object_text(v)
    if text then return text end
    if mt and rawget(mt, "__name") == "module" and v.__name__ then
      return ("<module '%s'>"):format(v.__name__)
    end
    if rawget(v, "__python") then
      local home = V.home(v)
      return ("<class '%s%s'>"):format(home == "builtins" and "" or home .. ".",
        V.full_name(v))
    elseif (rawget(v, "__base") or rawget(v, "__new"))
           and rawget(v, "__name") then
      return ("<class '%s.%s'>"):format(V.module_of(v), v.__name)
    elseif mt == nil and not v.__name__ then
      return ("<object at %s>"):format(place_of(v))
    end
    -- An optimizer finds its class's name by its metatable and is no class.
    local is_instance = mt and rawget(mt, "__name__") and rawget(mt, "__index") == mt
    if not is_instance and not rawget(v, "_class") and v.__name__ then
      local module = rawget(v, "__module__")
      return ("<class '%s%s'>"):format(module and module .. "." or "",
        rawget(v, "__qualname__") or v.__name__)
    end
  end
  if type(v) == "function" then
    local name = V.function_names[v]
    return name and ("<built-in function %s>"):format(name) or "<built-in function>"
  end
  return tostring(v)
end

-- format(v, ""): str(v), but a tensor without dimensions is its number.
function M.formatted(v)
  if util.is_tensor(v) and not util.is_dtensor(v) and #v.shape == 0
     and not tostring(v):find("...", 1, true) then      -- without data
    return V.str(V.from_lua(v:item()))
  end
  return V.str(v)
end

-- add_to(values): these become functions of values.lua's table.
return function (values)
  V = values
  list_mt, tuple_mt = values.list_mt, values.tuple_mt
  dict_mt, set_mt = values.dict_mt, values.set_mt
  generator_mt = values.generator_mt
  func_mt, builtin_mt = values.func_mt, values.builtin_mt
  for name, f in pairs(M) do values[name] = f end
end

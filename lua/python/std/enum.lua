-- SPDX-License-Identifier: MIT
-- python/std/enum.lua: enum.  Enum is a class like others; what a class
-- below it names in its body becomes its members when it is made.

local dt = require "dt"
local util = require "dt.util"
local V = require "python.values"
local attrs = require "python.attrs"
local classes = require "python.class"
local calls = require "python.call"
local object = require "python.object"
local ops = require "python.ops"
local exceptions = require "python.exceptions"
local format = require "python.format"
local big = require "python.bigint"
local private = require "python.private"
local tools = require "python.std.tools"
local names = require "python.builtin_names"
local names_of_value = require "python.dir"

local None, builtin = dt.None, V.builtin

-- auto() has no value before the class is made: signs of it wait till then.
local auto_mt, later_mt = {__name = "auto"}, {__name = "auto"}
for event, sign in pairs {__bor = "|", __band = "&", __bxor = "^",
    __add = "+"} do
  auto_mt[event] = function (a, b)
    return setmetatable({sign, a, b}, later_mt)
  end
  later_mt[event] = auto_mt[event]
end
local function settled(v)
  if getmetatable(v) == auto_mt then return rawget(v, "value") end
  if getmetatable(v) ~= later_mt then return v end
  return ops.binary[v[1]](settled(v[2]), settled(v[3]))
end
local kept_mt = {__name = "nonmember"}       -- nonmember(x), member(x)

local function attr(v, name) return rawget(v, "_attrs")[name] end

local Mixed = {}                    -- filled below
local kind = attrs.namespace {__name__ = "EnumType", __module__ = "enum"}

local function enum_of(class) return rawget(class, "__enum") end

kind.test = function (v) return type(v) == "table" and enum_of(v) ~= nil end

local function is_flag(class) return class.__flag == true end

-- ---- making members ----

-- The value that auto() stands for.
local function next_value(class, name, values, start, count)
  local own = V.raw(class._generate_next_value_)
  if not own then
    local d = class._generate_next_value_
    own = type(d) == "table" and rawget(d, "get")
  end
  if own then
    return calls.call(own, V.list({name, start or 1, count or #values,
      V.list({table.unpack(values)}, #values)}, 4))
  end
  if class.__lower_names then return name:lower() end
  local last
  for _, v in ipairs(values) do
    v = V.unbox(v)
    if math.type(v) == "integer" or big.is(v) then
      if last == nil or V.less(last, v) then last = v end
    end
  end
  if is_flag(class) then
    return last and last > 0 and 1 << (big.bit_length(last)) or 1
  end
  return last and ops.binary["+"](last, 1) or 1
end

-- What the members of the class are beside members: the class of the program's
-- that makes data, or the type of data; nil: nothing.
local function data_type(class)
  for _, c in ipairs(classes.mro(class)) do
    if not enum_of(c) and (rawget(c, "__new__") ~= nil or c.__native
       or rawget(c, "__home") == "datetime") then
      return c
    end
  end
  return class.__native and names[class.__native]
end

local enum_above, enum_new          -- Enum, and what it has by the name __new__

-- What makes objects of the class: the __new__ of its body or of those above,
-- where that is not Enum's; nil: there is none.
local function maker_of(class, members)
  local new = members.__new__ ~= nil and class.__new__ or class.__new_member__
  if new == nil then new = class.__new__ end
  new = V.raw(new) or type(new) == "table" and rawget(new, "get") or nil
  return new ~= enum_new and new or nil
end

-- What a member of a StrEnum is made of: a text, or bytes with their encoding.
local function check_texts(args)
  local what = {"", "encoding must be a string, not %s",
    "errors must be a string, not %s"}
  if args.n > 3 then
    util.raise("TypeError", "too many arguments for str(): %s", V.repr(args))
  end
  for i = 1, args.n do
    if type(V.unbox(args[i])) ~= "string" and (i > 1 or args.n == 1) then
      util.raise("TypeError", i == 1 and "%s is not a string" or what[i],
        V.repr(args[i]))
    end
  end
end

-- An object of the class that stands for the value.
local function made(class, value)
  local args = V.is_tuple(value) and not rawget(value, "_class")
    and class._member_type_ ~= names.tuple and value or V.list({value}, 1)
  local new, m = enum_of(class).new, nil
  if class.__lower_names and not new then check_texts(args) end
  if new then
    m = calls.call(new, V.list({class, table.unpack(args, 1, args.n)},
      args.n + 1))
  else
    m = class.__native and classes.native_new(class, args) or object.bare(class)
  end
  if attr(m, "_value_") == nil then
    local data = data_type(class)
    if data then value = calls.call(data, args) end
    object.put(m, "_value_", value)
  end
  return m, args
end

local function init(m, class, args)
  local own = V.raw(class.__init__)
  if own then
    calls.call(own, V.list({m, table.unpack(args, 1, args.n)}, args.n + 1))
  end
end

-- The member of the class that has this value, or nil.
local function with_value(class, value)
  local e = enum_of(class)
  local ok, m = pcall(V.dict_get, e.by_value, value)
  if ok then return m end
  for _, one in ipairs(e.all) do               -- a value that is no key
    if V.alike(attr(one, "_value_"), value) then return one end
  end
end

local function name_member(m, name)
  object.put(m, "_name_", name)
end

-- A member that has the name of a property: the class has the member, and a
-- member what the property says.
local function both_ways(m, property)
  return setmetatable({specials = {__get__ = function (v)
    if v == None then return m end
    return classes.bind(property, v, v._class)
  end}}, {__name = "property"})
end

local function add(class, name, value)
  local e = enum_of(class)
  local hidden                                 -- by the member, in the class
  for _, c in ipairs(classes.mro(class)) do
    local x = c ~= class and rawget(c, name) or nil
    if hidden == nil then hidden = x end
  end
  local m, args = made(class, value)
  local held = attr(m, "_value_")
  local before = with_value(class, held)
  if before then                               -- another name of it
    class[name] = before
    V.dict_set(e.members, name, before)
    return
  end
  name_member(m, name)
  init(m, class, args)
  object.put(m, "_sort_order_", #e.all)
  class[name] = classes.is_property(hidden) and both_ways(m, hidden) or m
  V.dict_set(e.members, name, m)
  e.all[#e.all + 1] = m
  held = attr(m, "_value_")
  pcall(V.dict_set, e.by_value, held, m)
  local number = V.unbox(held)
  if not is_flag(class) or math.type(number) == "integer" and number > 0
     and number & (number - 1) == 0 then
    e.list[#e.list + 1] = m
    local listed = class._member_names_
    listed.n = listed.n + 1
    listed[listed.n] = name
    if is_flag(class) then e.singles = e.singles | number end
  end
  if is_flag(class) and math.type(number) == "integer" then
    e.mask = e.mask | number
  end
end

-- ---- flags ----

local function all_bits(e) return (1 << big.bit_length(e.mask)) - 1 end

local function refuse_bits(class, bits)
  local e = enum_of(class)
  local n = math.max(big.bit_length(bits), big.bit_length(e.mask))
  local function shown(x)
    local digits = big.digits(x < 0 and (1 << n) + x or x, 2)
    return ("0b%d "):format(x < 0 and 1 or 0) .. ("0"):rep(n - #digits) .. digits
  end
  util.raise("ValueError", "<flag %s> invalid value %d\n    given %s\n"
    .. "  allowed %s", V.repr(class.__name), bits, shown(bits), shown(e.mask))
end

-- The bits that the class has for these, or nil for what stays a number: what its
-- boundary says of bits that no member has.
local function bounded(class, bits)
  local e = enum_of(class)
  local all, boundary = all_bits(e), V.unbox(class._boundary_)
  local strange = bits < ~all or bits > all or bits & (all ~ e.mask) ~= 0
  if strange and boundary == "strict" then refuse_bits(class, bits) end
  if strange and boundary == "eject" then return nil end
  if strange and boundary == "conform" then
    bits = bits & e.mask
  elseif strange and boundary ~= "keep" then
    util.raise("ValueError", "%s unknown flag boundary %s", V.repr(class),
      V.repr(class._boundary_))
  end
  if bits < 0 and strange and boundary == "keep" then
    return math.max(all + 1, 1 << big.bit_length(bits)) + bits
  end
  return bits < 0 and all + 1 + bits or bits
end

-- The name of a sum of members: of those with one bit each, then of others that
-- are all in it, and of what none of them has; None for no member.
local function sum_name(class, bits)
  local e = enum_of(class)
  local names, sum, seen = {}, 0, {}
  local function add_name(m)
    names[#names + 1], seen[m] = attr(m, "_name_"), true
    sum = sum | V.unbox(attr(m, "_value_"))
  end
  for _, one in ipairs(e.list) do
    if bits & V.unbox(attr(one, "_value_")) ~= 0 then add_name(one) end
  end
  if bits & ~e.singles ~= 0 then
    for _, m in ipairs(e.all) do
      local b = V.unbox(attr(m, "_value_"))
      if not seen[m] and b ~= 0 and b & bits == b then add_name(m) end
    end
  end
  if sum == 0 then return None end
  local rest = bits & ~sum
  if rest ~= 0 then names[#names + 1] = tostring(rest) end
  return table.concat(names, "|")
end

-- The member or the sum of members that has these bits.
local function with_bits(class, bits)
  local m = with_value(class, bits)
  if m then return m end
  local fit = bounded(class, bits)
  if fit == nil then return bits end
  m = with_value(class, fit)
  if m then return m end
  m = class.__native and classes.native_new(class, V.list {fit})
    or object.bare(class)
  object.put(m, "_value_", fit)
  object.put(m, "_name_", sum_name(class, fit))
  V.dict_set(enum_of(class).by_value, fit, m)
  return m
end

-- ---- what the class does ----

local function call_class(class, args, kw)
  local e = enum_of(class)
  if #e.all == 0 or args.n > 1 or kw and V.count(kw) > 0 then
    return e.functional(class, args, kw)
  end
  local value = args[1]
  if value == nil and kw then value = V.dict_get(kw, "value") end
  if value == nil then
    util.raise("TypeError", "EnumType.__call__() missing 1 required positional "
      .. "argument: 'value'")
  end
  if type(value) == "table" and rawget(value, "_class") == class then
    return value
  end
  local m = with_value(class, value)
  if m then return m end
  local missing = class._missing_
  missing = type(missing) == "table" and rawget(missing, "get") or nil
  local said = missing and calls.call(missing, V.list({class, value}, 2))
  if said ~= nil and said ~= None then
    if type(said) == "table" and rawget(said, "_class") == class then
      return said
    end
    util.raise("TypeError", "error in %s._missing_: returned %s instead of "
      .. "None or a valid member", class.__name, V.repr(said))
  end
  local number = V.unbox(value)
  if is_flag(class) and math.type(number) == "integer" then
    return with_bits(class, number)
  end
  return util.raise("ValueError", "%s is not a valid %s", V.repr(value),
    class.__qualname or class.__name)
end

-- Color("Color", "RED GREEN"): a class below this one of these members.
local function functional(class, args, kw)
  local function arg(i, name)
    local v = args[i]
    if v == nil and kw then v = V.dict_get(kw, name) end
    return v ~= None and v or nil
  end
  local name, names = arg(1, "value"), arg(2, "names")
  if names == nil then
    util.raise("TypeError", "<enum %s> has no members; specify `names=()` if "
      .. "you meant to create a new, empty, enum", V.repr(class.__name))
  end
  local start, body, fields = arg(7, "start") or kw and V.dict_get(kw, "start")
    or 1, {}, {}
  local told                        -- boundary=, for the class that is made
  local values = {}
  if type(names) == "string" then
    local list = {}
    for word in names:gmatch("[^%s,]+") do list[#list + 1] = word end
    names = V.list(list)
  end
  local items, n = V.items(names)
  for i = 1, n do
    local key, value = items[i], nil
    if V.is_dict(names) then
      value = V.dict_get(names, key)
    elseif V.is_seq(key) then
      key, value = key[1], key[2]
    else
      value = class._generate_next_value_ ~= nil
        and next_value(class, key, values, start)
        or is_flag(class) and start << (i - 1) or class.__lower_names
        and key:lower() or start + i - 1
    end
    values[i] = value
    body[key], fields[#fields + 1] = value, key
  end
  local bases = {class}
  local mixin = arg(6, "type")
  if mixin then table.insert(bases, 1, mixin) end
  local boundary = arg(8, "boundary")
  if boundary ~= nil then
    told = V.dict()
    V.dict_set(told, "boundary", boundary)
  end
  body.__qualname__ = arg(4, "qualname")
  local made_class = classes.make(name, bases, body, fields, {}, told)
  local home = arg(3, "module")
  if home ~= nil then made_class.__home = home end
  return made_class
end

local function reserved(class, name)
  return enum_of(class) and V.dict_get(enum_of(class).members, name) ~= nil
end

-- dir() of an enumeration: its members, and what its type of data has.
local function names_of_enum(class)
  local all = V.set(class._member_type_ ~= names.object
    and names.dir.call(V.list {class._member_type_}) or {})
  for word in ([[__class__ __contains__ __doc__ __getitem__ __init_subclass__
      __iter__ __len__ __members__ __module__ __name__
      __qualname__]]):gmatch "%S+" do
    V.dict_set(all, word, true)
  end
  for _, name in ipairs(class._member_names_) do V.dict_set(all, name, true) end
  if enum_of(class).new then V.dict_set(all, "__new__", true) end
  return V.sorted(all)
end

local function class_specials(class)
  local e = enum_of(class)
  local function each(list)
    return V.generator(V.iter(V.list(list, #list)))
  end
  return {
    __len__ = function () return #e.list end,
    __iter__ = function () return each(e.list) end,
    __reversed__ = function ()
      local out = {}
      for i = #e.list, 1, -1 do out[#out + 1] = e.list[i] end
      return each(out)
    end,
    __contains__ = function (v)
      if type(v) ~= "table" or not (rawget(v, "_class")
         and enum_of(v._class)) then
        util.raise("TypeError", "unsupported operand type(s) for 'in': '%s' "
          .. "and 'EnumType'", V.type_name(v))
      end
      return classes.is_instance(v, class)
    end,
    __getitem__ = function (key)
      local m = V.dict_get(e.members, key)
      if m == nil then
        error(exceptions.classes.KeyError.make(
          V.list {key}), 0)
      end
      return m
    end,
    __bool__ = function () return true end,
    __dir__ = function () return names_of_enum(class) end,
    __repr__ = function ()
      return ("<%s '%s'>"):format(is_flag(class) and "flag" or "enum",
        class.__name)
    end,
    __call__ = function (...)
      return call_class(class, V.list({...}, select("#", ...)))
    end,
    __call_with = function (args, kw) return call_class(class, args, kw) end,
    __setattr__ = function (name, x)
      if reserved(class, name) then
        util.raise("AttributeError", "cannot reassign member %s", V.repr(name))
      end
      class[name] = V.is_function(x) and calls.lua_method(x) or x
    end,
    __delattr__ = function (name)
      if reserved(class, name) then
        util.raise("AttributeError", "'%s' cannot delete member '%s'.",
          class.__name, name)
      end
      if rawget(class, name) == nil then attrs.missing(class, name) end
      class[name] = nil
    end,
  }
end

local IGNORED = {_ignore_ = true, _order_ = true}

-- Is it __x of the body, as private.lua names it?
local function is_private(name, class)
  return name:find(private.name(class.__name, "__"), 1, true) == 1
end

-- Does a name of the body name a member?
local function is_member(name, v, class)
  if is_private(name, class) then return false end
  if name:find("^__.*__$") or IGNORED[name] or v == nil then return false end
  if name:find("^_[^_].*_$") then return false end
  if V.is_function(v) and not rawget(v, "is_data") then return false end
  if type(v) == "function" then return false end
  local mt = getmetatable(v)
  if mt == kept_mt then return rawget(v, "member") end
  if type(v) == "table" and (mt and mt.__name == "descriptor"
     or rawget(v, "_class") and V.special(v, "__get__")) then
    return false
  end
  return true
end

-- A name that is or was a member must not be bound again.
local function check_once(class, name, v, twice)
  local first = twice and twice[name]
  if first and (is_member(name, v, class) or first.kind == "const") then
    util.raise("TypeError", first.kind == "const" and "%s already defined as %s"
      or "%s already defined", V.repr(name), V.repr(first.value))
  end
end

-- The bases of an enumeration: at most one type of data, and an Enum at the end.
local function check_bases(class)
  local bases, data = rawget(class, "__bases") or {}, nil
  local last = bases[#bases]
  if last and not (type(last) == "table" and enum_of(last)) then
    util.raise("TypeError", "new enumerations should be created as "
      .. "`EnumName([mixin_type, ...] [data_type,] enum_type)`")
  end
  for _, b in ipairs(bases) do
    local own = type(b) == "table" and (rawget(b, "is_data") or b.__native)
    if own and data and own ~= data then
      util.raise("TypeError", "too many data types for %s: {%s, %s}",
        V.repr(class.__name), V.repr(names[data]), V.repr(names[own]))
    end
    data = own or data
  end
end

-- The names with one underscore at each end that a body may give a meaning.
local SUNDERS = {_order_ = true, _generate_next_value_ = true, _missing_ = true,
  _numeric_repr_ = true, _ignore_ = true, _iter_member_ = true,
  _iter_member_by_value_ = true, _iter_member_by_def_ = true}

local function check_sunders(class, members)
  for name in pairs(members) do
    if name:find("^_[^_].*[^_]_$") and not SUNDERS[name]
       and not is_private(name, class) then
      util.raise("ValueError", "_sunder_ names, such as %s, are reserved for "
        .. "future Enum use", V.repr(name))
    end
  end
end

-- The order that the body says has to be that of the members.
local function check_order(class, said)
  if said == nil then return end
  local told, e = {}, enum_of(class)
  if type(said) == "string" then
    for word in said:gmatch("[^%s,]+") do told[#told + 1] = word end
  else
    local items, n = V.items(said)
    for i = 1, n do told[i] = items[i] end
  end
  local wanted = V.list({}, 0)
  for _, name in ipairs(told) do
    local m = V.dict_get(e.members, name)
    if not m or attr(m, "_name_") == name then       -- aliases do not count
      wanted.n = wanted.n + 1
      wanted[wanted.n] = name
    end
  end
  if not V.alike(wanted, class._member_names_) then
    util.raise("TypeError", "member order does not match _order_:\n  %s\n  %s",
      V.repr(class._member_names_), V.repr(wanted))
  end
end

-- A class that makes data gives its members none of its texts.
local function keep_texts(class, members)
  local data = data_type(class)
  if type(data) ~= "table" or not rawget(data, "__python") then return end
  local first
  for _, c in ipairs(classes.mro(class)) do
    if c ~= class and enum_of(c) then first = first or c end
  end
  for _, name in ipairs {"__repr__", "__str__", "__format__"} do
    if members[name] == nil and class[name] == data[name] and first then
      class[name] = first[name]
    end
  end
end

-- derive(class, members, fields): the class has been made.
local function derive(class, members, fields, kw)
  local boundary = kw and V.dict_get(kw, "boundary")
  if boundary ~= nil then
    V.dict_remove(kw, "boundary")
    class._boundary_ = boundary
  end
  check_sunders(class, members)
  check_bases(class)
  for _, c in ipairs(classes.mro(class)) do
    if c ~= class and enum_of(c) and #enum_of(c).all > 0 then
      util.raise("TypeError", "<enum %s> cannot extend %s",
        V.repr(class.__name), V.repr(c))
    end
  end
  if class.__native and not members.__hash__ and Mixed.hash then
    class.__hash__ = Mixed.hash        -- that of the type, which is first
  end
  class.__enum = {all = {}, list = {}, by_value = V.dict(), mask = 0, singles = 0,
    members = V.dict(), functional = functional, new = maker_of(class, members)}
  if members.__new__ ~= nil and enum_new then
    class.__new_member__, class.__new__ = class.__new__, nil
  end
  class._member_type_ = data_type(class) or names.object
  class._new_member_ = enum_of(class).new
    or attrs.get(names[class.__native or "object"], "__new__")
  if enum_above then class.__new__ = enum_above.__new__ end
  class._value_repr_ = class.__native and attrs.get(names[class.__native],
    "__repr__") or None
  local ignore = members._ignore_
  local out = {}
  if ignore then
    local list = type(ignore) == "string" and ignore:gsub(",", " ") or nil
    if list then for word in list:gmatch "%S+" do out[word] = true end
    else for _, w in ipairs((V.items(ignore))) do out[w] = true end end
  end
  local e = enum_of(class)
  class.__members__, class._member_map_ = e.members, e.members
  class._value2member_map_, class._member_names_ = e.by_value, V.list({}, 0)
  local values, seen = {}, {}
  local order = {}
  for _, name in ipairs(fields) do
    check_once(class, name, members[name], fields.twice)
    if not seen[name] and not out[name]
       and is_member(name, members[name], class) then
      seen[name], order[#order + 1] = true, name
    end
  end
  for i, name in ipairs(order) do
    if name == "mro" or name == "" then
      util.raise("ValueError", "invalid enum member name(s) '%s'", name)
    end
    local v = members[name]
    if getmetatable(v) == kept_mt then v = rawget(v, "value") end
    if getmetatable(v) == auto_mt then
      if rawget(v, "value") == nil then
        rawset(v, "value", next_value(class, name, values, 1, i - 1))
      end
      v = rawget(v, "value")
    elseif getmetatable(v) == later_mt then
      v = settled(v)
    elseif V.is_tuple(v) then
      local t = {}
      local some = false
      for k = 1, v.n do
        t[k] = v[k]
        if getmetatable(v[k]) == auto_mt then
          t[k], some = next_value(class, name, values, 1, i - 1), true
          values[#values + 1] = t[k]
        end
      end
      if some then v = V.tuple(t, v.n) end
    end
    values[#values + 1] = v
    add(class, name, v)
  end
  for name in pairs(out) do class[name] = nil end
  for name, v in pairs(members) do
    if getmetatable(v) == kept_mt and not rawget(v, "member") then
      class[name] = rawget(v, "value")
    end
  end
  if is_flag(class) then
    class._flag_mask_, class._singles_mask_ = e.mask, e.singles
    class._all_bits_ = all_bits(e)
  end
  class.specials, class.__kind = class_specials(class), kind
  check_order(class, members._order_)
  keep_texts(class, members)
end

-- ---- Enum and its kin ----

local function method(f)
  return calls.lua_method(builtin(function (a, kw)
    return f(a[1], V.list({table.unpack(a, 2, a.n)}, a.n - 1), kw)
  end, "method"))
end

local function define(name, bases, own)
  local class = classes.make(name, bases, {}, {}, {})
  for key, f in pairs(own) do
    class[key] = type(f) == "function" and method(f) or f
  end
  class.__home = "enum"
  return class
end

local function value_of(m) return attr(m, "_value_") end
local function name_of(m) return attr(m, "_name_") end

local Enum = classes.make("Enum", {}, {}, {}, {})
Enum.__home, Enum.__derive = "enum", derive
for key, f in pairs {
  __repr__ = function (m)
    if is_flag(m._class) then
      local name = name_of(m)
      return name == None and ("<%s: %s>"):format(m._class.__name,
        V.repr(value_of(m))) or ("<%s.%s: %s>"):format(m._class.__name, name,
        V.repr(value_of(m)))
    end
    return ("<%s.%s: %s>"):format(m._class.__name, name_of(m),
      V.repr(value_of(m)))
  end,
  __str__ = function (m)
    local name = name_of(m)
    return m._class.__name .. (name == None and "(" .. V.str(value_of(m)) .. ")"
      or "." .. name)
  end,
  __hash__ = function (m) return V.hash(name_of(m)) end,
  __format__ = function (m, a)
    return format.value(V.str(m), a[1])
  end,
  __dir__ = function (m)
    local seen, out = {}, {}
    local function add_name(name)
      if type(name) == "string" and not seen[name]
         and not classes.inner[name] and name ~= "specials" then
        seen[name], out[#out + 1] = true, name
      end
    end
    for word in ("__class__ __doc__ __eq__ __hash__ __module__"):gmatch "%S+" do
      add_name(word)
    end
    if m._class._member_type_ ~= names.object then
      local plain = names_of_value(m)
      for i = 1, plain.n do add_name(plain[i]) end
    end
    local members = enum_of(m._class).members
    local function add_public(name)
      if type(name) == "string" and name:sub(1, 1) ~= "_"
         and (V.dict_get(members, name) == nil
         or classes.is_property(m._class.__base[name])) then
        add_name(name)
      end
    end
    for name in pairs(rawget(m, "_attrs")) do add_public(name) end
    for _, c in ipairs(classes.mro(m._class)) do
      for name in next, c do add_public(name) end
    end
    table.sort(out)
    return V.list(out, #out)
  end,
  __reduce_ex__ = function (m)
    return V.tuple {m._class, V.tuple {value_of(m)}}
  end,
  __setattr__ = function (m, a)
    if a[1] == "name" or a[1] == "value" then
      util.raise("AttributeError", "<enum %s> cannot set attribute %s",
        V.repr("Enum"), V.repr(a[1]))
    end
    object.put(m, a[1], a[2])
    return None
  end,
} do Enum[key] = method(f) end
Enum.__new__ = method(function (class, a)
  local e = enum_of(class)
  if not e or #e.all == 0 then
    util.raise("TypeError", "<%s %s> has no members defined", is_flag(class)
      and "flag" or "enum", V.repr(class.__name))
  end
  return call_class(class, a)
end)
enum_new, enum_above = V.raw(Enum.__new__), Enum
derive(Enum, {}, {})
local property = classes.names.property.call
Enum.name = property(V.list {builtin(function (a) return name_of(a[1]) end)})
Enum.value = property(V.list {builtin(function (a) return value_of(a[1]) end)})

local B = require "python.builtins"
local plain_text = {
  __str__ = function (m) return V.str(V.unbox(m)) end,
  __format__ = function (m, a)
    if a[1] == "" then return V.str(m) end
    return format.value(V.unbox(m), a[1])
  end,
  __hash__ = function (m) return V.hash(V.unbox(m)) end,
}
Mixed.hash = method(plain_text.__hash__)
local ReprEnum = define("ReprEnum", {Enum}, plain_text)
local IntEnum = define("IntEnum", {B.names.int, ReprEnum}, {})
local StrEnum = define("StrEnum", {B.names.str, ReprEnum},
  {__lower_names = true})

local function bits_of(m, other)
  if type(other) == "table" and rawget(other, "_class") == m._class then
    return V.unbox(value_of(other))
  end
  local x = V.unbox(other)
  if m._class.__native and math.type(x) == "integer" then return x end
end
local function sign(f)
  return function (m, a)
    local other = bits_of(m, a[1])
    if not other then return V.not_implemented end
    local bits = f(V.unbox(value_of(m)), other)
    return with_bits(m._class, bits)
  end
end
local either = sign(function (x, y) return x | y end)
local both = sign(function (x, y) return x & y end)
local one_of = sign(function (x, y) return x ~ y end)
local function parts(m)
  local out, e = {}, enum_of(m._class)
  local bits, bit = V.unbox(value_of(m)) & e.mask, 1
  while bits ~= 0 do
    if bits & bit ~= 0 then
      out[#out + 1] = with_value(m._class, bit) or None
    end
    bits, bit = bits & ~bit, bit << 1
  end
  return out
end
local Flag = define("Flag", {Enum}, {
  __flag = true, __or__ = either, __ror__ = either, __and__ = both,
  __rand__ = both, __xor__ = one_of, __rxor__ = one_of,
  __invert__ = function (m)
    local bits, boundary = ~V.unbox(value_of(m)), V.unbox(m._class._boundary_)
    if boundary ~= "eject" and boundary ~= "keep" then
      bits = bits & enum_of(m._class).singles
    end
    return with_bits(m._class, bits)
  end,
  __contains__ = function (m, a)
    local other = a[1]
    if type(other) ~= "table" or rawget(other, "_class") ~= m._class then
      util.raise("TypeError", "unsupported operand type(s) for 'in': %s and %s",
        V.repr(V.type_name(other)), V.repr(m._class.__name))
    end
    local bits = V.unbox(value_of(other))
    return V.unbox(value_of(m)) & bits == bits
  end,
  __bool__ = function (m) return V.unbox(value_of(m)) ~= 0 end,
  __len__ = function (m) return #parts(m) end,
  __iter__ = function (m)
    local list = parts(m)
    return V.generator(V.iter(V.list(list, #list)))
  end,
})
local IntFlag = define("IntFlag", {B.names.int, ReprEnum, Flag}, {
  __repr__ = function (m)
    local name = name_of(m)
    return name == None and ("<%s: %d>"):format(m._class.__name,
      V.unbox(value_of(m))) or ("<%s.%s: %d>"):format(m._class.__name, name,
      V.unbox(value_of(m)))
  end})

local function unique(a)
  local class, twice = a[1], {}
  for name, m in V.each(enum_of(class).members) do
    if name_of(m) ~= name then
      twice[#twice + 1] = name .. " -> " .. name_of(m)
    end
  end
  if #twice > 0 then
    util.raise("ValueError", "duplicate values found in %s: %s", V.repr(class),
      table.concat(twice, ", "))
  end
  return class
end

local function kept(member)
  return function (a)
    return setmetatable({value = a[1], member = member}, kept_mt)
  end
end

local Boundary = classes.make("FlagBoundary", {StrEnum}, {STRICT = "strict",
  CONFORM = "conform", EJECT = "eject", KEEP = "keep"}, {"STRICT", "CONFORM",
  "EJECT", "KEEP"}, {})
local Check = classes.make("EnumCheck", {StrEnum}, {UNIQUE = "unique",
  CONTINUOUS = "continuous", NAMED_FLAGS = "named flags"}, {"CONTINUOUS",
  "NAMED_FLAGS", "UNIQUE"}, {})
Enum._convert_ = builtin(function ()
  return util.refuse("Enum._convert_ is not part of dtrepl")
end, "_convert_")
Flag._boundary_, IntFlag._boundary_ = Boundary.STRICT, Boundary.KEEP

-- The numbers between the least and the greatest that a mask of flags, or a class
-- of numbers, leaves out.
local function check_continuous(class)
  local have, least, most, flags = {}, nil, nil, false
  for _, c in ipairs(classes.mro(class)) do flags = flags or rawequal(c, Flag) end
  for _, m in V.each(enum_of(class).members) do
    local value = V.unbox(value_of(m))
    have[value] = true
    if not (flags and value & (value - 1) ~= 0) then
      least = math.min(least or value, value)
      most = math.max(most or value, value)
    end
  end
  local missing, value = {}, least
  while value and value < most do
    value = flags and value << 1 or value + 1
    if not have[value] then missing[#missing + 1] = tostring(value) end
  end
  if #missing > 0 then
    util.raise("ValueError", "invalid %s '%s': missing values %s",
      flags and "flag" or "enum", class.__name, table.concat(missing, ", "))
  end
end

local function verify(a)
  return builtin(function (of)
    for i = 1, a.n do
      if a[i] == Check.UNIQUE then unique(of)
      elseif a[i] == Check.CONTINUOUS then check_continuous(of[1])
      else util.refuse("enum.verify(%s) is not part of dtrepl", V.str(a[i])) end
    end
    return of[1]
  end, "verify")
end
tools.module("enum", {auto = function () return setmetatable({}, auto_mt) end,
  unique = unique, member = kept(true), nonmember = kept(false),
  verify = verify,
  global_enum = function (a) return a[1] end}, {Enum = Enum,
  property = classes.names.property,
  IntEnum = IntEnum, StrEnum = StrEnum, Flag = Flag, IntFlag = IntFlag,
  KEEP = Boundary.KEEP, STRICT = Boundary.STRICT, EJECT = Boundary.EJECT,
  CONFORM = Boundary.CONFORM, FlagBoundary = Boundary, EnumCheck = Check,
  UNIQUE = Check.UNIQUE, CONTINUOUS = Check.CONTINUOUS,
  NAMED_FLAGS = Check.NAMED_FLAGS, ReprEnum = ReprEnum, EnumType = kind, EnumMeta = kind})

return {kind = kind, of = enum_of}

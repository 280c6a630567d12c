-- SPDX-License-Identifier: MIT
-- dt/torch/signature.lua: functions and methods after a signature written as
-- in Python ("input, alpha=1.0, inplace=False"): arguments are bound by place
-- or by name, and what does not fit is refused in Python's words.  Lua passes
-- names as one last table with string keys.

local dt = require "dt"
local util = require "dt.util"

local M = {}

local constants = {None = dt.None, True = true, False = false}

local function value_of(text)
  local v = constants[text]
  if v ~= nil then return v end
  return tonumber(text) or text:match("^'(.*)'$")
end

-- The parameters of a signature's text, into `out`: {name, optional, only,
-- value}.
local function read_parameters(text, out)
  local only = false
  for word in text:gmatch("[^,]+") do
    local name, default = word:match("^%s*([%w_*]+)=?(.-)%s*$")
    if name == "*" then
      only = true
    else
      local p = {name = name, only = only, optional = default ~= ""}
      if p.optional then p.value = value_of(default) end
      if p.value == dt.None then p.value = nil end
      out[#out + 1] = p
    end
  end
end

local function plural(n) return n == 1 and "" or "s" end

local function listed(names)
  for i, name in ipairs(names) do names[i] = "'" .. name .. "'" end
  if #names < 3 then return table.concat(names, " and ") end
  return table.concat(names, ", ", 1, #names - 1) .. ", and "
    .. names[#names]
end

local function refuse_many(s, given)
  local least, most = s.own, s.own
  for _, p in ipairs(s) do
    if not p.only then
      most = most + 1
      if not p.optional then least = least + 1 end
    end
  end
  given = given + s.own
  util.raise("TypeError", "%s() takes %s positional argument%s but %d %s given",
    s.fname, least < most and ("from %d to %d"):format(least, most)
    or tostring(most), plural(most), given, given == 1 and "was" or "were")
end

local function refuse_missing(s, seen)
  for _, only in ipairs {false, true} do
    local names = {}
    for _, p in ipairs(s) do
      if p.only == only and not p.optional and not seen[p.name] then
        names[#names + 1] = p.name
      end
    end
    if #names > 0 then
      util.raise("TypeError", "%s() missing %d required %s argument%s: %s",
        s.fname, #names, only and "keyword-only" or "positional",
        plural(#names), listed(names))
    end
  end
end

-- Arguments by place and by name.  An empty last table is keywords, all
-- absent, unless it stands where an argument must be.
local function split(s, ...)
  local pos, kw = util.split(...)
  while pos.n > #s and pos[pos.n] == nil do pos.n = pos.n - 1 end
  local last = pos[pos.n]
  if type(last) == "table" and getmetatable(last) == nil
     and next(last) == nil and pos.n > math.max(s.least, 1) then
    pos.n = pos.n - 1
  end
  return pos, kw
end

-- bind(s, ...): a table of the arguments by name.
function M.bind(s, ...)
  local pos, kw = split(s, ...)
  local out, seen, at = {}, {}, 0
  for _, p in ipairs(s) do
    local v = p.value
    if not p.only and at < pos.n then
      at = at + 1
      seen[p.name] = true
      if pos[at] ~= nil then v = pos[at] end
    end
    out[p.name] = v
  end
  for _, key in ipairs(util.sorted_keys(kw)) do
    if seen[key] then
      util.raise("TypeError", "%s() got multiple values for argument '%s'",
        s.fname, key)
    elseif not s.known[key] then
      util.raise("TypeError", "%s() got an unexpected keyword argument '%s'",
        s.fname, key)
    end
    seen[key], out[key] = true, kw[key]
  end
  if at < pos.n then refuse_many(s, pos.n) end
  refuse_missing(s, seen)
  for key, v in pairs(out) do
    if v == dt.None then out[key] = nil end
  end
  return out
end

-- The text of a signature is read when something of it is first asked for: the
-- library has hundreds, a program uses few.
local function read(s)
  local text = getmetatable(s).text
  setmetatable(s, nil)
  s.known, s.least = {}, 0
  read_parameters(text, s)
  for _, p in ipairs(s) do
    s.known[p.name] = true
    if not p.only and not p.optional then s.least = s.least + 1 end
  end
end
local function read_index(s, key)
  read(s)
  return s[key]
end
local function read_length(s)
  read(s)
  return #s
end

-- new(fname, text, own): a signature; `own` counts what is bound before the
-- first name (self), for messages.
function M.new(fname, text, own)
  return setmetatable({fname = fname, own = own or 0},
    {text = text, __index = read_index, __len = read_length})
end

-- def(fname, text, body): a function of one table of arguments.  The text is
-- read at the first call: a module has many functions, a script uses few.
function M.def(fname, text, body)
  local s
  return function (...)
    s = s or M.new(fname, text)
    return body(M.bind(s, ...))
  end
end

-- arranged(fname, text, f, check): `f`, called by the signature: keywords that
-- go on where the places end are given by place.  A misfit is reported as
-- by bind, or by check(arguments by name, the names there are), when given.
function M.arranged(fname, text, f, check)
  local s
  return function (...)
    s = s or M.new(fname, text)
    local a = M.bind(s, ...)
    if check then check(a, s.known) end
    local pos, kw = split(s, ...)
    if next(kw) == nil then return f(...) end
    local n = pos.n
    while s[n + 1] and not s[n + 1].only and kw[s[n + 1].name] ~= nil do
      n = n + 1
      pos[n], kw[s[n].name] = kw[s[n].name], nil
    end
    if next(kw) ~= nil then
      n = n + 1
      pos[n] = kw
    end
    return f(table.unpack(pos, 1, n))
  end
end

-- A number, or another value, as Python's repr has it.
function M.text(v)
  if v == nil or v == dt.None then return "None" end
  if v == true then return "True" end
  if v == false then return "False" end
  if type(v) == "string" then return "'" .. v .. "'" end
  if math.type(v) == "float" then
    if v ~= v then return "nan" end
    if v == math.huge or v == -math.huge then return v > 0 and "inf" or "-inf" end
    local a = math.abs(v)
    if a ~= 0 and (a < 1e-4 or a >= 1e16) then
      for n = 0, 16 do
        local t = ("%." .. n .. "e"):format(v)
        if tonumber(t) == v then return t end
      end
    end
    for n = 1, 17 do
      local t = ("%." .. n .. "g"):format(v)
      if tonumber(t) == v then
        if t:find("e", 1, true) then t = ("%.0f"):format(v) end
        return t:find(".", 1, true) and t or t .. ".0"
      end
    end
  end
  if type(v) == "table" and getmetatable(v) == nil then
    local parts = {}
    for i, item in ipairs(v) do parts[i] = M.text(item) end
    return "(" .. table.concat(parts, ", ") .. (#parts == 1 and ",)" or ")")
  end
  return tostring(v)
end

return M

-- SPDX-License-Identifier: MIT
-- python/args.lua: Python's rules for the arguments of a call, with
-- Python's texts where they are broken, and functions and classes made after
-- a signature.
--
-- A signature is a list of names: "a" must be given, "a?" may be, after "*"
-- only by keyword; "*name" takes what is left over, "**name" the keywords.

local util = require "dt.util"
local dt = require "dt"
local V = require "python.values"

local M = {}

local function quoted_list(names)
  local q = {}
  for i, name in ipairs(names) do q[i] = "'" .. name .. "'" end
  if #q <= 2 then return table.concat(q, " and ") end
  local last = table.remove(q)
  return table.concat(q, ", ") .. ", and " .. last
end

local function plural(n) return n == 1 and "" or "s" end

-- The parameters of a signature as a list of {name, optional, only}.
local function parameters(signature)
  local out, only = {}, false
  for _, word in ipairs(signature) do
    local stars, name = word:match("^(%**)([%w_]*)")
    if stars == "*" then
      out.rest, only = name ~= "" and name or nil, true
    elseif stars == "**" then
      out.keywords = name
    else
      out[#out + 1] = {name = name, optional = word:sub(-1) == "?",
        only = only}
    end
  end
  return out
end

-- "f() takes 2 positional arguments but 3 were given"
local function too_many(fname, params, given, self, named)
  local least, most = self, self
  for _, p in ipairs(params) do
    if not p.only then
      most = most + 1
      if not p.optional then least = least + 1 end
    end
  end
  given = given + self
  local from = least < most and ("from %d to %d"):format(least, most)
    or tostring(most)
  local count = tostring(given)
  if named > 0 then
    count = ("%d positional argument%s (and %d keyword-only argument%s)")
      :format(given, plural(given), named, plural(named))
  end
  util.raise("TypeError", "%s() takes %s positional argument%s but %s %s given",
    fname, from, least < most and "s" or plural(most), count, given == 1
    and named == 0 and "was" or "were")
end

local function missing(fname, params, out)
  for _, only in ipairs {false, true} do
    local names = {}
    for _, p in ipairs(params) do
      if p.only == only and not p.optional and out[p.name] == nil then
        names[#names + 1] = p.name
      end
    end
    if #names > 0 then
      util.raise("TypeError", "%s() missing %d required %s argument%s: %s",
        fname, #names, only and "keyword-only" or "positional",
        plural(#names), quoted_list(names))
    end
  end
end

-- Bind args (a list) and kw (a dict or nil) to the names of the signature;
-- absent optional ones are nil.  `self` counts arguments bound before.
local function bind(fname, params, args, kw, self)
  local out, positional = {}, 0
  for _, p in ipairs(params) do
    if not p.only then
      positional = positional + 1
      if positional <= args.n then out[p.name] = args[positional] end
    end
  end
  local known, more = {}, params.keywords and V.dict()
  for _, p in ipairs(params) do known[p.name] = true end
  if kw then
    for key, v in V.each(kw) do
      if known[key] and out[key] ~= nil then
        util.raise("TypeError", "%s() got multiple values for argument '%s'",
          fname, key)
      elseif known[key] then
        out[key] = v
      elseif more then
        V.dict_set(more, key, v)
      else
        util.raise("TypeError", "%s() got an unexpected keyword argument '%s'",
          fname, key)
      end
    end
  end
  if params.rest then
    out[params.rest] = V.tuple({table.unpack(args, positional + 1, args.n)},
      math.max(args.n - positional, 0))
  elseif args.n > positional then
    local named = 0
    for _, p in ipairs(params) do
      if p.only and out[p.name] ~= nil then named = named + 1 end
    end
    too_many(fname, params, args.n, self, named)
  end
  if more then out[params.keywords] = more end
  missing(fname, params, out)
  return out
end

-- f(fname, signature, body [, self]): a function called as Python calls it;
-- body gets a table by name.  The signature is read at the first call: there are
-- many functions, of which a program calls few.
function M.def(fname, signature, body, self)
  local params
  return V.builtin(function (args, kw)
    params = params or parameters(signature)
    return body(bind(fname, params, args, kw, self or 0))
  end, fname:match("[^.]+$"))
end

-- A method: body(self, arguments by name).
function M.method(fname, signature, body)
  local params
  return function (self, args, kw)
    params = params or parameters(signature)
    return body(self, bind(fname, params, args, kw, 1))
  end
end

-- A class: `test(v)` for isinstance, `new` (a builtin) for calls; what else is
-- in `t` are its attributes.
function M.class(name, t)
  t.__name__ = name
  t.__qualname__ = name
  t.call = t.new and t.new.call or function ()
    util.raise("TypeError", "cannot create '%s' instances", name)
  end
  return setmetatable(t, V.builtin_mt)
end

-- Is the value given at all: neither absent nor None?
function M.given(v) return v ~= nil and v ~= dt.None end

return M

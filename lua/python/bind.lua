-- SPDX-License-Identifier: MIT
-- python/bind.lua: a call's arguments become a function's names, with
-- Python's words for what does not fit.  A parameter is {name, star, value
-- (its default), only = "positional" | "keyword"}; star 1 takes the rest of
-- the arguments, star 2 the rest of the keywords.

local util = require "dt.util"
local V = require "python.values"

-- 'a', 'b', and 'c'
local function listed(names)
  for i, name in ipairs(names) do names[i] = "'" .. name .. "'" end
  if #names < 3 then return table.concat(names, " and ") end
  return table.concat(names, ", ", 1, #names - 1) .. ", and "
    .. names[#names]
end

local function plural(n) return n == 1 and "" or "s" end

local function refuse_missing(f, kind, names)
  util.raise("TypeError", "%s() missing %d required %s argument%s: %s",
    f.name, #names, kind, plural(#names), listed(names))
end

local function refuse_many(f, args, kw)
  local most, least, given = 0, 0, 0
  for _, p in ipairs(f.params) do
    if not p.star and p.only ~= "keyword" then
      most = most + 1
      if p.value == nil then least = least + 1 end
    elseif p.only == "keyword" and kw and V.dict_get(kw, p.name) ~= nil then
      given = given + 1
    end
  end
  local takes = least == most and tostring(most)
    or ("from %d to %d"):format(least, most)
  local also = given > 0 and (" positional argument%s (and %d keyword-only "
    .. "argument%s)"):format(plural(args.n), given, plural(given)) or ""
  util.raise("TypeError", "%s() takes %s positional argument%s but %d%s %s "
    .. "given", f.name, takes, least ~= most and "s" or plural(most), args.n,
    also, args.n == 1 and given == 0 and "was" or "were")
end

-- Keywords that no parameter took.
local function refuse_keyword(f, kw, used)
  local only = {}
  for _, p in ipairs(f.params) do
    if p.only == "positional" and V.dict_get(kw, p.name) ~= nil then
      only[#only + 1] = p.name
    end
  end
  if #only > 0 then
    util.raise("TypeError", "%s() got some positional-only arguments passed "
      .. "as keyword arguments: '%s'", f.name, table.concat(only, ", "))
  end
  for k in V.each(kw) do
    if used[k] == "positional" then
      util.raise("TypeError", "%s() got multiple values for argument '%s'",
        f.name, k)
    end
    if not used[k] then
      util.raise("TypeError", "%s() got an unexpected keyword argument '%s'",
        f.name, V.str(k))
    end
  end
end

local function rest_of(args, at)
  return V.tuple({table.unpack(args, at, args.n)}, math.max(0,
    args.n - at + 1))
end

-- What no parameter took, as the dict of **kwargs; a name that a position
-- gave already is refused.
local function keywords_left(f, kw, used)
  local rest = V.dict()
  if not kw then return rest end
  for k, v in V.each(kw) do
    if used[k] == "positional" then refuse_keyword(f, kw, used) end
    if not used[k] then V.dict_set(rest, k, v) end
  end
  return rest
end

-- bind(f, args, kw, vars): the parameters of f get their values in `vars`.
local function bind(f, args, kw, vars)
  local at, used, open, all = 1, {}, false, nil
  local missing, missing_keyword = {}, {}
  for _, p in ipairs(f.params) do
    local name, v = p.name, nil
    if p.star == 1 then
      open = open or name ~= nil
      if name then vars[name] = rest_of(args, at) end
    elseif p.star == 2 then
      all = name
    else
      if p.only ~= "keyword" and at <= args.n then
        v, used[name] = args[at], p.only or "positional"
        if p.only then used[name] = nil end
        at = at + 1
      else
        if kw and p.only ~= "positional" then v = V.dict_get(kw, name) end
        if v ~= nil then used[name] = "keyword" else v = p.value end
      end
      if v == nil then
        local list = p.only == "keyword" and missing_keyword or missing
        list[#list + 1] = name
      end
      vars[name] = v
    end
  end
  if all then vars[all] = keywords_left(f, kw, used)
  elseif kw then
    for k in V.each(kw) do
      if used[k] ~= "keyword" then refuse_keyword(f, kw, used) end
    end
  end
  if at <= args.n and not open then refuse_many(f, args, kw) end
  if #missing > 0 then refuse_missing(f, "positional", missing) end
  if #missing_keyword > 0 then
    refuse_missing(f, "keyword-only", missing_keyword)
  end
end
V.set_bind(bind)

return bind

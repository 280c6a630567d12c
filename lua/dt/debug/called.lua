-- SPDX-License-Identifier: MIT
-- dt/debug/called.lua: the call that raised where no operator was recorded, as
-- a step of a program: {kind = "raise", how, name, args, ins, ...}.
--
-- Arguments are what they were when it raised: numbers, strings, lists,
-- placements, meshes, tensors of the record.  What has no such form (a module,
-- a function, a tensor the record does not know) makes no step.

local dt = require "dt"
local util = require "dt.util"
local functional = require "dt.functional"
local distributed = require "dt.distributed"

local M = {}

-- Functions by their place: {Lua, PyTorch}.
local places = {
  {dt.DTensor, "dt.DTensor.%s", "DTensor.%s"},
  {dt, "dt.%s", "torch.%s"},
  {functional, "F.%s", "torch.nn.functional.%s"},
  {distributed, "dt.distributed.%s", "dist.%s"},
}
-- Those of dt that are not torch's own; they take placements.
local own = {distribute_tensor = true, init_device_mesh = true,
  DeviceMesh = true}
local placed = {distribute_tensor = true, from_local = true,
  redistribute = true}

-- Metamethods: {Lua, PyTorch}; "index" and "newindex" are texts of their own.
local metas = {add = {"+", "+"}, sub = {"-", "-"}, mul = {"*", "*"},
  div = {"/", "/"}, mod = {"%", "%"}, pow = {"^", "**"}, idiv = {"//", "//"},
  index = {}, newindex = {}}

local function key_of(space, f)
  for name, g in pairs(space) do
    if g == f and type(name) == "string" and name:match("^[%a_][%w_]*$") then
      return name
    end
  end
  return nil
end

-- how, name, Lua's and PyTorch's text of the function.
local function spelling(c)
  if c.meta then return metas[c.name] and "meta", c.name end
  local name = key_of(dt.Tensor, c.call)
  if name and c.args[1] and type(c.args[1]) == "table" and c.args[1].id then
    return "method", name
  end
  if util.is_mesh(c.args[1]) and c.method then return "method", c.name end
  for _, p in ipairs(places) do
    name = key_of(p[1], c.call)
    if name and not name:match("^_") then
      return "function", name, p[2]:format(name),
        p[1] == dt and own[name] and name or p[3]:format(name)
    end
  end
  return nil
end

-- "S(0) R" -> {"S(0)", "R"}; nil when it is something else.
local function placements(text)
  local list, at = {}, 1
  while true do
    at = text:match("^[%s,]*()", at)
    if at > #text then return #list > 0 and list or nil end
    local p, after = text:match("^(_?%u%a*%b())()", at)
    if not p then p, after = text:match("^(R)()", at) end
    if not p then return nil end
    list[#list + 1], at = p, after
  end
end

M.placements = placements

local convert
local slice_mt = getmetatable(dt.slice(1))

local function list_of(a, P, ins, takes)
  local out, pl = {}, {}
  for i, x in ipairs(a) do
    local v = convert(x, P, ins, takes)
    if v == nil then return nil end
    out[i] = v
    pl[i] = type(v) == "table" and v.pl and #v.pl == 1 and v.pl[1] or nil
  end
  if #out > 0 and #pl == #out then return {pl = pl} end
  return {list = out}
end

local function keys_of(a, P, ins, takes)
  local kw = {}
  for k, x in pairs(a) do
    if type(k) ~= "string" then return nil end
    local v = convert(x, P, ins, takes)
    if v == nil then return nil end
    kw[#kw + 1] = {k, v}
  end
  table.sort(kw, function (x, y) return x[1] < y[1] end)
  return {kw = kw}
end

-- A value as {num =, str =, bool =, none =, id =, mesh =, pl =, list =, kw =,
-- dtype =, slice =, ellipsis =}; nil when it has no such form.
function convert(a, P, ins, takes)
  local t = type(a)
  if a == nil or a == dt.None then return {none = true} end
  if t == "number" then return {num = a} end
  if t == "boolean" then return {bool = a} end
  if t == "string" then
    local pl = takes and placements(a)
    return pl and {pl = pl} or {str = a}
  end
  if util.is_mesh(a) then return {mesh = dt.debug.mesh_facts(a)} end
  if util.is_placement(a) then return {pl = {tostring(a)}} end
  if t ~= "table" then
    local name = tostring(a):match("^torch%.%w+$")
    return name and {dtype = name} or nil
  end
  if a == dt.ellipsis then return {ellipsis = true} end
  if getmetatable(a) == slice_mt then
    return {slice = {a.start or "", a.stop or "", a.step}}
  end
  if a.id and next(a, next(a)) == nil then
    if not P.values[a.id] then return nil end
    ins[#ins + 1] = a.id
    return a
  end
  if getmetatable(a) ~= nil then return nil end
  if #a == 0 and next(a) ~= nil then return keys_of(a, P, ins, takes) end
  return list_of(a, P, ins, takes)
end

-- Is it the last thing that happened, and no slip of the person's own?
local function counts(c, entries)
  if not c or c.code == "DT0007" or c.code:match("^DT07") then return false end
  local last = entries[#entries]
  return not last or last.seq <= c.seq
end

-- step(P, entries) -> the step that raises, or nil.  P.values is filled.
function M.step(P, entries)
  local c = dt.debug.raised()
  if not counts(c, entries) or not c.call then return nil end
  local how, name, lua, torch = spelling(c)
  if not how then return nil end
  local s = {kind = "raise", how = how, name = name, lua = lua, torch = torch,
    ins = {}, outs = {}, args = {}, seq = c.seq, file = "", line = 0,
    op = name or "mesh", error = c.code, message = c.message,
    reason = c.reason, class = c.class,
    where = c.where ~= "" and c.where or nil}
  for i = 1, c.n do
    local v = convert(c.args[i], P, s.ins, placed[name])
    if v == nil then return nil end
    s.args[i] = v
    if v.mesh then s.mesh = s.mesh or v.mesh end
  end
  return s
end

local function same_mesh(a, b)
  local function text(m)
    return m and table.concat(m.shape, ",") .. " "
      .. table.concat(m.names, ",") .. " " .. table.concat(m.ranks or {}, ",")
      .. "<" .. text(m.root) or ""
  end
  return text(a) == text(b)
end

local function mesh_name(m, meshes)
  for known, name in pairs(meshes) do
    if same_mesh(known, m) then return name end
  end
  return "mesh"
end

local function slice_text(D, r)
  if D.name ~= "lua" then
    return r[1] .. ":" .. r[2] .. (r[3] and ":" .. r[3] or "")
  end
  local list = {}
  for i = 1, 3 do
    list[i] = (r[i] or "") == "" and "dt.None" or tostring(r[i])
  end
  return "dt.slice(" .. table.concat(list, ", ") .. ")"
end

local function plain(D, v, of, meshes)
  if v.slice then return slice_text(D, v.slice) end
  if v.ellipsis then return D.name == "lua" and "dt.ellipsis" or "..." end
  if v.none then return D.none end
  if v.num then return D.number(v.num) end
  if v.bool ~= nil then return D.bool(v.bool) end
  if v.str then return D.string(v.str) end
  if v.dtype then return D.dtype(v.dtype) end
  if v.id then return of(v.id) end
  if v.mesh then return mesh_name(v.mesh, meshes) end
  if v.pl then return D.placements(v.pl) end
  local list = {}
  for i, x in ipairs(v.list) do list[i] = plain(D, x, of, meshes) end
  if D.name == "lua" then return "{" .. table.concat(list, ", ") .. "}" end
  return "(" .. table.concat(list, ", ") .. (#list == 1 and ",)" or ")")
end

-- What stands between brackets; a list of one is no tuple.
local function subscript(D, v, of, meshes)
  local text = plain(D, v, of, meshes)
  return D.name == "lua" and text or (text:gsub("^%((.-),?%)$", "%1"))
end

local function meta_text(D, s, of, meshes)
  local lua, a = D.name == "lua", plain(D, s.args[1], of, meshes)
  local sign = metas[s.name][lua and 1 or 2]
  if sign then return a .. " " .. sign .. " " .. plain(D, s.args[2], of, meshes)
  end
  local item = ("%s[%s]"):format(a, subscript(D, s.args[2], of, meshes))
  if s.name == "index" then return item end
  return item .. " = " .. plain(D, s.args[3], of, meshes)
end

-- Is its text no statement but a value?
function M.is_value(s)
  return s.how == "meta" and s.name ~= "newindex"
end

-- text(D, step, of, meshes): the call in a dialect of emit.lua.
function M.text(D, s, of, meshes)
  local args, kw, first = {}, {}, 1
  local f = s[D.name == "lua" and "lua" or "torch"]
  if s.how == "meta" then return meta_text(D, s, of, meshes) end
  if s.how == "method" then
    f = plain(D, s.args[1], of, meshes) .. (D.name == "lua" and ":" or ".")
      .. s.name
    first = 2
  end
  for i = first, #s.args do
    if s.args[i].kw then
      for _, p in ipairs(s.args[i].kw) do
        kw[#kw + 1] = {p[1], plain(D, p[2], of, meshes)}
      end
    else
      args[#args + 1] = plain(D, s.args[i], of, meshes)
    end
  end
  return D.call(f, args, kw)
end

return M

-- SPDX-License-Identifier: MIT
-- dt/debug/dialect.lua: how an emitted program is written: in Lua for dtrepl,
-- in Python for PyTorch.
--
-- A dialect has the same fields in both: number, bool, string, dtype, tag,
-- call, op, placements, mesh, choice: values to text; and the texts none, open,
-- close, comment, dot, pick.

local page = require "dt.debug.page"
local inspect = require "dt.tensor.inspect"

local M = {}

local function number(x, inf, nan)
  if math.type(x) == "integer" then return tostring(x) end
  if x ~= x then return nan end
  if x == math.huge then return inf end
  if x == -math.huge then return "-" .. inf end
  local s = ("%.17g"):format(x)
  for digits = 1, 16 do
    local short = ("%." .. digits .. "g"):format(x)
    if tonumber(short) == x then s = short break end
  end
  return s:find("[.e]") and s or s .. ".0"
end

local keywords = {}
for word in ("and break do else elseif end false for function goto if in local "
  .. "nil not or repeat return then true until while"):gmatch("%a+") do
  keywords[word] = true
end

local Lua = {name = "lua", comment = "-- ", none = "dt.None", open = "{", close = "}",
  dot = ":",
  implicit = "dt.implicit_replication(function() return %s end)",
  no_grad = "dt.no_grad(function() return %s end)",
  loss_parallel = "dt.loss_parallel(function() return %s end)",
  explicit = "(function() dt._set_explicit_redist(2) return %s end)()"}
function Lua.number(x) return number(x, "math.huge", "(0/0)") end
function Lua.bool(b) return tostring(b) end
function Lua.string(s) return ("%q"):format(s) end
function Lua.dtype(name) return (name:gsub("^torch%.", "dt.")) end
function Lua.tag(t)
  if t.dtype then return Lua.dtype(t.dtype) end
  if t.device then return ("%q"):format(t.device) end
  return ("%q"):format((t.memory_format or t.layout):gsub("^torch%.", ""))
end
function Lua.call(f, args, kwargs)
  local list = {table.unpack(args)}
  local kw = {}
  for _, p in ipairs(kwargs) do
    kw[#kw + 1] = (keywords[p[1]] and ("[%q]"):format(p[1]) or p[1]) .. " = "
      .. p[2]
  end
  if #kw > 0 then list[#list + 1] = "{" .. table.concat(kw, ", ") .. "}" end
  return f .. "(" .. table.concat(list, ", ") .. ")"
end
function Lua.op(name) return "dt.ops." .. name end
function Lua.placement(p) return ("%q"):format(p) end
function Lua.placements(pl)
  return ("%q"):format(table.concat(pl, " "))
end

-- Names of a mesh's dimensions with commas; are its ranks 0, 1, 2, …?
local function dims_of(D, m)
  local list, straight = {}, true
  for i, n in ipairs(m.names) do list[i] = D.string(n) end
  for i, r in ipairs(m.ranks or {}) do straight = straight and r == i - 1 end
  return table.concat(list, ", "), straight
end

function Lua.mesh(m, name)
  local names, straight = dims_of(Lua, m)
  if m.root then
    return (#m.names == 1 and "%s[%s]" or "%s[{%s}]"):format(name[m.root],
      names)
  end
  if #m.names > 0 then names = (", {mesh_dim_names = {%s}}"):format(names) end
  if straight then
    return ("dt.init_device_mesh(%q, {%s}%s)"):format(m.device,
      table.concat(m.shape, ", "), names)
  end
  return ("dt.DeviceMesh(%q, %s%s)"):format(m.device,
    inspect.text(page.nest(m.ranks, m.shape))
      :gsub("%s+", " "), names)
end

local Py = {name = "python", comment = "# ", none = "None", open = "[", close = "]",
  dot = ".",
  implicit = "implicitly(lambda: %s)",
  no_grad = "torch.no_grad()(lambda: %s)()",
  loss_parallel = "loss_parallel()(lambda: %s)()",
  explicit = "explicitly(lambda: %s)"}
function Py.number(x) return number(x, 'float("inf")', 'float("nan")') end
function Py.bool(b) return b and "True" or "False" end
local escapes = {["\\"] = "\\\\", ['"'] = '\\"', ["\n"] = "\\n", ["\r"] = "\\r",
  ["\t"] = "\\t"}
function Py.string(s)
  return '"' .. s:gsub('[%c\\"\127]', function (c)
    return escapes[c] or ("\\x%02x"):format(c:byte())
  end) .. '"'
end
function Py.dtype(name) return name end
function Py.tag(t)
  if t.device then return ("torch.device(%q)"):format(t.device) end
  return t.dtype or t.memory_format or t.layout
end
function Py.call(f, args, kwargs)
  local list = {table.unpack(args)}
  for _, p in ipairs(kwargs) do list[#list + 1] = p[1] .. "=" .. p[2] end
  return f .. "(" .. table.concat(list, ", ") .. ")"
end
function Py.op(name) return "torch.ops." .. name end
function Py.placement(p)
  local d, sf = p:match("^_S%((%-?%d+), (%d+)%)$")
  if d then return ("_StridedShard(%s, split_factor=%s)"):format(d, sf) end
  d = p:match("^S%((%-?%d+)%)$")
  if d then return ("Shard(%s)"):format(d) end
  d = p:match("^P%((%a+)%)$")
  if d then return ('Partial("%s")'):format(d) end
  return "Replicate()"
end
function Py.placements(pl)
  local list = {}
  for i, p in ipairs(pl) do list[i] = Py.placement(p) end
  return "[" .. table.concat(list, ", ") .. "]"
end
function Py.mesh(m, name)
  local names, straight = dims_of(Py, m)
  if m.root then return ("%s[%s]"):format(name[m.root], names) end
  if #m.names > 0 then names = (", mesh_dim_names=(%s,)"):format(names) end
  local device = '"cpu"'
  if straight then
    return ("init_device_mesh(%s, (%s,)%s)"):format(device,
      table.concat(m.shape, ", "), names)
  end
  return ("DeviceMesh(%s, torch.tensor([%s]).reshape(%s)%s)"):format(device,
    table.concat(m.ranks, ", "), table.concat(m.shape, ", "), names)
end

for _, D in ipairs {Lua, Py} do
  function D.scalar(x) return type(x) == "boolean" and D.bool(x) or D.number(x) end
end

-- A size: Python wants a tuple.
function Lua.size(list) return "{" .. table.concat(list, ", ") .. "}" end
function Py.size(list)
  return "(" .. table.concat(list, ", ") .. (#list == 1 and ",)" or ")")
end

-- One of several texts, by rank: {[rank] = text} -> text.
local function choice(form, open, close)
  return function (texts)
    local alt = {}
    for r, text in ipairs(texts) do alt[r] = form:format(r - 1, text) end
    return open .. table.concat(alt, ", ") .. close
  end
end
Lua.choice = choice("[%d] = function() return %s end", "({", "})[dt.rank()]()")
local py_choice = choice("%d: lambda: %s", "{", "}[dist.get_rank()]()")

-- Groups are made by all ranks together, also those one is not in: every rank
-- makes all meshes, in one order, and takes its own.
local function py_meshes(texts)
  local list, at, of = {}, {}, {}
  for r, text in ipairs(texts) do
    if not of[text] then
      list[#list + 1] = text
      of[text] = #list - 1
    end
    at[r] = of[text]
  end
  return ("(%s)[(%s)[dist.get_rank()]]"):format(table.concat(list, ", "),
    table.concat(at, ", "))
end
function Py.choice(texts)
  for _, text in ipairs(texts) do
    if text:find("^DeviceMesh%(") or text:find("^init_device_mesh%(") then
      return py_meshes(texts)
    end
  end
  return py_choice(texts)
end

-- Lines of ranks that did different things: {ranks, lines} -> list of texts.
function Lua.blocks(groups)
  local out = {}
  for i, g in ipairs(groups) do
    local test = {}
    for k, r in ipairs(g.ranks) do test[k] = "dt.rank() == " .. r end
    out[#out + 1] = (i == 1 and "if " or "elseif ")
      .. table.concat(test, " or ") .. " then"
    for _, l in ipairs(g.lines) do out[#out + 1] = "  " .. l end
  end
  out[#out + 1] = "end"
  return out
end
function Py.blocks(groups)
  local out = {}
  for _, g in ipairs(groups) do
    out[#out + 1] = ("if dist.get_rank() in (%s,):")
      :format(table.concat(g.ranks, ", "))
    for _, l in ipairs(g.lines) do out[#out + 1] = "    " .. l end
    if #g.lines == 0 then out[#out + 1] = "    pass" end
  end
  return out
end

-- The CPU's generator after so many words from a seed.
function Lua.drawn(seed, words, pair)
  if words == 0 then return ("dt.manual_seed(%d)"):format(seed) end
  return ("dt.debug.drawn(%d, %d, %d)"):format(seed, words, pair)
end
function Py.drawn(seed, words, pair)
  local text = (seed < 0 and "0x%x" or "%d"):format(seed)
  if words == 0 then return ("torch.manual_seed(%s)"):format(text) end
  return ("drawn(%s, %d%s)"):format(text, words, pair > 0 and ", " .. pair or "")
end

-- A parameter gets other memory.
function Lua.data(x, y) return ("dt._set_data(%s, %s)"):format(x, y) end
function Py.data(x, y) return ("%s.data = %s.detach()"):format(x, y) end

-- A number that the script read: a line that shows it.
function Lua.shown(_, text) return text end
function Py.shown(op, text) return ("show(%q, %s)"):format(op, text) end

-- A collective of the script's: raw (dt.debug.entries), its input, the mesh.
function Lua.raw(r, x, mesh)
  local kw = {{"dim", tostring(r.dim)}}
  if r.kind == "all_reduce" or r.kind == "reduce_scatter" then
    kw[#kw + 1] = {"op", ("%q"):format(r.reduce)}
  elseif r.kind == "broadcast" then
    kw[#kw + 1] = {"src", tostring(r.src)}
  elseif r.kind == "all_to_all" then
    kw = {{"split_dim", tostring(r.dim)}, {"concat_dim", tostring(r.concat_dim)}}
  elseif r.kind == "all_to_all_v" then
    kw = {{"input_splits", Lua.size(r.input_splits)},
      {"output_splits", Lua.size(r.output_splits)}}
  end
  return Lua.call("dt._coll", {("%q"):format(r.kind), x .. ":detach()", mesh,
    tostring(r.mesh_dim)}, kw)
end
function Py.raw(r, x, mesh)
  local args = {("%q"):format(r.kind), x, mesh, tostring(r.mesh_dim)}
  local kw = {}
  if r.kind == "all_reduce" or r.kind == "reduce_scatter" then
    kw[1] = {"op", ("%q"):format(r.reduce)}
  elseif r.kind == "broadcast" then
    kw[1] = {"src", tostring(r.src)}
  elseif r.kind == "all_to_all_v" then
    kw = {{"out_splits", Py.open .. table.concat(r.output_splits, ", ") .. "]"},
      {"in_splits", Py.open .. table.concat(r.input_splits, ", ") .. "]"}}
  end
  if r.dim ~= 0 then kw[#kw + 1] = {"dim", tostring(r.dim)} end
  if r.concat_dim ~= 0 then
    kw[#kw + 1] = {"concat_dim", tostring(r.concat_dim)}
  end
  return Py.call("collective", args, kw)
end

M.Lua, M.Py = Lua, Py
return M

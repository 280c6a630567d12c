-- SPDX-License-Identifier: MIT
-- dt/debug/evidence.lua: what the ranks say about the same recorded operators:
-- numbers they were given, which tensor was at an input, which part of
-- another tensor that is, and the bits of tensors that no operator made.
--
-- Every rank names an entry by its place in the script and how often that place
-- ran the operator, so ranks that ran other operators in between still
-- meet.  Everything is read from the record when somebody asks; nothing is done
-- while the program runs.

local dt = require "dt"

local M = {}

-- Calls other than operators whose results follow from what they say.
local FOLLOWED <const> = {all_reduce = true, broadcast = true,
  all_gather = true, reduce_scatter = true, scatter = true, all_to_all = true}

-- Collectives that are an entry of their own, with the tensor they write first.
local C10D <const> = {["c10d._allgather_base_.default"] = "all_gather",
  ["c10d._reduce_scatter_base_.default"] = "reduce_scatter",
  ["c10d.alltoall_base_.default"] = "all_to_all"}

-- The kind of a collective that writes its first input; nil for other entries.
function M.written_kind(e) return C10D[e.op] end

local function clean(text) return (text:gsub("[,;\t\n]", " ")) end

-- Names of entries, the same on all ranks.  A record that lost its oldest
-- entries is counted from its end.
local function name_entries(entries)
  local count, whole = {}, entries[1] == nil or entries[1].seq <= 1
  local first, last, step = 1, #entries, 1
  if not whole then first, last, step = #entries, 1, -1 end
  for i = first, last, step do
    local e = entries[i]
    local at = clean(("%s:%d %s"):format(e.file, e.line, e.op))
    count[at] = (count[at] or 0) + 1
    e.key = ("%s %d"):format(at, count[at])
  end
  return whole
end

-- The same bytes read in the same way.
function M.memory(v)
  return ("%d+%d %s/%s"):format(v.storage, v.offset,
    table.concat(v.local_shape, "x"), table.concat(v.stride, "x"))
end

-- Does the outcome of the entry follow from what it says?
function M.is_followed(e)
  if not e.call then return true end
  if C10D[e.op] then return true end
  if e.raw then return FOLLOWED[e.raw.kind] == true end
  return e.inputs[1] ~= nil and e.inputs[1].placements ~= nil
end

-- Where view `v` of `base` lies, when it is shorter along one dimension:
-- {dim, offset, length, of}.
local function part_of(base, v)
  if base.storage ~= v.storage or base.placements or v.placements
     or #base.local_shape ~= #v.local_shape then return nil end
  local rest, cut = v.offset - base.offset, nil
  local last = math.maxinteger
  for d, n in ipairs(v.local_shape) do
    local step, of = base.stride[d], base.local_shape[d]
    if v.stride[d] ~= step or step <= 0 or step > last or n == 0 then
      return nil
    end
    last = step
    local off = rest // step
    if off + n > of then return nil end
    rest = rest - off * step
    if n < of then
      if cut then return nil end
      cut = {d - 1, off, n, of}
    end
  end
  return rest == 0 and cut or nil
end

-- The bits of a plain tensor before an operator, and are they all one number?
local function bits(v, seq)
  return dt.debug.quietly(function ()
    local t = dt.debug.revive(v.id, seq)
    if not t then return "" end
    local hash, constant = dt.debug.digest(t)
    return hash and (constant and "c" or "d") .. hash or ""
  end)
end

-- A value of an argument as text that is the same on all ranks.
local function value(v)
  if v == dt.None then return "None" end
  if type(v) ~= "table" then return tostring(v) end
  local parts, keys = {}, {}
  for i, x in ipairs(v) do parts[i] = value(x) end
  for k in pairs(v) do if type(k) == "string" then keys[#keys + 1] = k end end
  table.sort(keys)
  for _, k in ipairs(keys) do parts[#parts + 1] = k .. "=" .. value(v[k]) end
  return "{" .. table.concat(parts, " ") .. "}"
end

-- Numbers that the operator was given, as text.
local function numbers(e)
  if e.call then return "" end
  local text = value(e.args) .. value(e.kwargs)
  local g = e.draw
  if g then text = text .. ("draw %d %d %d"):format(g.seed, g.at, g.pair) end
  return clean(text)
end

-- ---- one rank ----

-- A walk over the entries in their order: labels of tensors, parts they are.
local Walk = {}
Walk.__index = Walk

-- The label of a tensor: who made it; where that is not known, where it was met
-- first, with its bits.
function Walk:label(e, i, v)
  local at = self.by_id[v.id] or self.by_memory[M.memory(v)]
  local data
  if not at then
    at = {label = ("%s<%d"):format(e.key, i), leaf = true, version = v.version}
    data = v.placements and "" or bits(v, e.seq > 0 and e.seq or self.seq + 1)
    self.by_id[v.id], self.by_memory[M.memory(v)] = at, at
  end
  return at, data
end

function Walk:entry(e)
  local ins, outs = {}, {}
  if e.seq > 0 then self.seq = e.seq end
  for i, v in ipairs(e.inputs) do
    if v.id and not v.wrapped then
      local at, data = self:label(e, i, v)
      local cut = at.cut and table.concat(at.cut, " ") or ""
      ins[i] = ("%s,%s,%s"):format(at.label, cut, data or "")
    else
      ins[i] = v.wrapped and "," .. "," .. bits(v, e.seq) or ",,"
    end
  end
  local follows = M.is_followed(e)
  for i, v in ipairs(e.outputs) do
    if v.id and follows then
      local cut = not e.call and #e.inputs == 1 and e.inputs[1].id
        and part_of(e.inputs[1], v) or nil
      local known = self.by_id[v.id]
      if not known or known.leaf and known.version ~= v.version then
        known = {label = ("%s>%d"):format(e.key, i), cut = cut}
      end
      self.by_id[v.id], self.by_memory[M.memory(v)] = known, known
      outs[i] = cut and table.concat(cut, " ") or ""
    else
      outs[i] = ""
    end
  end
  return ("%s\t%s\t%s\t%s"):format(e.key, numbers(e), table.concat(ins, ";"),
    table.concat(outs, ";"))
end

-- ---- all ranks ----

local function cut_from(text)
  local dim, off, len, of = text:match("^(%d+) (%d+) (%d+) (%d+)$")
  return dim and {dim = math.tointeger(dim), off = math.tointeger(off),
    len = math.tointeger(len), of = math.tointeger(of)} or nil
end

local function parse(text)
  local said = {}
  local line = "([^\t]*)\t([^\t]*)\t([^\t]*)\t([^\n]*)\n"
  for key, given, ins, outs in text:gmatch(line) do
    local e = {given = given, ins = {}, outs = {}}
    for label, cut, data in (ins .. ";"):gmatch("([^,;]*),([^,;]*),([^;]*);") do
      e.ins[#e.ins + 1] = {label = label, cut = cut_from(cut), data = data}
    end
    for cut in (outs .. ";"):gmatch("([^;]*);") do
      e.outs[#e.outs + 1] = cut_from(cut) or false
    end
    said[key] = e
  end
  return said
end

-- gather(entries) -> said: said[rank + 1][key] = {given, ins = {{label, cut,
-- data}}, outs = {cut or false}}; the record goes back to the first operator?
-- Collective.
function M.gather(entries)
  local whole = name_entries(entries)
  local walk = setmetatable({by_id = {}, by_memory = {}, seq = 0}, Walk)
  local lines = {}
  for i, e in ipairs(entries) do lines[i] = walk:entry(e) .. "\n" end
  local said = {}
  for r, text in ipairs(dt.debug.from_all(table.concat(lines))) do
    said[r] = parse(text)
  end
  return said, whole
end

return M

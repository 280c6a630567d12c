-- SPDX-License-Identifier: MIT
-- dt/debug/trace.lua: dt.debug.blame: where a placement came from, back to the
-- line that set it.
--
-- From the operator that made the tensor we go to the input that decided: the
-- one whose placement on this mesh dimension is not Replicate, as the operator
-- saw it (after the dispatcher moved it).  A call that states a placement, or
-- a move of the dispatcher, ends the chain.

local dt = require "dt"
local page = require "dt.debug.page"
local program = require "dt.debug.program"
local sources = require "dt.debug.sources"

local M = {}

-- Calls that state placements.
local states = {distribute_tensor = true, ["dtensor.from_local"] = true,
  ["dtensor.redistribute"] = true, ["dtensor.redistribute_backward"] = true}

-- "S(0)R", "_S(0, 2)P(sum)" -> list of placements.
local function split(text)
  local list = {}
  local pos = 1
  while pos <= #text do
    local after = text:match("^R()", pos)
    if not after then
      after = text:match("^[_%a]+%b()()", pos) or text:match("^[_%a]+()", pos)
    end
    if not after then break end
    list[#list + 1] = text:sub(pos, after - 1)
    pos = after
  end
  return list
end
M.split = split

-- id -> the entry that made it (in-place operators make nothing); `whole`: no
-- operator is older than the record.  Another name
-- of the same memory, as nn.Parameter(t) is one, was made where that was.
local function makers(entries)
  local made, by_storage = {}, {}
  for _, e in ipairs(entries) do
    local own = {}
    for _, v in ipairs(e.inputs) do
      if v.id then
        own[v.id] = true
        made[v.id] = made[v.id] or by_storage[program.storage_key(v)]
      end
    end
    for _, v in ipairs(e.outputs) do
      if v.id and not own[v.id] and not made[v.id] then
        made[v.id] = {e = e, v = v}
        by_storage[program.storage_key(v)] = made[v.id]
      end
    end
    made.whole = made.whole or e.seq == 1       -- nothing came before
  end
  return made
end
M.makers = makers

-- What input i looked like to the operator: {placements}, moved?
local function seen(e, i)
  for _, m in ipairs(e.moves) do
    if m.slot == i then return split(m.to), true end
  end
  return e.inputs[i].placements, false
end

-- Which input decided the placement `want` on mesh dimension m?
local function decider(e, m, want)
  local best, score
  for i, v in ipairs(e.inputs) do
    if v.placements then
      local pl, moved = seen(e, i)
      local p = pl and pl[m] or "R"
      local s = (p == want and 4 or 0) + (p ~= "R" and 2 or 0)
        + (not moved and 1 or 0)
      if want == "R" then s = (p == "R" and 4 or 0) + (not moved and 1 or 0) end
      if not score or s > score then best, score = i, s end
    end
  end
  return best
end

local function follow(made, id, m, names, S)
  local chain, depth, unknown, entry = {}, 0, nil, nil
  while id and depth < 1000 do
    depth = depth + 1
    local at = made[id]
    local last = chain[#chain]
    if not at and last and made.whole then
      -- No operator made it: the library did, of local parts, in that call.
      local name = unknown.mesh and unknown.mesh.names[m]
      id, m = sources.part(S, made, unknown, entry, name, last.placement)
      last.note = ("%s by this call, of local parts: argument %d"):format(
        id and "kept" or "set", last.from)
      last.set = id == nil
      if not id then break end
      at = made[id]
    elseif not at then
      chain[#chain + 1] = {op = "?", note = "made before the record begins"}
      break
    end
    local e, v = at.e, at.v
    local want = v.placements and v.placements[m] or nil
    local row = {seq = e.seq, op = e.op, file = e.file, line = e.line,
      placement = want or "plain", name = names[id]}
    chain[#chain + 1] = row
    if want == nil then
      row.note = "made here"
      break
    end
    if states[e.op] then row.note, row.set = "set here", true break end
    if e.call then row.note, row.set = "made by this call", true break end
    local i = decider(e, m, want)
    if not i then row.note, row.set = "made here", true break end
    local before = e.inputs[i].placements[m]
    local after, moved = seen(e, i)
    row.from = i - 1
    row.from_placement = before
    if moved and after[m] ~= before then
      row.note = ("the dispatcher moved argument %d from %s to %s"):format(
        i - 1, before, after[m])
      row.set, row.moved = true, true
      break
    end
    if want ~= before then
      row.note = ("%s of argument %d gives %s"):format(before, i - 1, want)
    end
    unknown, entry = e.inputs[i], e
    id = unknown.id
  end
  return chain
end

local function text(d)
  local out = {("%s  %s"):format(d.name or "#" .. d.id, d.spec)}
  for _, c in ipairs(d.chains) do
    out[#out + 1] = ("%s: %s"):format(c.mesh_dim, c.placement)
    local rows = {}
    for _, r in ipairs(c.chain) do
      rows[#rows + 1] = {r.seq and ("#%d %s"):format(r.seq, r.op) or r.op,
        r.placement or "", page.place(r), r.name or "", r.note or ""}
    end
    out[#out + 1] = page.columns(rows, "  ")
  end
  return table.concat(out, "\n")
end

-- A gradient that the library made of its local part, a result of `at`: the
-- collective on the mesh dimension, or the parts that were there before.
local function of_local_part(made, S, names, x, at, m)
  local want, name = tostring(x.placements[m]), x.device_mesh.mesh_dim_names
  name = name and name[m]
  local function row(e, note, set)
    return {seq = e.seq > 0 and e.seq or nil, op = e.op, file = e.file,
      line = e.line, placement = want, note = note, set = set}
  end
  local by = sources.collective(S, at.v.storage, at.e,
    name or "dim " .. (m - 1))
  if by then
    return {row(at.e, "a local part of:"), row(by, "set here", true)}
  end
  local id, k = sources.part(S, made, {storage = at.v.storage, shape = x.shape},
    at.e, name, want)
  if not id then
    return {row(at.e, "set by this call, of local parts", true)}
  end
  local chain = follow(made, id, k, names, S)
  table.insert(chain, 1, row(at.e, "kept by this call, of local parts"))
  return chain
end

-- What a tensor is called: by the record, else what holds it now.
local function name_of(names, id, x)
  return names[id] or type(x) ~= "string" and dt.debug.called(x) or nil
end

local function blame_local_part(x, at, mdim, made, S, names)
  local mesh = {names = x.device_mesh.mesh_dim_names or {},
    shape = x.device_mesh.shape}
  local id = dt.debug.id(x)
  local data = {id = id, name = name_of(names, id, x), chains = {},
    spec = dt.debug.spec_text(x):match("^(.-)  mesh")}
  local only = mdim ~= nil and page.mesh_dim(mesh, mdim)
  for m, p in ipairs(x.placements) do
    if not only or only == m then
      data.chains[#data.chains + 1] = {placement = tostring(p),
        mesh_dim = page.dim_name(mesh, m),
        chain = of_local_part(made, S, names, x, at, m)}
    end
  end
  return page.new(data, text)
end

-- A plain tensor: its types by inference, with their reasons; nil where the other
-- ranks cannot be asked.
local function plain(x, mdim)
  local ok, d = pcall(dt.debug.types, x)
  if not ok or #d.types == 0 then return nil end
  local chains, known = {}, {}
  for _, t in ipairs(d.types) do
    local chain = {}
    for i, r in ipairs(t.chain) do
      chain[i] = {seq = r.seq, op = r.op or "", file = r.file, line = r.line,
        placement = r.type, note = r.words, set = i == #t.chain}
    end
    known[#known + 1] = t.mesh_dim
    if mdim == nil or mdim == t.mesh_dim or mdim == #known - 1 then
      chains[#chains + 1] = {mesh_dim = t.mesh_dim, placement = t.type,
        chain = chain}
    end
  end
  if #chains > 0 then return chains end
  return page.fail("KEY", "there is no mesh dimension %s", tostring(mdim))
end

-- dt.debug.blame(x[, mdim]): the chain of operators behind x's placement on
-- each mesh dimension (or one, by name or number): {id, name, spec, chains =
-- {{mesh_dim, placement, chain = {{seq, op, file, line, placement, name, note,
-- set}}}}}.  x is a tensor or the name of a variable.  Of a plain tensor, the
-- types that dt.debug.types infers: Collective then.
function M.blame(x, mdim)
  local id = page.id(x)
  local entries = dt.debug.entries()
  local made, S = makers(entries), sources.index(entries)
  local at = made[id]
  if not at and type(x) ~= "string" then
    local first = dt.debug.origin_id(x)
    if made[first] then id, at = first, made[first] end
  end
  if not at then
    page.fail("INDEX", "the record does not know how this tensor was made: "
      .. "it is older than the record, or no operator has used it yet")
  end
  local v = at.v
  local names = page.names()
  if not v.placements and type(x) ~= "string" and x.is_dtensor then
    return blame_local_part(x, at, mdim, made, S, names)
  end
  local data = {id = id, name = name_of(names, id, x), spec = v.spec,
    chains = {}}
  if not v.placements then
    data.chains = plain(x, mdim) or {{mesh_dim = "plain",
      placement = "no call distributed it",
      chain = follow(made, id, 1, names, S)}}
    return page.new(data, text)
  end
  local only = mdim ~= nil and page.mesh_dim(v.mesh, mdim)
  for m, p in ipairs(v.placements) do
    if not only or only == m then
      data.chains[#data.chains + 1] = {mesh_dim = page.dim_name(v.mesh, m),
        placement = p, chain = follow(made, id, m, names, S)}
    end
  end
  return page.new(data, text)
end

return M

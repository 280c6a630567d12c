-- SPDX-License-Identifier: MIT
-- dt/debug/byhand.lua: hand-written programs against one device: where types
-- (infer.lua) say of what whole the ranks' plain tensors are parts, the wholes
-- are put together, the operator runs on them once, and the results are compared.
--
-- Left out, each with the reason: what has a meaning on its own rank only, parts
-- of other sizes, backward (its scale is the loss's), views, random numbers.

local dt = require "dt"
local infer = require "dt.debug.infer"
local typed = require "dt.debug.typed"

local M = {}

-- Sizes of all axes, outermost first, and the axes; nil where they are no mesh of
-- all ranks.
local function sizes_of(state)
  local axes = {table.unpack(state.axes)}
  table.sort(axes, function (a, b)
    return a.layout[1][2] > b.layout[1][2]
  end)
  local n, sizes = 1, {}
  for i, axis in ipairs(axes) do
    if #axis.layout ~= 1 then return nil end
    n, sizes[i] = n * axis.size, axis.size
  end
  local inner = n
  for i, axis in ipairs(axes) do
    inner = inner // sizes[i]
    if axis.layout[1][2] ~= inner then return nil end
  end
  if n ~= dt.world_size() then return nil end
  return sizes, axes
end

-- The mesh of all axes, outermost first, and the axes; nil where ranks know other
-- axes (only some are in a group) or none.  Collective.
local function mesh_of(state)
  local sizes, axes = sizes_of(state)
  local text = sizes and table.concat(sizes, "x") or ""
  for _, other in ipairs(dt.debug.from_all(text)) do
    if other ~= text then return nil end
  end
  return sizes and dt.init_device_mesh("cpu", sizes), axes
end

-- Why tensors of these types have no one-device meaning, or nil.
local function refusal(on, axes)
  for _, axis in ipairs(axes) do
    local t = on[axis]
    if t.letter == "V" then
      return "its tensors have no one-device meaning (V)"
    end
    if t.letter == "?" then return "nothing is known of its tensors" end
  end
end

-- Is the type that of a gradient which no rank has reduced yet, or made of one?
local function is_own_gradient(t)
  while t do
    if t.letter == "P" and t.why:find("gradient of R", 1, true) then return true end
    t = t.from
  end
end

-- Are more than single numbers sent after entry `e` before the next backward?
local function sends_after(state, e)
  for seq = e.seq + 1, state.last do
    local other = state.at[seq]
    if other and other.backward then return false end
    for _, v in ipairs(other and other.call and other.inputs or {}) do
      local numel = 1
      for _, n in ipairs(v.local_shape or {}) do numel = numel * n end
      if numel > 1 then return true end
    end
  end
  return false
end

-- Gradients that each rank keeps for its own step (local SGD, DiLoCo) are addends of
-- nothing: what a rank does with them has no one-device meaning.
local function is_local_step(state, e, axes)
  for _, on in ipairs(e.types) do
    for _, axis in ipairs(on and axes or {}) do
      if is_own_gradient(on[axis]) then return not sends_after(state, e) end
    end
  end
end

-- Why the entry is left out, or nil; the types of its tensors.
local function left_out(state, e, axes)
  if e.backward then return "backward: its scale is the loss's" end
  if e.op:find("empty", 1, true) then return "values are not defined" end
  local varies
  for _, list in ipairs {e.types, e.results or {}} do
    for _, on in ipairs(list) do
      local why = on and refusal(on, axes)
      if why then return why end
      for _, axis in ipairs(axes) do
        varies = varies or on and not typed.is_equal(on[axis])
      end
    end
  end
  if not varies then return "the same on all ranks" end
  if is_local_step(state, e, axes) then
    return "its gradients are each rank's own: none is reduced before the next backward"
  end
  for _, v in ipairs(e.outputs) do
    for _, w in ipairs(e.inputs) do
      if v.id and v.storage == w.storage then return "views and writes" end
    end
    if not v.kept then return "its values were not kept" end
  end
  for _, v in ipairs(e.inputs) do
    if v.id and not v.kept and not v.wrapped then
      return "its values were not kept"
    end
  end
end

local function shapes(e)
  local out = {}
  for _, list in ipairs {e.inputs, e.outputs} do
    for _, v in ipairs(list) do
      out[#out + 1] = v.id and table.concat(v.local_shape, "x") or "-"
    end
  end
  return table.concat(out, ",")
end

-- Entries that may be compared, in the order of their names, and for each what
-- all ranks say: its shapes, or nothing.
local function agree(state, entries, axes, since)
  local mine, by_key, keys = {}, {}, {}
  state.at, state.last = {}, 0
  for _, e in ipairs(entries) do
    state.at[e.seq], state.last = e, math.max(state.last, e.seq)
  end
  for _, e in ipairs(entries) do
    if not e.call and not e.error and e.types and e.seq > since then
      local plain = true
      for _, v in ipairs(e.inputs) do plain = plain and not v.placements end
      local why = plain and not e.random and left_out(state, e, axes)
      if plain and not e.random then
        by_key[e.key], keys[#keys + 1] = {e = e, why = why}, e.key
        mine[#mine + 1] = e.key .. "\t" .. (why and "" or shapes(e)) .. "\n"
      end
    end
  end
  local said = {}
  for r, text in ipairs(dt.debug.from_all(table.concat(mine))) do
    said[r] = {}
    for key, s in text:gmatch("([^\t\n]*)\t([^\n]*)\n") do said[r][key] = s end
  end
  return keys, by_key, said
end

local function sizes(text, i)
  local k = 0
  for s in (text .. ","):gmatch("([^,]*),") do
    k = k + 1
    if k == i then
      local out = {}
      for n in s:gmatch("%d+") do out[#out + 1] = math.tointeger(n) end
      return out
    end
  end
end

-- Has every rank equally many elements in each dimension?
local function is_even(said, key)
  for _, s in ipairs(said) do
    if s[key] ~= said[1][key] then return false end
  end
  return said[1][key] ~= nil and said[1][key] ~= ""
end

-- The tensor before operator #seq as a part of what its types say.
local function distributed(mesh, axes, v, seq, on, shape)
  local t = dt.debug.revive(v.id, seq)
  local pls, whole = {}, {table.unpack(shape)}
  for i, axis in ipairs(axes) do
    local ty = on[axis]
    pls[i] = typed.placement_of(ty)
    if ty.letter == "S" then
      whole[ty.dim + 1] = whole[ty.dim + 1] * axis.size
    end
  end
  local stride, n = {}, 1
  for d = #whole, 1, -1 do stride[d], n = n, n * whole[d] end
  return dt.DTensor.from_local(t, mesh, pls, {run_check = false,
    shape = whole, stride = stride})
end

local function compare(mesh, axes, e, text)
  local ins, outs, k = {}, {}, 0
  dt.debug.quietly(function ()
    for i, v in ipairs(e.inputs) do
      k = k + 1
      ins[i] = false
      if v.id and e.types[i] then
        ins[i] = distributed(mesh, axes, v, e.seq, e.types[i], sizes(text, k))
      elseif v.id then
        ins[i] = dt.debug.revive(v.id, e.seq)
      end
    end
    for i, v in ipairs(e.outputs) do
      k = k + 1
      outs[i] = v.id and distributed(mesh, axes, v, e.seq + 1, e.results[i],
        sizes(text, k)) or false
    end
  end)
  dt.debug.verify_typed(e.seq, ins, outs)
end

-- verify([since]): compare the recorded operators on plain tensors, those after
-- operator #since; the verdicts go to shadow mode's.  Collective over the world.
function M.verify(since)
  local state, mesh, axes
  local entries = dt.debug.entries()
  dt.debug.quietly(function ()
    state = infer.infer(entries, true)
    mesh, axes = mesh_of(state)
  end)
  if not mesh then return end
  local keys, by_key, said = agree(state, entries, axes, since or 0)
  for _, key in ipairs(keys) do
    local one = by_key[key]
    local why = one.why or not is_even(said, key)
      and "its parts are of other sizes, or not on all ranks"
    if why then
      dt.debug.verify_reason(why)
    else
      compare(mesh, axes, one.e, said[1][key])
    end
  end
end

-- at_end(fine): verify() where the script ended well on all ranks.  Collective.
function M.at_end(fine)
  for _, text in ipairs(dt.debug.from_all(fine and "fine" or "")) do
    if text ~= "fine" then return end
  end
  if not dt.debug.no_data() and dt.world_size() > 1 then M.verify() end
end

return M

-- SPDX-License-Identifier: MIT
-- dt/debug/flow.lua: would backward() of the recorded operators do again what
-- was recorded?
--
-- Not where code of its own ran between them: fully_shard, DDP, hooks that
-- communicate, a custom Function, a recomputed part, a gradient that was given.
-- What shows it is in the record itself.

local M = {}

local READS = {["aten._local_scalar_dense.default"] = true,
  ["aten.equal.default"] = true}

local OWN = {["dtensor.from_local_backward"] = true,
  ["dtensor.to_local_backward"] = true, ["dtensor.from_local"] = true,
  ["dtensor.to_local"] = true, ["dtensor.redistribute"] = true,
  ["dtensor.redistribute_backward"] = true}

-- A call in backward that autograd did not make, or a line of code of its own.
local function foreign(e, root)
  if e.call then return not OWN[e.op] end
  return e.file ~= root.file or e.line ~= root.line
end

local function is_float(v)
  return v.dtype and (v.dtype:match("float") or v.dtype:match("complex"))
end

local function differentiable(e)
  return not e.call and not e.op:match("_like%.") and not READS[e.op]
    and e.op ~= "aten.detach.default"
end

-- Remember what operators made from inputs that have a gradient.  Used without
-- one: nobody followed it there; its memory used with one under another name:
-- the result of a Function.
local function note_cut(e, cut)
  local from = false
  for _, v in ipairs(e.inputs) do from = from or v.needs_grad end
  if not from or not differentiable(e) then return end
  for _, v in ipairs(e.outputs) do
    if is_float(v) and not v.needs_grad then cut[v.storage] = v.id end
  end
end

-- An operator's result gets its gradient after it was noted.
local function is_cut(e, cut)
  for _, v in ipairs(e.inputs) do
    local id = cut[v.storage]
    if id and (id == v.id) ~= v.needs_grad and differentiable(e) then
      return true
    end
    if id and v.needs_grad then cut[v.storage] = nil end
  end
  return false
end

-- Does the script itself send more than single numbers (fully_shard, DDP)?  Then
-- parameters and gradients may be what it received.
local function moves_own(entries)
  for _, e in ipairs(entries) do
    for _, v in ipairs(e.raw and e.inputs or {}) do
      for _, n in ipairs(v.shape or {}) do
        if n ~= 1 then return true end
      end
    end
  end
  return false
end

-- explicit(entries, failed) -> must backward's operators be steps of their own?
-- `failed`: the entry that failed, or nil.
function M.explicit(entries, failed)
  local cut, root, found = {}, nil, moves_own(entries)
  if failed and failed.backward then return true end
  for _, e in ipairs(entries) do
    if e.backward then
      root = root or e
      if found or foreign(e, root) or root.op ~= "aten.ones_like.default" then
        return true
      end
    else
      root = nil
      found = found or is_cut(e, cut)
      if e.raw and e.inputs[1] and e.inputs[1].needs_grad then found = true end
      note_cut(e, cut)
    end
  end
  return false
end

return M

-- SPDX-License-Identifier: MIT
-- dt/spmd/say.lua: what is said of SPMD types that do not fit: the messages of
-- src/spmd/messages.def, and the call they are about.

local dt = require "dt"
local util = require "dt.util"
local V = require "dt.spmd.values"
local core = dt._spmd

local M = {}

-- "off" leaves the note out; see spmd_types' traceback_filtering().
M.filtering = "off"

M.note = "\n\nSet SPMD_TYPES_TRACEBACK_FILTERING=off to see the full, "
  .. "unfiltered traceback."

-- The text of a message with its places filled.
function M.text(key, places)
  local _, text = core.message(key)
  return (text:gsub("{([%w_]+)}", function (name) return places[name] end))
end

-- raise("MISMATCH", {axis = .., got = .., want = ..})
function M.raise(key, places)
  local class = core.message(key)
  util.raise(class, "%s", M.text(key, places))
end

-- The long form of a type: "PerMeshAxisLocalSpmdType.R"; S(i) as it is.
function M.long(t)
  return #t == 1 and "PerMeshAxisLocalSpmdType." .. t or t
end

-- ---- the call ----

local function has_tensor(v)
  for i = 1, v.n do
    if util.is_tensor(v[i]) then return true end
  end
  return false
end

local function plain(v)
  if M.bare then v = M.bare(v) end
  if V.is_function(v) or type(v) == "function" then
    local name = type(v) == "table" and rawget(v, "name")
    return ("<built-in method %s of type object at 0x0>"):format(name or "?")
  end
  return V.repr(v)
end

-- An argument: tensors with their types, lists of tensors over lines.
local function value(v, indent)
  if util.is_tensor(v) then return core.tensor_text(v) end
  if not V.is_seq(v) or not has_tensor(v) then return plain(v) end
  local open, close = "[", "]"
  if V.is_tuple(v) then open, close = "(", ")" end
  local items, same = {}, v.n > 1
  for i = 1, v.n do
    items[i] = value(v[i], indent .. "  ")
    same = same and items[i] == items[1]
  end
  if same then return ("%s%s%s * %d"):format(open, items[1], close, v.n) end
  local out = {open}
  for i = 1, v.n do out[i + 1] = indent .. "  " .. items[i] .. "," end
  out[#out + 1] = indent .. close
  return table.concat(out, "\n")
end

-- The block behind the message: the call as it was made.  `labels` is a list
-- of {name, value}.
function M.context(name, labels, mesh)
  local out = {"\n\n  In " .. name .. "("}
  for _, l in ipairs(labels) do
    out[#out + 1] = ("    %s: %s,"):format(l[1], value(l[2], "    "))
  end
  out[#out + 1] = "  )" .. (mesh and " under mesh " .. core.axes_text(mesh)
    or "")
  return table.concat(out, "\n")
end

-- The text of an error of the checker, with its call behind it.
-- The number of notes about the filter: each of the package's layers that the
-- error passed adds one.
function M.about(message, name, labels, mesh, layers)
  if M.filtering == "quiet_remove_frames" or M.filtering == "remove_frames" then
    message = message .. M.note:rep(layers or 1)
  end
  return message .. M.context(name, labels, mesh)
end

-- Give the error its text and what a program asks it for: `context`, `args`.
function M.dress(e, name, labels, mesh, layers)
  local base = e.message
  e.message = M.about(base, name, labels, mesh, layers)
  e.context = e.message:sub(#M.about(base, name, labels, mesh, layers)
    - #M.context(name, labels, mesh) + 3)
  e.args = V.tuple({e.message:sub(1, #e.message - #e.context - 2)}, 1)
end

return M

-- SPDX-License-Identifier: MIT
-- dt/diagnose/programs.lua: parts of the Python programs that repros are: the
-- mesh, tensors and parameters that a message names, and what reads its numbers
-- and names.  A scene is {ranks=, head=, lines=, fails=, fixes=}: imports,
-- what comes before, the lines that raise, and for each fix its lines.

local evidence = require "dt.diagnose.evidence"
local grammar = require "dt.diagnose.grammar"

local M = {}

local MAX_RANKS <const> = 1 << 12

M.MAX_ELEMENTS = 1 << 24        -- of one tensor

M.FSDP = "from torch.distributed.fsdp import fully_shard\n"

-- ---- parts of programs -------------------------------------------------

function M.integer(text) return math.tointeger(tonumber(text)) end

function M.integers(text)
  local list = {}
  for n in text:gmatch "%-?%d+" do list[#list + 1] = M.integer(n) end
  return list
end

function M.product(list)
  local n = 1.0
  for _, v in ipairs(list) do n = n * v end
  return n
end

-- (2, 3) and (2,)
function M.tuple(list)
  local out = {}
  for i, v in ipairs(list) do out[i] = tostring(v) end
  return "(" .. table.concat(out, ", ") .. (#out == 1 and ",)" or ")")
end

function M.quoted(list)
  local out = {}
  for i, v in ipairs(list) do out[i] = ("%q"):format(v) end
  return M.tuple(out)
end

-- 'a', 'b' or "a" in a list that was printed.
function M.names_in(text)
  local list = {}
  for name in text:gmatch "['\"]([%a_][%w_]*)['\"]" do list[#list + 1] = name end
  return list
end

function M.mesh_line(shape, names, name)
  return ("%s = init_device_mesh(\"cpu\", %s%s)\n"):format(name or "mesh",
    M.tuple(shape), names and ", mesh_dim_names=" .. M.quoted(names) or "")
end

-- A mesh of one dimension with `n` ranks, named or not.
function M.line(n, name) return M.mesh_line({n}, name and {name}) end

function M.fix(text, lines) return {text = text, lines = lines} end

-- A fix whose program begins anew, from the head.
function M.anew(text, lines)
  return {text = text, lines = lines, fresh = true}
end

function M.scene(ranks, head, lines, fails, fixes)
  if ranks < 1 or ranks > MAX_RANKS then return nil end
  return {ranks = ranks, head = head, lines = head .. lines, fails = fails,
    fixes = fixes}
end

-- Lines that give `model` a parameter of a dotted name: `made` is what makes it.
function M.attach(path, made)
  local owner, name = path:match "^(.*)%.([^.]+)$"
  if not owner then
    return ("model.register_parameter(%q, %s)\n"):format(path, made)
  end
  return ("owner = model\nfor part in %q.split(\".\"):\n"
    .. "    if not hasattr(owner, part):\n"
    .. "        owner.add_module(part, nn.Module())\n"
    .. "    owner = getattr(owner, part)\n"
    .. "owner.register_parameter(%q, %s)\n"):format(owner, name, made)
end

-- The same for a parameter of a tensor.
function M.parameter(path, tensor)
  return M.attach(path, ("nn.Parameter(%s)"):format(tensor))
end

-- Placements as PyTorch prints them, in Python: (Shard(dim=0), Replicate()).
function M.placements(text)
  local list = grammar.placement_list:match(text)
    or grammar.placement_list:match("(" .. text .. ")")
  if not list or #list == 0 then return nil end
  local out, partial = {}, false
  for i, p in ipairs(list) do
    local dim, op = p:match "^S%((%d+)%)$", p:match "^P%((%l+)%)$"
    if not dim and not op and p ~= "R" then return nil end
    partial = partial or op ~= nil
    out[i] = dim and ("Shard(%s)"):format(dim)
      or op == "sum" and "Partial()" or op and ("Partial(%q)"):format(op)
      or "Replicate()"
  end
  return out, partial
end

-- A tensor `x` of these placements on the mesh.
function M.placed(list, partial)
  if partial then
    return ("x = DTensor.from_local(torch.ones(4, 8), mesh, [%s])\n"):format(
      table.concat(list, ", "))
  end
  return ("x = distribute_tensor(torch.ones(16, 16), mesh, [%s])\n"):format(
    table.concat(list, ", "))
end

-- The ranks the report says, when it says one number of a few; else `least`.
function M.ranks_or(r, least)
  local best
  for n in pairs(evidence.counts(r)) do
    if n >= 2 and n <= 8 and (not best or n < best) then best = n end
  end
  return best or least
end

-- Ones in front, so that the dimension stands where the message has it.
function M.leading(n) return ("1, "):rep(n) end

return M

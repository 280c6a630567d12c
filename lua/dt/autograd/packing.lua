-- SPDX-License-Identifier: MIT
-- dt/autograd/packing.lua: torch.autograd.graph.saved_tensors_hooks: pairs of
-- functions that what is kept for gradients goes through, the innermost pair
-- alone.  Operators ask by dt._pack_saved, custom Functions and activation
-- checkpoints by keep().

local dt = require "dt"
local util = require "dt.util"

local M = {}
local stack, forbidden = {}, {}     -- pairs, false where none counts; messages

-- Read what was packed: a tensor.
local function reader(pair, packed)
  return function ()
    local t = pair.unpack(packed)
    if not util.is_tensor(t) then
      util.raise("TypeError", "Output of saved tensor unpack_hook expected to "
        .. "be a Tensor but got result of type %s", M.type_name(t))
    end
    return t
  end
end

local function tell()
  local pair = stack[#stack]
  dt._pack_saved(pair and function (t) return reader(pair, pair.pack(t)) end
    or nil)
end

-- type_name(v): how a value's type is called.
M.type_name = util.type_text

-- enter(pack, unpack): from now on pack(t) is kept in the place of a tensor t,
-- and unpack(that) is what gradients read.  leave() ends it.
function M.enter(pack, unpack)
  if #forbidden > 0 then
    util.raise("RuntimeError", "%s", forbidden[#forbidden])
  end
  stack[#stack + 1] = {pack = pack, unpack = unpack}
  tell()
end

function M.leave()
  stack[#stack] = nil
  tell()
end

-- forbid(message): nobody may enter until allow().
function M.forbid(message)
  if stack[#stack] then util.raise("RuntimeError", "%s", message) end
  forbidden[#forbidden + 1] = message
end

function M.allow() forbidden[#forbidden] = nil end

local leave = {__close = M.leave}

-- aside(): what is kept goes through no hook until the value is closed.
function M.aside()
  if not stack[#stack] then return nil end
  stack[#stack + 1] = false
  tell()
  return setmetatable({}, leave)
end

-- keep(t) -> a function that gives t back, through the hooks if there are any.
function M.keep(t)
  local pair = stack[#stack]
  if not pair or not util.is_tensor(t) then return function () return t end end
  local guard <close> = dt.no_grad()            -- luacheck: ignore guard
  return reader(pair, pair.pack(t))
end

-- active(): does anybody look?
function M.active() return stack[#stack] and true or false end

-- A program ended inside.
function M.reset()
  stack, forbidden = {}, {}
  tell()
end

return M

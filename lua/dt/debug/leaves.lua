-- SPDX-License-Identifier: MIT
-- dt/debug/leaves.lua: tensors that no step of an emitted program makes, and
-- numbers that no step makes again (random ones): their values as text.
--
-- Few numbers are written out, more as bytes (dt/debug/numbers.lua), both the
-- same to the last bit; a pattern stands for what is too large or not known
-- any more, and a comment says so.

local dt = require "dt"
local numbers = require "dt.debug.numbers"

local M = {}

local LITERAL = 64              -- numbers written out
local LITERAL_INT = 4096        -- integers may be indices: more of them
local ONE = 1 << 20             -- bytes of one tensor that are written
local ALL = 4 << 20             -- of all together

-- What is left to write: one budget for each text.
function M.budget() return {left = ALL} end

local function count(shape)
  local n = 1
  for _, x in ipairs(shape) do n = n * x end
  return n
end

local function ints(D, list)
  return D.open .. table.concat(list, ", ") .. D.close
end

local function whole_numbers(dtype)
  return not dtype:match("float") and not dtype:match("complex")
end

local function lib(D, name) return (D.name == "lua" and "dt." or "torch.") .. name end

-- The plain local tensor of value `v` as it was before operator #seq, or nil;
-- and its elements as they lie in memory.  nil, too, where there is no memory
-- (a meta tensor, one whose memory was given back).
local function local_of(v, seq, shape)
  local t = dt.debug.revive(v.id, seq)
  if not t then return nil end
  if t.is_dtensor then t = t:to_local() end
  if table.concat(t.shape, ",") ~= table.concat(shape, ",") then return nil end
  local ok, bytes = pcall(dt._bytes, t)
  if not ok then return nil end
  return t, bytes
end

-- The call that makes a tensor of these bytes, or nil when they are too many;
-- what is `left` gets less.
local function bytes_text(D, bytes, left, name, more)
  if not left or #bytes > ONE or #bytes > left.left then return nil end
  left.left = left.left - #bytes
  return D.call(D.name == "lua" and "dt.debug." .. name or name, more(
    D.string(numbers.encode(bytes))), {})
end

local function written_out(D, v, t, shape)
  local flat = t:reshape({-1}):tolist()
  local same = #flat > 0
  for _, x in ipairs(flat) do
    same = same and x == flat[1] and 1 / x == 1 / flat[1]
  end
  local dtype = {{"dtype", D.dtype(v.dtype)}}
  if same and #flat > 1 then
    return D.call(lib(D, "full"), {ints(D, shape), D.scalar(flat[1])}, dtype)
  end
  local list = {}
  for i, x in ipairs(flat) do list[i] = D.scalar(x) end
  if #shape == 0 then return D.call(lib(D, "tensor"), {list[1]}, dtype) end
  local text = D.call(lib(D, "tensor"),
    {D.open .. table.concat(list, ", ") .. D.close}, dtype)
  if #shape == 1 then return text end
  return ("%s%sreshape(%s)"):format(text, D.dot, ints(D, shape))
end

-- The numbers of `v` before operator #seq as text of a dialect; nil when they
-- are too many or not known.
local function literal(D, v, shape, seq, left)
  if dt.debug.no_data() or v.replaced then return nil end
  local n = count(shape)
  if n == 0 or n > ONE then return nil end
  return dt.debug.quietly(function ()
    local t, bytes = local_of(v, seq, shape)
    if not t then return nil end
    local whole = whole_numbers(v.dtype)
    local plain = not v.dtype:match("complex") and not v.dtype:match("float8")
    if plain and n <= (whole and LITERAL_INT or LITERAL) then
      return written_out(D, v, t, shape)
    end
    return bytes_text(D, bytes, left, "numbers", function (text)
      return {text, D.dtype(v.dtype), ints(D, shape)}
    end)
  end)
end

-- Distinct small numbers of both signs.
local function pattern(D, v, shape)
  local n, dot = count(shape), D.dot
  local whole = whole_numbers(v.dtype)
  local text = ("%s(%d)%sremainder(%d)"):format(lib(D, "arange"), n, dot,
    whole and 2 or 17)
  if not whole then
    text = ("%s%ssub(8)%sdiv(8)"):format(text, dot, dot)
  end
  return ("%s%sto(%s)%sreshape(%s)"):format(text, dot, D.dtype(v.dtype), dot,
    ints(D, shape))
end

local function has_partial(pl)
  for _, p in ipairs(pl) do
    if not p:match("^S%(") and p ~= "R" and not p:match("^_S%(") then
      return true
    end
  end
  return false
end

-- distribute(D, text, placements, mesh, each): `each` rank has its own.
function M.distribute(D, text, placements, mesh, each)
  return D.call(D.name == "lua" and "dt.distribute_tensor"
    or "distribute_tensor", {text, mesh, D.placements(placements)},
    each and {{"src_data_rank", D.none}} or {})
end

-- from_local(D, text, v, mesh, placements): the tensor `v` of these parts.
function M.from_local(D, text, v, mesh, pl)
  return D.call(D.name == "lua" and "dt.DTensor.from_local"
    or "DTensor.from_local", {text, mesh, D.placements(pl)},
    {{"run_check", D.bool(false)}, {"shape", D.size(v.shape)},
     {"stride", D.size(v.stride)}})
end

-- room(D, v) -> memory for a plain tensor whose numbers do not matter.
function M.room(D, v)
  return D.call(lib(D, "empty"), {ints(D, v.shape)},
    {{"dtype", D.dtype(v.dtype)}})
end

-- leaf(D, v, seq, meshes, left) -> text of the tensor, are its numbers made up.
-- With `left` (a budget) each rank writes its own part.
function M.leaf(D, v, seq, meshes, left)
  if not v.placements then
    local text = literal(D, v, v.shape, seq, left)
    return text or pattern(D, v, v.shape), text == nil and count(v.shape) > 0
  end
  local mesh, partial = meshes[v.mesh], has_partial(v.placements)
  if partial or left then
    local text = literal(D, v, v.local_shape, seq, left)
    -- A part without elements needs none; to distribute, as no other rank
    -- does here, would wait for ever.
    local empty = not dt.debug.no_data() and count(v.local_shape) == 0
    if text or partial or empty then
      return M.from_local(D, text or pattern(D, v, v.local_shape), v, mesh,
        v.placements), text == nil and not empty
    end
  end
  return M.distribute(D, pattern(D, v, v.shape), v.placements, mesh),
    count(v.shape) > 0
end

-- fill(D, name, v, seq, left) -> text that writes into the tensor what it held
-- before operator #seq; nil when that is not known, or, with `zero`, all zero.
function M.fill(D, name, v, seq, left, zero)
  if dt.debug.no_data() or v.replaced then return nil end
  return dt.debug.quietly(function ()
    local t, bytes = local_of(v, seq, v.local_shape)
    if zero and t and not bytes:find("[^\0]") then return nil end
    return t and bytes_text(D, bytes, left, "fill", function (text)
      return {name, text}
    end)
  end)
end

-- found(D, name, v, seq, left) -> the same of memory that nobody wrote; nil when
-- it was zero, as it mostly is.
function M.found(D, name, v, seq, left)
  return M.fill(D, name, v, seq, left, true)
end

return M

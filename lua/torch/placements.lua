-- SPDX-License-Identifier: MIT
-- torch/placements.lua: the classes Shard, Replicate, Partial,
-- _StridedShard and _MaskPartial as Python makes them, with the texts of a
-- wrong call.

local dt = require "dt"
local util = require "dt.util"
local V = require "python.values"
local args = require "python.args"
local attributes = require "torch.attributes"

local M = {}

-- What a C++ class says when no constructor fits: `forms` are those it has.
local function no_constructor(forms, a, kw)
  local given = {}
  for i = 1, a.n do given[i] = V.repr(a[i]) end
  local text = table.concat(given, ", ")
  if kw and V.count(kw) > 0 then
    local named = {}
    for key, v in V.each(kw) do named[#named + 1] = key .. "=" .. V.repr(v) end
    text = text .. (a.n > 0 and "; " or "") .. "kwargs: "
      .. table.concat(named, ", ")
  end
  local lines = {}
  for i, form in ipairs(forms) do
    lines[i] = ("    %d. torch._C._distributed.%s\n"):format(i, form)
  end
  util.raise("TypeError", "__init__(): incompatible constructor arguments. The "
    .. "following argument types are supported:\n%s\nInvoked with: %s",
    table.concat(lines), text)
end

-- The only argument, by place or by name; refuses everything else.
local function single(name, forms, a, kw)
  local v, extra = a[1], a.n > 1
  for key, item in V.each(kw or V.dict()) do
    if key ~= name or v ~= nil then extra = true else v = item end
  end
  if extra then no_constructor(forms, a, kw) end
  return v
end

local function whole(v)
  if type(v) == "boolean" then return v and 1 or 0 end
  return math.type(v) == "integer" and v or nil
end

local shard_forms = {"Shard(dim: typing.SupportsInt | typing.SupportsIndex)"}
local function shard(a, kw)
  local dim = whole(single("dim", shard_forms, a, kw))
  if dim == nil then no_constructor(shard_forms, a, kw) end
  return dt.Shard(dim)
end

local function replicate(a, kw)
  if a.n > 0 or kw and V.count(kw) > 0 then
    no_constructor({"Replicate()"}, a, kw)
  end
  return dt.Replicate()
end

local known = {}
for _, op in pairs(require("dt.distributed").ReduceOp) do known[op] = true end

local partial_forms = {"Partial()", "Partial(reduce_op: str | None)"}
local function partial(a, kw)
  local op = single("reduce_op", partial_forms, a, kw)
  if op ~= nil and op ~= dt.None and type(op) ~= "string" then
    no_constructor(partial_forms, a, kw)
  end
  if op == nil or op == dt.None then return dt.Partial() end
  if not known[op] then      -- PyTorch says so at the first reduction
    util.raise("RuntimeError", "Unrecognized reduce_op: %s", op)
  end
  return dt.Partial(op)
end

local strided = args.def("_StridedShard.__init__", {"dim", "*",
  "split_factor?"}, function (a)
  local dim, factor = whole(a.dim), a.split_factor == nil and 1
    or whole(a.split_factor)
  if dim == nil or factor == nil then
    local kw = V.dict()
    V.dict_set(kw, "split_factor", a.split_factor or 1)
    no_constructor({"StridedShard(dim: typing.SupportsInt | "
      .. "typing.SupportsIndex, *, split_factor: typing.SupportsInt | "
      .. "typing.SupportsIndex)"}, V.list {a.dim}, kw)
  end
  return dt._StridedShard(dim, factor)
end, 1)

-- Keywords that it does not know are taken and forgotten, as there.
local function mask(a)
  local shape = a.offset_shape
  if shape == dt.None then shape = nil end
  local op = a.reduce_op
  if op == dt.None then op = nil end
  return dt._MaskPartial(op, shape and V.to_lua(shape), a.offset_dim)
end

local mask_partial = args.def("_MaskPartial.__init__", {"reduce_op?",
  "mask_buffer?", "offset_shape?", "offset_dim?", "*args", "**kwargs"}, mask, 1)

local function kind(name)
  return function (v)
    return util.is_placement(v) and v:repr():match("^[%w_]+") == name
  end
end

M.Shard = args.class("Shard", {test = kind "Shard",
  new = V.builtin(shard, "Shard")})
M.Replicate = args.class("Replicate", {test = kind "Replicate",
  new = V.builtin(replicate, "Replicate")})
M.Partial = args.class("Partial", {test = function (v)
  return util.is_placement(v) and v:is_partial()
end, new = V.builtin(partial, "Partial")})
M._StridedShard = args.class("_StridedShard", {test = kind "_StridedShard",
  new = strided})
M._MaskPartial = args.class("_MaskPartial", {test = kind "_MaskPartial",
  new = mask_partial})
M.Placement = args.class("Placement", {test = util.is_placement})
-- ---- methods ----

-- The parts of a tensor of which chunk `i` of `k` (from 0) along `dim` is one:
-- as torch.chunk cuts, those that there are none for are empty.
local function chunk(t, dim, k, i)
  local n = t:size(dim)
  local each = (n + k - 1) // k
  local from = math.min(i * each, n)
  return t:narrow(dim, from, math.min(each, n - from))
end

local function padded(t, dim, n)
  if t:size(dim) == n then return t end
  local shape = {table.unpack(t.shape)}
  shape[dim + 1] = n - t:size(dim)
  return dt.cat({t, t:new_zeros(shape)}, dim)
end

-- _split_tensor(tensor, num_chunks, *, with_padding=True, contiguous=True): the
-- local tensors of all ranks, and by how much each was made longer.
local function split_tensor(p, a)
  local dim, k = p.dim, a.num_chunks
  if dim < 0 then dim = dim + a.tensor:dim() end
  if dim >= a.tensor:dim() then
    util.raise("AssertionError", "Sharding dim %d greater than tensor ndim %d",
      p.dim, a.tensor:dim())
  end
  local factor = p.split_factor or 1
  local parts, most, pads = {}, 0, {}
  for i = 0, k - 1 do
    local list = {}
    for j = 0, factor - 1 do
      list[j + 1] = chunk(a.tensor, dim, k * factor, i + j * k)
    end
    parts[i + 1] = factor == 1 and list[1] or dt.cat(list, dim)
    most = math.max(most, parts[i + 1]:size(dim))
  end
  local pad = a.with_padding == nil or V.truth(a.with_padding)
  for i, t in ipairs(parts) do
    if pad then
      pads[i] = most - t:size(dim)
      t = padded(t, dim, most)
    end
    parts[i] = (a.contiguous == nil or V.truth(a.contiguous))
      and t:contiguous() or t
  end
  return V.tuple {V.list(parts), V.list(pads)}
end

local split_parts = args.method("Shard._split_tensor", {"tensor", "num_chunks",
  "with_padding?", "contiguous?"}, split_tensor)

-- _select_split_tensor(tensor, num_chunks, index, *, with_padding=True,
-- contiguous=True, clone=True): the part of one rank.
local select_part = args.method("Shard._select_split_tensor", {"tensor",
  "num_chunks", "index", "with_padding?", "contiguous?", "clone?"},
  function (p, a)
    local parts = split_tensor(p, {tensor = a.tensor,
      num_chunks = a.num_chunks, with_padding = a.with_padding,
      contiguous = false})[1]
    local index = a.index < 0 and a.index + parts.n or a.index
    local part = parts[index + 1]
    if part == nil then
      util.raise("IndexError", "list index out of range")
    elseif a.clone == nil or V.truth(a.clone) then
      return part:clone()
    elseif a.contiguous == nil or V.truth(a.contiguous) then
      return part:contiguous()
    end
    return part
  end)

local function asked(name, keyword)
  return args.method("Placement." .. name, {keyword .. "?"}, function (p, a)
    local v = a[keyword]
    if v == dt.None then v = nil end
    return p[name](p, v)
  end)
end

attributes.placement_method.is_shard = asked("is_shard", "dim")
attributes.placement_method.is_partial = asked("is_partial", "reduce_op")
for name, f in pairs {_split_tensor = split_parts,
    _select_split_tensor = select_part} do
  attributes.placement_method[name] = function (p, a, kw)
    if p.dim == nil then
      util.raise("AttributeError", "'%s' object has no attribute '%s'",
        V.type_name(p), name)
    end
    return f(p, a, kw)
  end
end

for _, name in ipairs {"Shard", "Replicate", "Partial", "_StridedShard",
  "_MaskPartial", "Placement"} do
  M[name].__module__ = "torch.distributed.tensor.placement_types"
end

return M

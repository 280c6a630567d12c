-- SPDX-License-Identifier: MIT
-- dt/python/placements.lua: the classes Shard, Replicate, Partial,
-- _StridedShard and _MaskPartial as Python makes them, with the texts of a
-- wrong call.

local dt = require "dt"
local util = require "dt.util"
local V = require "dt.python.values"
local args = require "dt.python.args"

local M = {}

-- What a C++ class says when no constructor fits: `forms` are those it has.
local function no_constructor(forms, a, kw)
  local given = {}
  for i = 1, a.n do given[i] = V.repr(a[i]) end
  local text = table.concat(given, ", ")
  if kw and #kw.keys > 0 then
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
  if a.n > 0 or kw and #kw.keys > 0 then
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
for _, name in ipairs {"Shard", "Replicate", "Partial", "_StridedShard",
  "_MaskPartial", "Placement"} do
  M[name].__module__ = "torch.distributed.tensor.placement_types"
end

return M

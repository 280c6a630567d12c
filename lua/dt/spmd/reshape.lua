-- SPDX-License-Identifier: MIT
-- dt/spmd/reshape.lua: views of parts: sizes that a program gives are those of
-- its own part, and a dim that is cut keeps its place or is refused.

local util = require "dt.util"
local V = require "dt.spmd.values"
local core = require("dt")._spmd
local say = require "dt.spmd.say"

local M = {}

local shaped = {view = true, reshape = true, flatten = true, ravel = true}

-- Groups of dims that hold the same elements: {{in dims}, {out dims}}.
local function groups(from, to)
  local list, i, j = {}, 1, 1
  while i <= #from or j <= #to do
    local a, b = {}, {}
    if from[i] == 1 and to[j] == 1 then
      a[1], b[1] = i, j
    elseif from[i] == 1 then
      a[1] = i
    elseif to[j] == 1 then
      b[1] = j
    else
      local m, n = from[i] or 1, to[j] or 1
      a[1], b[1] = i, j
      while m ~= n do
        if m < n then
          i = i + 1
          a[#a + 1], m = i, m * from[i]
        else
          j = j + 1
          b[#b + 1], n = j, n * to[j]
        end
      end
    end
    i, j = (a[#a] or i - 1) + 1, (b[#b] or j - 1) + 1
    list[#list + 1] = {a, b}
  end
  return list
end

-- Dims of more than one element, and their number.
local function wide(dims, sizes)
  local n = 0
  for _, d in ipairs(dims) do n = n + (sizes[d] ~= 1 and 1 or 0) end
  return n
end

local function shape_text(sizes)
  return V.repr(V.tuple({table.unpack(sizes)}, #sizes))
end

-- The dim of `to`, from 0, that dim `d` of `from` becomes.
local function place(call, axis, d, from, to)
  for _, g in ipairs(groups(from, to)) do
    local at
    for k, dim in ipairs(g[1]) do if dim == d + 1 then at = k end end
    if at then
      local places = {dim = tostring(d), from = shape_text(from),
        to = shape_text(to)}
      if #g[2] == 0 then say.raise("AMBIGUOUS_VIEW", places) end
      if wide(g[2], to) > 1 then say.raise("SPLIT_VIEW", places) end
      if at > 1 then
        say.raise("STRIDED", {op = call.name,
          axis = core.axis_info(axis).name})
      end
      return g[2][1] - 1
    end
  end
end

-- A view whose result is known without a call of it.
function M.result(call, axis, out, dim_on)
  local x = call.args[1]
  if not shaped[call.name] or not util.is_tensor(x) or not util.is_tensor(out)
     or call.name == "view" and util.is_dtype(call.args[2]) then
    return nil
  end
  local d = dim_on(x, axis)
  if not d then return nil end
  return {{place(call, axis, d, {table.unpack(x.shape)},
    {table.unpack(out.shape)})}}
end

-- expand(): the size at the place of the dim that is cut is that of the whole.
function M.scaled(call, axis, args, dim_on)
  local x = call.args[1]
  local d = call.name == "expand" and util.is_tensor(x) and dim_on(x, axis)
  if not d then return args end
  local n = core.axis_info(axis).size
  local list = {table.unpack(args, 1, args.n)}
  if V.is_seq(list[2]) then
    local sizes = {table.unpack(list[2], 1, list[2].n)}
    if sizes[d + 1] and sizes[d + 1] > 0 then sizes[d + 1] = sizes[d + 1] * n end
    list[2] = V.tuple(sizes, list[2].n)
  elseif list[d + 2] and list[d + 2] > 0 then
    list[d + 2] = list[d + 2] * n
  end
  return V.list(list, args.n)
end

return M

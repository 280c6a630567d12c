-- SPDX-License-Identifier: MIT
-- dt/distributed/reduced.lua: gradients of a functional all_reduce, by release.
-- Source: torch/distributed/_functional_collectives.py:all_reduce_backward@2.15

local dt = require "dt"
local util = require "dt.util"

local M = {}

local EXTREMA <const> = {min = true, max = true}

-- Is the extremum kept for backward?
function M.keeps(kind, op)
  return kind == "all_reduce" and EXTREMA[op]
    and dt._switch("EXTREMA_BACKWARD") ~= 0
end

local function refuse(op)
  local what = dt._switch("EXTREMA_BACKWARD") ~= 0
    and "`sum`, `premul_sum`, `avg`, `max`, `min` reductions"
    or dt._switch("AVG_BACKWARD") ~= 0 and "'sum' and 'avg' reductions"
    or "'sum' reduction"
  util.raise("RuntimeError", "all_reduce backward only supports %s, got '%s'",
    what, op)
end

-- backward(ctx, g, reduce): reduce(tensor, op) is the collective.  The sum goes in
-- equal parts to whoever holds the extremum; NaN is one where the result is NaN.
function M.backward(ctx, g, reduce)
  local op = ctx.o.op or "sum"
  if op == "sum" or op == "avg" and dt._switch("AVG_BACKWARD") ~= 0 then
    return reduce(g:contiguous(), op)
  elseif not M.keeps("all_reduce", op) then
    refuse(op)
  end
  local sum = reduce(g:contiguous(), "sum")
  local x, y = ctx.saved_tensors[1], ctx.saved_tensors[2]
  local mask = x:eq(y):bitwise_or(x:isnan():bitwise_and(y:isnan()))
  local holders = reduce(mask:to(dt.float32), "sum")
  return dt.where(mask, (sum / holders):to(sum.dtype), 0)
end

return M

-- SPDX-License-Identifier: MIT
-- dt/zoo/moe.lua: a mixture of experts whose experts lie on different ranks.
-- Top-1 routing; tokens travel to their expert and back by all_to_all.

local dt = require "dt"
local nn = require "dt.nn"
local F = require "dt.functional"
local util = require "dt.util"

local M = {}

-- MoE{experts=, dim=, hidden=, mesh=}: `mesh` has one dimension, over which
-- the experts are sharded.  The gate is plain, equal on every rank.
M.MoE = nn.Module:extend("MoE")

function M.MoE:__init__(c)
  local n = c.mesh:size()
  if c.experts % n ~= 0 then
    util.raise("ValueError", "MoE: %d experts cannot be cut over %d ranks",
      c.experts, n)
  end
  self.c, self.mesh, self.here = c, c.mesh, c.experts // n
  self.gate = nn.Linear(c.dim, c.experts, {bias = false})
  local function weight(a, b)
    local w = dt.randn({c.experts, a, b}) * (1 / a ^ 0.5)
    return nn.Parameter(dt.distribute_tensor(w, c.mesh, {dt.Shard(0)}))
  end
  self.w1 = weight(c.dim, c.hidden)
  self.w2 = weight(c.hidden, c.dim)
end

-- Positions that bring rows that lie by source rank, then expert, together by
-- expert: counts[source * here + expert] of each.
local function by_expert(counts, n, here)
  local start, at = {}, 0
  for i = 1, n * here do start[i], at = at, at + counts[i] end
  local order, sizes = {}, {}
  for e = 1, here do
    sizes[e] = 0
    for r = 0, n - 1 do
      local i = r * here + e
      for k = 0, counts[i] - 1 do order[#order + 1] = start[i] + k end
      sizes[e] = sizes[e] + counts[i]
    end
  end
  return order, sizes
end

local function sums(list, n, here)
  local out = {}
  for r = 1, n do
    out[r] = 0
    for e = 1, here do out[r] = out[r] + list[(r - 1) * here + e] end
  end
  return out
end

-- x: this rank's tokens, [tokens, dim] -> the same shape.
function M.MoE:forward(x)
  local n, here = self.mesh:size(), self.here
  local funcol = dt.distributed.functional
  local weight, expert = F.softmax(self.gate(x), -1):max(-1)
  local order = dt.argsort(expert, {stable = true})
  local counts = dt.bincount(expert, {minlength = self.c.experts})
  local got = funcol.all_to_all_single(counts, nil, nil, self.mesh):tolist()
  counts = counts:tolist()
  local outgoing, incoming = sums(counts, n, here), sums(got, n, here)
  local here_tokens = funcol.all_to_all_single_autograd(
    x:index_select(0, order), incoming, outgoing, self.mesh)
  local places, sizes = by_expert(got, n, here)
  local back = {}
  for i, p in ipairs(places) do back[p + 1] = i - 1 end
  local sorted = here_tokens:index_select(0,
    dt.tensor(places, {dtype = dt.int64}))
  local w1, w2, parts = self.w1:to_local(), self.w2:to_local(), {}
  local pieces = dt.split(sorted, sizes)
  for e = 1, here do
    parts[e] = F.relu(pieces[e]:matmul(w1:select(0, e - 1)))
      :matmul(w2:select(0, e - 1))
  end
  local y = dt.cat(parts):index_select(0, dt.tensor(back, {dtype = dt.int64}))
  y = funcol.all_to_all_single_autograd(y, outgoing, incoming, self.mesh)
  return dt.zeros_like(x):index_copy(0, order, y) * weight:unsqueeze(-1)
end

return M

-- SPDX-License-Identifier: MIT
-- dt/zoo/vit.lua: a small vision transformer: patches by a convolution,
-- blocks with LayerNorm, heads cut over tensor parallel ranks.

local dt = require "dt"
local nn = require "dt.nn"
local F = require "dt.functional"
local tp = require "dt.parallel"

local M = {}

local Attention = nn.Module:extend("Attention")

function Attention:__init__(dim, heads)
  self.head_dim = dim // heads
  self.q = nn.Linear(dim, dim)
  self.k = nn.Linear(dim, dim)
  self.v = nn.Linear(dim, dim)
  self.proj = nn.Linear(dim, dim)
end

function Attention:forward(x)
  local b, s = x.shape[1], x.shape[2]
  local function heads(w)
    return w(x):view({b, s, -1, self.head_dim}):transpose(1, 2)
  end
  local o = F.scaled_dot_product_attention(heads(self.q), heads(self.k),
    heads(self.v))
  return self.proj(o:transpose(1, 2):contiguous():view({b, s, -1}))
end

local Block = nn.Module:extend("Block")

function Block:__init__(dim, heads, hidden)
  self.norm1, self.norm2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
  self.attention = Attention(dim, heads)
  self.up, self.down = nn.Linear(dim, hidden), nn.Linear(hidden, dim)
end

function Block:forward(x)
  x = x + self.attention(self.norm1(x))
  return x + self.down(F.gelu(self.up(self.norm2(x))))
end

-- ViT{image=32, patch=8, channels=3, dim=32, heads=4, hidden=64, layers=2,
-- classes=10}
M.ViT = nn.Module:extend("ViT")

function M.ViT:__init__(kw)
  local c = {image = 32, patch = 8, channels = 3, dim = 32, heads = 4,
    hidden = 64, layers = 2, classes = 10}
  for k, v in pairs(kw or {}) do c[k] = v end
  self.c = c
  local side = c.image // c.patch
  self.patches = nn.Conv2d(c.channels, c.dim, c.patch, {stride = c.patch})
  self.position = nn.Parameter(dt.randn({1, side * side, c.dim}) * 0.02)
  local blocks = {}
  for i = 1, c.layers do blocks[i] = Block(c.dim, c.heads, c.hidden) end
  self.blocks = nn.ModuleList(blocks)
  self.norm = nn.LayerNorm(c.dim)
  self.head = nn.Linear(c.dim, c.classes)
end

function M.ViT:forward(images)
  local x = self.patches(images):flatten(2):transpose(1, 2) + self.position
  for _, block in pairs(self.blocks) do x = block(x) end
  return self.head(self.norm(x):mean(1))
end

-- parallelize(model, mesh): heads and hidden units over the ranks.
function M.parallelize(model, mesh)
  local plan = {}
  for i = 0, model.c.layers - 1 do
    local at = ("blocks.%d."):format(i)
    for _, name in ipairs {"attention.q", "attention.k", "attention.v",
        "up"} do
      plan[at .. name] = tp.ColwiseParallel()
    end
    plan[at .. "attention.proj"] = tp.RowwiseParallel()
    plan[at .. "down"] = tp.RowwiseParallel()
  end
  return tp.parallelize_module(model, mesh, plan)
end

return M

-- dtrepl: ranks=2
-- TEST: ranks=2 world={threads,mpi} needs=data timeout=120
-- SPDX-License-Identifier: MIT
--
-- A small vision transformer, tensor parallel over two ranks, learns to tell
-- images from their negatives.

local vit = require "dt.zoo.vit"

local mesh = dt.init_device_mesh("cpu", {2}, {mesh_dim_names = {"tp"}})
dt.manual_seed(11)
local model = vit.parallelize(vit.ViT {classes = 2}, mesh)

local images = dt.rand(8, 3, 32, 32)
local labels = dt.arange(8):remainder(2)
local sign = labels:mul(2):sub(1):view({8, 1, 1, 1})
images = images * sign

local optimizer = require("dt.optim").AdamW(model:parameters(), {lr = 2e-3})
local first, last
for step = 1, 10 do
  local loss = F.cross_entropy(model(images), labels)
  loss:backward()
  optimizer:step()
  optimizer:zero_grad()
  last = loss:item()
  first = first or last
  print(("step %d  loss %.4f"):format(step, last))
end
assert(last < 0.7 * first, "the loss does not fall")

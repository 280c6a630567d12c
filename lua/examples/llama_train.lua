-- dtrepl: ranks=4
-- TEST: ranks=4 world={threads,mpi} needs=data timeout=120
-- SPDX-License-Identifier: MIT
--
-- A tiny Llama trained on 2 x 2 ranks: tensor and sequence parallel along one
-- mesh dimension, FSDP2 along the other.  The loss must fall.

local llama = require "dt.zoo.llama"

local mesh = dt.init_device_mesh("cpu", {2, 2}, {mesh_dim_names = {"dp", "tp"}})
local c = llama.config("tiny")

dt.manual_seed(7)
local model = llama.Transformer(c)
llama.parallelize(model, mesh["tp"], mesh["dp"])

-- Each data parallel rank has two sequences of a text that repeats.
local mine = mesh["dp"]:get_local_rank()
local text = dt.arange(c.seq + 1):add(mine * 5):remainder(11)
local ids = dt.stack({text:narrow(0, 0, c.seq), text:narrow(0, 0, c.seq)})
local labels = dt.stack({text:narrow(0, 1, c.seq), text:narrow(0, 1, c.seq)})
local cos, sin = llama.angles(c)

local optimizer = require("dt.optim").AdamW(model:parameters(), {lr = 3e-3})
local first, last
for step = 1, 8 do
  local logits = model(ids, cos, sin)
  local loss = F.cross_entropy(logits:flatten(0, 1), labels:flatten(0, 1))
  loss:backward()
  optimizer:step()
  optimizer:zero_grad()
  last = loss:item()
  first = first or last
  if mine == 0 then print(("step %d  loss %.4f"):format(step, last)) end
end
assert(last < first - 1, "the loss does not fall")

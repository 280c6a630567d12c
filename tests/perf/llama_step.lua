-- BENCH: -n 4 --trust
-- SPDX-License-Identifier: MIT
-- Where the time of a tiny Llama's training step goes: two layers, 2 x 2
-- ranks, tensor and sequence parallel, FSDP2, AdamW.  Share of the step that
-- is local arithmetic or communication (waiting for other ranks included), as
-- rank 0 sees it; with 64 sequences of 32 tokens a rank, and with 4, where
-- the operators are so small that calling them shows.
-- Prints "name value unit budget".

local llama = require "dt.zoo.llama"

dt.debug.recording {on = false}
local mesh = dt.init_device_mesh("cpu", {2, 2},
  {mesh_dim_names = {"dp", "tp"}})
local c = llama.config("tiny")
local model = llama.Transformer(c)
llama.parallelize(model, mesh["tp"], mesh["dp"])
local optimizer = require("dt.optim").AdamW(model:parameters(), {lr = 1e-3})
local cos, sin = llama.angles(c)

local function share(batch, steps)
  local ids = dt.zeros({batch, c.seq}, {dtype = dt.int64})
  local function step()
    optimizer:zero_grad()
    model(ids, cos, sin):sum():backward()
    optimizer:step()
  end
  step()
  local t = dt.debug.busy(function () for _ = 1, steps do step() end end)
  return 100 * (t.kernels + t.collectives) / t.wall, 1e3 * t.wall / steps
end

local large, large_ms = share(64, 5)
local small, small_ms = share(4, 10)
if dt.rank() == 0 then
  print(("llama_tiny.busy_64 %.1f %% >=80"):format(large))
  print(("llama_tiny.step_64 %.2f ms -"):format(large_ms))
  print(("llama_tiny.busy_4 %.1f %% -"):format(small))
  print(("llama_tiny.step_4 %.2f ms -"):format(small_ms))
end

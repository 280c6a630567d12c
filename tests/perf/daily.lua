-- BENCH: -n 4 --trust
-- SPDX-License-Identifier: MIT
-- A step of the tiny Llama as somebody looks at it who debugs: what its record
-- takes in a file, where ranks have other batches and the optimizer is part of
-- it, and how long :whatif plans it again.  Prints "name value unit budget".

local llama = require "dt.zoo.llama"

local mesh = dt.init_device_mesh("cpu", {2, 2}, {mesh_dim_names = {"dp", "tp"}})
local c = llama.config("tiny")
dt.manual_seed(7)
local model = llama.Transformer(c)
llama.parallelize(model, mesh["tp"], mesh["dp"])
local optimizer = dt.optim.AdamW(model:parameters(), {lr = 1e-3})
local h = dt.distribute_tensor(dt.ones(4, 4), mesh, "S(0) R")
dt.manual_seed(100 + mesh:get_local_rank("dp"))
local text = (dt.rand(c.seq + 1) * 200):to(dt.int64)
local ids = dt.stack({text:narrow(0, 0, c.seq), text:narrow(0, 0, c.seq)})
local labels = dt.stack({text:narrow(0, 1, c.seq), text:narrow(0, 1, c.seq)})
local cos, sin = llama.angles(c)
local logits = model(ids, cos, sin)
F.cross_entropy(logits:flatten(0, 1), labels:flatten(0, 1)):backward()
optimizer:step()

local path = "build/bench_step.dtr"
dt.debug.command("record", "save " .. path)
-- Processor time of all ranks, of which two run at once.
local t0 = os.clock()
dt.debug.command("whatif", "h = R R")
local whatif = (os.clock() - t0) / 2
if dt.rank() == 0 then
  local f = assert(io.open(path, "rb"))
  print(("record_llama_step %.2f MB 5"):format(f:seek("end") / 1e6))
  f:close()
  os.remove(path)
  print(("whatif_llama_step %.0f ms 500"):format(whatif * 1000))
end

-- BENCH: --fake 16384 --trust
-- SPDX-License-Identifier: MIT
-- A training step of Llama-3 405B, 126 layers, over 16,384 ranks on paper:
-- model, tensor parallel plan, FSDP2, forward, backward and optimizer step of
-- rank 0.  Processor time of the planning and memory of the whole process.
-- Prints "name value unit budget".

local llama = require "dt.zoo.llama"
local fsdp = require "dt.fsdp"

dt.debug.recording {on = false}
local start = os.clock()
local mesh = dt.init_device_mesh("cpu", {2048, 8},
  {mesh_dim_names = {"dp", "tp"}})
local c = llama.config("405B")
local model = llama.Transformer(c, {device = "meta"})
llama.parallelize(model, mesh["tp"], mesh["dp"], {mp_policy =
  fsdp.MixedPrecisionPolicy {param_dtype = dt.bfloat16,
    reduce_dtype = dt.float32}})
model:to_empty {device = "cpu"}
local ids = dt.zeros({1, c.seq}, {dtype = dt.int64})
local cos, sin = llama.angles(c)
cos, sin = cos:to(dt.bfloat16), sin:to(dt.bfloat16)
local optimizer = require("dt.optim").AdamW(model:parameters(), {lr = 1e-4})
model(ids, cos, sin):sum():backward()
optimizer:step()
print(("plan.llama_405b %.3f s 1"):format(os.clock() - start))

local peak = 0
for line in io.lines "/proc/self/status" do
  peak = tonumber(line:match "^VmHWM:%s*(%d+)") or peak
end
print(("plan.llama_405b_memory %.0f MB 500"):format(peak / 1024))

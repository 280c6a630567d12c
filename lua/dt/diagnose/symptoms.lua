-- SPDX-License-Identifier: MIT
-- dt/diagnose/symptoms.lua: what a report complains of where nothing raises and no
-- class is known: memory, time, or processes that wait.  Each has the questions that
-- separate its reasons, and the tool that answers them.

local M = {}

local prose = require "dt.diagnose.prose"

local rows = {
  {says = "memory|=oom|out of memory|=leak|=leaks|=vram|=gib|=gb",
   with = "grow|=leak|=leaks|not freed|not released|never freed|not reduced|higher|"
     .. "more memory|same memory|same amount|=increases|=increase|twice|=peak|as much|"
     .. "not decrease|doesn't decrease|=keeps|out of memory|=oom",
   ask = {
     "Is it torch.cuda.memory_allocated, or only what is reserved or what nvidia-smi "
       .. "shows (caches, one communicator for each group)?",
     "Does it grow with every step, or stay high from the first?",
     "What holds it? (torch.cuda.memory._record_memory_history(), then "
       .. "_dump_snapshot(\"m.pickle\"))"}},
  {says = "slow|throughput|latency|tokens/s|token/s|=tps|=mfu|performance|overhead|"
     .. "it/s|s/it|speed|tokens/device/second|tokens/second",
   with = "slower|=slow|worse|not better|no better|lower than|than without|=half|only|"
     .. "difference|overhead|expect|takes|drops|not faster|bottleneck|degrad|times as",
   ask = {
     "Which is longer in one profiled step: the CPU's part, a collective, or the "
       .. "kernels? (torch.profiler, both runs)",
     "Does a group that communicates in every layer (tp, cp, ep) stay inside one "
       .. "machine, and on NVLink? (nvidia-smi topo -m)",
     "How much does a rank compute between two collectives (batch, sequence, hidden "
       .. "size), and how many bytes do these move?"}},
  {says = "=hang|=hangs|hanging|=hung|stuck|deadlock|timeout|timed out|watchdog|"
     .. "stops responding|no progress",
   with = "",
   ask = {
     "In which call does each rank wait? (py-spy dump --pid, or the flight recorder: "
       .. "TORCH_NCCL_TRACE_BUFFER_SIZE=2000)",
     "Do all ranks take the same number of steps, and run the same modules in each?",
     "What did the rank that stopped first print last?"}},
}

-- The questions for what the report complains of, or nil.
function M.questions(r)
  if #r.exceptions > 0 or not prose.is_of_several(r) then return nil end
  for _, row in ipairs(rows) do
    if prose.says(r, row.says) and (row.with == "" or prose.says(r, row.with)) then
      return row.ask
    end
  end
end

return M

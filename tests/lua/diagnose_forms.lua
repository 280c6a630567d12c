-- TEST: ranks=1 world=threads args=--trust
-- SPDX-License-Identifier: MIT
-- A report in a project's form, with its machine described, in a log or with the
-- launcher's own traceback behind it is read as the report alone; release and device
-- are still read from what the machine says.

local T = require "tests.lua.lib.check"
require "torch.diagnose"
local clean = require "dt.diagnose.clean"
local diagnose = require "dt.diagnose"

local COLLECTED <const> = [[
Collecting environment information...
PyTorch version: 2.9.0+cu128
Is debug build: False
OS: Ubuntu 22.04.4 LTS (x86_64)
CUDA_MODULE_LOADING set to: LAZY
GPU models and configuration:
GPU 0: NVIDIA H100 80GB HBM3
Vendor ID:                          AuthenticAMD
Vulnerability Spectre v2:           Mitigation; Retpolines; IBPB conditional
[pip3] nvidia-nccl-cu12==2.27.3
[pip3] torchao==0.14.0
[conda] torch                     2.9.0+cu128              pypi_0    pypi
cc @one @two-three
]]

local LISTED <const> = [[
### System Info

- `transformers` version: 4.57.1
- Platform: Linux-5.15.0-97-generic-x86_64-with-glibc2.35
- DeepSpeed version: 0.17.5
- PyTorch version (accelerator?): 2.8.0+cu128 (CUDA)
- Using distributed or parallel set-up in script?: <fill in>
- vLLM version: 0.10.2
torch==2.8.0 vllm==0.10.2

### Tasks

- [x] My own task or dataset (give details below)

### Reproduction

]]

local LAUNCHED <const> = [[

E1105 10:20:31.485000 3102 site-packages/torch/distributed/elastic/multiprocessing/api.py:874] failed (exitcode: 1) local_rank: 1 (pid: 3111) of binary: /opt/conda/bin/python
Traceback (most recent call last):
  File "/opt/conda/bin/torchrun", line 8, in <module>
    sys.exit(main())
             ^^^^^^
  File "/opt/lib/python3.11/site-packages/torch/distributed/launcher/api.py", line 270, in launch_agent
    raise ChildFailedError(
torch.distributed.elastic.multiprocessing.errors.ChildFailedError:
============================================================
train.py FAILED
------------------------------------------------------------
Root Cause (first observed failure):
[0]:
  rank      : 1 (local_rank: 1)
  exitcode  : 1 (pid: 3111)
  error_file: <N/A>
]]

local LOGGED <const> = [[
Loading checkpoint shards: 100%|##########| 4/4 [00:03<00:00,  1.21it/s]
node1:3110:3110 [0] NCCL INFO comm 0x55d2f3a0 rank 0 nranks 4 - Init COMPLETE
[titan] 2025-08-05 15:50:36,219 - root - INFO - Training starts at step 1
wandb: Currently logged in as: user
| NVIDIA-SMI 560.35.05              Driver Version: 560.35.05      CUDA Version: 12.6     |
[rank0]:[W1105 ProcessGroupNCCL.cpp:1479] Warning: WARNING: destroy_process_group() was not called before program exit, which can leak resources.
]]

local PACKAGES <const> = [[

accelerate               1.10.1
deepspeed                0.17.5
megatron-core            0.13.1
sglang                   0.5.2
vllm                     0.10.2
]]

local around = {
  collected = function (t) return t .. "\n\n### Versions\n\n" .. COLLECTED end,
  listed = function (t) return LISTED .. t end,
  launched = function (t) return t .. LAUNCHED end,
  logged = function (t) return LOGGED .. t end,
  packages = function (t) return t .. PACKAGES end,
}

-- ---- reports -----------------------------------------------------------

local reports = {
  "GRPO over 8 GPUs: the loss on 8 ranks differs from one rank when sequences have "
    .. "very different lengths: each rank divides by its own number of tokens.",
  "Profiling shows most of the time in Python code of DTensor dispatch for small "
    .. "pointwise ops, the optimizer step takes ten times that of plain tensors.",
  "RuntimeError: aten.bmm.default: got mixed torch.Tensor and DTensor, need to convert "
    .. "all torch.Tensor to DTensor before calling distributed operators!",
  "Evaluation hangs: rank 0 calls dist.all_reduce(metric), the others have gone on to "
    .. "the next train step and the job times out.",
  "model.generate() on a fully_shard model fails, its weights are still DTensors: "
    .. "forward was never called on the module itself.",
  "ValueError: Total number of attention heads (28) must be divisible by tensor "
    .. "parallel size (8)",
  "My network has BatchNorm. With one GPU the accuracy is 92 %, in a notebook too.",
}

for i, text in ipairs(reports) do
  local alone = diagnose.read(text).class
  for name, wrap in pairs(around) do
    local class = diagnose.read(wrap(text)).class
    T.eq(class and class.id, alone and alone.id, ("report %d %s"):format(i, name))
  end
end
T.ok(diagnose.read(reports[3]).class, "one of them is told a class")

-- ---- what is read of the machine ---------------------------------------

local r = diagnose.read(around.collected(reports[3]))
T.eq(r.torch.release, "2.9", "the release that was collected")
T.eq(r.device, "cuda", "the device that was collected")
T.eq(diagnose.read(around.listed(reports[3])).torch.release, "2.8", "that is listed")

-- ---- what is kept ------------------------------------------------------

local function kept(text) return table.concat(clean.read(text).lines, "|") end
for _, text in ipairs {
  "exitcode  : -9 (pid: 31)",           -- killed: that is said of the fault
  "### RuntimeError in the sharded loss", "- [ ] aten.sort has no strategy",
  "torch version: 2.6 (saved with 2.5)", "tensor_parallel_size: 4",
  "loss 2.31|loss 2.34|loss 2.36|loss 2.39",
  "model.q: 8|model.tp: 4|model.dp: 2", "dp = 2|tp = 4|cp = 1|pp = 1",
  "epoch 1 - INFO - RuntimeError: no",
} do
  local lines = text:gsub("|", "\n")
  T.eq(kept(lines), text, text)
end
T.eq(kept "alpha: 1\nbeta: 2\ngamma: 3\nfsdp_version: 2\ndelta: 4", "fsdp_version: 2",
  "of a list of settings those that are ours")
T.finish()

-- SPDX-License-Identifier: MIT
-- dt/diagnose/frameworks.lua: frameworks that split tensors by themselves,
-- without meshes and DTensors.  A report of theirs speaks of tensor parallel
-- sizes, sequences and hangs as ours do, and is none of ours.

local M = {}

-- Name, and the words by which a report is known to be of it.
local frameworks = {
  {"DeepSpeed", {"deepspeed", "ZeRO", "zero3"}},
  {"Megatron-FSDP", {"megatron-fsdp", "megatron_fsdp", "m-fsdp", "mfsdp"}},
  {"NeMo", {"tp_overlap_comm", "tp_comm_overlap", "with nemo 2", "nemo.collections"}},
  {"Megatron-LM", {"megatron", "tensor-model-parallel-size", "mcore",
    "mpu."}},
  {"vLLM", {"vllm", "loaded_weight.shape", "loaded_weight.size"}},
  {"SGLang", {"sglang"}},
  {"Colossal-AI", {"colossalai"}},
  {"TensorRT-LLM", {"tensorrt"}},
  {"LMDeploy", {"lmdeploy"}},
  {"KTransformers", {"ktransformers"}},
  {"PaddlePaddle", {"paddle"}},
  {"TT-Metal", {"TT_FATAL", "TT_THROW", "ttnn", "ttml"}},
  {"AWS Neuron", {"neuronx", "optimum-neuron", "xla_downcast_bf16", "nkipy",
    "trn1", "trn2", "inferentia"}},
  {"FairScale", {"fairscale"}},
  {"MindSpore", {"mindspore"}},
  {"NVIDIA Apex", {"apex.", "nvidia apex"}},
  {"nanotron", {"nanotron"}},
  {"GPT-NeoX", {"gpt-neox", "gpt_neox/"}},
  {"Horovod", {"horovod"}},
  {"OneFlow", {"oneflow"}},
  {"text-generation-inference", {"text-generation-inference", "text_generation_server"}},
  {"llama.cpp", {"llama.cpp", "ggml"}},
  {"StableHLO", {"stablehlo.", "mlir::sdy", "shardy"}},
  {"JAX", {"jax.errors", "jaxlib", "jax.numpy", "jnp.",
    "with_sharding_constraint"}},
}

-- Of what may also be ours: any of these and the report counts.
local ours = {"dtensor", "devicemesh", "device_mesh", "fully_shard", "fsdp",
  "parallelize_module", "torch/distributed/tensor", "torchtitan", "tp_plan",
  "distribute_tensor", "colwiseparallel", "rowwiseparallel", "spmd_types"}

-- Names of frameworks that hold one of these words.
local theirs = {"megatron[-_ ]fsdp%.?fully_shard", "megatron[-_ ]fsdp",
  "m%-fsdp", "mfsdp"}

local LIMIT = 200000

-- The framework whose own report this is, or nil.
function M.find(flat)
  local text = flat:sub(1, LIMIT):gsub("https?://%S+", " ")
  local low = text:lower()
  local rest = low
  for _, pattern in ipairs(theirs) do rest = rest:gsub(pattern, " ") end
  for _, w in ipairs(ours) do
    if rest:find(w, 1, true) then return nil end
  end
  for _, f in ipairs(frameworks) do
    for _, w in ipairs(f[2]) do
      if (w:find "%u" and text or low):find(w, 1, true) then return f[1] end
    end
  end
end

return M

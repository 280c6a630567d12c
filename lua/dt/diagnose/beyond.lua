-- SPDX-License-Identifier: MIT
-- dt/diagnose/beyond.lua: messages that no repro of ours can raise, and whose
-- they are.  A row is {words of which one is printed, why}.

local M = {}

local rows = {
  {{"No backend type associated with device type", "not on device passed to",
    "offloading requires backend supporting cpu", "DistBackendError",
    "ProcessGroupNCCL", "NCCL error", "this nccl communicator is created"},
    "it takes a CUDA device and its backend to raise this; here each backend "
    .. "takes every tensor"},
  {{"attempting to assign a gradient with device type", "to a storage on "
    .. "different device", "on non-CPU device:", "on the same device"},
    "it takes two kinds of devices to raise this; tensors here are on one"},
  {{"CollectiveFingerPrint", "Culprit rank", "Watchdog caught"},
    "the words are of NCCL's watchdog or of detailed debug mode; a divergence "
    .. "is reported in other words here"},
  {{"torch._dynamo", "fake buffer", "Untracked proxy", "SymInt",
    "was invalid, but is output", "guessed its metadata incorrectly",
    "available grad_output types", "runtime_wrappers", "treespec.unflatten",
    "MaskBuffer has not been materialized", "mask_buffer.data is None",
    "assert_size_stride", "fx/experimental/symbolic_shapes.py",
    "Inductor ran", "torch.compile on the",
    "expected size "},
    "it arises while torch.compile traces or runs what it compiled, which is "
    .. "not done here"},
  {{"XLAShardedTensor", "XLATensor", "torch_xla", "Partition spec length",
    "not an XLA tensor"}, "it is torch_xla's own message"},
  {{"Expects storage to be allocated", "data is not allocated yet"},
    "it is of storage that FSDP frees, and here nothing is freed"},
  {{"setStorage: sizes"}, "it is of storage that FSDP1 frees, and here nothing "
    .. "is freed", with = "FullyShardedDataParallel"},
  {{"Integer parameters are unsupported",
    "resize_() on an invalid python", "FSDP assumes ",
    "Cannot pass both process_group and device_mesh"},
    "it is a message of FSDP1 (FullyShardedDataParallel) that nothing raises "
    .. "here"},
  {{"Float8Tensor", "MXTensor", "torchao", "NF4Tensor", "compress_statistics",
    "quant_state"},
    "it is a message of quantised tensors of torchao or bitsandbytes, which do "
    .. "not run here"},
  {{"attention heads (", "num_key_value_heads (", "quantized weight shape",
    "GPUs per node is not divisible", "ensure_divisibility",
    "is not divisible by", "kv_heads % tp_size", "size along dimension to be "
    .. "sharded must be divisible"},
    "it is a check of the library's own, made before any tensor is cut"},
  {{"Invalid parallel dims", "ParallelismConfig total_size",
    "Unsupported tensor parallel style", "is not available. Ensure the "
    .. "corresponding", "With FSDP2, you need to pass model and optimizer",
    "does not seem to reference any FSDP parameters", "unevenly sharded on dim"},
    "it is a check of the library's own, which is not at hand"},
  {{"_dim_group_infos[", "layer_norm_bwd_strategy", "in convolution_rules",
    "assert tensor.size()[dim] % mesh.size()", "only supports 1D TP, not",
    "tensor parallel convolution"},
    "it is a fault or a check inside an older release, whose code is not "
    .. "rebuilt here", older = true},
  {{"'_dim_group_names'", "'_layout'", "_pickle.UnpicklingError",
    "WeightsUnpickler"},
    "it takes a file that another release wrote, or its reader of pickles"},
}

-- The row whose words are in `text`, and the words; `flat` is the whole report.
local function row_in(text, flat)
  for _, row in ipairs(rows) do
    local may = not row.with or flat:find(row.with, 1, true)
    for _, words in ipairs(may and row[1] or {}) do
      if text:find(words, 1, true) then return row, words end
    end
  end
end

-- The report without the warnings of torch's log ("[W327 01:28:07 ...] ..."), which
-- tell of what goes on.
local function without_warnings(r)
  local kept = {}
  for _, line in ipairs(r.doc.lines) do
    if not line:find "%[W%d+ " then kept[#kept + 1] = line end
  end
  return #kept < #r.doc.lines and table.concat(kept, " ") or r.doc.flat
end

-- Why nothing can be run for `r`, or nil; and whether that is mended since, so
-- that a program which runs here says something.  What is raised goes before what
-- stands around it.
function M.why(r)
  local raised = {}
  for i, e in ipairs(r.exceptions) do raised[i] = e.class .. ": " .. e.message end
  local flat = r.doc.flat
  local row, words = row_in(table.concat(raised, " "), flat)
  if not row then row, words = row_in(without_warnings(r), flat) end
  if row then
    return ("cannot be raised here: %s (\"%s\")"):format(row[2], words), row.older
  end
end

return M

-- SPDX-License-Identifier: MIT
-- dt/diagnose/particular/parallel.lua: tensor and context parallelism.
-- The form of a row: particular/init.lua.

return {
  {class = "to-local-grad-placement", only = {"~local_map|LocalMapConfig"},
   fixes = {{"tell local_map what its inputs' gradients are: partial where each rank "
       .. "computes a share",
     torch = "local_map(f, out_placements=[Replicate()], in_placements=([Replicate()],),\n"
       .. "          in_grad_placements=([Partial()],))"}}},
  {class = "cp-backend-or-mask", only = {"No available kernel"}, alone = true,
   cause = "Context parallel lets flash, efficient and cuDNN attention through, and none "
     .. "of them runs here: cards before Ampere (T4) have no flash attention, and the "
     .. "efficient one knows no bfloat16 there.",
   fixes = {
     {"float16 or float32 on such cards, with the efficient kernel",
      torch = "q, k, v = (t.half() for t in (q, k, v))\n"
        .. "with sdpa_kernel(SDPBackend.EFFICIENT_ATTENTION): ...", done = false},
     {"let PyTorch say why each kernel is left out",
      torch = "torch.backends.cuda.can_use_efficient_attention(\n"
        .. "    torch.backends.cuda.SDPAParams(q, k, v, None, 0.0, True, False),\n"
        .. "    debug=True)"},
   }},
  {class = "cp-load-balance", only = {"~PTRR|ptrr", "~dict|several masks|multiple masks"},
   alone = true,
   cause = "The PTRR balancer deals the rows out by what one mask makes them cost: of "
     .. "several masks it has to be told which.",
   fixes = {{"name the mask that costs most (torchtitan 0.3)",
     torch = "--parallelism.context_parallel_ptrr_mask_key full_causal"},
     {"or switch load balancing off"}}},
  {class = "tp-plan-unmatched", alone = true,
   only = {"~does not have a tensor parallel plan|doesn't have a tensor parallel plan"},
   cause = "transformers shards a model that is loaded with tp_plan=\"auto\", in some "
     .. "releases whenever WORLD_SIZE is set (torchrun), and this model's class brings "
     .. "no plan.",
   fixes = {
     {"load it whole: without tp_plan, and outside torchrun when one GPU is enough",
      done = false, torch = "env -u WORLD_SIZE -u RANK -u LOCAL_RANK python program.py"},
     {"or give its configuration a plan, by the names of its layers",
      torch = "Config.base_model_tp_plan = {\n"
        .. '    "layers.*.self_attn.q_proj": "colwise",  # k_proj, v_proj, up_proj too\n'
        .. '    "layers.*.self_attn.o_proj": "rowwise"}  # down_proj too'},
     {"or shard it by FSDP, which needs no plan", torch = "fully_shard(model)"},
   }},
  {class = "moe-router-full-dtensor",
   only = {"does not have a sharding strategy registered", "=own_op"},
   fixes = {{"register a rule for it, that of the operator it stands for",
     torch = "@register_sharding(torch.ops.ns.op.default)\n"
       .. "def rule(x, *rest):  # values and indices\n"
       .. "    return [([Replicate()] * 2, [Replicate(), *[None] * len(rest)])]"}}},
  {class = "tp-heads-not-divisible",
   only = {"~vllm|sglang", "!~vocab_parallel|vocab_size|vocabulary|VocabParallel"},
   fixes = {{"a degree that divides the heads, and the other GPUs by pipeline "
       .. "parallelism, which cuts no head"}}},
  {class = "tp-heads-not-divisible",
   only = {"~vocab_parallel|vocab_size|vocabulary|VocabParallel"}, alone = true,
   cause = "The rows of the embedding, the vocabulary, are cut over the ranks, and "
     .. "their number does not divide.",
   fixes = {
     {"choose a degree that divides the vocabulary"},
     {"or pad the vocabulary to a multiple of the degree; rows that are added are "
        .. "never looked up",
      torch = "model.resize_token_embeddings(pad_to_multiple_of=tp)"},
   }},

  {class = "vocab-parallel-mask", only = {"padding_idx"}, alone = true,
   cause = "padding_idx counts rows of the whole table, and the embedding was "
     .. "given a rank's own rows: it is out of range, or another row's.",
   fixes = {
     {"give each rank the index among its own rows, or none",
      torch = "first = rank * w.size(0)  # w: this rank's rows\n"
        .. "own = pad - first if first <= pad < first + w.size(0) else None\n"
        .. "F.embedding(ids, w, padding_idx=own)"},
     {"or shard the feature dimension, which leaves every row where it is",
      lua = "tp.ColwiseParallel()", torch = "ColwiseParallel()"},
   }},

  {class = "global-shape-as-local",
   only = {"~n_heads|num_heads|head_dim|heads", "~view|reshape"}, alone = true,
   cause = "The number of heads is that of the whole layer, and the tensor holds "
     .. "this rank's heads only.",
   fixes = {
     {"let the number of heads follow from what is there",
      lua = "q:view{b, -1, heads // tp, head_dim}",
      torch = "q.view(b, s, -1, head_dim)  # not n_heads"},
     {"or keep DTensors in between: their views take global sizes",
      torch = "ColwiseParallel(use_local_output=False)"},
   }},

  {class = "cp-seq-divisibility", only = {"~cu_seqlens|thd", "pad"},
   fixes = {{"tell the kernel both lengths: where the tokens end, and where the padding",
     torch = "attn(q, k, v, qkv_format=\"thd\", cu_seqlens_q=lengths,\n"
       .. "     cu_seqlens_q_padded=padded)"}}},

  {class = "cp-backend-or-mask", alone = true,
   only = {"~thrown away|dropped|discard|ignored|removed|silently|= None",
     "~attention_mask|sliding window|chunked|mask is"},
   cause = "Ring attention knows full causal attention only. Whoever hands it "
     .. "layers with another mask has to take the mask away, and attention is "
     .. "another one, without an error.",
   fixes = {
     {"refuse such layers instead of computing something else",
      torch = 'if mask is not None: raise NotImplementedError("context parallel "\n'
        .. '    "knows causal masks only")'},
     {"or gather k and v and apply the mask to this rank's queries",
      torch = "from torch.distributed.nn.functional import all_gather\n"
        .. "k, v = (torch.cat(all_gather(t), dim=2) for t in (k, v))\n"
        .. "F.scaled_dot_product_attention(q, k, v, attn_mask=mask[own_rows])"},
   }},
}

-- SPDX-License-Identifier: MIT
-- dt/diagnose/classes/mixed.lua: plain and distributed tensors met; no rule
-- for an operator; layouts an operator cannot keep.
--
-- A class is {id=, name=, signs=, cause=, fixes=, ask=}.  A sign is
-- {confidence, condition...}; all conditions must hold.  Conditions:
--   "text"       these letters and digits are in the report
--   "~a|b|c"     one of these does          "!text"   this does not
--   "@a.b*|c.d"  the operator of the error is one of these
--   "=name"      a test of dt/diagnose/tests.lua
--   "/pattern"   this Lua pattern matches the report, put on one line
-- A question of `ask` is a text, or {text, only=}.
-- A fix is {text, fixed_in=, lua=, torch=, only=, rewrite=, adds=, x=, done=,
-- examples=, made=}; it and the sentences of `causes` are said when all conditions in
-- `only` hold.  In place of `torch` stands the line of the report that reads a
-- number, where one was found, with the first of `rewrite`'s pairs that is in it
-- exchanged; or else the report's own call of one of adds.calls, with the keywords
-- that it lacks.  `x` is what the code calls the report's tensor, if not x.  `done`
-- is the pattern that shows it was done, or false where no text does.  `examples` are
-- calls in the code that give way to the report's operator.  `made` is a function of the
-- reading: the code for this report, false for what stands here, nil to say nothing.

local MIXED = "got mixed torch.Tensor and DTensor"
local MISSING = "does not have a sharding strategy registered"

return {
  {id = "mixed-tensor-dtensor",
   name = "a plain tensor met a distributed one",
   signs = {
     {0.86, MIXED},
     {0.8, "mixed torch.Tensor and DTensor"},
     {0.6, "=mixed_words", "=dt"},
   },
   cause = "One operand carries a placement, another does not, and DTensor "
     .. "does not guess that the plain one is the same on every rank. The "
     .. "message does not say which one is plain; it is usually a mask, an "
     .. "index, a buffer or a constant made inside the model.",
   fixes = {
     {"make the plain operand distributed with its true placement",
      lua = 'dt.distribute_tensor(mask, x.device_mesh, "R")',
      torch = "distribute_tensor(mask, x.device_mesh, [Replicate()])"},
     {"or leave DTensor for the region, stating the gradient's placement",
      lua = "x:to_local{grad_placements = x.placements}",
      torch = "x.to_local(grad_placements=x.placements)"},
     {"feed inputs through the plan",
      lua = "tp.PrepareModuleInput{input_layouts = Replicate(), "
        .. "desired_input_layouts = Shard(0)}",
      torch = "PrepareModuleInput(input_layouts=Replicate(), "
        .. "desired_input_layouts=Shard(0))"},
     {"only when the plain tensor is equal on all ranks",
      lua = "dt.implicit_replication(function () ... end)",
      torch = "with implicit_replication(): ..."},
   },
   ask = {"Which line of your code raises, and which operand of it is plain?"}},

  {id = "mixed-load-state-dict",
   name = "a full checkpoint tensor copied into a sharded parameter",
   signs = {
     {1.0, "While copying the parameter named", MIXED},
     {0.97, "While copying the parameter named", "an exception occurred",
      "=dt"},
     {0.95, MIXED, "@aten.copy_.default", "=loading"},
     {0.87, MIXED, "@aten.copy_.default"},
     {0.9, MIXED, "@aten.set_.*|aten._foreach_copy_.*", "=loading"},
     {0.74, "=mixed_words", "=loading", "!" .. MIXED, "!" .. MISSING},
     {0.66, "=mixed_words", "~.data[|.data.copy_(|weight.copy_(|param.copy_(",
      "!" .. MIXED, "!" .. MISSING},
     {0.88, MIXED, "~default_weight_loader|load_state_dict(|set_model_state_dict",
      "!recompute_fn"},
   },
   cause = "The values come as ordinary full tensors while the parameter is "
     .. "already sharded (or the other way round). Both report the same "
     .. "global shape, so equal sizes prove nothing.",
   fixes = {
     {"load through the state-dict helper with full-state options",
      fixed_in = "2.5",
      torch = "set_model_state_dict(model, sd, options=StateDictOptions("
        .. "full_state_dict=True, broadcast_from_rank0=True))"},
     {"distribute each entry, then load with assign",
      lua = "p.data = dt.distribute_tensor(full, p.device_mesh, p.placements)",
      torch = "sd[k] = distribute_tensor(full, p.device_mesh, p.placements); "
        .. "model.load_state_dict(sd, assign=True)"},
     {"when exporting to a plain model, gather first (on all ranks)",
      lua = "w:full_tensor()", torch = "w.full_tensor()"},
     {"or load into the plain model and apply fully_shard afterwards"},
   },
   ask = {"Is the parameter or the checkpoint's value the DTensor?"}},

  {id = "mixed-fsdp2-non-forward-entry",
   name = "an FSDP2 parameter used without its forward hook",
   signs = {
     {0.93, MIXED, "=weight_op", "=fsdp", "=entry", "!recompute_fn"},
     {0.86, MIXED, "=weight_frame", "=fsdp", "!recompute_fn", "!=tp"},
     {0.86, MIXED, "=weight_op", "=fsdp", "!recompute_fn", "!=tp"},
     {0.8, MIXED, "=weight_op", "=entry", "!recompute_fn"},
     {0.8, MIXED, "=fsdp", "=entry", "!recompute_fn"},
     {0.87, MIXED, "@aten.embedding.default", "=fsdp", "!recompute_fn"},
     {0.72, "=mixed_words", "=fsdp", "=entry", "!" .. MIXED, "!" .. MISSING},
     {0.66, "register_fsdp_forward_method", "!" .. MIXED},
     {0.55, "register_fsdp_forward_method", "=dt", "~not unshard|DTensor|error"},
   },
   cause = "FSDP2 gathers parameters in the forward hooks of the wrapped "
     .. "module. Calling another method, or reading a weight directly, skips "
     .. "the hooks, so a sharded parameter meets a plain activation.",
   fixes = {
     {"tell FSDP2 about the method", fixed_in = "2.4",
      torch = 'register_fsdp_forward_method(model, "generate")'},
     {"gather around the region that uses the weight, and reshard "
       .. "after it", torch = "module.unshard()\n"
        .. "y = helper(module, x)\nmodule.reshard()"},
     {"apply fully_shard to the root too, after its blocks",
      lua = "dt.fully_shard(model, {mesh = mesh})",
      torch = "fully_shard(model, mesh=mesh)"},
     {"keep code that needs a weight inside the wrapped module's forward"},
   },
   ask = {"Which method was called, and which modules did fully_shard wrap?"}},

  {id = "missing-sharding-strategy",
   name = "the operator has no sharding strategy",
   signs = {
     {0.92, MISSING},
     {0.75, "does not have a sharding strategy"},
     {0.72, "does not have a sharding"},
     {0.5, "~sharding strategy for|sharding rule for|no sharding strategy|"
       .. "lacks a sharding|sharding strategy registered|register a sharding",
      "=dt"},
   },
   cause = "The dispatcher found neither a strategy, nor a rule, nor a usable "
     .. "decomposition for this overload. Overloads are registered one by "
     .. "one: the in-place, out= or backward form can lack what the plain "
     .. "form has.",
   fixes = {
     {"upgrade to a release whose table has the operator"},
     {"write it with operators that have a strategy (out of place, slices)"},
     {"register the sharding of the operator and of its backward",
      fixed_in = "2.5",
      lua = "dt.register_sharding(op, function (...) return rules end)",
      torch = "@register_sharding(torch.ops.ns.op.default)\n"
        .. "def rule(x, *rest):\n"
        .. "    return [([Replicate()], [Replicate(), *[None] * len(rest)])]"},
     {"run the region on local tensors",
      lua = "tp.local_map(f, out_placements, in_placements)",
      torch = "y = local_map(f, out_placements=[Replicate()],\n"
        .. "              in_placements=([Replicate()],),\n"
        .. "              redistribute_inputs=True)(x)"},
     {"or replicate the inputs first",
      lua = 'x:redistribute(x.device_mesh, "R")',
      torch = "x.redistribute(placements=[Replicate()])"},
   },
   ask = {}},

  {id = "mixed-activation-checkpoint-recompute",
   name = "mixed types while a checkpoint is recomputed",
   signs = {
     {0.95, MIXED, "~recompute_fn|in unpack_hook"},
     {0.85, MIXED, "torch/utils/checkpoint.py", "~loss.backward|in backward"},
     {0.7, "=mixed_words", "~recompute|recomputation|activation checkpoint|"
       .. "gradient checkpoint", "!" .. MIXED},
     {0.8, MIXED, "~activation checkpointing|gradient checkpointing|"
       .. "checkpoint recomput|recomputation|being recomputed|"
       .. "selective checkpoint|activation checkpoint",
      "~backward|recompute"},
     {0.6, MIXED, "~gradient_checkpointing|activation_checkpointing",
      "~backward|recompute"},
   },
   cause = "The recomputation in backward runs while an inner FSDP module has "
     .. "resharded its parameters and believes they are still gathered. "
     .. "Several forwards before one backward trigger it.",
   fixes = {
     {"upgrade: parameters are gathered again in the recomputation",
      fixed_in = "2.11"},
     {"do not reshard the inner modules",
      torch = "fully_shard(block, reshard_after_forward=False)"},
     {"one backward for each forward, or concatenate the batches"},
     {"checkpoint inside the FSDP unit, not around it"},
   },
   ask = {"Do all ranks raise? How many forwards go before the backward?"}},

  {id = "mixed-attention-operand",
   name = "an attention operator met a plain operand",
   signs = {
     {0.96, MIXED, "@npu.npu_fusion*|flash_attn.*|*flash_attn*|"
       .. "*scaled_dot_product*|*fused_attention*|*fusion_attention*|"
       .. "*efficient_attention*", "!recompute_fn"},
     {0.9, MIXED, "=mask_op", "=sdpa_frame", "!recompute_fn", "!flex_attention"},
     {0.88, MIXED, "=mask_op", "=rope", "!recompute_fn", "!flex_attention"},
     {0.78, MIXED, "=sdpa_frame", "!recompute_fn", "!flex_attention",
      "!@aten.embedding.*|aten.copy_.*|aten._foreach*|aten._fused*"},
     {0.85, "=mixed_words", "@*attention*"},
     {0.88, MISSING, "@flash_attn.*|*flash_attn*"},
   },
   cause = "Queries, keys and values are distributed while the mask, the "
     .. "rotary table or the sequence lengths are plain.",
   causes = {
     {"A device's own fused attention may have no sharding rule at all.",
      only = {"@npu.*|flash_attn.*|*fusion*|*flash_attn*|"
        .. "transformer_engine.*|te.*|xformers.*|hpu.*|xpu.*|mlu.*"}},
     {"Backends without a fused kernel fall back to the math path, which "
        .. "makes a plain causal mask inside.",
      only = {"@*attention*|aten.bmm*|aten.baddbmm*|aten._softmax*"}},
   },
   fixes = {
     {"distribute every input of the operator, the mask too",
      lua = 'dt.distribute_tensor(mask, mesh, "R")',
      torch = "distribute_tensor(mask, mesh, [Replicate()])"},
     {"register the sharding of the device's operator, forward and backward",
      fixed_in = "2.5", only = {"@npu.*|flash_attn.*|*fusion*|*flash_attn*|"
        .. "transformer_engine.*|te.*|xformers.*|hpu.*|xpu.*|mlu.*"},
      lua = "dt.register_sharding(dt.ops.npu.npu_fusion_attention.default, "
        .. "rules)",
      torch = "@register_sharding(torch.ops.npu.npu_fusion_attention.default)"},
     {"heads are independent: run the kernel on local tensors and wrap the "
        .. "result", lua = "DTensor.from_local(attn(q:to_local(), "
        .. "k:to_local(), v:to_local()), mesh, {Shard(1)})",
      torch = "DTensor.from_local(attn(q.to_local(), k.to_local(), "
        .. "v.to_local()), mesh, [Shard(1)])"},
     {"choose an attention backend that has a rule",
      only = {"@*attention*|aten.bmm*|aten.baddbmm*|aten._softmax*|npu.*"},
      torch = "with sdpa_kernel(SDPBackend.FLASH_ATTENTION): ..."},
   },
   ask = {"Which device and attention backend? Is a mask given?"}},

  {id = "mixed-optimizer-group",
   name = "the optimizer's or clipping's list mixes both kinds",
   signs = {
     {0.95, MIXED, "@aten._foreach_*|aten._fused_*|aten._amp_foreach*",
      "!recompute_fn", "!load_state_dict("},
     {0.9, MIXED, "~in clip_grad_norm_|_get_total_norm|clip_grads_with_norm|"
       .. "clip_grad.py", "!recompute_fn"},
     {0.9, MIXED, "~torch/optim/|in optimizer_step|optimizer.step()",
      "@aten.lerp*|aten.addc*|aten.mul*|aten.add*|aten.div*|aten.stack*|"
       .. "aten.sqrt*|aten.maximum*|aten.where*", "!load_state_dict(",
      "!loss.backward"},
     {0.66, "=mixed_words", "~optimizer.step|foreach|clip_grad|_fused_adam|"
       .. "fused adam", "!" .. MIXED, "!state_dict"},
     {0.78, MIXED, "~torch/optim/|in clip_grad", "!load_state_dict(",
      "!recompute_fn"},
   },
   cause = "One foreach or fused call gets a list in which some parameters "
     .. "are DTensors and some are not: ignored parameters, layers left out "
     .. "of the plan, buffers made trainable.",
   fixes = {
     {"separate groups for plain and distributed parameters",
      torch = "both = [[p for p in params if isinstance(p, DTensor) == kind] for kind\n"
        .. "    in (True, False)]\n"
        .. "torch.optim.AdamW([{\"params\": g} for g in both if g])"},
     {"one parameter at a time", lua = "dt.optim.AdamW(params, "
        .. "{foreach = false})", torch = "AdamW(params, foreach=False)"},
     {"put the stragglers on the mesh",
      lua = 'dt.distribute_tensor(p, mesh, "R")',
      torch = "distribute_tensor(p, mesh, [Replicate()])"},
   },
   ask = {"Which parameters are not DTensors after sharding?"}},

  {id = "inference-mode-composite",
   name = "a composite operator in inference mode",
   signs = {
     {0.93, MISSING, "inference_mode", "@aten.matmul.*|aten.linear.*|"
       .. "aten.layer_norm.*|aten.scaled_dot_product_attention.*|"
       .. "aten.rms_norm.*|aten.conv2d.*|aten.einsum.*|aten.reshape.*"},
     {0.86, MISSING, "@aten.matmul.default|aten.linear.default|"
       .. "aten.layer_norm.default"},
     {0.88, MIXED, "@aten.matmul.default|aten.linear.default|"
       .. "aten.layer_norm.default|aten.reshape.default", "!recompute_fn"},
     {0.88, MIXED, "inference_mode", "=weight_op", "!recompute_fn"},
     {0.6, "inference_mode", "DTensor", "~aten.|error|fail"},
   },
   cause = "In inference mode composite operators are not taken apart before "
     .. "DTensor sees them, and it has rules only for the parts.",
   fixes = {
     {"use no_grad instead of inference_mode: composite operators are "
       .. "taken apart there", lua = "dt.no_grad(function () ... end)",
      torch = "with torch.no_grad(): ..."},
     {"upgrade: composite operators are taken apart in inference mode too",
      fixed_in = "2.6"},
   },
   ask = {{"Does it work under torch.no_grad()?", only = {"!no_grad"}}}},

  {id = "backend-op-missing",
   name = "a backend's private operator has no strategy",
   signs = {
     {0.96, MISSING, "@npu.*|hpu.*|xpu.*|mlu.*|quanto.*|musa.*|gcu.*|xla.*"},
     {0.95, MISSING, "@*npu_dtype_cast*"},
     {0.5, "=dt", "~npu_dtype_cast|torch_npu", "~sharding|DTensor",
      "~not registered|missing|unsupported|not supported"},
   },
   cause = "The backend replaces aten calls by operators of its own after "
     .. "DTensor has wrapped the tensors: a dtype cast, fused attention, "
     .. "norms. DTensor has no rule for them.",
   fixes = {
     {"do the cast before sharding", torch = "model.to(dtype) before "
        .. "fully_shard(model)"},
     {"register the sharding in the backend", fixed_in = "2.5",
      lua = "dt.register_sharding(op, rules)",
      torch = "@register_sharding(torch.ops.npu._npu_dtype_cast.default)"},
     {"switch the fused operator off in the model's settings, so that "
       .. "plain operators run"},
   },
   ask = {"Which versions of torch and of the backend's package?"}},

  {id = "inplace-placement-change", of_operator = true,
   name = "an in-place operator would have to move its own tensor",
   signs = {
     {0.97, "in-place operations that require placement changes are not "
       .. "supported"},
     {0.9, "breaks aliasing semantics", "out-of-place version"},
     {0.8, "output with shape", "match the broadcast shape",
      "Sharding propagation failed"},
     {0.75, "min() arg is an empty sequence", "=dt"},
     {0.75, "min() arg is an empty sequence", "@aten.*"},
     {0.66, "~in-place|in place|inplace", "~cannot change placement|"
       .. "cannot change the placement|may not move the tensor|cannot move its own "
       .. "tensor", "!=raises"},
   },
   cause = "An in-place operator cannot redistribute its own tensor, since "
     .. "others hold it too. The layout of the result would differ from the "
     .. "layout the tensor has.",
   fixes = {
     {"the out-of-place form: the result may have another placement",
      only = {"!@*.normal_.*|*.uniform_.*|*.random_.*|*.bernoulli_.*|"
         .. "*.exponential_.*|*.zero_.*|*.fill_.*|*.copy_.*"},
       lua = "x = x:clamp(nil, 10)",
      torch = "x = x.clamp(max=10)",
      examples = {"clamp(nil, 10)", "clamp(max=10)"}},
     {"redistribute first, then write in place",
      lua = 'x = x:redistribute(x.device_mesh, "R")',
      torch = "x = x.redistribute(placements=[Replicate()])"},
     {"bring the other operand to the parameter's placement",
      only = {"!@*.normal_.*|*.uniform_.*|*.random_.*|*.bernoulli_.*|"
        .. "*.exponential_.*|*.zero_.*|*.fill_.*"}},
   },
   ask = {"What are the placements of both operands?"}},

  {id = "moe-router-full-dtensor",
   name = "a router computed on distributed tensors",
   signs = {
     {0.9, "in-place operations that require placement changes",
      "@aten.scatter_*", "=moe"},
     {0.85, MISSING, "@torchtitan.*topk*|*histc*|*deterministic_topk*"},
     {0.93, "but in_src_shardings expects"},
     {0.9, "in-place operations that require placement changes",
      "@aten.scatter_.*"},
     {0.7, MISSING, "@aten._grouped_mm*", "=moe", "~router|num_tokens_per_expert"},
     {0.68, "=moe", "DTensor", "~router", "~num_tokens|token counts|"
       .. "tokens per expert|routing map|histc", "!Error:"},
     {0.45, "=moe", "DTensor", "~router", "~global|num_tokens|token counts|"
       .. "routing map|histc"},
   },
   cause = "Token counts and routing maps computed on DTensors use global "
     .. "sizes, and scatter or histogram placements differ between even and "
     .. "degenerate cases.",
   fixes = {
     {"make the router a local region with declared placements",
      lua = "tp.local_map(router, out, in)",
      torch = "local_map(router, out_placements=..., in_placements=...)"},
     {"scatter out of place: the result may be placed anew",
       lua = "x:scatter(dim, index, 1)",
      torch = "x.scatter(dim, index, 1)"},
     {"size buffers by the local batch, not by the DTensor's global "
       .. "shape"},
     {"upgrade: grouped_mm has rules from 2.8 on", fixed_in = "2.8"},
   },
   ask = {"How many tokens, experts, tp and ep?"}},

  {id = "index-put-and-select", of_operator = true,
   name = "indexing into a sharded dimension",
   signs = {
     {0.86, MISSING, "@aten.select.*|aten.select_backward.*|aten.index_put*|"
       .. "aten.slice_backward.*|aten.index.Tensor|aten.select_scatter*|"
       .. "aten.slice_scatter*"},
     {0.9, MIXED, "@aten.index_put.default", "!recompute_fn"},
     {0.93, MISSING, "@aten.fill_.Tensor", "/%] = %-?%d"},
     {0.97, "DTensor does not support select on sharded dimension"},
     {0.8, "Sharding propagation failed", "~select(): index|out of range for "
       .. "tensor|exceeds dimension size", "@aten.select*|aten.index*|"
       .. "aten.slice*|aten.narrow*"},
     {0.75, "Sharding propagation failed", "@aten.index_put*|aten.select*|"
       .. "aten.slice_backward*|aten.slice_scatter*"},
     {0.72, "cannot be broadcast to indexing result of shape", "=dt"},
     {0.7, "@aten.index_put*|aten.select*|aten.index.Tensor", "=dt",
      "~wrong|incorrect|illegal|sharded dim|fails|crashes", "!" .. MIXED},
     {0.6, "DTensor", "~slicing|index slice|slice assignment|indexing|sliced",
      "~silent|no effect|not written|is lost|not modified|none of|unchanged|"
      .. "not change", "!=raises"},
     {0.5, "index_put", "DTensor", "~shard"},
   },
   cause = "Indices are global positions but are applied to local shards, or "
     .. "the backward of indexing makes plain zeros. The rules for select, "
     .. "slice and index_put came one by one between 2.8 and 2.12.",
   fixes = {
     {"replicate the indexed dimension first",
      lua = 'x:redistribute(x.device_mesh, "R")',
      torch = "x.redistribute(placements=[Replicate()])"},
     {"slice and squeeze, index_select or gather instead",
      torch = "x.narrow(0, i, 1).squeeze(0)  # not x[i]"},
     {"upgrade: select and slice backward 2.8, index_put 2.9, right on the "
        .. "indexed dimension 2.11", fixed_in = "2.11"},
     {"a local region with the rank's offset"},
   },
   ask = {"Which dimension is indexed, and does a placement shard it?"}},

  {id = "dynamic-output-shape", of_operator = true, mark = "OutputShapeException: ",
   name = "the result's shape depends on data",
   signs = {
     {0.95, "DynamicOutputShapeException", "=dt"},
     {0.7, "DynamicOutputShapeException", "~aten.nonzero|masked_select|unique",
      "~shard|distributed"},
     {0.9, "/Error:? aten%.[%w_]+%.%w+ Sharding propagation failed"},
     {0.6, "=dt", "@aten.nonzero.*|aten.masked_select.*|aten._unique2.*"},
     {0.5, "=dt", "~boolean mask|bool mask|boolean index", "~DTensor",
      "~fail|error|not support"},
   },
   cause = "Shapes are worked out before any rule is looked up, and a shape "
     .. "that depends on values cannot be; so the message about a missing "
     .. "strategy never appears.",
   fixes = {
     {"where or a product instead of a boolean index",
      lua = "dt.where(mask, x, 0)", torch = "torch.where(mask, x, 0)"},
     {"compute it on local tensors", lua = "tp.local_map(f, out, in)",
      torch = "local_map(f, ...)"},
     {"go through the full tensor", lua = "x:full_tensor():nonzero()",
      torch = "x.full_tensor().nonzero()"},
     {"upgrade: nonzero, unique and relatives replicate", fixed_in = "2.12"},
   },
   ask = {"Is there a boolean index in your line?"}},

  {id = "register-sharding-limits",
   name = "register_sharding does not cover the operator's form",
   signs = {
     {0.93, "input_specs(", "~) != strategies(|"
       .. "len(input_specs) == len(input_args_strategy)"},
     {0.93, "which does not equal the number of op outputs"},
     {0.88, "no valid sharding strategy for the input placements", "=own_op"},
     {0.8, "Sharding propagation failed", "~is_replicate|is_shard|"
       .. "positional argument but|positional arguments but", "=own_op"},
     {0.8, "min() arg is an empty sequence", "register_sharding"},
     {0.62, "register_sharding", "~AssertionError|assertion|kwargs|keyword|"
       .. "no output|no return|in-place", "!" .. MISSING, "!" .. MIXED},
     {0.6, "custom_sharding", "register_sharding", "!" .. MISSING},
   },
   cause = "The experimental registration counts only distributed tensors "
     .. "among positional arguments; tensors in keywords, in-place schemas "
     .. "and operators without outputs do not fit.",
   fixes = {
     {"move tensors into positional arguments, return an output"},
     {"give a strategy of the lower level",
      torch = "register_op_strategy(op)(strategy)"},
     {"run the operator on local tensors", lua = "tp.local_map(f, out, in)",
      torch = "local_map(f, ...)"},
   },
   ask = {"What is the operator's schema?"}},

  {id = "out-variant-kwarg-dtensor",
   name = "the only distributed tensor is out=",
   signs = {
     {0.96, "found no DeviceMesh from dtensor args for", "@aten.*"},
     {0.94, "Cannot find device mesh from args for op", "@aten.*"},
   },
   cause = "The dispatcher looks for a mesh among the inputs; with a plain "
     .. "input and a distributed out= it finds none.",
   fixes = {
     {"build the full tensor and distribute it",
      lua = 'dt.distribute_tensor(dt.eye(8), mesh, "S(0)")',
      torch = "distribute_tensor(torch.eye(8), mesh, [Shard(0)])"},
     {"or write into the local tensor: out=y.to_local()"},
   },
   ask = {}},

  {id = "raw-collective-on-dtensor",
   name = "a raw collective got a DTensor",
   signs = {
     {0.97, "found no DeviceMesh from dtensor args for", "@c10d*|_c10d*"},
     {0.96, "Cannot find device mesh from args for op", "@c10d*|_c10d*"},
     {0.95, "c10d::broadcast_", "attempted to run this operator with Meta"},
     {0.95, MISSING, "@c10d.*|_c10d_functional.*"},
     {0.93, MIXED, "@c10d.*|_c10d_functional.*"},
     {0.55, "sync_module_states", "DTensor", "~fail|error|raise|found no|breaks"},
   },
   cause = "c10d collectives take lists the dispatcher does not unwrap, and "
     .. "acting on the local shard would ignore the placement.",
   fixes = {
     {"use the local tensor: a raw collective knows no placement",
       lua = "x:to_local()", torch = "x.to_local()"},
     {"redistribute or full_tensor instead: they choose the "
       .. "collective", lua = "x:full_tensor()",
      torch = "x.full_tensor()"},
     {"broadcast the plain parameters first and distribute them afterwards"},
   },
   ask = {}},
}

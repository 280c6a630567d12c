-- SPDX-License-Identifier: MIT
-- dt/diagnose/particular/mixed.lua: plain and distributed tensors that meet, and
-- collectives and wrappers that take no DTensor.
-- The form of a row: particular/init.lua.

local CLIPPING <const> = "Clipping takes the norm of all gradients and multiplies each "
  .. "by one coefficient: a DTensor where some gradients are DTensors, which the plain "
  .. "ones cannot take."

local of_clipping = {
  {"put the stragglers on the mesh",
   lua = 'dt.distribute_tensor(p, mesh, "R")',
   torch = "distribute_module(model.norm, mesh)  # what the plan leaves out"},
  {"a norm for each kind, then combine",
   torch = "cut = get_total_norm(grads of DTensors).full_tensor()\n"
     .. "norm = (cut**2 + get_total_norm(the other grads)**2).sqrt()\n"
     .. "clip_grads_with_norm_(each of the two lists, max_norm, norm)"},
}

return {
  {class = "mixed-tensor-dtensor", only = {"~nn/init.py"},
   fixes = {{"initialise before the parameters are distributed",
     torch = "nn.init.trunc_normal_(w, std=0.02)\n"
       .. "w = distribute_tensor(w, mesh, [Shard(0)])"}}},
  {class = "mixed-tensor-dtensor",
   only = {"~AsyncCollectiveTensor|use_local_output"}, alone = true,
   cause = "Styles of tensor parallelism hand out plain local tensors unless they "
     .. "are told otherwise; here such an output meets one that is still a "
     .. "DTensor.",
   fixes = {
     {"let the style hand out DTensors, as the other operand is one",
      lua = "tp.RowwiseParallel{output_layouts = Shard(1), use_local_output = "
        .. "false}",
      torch = "RowwiseParallel(output_layouts=Shard(1), use_local_output=False)"},
     {"or make the other operand local too, where both lie alike",
      lua = "x:to_local()", torch = "x.to_local()"},
   }},
  {class = "mixed-tensor-dtensor", alone = true,
   only = {"@aten.mm.*|aten.addmm.*|aten.linear.*|aten.bmm.*|aten.convolution.*|"
       .. "aten.embedding.*|aten.baddbmm.*"},
   cause = "A layer's weight and its input have to be of one kind: a weight that a "
     .. "plan or FSDP distributed met a plain input, or a plain weight (a layer "
     .. "that the plan leaves out) met a DTensor.",
   fixes = {
     {"give the layer an entry in the plan: its style turns a plain input into a "
        .. "DTensor",
      lua = 'tp.parallelize_module(model, mesh, {["path.of.layer"] = '
        .. 'tp.ColwiseParallel()})',
      torch = 'parallelize_module(model, mesh, {"path.of.layer": '
        .. 'ColwiseParallel()})'},
     {"or make the plain operand distributed with its true placement",
      lua = 'dt.distribute_tensor(x, mesh, "R")',
      torch = "distribute_tensor(x, mesh, [Replicate()])"},
     {"or, where the layer keeps its whole weight, distribute that: every rank "
        .. "computes it all",
      torch = "distribute_module(layer, mesh)"},
     {"or call the module itself, whose hooks gather its weights, and no method "
        .. "beside forward", only = {"~fully_shard|fsdp"},
      torch = 'register_fsdp_forward_method(model, "generate")'},
   }},

  {class = "mixed-attention-operand", alone = true,
   only = {"=rope", "!=sdpa_frame", "@aten.mul.*|aten.add.*|aten.addcmul*"},
   cause = "Queries and keys are distributed while the tables of the rotary "
     .. "embedding are plain: a buffer, or made from positions in the forward.",
   fixes = {
     {"distribute the tables where they are made or handed in: each later use of "
        .. "them meets queries or keys",
      lua = 'cos = dt.distribute_tensor(cos, mesh, "R"); '
        .. 'sin = dt.distribute_tensor(sin, mesh, "R")',
      torch = "cos = distribute_tensor(cos, mesh, [Replicate()])\n"
        .. "sin = distribute_tensor(sin, mesh, [Replicate()])"},
     {"turn local heads: batch and heads may be cut, the positions not",
      lua = "q = DTensor.from_local(rope(q:to_local(), cos, sin), mesh, "
        .. "q.placements)",
      torch = "q = DTensor.from_local(rope(q.to_local(), cos, sin), mesh, "
        .. "q.placements)"},
   }},

  {class = "mixed-optimizer-group", only = {"@aten._foreach_norm.*"}, alone = true,
   fixes = of_clipping},
  {class = "mixed-optimizer-group", alone = true,
   only = {"~clip_grad.py|in clip_grad_norm_|in _get_total_norm|"
       .. "clip_grads_with_norm", "!@aten._foreach_norm.*"},
   cause = CLIPPING, fixes = of_clipping},
  {class = "mixed-optimizer-group", alone = true,
   only = {"~clip_grad|gradient clipping|clipping of gradients",
     "!~torch/optim|optimizer.step|optim.step", "!@aten._foreach_norm.*"},
   cause = CLIPPING, fixes = of_clipping},
  {class = "mixed-optimizer-group", only = {"!~clip_grad"},
   fixes = {{"separate groups for plain and distributed parameters",
     torch = "AdamW([{\"params\": [p for p in ps if isinstance(p, DTensor)]},\n"
       .. "       {\"params\": [p for p in ps if not isinstance(p, DTensor)]}])"}}},
  {class = "mixed-optimizer-group", alone = true,
   only = {"~set_optimizer_state_dict|load_state_dict|optim_state_dict",
     "~exp_avg|optimizer state|optim.state|momentum"},
   cause = "The parameters are DTensors, and the optimizer state that was loaded "
     .. "is whole plain tensors: the step gets both.",
   fixes = {
     {"load through the helper that distributes the state like the parameters",
      torch = "set_optimizer_state_dict(model, optim, sd, "
        .. "options=StateDictOptions(\n"
        .. "    full_state_dict=True, broadcast_from_rank0=True))"},
     {"or distribute each state after loading", done = false,
      lua = "state[k] = dt.distribute_tensor(v, p.device_mesh, p.placements)",
      torch = "for p, state in optim.state.items():\n"
        .. "    for k, v in state.items():\n"
        .. "        if v.shape == p.shape:\n"
        .. "            state[k] = distribute_tensor(v, p.device_mesh, p.placements)"},
   }},

  {class = "raw-collective-on-dtensor", alone = true,
   only = {"~DDP|DistributedDataParallel|deepspeed|device_map",
     "~c10d.broadcast_|c10d::broadcast_"},
   cause = 'The parameters are DTensors already (a tp plan, or '
     .. 'device_map/tp_plan="auto" under torchrun), and the wrapper broadcasts '
     .. 'them as plain tensors.',
   fixes = {
     {'load the model plain for this wrapper: no tp_plan, no device_map="auto"',
      torch = "AutoModel.from_pretrained(name)  # DDP and DeepSpeed place it"},
     {"or, when tensor parallelism is wanted, a wrapper that takes DTensors",
      lua = 'dt.fully_shard(model, {mesh = mesh["dp"]})',
      torch = 'fully_shard(model, mesh=mesh["dp"])'},
   }},
  {class = "raw-collective-on-dtensor",
   only = {"~sync_module_states|cpu_ram_efficient"},
   fixes = {{"broadcast the plain parameters first and distribute them afterwards",
     torch = "for p in model.parameters(): dist.broadcast(p.data, src=0)\n"
       .. "parallelize_module(model, mesh, plan)  # sync_module_states=False,\n"
       .. "                                       # cpu_ram_efficient_loading off"}}},
}

-- SPDX-License-Identifier: MIT
-- dt/diagnose/particular.lua: fixes for one message among the several of a
-- class.  They are said before the fixes of the class, or `alone` in place of
-- them when those do not touch the message; `cause` then is said in place of
-- the class's.  `only` holds conditions as in lua/dt/diagnose/classes/mixed.lua.

return {
  {class = "dcp-missing-key", only = {"Missing optimizer state for parameter"},
   "load without it: this parameter starts with fresh optimizer state",
   torch = "set_optimizer_state_dict(model, optimizer, state,\n"
     .. "    options=StateDictOptions(strict=False))"},
  {class = "dcp-missing-key",
   only = {"~strict=False|bigger model|larger model|partial load"},
   "allow a partial load: keys that are not saved keep their values",
   torch = "dcp.load(state, checkpoint_id=path,\n"
     .. "    planner=DefaultLoadPlanner(allow_partial_load=True))"},

  {class = "dcp-size-mismatch",
   only = {"~invalid fill tensor-volume|Failed to validate global plan"},
   alone = true,
   cause = "The pieces that the ranks save do not fill the tensor: a DTensor "
     .. "is sharded over mesh dimensions that its own mesh does not name, as "
     .. "when FSDP and TP got meshes of their own.",
   "slice every mesh from one root, so that the saved DTensor knows all "
     .. "dimensions that shard it",
   lua = 'tp.parallelize_module(m, mesh["tp"], plan); dt.fully_shard(m, '
     .. '{mesh = mesh["dp"]})',
   torch = 'parallelize_module(m, mesh["tp"], plan); '
     .. 'fully_shard(m, mesh=mesh["dp"])'},

  {class = "collective-sequence-mismatch",
   only = {"~checkpoint|state dict|state_dict", "~keys|optimizer state"},
   "let every rank hold the same keys: the same state-dict call on all of "
     .. "them, ranks with an empty shard included",
   torch = "state = get_optimizer_state_dict(model, optimizer)"},

  {class = "fsdp2-mixed-dtype-group",
   only = {"reduce-scatter expects uniform gradient dtype"}, alone = true,
   cause = "With a reduce_dtype of its own, gradients that were accumulated "
     .. "have that type; one that is first made in the last microbatch, or a "
     .. "placeholder of an unused parameter, still has param_dtype.",
   "one type for gradients: reduce_dtype the same as param_dtype (sums then "
     .. "are made in it, less exactly)",
   torch = "MixedPrecisionPolicy(param_dtype=torch.bfloat16,\n"
     .. "    reduce_dtype=torch.bfloat16)"},
  {class = "fsdp2-mixed-dtype-group",
   only = {"reduce-scatter expects uniform gradient dtype"}, alone = true,
   "or let every parameter take part in each microbatch: add what it computes "
     .. "times zero to the loss",
   torch = "loss = loss + 0.0 * branch(x).sum()"},
  {class = "fsdp2-mixed-dtype-group",
   only = {"~Must flatten tensors with uniform dtype|requires uniform dtype"},
   "one dtype for all parameters before FSDP wraps the model",
   torch = "model.to(torch.bfloat16)  # before FSDP(model, ...)"},
  {class = "fsdp2-mixed-dtype-group",
   only = {"~Must flatten tensors with uniform dtype|requires uniform dtype",
     "~qlora|load_in_4bit|bnb|bitsandbytes|quantiz"},
   "store the quantised weights in the dtype of the others",
   torch = "BitsAndBytesConfig(load_in_4bit=True,\n"
     .. "    bnb_4bit_quant_storage=torch.bfloat16)"},

  {class = "fsdp2-non-float-parameter",
   only = {"~load_in_8bit|load_in_4bit|bnb|bitsandbytes|qlora"},
   "4 bit with a floating point storage: 8 bit weights are integers and "
     .. "cannot be sharded",
   torch = "BitsAndBytesConfig(load_in_4bit=True,\n"
     .. "    bnb_4bit_quant_storage=torch.bfloat16)"},

  {class = "fsdp2-usage", only = {"~attributes|attribute",
     "~Parameter|parameter", "~drops|lost|not copied|without them|not kept"},
   alone = true,
   cause = "fully_shard puts a new Parameter in place of each one; only "
     .. "requires_grad goes with it.",
   "set them again after fully_shard, by name",
   torch = "for name, p in model.named_parameters(): p.tag = tags[name]"},

  {class = "inplace-placement-change", only = {"~clip_grad|clamp_|clamp"},
   "write it out of place and assign the result",
   lua = "x = x:clamp(low, high)", torch = "x = x.clamp(low, high)"},
}

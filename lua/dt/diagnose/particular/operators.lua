-- SPDX-License-Identifier: MIT
-- dt/diagnose/particular/operators.lua: operators on DTensors, what they give and
-- what they cost.
-- The form of a row: particular/init.lua.

return {
  {class = "strided-shard-op-rules", only = {"~isinstance|is_shard"}, alone = true,
   cause = "_StridedShard is no subclass of Shard any more: code that asks for a "
     .. "Shard does not see that the dimension is cut. Its pieces are interleaved, "
     .. "so rank * size is not where a piece begins.",
   fixes = {
     {"ask for both, and take the piece from the tensor",
      torch = "isinstance(p, (Shard, _StridedShard))  # of placement_types"},
     {"or work on a layout without it",
      lua = 'x:redistribute(mesh, "R R")',
      torch = "x.redistribute(placements=[Replicate(), Replicate()])"},
   }},

  {class = "missing-sharding-strategy", only = {"as_strided"},
   fixes = {{"say the view by transpose, permute, view or slices: strides alone do "
       .. "not tell which dimension is sharded",
     lua = "x:transpose(0, 1)", torch = "x.transpose(0, 1)"}}},

  {class = "index-put-and-select", only = {"/%[[^%[%]]*%[%-?%d+%]"},
   fixes = {{"slice and squeeze, index_select or gather instead",
     lua = "x:narrow(1, -1, 1)", torch = "x[:, -1:]  # not x[:, [-1]]"}}},

  {class = "inplace-placement-change", only = {"~clip_grad|clamp_|clamp"},
   fixes = {{"write it out of place and assign the result",
     lua = "x = x:clamp(low, high)", torch = "x = x.clamp(low, high)"}}},

  {class = "partial-read-as-value", alone = true,
   only = {"full_tensor()", "~cp|context parallel|dp_mesh|over dp",
     "~loss|metric|logged|displayed"},
   cause = "full_tensor() reduces over the mesh of the DTensor only. An axis that "
     .. "is no part of that mesh (cp, dp) is left as it is: each of its ranks "
     .. "shows its own value.",
   fixes = {{"reduce over the other axis as well",
     torch = "loss = loss.full_tensor()\n"
       .. 'dist.all_reduce(loss, group=mesh["cp"].get_group())'}}},
  {class = {"partial-read-as-value", "partial-plus-scalar"},
   only = {"~cached|caches|caching", "Partial"},
   cause = "What is cached is the addend of one rank: it is read again later "
     .. "without the reduction that the first use would have had.",
   fixes = {{"reduce before caching", done = false,
     lua = 'self.scale = x:redistribute(mesh, "R")',
     torch = "self.scale = scale.redistribute(placements=[Replicate()])"}}},

  {class = "local-map-placements",
   only = {"/has a mismatched placements: arg placements is %(?[^!]*input placements is "
     .. "%([^!]*Shard%(dim=%-%d"}, alone = true,
   cause = "local_map compares in_placements as they are written, and a DTensor counts "
     .. "its dimensions from 0: Shard(-1) is never equal to them.",
   fixes = {{"count the dimensions from 0",
     lua = 'tp.local_map(f, {"S(2)"}, {{"S(2)"}})',
     torch = "local_map(f, out_placements=[Shard(x.ndim - 1)],\n"
       .. "          in_placements=([Shard(x.ndim - 1)],))"}}},
  {class = "local-map-placements",
   only = {"has a mismatched placements", "!/Shard%(dim=%-%d"}, alone = true,
   cause = "local_map checks each argument against in_placements and moves nothing "
     .. "unless it is told to.",
   fixes = {
     {"let it move the argument",
      torch = "local_map(f, ..., redistribute_inputs=True)"},
     {"or bring it there before the call, where the traffic is seen",
      lua = "x:redistribute(mesh, pl)", torch = "x.redistribute(placements=pl)"},
   }},
  {class = "local-map-placements",
   only = {"/in_placements length %d+ does not match the number of input args"},
   alone = true,
   cause = "The arguments are counted one by one, the members of lists, tuples and "
     .. "dicts too; in_placements stays a flat list.",
   fixes = {{"a flat tuple: placements for each tensor, None for everything else",
     torch = "in_placements=([Shard(0)], [Shard(0)], None)  # f([a, b], 2.0)"}}},
  {class = "local-map-placements",
   only = {"~count|summed|sum over|sum of|each rank's|per rank|partial"},
   cause = "local_map believes the placements it is given. What each rank computed "
     .. "from its own part alone, as a count or a sum, is an addend of the whole.",
   fixes = {{"call such an output Partial",
     lua = "tp.local_map(f, {{Shard(0)}, {Partial()}}, in_placements)",
     torch = "local_map(f, out_placements=([Shard(0)], [Partial()]))"}}},

  {class = "dispatch-overhead",
   only = {"~fully_shard|fsdp",
     "~pre_forward|hook|all-gather|many small|small module|small layers|each layer|"
       .. "modules"},
   fixes = {{"fewer and larger units: wrap several modules by one call, and leave "
       .. "tiny ones to the module around them",
     lua = "dt.fully_shard({a, b, c}, {mesh = mesh})",
     torch = "fully_shard([layers[i], layers[i + 1], layers[i + 2]], mesh=mesh)"}}},
  {class = "dispatch-overhead",
   only = {"from_local",
     "~every time|microbatch|micro-batch|each step|every step|rebuil|cached|for "
       .. "each parameter"},
   fixes = {{"make the DTensor once and keep it: it is the same each time",
     torch = "self.w = DTensor.from_local(w, mesh, placements)  # not in the "
       .. "loop"}}},

  {class = "sharding-cache-growth",
   only = {"fused", '~DTensorSpec|fused=True|"fused"|fused Adam'}, alone = true,
   cause = "The fused step gets its step count or learning rate as a plain tensor "
     .. "that is new at every step; DTensor's dispatch wraps it in a new spec each "
     .. "time, and the specs are kept.",
   fixes = {{"the foreach step, which passes Python numbers",
     lua = "dt.optim.AdamW(params, {foreach = true})",
     torch = "AdamW(params, foreach=True)"}}},
  {class = "sharding-cache-growth", only = {"foreach=false"},
   fixes = {{"one parameter at a time: a list is planned anew at each step",
     lua = "dt.optim.AdamW(params, {foreach = false})",
     torch = "AdamW(params, foreach=False)"}}},

  {class = "numerics-drift-not-bug",
   only = {"~accumulat", "~bf16|bfloat16|half precision"},
   cause = "Sums in bfloat16 keep 8 bits: gradients of micro-batches that are "
     .. "added in it lose what float32 keeps, so two ways of adding differ.",
   fixes = {{"add and reduce gradients in float32",
     torch = "MixedPrecisionPolicy(param_dtype=torch.bfloat16,\n"
       .. "                     reduce_dtype=torch.float32)"}}},
}

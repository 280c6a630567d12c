-- SPDX-License-Identifier: MIT
-- dt/diagnose/all_to_all.lua: why experts' all-to-all waits, and what helps: told with
-- a class of the catalogue (particular/collectives.lua) and without (neighbours.lua).

return {
  cause = "In an all-to-all each rank waits for rows of every other one: one rank is "
    .. "not in this layer (no tokens, another number of microbatches, an error of its "
    .. "own), or what it sends is not what the others expect.",
  fixes = {
    {"exchange the counts by an all-to-all of their own, with all ranks in it",
     torch = "dist.all_to_all_single(out_counts, in_counts, group=ep_group)"},
    {"let a rank without tokens go through the layer with no rows, and not around it",
     torch = "y = experts(x)  # also when x.shape[0] == 0"},
    {"let it say who came: the last collective of each rank",
     torch = "TORCH_NCCL_TRACE_BUFFER_SIZE=2000 TORCH_NCCL_DUMP_ON_TIMEOUT=1"},
  },
}

-- SPDX-License-Identifier: MIT
-- dt/diagnose/classes/traps.lua: silent traps: a wrong result, no error.  They
-- are described in words only, so their signs are weak.  The form of a class:
-- classes/mixed.lua; `trap` is its number in the catalogue.

local MIXED = "got mixed torch.Tensor and DTensor"
local MISSING = "does not have a sharding strategy"

-- No error text besides.
local function quiet(score, ...)
  local s = {score, ...}
  for _, no in ipairs {"!" .. MIXED, "!" .. MISSING, "!RuntimeError",
    "!ValueError", "!AssertionError", "!TypeError", "!IndexError", "!KeyError",
    "!NotImplementedError", "!AttributeError"} do
    s[#s + 1] = no
  end
  return s
end

return {
  {id = "hidden-redistribution", trap = 31,
   name = "an operator redistributes although nobody asked",
   signs = {
     quiet(0.6, "=dt", "~implicit redistribution|hidden redistribution|"
       .. "unexpected all-gather|unexpected all_gather|unexpected allgather|"
       .. "extra all-gather|extra all_gather|unnecessary all-gather|"
       .. "unexpected collective|unexpected communication|implicitly "
       .. "redistribut|unneeded all-gather|redundant all-gather"),
     quiet(0.6, "Partial", "~is reduced before|are reduced before|forces a reduc|"
       .. "forced to reduc|force a reduc|reduces too early|reduced too early|"
       .. "extra all-reduce|unneeded all-reduce|unnecessary all-reduce|"
       .. "redundant all-reduce|cannot keep a Partial|cannot preserve a Partial",
       "!clip_grad"),
   },
   cause = "The operands' layouts do not fit the cheapest rule, so the "
     .. "dispatcher moves one of them inside the operator; nothing is wrong "
     .. "but the traffic is not in the code.",
   fixes = {
     {"redistribute once, where the tensor is made",
      lua = 'x = x:redistribute(mesh, "S(0)")',
      torch = "x = x.redistribute(placements=[Shard(0)])"},
     {"refuse implicit redistribution while testing",
      torch = "with ExplicitRedistributionContext(): ..."},
     {"choose layouts for the producer that the operator takes as they are"},
   },
   ask = {"Which placements do the operands have, and which were meant?"}},

  {id = "to-local-grad-placement", trap = 6,
   name = "to_local without the gradient's placement",
   signs = {
     {0.66, "grad_placements", "~to_local|from_local", "!" .. MIXED,
      "!compile", "!dynamo"},
     quiet(0.6, "to_local", "~gradient|backward", "~wrong|missing|missed|"
       .. "different|incorrect|scaled|loses|lost|never gets|not reduced|"
       .. "not all-reduced|skipped|drift", "DTensor"),
   },
   cause = "to_local labels the incoming gradient with the forward's layout: "
     .. "for a Replicate input that ranks use differently the reduction is "
     .. "skipped, for a Partial one the gradient is scaled.",
   fixes = {{"state the gradient's placement, so that backward reduces what "
       .. "is partial",
     lua = "x:to_local{grad_placements = {Partial()}}",
     torch = "x.to_local(grad_placements=[Partial()])",
     adds = {calls = {"to_local", "full_tensor"},
       {"grad_placements", "[Partial()]"}}}},
   ask = {"The placements of the tensor that leaves?"}},

  {id = "partial-plus-scalar", of_operator = "add sub rsub div mul", trap = 2,
   name = "a number added to a Partial tensor",
   signs = {quiet(0.6, "Partial", "~scalar|python number|python float|+ 1|"
     .. "constant", "~add|adding|adds|plus", "~each rank|every rank|off by|"
     .. "wrong|incorrect", "!clip_grad", "!gradient clipping")},
   cause = "The number is added on every rank, so the sum is off by "
     .. "(ranks - 1) times the number.",
   fixes = {{"reduce first, then the result is that of the whole tensor",
       lua = 'x:redistribute(mesh, "R") + 1',
     torch = "x.redistribute(placements=[Replicate()]) + 1"},
     {"upgrade: the sum is made first there", fixed_in = "2.11"}},
   ask = {}},

  {id = "nonlinear-on-partial", of_operator = true, trap = 3,
   name = "a non-linear operator on a Partial tensor",
   signs = {quiet(0.58, "Partial", "~norm|max|pow|abs|nonlinear|non-linear",
     "~sum of norms|before reduc|without reduc|non-linear|nonlinear",
     "!clip_grad", "!NormPartial"),
     quiet(0.56, "Partial", "DTensor", "~==|wrongly|relu|gelu|softmax|square|"
       .. "sqrt|clamp|argmax|sort|comparison|compare", "~not expected|"
       .. "same result|wrong|incorrect|unexpected", "!clip_grad",
       "!NormPartial", "!to_local", "!from_local without", "!=quant"),
     quiet(0.58, "Partial", "~cannot be combined|meaningfully combined|"
       .. "does not commute|not linear in|propagated Partial|propagates Partial|"
       .. "propagating Partial|propagate Partial", "~wrong|incorrect|invalid|"
       .. "fix", "!clip_grad", "!NormPartial", "!=quant")},
   cause = "The operator was applied to each addend instead of to the sum.",
   fixes = {{"reduce first, then the result is that of the whole tensor",
       lua = 'x:redistribute(mesh, "R"):abs()',
     torch = "x.redistribute(placements=[Replicate()]).abs()",
     examples = {"abs()"}},
     {"upgrade: most non-linear operators reduce first", fixed_in = "2.9"}},
   ask = {}},

  {id = "from-local-lies", trap = 7,
   name = "from_local was told a placement that is not true",
   signs = {quiet(0.6, "=from_local_replicate", "~differ|diverge|drift|"
       .. "random|seed|not equal|wrong", "!uneven", "!grad_placements"),
     quiet(0.58, "from_local", "Replicate", "~run_check|differ per rank|"
     .. "different on each rank|not the same on|not identical",
     "!uneven")},
   cause = "from_local believes its placement: tensors that differ called "
     .. "Replicate, or equal ones called Shard, go unnoticed.",
   fixes = {{"check once that the ranks agree, while looking for the fault",
       lua = "DTensor.from_local(x, mesh, pl, {run_check = "
     .. "true})", torch = "DTensor.from_local(x, mesh, pl, run_check=True)"}},
   ask = {}},

  {id = "argmax-local-index", of_operator = true, trap = 14,
   name = "argmax over a sharded dimension gave local indices",
   signs = {quiet(0.64, "~argmax|argmin", "DTensor", "~local|wrong|incorrect|"
     .. "sharded")},
   cause = "Indices of each shard were returned or reduced as if they were "
     .. "global.",
   fixes = {{"gather first: the index then counts in the whole dimension",
       examples = {"argmax(-1)"}, lua = 'x:redistribute(mesh, "R"):argmax(-1)',
     torch = "x.redistribute(placements=[Replicate()]).argmax(-1)"},
     {"upgrade: argmax gives global indices there", fixed_in = "2.11"}},
   ask = {}},

  {id = "weighted-mean-loss", trap = 15,
   name = "a weighted mean of means",
   signs = {quiet(0.6, "~cross_entropy|nll_loss|loss", "~weight|token count|"
     .. "ignore_index", "~mean", "~sharded|DTensor|per-rank|local count",
     "~wrong|biased|differs|incorrect|average of", "!loss_parallel")},
   cause = "Each rank's mean is averaged although the ranks have different "
     .. "weights or numbers of tokens.",
   fixes = {{"sum, then divide by the count of all ranks and micro-batches; DDP "
     .. "and FSDP average gradients over the ranks, so take their number in",
     lua = 'loss = F.cross_entropy(x, t, {reduction = "sum"}) / n',
     torch = 'n = (t != -100).sum(); dist.all_reduce(n, group=dp_group)\n'
       .. 'loss = F.cross_entropy(x, t, reduction="sum") * dp_size / n'}},
   ask = {}},

  {id = "sdpa-cache-key", trap = 17,
   name = "a cached plan of attention used for other arguments",
   signs = {quiet(0.6, "~scaled_dot_product|sdpa", "~cache|cached",
     "~DTensor|sharding propagation|sharding strategy|tensor parallel|TP",
     "~requires_grad|logsumexp|log_sumexp")},
   cause = "The cache's key left out whether the logsumexp is wanted (2.4).",
   fixes = {{"upgrade: the key holds every static argument",
     fixed_in = "2.5"},
     {"or give all layers the same requires_grad"}},
   ask = {}},

  {id = "ep-gradient-scale", trap = 21,
   name = "expert gradients too large by the expert parallel size",
   signs = {quiet(0.62, "expert", "gradient", "~too large|times larger|"
     .. "factor of|duplicated|doubled|2x|twice|too small|wrong scale|"
     .. "scaled wrong|wrong-size|inflated|over-count|overcount",
     "~ep|expert parallel|dp2ep")},
   cause = "An expert's gradient already sums over the tokens of all ranks of "
     .. "its expert parallel group; averaged over its own, smaller data "
     .. "parallel group only, it is too large by the expert parallel size.",
   fixes = {{"divide the experts' gradients by the number of all ranks that "
     .. "have tokens of their own, as those of the other parameters are",
     torch = "experts.set_gradient_divide_factor(world_size)"}},
   ask = {}},

  {id = "squeeze-local-singleton", of_operator = true, trap = 34,
   name = "squeeze dropped a dimension whose local size is 1",
   signs = {quiet(0.66, "squeeze", "DTensor", "~local|sharded|singleton",
     "!unsqueeze"), {0.6, "squeeze", "DTensor", "local shape", "!" .. MIXED,
     "!" .. MISSING}},
   cause = "squeeze without a dimension looked at local sizes, where the "
     .. "global size is the mesh's.",
   fixes = {{"name the dimension, so that local sizes do not decide",
       lua = "x:squeeze(1)", torch = "x.squeeze(1)",
       only = {"!@aten.squeeze*.dim"}},
     {"upgrade: squeeze goes by global sizes there", fixed_in = "2.12"},
     {"replicate the dimension first", lua = 'x:redistribute(mesh, "R")',
      torch = "x.redistribute(placements=[Replicate()])"}},
   ask = {}},

  {id = "distribute-source-rank-wins", trap = 35,
   name = "distribute_tensor takes the first rank's values",
   signs = {quiet(0.6, "distribute_tensor", "~broadcast|scatter|src_data_rank|"
     .. "rank 0", "~different data|each rank|overwritten|discard|already on "
     .. "each|unnecessary|wasted|from rank 0")},
   cause = "Values come from the first rank of each mesh axis; what other "
     .. "ranks prepared is dropped, and a broadcast of equal data is wasted.",
   fixes = {{"no traffic when the data are in place", lua =
     "DTensor.from_local(x, mesh, {Shard(0)})",
     torch = "distribute_tensor(x, mesh, pl, src_data_rank=None)"}},
   ask = {}},

  {id = "view-without-redistribute", of_operator = true, trap = 11,
   name = "a view that would need communication",
   signs = {quiet(0.62, "~unflatten|flatten|view|reshape", "~Shard(|sharded|"
       .. "mesh axes|mesh dim", "~silent wrong|silently wrong|silently-wrong|"
       .. "wrong output dim|wrong local shape|wrong gradients", "=dt_words"),
     quiet(0.6, "~view|reshape", "DTensor",
     "~silently|wrong result|incorrect result|wrong values|garbage|"
     .. "numerics are incorrect|wrong numerics|incorrect numerics|"
     .. "numerically wrong|no error", "~shard|S(0)|S(1)", "!StridedShard")},
   cause = "The view was accepted although its local results are not the "
     .. "shards of the global one.",
   fixes = {{"redistribute first, so that the view cuts no shard",
       lua = 'x:redistribute(mesh, "R")',
     torch = "x.redistribute(placements=[Replicate()])"}},
   ask = {}},

  {id = "matmul-shard-order", trap = 12,
   name = "a contraction over shards in different orders",
   signs = {quiet(0.62, "~matmul|mm(|einsum|contraction", "~shard order|"
     .. "sharding order|device order|order of shard|different order")},
   cause = "Both operands shard the contraction over the same axes but in "
     .. "another order, so unlike pieces are multiplied.",
   fixes = {{"bring one operand to the other's order",
     lua = 'x:redistribute(mesh, "R R")',
     torch = "x.redistribute(placements=[Replicate(), Replicate()])"}},
   ask = {}},
}

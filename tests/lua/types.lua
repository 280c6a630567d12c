-- TEST: ranks=4 world={threads,mpi} needs=data
-- SPDX-License-Identifier: MIT
-- dt.debug.types: SPMD types of plain tensors, inferred from the record.

local T = require "tests.lua.lib.check"
local F = require "dt.functional"
local dist = dt.distributed

local rank, world = dt.rank(), dt.world_size()

-- "world: S(0)" on each mesh dimension.
local function types(x)
  local d, out = dt.debug.types(x), {}
  for i, t in ipairs(d.types) do out[i] = t.mesh_dim .. " " .. t.type end
  return table.concat(out, ", "), d
end

local function reason(x, i)
  local d = dt.debug.types(x)
  local chain = d.types[i or 1].chain
  return chain[1].reason, chain[#chain].reason, d
end

-- ---- a hand-written Megatron MLP, provenance through chains ---------------

dt.manual_seed(0)
local W1, W2, x = dt.randn(8, 6), dt.randn(6, 8), dt.randn(4, 6)
local w1, w2 = W1:chunk(world, 0)[rank + 1], W2:narrow(1, rank * 2, 2)
local h = F.gelu((x:tanh() * 2):matmul(w1:t()))
local y = h:matmul(w2:t())
local bent = y:exp()
T.eq(types(x), "world R", "the same seed everywhere")
T.eq(types(w1), "world S(0)", "chunk()[rank]")
T.eq(types(w2), "world S(1)", "a slice that begins elsewhere on each rank")
T.eq(types(h), "world S(1)", "column parallel, after a pointwise function")
T.eq(types(y), "world P", "the product along the cut dimension")
T.eq(types(y * 3 / 2), "world P", "scaled addends")
T.eq(types(y + y), "world P", "addends plus addends")
T.eq(types(y + x), "world V", "addends plus what is whole on each rank")
T.eq(types(y * y), "world V", "addends are no factors of each other")
T.eq(types(bent), "world V", "no linear function of addends")
T.eq(types(h:view(2, 2, 2)), "world S(2)", "a view that keeps the cut dimension")
T.eq(types(h:reshape(8)), "world V", "a view that spreads the parts")
T.eq(types(h:unsqueeze(0)), "world S(2)", "one dimension more")
T.eq(types(h:sum(1)), "world P", "a sum along the cut dimension")
T.eq(types(h:sum(0)), "world S(0)", "a sum along another")
T.eq(types(h:mean(1)), "world P(avg)", "a mean of the parts")
T.eq(types(h:softmax(1)), "world V", "a softmax of this rank's part alone")
T.eq(types(h:softmax(0)), "world S(1)", "a softmax along a whole dimension")
T.eq(types(F.layer_norm(h, {2})), "world V", "statistics of a part")
T.eq(types(F.layer_norm(w2:t(), {6})), "world S(0)", "of what is whole")
dist.all_reduce(y)
T.eq(types(y), "world R", "all_reduce")
local how, root, d = reason(y)
T.eq(how, "inference", "copied from what the collective gave")
T.eq(root, "inference", "begins where numbers were drawn")
T.ok(tostring(d):find("all_reduce of P", 1, true), "says what was summed")
T.ok(tostring(d):find("types.lua:", 1, true), "says where")

-- ---- leaves, chance, generators, numbers of a rank ------------------------

local own = dt.tensor {rank + 1.0, 2.0}
local same = dt.tensor {1.5, 2.5}
local zero = dt.tensor {0.0, 0.0}
local both = {own + 1, same + 1, zero + 1}
T.eq(types(both[1]), "world V", "other bits")
T.eq(types(both[2]), "world R", "equal bits")
T.ok(tostring(dt.debug.types(same)):find("asserted by data only", 1, true),
  "which only data say")
T.ok(tostring(dt.debug.types(same)):find("rests on data only", 1, true),
  "which is said")
local z = dt.debug.types(zero)
T.ok(tostring(z):find("equal by chance or not", 1, true), "zeros say nothing")
T.eq(types(dt.arange(4) + rank * 4), "world V", "numbers of the rank")
T.eq(types(dt.zeros(3) * (rank == 0 and 1 or 0)), "world V", "a mask by rank")
T.eq(types(dt.zeros(3)), "world R", "a constant is made alike")
T.eq(types(dt.empty(3)), "world ?", "memory that nobody has written")
dt.manual_seed(rank)
local batch = dt.randn(3, 6)
T.eq(types(batch), "world V", "other seeds")
T.eq(types(dt.randn(2)), "world V", "and what is drawn after them")
dt.manual_seed(1)
T.eq(types(F.dropout(x, 0.5)), "world R", "a dropout with equal seeds")

-- Only some ranks run a line: nobody waits.
local some = x + 1
if rank == 0 then some = x:exp() end
T.eq(types(some * 1), "world V", "another tensor on rank 0")

-- ---- collectives ----------------------------------------------------------

local parts = dist.all_gather(w1)
T.eq(types(parts[2]), "world R", "all_gather")
T.eq(types(dt.cat(parts, 0)), "world R", "joined")
local into = dt.empty(1, 6)
dist.reduce_scatter_tensor(into, h:matmul(w2:t()))
T.eq(types(into), "world S(0)", "reduce_scatter")
local sent = batch:clone()
dist.broadcast(sent, 0)
T.eq(types(sent), "world R", "broadcast")
T.eq(types(batch), "world V", "the source is as it was")

-- What overwrites all elements makes them alike, whatever they were.
for name, args in pairs {copy_ = {W1}, fill_ = {2}, zero_ = {}, uniform_ = {},
  normal_ = {}, random_ = {}, bernoulli_ = {0.5}, exponential_ = {},
  cauchy_ = {}, log_normal_ = {}, geometric_ = {0.5}} do
  local own = W1 + rank
  own[name](own, table.unpack(args))
  T.eq(types(own), "world R", name .. " overwrites what differed")
end
local own = W1 + rank
own:add_(1)
T.eq(types(own), "world V", "what only adds keeps the difference")

-- ---- gradients ------------------------------------------------------------

local p = dt.nn.Parameter(W1:clone())
local loss = batch:matmul(p:t()):pow(2):mean()
loss:backward()
T.eq(types(loss), "world V", "a loss of one's own batch")
T.eq(types(p.grad), "world P", "the gradient of what is equal is a sum")
T.eq(types(p.grad * 1), "world P", "and stays one")
dist.all_reduce(p.grad)
T.eq(types(p.grad), "world R", "until it is summed")
p:detach():sub_(p.grad)
T.eq(types(p), "world R", "so the parameter stays equal")
p.grad = nil
batch:matmul(p:t()):pow(2):mean():backward()
p:detach():sub_(p.grad)
T.eq(types(p), "world V", "or, without, ceases to be")

-- ---- two mesh dimensions, DTensors ----------------------------------------

local mesh = dt.init_device_mesh("cpu", {2, 2}, {mesh_dim_names = {"dp", "tp"}})
dt.manual_seed(5)
local D = dt.distribute_tensor(dt.randn(8, 6), mesh, "S(0) S(1)")
local l = D:to_local()
T.eq(types(l), "dp S(0), tp S(1)", "to_local")
T.eq(types(l:t():exp()), "dp S(1), tp S(0)", "and on")
T.eq(types(l:matmul(l:t())), "dp V, tp P", "a product")
local r = l:sum(1)
dist.all_reduce(r, {group = mesh:get_group("tp")})
T.eq(types(r), "dp S(0), tp R", "summed along one of them")
dist.all_reduce(r)
T.eq(types(r), "dp R, tp R", "over all ranks")
T.eq(types(D:redistribute(mesh, "S(0) R")), "dp S(0), tp R", "a DTensor")
dt.manual_seed(mesh:get_local_rank("dp"))
T.eq(types(dt.randn(2, 2)), "dp V, tp R", "seeded along one of them")

-- ---- annotations and :blame -----------------------------------------------

local b = dt.debug.blame(h)
T.eq(b.chains[1].placement, "S(1)", ":blame follows types of plain tensors")
T.ok(tostring(b):find("each rank took its own piece", 1, true), "to the cut")
for i, step in ipairs(b.chains[1].chain) do
  T.eq(step.set, i == #b.chains[1].chain, "set where the chain ends: " .. i)
end
T.raises("KEY", "no mesh dimension zz", dt.debug.blame, h, "zz")
T.raises("TYPE", "wanted a tensor", dt.debug.types, 3)
T.raises("KEY", "no tensor was called", dt.debug.types, "nobody")
T.finish()

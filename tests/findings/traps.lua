-- TEST: ranks={4} world={threads,mpi} needs=data torch=2.13
-- SPDX-License-Identifier: MIT
-- For each kind of finding a small script that runs into the trap and a clean
-- twin that does not.  The trap must be found at the right operator with its
-- code; the twin must give no finding of that code, and none that says that
-- numbers are wrong.

local T = require "tests.lua.lib.check"
local F = require "dt.functional"
local nn = require "dt.nn"
local optim = require "dt.optim"

local me, world = dt.rank(), dt.world_size()
local mesh = dt.init_device_mesh("cpu", {world}, {mesh_dim_names = {"tp"}})
local grid = dt.init_device_mesh("cpu", {2, world // 2},
  {mesh_dim_names = {"dp", "tp"}})
local S, R = dt.Shard, dt.Replicate()
local D, from_local = dt.distribute_tensor, dt.DTensor.from_local

local function count(...)
  local n = 1
  for _, s in ipairs {...} do n = n * s end
  return dt.arange(n, {dtype = dt.f32}):view(...)
end

local function partial(x, op)
  return from_local(x * (me + 1), mesh, {dt.Partial(op)})
end

local function leaf(x, placements)
  local w = D(x, mesh, placements)
  w.requires_grad = true
  return w
end

-- Causal attention over a sequence cut by context_parallel, balanced.
local function ring()
  local q, k, v = dt.ones(1, 1, 16, 4), dt.ones(1, 1, 16, 4), count(1, 1, 16, 4)
  local out
  dt._set_profile(nil, "cuda")
  dt.context_parallel(mesh, {buffers = {q, k, v}, buffer_seq_dims = {2, 2, 2}},
    function ()
      out = F.scaled_dot_product_attention(q, k, v, {is_causal = true}) * 2
    end)
  dt._set_profile(nil, "cpu")
  return out
end

-- A 2-D sharded matrix whose rows are cut by tp first.
local function cut_by_tp_first(whole)
  local dp, tp = grid:get_local_rank("dp"), grid:get_local_rank("tp")
  local rows = whole.shape[1] // world
  local mine = whole:narrow(0, (tp * 2 + dp) * rows, rows):clone()
  return dt._wrap_local(mine, grid, {S(0), S(0)}, whole.shape, nil, nil,
    {[0] = {1, 0}})
end

-- Two layers, their gradients averaged where `which` takes them; the first one
-- always.  Ranks begin with seed + `own`, and draw their data by `batch`.
local function each(_, m) return m:parameters() end
local function trained(which, own, batch)
  dt.manual_seed(3 + (own or 0))
  local m = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 2))
  dt.manual_seed(batch or 40 + me)
  F.mse_loss(m(dt.randn(4, 4)), dt.zeros(4, 2)):backward()
  local mine = which == each and each(nil, m) or m[0]:parameters()
  for p in mine do dt.distributed.all_reduce(p.grad, {op = "avg"}) end
  optim.SGD(m:parameters(), {lr = 0.1}):step()
end

-- A step with gradients reduced by `op`, of losses divided by `n`; where `own`,
-- on some ranks only; of `many` losses; clipped to a norm of `clip`.
local function stepped(n, op, own, many, clip)
  dt.manual_seed(3)
  local m = nn.Linear(4, 2)
  dt.manual_seed(40 + me)
  local loss = F.mse_loss(m(dt.randn(4, 4)), dt.zeros(4, 2))
  if n then loss = loss / n end
  for _ = 2, many or 1 do
    loss = loss + F.mse_loss(m(dt.randn(4, 4)), dt.zeros(4, 2))
  end
  loss:backward()
  for p in m:parameters() do dt.distributed.all_reduce(p.grad, {op = op}) end
  if clip then nn.utils.clip_grad_norm_(m:parameters(), clip) end
  if not own or me > 0 then optim.SGD(m:parameters(), {lr = 0.1}):step() end
end

-- A step with the gradients of three batches; their losses are divided by `n`.
local function batches(n)
  dt.manual_seed(3)
  local m = nn.Linear(4, 2)
  dt.manual_seed(40 + me)
  for _ = 1, 3 do
    (F.mse_loss(m(dt.randn(4, 4)), dt.zeros(4, 2)) / n):backward()
  end
  for p in m:parameters() do dt.distributed.all_reduce(p.grad, {op = "avg"}) end
  optim.SGD(m:parameters(), {lr = 0.1}):step()
end

-- A step with gradients summed over half of the ranks, divided by `n`.
local function of_group(n)
  local mesh = dt.init_device_mesh("cpu", {2, world // 2},
    {mesh_dim_names = {"tp", "dp"}})
  local group = mesh:get_group("dp")
  dt.manual_seed(3)
  local m = nn.Linear(4, 2)
  dt.manual_seed(40 + mesh:get_local_rank("dp"))
  F.mse_loss(m(dt.randn(4, 4)), dt.zeros(4, 2)):backward()
  for p in m:parameters() do
    dt.distributed.all_reduce(p.grad, {group = group})
    p.grad:div_(n)
  end
  optim.SGD(m:parameters(), {lr = 0.1}):step()
end

-- A backward under fully_shard over the second dimension of a mesh that is two
-- ranks wide, on the rank's own batch or on all ranks' one.
local function in_halves(own)
  local halves = dt.init_device_mesh("cpu", {world // 2, 2},
    {mesh_dim_names = {"rest", "fsdp"}})
  dt.manual_seed(3)
  local m = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 2))
  dt.fully_shard(m, {mesh = halves.fsdp})
  dt.manual_seed(40 + (own or 0))
  F.mse_loss(m(dt.randn(4, 4)), dt.zeros(4, 2)):backward()
end

-- A tensor that rank 0 makes by itself, sent by rank `src`.
local function sent_by(src)
  local t = dt.zeros(4)
  if me == 0 then t = dt.arange(4) * 0.5 end
  dt.distributed.broadcast(t, src)
end

-- Columns of a product that were cut over "tp", gathered over `name`.
local function gathered_over(name)
  local mesh = dt.init_device_mesh("cpu", {2, world // 2},
    {mesh_dim_names = {"dp", "tp"}})
  dt.manual_seed(3)
  local w, x = dt.randn(8, 6), dt.randn(4, 6)
  local part = w:chunk(world // 2, 0)[mesh:get_local_rank("tp") + 1]
  dt.distributed.all_gather(x:matmul(part:t()),
    {group = mesh:get_group(name)})
end

-- A softmax over keys that were cut, its sums over all ranks: the products', and
-- those of the weights where `both`.
local function weighted(both)
  dt.manual_seed(3)
  local q, keys = dt.randn(3, 4), dt.randn(2 * world, 4)
  local k = nn.Parameter(keys:narrow(0, 2 * me, 2):clone())
  local e = q:matmul(k:detach():t()):exp()
  local sum, out = e:sum(1, true), e:matmul(keys:narrow(0, 2 * me, 2))
  if both then dt.distributed.all_reduce(sum) end
  dt.distributed.all_reduce(out)
  return out / sum
end

-- Attention of this rank's queries; their rows in the mask begin at `from`;
-- `turn`: as rotary embeddings join halves.
local function masked(from, turn)
  dt.manual_seed(3)
  local q, kv = dt.randn(1, 1, 2 * world, 4), dt.randn(1, 1, 2 * world, 4)
  local mask = dt.arange(2 * world):unsqueeze(0)
    :le(dt.arange(from, from + 2):unsqueeze(1))
  local mine = q:narrow(2, 2 * me, 2)
  if turn == "cat" then
    mine = dt.cat({mine:narrow(3, 2, 2):neg(), mine:narrow(3, 0, 2)}, -1)
  elseif turn == "stack" then
    mine = dt.stack({mine:narrow(3, 2, 2), mine:narrow(3, 0, 2)}, -1):flatten(-2)
  end
  return F.scaled_dot_product_attention(mine, kv, kv, mask)
end

-- A product with this rank's columns; seeds of the input and of the weights.
local function columns(input, weight)
  dt.manual_seed(weight)
  local w = dt.randn(4, 2 * world)
  dt.manual_seed(input)
  local y = dt.randn(3, 4):matmul(w:narrow(1, 2 * me, 2))
  dt.distributed.all_gather(y)
end

-- A model that loses its own part, or the sum, of what it gathers.
local function severed(mend)
  dt.manual_seed(3)
  local m = nn.Linear(4, 4)
  dt.manual_seed(40 + me)
  local z = m(dt.randn(2, 4))
  local parts = dt.distributed.all_gather(z)
  if mend then parts[me + 1] = z end
  local scores = z:matmul(dt.cat(parts, 0):t())
  F.cross_entropy(scores, dt.tensor {2 * me, 2 * me + 1}):backward()
end

-- A step whose gradients are clipped before or after they are averaged; or
-- cleared before it.
local function clipped(before, cleared)
  dt.manual_seed(3)
  local m = nn.Linear(4, 2)
  local opt = optim.SGD(m:parameters(), {lr = 0.1})
  dt.manual_seed(40 + me)
  F.mse_loss(m(dt.randn(4, 4)), dt.ones(4, 2) * 9):backward()
  if before then nn.utils.clip_grad_norm_(m:parameters(), 0.5) end
  for p in m:parameters() do dt.distributed.all_reduce(p.grad, {op = "avg"}) end
  if not before then nn.utils.clip_grad_norm_(m:parameters(), 0.5) end
  if cleared then opt:zero_grad() end
  opt:step()
end

local function small_steps(dtype)
  dt.manual_seed(3)
  local m = nn.Linear(8, 2):to(dtype)
  local opt = optim.SGD(m:parameters(), {lr = 1e-6})
  for _ = 1, 2 do
    opt:zero_grad()
    m(dt.randn(4, 8):to(dtype)):sum():backward()
    opt:step()
  end
end

-- One rank loads, rank `src` broadcasts.
local function loaded(src)
  local m = nn.Linear(2, 2)
  if me == 0 then
    m:load_state_dict {weight = dt.ones(2, 2), bias = dt.ones(2)}
  end
  for p in m:parameters() do dt.distributed.broadcast(p:detach(), src) end
end

-- Dropout of this rank's columns with a seed.
local function drops(seed)
  dt.manual_seed(3)
  local w, x = dt.randn(4, 16 * world), dt.randn(2, 4)
  dt.manual_seed(seed)
  local h = x:matmul(w:narrow(1, 16 * me, 16))
  dt.ops.aten.native_dropout.default(h, 0.5, true)
end

-- Equal parts of n items.
local function equal_parts(n)
  local per = n // world
  local none = dt.randn(8, 2):narrow(0, 2 * me, 2):narrow(0, 0, 0)
  T.eq(none:view(3, 0):numel(), 0, "a view of nothing")
  return dt.randn(n):narrow(0, me * per, per):sum()
end

-- Two epochs of training by a DistributedSampler, or one of `n` in evaluation.
local function sampled(set, n)
  local source = {"from torch.utils.data.distributed import DistributedSampler",
    "import torch", "m = torch.nn.Linear(1, 1)",
    "o = torch.optim.SGD(m.parameters(), lr=0.1)",
    "s = DistributedSampler(range(" .. (n or 8) .. "))"}
  local text = n and "with torch.no_grad():\n    x = list(s)"
    or "for epoch in range(2):\n"
    .. (set and "    s.set_epoch(epoch)\n" or "")
    .. "    x = list(s)\n    m(torch.ones(1, 1)).sum().backward()\n"
    .. "    o.step()"
  local python = require "torch"
  python.run(table.concat(source, "\n") .. "\n" .. text .. "\n",
    python.environment())
end

-- A buffer of this rank's data, or of all ranks'.
local function followed(how)
  dt.manual_seed(3)
  local m = nn.Linear(4, 1)
  local mean = dt.zeros(4)
  m:register_buffer("mean", mean)
  dt.manual_seed(40 + me)
  local x = dt.randn(4, 4)
  local own = x:mean(0)
  if how then dt.distributed.all_reduce(own, {op = "avg"}) end
  dt.no_grad(function () mean:add_(own) end)
  m(x - mean):pow(2):mean():backward()
  for p in m:parameters() do dt.distributed.all_reduce(p.grad, {op = "avg"}) end
  optim.SGD(m:parameters(), {lr = 0.1}):step()
end

local function normed(how)
  dt.manual_seed(3)
  local m = nn.BatchNorm1d(4)
  dt.nn.init.uniform_(m.weight)
  dt.manual_seed(40 + me)
  m(dt.randn(8, 4))
  if how then
    for _, b in ipairs {m.running_mean, m.running_var} do
      dt.distributed.all_reduce(b, how)
    end
  end
  m:eval()
  m(dt.ones(2, 4))
end

local function summed(dtype, n)
  dt.manual_seed(40 + me)
  local acc = dt.zeros(n or 8, {dtype = dtype})
  for _ = 1, 20 do acc:add_(dt.rand(n or 8):to(dtype)) end
end

-- Positions from `from` on for this rank's piece of a sequence.
local function counted(from)
  dt.manual_seed(3)
  local x = dt.randn(2, 2 * world):chunk(world, 1)[me + 1]
  return x + (dt.arange(2) + from)
end

-- A query head of each rank, and key head `at` of two.
local function heads(at)
  dt.manual_seed(3)
  local x = dt.randn(1, 3, 8)
  local function head(n, i)
    local w = dt.randn(n * 4, 8):narrow(0, i * 4, 4)
    return F.linear(x, w):view(1, 3, 1, 4):transpose(1, 2)
  end
  local q, k, v = head(world, me), head(2, at), head(2, at)
  return F.scaled_dot_product_attention(q, k, v)
end

-- Two updates by the mean gradient, with a rate of the rank's own.
local function rated(own)
  dt.manual_seed(3)
  local m = nn.Linear(4, 2)
  local opt = optim.SGD(m:parameters(), {lr = 0.1 + own})
  dt.manual_seed(40 + me)
  for _ = 1, 2 do
    opt:zero_grad()
    F.mse_loss(m(dt.randn(4, 4)), dt.zeros(4, 2)):backward()
    for p in m:parameters() do dt.distributed.all_reduce(p.grad, {op = "avg"}) end
    opt:step()
  end
end

-- Rank 1 updates, `src` sends what it has then.
local function owned(src)
  dt.manual_seed(3)
  local m = nn.Linear(4, 2)
  dt.manual_seed(40 + me)
  F.mse_loss(m(dt.randn(4, 4)), dt.zeros(4, 2)):backward()
  for p in m:parameters() do dt.distributed.all_reduce(p.grad, {op = "avg"}) end
  if me == 1 then optim.SGD(m:parameters(), {lr = 0.1}):step() end
  for p in m:parameters() do dt.distributed.broadcast(p:detach(), src) end
end

-- The first layer is frozen where `freeze`.
local function frozen(freeze)
  dt.manual_seed(3)
  local m = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 2))
  if freeze then m[0]:requires_grad_(false) end
  dt.manual_seed(40 + me)
  F.mse_loss(m(dt.randn(4, 4)), dt.zeros(4, 2)):backward()
  for p in m[1]:parameters() do dt.distributed.all_reduce(p.grad, {op = "avg"}) end
  optim.SGD(m[1]:parameters(), {lr = 0.1}):step()
end

-- Dropout, with a seed, of what a sum over the ranks has made.
local function drops_sum(seed)
  dt.manual_seed(3)
  local w, x = dt.randn(16 * world, 4), dt.randn(2, 16 * world)
  local y = x:narrow(1, 16 * me, 16):matmul(w:narrow(0, 16 * me, 16))
  dt.distributed.all_reduce(y)
  dt.manual_seed(seed)
  return F.dropout(y, 0.5)
end

-- A part of a parameter gets rank `of`'s part of what was saved.
local function load_part(of)
  dt.manual_seed(3)
  local w = nn.Parameter(dt.randn(4 * world, 2):chunk(world)[me + 1]:clone())
  local saved = dt.randn(4 * world, 2)
  dt.no_grad(function () w:copy_(saved:chunk(world)[of + 1]:clone()) end)
end

-- A sum over the ranks whose gradient is summed again where `again`.
local function sum_back(again)
  local Sum = require("dt.autograd").Function:extend "Sum"
  function Sum.forward(_, x)
    local y = x:clone()
    dt.distributed.all_reduce(y)
    return y
  end
  function Sum.backward(_, g)
    g = g:clone()
    if again then dt.distributed.all_reduce(g) end
    return g
  end
  dt.manual_seed(3)
  local w = nn.Parameter(dt.randn(4 * world, 2):chunk(world)[me + 1]:clone())
  local x = dt.randn(3, 4 * world):chunk(world, 1)[me + 1]
  F.mse_loss(Sum.apply(x:matmul(w)), dt.zeros(3, 2)):backward()
end

-- Rows that are sorted, sent, sent back, and put back.
local function sorted_rows(put_back)
  dt.manual_seed(40 + me)
  local exchange = dt.distributed.functional.all_to_all_single
  local x, to = dt.randn(8, 3), dt.tensor {3, 1, 0, 2, 0, 3, 2, 1}
  local order = dt.argsort(to, {stable = true})
  local sent = exchange(x[{order}], {2, 2, 2, 2}, {2, 2, 2, 2})
  local back = exchange(sent * 2, {2, 2, 2, 2}, {2, 2, 2, 2})
  if put_back then back = dt.empty_like(back):index_copy_(0, order, back) end
  return x + back
end

local function twice(each_time)
  dt.manual_seed(40 + me)
  local w = dt.randn(4)
  w.requires_grad = true
  for i = 1, 2 do
    (dt.rand(4) * w):sum():backward()
    if each_time or i == 2 then dt.distributed.all_reduce(w.grad) end
  end
end

-- An operator of two forms, whose rule looks at the form.
local function pick(name, kind)
  local full = ("traps::pick_%s"):format(name)
  pcall(dt.library.define, ("%s(Tensor x, %s rows) -> Tensor"):format(full,
    kind), function (x) return x:clone() end)
  local no, yes = kind == "int" and 0, kind == "bool" or 1
  dt.register_sharding(full, function (_, rows)
    local p = S((rows == yes) and 0 or 1)
    return {{{p}, {p, dt.None}}}
  end)
  local x = D(count(8, 8), mesh, {R})
  local op = dt.ops.traps["pick_" .. name]
  return op(x, no), op(x, yes)
end

-- One step of a layer that adds its weight's gradient to a buffer itself, or
-- hands it to autograd.
local function train_fused(hand_over)
  local FusedLinear = dt.autograd.Function:extend("FusedLinear")
  local buffer = dt.zeros(4, 4)
  function FusedLinear.forward(ctx, x, w)
    ctx:save_for_backward(x, w)
    return x:mm(w:t())
  end
  function FusedLinear.backward(ctx, g)
    local x, w = table.unpack(ctx.saved_tensors)
    local dw = g:t():mm(x)
    if hand_over then return g:mm(w), dw end
    buffer:add_(dw)
    return g:mm(w), nil
  end
  local m = nn.Linear(4, 4, {bias = false})
  function m.forward(self, x) return FusedLinear.apply(x, self.weight) end
  dt.fully_shard(m, {mesh = mesh})
  local loss = m(count(2, 4) * (me + 1)):sum()
  loss:backward()
end

-- The files of a checkpoint of eight rows.
local folder = ("build/order-%s-%d"):format(dt.world(), world)
local function saved()
  dt._make_dir("build")
  local w = D(count(8, 4), mesh, {S(0)})
  dt.distributed.checkpoint.save({w = w}, folder)
  return function (r)
    local f = io.open(folder .. "/checkpoint.json")
    local file = f:read("a"):match('"([^"]*rank' .. r .. '[^"]*)"')
    f:close()
    return dt.load(folder .. "/" .. file).w
  end
end

local function joined(ranks)
  local part, list = saved(), {}
  for i, r in ipairs(ranks) do list[i] = part(r) end
  return dt.cat(list, 0)
end

local function placed(rank)
  local part = saved()
  return from_local(part(rank), mesh, {S(0)})
end

-- {code, part of the operator's name, trap, clean twin, whether the line is
-- in a function above}
local cases = {
  {"DT1001", "_local_scalar_dense",
    function () local v = D(count(8), mesh, {S(0)}):sum():item() return v end,
    function ()
      local v = D(count(8), mesh, {S(0)}):sum():full_tensor():item()
      return v
    end},
  {"DT1001", "_local_scalar_dense",           -- clipping: the total norm
    function ()
      local x = D(count(8), mesh, {S(0)})
      local v = dt.linalg_vector_norm(x, math.huge):item()
      return v
    end,
    function ()
      local x = D(count(8), mesh, {S(0)})
      local v = dt.linalg_vector_norm(x, math.huge):full_tensor():item()
      return v
    end},
  {"DT1002", "_local_scalar_dense",
    function ()
      local x = D(count(1), mesh, {S(0)})
      pcall(function () local v = x:item() return v end)
    end,
    function ()
      local v = D(count(1), mesh, {S(0)}):full_tensor():item()
      return v
    end},
  {"DT1003", "to_local",
    function () local l = partial(count(4)):to_local() return l end,
    function ()
      local l = partial(count(4)):redistribute(mesh, {R}):to_local()
      return l
    end},
  {"DT1004", "fill_",
    function () local p = partial(count(4)) p:fill_(1) end,
    function () local p = partial(count(4)) p:fill_(0) end},
  {"DT1004", "linalg_vector_norm",
    function ()
      local p = partial(-count(4), "max")
      local n = dt.linalg_vector_norm(p, math.huge)
      return n
    end,
    function ()
      local p = partial(-count(4), "max"):redistribute(mesh, {R})
      local n = dt.linalg_vector_norm(p, math.huge)
      return n
    end},
  {"DT1004", "threshold",
    function ()
      local p = partial(count(4), "max")
      local y = dt.threshold(p, 0.5, 20)
      return y
    end,
    function ()
      local p = partial(count(4), "max"):redistribute(mesh, {R})
      local y = dt.threshold(p, 0.5, 20)
      return y
    end},
  {"DT1004", "convolution",                   -- an addend taken for the whole
    function ()
      local x = from_local(count(4, 4, 4, 4) * (me + 1), mesh, {dt.Partial()})
      local y = F.conv2d(x, D(count(2, 4, 3, 3), mesh, {R}))
      return y
    end,
    function ()
      local x = D(count(4, 4, 4, 4), mesh, {S(0)})
      local y = F.conv2d(x, D(count(2, 4, 3, 3), mesh, {R}))
      return y
    end},
  {"DT1004", "scatter_add_",                  -- only where self is moved
    function ()
      local x = D(dt.zeros(8), mesh, {S(0)})
      x:scatter_add_(0, D(dt.tensor {0, 7, 7, 3}, mesh, {R}),
        D(dt.ones(4), mesh, {R}))
    end,
    function ()
      local x = D(dt.zeros(8), mesh, {R})
      x:scatter_add_(0, D(dt.tensor {0, 7, 7, 3}, mesh, {S(0)}),
        D(dt.ones(4), mesh, {S(0)}))
    end},
  {"DT1005", "to_local_backward",
    function ()
      local w = leaf(count(4), {R})
      local l = (w:to_local() * (me + 1)):sum()
      l:backward()
    end,
    function ()
      local w = leaf(count(4), {R})
      local l = (w:to_local({grad_placements = {dt.Partial()}}) * (me + 1))
      l:sum():backward()
    end},
  {"DT1006", "from_local",
    function () local x = from_local(count(4) + me, mesh, {R}) return x end,
    function () local x = from_local(count(4), mesh, {R}) return x end},
  {"DT1007", "from_local",
    function () local x = from_local(count(4), mesh, {S(0)}) return x end,
    function ()
      local x = from_local(count(4) + 4 * me, mesh, {S(0)})
      return x
    end},
  {"DT1041", "from_local",                    -- cut along rows, not columns
    function ()
      local mine = count(8, 8):chunk(world, 0)[me + 1]
      local x = from_local(mine, mesh, {S(1)})
      return x
    end,
    function ()
      local mine = count(8, 8):chunk(world, 1)[me + 1]
      local x = from_local(mine, mesh, {S(1)})
      return x
    end},
  {"DT1041", "from_local",                    -- cut by tp first
    function ()
      local dp, tp = grid:get_local_rank("dp"), grid:get_local_rank("tp")
      local mine = count(8, 2):chunk(2, 0)[tp + 1]:chunk(2, 0)[dp + 1]
      local x = from_local(mine:clone(), grid, {S(0), S(0)})
      return x
    end,
    function ()
      local dp, tp = grid:get_local_rank("dp"), grid:get_local_rank("tp")
      local mine = count(8, 2):chunk(2, 0)[dp + 1]:chunk(2, 0)[tp + 1]
      local x = from_local(mine:clone(), grid, {S(0), S(0)})
      return x
    end},
  {"DT1042", "from_local",                    -- before any case chooses a seed
    function ()
      local noise = dt.randn(2, 3) * 2
      local x = from_local(noise, mesh, {R})
      return x
    end,
    function ()
      dt.manual_seed(1)
      local noise = dt.randn(2, 3) * 2
      local x = from_local(noise, mesh, {R})
      return x
    end},
  {"DT1043", "argmax",                        -- indices of the part
    function ()
      local part = D(count(4, 8), mesh, {S(1)}):to_local()
      local i = part:argmax(1)
      local x = from_local(i, mesh, {dt.Partial("max")})
      return x
    end,
    function ()
      local part = D(count(4, 8), mesh, {S(1)}):to_local()
      local i = part:argmax(1) + me * 2
      local x = from_local(i, mesh, {dt.Partial("max")})
      return x
    end},
  {"DT1043", "_softmax",                      -- merged by their log-sum-exps
    function ()
      dt.manual_seed(3)
      local part = dt.randn(8, 4):chunk(world, 0)[me + 1]
      dt.distributed.all_gather(F.softmax(part, 0):sum(0))
    end,
    function ()
      dt.manual_seed(3)
      local part = dt.randn(8, 4):chunk(world, 0)[me + 1]
      dt.distributed.all_gather(F.softmax(part, 0):sum(0))
      dt.distributed.all_gather(part:logsumexp(0))
      local other = dt.randn(8, 4):chunk(world, 0)[me + 1]
      dt.distributed.all_gather(other:logsumexp(0))
      dt.distributed.all_gather(F.softmax(other, 0):sum(0))
    end},
  {"DT1043", "sum",                           -- its divisor is this rank's
    function () return weighted(false) end,
    function () return weighted(true) end},
  {"DT1043", "_softmax",                      -- of what was cut by hand
    function ()
      local part = count(8, 4):pow(2):chunk(world, 0)[me + 1]
      local p = F.softmax(part, 0)
      local x = from_local(p, mesh, {S(0)})
      return x
    end,
    function ()
      local part = count(8, 4):pow(2):chunk(world, 0)[me + 1]
      local p = F.softmax(part, 1)
      local none = D(count(world), mesh, {S(0)}):to_local()
      none:squeeze_()                           -- the cut dimension is gone
      F.softmax(none:transpose(0, -1), -1)
      local x = from_local(p * (me + 1), mesh, {S(0)})
      return x
    end},
  {"DT1044", "addmm",                         -- a row-wise layer by hand
    function ()
      local w = count(4, 8):chunk(world, 1)[me + 1]
      local x = count(2, 8):chunk(world, 1)[me + 1]
      local y = F.linear(x, w, dt.ones(4))
      dt.distributed.all_reduce(y)
    end,
    function ()
      local w = count(4, 8):chunk(world, 1)[me + 1]
      local x = count(2, 8):chunk(world, 1)[me + 1]
      local y = F.linear(x, w)
      dt.distributed.all_reduce(y)
      return y + dt.ones(4)
    end},
  {"DT1044", "add_",                          -- in place, to a partial sum
    function ()
      local a = D(count(4, 8), mesh, {S(1)}):to_local()
      local b = D(count(8, 3), mesh, {S(0)}):to_local()
      local y = a:mm(b) * 0.5
      y:add_(1)
      local x = from_local(y, mesh, {dt.Partial()})
      return x
    end,
    function ()
      local a = D(count(4, 8), mesh, {S(1)}):to_local()
      local b = D(count(8, 3), mesh, {S(0)}):to_local()
      local y = a:mm(b) * 0.5
      local x = from_local(y, mesh, {dt.Partial()}) + 1
      return x
    end},
  {"DT1045", "relu",                          -- before the sum
    function ()
      local a = D(count(4, 8) - 9, mesh, {S(1)}):to_local()
      local b = D(count(8, 3), mesh, {S(0)}):to_local()
      local y = F.relu(a:mm(b))
      dt.distributed.all_reduce(y)
    end,
    function ()
      local a = D(count(4, 8) - 9, mesh, {S(1)}):to_local()
      local b = D(count(8, 3), mesh, {S(0)}):to_local()
      local y = a:mm(b)
      dt.distributed.all_reduce(y)
      y = F.relu(y)
      local z = from_local(y, mesh, {R})
      return z
    end},
  {"DT1008", "from_local",
    function ()
      local x = from_local(count(4), mesh, {dt.Partial()})
      return x
    end,
    function () local x = partial(count(4)) return x end},
  {"DT1008", "from_local",                    -- a gradient of ones
    function ()
      local x = from_local(dt.ones(4), mesh, {dt.Partial()})
      return x
    end,
    function ()
      local x = from_local(dt.ones(4), mesh, {dt.Partial("avg")})
      return x
    end},
  {"DT1009", "from_local",
    function ()
      local mine = me == world - 1 and 1 or 3
      local x = from_local(dt.randn(mine), mesh, {S(0)})
      return x
    end,
    function ()
      local mine = me == world - 1 and 1 or 3
      local x = from_local(dt.zeros(mine), mesh, {S(0)},
        {run_check = false, shape = {3 * world - 2}, stride = {1}})
      return x
    end},
  {"DT1009", "from_local",                    -- not torch.chunk's sizes
    function ()
      local mine = me == 0 and 1 or 3
      local x = from_local(dt.zeros(mine), mesh, {S(0)},
        {run_check = false, shape = {3 * world - 2}, stride = {1}})
      return x
    end,
    function ()
      local x = from_local(dt.zeros(2), mesh, {S(0)})
      return x
    end},
  {"DT1010", "from_local",
    function () local x = from_local(count(4), grid, {R}) return x end,
    function () local x = from_local(count(4), grid, {R, R}) return x end},
  {"DT1011", "redistribute",
    function ()
      local x = D(count(9, 4), grid, {R, S(0)})
      local y = x:redistribute(grid, {S(0), dt._StridedShard(0, 2)})
      return y
    end,
    function ()
      local x = D(count(9, 4), grid, {R, S(0)})
      local y = x:redistribute(grid, {S(0), S(0)})
      return y
    end},
  {"DT1012", "mm",                            -- S(0) cut by tp, then by dp
    function ()
      local a = D(count(4, 8), grid, {S(1), S(1)})
      local w = cut_by_tp_first(count(8, 4))
      local y = a:mm(w)
      return y
    end,
    function ()
      local a = D(count(4, 8), grid, {S(1), S(1)})
      local w = D(count(8, 4), grid, {S(0), S(0)})
      local y = a:mm(w)
      return y
    end},
  {"DT1013", "fill_",
    function ()
      local x = D(dt.zeros(8, 4), mesh, {S(0)})
      x:narrow(0, 0, 4):fill_(1)
    end,
    function ()
      local x = D(dt.zeros(8, 4), mesh, {S(0)})
      x:narrow(1, 0, 2):fill_(1)
    end},
  {"DT1013", "mul_",
    function ()
      local x = D(count(8, 4), mesh, {S(0)})
      local row = x:select(0, 3)
      row:mul_(2)
    end,
    function ()
      local x = D(count(8, 4), mesh, {S(0)})
      local row = x:select(1, 3)
      row:mul_(2)
    end},
  {"DT1014", "index_add_",
    function ()
      local x = D(dt.zeros(8, 4), mesh, {S(0)})
      x:index_add_(0, D(dt.tensor {0, 7}, mesh, {R}),
        D(count(2, 4), mesh, {R}))
    end,
    function ()
      local x = D(dt.zeros(8, 4), mesh, {R})
      x:index_add_(0, D(dt.tensor {0, 7}, mesh, {R}),
        D(count(2, 4), mesh, {R}))
    end},
  {"DT1015", "mse_loss",
    function ()
      local a, b = D(count(10, 3), mesh, {S(0)}), D(dt.ones(10, 3), mesh,
        {S(0)})
      local l = F.mse_loss(a, b)
      return l
    end,
    function ()
      local a, b = D(count(8, 3), mesh, {S(0)}), D(dt.ones(8, 3), mesh, {S(0)})
      local l = F.mse_loss(a, b)
      return l
    end},
  {"DT1015", "nll_loss_forward",              -- ignored targets
    function ()
      local x = D(count(8, 5), mesh, {S(0)})
      local t = D(dt.tensor {0, 1, 2, 3, 4, -100, 1, -100}, mesh, {S(0)})
      local l = F.cross_entropy(x, t)
      return l
    end,
    function ()
      local x = D(count(8, 5), mesh, {S(0)})
      local t = D(dt.tensor {0, -100, 2, -100, 4, -100, 1, -100}, mesh, {S(0)})
      local l = F.cross_entropy(x, t)
      return l
    end},
  {"DT1015", "nll_loss_forward",              -- weighted classes
    function ()
      local x = D(count(8, 5), mesh, {S(0)})
      local t = D(dt.tensor {0, 1, 2, 3, 4, 4, 1, 0}, mesh, {S(0)})
      local w = D(dt.tensor {1.0, 2.0, 3.0, 4.0, 5.0}, mesh, {R})
      local l = F.cross_entropy(x, t, w)
      return l
    end,
    function ()
      local x = D(count(8, 5), mesh, {S(0)})
      local t = D(dt.tensor {0, 1, 2, 3, 4, 4, 1, 0}, mesh, {S(0)})
      local l = F.cross_entropy(x, t)
      return l
    end},
  {"DT1015", "all_reduce",                    -- a mean of its own on each rank
    function ()
      local m = count(me + 2, 3):mean()
      dt.distributed.all_reduce(m, {op = "avg"})
    end,
    function ()
      local x = count(me + 2, 3)
      local m = x:mean() * x:numel()
      dt.distributed.all_reduce(m)
    end},
  {"DT1015", "all_reduce",                    -- with the number on the left
    function ()
      local m = dt.tensor(0.5) * count(me + 2, 3):mean()
      dt.distributed.all_reduce(m, {op = "avg"})
    end,
    function ()
      local x = count(me + 2, 3)
      local m = dt.tensor(x:numel() + 0.0) * x:mean()
      dt.distributed.all_reduce(m)
    end},
  {"DT1015", "from_local",                    -- of what a rank holds
    function ()
      local part = D(count(10, 3), mesh, {S(0)}):to_local()
      local x = from_local(part:mean(0), mesh, {dt.Partial("avg")})
      return x
    end,
    function ()
      local part = D(count(8, 3), mesh, {S(0)}):to_local()
      local x = from_local(part:mean(0), mesh, {dt.Partial("avg")})
      return x
    end},
  {"DT1015", "mean",                          -- of the means of all ranks
    function ()
      local m = count(me + 2, 3):mean(0):view(1, 3)
      local all = dt.distributed.functional.all_gather_tensor(m, 0)
      local y = all:mean(0)
      return y
    end,
    function ()
      local m = (count(3, 3) + me):mean(0):view(1, 3)
      local all = dt.distributed.functional.all_gather_tensor(m, 0)
      local y = all:mean(0)
      return y
    end},
  {"DT1015", "mean",                          -- and its gradients
    function ()
      local w = dt.ones(3)
      w.requires_grad = true;
      (count(me + 1, 3) * w):mean():backward()
      dt.distributed.all_reduce(w.grad, {op = "avg"})
    end,
    function ()
      local w = dt.ones(3)
      w.requires_grad = true
      local n = dt.tensor(me + 1.0)
      dt.distributed.all_reduce(n);
      ((count(me + 1, 3) * w):sum() / n):backward()
      dt.distributed.all_reduce(w.grad)
    end},
  {"DT1016", "_log_softmax_backward",
    function ()
      local x = leaf(count(4, 8), {S(1)})
      dt.loss_parallel(function () F.log_softmax(x, 1):sum():backward() end)
    end,
    function ()
      local x = leaf(count(4, 8), {S(1)})
      dt.loss_parallel(function ()
        local l = F.cross_entropy(x, dt.tensor {0, 1, 2, 3})
        l:backward()
      end)
    end},
  {"DT1017", "pick",                          -- the plan of the first call
    function () return pick("flag", "bool") end,
    function () return pick("number", "int") end, true},
  {"DT1018", "uniform_",
    function ()
      dt.manual_seed(1)
      D(dt.zeros(8, 4), mesh, {S(0)}):uniform_()
    end,
    function ()
      dt.manual_seed(1)
      local x = D(dt.zeros(8, 4):uniform_(), mesh, {S(0)})
      return x
    end},
  {"DT1018", "bernoulli_",                    -- dropout repeats its mask
    function ()
      dt.manual_seed(1)
      local y = dt.dropout(D(dt.ones(64, 4), mesh, {S(0)}), 0.5, true)
      return y
    end,
    function ()
      dt.manual_seed(1 + me)
      local y = dt.dropout(D(dt.ones(64, 4), mesh, {S(0)}), 0.5, true)
      return y
    end},
  {"DT1019", "uniform_",
    function ()
      dt.manual_seed(me)
      D(dt.zeros(8, 4), mesh, {R}):uniform_()
    end,
    function ()
      dt.manual_seed(7)
      D(dt.zeros(8, 4), mesh, {R}):uniform_()
    end},
  {"DT1020", "from_local",
    function () local y = from_local(ring(), mesh, {S(2)}) return y end,
    function ()
      local y = dt.context_parallel_unshard(mesh, {ring()}, {2})[1]
      return y
    end},
  {"DT1020", "all_gather",
    function ()
      local all = dt.distributed.functional.all_gather_tensor(ring(), 2)
      return all
    end,
    function ()
      local y = dt.context_parallel_unshard(mesh, {ring()}, {2})[1]
      return y
    end},
  {"DT1021", "HSDP",
    function () dt.fully_shard(nn.Linear(8, 8), {mesh = grid}) end,
    function () dt.fully_shard(nn.Linear(8, 8), {mesh = grid["dp"]}) end},
  {"DT1022", "",
    function ()
      local w = leaf(count(4), {R})
      local l = (w:to_local() * (me + 1)):sum()
      l:backward()
    end,
    function ()
      local w = leaf(count(4), {R})
      local l = (w:to_local() * 3):sum()
      l:backward()
    end},
  {"DT1046", "sub_",                          -- nobody reduces the gradient
    function ()
      local w = dt.ones(4)
      w.requires_grad = true
      dt.distributed.broadcast(w:detach(), 0)
      local l = (w * (count(4) + me)):sum()
      l:backward()
      dt.no_grad(function () w:sub_(w.grad) end)
    end,
    function ()
      local w = dt.ones(4)
      w.requires_grad = true
      dt.distributed.broadcast(w:detach(), 0)
      local l = (w * (count(4) + me)):sum()
      l:backward()
      dt.distributed.all_reduce(w.grad)
      dt.no_grad(function () w:sub_(w.grad) end)
    end},
  {"DT1023", "FusedLinear",                   -- wgrad added to a buffer
    function () train_fused(false) end,
    function () train_fused(true) end, true},
  {"DT1024", "UNTIED",
    function ()
      local m = nn.Sequential(nn.Linear(8, 8), nn.Linear(8, 8))
      m[1].weight = m[0].weight
      dt.distribute_module(m, mesh)
    end,
    function ()
      local m = nn.Sequential(nn.Linear(8, 8), nn.Linear(8, 8))
      dt.distribute_module(m, mesh)
      m[1].weight = m[0].weight
    end},
  {"DT1025", "optimizer.step",
    function ()
      local m = nn.Linear(8, 8)
      local opt = optim.SGD(m:parameters(), {lr = 0.1})
      dt.distribute_module(m, mesh)
      m(D(count(4, 8), mesh, {R})):sum():backward()
      opt:step()
    end,
    function ()
      local m = nn.Linear(8, 8)
      dt.distribute_module(m, mesh)
      local opt = optim.SGD(m:parameters(), {lr = 0.1})
      m(D(count(4, 8), mesh, {R})):sum():backward()
      opt:step()
    end},
  {"DT1026", "cat",                           -- files joined by hand
    function () local w = joined {3, 2, 1, 0} return w end,
    function () local w = joined {0, 1, 2, 3} return w end, true},
  {"DT1026", "from_local",                    -- another numbering of ranks
    function () local w = placed(world - 1 - me) return w end,
    function () local w = placed(me) return w end, true},
  {"DT1027", "mul",
    function () local x = dt.empty(4) local y = x * 2 return y end,
    function () local x = dt.empty(4):zero_() local y = x * 2 return y end},
  {"DT1027", "add",                           -- and its shards
    function ()
      local x = D(dt.empty(8), mesh, {S(0)})
      local y = x + x
      return y
    end,
    function ()
      local x = D(dt.empty(8), mesh, {S(0)})
      x:fill_(1)
      local y = x + x
      return y
    end},
  {"DT1027", "index_put",                     -- added to; and put in its place
    function ()
      dt.empty(4):index_put_({dt.tensor {1, 0, 3, 2}}, dt.ones(4), true)
    end,
    function ()
      local x = dt.empty(4):index_put_({dt.tensor {1, 0, 3, 2}}, dt.ones(4))
      return x * dt.empty(4):scatter_(0, dt.tensor {1, 0, 3, 2}, dt.ones(4))
    end},
  {"DT1027", "addmm",                         -- to_empty, not initialised
    function ()
      local m = nn.Linear(4, 4, {device = "meta"})
      m:to_empty {device = "cpu"}
      local y = m(count(2, 4))
      return y
    end,
    function ()
      local m = nn.Linear(4, 4, {device = "meta"})
      m:to_empty {device = "cpu"}
      m:reset_parameters()
      local y = m(count(2, 4))
      return y
    end},
  {"DT1028", "mul",
    function ()
      local t = count(4) * (me + 1)
      local work = dt.distributed.all_reduce(t, {async_op = true})
      local y = t * 2
      work:wait()
      return y
    end,
    function ()
      local t = count(4) * (me + 1)
      local work = dt.distributed.all_reduce(t, {async_op = true})
      work:wait()
      local y = t * 2
      return y
    end},
  {"DT1030", "add",
    function ()
      local x = D(count(8), mesh, {S(0)}) + dt.full({1}, me + 0.5)
      return x
    end,
    function ()
      local x = D(count(8), mesh, {S(0)}) + dt.full({1}, 0.5)
      return x
    end},
  {"DT1039", "div",                           -- each rank its own count
    function ()
      local x = D(count(8), mesh, {S(0)}):sum()
      local mean = x / (2 + me)
      return mean
    end,
    function ()
      local x = D(count(8), mesh, {S(0)}):sum()
      local mean = x / 8
      return mean
    end},
  {"DT1040", "all_reduce",                    -- reduced a second time
    function ()
      local g = dt.distributed.functional.all_reduce(count(4) * (me + 1))
      local twice = dt.distributed.functional.all_reduce(g)
      return twice
    end,
    function ()
      local g = dt.distributed.functional.all_reduce(count(4) * (me + 1))
      local n = dt.distributed.functional.all_reduce(dt.ones(1))
      return g, n
    end},
  {"DT1032", "add",
    function ()
      dt.implicit_replication(function ()
        local x = D(count(8), mesh, {S(0)}) + (count(8) + me)
        return x
      end)
    end,
    function ()
      dt.implicit_replication(function ()
        local x = D(count(8), mesh, {S(0)}) + count(8)
        return x
      end)
    end},
  {"DT1031", "view",
    function ()
      local x = D(count(12, 8), mesh, {S(1)}):view(16, 6)
      return x
    end,
    function ()
      local x = D(count(12, 8), mesh, {S(0)}):view(12, 4, 2)
      return x
    end},
  {"DT1031", "embedding",                     -- token ids gathered
    function ()
      local ids = D(dt.tensor {{0, 1, 2, 3}, {4, 5, 6, 7}}, mesh, {S(1)})
      local y = F.embedding(ids, D(count(8, 4), mesh, {S(0)}))
      return y
    end,
    function ()
      local ids = D(dt.tensor {{0, 1, 2, 3}, {4, 5, 6, 7}}, mesh, {R})
      local y = F.embedding(ids, D(count(8, 4), mesh, {S(0)}))
      return y
    end},
  {"DT1033", "",
    function ()
      local w, v = leaf(dt.ones(8, 8), {S(0)}), leaf(dt.ones(8, 8), {S(0)})
      local y = w:t():reshape(4, 16) + v:view(4, 16)
      y:exp():sum():backward()
    end,
    function ()
      local w = leaf(count(8, 4), {S(0)})
      w:sum():backward()
    end},
  {"DT1034", "",
    function ()
      local w = leaf(count(8), {S(0)})
      local y = w * 2
      y:backward(dt.ones(8))
    end,
    function ()
      local w = leaf(count(8), {S(0)})
      local y = w * 2
      y:backward(D(dt.ones(8), mesh, {S(0)}))
    end},
  {"DT1035", "distribute_tensor",
    function () local x = D(count(8) + me, mesh, {S(0)}) return x end,
    function () local x = D(count(8), mesh, {S(0)}) return x end},
  {"DT1036", "_to_copy",
    function ()
      local x = D(count(8), mesh, {S(0)}):redistribute(mesh, {R})
      local y = x:to(dt.bfloat16)
      return y
    end,
    function ()
      local x = D(count(8), mesh, {S(0)}):to(dt.bfloat16)
      local y = x:redistribute(mesh, {R})
      return y
    end},
  {"DT1036", "_to_copy",                      -- the whole, then smaller
    function ()
      local y = D(count(8), mesh, {S(0)}):full_tensor():to(dt.bfloat16)
      return y
    end,
    function ()
      local y = D(count(8), mesh, {S(0)}):to(dt.bfloat16):full_tensor()
      return y
    end},
  {"DT1037", "cumsum",
    function () local x = D(count(8, 4), mesh, {S(0)}):cumsum(-2) return x end,
    function () local x = D(count(8, 4), mesh, {S(0)}):cumsum(0) return x end},
  {"DT1038", "LOW_REDUCE",
    function ()
      dt.fully_shard(nn.Linear(8, 8), {mesh = mesh,
        mp_policy = dt.MixedPrecisionPolicy {param_dtype = dt.bfloat16}})
    end,
    function ()
      dt.fully_shard(nn.Linear(8, 8), {mesh = mesh,
        mp_policy = dt.MixedPrecisionPolicy {param_dtype = dt.bfloat16,
          reduce_dtype = dt.float32}})
    end},
  {"DT1050", "arange",
    function () return counted(0) end, function () return counted(me * 2) end},
  {"DT1053", "",
    function () return heads(1 - me * 2 // world) end,
    function () return heads(me * 2 // world) end},
  {"DT1051", "load_state_dict",
    function ()
      local m = nn.Linear(2, 2)
      m:load_state_dict({["module.weight"] = dt.ones(2, 2)}, {strict = false})
    end,
    function ()                                 -- its head has another shape
      local m = nn.Linear(2, 2)
      m:load_state_dict({weight = dt.ones(2, 2), ["head.bias"] = dt.ones(3)},
        {strict = false})
    end},
  {"DT1047", "",
    function () return trained {} end, function () return trained(each) end},
  {"DT1048", "",
    function () return trained(each, me) end,
    function () return trained(each) end},
  {"DT1049", "batch_norm",
    function () return normed() end,
    function () return normed {op = "avg"} end},
  {"DT1050", "",
    function () return masked(0) end,
    function () return masked(2 * me) end},
  {"DT1050", "",
    function () return masked(0, "cat") end,
    function () return masked(2 * me, "cat") end},
  {"DT1050", "",
    function () return masked(0, "stack") end,
    function () return masked(2 * me, "stack") end},
  {"DT1052", "add_",
    function () return summed(dt.bfloat16) end,
    function () return summed(dt.float32) end},
  {"DT1052", "add_",                          -- no digits are lost of nothing
    function () return summed(dt.bfloat16) end,
    function () return summed(dt.bfloat16, 0) end},
  {"DT1054", "",
    function () return twice(true) end, function () return twice(false) end},
  {"DT1058", "",
    function () return stepped(nil, "sum") end,
    function () return stepped(world, "sum") end},
  {"DT1058", "",                              -- two losses are no sum of ranks
    function () return stepped(nil, "sum") end,
    function () return stepped(nil, "avg", nil, world) end},
  {"DT1058", "",                              -- and clipped then
    function () return stepped(nil, "sum", nil, 1, 0.01) end,
    function () return stepped(world, "sum", nil, 1, 0.01) end},
  {"DT1081", "",
    function () return batches(1) end, function () return batches(3) end},
  {"DT1082", "",
    function () return of_group(world) end,
    function () return of_group(world // 2) end},
  {"DT1083", "broadcast",
    function () return sent_by(1) end, function () return sent_by(0) end},
  {"DT1084", "all_gather",
    function () return gathered_over("dp") end,
    function () return gathered_over("tp") end},
  {"DT1059", "",
    function () return stepped(world, "avg") end,
    function () return stepped(nil, "avg") end},
  {"DT1060", "",
    function () return stepped(nil, "avg", true) end,
    function () return stepped(nil, "avg") end},
  {"DT1061", "",
    function () return columns(me + 5, 3) end,
    function () return columns(5, 3) end},
  {"DT1062", "",
    function () return columns(5, me + 3) end,
    function () return columns(5, 3) end},
  {"DT1063", "all_gather",
    function () return severed() end, function () return severed(true) end},
  {"DT1064", "",
    function () return clipped(true) end, function () return clipped() end},
  {"DT1065", "step",
    function () return clipped(nil, true) end, function () return clipped() end},
  {"DT1066", "add_",
    function () return small_steps(dt.bfloat16) end,
    function () return small_steps(dt.float32) end},
  {"DT1067", "mul_",
    function ()
      local x = dt.ones(4)
      local _, work = dt.empty(4 * world), nil
      work = dt.distributed.all_gather_into_tensor(_, x, {async_op = true})
      x:mul_(2)
      work:wait()
    end,
    function ()
      local x = dt.ones(4)
      local all = dt.empty(4 * world)
      dt.distributed.all_gather_into_tensor(all, x, {async_op = true}):wait()
      x:mul_(2)
    end},
  {"DT1068", "broadcast",
    function () return loaded(1) end, function () return loaded(0) end},
  {"DT1069", "dropout",
    function () return drops(5) end, function () return drops(5 + me) end},
  {"DT1070", "",
    function () return sampled(false) end, function () return sampled(true) end},
  {"DT1071", "",
    function () return sampled(true, 7) end,
    function () return sampled(true, 8) end},
  {"DT1072", "",
    function () return equal_parts(10) end,
    function () return equal_parts(8) end},
  {"DT1073", "",
    function () return rated(me) end, function () return rated(0) end},
  {"DT1074", "broadcast",
    function () return owned(0) end, function () return owned(1) end},
  {"DT1075", "requires_grad_",
    function () return frozen(me == 2) end,
    function () return frozen(true) end},
  {"DT1076", "mul",
    function () return drops_sum(me) end, function () return drops_sum(7) end},
  {"DT1077", "add",
    function () return sorted_rows() end,
    function () return sorted_rows(true) end},
  {"DT1079", "copy_",
    function () return load_part(1) end,
    function () return load_part(me) end},
  {"DT1080", "all_reduce",
    function () return sum_back(true) end,
    function () return sum_back(false) end},
  {"DT1078", "all_reduce",
    function ()
      local y = count(4) * (me + 1)
      dt.distributed.functional.all_reduce(y)
      return y + 1
    end,
    function ()
      local y = count(4) * (me + 1)
      y = dt.distributed.functional.all_reduce(y)
      return y + 1
    end},
  {"DT1049", "add_",
    function () return followed() end, function () return followed(true) end},
  {"DT1057", "backward",
    function () return trained(each, nil, 7) end,
    function () return trained(each) end},
  {"DT1057", "backward",                        -- halves of two ranks
    function () return in_halves() end,
    function () return in_halves(me) end},
  {"DT1024", "UNTIED",
    function ()
      local a, b = nn.Linear(4, 4), nn.Linear(4, 4)
      a.weight = b.weight
      dt.parallelize_module(a, mesh, dt.ColwiseParallel())
      dt.parallelize_module(b, mesh, dt.ColwiseParallel())
    end,
    function ()                                 -- tied again
      local a, b = nn.Linear(4, 4), nn.Linear(4, 4)
      a.weight = b.weight
      dt.parallelize_module(a, mesh, dt.ColwiseParallel())
      dt.parallelize_module(b, mesh, dt.ColwiseParallel())
      a.weight = b.weight
    end},
}

local function found(f)
  dt.debug.findings_clear()
  local ok, e = pcall(f)
  return dt.debug.findings(), ok, e
end

local seen = {}
local helpers = debug.getinfo(twice, "S").lastlinedefined
for i, c in ipairs(cases) do
  local code, op, trap, clean, above = table.unpack(c)
  local what = ("%d %s %s"):format(i, code, op)
  local line = debug.getinfo(trap, "S").linedefined
  local last = debug.getinfo(trap, "S").lastlinedefined
  local list, ok, e = found(trap)
  local hit
  for _, f in ipairs(list) do
    if f.code == code and f.op:find(op, 1, true) then hit = hit or f end
  end
  T.ok(ok, what .. ": the trap runs: " .. tostring(e))
  if T.ok(hit, what .. ": found") then
    seen[code] = true
    T.ok(hit.evidence ~= "" and hit.lua ~= "" and hit.torch ~= "",
      what .. ": evidence and fix")
    T.ok(not (hit.lua .. hit.torch):find("%%[xpd]"), what .. ": fix filled in")
    T.ok(hit.name ~= "", what .. ": names what it is about")
    T.ok(hit.line == 0 or (hit.line >= line and hit.line <= last)
      or ((above or hit.line <= helpers) and hit.line < line),
      what .. ": its line, got " .. hit.line)
  end
  list, ok, e = found(clean)
  T.ok(ok, what .. ": the clean twin runs: " .. tostring(e))
  for _, f in ipairs(list) do
    T.ok(f.code ~= code and f.severity ~= "wrong",
      ("%s: clean, but %s %s at %s:%d: %s"):format(what, f.code, f.name, f.op,
        f.line, f.evidence))
  end
end

-- Every kind is tried, here or as a pair of programs (tests/repl/pairs.sh).
local in_pairs = {
  "node_local_shard.py", "norm_of_tied.py", "lora_merge_parts.py",
  "merge_preds_idx.py", "short_message.py", "unfrozen_late.py",
  "fsdp_divide_one.py", "dt_local_mean.py", "eval_mode_rank0.py",
  "pp_interleaved.py", "pp_loss_sum.py", "dcp_local_parts.py", "dcp_bf16_load.py",
  "dcp_moments_left.py", "fsdp_dp_not_cp.py",
  "split_of_each_rank.py", "schedule_not_restored.py", "zero_without_ddp.py",
  "local_class_weights.lua", "sample_own_token.lua", "shift_in_part.py",
  "norm_max_not_sum.lua", "copy_of_full.py", "dcp_not_put_back.py",
  "fsdp_sync_off.py", "rng_resume.py", "zero_resume.py", "clip_gather.py",
  "penalty_each_rank.py", "partial_of_means.py", "hsdp_norm.py",
  "lora_unreduced.lua", "contrastive_labels.py",
  "clip_shards_local.py", "shards_averaged_again.py",
  "opt_state_fresh.py", "micro_grad_lost.py", "part_updated.py",
  "bucket_order.py", "sp_gather_no_reduce.py", "grad_max.py", "zigzag_where.py",
  "conv_neighbour.py", "ring_causal_all.py", "buffer_padding.py", "expert_scale.py",
  "local_key_queue.py", "tied_pipeline.py", "stale_gathered.py",
  "schedule_of_all.py", "lamb_local.lua", "ddp_late_head.py", "clip_raw_grads.py",
  "powersgd_seed.py", "sampler_seed.py", "kl_coefficient.py", "state_of_rank0.py",
  "sampler_of_part.py", "world_sum_dp.py", "loss_over_world.py",
  "local_map_gradient.py", "moe_memory_order.py", "stash_order.py", "pp_scale.py",
  "rescaled_micro.py", "ring_src.py", "checkpoint_draws.py",
  "clip_value_first.py", "pipeline_rate.py",
  "recv_again.py", "flat_copy.py", "cell_not_back.py",
  "targets_apart.py", "ring_sum_sent.py", "buffer_drawn.py",
  "exchange_not_back.py", "gathered_into_one.py", "stays_eval.py",
  "opt_order.py", "positions_bf16.py",
  "param_server_last.py", "batches_lag.py", "neftune_parts.py", "topk_values_summed.py",
  "vce_unmasked.py", "moe_sorted_again.py", "contrastive_mask.py",
  "clip_then_divide.py", "dealt_two_ways.py", "meter_of_tp.py",
  "flat_undecayed.py", "grads_of_rank0.py",
}
for _, name in ipairs(in_pairs) do
  local file <close> = assert(io.open("tests/findings/pairs/" .. name))
  seen[file:read("l"):match("DT%d+")] = true
end
for _, k in ipairs(dt.debug.traps()) do
  T.ok(seen[k.code], k.code .. " has a case")
end

-- A call in the place of a return keeps its line.
local function last() return D(count(8), mesh, {S(0)}):sum():item() end
local last_list = found(last)
T.eq(last_list[1].line, debug.getinfo(last, "S").linedefined, "a tail call")

-- Of two programs each has one rank that sends what it updated: it alone is meant to
-- learn in either.
local function learns_alone(from)
  dt.manual_seed(3)
  local m = dt.nn.Linear(4, 4)
  local opt = dt.optim.SGD(m:parameters(), {lr = 0.1})
  for i = 1, 3 do
    dt.manual_seed(10 * i + me)
    opt:zero_grad()
    m(dt.randn(2, 4)):sum():backward()
    opt:step()
    for p in m:parameters() do dt.distributed.broadcast(p, from) end
  end
end
for from = 0, 1 do
  for _, f in ipairs(found(function () learns_alone(from) end)) do
    T.ok(f.code ~= "DT1182", "one rank learns, " .. from .. ": " .. f.evidence)
  end
end

-- A loop finds once and counts; off means off.
dt.debug.findings_clear()
for _ = 1, 20 do
  local v = D(count(8), mesh, {S(0)}):sum():item()
  T.ok(v, "read")
end
local list = dt.debug.findings()
T.eq(#list, 1, "one finding of a loop")
T.eq(list[1].count, 20, "met twenty times")
dt.debug.findings_clear()
dt.debug.findings_on(false)
local v = D(count(8), mesh, {S(0)}):sum():item()
T.ok(v, "read")
T.eq(#dt.debug.findings(), 0, "off")
dt.debug.findings_on(true)
T.finish()

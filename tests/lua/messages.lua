-- TEST: ranks={2,4} world={threads,mpi} needs=data
-- SPDX-License-Identifier: MIT
-- Messages between two ranks, and the collectives of lists: what arrives, the
-- texts of what cannot be, the ledger's bytes, and a circle of senders.

local T = require "tests.lua.lib.check"

local D = dt.distributed
local world, me = dt.world_size(), dt.rank()
local right, left = (me + 1) % world, (me - 1) % world

-- Around the ring; the even ranks send first.
local function ring()
  local got = dt.zeros(3)
  if me % 2 == 0 then D.send(dt.full({3}, me + 0.0), right) end
  T.eq(D.recv(got, left), left, "who sent it")
  if me % 2 == 1 then D.send(dt.full({3}, me + 0.0), right) end
  T.close(got, {left, left, left}, "ring")
end

-- All send at once and wait later: nobody is stuck, large or small.
local function at_once(n)
  local got, mine = dt.zeros(n), dt.full({n}, me + 1.0)
  local work = D.isend(mine, right)
  dt.no_grad(function () mine:zero_() end)      -- may be changed at once
  D.recv(got, left)
  work:wait()
  T.eq(work:is_completed(), true, "it is over")
  T.close(got:sum(), {n * (left + 1)}, "at once")
end

-- Who receives later helps the data on its way while it waits elsewhere.
local function meanwhile(n)
  local got = dt.zeros(n)
  local work = me == 0 and D.isend(dt.ones(n), 1)
    or me == 1 and D.irecv(got, 0)
  if me == 0 then work:wait() end
  D.barrier()
  if me == 1 then
    work:wait()
    T.close(got:sum(), {n}, "meanwhile")
  end
end

-- What is conjugated lazily has to be written out before.
local function conjugated()
  local x = dt.complex(dt.tensor {1.0}, dt.tensor {2.0}):conj()
  for _, f in ipairs {D.isend, D.irecv} do
    local ok, e = pcall(f, x, right)
    T.eq(ok, false, "conjugated")
    T.has(e.message, "unresolved conjugated tensors", "conjugated")
  end
end

-- Tags keep messages apart, whatever the order of the waits.
local function tags()
  local a, b = dt.zeros(2), dt.zeros(2)
  local works = D.batch_isend_irecv {
    D.P2POp(D.isend, dt.full({2}, 10.0 + me), right, {tag = 1}),
    D.P2POp(D.isend, dt.full({2}, 20.0 + me), right, {tag = 2}),
    D.P2POp(D.irecv, b, left, {tag = 2}),
    D.P2POp(D.irecv, a, left, {tag = 1})}
  for i = #works, 1, -1 do works[i]:wait() end
  T.close(a, {10 + left, 10 + left}, "tag 1")
  T.close(b, {20 + left, 20 + left}, "tag 2")
end

-- Many under way in one channel come in order.
local function many()
  local works, got = {}, {}
  for i = 1, 20 do works[i] = D.isend(dt.full({1}, i + 0.0), right) end
  for i = 1, 20 do
    got[i] = dt.zeros(1)
    works[20 + i] = D.irecv(got[i], left)
  end
  for _, w in ipairs(works) do w:wait() end
  for i = 1, 20 do T.close(got[i], {i}, "number " .. i) end
end

-- A tag of its own for each message, as programs have that number them.
local function a_tag_each()
  local t = dt.ones(1)
  for tag = 100, 5000 do
    if me == 0 then D.isend(t, 1, {tag = tag})
    elseif me == 1 then D.recv(t, 0, {tag = tag}) end
  end
  D.barrier()
end

-- Fewer bytes than there is room for are welcome, more are not.
local function sizes()
  local few = dt.zeros(4)
  if me == 0 then D.send(dt.ones(2), 1)
  elseif me == 1 then D.recv(few, 0) end
  T.close(few, me == 1 and {1, 1, 0, 0} or {0, 0, 0, 0}, "a small message")
  if me == 0 then D.send(dt.ones(5), 1)
  elseif me == 1 then
    T.throws("RuntimeError",
      "sent more than the tensor that receives it has room for, 12 bytes",
      D.recv, dt.zeros(3), 0)
  end
  dt.barrier()
end

local function refused()
  T.eq((pcall(D.isend, dt.ones(2), right, {tag = 1 << 40})), false,
    "a tag of 41 bits")
  T.throws("ValueError",
    "Invalid destination rank: destination rank should not be the same as",
    D.send, dt.ones(1), me)
  T.throws("ValueError", "Must specify global_rank or group_rank", D.send,
    dt.ones(1))
  T.throws("ValueError", "Can't specify both group_rank and global_rank",
    D.send, dt.ones(1), {dst = 0, group_dst = 1})
  T.throws("RuntimeError", "input tensor has to be contiguous", D.send,
    dt.ones(3, 2):t(), right)
  T.throws("ValueError",
    "Expected ``op`` to be of type ``torch.distributed.isend``", D.P2POp,
    D.all_reduce, dt.ones(1), 1)
  T.throws("RuntimeError", "input tensor list size 1 does not match world size",
    D.all_to_all, {dt.ones(1)}, {dt.ones(1)})
  T.throws("RuntimeError", "ProcessGroupGloo::reduce: invalid root rank: 9",
    D.reduce, dt.ones(1), 9)
end

local function lists()
  local outs, ins = {}, {}
  for i = 1, world do
    outs[i], ins[i] = dt.zeros(2), dt.full({2}, 10.0 * me + i - 1)
  end
  D.all_to_all(outs, ins)
  for i = 1, world do
    T.close(outs[i], {10 * (i - 1) + me, 10 * (i - 1) + me}, "all_to_all")
  end
  D.gather(dt.full({2}, me + 0.0), me == 1 and outs or nil, 1)
  for i = 1, world do
    local want = me == 1 and i - 1 or 10 * (i - 1) + me
    T.close(outs[i], {want, want}, "gather")
  end
  local t = dt.zeros(2)
  D.scatter(t, me == 1 and ins or nil, 1)
  T.close(t, {10 + me, 10 + me}, "scatter")
  t = dt.full({2}, me + 1.0)
  D.reduce(t, 1)
  local sum = me == 1 and world * (world + 1) / 2 or me + 1
  T.close(t, {sum, sum}, "reduce")
  D.reduce_scatter(t, ins)
  local all = 10 * world * (world - 1) / 2 + world * me
  T.close(t, {all, all}, "reduce_scatter")
  local uneven = dt.zeros(world + me * world)
  local splits, rows = {}, {}
  for i = 1, world do splits[i], rows[i] = i, me + 1 end
  D.all_to_all_single(uneven, dt.full({world * (world + 1) // 2}, me + 0.0),
    rows, splits)
  T.close(uneven:sum(), {(me + 1) * world * (world - 1) / 2}, "with sizes")
end

-- In a group that is a mesh dimension, ranks are the group's or the world's.
local function groups()
  if world ~= 4 then return end
  local mesh = dt.init_device_mesh("cpu", {2, 2})
  local group = {mesh = mesh, mesh_dim = 0}
  local other, t = (me + 2) % 4, dt.zeros(1)
  local w = D.isend(dt.full({1}, me + 0.0), {group_dst = 1 - me // 2,
    group = group})
  D.recv(t, other, {group = group})
  w:wait()
  T.close(t, {other}, "across the first dimension")
  D.broadcast(t, {group_src = 1, group = group})
  D.barrier {group = group}
  T.close(t, {me % 2}, "from the group's second")
end

-- A group is its ranks: the two ends may ask different meshes for it.  Groups
-- of other ranks have their own messages under the same tag.
local function same_group()
  if world ~= 4 then return end
  local mesh = dt.init_device_mesh("cpu", {2, 2},
    {mesh_dim_names = {"dp", "tp"}})
  local group = me % 2 == 0 and {mesh = mesh, mesh_dim = 1}
    or {mesh = mesh["tp"], mesh_dim = 0}
  local other, a, b = me ~ 1, dt.zeros(1), dt.zeros(1)
  local works = {D.isend(dt.full({1}, 1.0), other),
    D.isend(dt.full({1}, 2.0), other, {group = group})}
  D.recv(b, other, {group = group})
  D.recv(a, other)
  for _, w in ipairs(works) do w:wait() end
  T.close(a, {1}, "in the world")
  T.close(b, {2}, "in a mesh dimension, by two meshes")
end

-- Nobody can go on: all are told who waits for whom.
local function circle()
  local ok, e = pcall(D.send, dt.ones(2), right)
  T.eq(ok, false, "all send first")
  T.has(e.message, ("rank %d: waiting in send (to rank %d)"):format(me, right),
    "who waits for whom")
end

ring()
at_once(4)
at_once(200000)
meanwhile(200000)
conjugated()
tags()
many()
a_tag_each()
sizes()
refused()
lists()
groups()
same_group()
circle()
T.finish()

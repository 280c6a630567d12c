-- SPDX-License-Identifier: MIT
-- dt/distributed/p2p.lua: torch.distributed's messages between two ranks:
-- send, recv, isend, irecv, batch_isend_irecv.
--
-- As with gloo a send is over when the other side receives: two ranks that
-- both send first wait for each other for ever, which is found and reported.  A
-- message may be smaller than the tensor that receives it, never larger.

local dt = require "dt"
local util = require "dt.util"

local M = {}
local where, members, refuse   -- dt.distributed's

-- The rank of the world a call names, nil when it names none.
local function peer_of(a, what)
  local own, world = a["group_" .. what], a[what]
  local has_own, has = not util.is_none(own), not util.is_none(world)
  if has and has_own then
    util.raise("ValueError", "Can't specify both group_rank and global_rank")
  end
  if has then return world end
  if not has_own then return nil end
  local ranks = members(a.group)
  return ranks and ranks[own + 1] or own
end

local function check_peer(peer, send)
  if peer == dt.rank() then
    util.raise("ValueError", "Invalid %s rank: %s rank should not be the same "
      .. "as the rank of the current process.", send and "destination"
      or "source", send and "destination" or "source")
  elseif peer < 0 or peer >= dt.world_size() then
    util.raise("ValueError", "Global rank %d is not part of the group: the "
      .. "world has ranks 0 to %d", peer, dt.world_size() - 1)
  end
end

-- Something to wait() for.
local Work = {}
Work.__index = Work

-- Less than there is room for: the rest keeps what it was.
local function tell_short(t, nbytes)
  local n = nbytes // t:element_size()
  if n >= t:numel() then return end
  dt._finding("SHORT_MESSAGE", t, ("%d elements came for a tensor of %d"):format(n,
    t:numel()), "recv")
end

function Work:wait()
  local came, nbytes = self.message:wait()
  if self.receives and not self.over then
    if nbytes then tell_short(self.tensor, nbytes) end
    local guard <close> = dt.no_grad()          -- luacheck: ignore guard
    dt._mark(self.tensor, "pending", false)
    dt._uncounted(self.tensor, "recv", function ()
      self.tensor:detach():copy_(came)
    end)
  end
  self.over = true
  return true
end

function Work:is_completed() return self.message:arrived() end

-- What a rank that stands for all of them (--alone) sent to itself, a queue for
-- each tag: the neighbour in a ring of one.
local kept = {}

local ToSelf = {}
ToSelf.__index = ToSelf

function ToSelf:arrived() return self.sends or #self.queue > 0 end

function ToSelf:wait()
  if self.sends then return end
  if #self.queue == 0 then
    util.raise("RuntimeError", "the one rank waits for a message that it has "
      .. "not sent")
  end
  return table.remove(self.queue, 1)
end

local function post_to_self(send, t, tag)
  local queue = kept[tag] or {}
  kept[tag] = queue
  if send then
    local guard <close> = dt.no_grad()          -- luacheck: ignore guard
    queue[#queue + 1] = t:detach():clone()
  end
  return setmetatable({sends = send, queue = queue}, ToSelf)
end

local function post_message(send, t, peer, a)
  local mesh, mdim = where(a.group)
  if dt._is_alone() and peer == dt.rank() then
    return post_to_self(send, t, a.tag or 0)
  end
  check_peer(peer, send)
  return dt._p2p(send, t, mesh, mdim, peer, a.tag or 0)
end

local function post(send, t, peer, a)
  if t:is_conj() then dt.ops.aten.view_as_real(t) end   -- raises, as there
  local message = post_message(send, t, peer, a)
  if not send then dt._mark(t, "pending", true) end
  return setmetatable({message = message, tensor = t, receives = not send},
    Work)
end

local function sending(name, t, ...)
  refuse("c10d.send.default", t)
  local a = util.bind(name, {"dst", "group", "tag", "group_dst"}, {}, ...)
  local peer = peer_of(a, "dst")
  if not peer then
    util.raise("ValueError", "Must specify global_rank or group_rank")
  end
  return post(true, t, peer, a)
end

local function receiving(name, t, ...)
  refuse("c10d.recv_.default", t)
  local a = util.bind(name, {"src", "group", "tag", "group_src"}, {}, ...)
  local peer = peer_of(a, "src")
  if not peer and name == "irecv" then
    util.raise("NotImplementedError", "irecv from any source is not built in: "
      .. "name the rank, src =")
  elseif not peer then
    local mesh, mdim = where(a.group)
    peer = dt._p2p_sender(mesh, mdim, a.tag or 0)
  end
  return post(false, t, peer, a), peer
end

-- distributed.isend(t, dst, {group =, tag =, group_dst =}): something to
-- wait() for; `t` may be changed at once.
function M.isend(t, ...) return sending("isend", t, ...) end

-- distributed.irecv(t, src, {group =, tag =, group_src =}): `t` has the data
-- after wait().
function M.irecv(t, ...) return (receiving("irecv", t, ...)) end

-- distributed.send(t, dst, ...): over when the other side receives.
function M.send(t, ...) sending("send", t, ...):wait() end

-- distributed.recv(t, src, ...): gives the rank it came from.
function M.recv(t, ...)
  local work, peer = receiving("recv", t, ...)
  work:wait()
  if peer then dt._received(t, peer) end
  return peer
end

local P2POp = {}
P2POp.__index = P2POp

-- distributed.P2POp(op, t, peer, {group =, tag =, group_peer =}): `op` is
-- isend or irecv.
function M.P2POp(op, t, ...)
  if op ~= M.isend and op ~= M.irecv then
    util.raise("ValueError", "Invalid ``op``. Expected ``op`` to be of type "
      .. "``torch.distributed.isend`` or ``torch.distributed.irecv``.")
  end
  local a = util.bind("P2POp", {"peer", "group", "tag", "group_peer"}, {}, ...)
  return setmetatable({op = op, tensor = t, peer = a.peer, group = a.group,
    tag = a.tag, group_peer = a.group_peer}, P2POp)
end

-- distributed.batch_isend_irecv(list of P2POp): a list to wait() for.
function M.batch_isend_irecv(list)
  local out = {}
  for i, p in ipairs(list) do
    if getmetatable(p) ~= P2POp then
      util.raise("ValueError", "Invalid ``p2p_op_list``. Each op is expected "
        .. "to to be of type ``torch.distributed.P2POp``.")
    end
    local side = p.op == M.isend and "dst" or "src"
    out[i] = p.op(p.tensor, {[side] = p.peer, group = p.group, tag = p.tag,
      ["group_" .. side] = p.group_peer})
  end
  return out
end

return function (where_, members_, refuse_)
  where, members, refuse = where_, members_, refuse_
  return M
end

-- SPDX-License-Identifier: MIT
-- torch/objects.lua: torch.distributed's collectives of objects: values of
-- a program as text (object_text.lua), sent as bytes in the two collectives
-- PyTorch makes (the lengths, then the bytes).  The lengths are this text's, not
-- a pickle's.

local dt = require "dt"
local util = require "dt.util"
local V = require "python.values"
local args = require "python.args"
local boxes = require "python.boxes"
local dist = require "dt.distributed"
local text_of = require "torch.object_text"

local M = {}
local None, given = dt.None, args.given
local encode, decode = text_of.encode, text_of.decode

-- ---- texts between ranks ----

local function to_bytes(text)
  local list = {text:byte(1, 4096)}
  for at = 4097, #text, 4096 do
    table.move({text:byte(at, at + 4095)}, 1, 4096, #list + 1, list)
  end
  return dt.tensor(list, {dtype = dt.uint8})
end

local function to_text(t, n)
  local list, parts = t:tolist(), {}
  for at = 1, n, 4096 do
    parts[#parts + 1] = string.char(table.unpack(list, at,
      math.min(at + 4095, n)))
  end
  return table.concat(parts)
end

local function options(a, extra)
  extra = extra or {}
  extra.group = given(a.group) and a.group or nil
  return extra
end

-- Every rank's text, by the rank in the group.
local function gathered(text, a)
  local sizes = dist._all_gather_parts(dt.tensor {#text}, options(a))
  local most = 0
  for i, n in ipairs(sizes) do
    sizes[i] = n:item()
    most = math.max(most, sizes[i])
  end
  local all = dist._all_gather_parts(to_bytes(text .. ("\0"):rep(most - #text)),
    options(a))
  for i, t in ipairs(all) do all[i] = to_text(t, sizes[i]) end
  return all
end

-- The text of the rank that has one, for `room` objects: ranks that have not room for
-- the same number differ in the first broadcast, which says so.
local function shared(text, src, a, room)
  local sizes = dt.zeros({math.max(room or 1, 1)}, {dtype = dt.int64})
  sizes:narrow(0, 0, 1):fill_(text and #text or 0)
  local size = dist.broadcast(sizes, options(a, {src = src})):narrow(0, 0, 1):item()
  local bytes = text and to_bytes(text)
    or dt.zeros({size}, {dtype = dt.uint8})
  return to_text(dist.broadcast(bytes, options(a, {src = src})), size)
end

local function peer(a, name)
  local own = a["group_" .. name]
  if given(own) then
    if given(a[name]) then
      util.raise("ValueError", "Can't specify both group_%s and %s", name, name)
    end
    return given(a.group) and a.group.ranks[own + 1] or own
  end
  return given(a[name]) and a[name] or 0
end

local function fill(list, values, n)
  n = n or #values
  if list.n < n then
    util.raise("IndexError", "list assignment index out of range")
  end
  for i = 1, n do list[i] = values[i] end
  return None
end

-- ---- what several ranks sent, put together ----

-- Of a dictionary that came: the call and the rank it came from.  Of one into which
-- such are put: the call, and who gave each key.
local sent_by = setmetatable({}, {__mode = "k"})
local given_by = setmetatable({}, {__mode = "k"})

-- Keys that another rank of the same call gave, too, with another value: that one's is
-- lost.  A single one may be a name that all have.
local function look_at_merge(d, from)
  local SEVERAL <const> = 2
  local sender, into = sent_by[from], given_by[d]
  if not sender then return end
  if not into or into.call ~= sender.call then
    into = {call = sender.call, rank_of = {}}
    given_by[d] = into
  end
  local lost, one = 0, nil
  for k, v in V.each(from) do
    local rank = into.rank_of[k]
    if rank and rank ~= sender.rank and not V.alike(V.dict_get(d, k), v) then
      lost, one = lost + 1, k
    end
    into.rank_of[k] = sender.rank
  end
  if lost < SEVERAL or into.told then return end
  into.told = true
  dt._finding("MERGED_OVER", nil, ("%d keys that came from rank %d, as %s, had come from "
    .. "another rank with another value, which is replaced"):format(lost, sender.rank,
    V.str(one)), "update")
end
boxes.watch_merges(look_at_merge)

-- The objects of all ranks, decoded.
local function received(texts)
  local call = {}
  for i, text in ipairs(texts) do
    texts[i] = decode(text)
    if V.is_dict(texts[i]) then sent_by[texts[i]] = {call = call, rank = i - 1} end
  end
  return texts
end

-- ---- the functions ----

local functions = {}
M.functions = functions

functions.broadcast_object_list = args.def("broadcast_object_list", {"object_list",
  "src?", "group?", "device?", "group_src?"}, function (a)
  local src = peer(a, "src")
  local text = dt.rank() == src and encode(a.object_list) or nil
  local bytes = shared(text, src, a, a.object_list.n)
  if text then return None end           -- the sender keeps its own objects
  return fill(a.object_list, decode(bytes))
end)

functions.all_gather_object = args.def("all_gather_object", {"object_list", "obj",
  "group?"}, function (a)
  return fill(a.object_list, received(gathered(encode(a.obj), a)))
end)

functions.gather_object = args.def("gather_object", {"obj", "object_gather_list?",
  "dst?", "group?", "group_dst?"}, function (a)
  local here = dt.rank() == peer(a, "dst")
  if here and not given(a.object_gather_list) then
    util.raise("ValueError", "Argument ``gather_list`` must be "
      .. "specified on destination rank.")
  end
  local all = gathered(encode(a.obj), a)
  if not here then return None end
  return fill(a.object_gather_list, received(all))
end)

functions.scatter_object_list = args.def("scatter_object_list",
  {"scatter_object_output_list", "scatter_object_input_list?", "src?",
    "group?", "group_src?"}, function (a)
  local src = peer(a, "src")
  local list = a.scatter_object_input_list
  local n = given(a.group) and #a.group.ranks or dt.world_size()
  if dt.rank() == src and list.n ~= n then
    util.raise("RuntimeError", "ProcessGroupGloo::scatter: Incorrect input list size "
      .. "%d. Input list size should be %d, same as size of the process group.",
      list.n, n)
  end
  local text = dt.rank() == src and encode(list) or nil
  local at = given(a.group) and a.group.rank() or dt.rank()
  a.scatter_object_output_list[1] = decode(shared(text, src, a))[at + 1]
  return None
end)

-- A list of objects to one other rank: the lengths, then the bytes.
functions.send_object_list = args.def("send_object_list", {"object_list",
  "dst?", "group?", "device?", "group_dst?", "use_batch?"}, function (a)
  local text = encode(a.object_list)
  local o = options(a, {dst = peer(a, "dst")})
  dist.send(dt.tensor {#text}, o)
  dist.send(to_bytes(text), o)
  return None
end)

functions.recv_object_list = args.def("recv_object_list", {"object_list",
  "src?", "group?", "device?", "group_src?", "use_batch?"}, function (a)
  local o = options(a, {src = peer(a, "src")})
  local size = dt.tensor {0}
  dist.recv(size, o)
  local bytes = dt.zeros({size:item()}, {dtype = dt.uint8})
  local src = dist.recv(bytes, o)
  local values = decode(to_text(bytes, size:item()))
  fill(a.object_list, values, math.min(values.n, a.object_list.n))
  return src
end)

return M

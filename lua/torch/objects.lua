-- SPDX-License-Identifier: MIT
-- torch/objects.lua: torch.distributed's collectives of objects: values of
-- a program as text, sent as bytes in the two collectives PyTorch makes (the
-- lengths, then the bytes).  The lengths are this text's, not a pickle's.
--
-- What can be sent: None, booleans, numbers, strings, lists, tuples, dicts,
-- sets, types of tensors, sizes and plain tensors.  Anything else is refused
-- by name.

local dt = require "dt"
local util = require "dt.util"
local V = require "python.values"
local args = require "python.args"
local big = require "python.bigint"
local dist = require "dt.distributed"

local M = {}
local None, given = dt.None, args.given

-- ---- a value as text ----

local encode

local function items(tag, v)
  local out = {("%s%d:"):format(tag, v.n)}
  for i = 1, v.n do out[i + 1] = encode(v[i]) end
  return table.concat(out)
end

local function pairs_of(tag, v)
  local out = {("%s%d:"):format(tag, V.count(v))}
  for k, item in V.each(v) do
    out[#out + 1] = encode(k) .. (tag == "m" and encode(item) or "")
  end
  return table.concat(out)
end

local function word(s) return ("s%d:%s"):format(#s, s) end

local function tensor(t)
  if t.is_dtensor then
    util.raise("NotImplementedError", "a DTensor cannot be sent to other "
      .. "ranks: each holds its own part")
  end
  local list = t:detach():flatten():tolist()
  for i, x in ipairs(list) do
    if type(x) == "boolean" then x = x and 1 or 0 end
    list[i] = math.type(x) == "integer" and tostring(x) or ("%a"):format(x)
  end
  return "x" .. word(tostring(t.dtype)) .. encode(V.size(t.shape))
    .. word(table.concat(list, " "))
end

function encode(v)
  if v == None then return "N" end
  if type(v) == "boolean" then return v and "T" or "F" end
  if math.type(v) == "integer" then return ("i%d:"):format(v) end
  if big.is(v) then return "b" .. word(V.str(v)) end
  if type(v) == "number" then return ("d%a:"):format(v) end
  if type(v) == "string" then return word(v) end
  if V.is_list(v) then return items("l", v) end
  if V.is_tuple(v) then return items(v.is_size and "z" or "t", v) end
  if V.is_dict(v) then return pairs_of("m", v) end
  if V.is_set(v) then return pairs_of("e", v) end
  if util.is_tensor(v) then return tensor(v) end
  if util.is_dtype(v) then return "y" .. word(tostring(v)) end
  return util.raise("NotImplementedError", "an object of %s cannot be sent to "
    .. "other ranks", V.type_name(v))
end

-- ---- and back ----

local decode

local function many(s, at, n)
  local out = {}
  for i = 1, n do out[i], at = decode(s, at) end
  out.n = n
  return out, at
end

local function number(text)
  return tonumber(text) or (text:find("nan") and 0 / 0)
    or (text:sub(1, 1) == "-" and -math.huge or math.huge)
end

local function dtype_of(text) return dt[text:match("([%w_]+)$")] end

local function tensor_back(s, at)
  local name, size, text
  name, at = decode(s, at)
  size, at = decode(s, at)
  text, at = decode(s, at)
  local list, shape = {}, {}
  for x in text:gmatch("%S+") do list[#list + 1] = number(x) end
  for i = 1, size.n do shape[i] = size[i] end
  local dtype = dtype_of(name)
  if #list == 0 then return dt.zeros(shape, {dtype = dtype}), at end
  return dt.tensor(list, {dtype = dtype}):reshape(shape), at
end

local sequence = {l = V.list, t = V.tuple, z = V.size}

-- The value at byte `at`, and where the next one begins.
function decode(s, at)
  local tag = s:sub(at, at)
  if tag == "N" then return None, at + 1 end
  if tag == "T" or tag == "F" then return tag == "T", at + 1 end
  if tag == "x" then return tensor_back(s, at + 1) end
  if tag == "b" then
    local digits, next_at = decode(s, at + 1)
    local minus = digits:sub(1, 1) == "-"
    local v = big.parse((digits:gsub("^%-", "")), 10)
    return minus and big.neg(v) or v, next_at
  end
  if tag == "y" then
    local name, next_at = decode(s, at + 1)
    return dtype_of(name), next_at
  end
  local head, stop = s:match("^([^:]*):()", at + 1)
  if tag == "i" then return math.tointeger(tonumber(head)), stop end
  if tag == "d" then return number(head), stop end
  local n = tonumber(head)
  if tag == "s" then return s:sub(stop, stop + n - 1), stop + n end
  if sequence[tag] then
    local list, next_at = many(s, stop, n)
    return sequence[tag](list, n), next_at
  end
  local list, next_at = many(s, stop, tag == "m" and 2 * n or n)
  if tag == "e" then return V.set(list), next_at end
  local d = V.dict()
  for i = 1, 2 * n, 2 do V.dict_set(d, list[i], list[i + 1]) end
  return d, next_at
end

M.encode = encode
-- decode(text): the value that encode made the text of.
function M.decode(text) return (decode(text, 1)) end

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

-- The text of the rank that has one.
local function shared(text, src, a)
  local size = dist.broadcast(dt.tensor {text and #text or 0},
    options(a, {src = src})):item()
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

-- ---- the functions ----

local functions = {}
M.functions = functions

functions.broadcast_object_list = args.def("broadcast_object_list", {"object_list",
  "src?", "group?", "device?", "group_src?"}, function (a)
  local src = peer(a, "src")
  local text = dt.rank() == src and encode(a.object_list) or nil
  local values = M.decode(shared(text, src, a))
  return fill(a.object_list, values, math.min(values.n, a.object_list.n))
end)

functions.all_gather_object = args.def("all_gather_object", {"object_list", "obj",
  "group?"}, function (a)
  local all = gathered(encode(a.obj), a)
  for i, text in ipairs(all) do all[i] = M.decode(text) end
  return fill(a.object_list, all)
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
  for i, text in ipairs(all) do all[i] = M.decode(text) end
  return fill(a.object_gather_list, all)
end)

functions.scatter_object_list = args.def("scatter_object_list",
  {"scatter_object_output_list", "scatter_object_input_list?", "src?",
    "group?", "group_src?"}, function (a)
  local src = peer(a, "src")
  local list = a.scatter_object_input_list
  local text = dt.rank() == src and encode(list) or nil
  local at = given(a.group) and a.group.rank() or dt.rank()
  a.scatter_object_output_list[1] = M.decode(shared(text, src, a))[at + 1]
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
  local values = M.decode(to_text(bytes, size:item()))
  fill(a.object_list, values, math.min(values.n, a.object_list.n))
  return src
end)

return M

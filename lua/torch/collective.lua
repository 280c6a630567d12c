-- SPDX-License-Identifier: MIT
-- torch/collective.lua: torch.distributed's collectives with Python's
-- arguments.  A DTensor is refused by the name of the c10d operator; plain
-- tensors go to dt.distributed.

local dt = require "dt"
local util = require "dt.util"
local V = require "python.values"
local attrs = require "python.attrs"
local args = require "python.args"
local tensors = require "torch.tensor"
local meshes = require "torch.mesh"
local checks = require "torch.collective_checks"
local dist = require "dt.distributed"
local signatures = require "torch.signatures"
local eval = require "python.eval"

local M = {}
local None, given = dt.None, args.given

-- ---- the table ----

-- name = {operator, signature, nested lists?, successor's name}: the names
-- after "*" in the signature and those in `settings` are no tensors.
local calls = {
  all_reduce = {"allreduce_", {"tensor", "op?", "group?", "async_op?"}},
  broadcast = {"broadcast_", {"tensor", "src?", "group?", "async_op?",
    "group_src?"}},
  reduce = {"reduce_", {"tensor", "dst?", "op?", "group?", "async_op?",
    "group_dst?"}},
  all_gather = {"allgather_", {"tensor_list", "tensor", "group?",
    "async_op?"}, true},
  all_gather_into_tensor = {"_allgather_base_", {"output_tensor",
    "input_tensor", "group?", "async_op?"}, false, "all_gather_single"},
  all_gather_single = {"_allgather_base_", {"output_tensor", "input_tensor",
    "group?", "async_op?"}},
  reduce_scatter_tensor = {"_reduce_scatter_base_", {"output", "input", "op?",
    "group?", "async_op?"}, false, "reduce_scatter_single"},
  reduce_scatter_single = {"_reduce_scatter_base_", {"output", "input", "op?",
    "group?", "async_op?"}},
  reduce_scatter = {"reduce_scatter_", {"output", "input_list", "op?",
    "group?", "async_op?"}, true},
  gather = {"gather_", {"tensor", "gather_list?", "dst?", "group?",
    "async_op?", "group_dst?"}, true},
  scatter = {"scatter_", {"tensor", "scatter_list?", "src?", "group?",
    "async_op?", "group_src?"}, true},
  all_to_all = {"alltoall_", {"output_tensor_list", "input_tensor_list",
    "group?", "async_op?"}},
  all_to_all_single = {"alltoall_base_", {"output", "input",
    "output_split_sizes?", "input_split_sizes?", "group?", "async_op?"}},
  send = {"send", {"tensor", "dst?", "group?", "tag?", "group_dst?"}},
  recv = {"recv_", {"tensor", "src?", "group?", "tag?", "group_src?"}},
  isend = {"send", {"tensor", "dst?", "group?", "tag?", "group_dst?"}},
  irecv = {"recv_", {"tensor", "src?", "group?", "tag?", "group_src?"}},
}

-- ---- plain tensors ----

local plain = {}
local work_mt = {__name = "Work"}

-- Something to wait for that is done, with `own` members: exception() is None
-- and the ranks of messages are not kept.
local function new_work()
  local work = attrs.namespace(setmetatable({}, work_mt))
  for name, v in pairs {is_success = true, is_completed = true,
      exception = None, synchronize = None} do
    work[name] = V.builtin(function () return v end, name)
  end
  return work
end

M.Work = args.class("Work", {__module__ = "torch._C._distributed_c10d",
  test = function (v) return getmetatable(v) == work_mt end,
  new = V.builtin(function ()
    util.raise("TypeError", "torch._C._distributed_c10d.Work: No constructor "
      .. "defined!")
  end, "Work")})

-- What pybind says of an option of c10d that has another type.
local function refuse_option(class, want, v)
  util.raise("TypeError", "(): incompatible function arguments. The following "
    .. "argument types are supported:\n    1. (self: torch._C._distributed_c10d"
    .. ".%s, arg0: %s) -> None\n\nInvoked with: <torch.distributed."
    .. "distributed_c10d.%s object at 0x0>, %s", class, want, class, V.repr(v))
end

local OPTIONS <const> = {all_reduce = "AllreduceOptions",
  reduce = "ReduceOptions", reduce_scatter = "ReduceScatterOptions",
  reduce_scatter_tensor = "ReduceScatterOptions",
  reduce_scatter_single = "ReduceScatterOptions", broadcast = "BroadcastOptions",
  scatter = "ScatterOptions", gather = "GatherOptions"}

local is_reduction                  -- set where ReduceOp is made

-- Words are for functional collectives; root ranks are numbers.
local function check_options(name, a)
  local class = OPTIONS[name]
  if not class then return end
  if a.op ~= nil and not is_reduction(a.op) then
    refuse_option(class, "torch._C._distributed_c10d.ReduceOp", a.op)
  end
  for _, side in ipairs {"src", "dst"} do
    if given(a[side]) and math.type(a[side]) ~= "integer" then
      refuse_option(class, "typing.SupportsInt | typing.SupportsIndex", a[side])
    end
  end
end

local function options(a)
  return {op = given(a.op) and V.to_lua(a.op) or "sum",
    group = given(a.group) and a.group or nil}
end

local function fill(list, parts)
  for i, part in ipairs(parts) do
    checks.check_part("allgather", i - 1, list[i], part)
    dt.no_grad(function () list[i]:copy_(part) end)
  end
  return None
end

-- `[t] * world` is one tensor several times: what comes from one rank is written over
-- what came from another.
local function tell_same(list)
  local seen = {}
  for i, t in ipairs(list or {}) do
    if seen[t] and util.is_tensor(t) and t:numel() > 0 then
      dt._written_over(t, ("places %d and %d of %d are the same tensor")
        :format(seen[t] - 1, i - 1, #list))
      return
    end
    seen[t] = i
  end
end

local function lua_list(v) return given(v) and V.to_lua(v) or nil end

-- Arguments of a call as dt.distributed's keyword arguments.
local function named(a, ...)
  local o = options(a)
  for _, name in ipairs {...} do
    if given(a[name]) then o[name] = a[name] end
  end
  return o
end

function plain.all_reduce(a)
  dist.all_reduce(a.tensor, options(a))
end
function plain.reduce(a)
  dist.reduce(a.tensor, named(a, "dst", "group_dst"))
end
function plain.broadcast(a)
  local own = given(a.group_src) and a.group_src or nil
  dist.broadcast(a.tensor, {group_src = own, src = not own and given(a.src)
    and a.src or nil, group = options(a).group})
end
-- How many ranks a call is among.
local function size_of(a)
  return given(a.group) and a.group.size() or dt.world_size()
end

-- As many tensors as the group has ranks.
local function check_length(list, a, text)
  local n = size_of(a)
  if V.is_seq(list) and list.n ~= n then
    util.raise("RuntimeError", "%s", (text:gsub("#got", list.n)
      :gsub("#want", n)))
  end
end

function plain.all_gather(a)
  check_length(a.tensor_list, a, "ProcessGroupGloo::allgather: invalid output "
    .. "tensor list at index 0 (expected length #want, got #got)")
  fill(a.tensor_list, dist.all_gather(a.tensor, {group = options(a).group}))
  tell_same(a.tensor_list)
end
function plain.all_gather_single(a)
  dist.all_gather_into_tensor(a.output_tensor, a.input_tensor,
    {group = options(a).group})
end
plain.all_gather_into_tensor = plain.all_gather_single
function plain.gather(a)
  local o = named(a, "dst", "group_dst")
  o.gather_list = lua_list(a.gather_list)
  check_length(a.gather_list, a, "ProcessGroupGloo::gather: Incorrect output "
    .. "list size #got. Output list size should be #want, same as size of the "
    .. "process group.")
  dist.gather(a.tensor, o)
  tell_same(o.gather_list)
end
-- Some of gloo's collectives take the elements of a tensor in the order of its
-- memory, whatever its strides say; that is told.
local function tell_order(t)
  if not util.is_tensor(t) or t:is_contiguous() then return false end
  dt._finding_made("FILLS_MEMORY", t, ("strides (%s) of shape (%s)"):format(
    table.concat(t:stride(), ", "), table.concat(t.shape, ", ")))
  return true
end

-- The tensor as they see it.
local function memory_of(t)
  if not tell_order(t) then return t end
  local strides, step = {}, 1
  for i = t.ndim, 1, -1 do strides[i], step = step, step * t.shape[i] end
  return t:detach():as_strided(t.shape, strides)
end

local function memories_of(list)
  local out = {}
  for i, t in ipairs(list or {}) do out[i] = memory_of(t) end
  return list and out
end

function plain.scatter(a)
  local o = named(a, "src", "group_src")
  o.scatter_list = memories_of(lua_list(a.scatter_list))
  check_length(a.scatter_list, a, "ProcessGroupGloo::scatter: Incorrect input "
    .. "list size #got. Input list size should be #want, same as size of the "
    .. "process group.")
  dist.scatter(memory_of(a.tensor), o)
end
function plain.reduce_scatter_single(a)
  dist.reduce_scatter_tensor(a.output, a.input, options(a))
end
plain.reduce_scatter_tensor = plain.reduce_scatter_single
function plain.reduce_scatter(a)
  local list = V.to_lua(a.input_list)
  -- Gloo adds what is in the order of memory to what is not: no numbers that
  -- anybody wants, so these are the right ones, and it is told.
  tell_order(a.output)
  for _, t in ipairs(list) do tell_order(t) end
  dist.reduce_scatter(a.output, list, options(a))
end
function plain.all_to_all(a)
  dist.all_to_all(V.to_lua(a.output_tensor_list),
    V.to_lua(a.input_tensor_list), options(a))
  tell_same(a.output_tensor_list)       -- not of a call that is refused
end

function plain.all_to_all_single(a)
  local o = options(a)
  if not a.input:is_contiguous() then
    util.raise("ValueError", "Tensors must be contiguous")
  end
  o.output_split_sizes = lua_list(a.output_split_sizes)
  o.input_split_sizes = lua_list(a.input_split_sizes)
  dist.all_to_all_single(memory_of(a.output), a.input, o)
end

-- Messages: what they give is something to wait for, None or a rank.
local function work_of(w)
  if not w then return None end
  local work = new_work()
  work.wait = V.builtin(function () return w:wait() end, "wait")
  work.is_completed = V.builtin(function () return w:is_completed() end,
    "is_completed")
  return work
end
local function message(name, side)
  plain[name] = function (a)
    local o = named(a, side, "group_" .. side, "tag")
    o.op = nil
    local r = dist[name](a.tensor, o)
    if type(r) == "table" then return work_of(r) end
    return r or None
  end
end
message("send", "dst")
message("recv", "src")
message("isend", "dst")
message("irecv", "src")

-- get_future() of work that is done: what was written, in a list.
local function future_of(written)
  local future = V.call(attrs.get(attrs.module("torch.futures"), "Future"),
    V.list({}, 0))
  V.call(attrs.get(future, "set_result"), V.list {V.is_seq(written) and written
    or V.list {written}})
  return future
end

-- What a collective gives back: None, or something to wait for.
local function result(a)
  if a.async_op ~= true then return None end
  local work, written = new_work(), a.tensor
  for _, name in ipairs {"tensor_list", "output", "output_tensor",
    "gather_list", "output_tensor_list"} do
    if given(a[name]) then written = a[name] end
  end
  local function mark(on)               -- for the findings: read before wait()
    local list = V.is_seq(written) and written or {written}
    for _, t in ipairs(list) do
      if util.is_tensor(t) then dt._mark(t, "pending", on) end
    end
  end
  mark(true)
  work.wait = V.builtin(function ()
    mark(false)
    return true
  end, "wait")
  work.get_future = V.builtin(function ()
    mark(false)
    return future_of(written)
  end, "get_future")
  return work
end

-- ---- checks ----

local function wrong_type(name, want, v)
  local module = util.is_dtensor(v) and "torch.distributed.tensor." or ""
  util.raise("TypeError", "Invalid function argument. Expected parameter `%s` "
    .. "of type %s\n             but got <class '%s%s'> instead.", name, want,
    module, V.type_name(v))
end

local function check(name, v)
  if name:find("_list$") then
    if given(v) and not V.is_seq(v) then
      wrong_type(name, "List[torch.Tensor]", v)
    end
  elseif (name == "tensor" or name:find("put")) and not name:find("split")
     and not util.is_tensor(v) then
    wrong_type(name, "torch.Tensor", v)
  end
end

-- The tensors of a call in the operator's order, as a list.
local function tensors_of(signature, a)
  local list, n = {}, 0
  for _, word in ipairs(signature) do
    local name = word:match("^[%w_]+")
    check(name, a[name])
    if util.is_tensor(a[name]) or V.is_seq(a[name]) then
      n = n + 1
      list[n] = a[name]
    end
  end
  return V.list(list, n)
end

-- Plain tensors into places that are distributed: the copy is refused.
local function copies(signature, a)
  local last = a[signature[2]:match("^[%w_]+")] or None
  local first = a[signature[1]:match("^[%w_]+")]
  local into = V.is_seq(first) and first[1] or first
  local from = V.is_seq(last) and last[1] or last
  return {into = into, from = from}
end

local function deprecated(space, name, successor)
  dt._warn(("`%s.%s` is deprecated. Please use `%s.%s` instead."):format(space,
    name, space, successor))
end

local function make(name, row)
  local op, signature, nested, successor = table.unpack(row)
  return args.def(name, signature, function (a)
    if successor and dt._switch("C10D_NAMES_DEPRECATED") ~= 0 then
      deprecated("torch.distributed", name, successor)
    end
    local list = tensors_of(signature, a)
    meshes.need_default()
    if tensors.kinds_of(list) then
      if name == "gather" and not given(a.gather_list)
         and dt.rank() == (given(a.dst) and a.dst or 0) then
        util.raise("ValueError", "Argument ``gather_list`` must be specified "
          .. "on destination rank.")
      end
      local c = copies(signature, a)
      if nested and name ~= "gather" and util.is_tensor(c.from)
         and util.is_dtensor(c.into) ~= util.is_dtensor(c.from)
         and (name == "all_gather") == util.is_dtensor(c.into) then
        tensors.refuse("aten.copy_.default", V.list {c.into, c.from})
      end
      return tensors.refuse("c10d." .. op .. ".default", list, nil, false,
        nested)
    end
    if given(a.group) and type(a.group) == "table" and a.group.rank
       and a.group.rank() == -1 then
      dt._warn(("Running %s on global rank %d which does not belong to the "
        .. "given group."):format(name, dt.rank()))
      return None
    end
    check_options(name, a)
    local me = given(a.group) and type(a.group) == "table" and a.group.rank
    checks.check(name, a, size_of(a), me and me() or dt.rank())
    local given_back = plain[name](a)
    if given_back ~= nil then return given_back end
    return result(a)
  end)
end

for name, row in pairs(calls) do M[name] = make(name, row) end

-- barrier(), monitored_barrier()
for _, name in ipairs {"barrier", "monitored_barrier"} do
  M[name] = args.def(name, {"group?", name == "barrier" and "async_op?"
    or "timeout?", "device_ids?", "wait_all_ranks?"}, function (a)
    dist.barrier {group = given(a.group) and a.group or nil}
    return a.async_op == true and work_of {wait = function () return true end,
      is_completed = function () return true end} or None
  end)
end

-- ---- messages in one batch ----

-- P2POp(op, tensor, peer=None, group=None, tag=0, group_peer=None)
M.P2POp = args.def("P2POp", {"op", "tensor", "peer?", "group?", "tag?",
  "group_peer?"}, function (a)
  if a.op ~= M.isend and a.op ~= M.irecv then
    util.raise("ValueError", "Invalid ``op``. Expected ``op`` to be of type "
      .. "``torch.distributed.isend`` or ``torch.distributed.irecv``.")
  end
  local op = attrs.namespace {}
  op.op, op.tensor = a.op, a.tensor
  op.peer, op.tag = given(a.peer) and a.peer or None, given(a.tag) and a.tag or 0
  op.group = given(a.group) and a.group or None
  op.group_peer = given(a.group_peer) and a.group_peer or None
  op.is_p2p_op = true
  return op
end)

M.batch_isend_irecv = args.def("batch_isend_irecv", {"p2p_op_list"},
  function (a)
    local list, out = a.p2p_op_list, {}
    if list.n == 0 then
      util.raise("IndexError", "list index out of range")
    end
    for i = 1, list.n do
      local p = list[i]
      if type(p) ~= "table" or rawget(p, "is_p2p_op") ~= true then
        util.raise("ValueError", "Invalid ``p2p_op_list``. Each op is expected "
          .. "to to be of type ``torch.distributed.P2POp``.")
      end
      local side = p.op == M.isend and "dst" or "src"
      out[i] = plain[side == "dst" and "isend" or "irecv"] {tensor = p.tensor,
        [side] = p.peer, ["group_" .. side] = p.group_peer, group = p.group,
        tag = p.tag}
    end
    return V.list(out, list.n)
  end)

-- ---- groups ----

-- Namespaces whose WORLD is the default group, or None where there is none.
local function with_world(names)
  return attrs.namespace(setmetatable(names, {__index = function (_, name)
    if name ~= "WORLD" then return nil end
    return meshes.has_default() and meshes.world_group() or None
  end}))
end
M.group = with_world {}
M.is_initialized = args.def("is_initialized", {}, meshes.has_default)

local function ranks_of(g)
  if given(g) then return g.ranks end
  return meshes.world_group().ranks
end

local function not_in(v, g)
  return util.raise("ValueError", "%s is not part of group %s", v, V.str(g))
end

M._get_default_group = args.def("_get_default_group", {}, function ()
  return meshes.world_group()
end)
M.get_process_group_ranks = args.def("get_process_group_ranks", {"group?"},
  function (a) return V.list(table.move(ranks_of(a.group), 1,
    #ranks_of(a.group), 1, {}), #ranks_of(a.group)) end)

M.get_global_rank = args.def("get_global_rank", {"group", "group_rank"},
  function (a)
    return ranks_of(a.group)[a.group_rank + 1]
      or not_in(("Group rank %s"):format(V.str(a.group_rank)), a.group)
  end)

M.get_group_rank = args.def("get_group_rank", {"group", "global_rank"},
  function (a)
    for i, r in ipairs(ranks_of(a.group)) do
      if r == a.global_rank then return i - 1 end
    end
    return not_in(("Global rank %s"):format(V.str(a.global_rank)), a.group)
  end)

local function known(g)
  if type(g) == "number" or type(g) == "string" then
    util.raise("ValueError", "Group %s is not registered, please create group "
      .. "with torch.distributed.new_group API", V.str(g))
  end
end

-- What new_group gives to a rank outside the group, in PyTorch.
local NO_MEMBER <const> = -100

M.get_rank = args.def("get_rank", {"group?"}, function (a)
  if not given(a.group) then return dt.rank() end
  if a.group == NO_MEMBER then return -1 end
  known(a.group)
  return a.group.rank()
end)

M.get_world_size = args.def("get_world_size", {"group?"}, function (a)
  if not given(a.group) then return dt.world_size() end
  if a.group == NO_MEMBER then return -1 end
  known(a.group)
  if a.group.rank() < 0 then return -1 end      -- none of its ranks
  return a.group.size()
end)

-- What is here: gloo, as PyTorch has it for CPU.
local function answer(name, v)
  M[name] = args.def(name, {"group?"}, function () return v end)
end
answer("get_backend", "gloo")
M.get_default_backend_for_device = args.def("get_default_backend_for_device",
  {"device"}, function () return "gloo" end)
answer("is_available", true)
answer("is_gloo_available", true)
answer("is_nccl_available", false)
answer("is_mpi_available", false)
answer("is_ucc_available", false)
answer("is_xccl_available", false)
answer("is_torchelastic_launched", true)

M.ProcessGroup = args.class("ProcessGroup", {test = meshes.is_group,
  __module__ = "torch.distributed.distributed_c10d"})
M.GroupMember = with_world {NON_GROUP_MEMBER = NO_MEMBER}

-- Backend("GLOO") is its name in small letters.
M.Backend = args.class("Backend", {new = args.def("Backend", {"name"},
  function (a) return a.name:lower() end), GLOO = "gloo", NCCL = "nccl",
  MPI = "mpi", UCC = "ucc", XCCL = "xccl", FAKE = "fake", UNDEFINED = "undefined",
  default_device_backend_map = V.dict_of({cpu = "gloo"}, {"cpu"}),
  backend_list = V.list {"undefined", "gloo", "nccl", "xccl", "ucc", "mpi",
    "fake"}})

M.get_node_local_rank = args.def("get_node_local_rank", {"fallback_rank?"},
  function () return dt.rank() end)

local function check_ranks(ranks)
  local fine = type(ranks) == "table"
  for _, r in ipairs(fine and ranks or {}) do
    fine = fine and math.type(r) == "integer"
  end
  if not fine then
    util.raise("TypeError", "ranks must be a sequence of integers")
  end
end

-- The members of a new group in the order of their ranks in it.  PyTorch sorts what it
-- is given (torch/distributed/distributed_c10d.py:_new_group_with_tag@2.13): rank 1 of
-- new_group([0, 2, 1, 3]) is rank 1 of the world.
local function members_of(ranks, sorted)
  local list = table.move(ranks, 1, #ranks, 1, {})
  if sorted then table.sort(list) end
  return list
end

M.new_group = args.def("new_group", {"ranks?", "timeout?", "backend?",
  "pg_options?", "use_local_synchronization?", "group_desc?", "device_id?",
  "sort_ranks?"},
  function (a)
    local ranks = given(a.ranks) and V.to_lua(a.ranks) or meshes.world_group().ranks
    if not util.is_tensor(ranks) then check_ranks(ranks) end
    return meshes.group_of(members_of(ranks, not given(a.sort_ranks)
      or V.truth(a.sort_ranks)))
  end)

-- ---- functional collectives, torch.ops.c10d ----

-- The operator, what is to be called instead; group: the place of the group.
local functional = {
  all_reduce = {"all_reduce", group = 3}, broadcast = {"broadcast", group = 3},
  all_gather_tensor = {"all_gather_into_tensor", "all_gather_single",
    group = 3},
  all_gather_single = {"all_gather_into_tensor", group = 3},
  reduce_scatter_tensor = {"reduce_scatter_tensor", "reduce_scatter_single",
    group = 4},
  reduce_scatter_single = {"reduce_scatter_tensor", group = 4},
  all_to_all_single = {"all_to_all_single", group = 4},
  wait_tensor = {"wait_tensor"},
}
local older = {all_gather_single = "all_gather_tensor",
  reduce_scatter_single = "reduce_scatter_tensor",
  all_gather_single_autograd = "all_gather_tensor_autograd",
  reduce_scatter_single_autograd = "reduce_scatter_tensor_autograd"}
for _, name in ipairs {"all_gather_tensor", "all_gather_single",
    "reduce_scatter_tensor", "reduce_scatter_single", "all_to_all_single"} do
  local row = functional[name]
  functional[name .. "_autograd"] = {row[1], row[2] and row[2] .. "_autograd",
    group = row.group}
end

local function check_group(g)
  if util.is_mesh(g) and g.ndim ~= 1 then
    util.raise("AssertionError", "Only 1D mesh is supported, pass in "
      .. "(DeviceMesh, int) together if mesh > 1D")
  elseif type(g) == "string" and not meshes.group_named(g) then
    meshes.world_group()
    if not meshes.group_named(g) then
      util.raise("RuntimeError", "Could not resolve the process group "
        .. "registered under the name %s", g)
    end
  elseif type(g) == "number" then
    util.raise("ValueError", "Unsupported group type: <class '%s'>, %s",
      V.type_name(g), V.str(g))
  end
end

-- (mesh, dim) as the group of dt.distributed.
local function lua_group(v)
  if V.is_tuple(v) and util.is_mesh(v[1]) then
    return {mesh = v[1], mesh_dim = v[2]}
  end
  return type(v) == "string" and meshes.group_named(v) or v
end

-- A functional collective that takes its arguments by place or name.
local by_name = {}
function M.by_name(name)
  by_name[name] = by_name[name]
    or signatures.functional(name)
  return by_name[name]
end

M.functional = {}
for name, row in pairs(functional) do
  M.functional[name] = V.builtin(function (a, kw)
    if row[2] then
      deprecated("torch.distributed._functional_collectives", name, row[2])
    end
    if tensors.kinds_of(a, kw) then
      return tensors.refuse("_c10d_functional." .. row[1] .. ".default", a, kw)
    end
    local list = {}
    for i = 1, a.n do list[i] = a[i] end
    if row.group and a[row.group] ~= nil then
      check_group(a[row.group])
      list[row.group] = lua_group(a[row.group])
    end
    local f = M.by_name(older[name] or name)
    if kw and V.dict_get(kw, "group") then
      V.dict_set(kw, "group", lua_group(V.dict_get(kw, "group")))
    end
    local out = eval.call(f, V.list(list, a.n), kw)
    if row.group and util.is_tensor(out) then
      out._async = true               -- something to wait for
    end
    return out
  end, name)
end

-- What runs torch.ops._c10d_functional.name for plain tensors, or nil.
local function below_functional(space, name)
  if space ~= "_c10d_functional" or name:find("^_") then return nil end
  local ok, f = pcall(attrs.member, "torch.distributed._functional_ops", name)
  return ok and f or nil
end

-- torch.ops.NAMESPACE.name: c10d has no rule for any DTensor.  An operator is
-- one object: CommDebugMode counts by it.
local function operators(space)
  return attrs.namespace(setmetatable({}, {__index = function (t, name)
    if name:find("^__") then return nil end
    local op = V.builtin(function (a, kw)
      if name == "wait_tensor" and not tensors.kinds_of(a, kw) then
        return a[1]                     -- the data is there at once
      end
      local f = not tensors.kinds_of(a, kw) and below_functional(space, name)
      if f then return V.call(f, a, kw) end
      return tensors.refuse(space .. "." .. name .. ".default", a, kw)
    end, name)
    op.shown = ("<OpOverloadPacket(op='%s.%s')>"):format(space, name)
    op.text = space .. "." .. name
    op.said = op.text
    op.default = V.builtin(op.call, name)
    op.default.shown = ("<OpOverload(op='%s.%s', overload='default')>"):format(
      space, name)
    op.default.text, op.default.said = op.text .. ".default", op.text
    rawset(t, name, op)
    return op
  end}))
end
M.c10d, M._c10d_functional = operators "c10d", operators "_c10d_functional"
M.c10d_functional = operators "c10d_functional"

for name, f in pairs(require("torch.objects").functions) do M[name] = f end

-- What asks for the default group first, whatever else it is given.
for _, name in ipairs {"get_rank", "get_world_size", "get_backend", "barrier",
    "monitored_barrier", "new_group", "_get_default_group",
    "get_process_group_ranks", "all_gather_object", "broadcast_object_list",
    "gather_object", "scatter_object_list", "batch_isend_irecv",
    "send_object_list", "recv_object_list"} do
  local f = M[name]
  if f then
    M[name] = V.builtin(function (a, kw)
      meshes.need_default()
      return f.call(a, kw)
    end, name)
  end
end

-- The store of a pretended group, which nobody asks anything.
M.FakeStore = V.builtin(function ()
  return attrs.namespace {__name__ = "FakeStore"}
end, "FakeStore")

-- ReduceOp's members: their names and numbers, as PyTorch has them; in Lua they
-- are the words of dt.distributed.
local reduction_mt = {__name = "RedOpType"}
function reduction_mt.__tostring(op) return "RedOpType." .. op.name end
function reduction_mt.__to_lua(op) return op.word end

function is_reduction(v) return getmetatable(v) == reduction_mt end

local reductions = {}
for i, name in ipairs {"SUM", "AVG", "PRODUCT", "MIN", "MAX", "BAND", "BOR",
    "BXOR"} do
  reductions[name] = setmetatable({name = name, value = i - 1,
    word = dist.ReduceOp[name],
    shown = ("<RedOpType.%s: %d>"):format(name, i - 1)}, reduction_mt)
end
reductions.RedOpType = attrs.namespace(setmetatable({__name__ = "RedOpType"},
  {__index = reductions}))
reductions.__name__ = "ReduceOp"
M.ReduceOp = attrs.namespace(reductions)

return M

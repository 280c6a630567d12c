-- SPDX-License-Identifier: MIT
-- dt/diagnose/messages_groups.lua: rows of messages.lua about what stands beside
-- distributed tensors: collectives, DistributedDataParallel, pipelines, FSDP1.
-- Texts of fixes are those of neighbours.lua, where these reports are told.

local programs = require "dt.diagnose.programs"

local integer, line, mesh_line = programs.integer, programs.line,
  programs.mesh_line
local fix, anew = programs.fix, programs.anew
local scene, ranks_or = programs.scene, programs.ranks_or

local MAX_RANKS <const> = 64    -- of a scene whose ranks compute

local DDP <const> = "from torch.nn.parallel import "
  .. "DistributedDataParallel as DDP\n"
local PP <const> = "from torch.distributed.pipelining import (\n"
  .. "    PipelineStage, Schedule1F1B, ScheduleGPipe)\n"
local FSDP1 <const> = "from torch.distributed.fsdp import (\n"
  .. "    FullyShardedDataParallel as FSDP, ShardingStrategy)\n"

local rows = {}

local function row(pattern, write) rows[#rows + 1] = {pattern, write} end

-- Nothing to set up but the processes.
local function of_ranks(n, head, lines, fails, fixes)
  return n and n >= 1 and n <= MAX_RANKS
    and scene(n, head, line(n) .. lines, fails, fixes) or nil
end

-- ---- collectives -------------------------------------------------------

-- The list that one rank gives has another length than the group.
local function wrong_list(call)
  return function (_, given, wanted)
    given, wanted = integer(given), integer(wanted)
    if not given or not wanted or given > MAX_RANKS then return nil end
    local function with(n)
      return ("parts = [torch.zeros(2) for _ in range(%d)]\n"):format(n)
        .. "if dist.get_rank() == 0:\n    " .. call:format "parts"
        .. "\nelse:\n    " .. call:format "None"
    end
    return of_ranks(wanted, "", "x = torch.ones(2)\n", with(given), {
      fix("a tensor for each rank of the group", with(wanted))})
  end
end

row("gather: Incorrect output list size (%d+)%. Output list size should be "
  .. "(%d+)", wrong_list "dist.gather(x, %s)")
row("scatter: Incorrect input list size (%d+)%. Input list size should be "
  .. "(%d+)", wrong_list "dist.scatter(x, %s)")

-- ---- ranks in different collectives ------------------------------------

local TYPES <const> = {Float = "float32", BFloat16 = "bfloat16", Half = "float16",
  Double = "float64", Long = "int64", Int = "int32", Byte = "uint8", Bool = "bool"}

-- How a rank comes to wait in a collective with the tensor x.
local CALLS <const> = {ALLREDUCE = "dist.all_reduce(x)",
  BROADCAST = "dist.broadcast(x, 0)", REDUCE = "dist.reduce(x, 0)",
  BARRIER = "dist.barrier()",
  ALLGATHER = "dist.all_gather([torch.empty_like(x) for _ in range(2)], x)",
  _ALLGATHER_BASE = "dist.all_gather_into_tensor("
    .. "torch.cat([torch.empty_like(x)] * 2), x)",
  REDUCE_SCATTER = "dist.reduce_scatter_tensor(x.new_empty(len(x)), "
    .. "torch.cat([x, x]))",
  ALLTOALL = "dist.all_to_all_single(torch.cat([x, x]), torch.cat([x, x]))"}
CALLS._REDUCE_SCATTER_BASE = CALLS.REDUCE_SCATTER
CALLS.ALLTOALL_BASE = CALLS.ALLTOALL
CALLS.ALLGATHER_BASE = CALLS._ALLGATHER_BASE

local MAX_LENGTH <const> = 1 << 20      -- of a tensor that is only sent

-- Sizes that stay apart, small enough to send.
local function shortened(a, b)
  while #a == 1 and #b == 1 and math.max(a[1], b[1]) > MAX_LENGTH
    and a[1] // 2 ~= b[1] // 2 do
    a, b = {a[1] // 2}, {b[1] // 2}
  end
  return a, b
end

-- Two ranks: {op=, shape=, type=} of each.
local function parted(a, b)
  a.call, b.call = CALLS[a.op], CALLS[b.op]
  if not a.call or not b.call or #a.shape > 6 or #b.shape > 6 then return nil end
  a.shape, b.shape = shortened(a.shape, b.shape)
  if programs.product(a.shape) > programs.MAX_ELEMENTS
    or programs.product(b.shape) > programs.MAX_ELEMENTS then
    return nil
  end
  local function made(w, shape)
    return ("x = torch.ones(%s, dtype=torch.%s)\n"):format(
      programs.tuple(shape or w.shape), TYPES[w.type] or "float32")
  end
  local function indented(text) return "    " .. text:gsub("\n(.)", "\n    %1") end
  local function by_rank(first, second)
    return "if dist.get_rank() == 0:\n" .. indented(first) .. "\nelse:\n"
      .. indented(second) .. "\n"
  end
  local lines = by_rank(made(a):gsub("\n$", ""), made(b):gsub("\n$", ""))
  if a.op ~= b.op then
    return of_ranks(2, "", lines, by_rank(a.call, b.call):gsub("\n$", ""), {
      anew("take the collective out of the condition, use its result on one "
        .. "rank", line(2) .. made(a) .. a.call .. "\n" .. made(b) .. b.call)})
  elseif a.type ~= b.type then
    return of_ranks(2, "", lines, a.call, {
      fix("one dtype on all ranks before the call", "x = x.float()\n" .. a.call)})
  end
  return of_ranks(2, "", lines, a.call, {
    fix("agree on the largest size, and fill up to it", "n = torch.tensor(x.size(0))\n"
      .. "dist.all_reduce(n, op=dist.ReduceOp.MAX)\n"
      .. "x = torch.cat([x, x.new_zeros(n.item() - x.size(0), *x.shape[1:])])\n"
      .. a.call)})
end

row("CollectiveFingerPrint%(SequenceNumber=%d+, OpType=([%u_]+), "
  .. "TensorShape=%[([%d, ]*)%], TensorDtypes=(%a%w*),.-CollectiveFingerPrint%("
  .. "SequenceNumber=%d+, OpType=([%u_]+), TensorShape=%[([%d, ]*)%], "
  .. "TensorDtypes=(%a%w*)", function (_, op, shape, kind, other, size, type_of)
  local a = {op = op, shape = programs.integers(shape), type = kind}
  local b = {op = other, shape = programs.integers(size), type = type_of}
  if op == other and shape == size and kind == type_of then return nil end
  -- only in the first dimension are they filled up
  for i = 2, op == other and math.max(#a.shape, #b.shape) or 0 do
    if a.shape[i] ~= b.shape[i] then
      a.shape = {math.tointeger(programs.product(a.shape))}
      b.shape = {math.tointeger(programs.product(b.shape))}
    end
  end
  return parted(a, b)
end)

row("WorkNCCL%((SeqNum=)%d+", function (r)
  local seen, n = {}, 0
  for number, op, length in r.doc.flat:gmatch
    "WorkNCCL%(SeqNum=(%d+), OpType=([%u_]+), NumelIn=(%d+)" do
    local before = seen[number]
    if before and (before.op ~= op or before.length ~= length) then
      return parted({op = before.op, shape = {integer(before.length)}},
        {op = op, shape = {integer(length)}})
    end
    seen[number] = {op = op, length = length}
    n = n + 1
    if n > MAX_RANKS then return nil end
  end
end)

row("op%.preamble%.length <= op%.nbytes%. (%d+) vs (%d+)", function (_, a, b)
  a, b = integer(a), integer(b)
  if not a or not b or a == b or a < 4 or b < 4 then return nil end
  return parted({op = "ALLREDUCE", shape = {a // 4}},
    {op = "ALLREDUCE", shape = {b // 4}})
end)

-- ---- DistributedDataParallel -------------------------------------------

row("in this process with sizes %[([%d, ]*)%] appears not to match (%l+) of the same "
  .. "param in process 0", function (r, shape, what)
  shape = programs.integers(shape)
  if #shape == 0 or programs.product(shape) > programs.MAX_ELEMENTS then return nil end
  local size = programs.tuple(shape)
  if what ~= "sizes" then return nil end
  local ranks = ranks_or(r, 2)
  local function net(sizes)
    return ("model = nn.Module()\nmodel.w = nn.Parameter(torch.ones(%s))\n"):format(
      sizes)
  end
  local first = {shape[1] + 1, table.unpack(shape, 2)}
  return of_ranks(ranks, DDP, net(("%s if dist.get_rank() else %s"):format(size,
    programs.tuple(first))), "DDP(model)", {
    anew("build the same model on every rank", line(ranks) .. net(size)
      .. "DDP(model)")})
end)

row("DDP expects same model across all ranks, but Rank (%d+) has (%d+) params, while "
  .. "rank (%d+) has inconsistent (%d+) params", function (_, rank, own, other, count)
  rank, own, other, count = integer(rank), integer(own), integer(other), integer(count)
  if not count or own == count or math.max(own, count) > 4096
    or math.max(rank, other) >= MAX_RANKS then
    return nil
  end
  local ranks = math.max(rank, other) + 1
  local made = ("model = nn.ParameterList([nn.Parameter(torch.ones(1)) for _ in "
    .. "range(%d)])\n"):format(math.max(own, count, 1))
  local frozen = ("if dist.get_rank() == %d:\n    for p in model[%d:]:\n"
    .. "        p.requires_grad_(False)\n"):format(
    own < count and rank or other, math.max(1, math.min(own, count)))
  return of_ranks(ranks, DDP, made .. frozen, "DDP(model)", {
    anew("train the same parameters on every rank",
      line(ranks) .. made .. "DDP(model)")})
end)

row("(Expected to have finished reduction in the prior iteration)", function (r)
  local steps = "for _ in range(2):\n    model(torch.ones(2, 4)).sum().backward()"
  local head = DDP .. "class Net(nn.Module):\n"
    .. "    def __init__(self):\n        super().__init__()\n"
    .. "        self.used = nn.Linear(4, 4)\n"
    .. "        self.unused = nn.Linear(4, 4)\n"
    .. "    def forward(self, x):\n        return self.used(x)\n"
  return of_ranks(ranks_or(r, 2), head, "model = Net()\n",
    "model = DDP(model)\n" .. steps, {
    fix("freeze what is never trained, before the model is wrapped",
      "model.unused.requires_grad_(False)\nmodel = DDP(model)\n" .. steps),
    fix("let DDP look for them in each step, when which ones are unused changes",
      "model = DDP(model, find_unused_parameters=True)\n" .. steps)})
end)

row("(Expected to mark a variable ready only once)", function (r)
  local step = "model(torch.ones(2, 4, requires_grad=True)).sum().backward()"
  local function net(reentrant)
    return ("class Net(nn.Module):\n"
      .. "    def __init__(self):\n        super().__init__()\n"
      .. "        self.shared = nn.Linear(4, 4)\n"
      .. "        self.own = nn.Linear(4, 4)\n"
      .. "    def forward(self, x):\n"
      .. "        x = self.own(checkpoint(self.shared, x, use_reentrant=%s))\n"
      .. "        return checkpoint(self.shared, x, use_reentrant=%s)\n"):format(
      reentrant, reentrant)
  end
  local head = DDP .. "from torch.utils.checkpoint import checkpoint\n"
  return of_ranks(ranks_or(r, 2), head, net "True", "model = DDP(Net())\n" .. step, {
    fix("checkpoint without reentrance", net "False" .. "model = DDP(Net())\n"
      .. step),
    fix("or say that each step uses the same parameters",
      "model = DDP(Net(), static_graph=True)\n" .. step)})
end)

row("(is not needed when a module doesn't have any parameter)", function (r)
  local ranks = ranks_or(r, 2)
  local net = "model = nn.Linear(4, 4).requires_grad_(False)\n"
  local step = "\nmodel(torch.ones(2, 4))"
  return of_ranks(ranks, DDP, net, "model = DDP(model)" .. step, {
    fix("leave it unwrapped: without gradients there is nothing to average",
      "model = model.to(\"cpu\")" .. step),
    fix("train some of it, before it is wrapped",
      "model.requires_grad_(True)\nmodel = DDP(model)" .. step)})
end)

-- ---- pipelines ---------------------------------------------------------

row("Pipeline group size (%d+) cannot be larger than number of stages (%d+)",
  function (_, ranks, stages)
  ranks, stages = integer(ranks), integer(stages)
  if not ranks or not stages or stages < 1 then return nil end
  local function stage(n)
    return ("PipelineStage(nn.Linear(4, 4), dist.get_rank() %% %d, %d, "
      .. "torch.device(\"cpu\"))"):format(n, n)
  end
  return of_ranks(ranks, PP, "", stage(stages), {
    fix("as many stages as ranks, or a multiple of them", stage(ranks))})
end)

row("Number of microbatches %((%d+)%) must be greater than or equal to the number "
  .. "of stages %((%d+)%)", function (r, given, stages)
  given, stages = integer(given), integer(stages)
  if not given or not stages or given < 1 or given >= stages then return nil end
  local name = r.doc.flat:find("GPipe", 1, true) and "ScheduleGPipe"
    or "Schedule1F1B"
  local function schedule(n)
    return ("%s(stage, n_microbatches=%d)"):format(name, n)
  end
  return of_ranks(stages, PP, ("stage = PipelineStage(nn.Linear(4, 4), "
    .. "dist.get_rank(), %d, torch.device(\"cpu\"))\n"):format(stages),
    schedule(given), {
    fix("as many microbatches as there are stages, or more", schedule(stages))})
end)

-- ---- FSDP1 -------------------------------------------------------------

local function not_uniform(r)
  local before = "model = nn.Linear(4, 4)\nmodel.bias.requires_grad_(False)\n"
  local call = "FSDP(model, device_id=torch.device(\"cpu\")%s)"
  local s = of_ranks(ranks_or(r, 2), FSDP1, before, call:format "", {
    fix("keep the parameters as they are inside the unit",
      call:format ", use_orig_params=True")})
  if r.doc.flat:find("FlatParameter` requires", 1, true) then
    s.expects = "uniform `requires_grad`"    -- as releases before ours worded it
  end
  return s
end

row("(uniform `requires_grad`)", not_uniform)

row("Expected device_mesh to have ndim=2 but got (%d)", function (r, given)
  if integer(given) ~= 1 then return nil end
  local ranks = ranks_or(r, 4)
  if ranks % 2 ~= 0 then return nil end
  local before = "model = nn.Linear(4, 4)\n"
  local call = "FSDP(model, device_mesh=mesh, device_id=torch.device(\"cpu\"),\n"
    .. "     sharding_strategy=ShardingStrategy.HYBRID_SHARD)"
  return scene(ranks, FSDP1, line(ranks, "fsdp") .. before, call, {
    anew("a mesh of two dimensions: copies, then shards",
      mesh_line({2, ranks // 2}, {"replicate", "shard"}) .. before .. call)})
end)

-- A weight that is read beside the unit which gathers it: one rank's flat piece.
local beside = {
  {"'weight' must be 2%-D", "nn.Embedding(8, 4)", "torch.tensor([1, 2])",
    "F.embedding(x, self.part.weight)"},
  {"size mismatch, got input %(%d+%), mat %(%d+x%d+%), vec %(%d+%)",
    "nn.Linear(4, 6, bias=False)", "torch.ones(2, 4)", "x @ self.part.weight.t()"},
}

for _, b in ipairs(beside) do
  row("(" .. b[1] .. ")", function (r)
    local flat = r.doc.flat
    if not flat:find "FSDP" and not flat:find "FullyShardedDataParallel"
      or flat:find "fully_shard" then
      return nil
    end
    local function net(body)
      return "class Net(nn.Module):\n    def __init__(self, part):\n"
        .. "        super().__init__()\n        self.part = part\n"
        .. "    def forward(self, x):\n        return " .. body .. "\n"
    end
    local how = ", device_id=torch.device(\"cpu\"), use_orig_params=True)"
    local both = "model = FSDP(Net(FSDP(" .. b[2] .. how .. ")" .. how
    local run = "\nmodel(" .. b[3] .. ")"
    return of_ranks(ranks_or(r, 2), FSDP1, net(b[4]), both .. run, {
      fix("call the layer, whose unit gathers its weight", net "self.part(x)" .. both
        .. run),
      fix("leave the layer to the unit whose forward reads its weight",
        "model = FSDP(Net(" .. b[2] .. ")" .. how .. run)})
  end)
end

-- ---- types -------------------------------------------------------------

row("nly Tensors of floating point (%l+) [%l ]*can require gradient", function (r,
  word)
  local call = word == "and" and "nn.Parameter(x%s)" or "x.requires_grad_(%s)"
  local without = word == "and" and ", requires_grad=False" or "False"
  return of_ranks(ranks_or(r, 2), "", "x = torch.ones(4, dtype=torch.int8)\n",
    call:format "", {fix("a parameter that needs no gradient",
      call:format(without))})
end)

return rows

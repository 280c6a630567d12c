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

-- ---- DistributedDataParallel -------------------------------------------

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
  return of_ranks(ranks_or(r, 2), FSDP1, before, call:format "", {
    fix("keep the parameters as they are inside the unit",
      call:format ", use_orig_params=True")})
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

-- SPDX-License-Identifier: MIT
-- dt/diagnose/messages_modules.lua: rows of messages.lua about modules: what
-- fully_shard, plans, losses, optimizers and checkpoints print.

local programs = require "dt.diagnose.programs"

local FSDP <const> = programs.FSDP
local MAX_ELEMENTS <const> = programs.MAX_ELEMENTS
local integer, integers = programs.integer, programs.integers
local product, tuple = programs.product, programs.tuple
local mesh_line, line = programs.mesh_line, programs.line
local fix, anew = programs.fix, programs.anew
local scene, parameter = programs.scene, programs.parameter
local ranks_or = programs.ranks_or

local TP <const> = "from torch.distributed.tensor.parallel import (\n"
  .. "    ColwiseParallel, PrepareModuleInput, PrepareModuleOutput,\n"
  .. "    loss_parallel, parallelize_module)\n"

local rows = {}

local function row(pattern, write) rows[#rows + 1] = {pattern, write} end

-- ---- fully_shard -------------------------------------------------------

-- A parameter of these sizes that fully_shard is told to cut along `dim`.
local function sharded_along(ranks, sizes, dim)
  return scene(ranks, FSDP, line(ranks, "fsdp") .. "model = nn.Linear(4, 4)\n"
    .. parameter("w", ("torch.ones(%s)"):format(table.concat(sizes, ", "))),
    ("fully_shard(model, mesh=mesh, shard_placement_fn=\n"
    .. "            lambda p: Shard(%d) if p is model.w else Shard(0))"):format(
      dim), {fix("shard dimension 0", "fully_shard(model, mesh=mesh)")})
end

row("does not support uneven sharding on dim (%d+): torch%.Size%(%[([%d, ]+)%]%)"
  .. " %(world size: (%d+)%)", function (_, dim, shape, ranks)
  local sizes = integers(shape)
  dim, ranks = integer(dim), integer(ranks)
  if not ranks or not dim or product(sizes) > MAX_ELEMENTS then return nil end
  return sharded_along(ranks, sizes, dim)
end)

row("Shard dim (%d+) is invalid for (%d+)D tensor: torch%.Size%(%[([%d, ]*)%]%)",
  function (r, dim, _, shape)
  local sizes = integers(shape)
  dim = integer(dim)
  if not dim or product(sizes) > MAX_ELEMENTS then return nil end
  local ranks = ranks_or(r, 2)
  return sharded_along(ranks, sizes, dim)
end)

row("Please init the 2D mesh for HSDP with mesh_dim_names specified", function ()
  local model = "model = nn.Linear(4, 4)\n"
  local call = "fully_shard(model, mesh=mesh)"
  return scene(4, FSDP, mesh_line {2, 2} .. model, call, {
    anew("name the dimensions when the mesh is made",
      mesh_line({2, 2}, {"dp_replicate", "dp_shard"}) .. model .. call)})
end)

row("support sc?alar parameters%. Change ([%a_][%w_%.]*) to a 1D tensor",
  function (r, name)
  local ranks = ranks_or(r, 2)
  local before = line(ranks, "fsdp") .. "model = nn.Linear(4, 4)\n"
  return scene(ranks, FSDP, before .. parameter(name, "torch.ones(())"),
    "fully_shard(model, mesh=mesh)", {anew("shape (1,)", before
    .. parameter(name, "torch.ones(1)") .. "fully_shard(model, mesh=mesh)")})
end)

row("still on meta device: %[(.-)%]", function (r, list)
  local ranks, names = ranks_or(r, 2), {}
  for name in list:gmatch "'([%w_%.]+)'" do names[#names + 1] = name end
  if #names == 0 or #names > 32 then return nil end
  local lines = {line(ranks, "fsdp"), "model = nn.Linear(4, 4)\n"}
  for _, name in ipairs(names) do
    lines[#lines + 1] = parameter(name, "torch.ones(4, device=\"meta\")")
  end
  lines[#lines + 1] = "fully_shard(model, mesh=mesh)\n"
  return scene(ranks, FSDP, table.concat(lines), "model(torch.ones(2, 4))", {
    fix("to_empty and reset_parameters after fully_shard",
      "model.to_empty(device=\"cpu\")\nmodel(torch.ones(2, 4))")})
end)

row("Cannot copy out of meta tensor; no data!", function (r)
  local ranks = ranks_or(r, 2)
  return scene(ranks, FSDP, line(ranks, "fsdp")
    .. "with torch.device(\"meta\"):\n    model = nn.Linear(4, 4)\n"
    .. "fully_shard(model, mesh=mesh)\n", "model.to(\"cpu\")", {
    fix("to_empty and reset_parameters after fully_shard",
      "model.to_empty(device=\"cpu\")\nmodel.reset_parameters()")})
end)

local types = {["torch.float32"] = true, ["torch.bfloat16"] = true,
  ["torch.float16"] = true, ["torch.float64"] = true}

row("expects uniform original parameter dtype but got {([%w%., ]+)}",
  function (r, said)
  local list = {}
  for name in said:gmatch "torch%.%w+" do
    if not types[name] then return nil end
    list[#list + 1] = name
  end
  if #list < 2 then return nil end
  local ranks = ranks_or(r, 2)
  local lines = {line(ranks, "fsdp"), "model = nn.Linear(4, 4)\n",
    ("model.to(%s)\n"):format(list[1])}
  for i = 2, #list do
    lines[#lines + 1] = parameter(("w%d"):format(i), ("torch.ones(4, dtype=%s)")
      :format(list[i]))
  end
  local before = table.concat(lines)
  local run = ("fully_shard(model, mesh=mesh)\nmodel(torch.ones(2, 4, dtype=%s))")
    :format(list[1])
  return scene(ranks, FSDP, before, run, {anew("one dtype before sharding",
    before .. ("model.to(%s)\n"):format(list[1]) .. run)})
end)

-- What fully_shard's modules have in place of what FSDP1's wrapper has.
local instead <const> = {
  clip_grad_norm_ = fix("the function that works on DTensors",
    "torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)"),
  no_sync = fix("accumulate gradients without no_sync: switch the reduction itself",
    "model.set_requires_gradient_sync(False)"),
  shard = fix("reshard() frees what unshard() gathered",
    "model.unshard()\nmodel.reshard()"),
}

row("'FSDP([%u]%w*)' object has no attribute '([%a_][%w_]*)'", function (r,
  class, method)
  local ranks = ranks_or(r, 2)
  return scene(ranks, FSDP, line(ranks, "fsdp") .. ("class %s(nn.Linear):\n"
    .. "    pass\n\n\nmodel = %s(4, 4)\nfully_shard(model, mesh=mesh)\n")
    :format(class == "Linear" and "Model" or class,
      class == "Linear" and "Model" or class), ("model.%s"):format(method), {
    instead[method]})
end)

row("support containers that do not implement forward: ([%a_][%w_]*)%(",
  function (r, class)
  local ranks = ranks_or(r, 2)
  local base = class == "ModuleDict" and "nn.ModuleDict" or "nn.ModuleList"
  local make = class:find "^Module[LD]i[sc]t$" and base .. "([nn.Linear(4, 4)])"
  local before = ""
  if not make then
    before = ("class %s(nn.ModuleList):\n    pass\n\n\n"):format(class)
    make = class .. "([nn.Linear(4, 4)])"
  elseif class == "ModuleDict" then
    make = "nn.ModuleDict({\"a\": nn.Linear(4, 4)})"
  end
  local items = class == "ModuleDict" and "layers.values()" or "layers"
  return scene(ranks, FSDP, line(ranks, "fsdp") .. before .. "layers = " .. make
    .. "\n", "fully_shard(layers, mesh=mesh)", {
    fix("wrap the items of a ModuleList, not the list", ("for layer in %s:\n"
      .. "    fully_shard(layer, mesh=mesh)"):format(items))})
end)

row("should be a factor of (%d+),? not (%d+)", function (_, ranks, given)
  ranks, given = integer(ranks), integer(given)
  if not ranks or not given or ranks < 2 or ranks > 64 then return nil end
  local call = "fully_shard(model, mesh=mesh, reshard_after_forward=%d)"
  return scene(ranks, FSDP, line(ranks, "fsdp") .. "model = nn.Linear(4, 4)\n",
    call:format(given), {fix("an integer that divides the number of ranks",
      call:format(ranks))})
end)

row("Missing optimizer state for parameter '([%w_%.]+)' in checkpoint",
  function (r, name)
  local ranks = ranks_or(r, 2)
  local own = name == "weight" or name == "bias"     -- of nn.Linear
  local head = FSDP .. "from torch.distributed.checkpoint.state_dict import (\n"
    .. "    StateDictOptions, get_optimizer_state_dict, "
    .. "set_optimizer_state_dict)\n"
  local call = "set_optimizer_state_dict(model, optimizer, saved%s)"
  return scene(ranks, head, line(ranks, "fsdp") .. "model = nn.Linear(4, 4)\n"
    .. (own and "" or parameter(name, "torch.ones(4)"))
    .. "fully_shard(model, mesh=mesh)\n"
    .. "optimizer = torch.optim.AdamW(model.parameters())\n"
    .. "for p in model.parameters():\n    p.grad = torch.ones_like(p)\n"
    .. "optimizer.step()\n"
    .. "saved = get_optimizer_state_dict(model, optimizer)\n"
    .. ("del saved[\"state\"][%q]\n"):format(name), call:format "", {
    fix("load what is there, StateDictOptions(strict=False)",
      call:format ", options=StateDictOptions(strict=False)")})
end)

-- ---- FSDP1 -------------------------------------------------------------

local WRAPPER <const> = "from torch.distributed.fsdp import "
  .. "FullyShardedDataParallel as FSDP\n"
local WHOLE <const> = "model = nn.Linear(4, 4, bias=False, dtype=%s)\n"
local FLOATING <const> = ", ignored_states=[\n    p for p in model.parameters() "
  .. "if not p.is_floating_point()]"

-- A model of parameters that one vector has to hold.
local function flattened(r, first, second)
  local ranks = ranks_or(r, 2)
  local head = WRAPPER .. line(ranks, "fsdp")
  local lines = (first:find "int" and "model = nn.Module()\n"
    or WHOLE:format(first))
    .. programs.attach("w", ("nn.Parameter(torch.ones(4, dtype=%s), "
      .. "requires_grad=False)"):format(second))
  local call = "FSDP(model, device_id=torch.device(\"cpu\")%s)"
  local integers_in = second:find "int" ~= nil
  return scene(ranks, head, lines, call:format "", {integers_in
    and fix("leave integer parameters out", call:format(FLOATING))
    or fix("one dtype for all parameters before FSDP wraps the model",
      ("model.to(%s)\n"):format(first) .. call:format ", use_orig_params=True")})
end

row("Must flatten tensors with uniform dtype but got (torch%.%w+) and "
  .. "(torch%.%w+)", function (r, first, second)
  if first:find "int" or first == second then return nil end
  return flattened(r, first, second)
end)

-- Before 2.0 it was said of the flat parameter.
row("FlatParameter`? requires uniform dtype but got (torch%.%w+) and (torch%.%w+)",
  function (r, first, second)
  if first:find "int" or first == second then return nil end
  local s = flattened(r, first, second)
  s.expects = "Must flatten tensors with uniform dtype"
  return s
end)

row("(Cannot flatten integer dtype tensors)", function (r)
  local ranks = ranks_or(r, 2)
  local s = flattened(r, "torch.int32", "torch.int32")
  s.fixes = {programs.anew("fully_shard, which shards each parameter by itself "
    .. "and flattens none", FSDP .. line(ranks, "fsdp") .. "model = nn.Module()\n"
    .. programs.attach("w", "nn.Parameter(torch.ones(4, dtype=torch.int32), "
      .. "requires_grad=False)") .. "fully_shard(model, mesh=mesh)"),
    table.unpack(s.fixes)}
  return s
end)

-- ---- plans, losses, data parallel --------------------------------------

row("module (%l+)s and %l+_layouts should have same length", function (r, what)
  local ranks = ranks_or(r, 2)
  local class = what == "output" and "PrepareModuleOutput"
    or "PrepareModuleInput"
  local function call(n)
    return ("parallelize_module(model, mesh, %s(\n    %s_layouts=(%s), "
      .. "desired_%s_layouts=(%s)))\nmodel(torch.ones(4, 4))"):format(class, what,
      ("Shard(0), "):rep(n), what, ("Replicate(), "):rep(n))
  end
  return scene(ranks, TP, line(ranks, "tp") .. "model = nn.Linear(4, 4)\n",
    call(2), {fix("as many layouts as the module has " .. what .. "s", call(1))})
end)

row("Tensor Parallel only accepts a 1D DeviceMesh, but found (%d)D", function ()
  local call = "parallelize_module(nn.Linear(4, 4), %s, ColwiseParallel())"
  return scene(4, TP, mesh_line({2, 2}, {"dp", "tp"}), call:format "mesh", {
    fix("one dimension of the mesh", call:format "mesh[\"tp\"]")})
end)

row("loss_parallel%(%).- only support.-on one%-dimensional DeviceMesh",
  function ()
  local call = "with loss_parallel():\n    F.cross_entropy(%s, "
    .. "torch.zeros(4, dtype=torch.long))"
  return scene(4, TP, mesh_line({2, 2}, {"dp", "tp"}) .. "logits = "
    .. "distribute_tensor(torch.ones(4, 8), mesh, [Replicate(), Shard(1)])\n",
    call:format "logits", {fix("logits on the tp dimension alone",
      "logits = distribute_tensor(torch.ones(4, 8), mesh[\"tp\"], [Shard(1)])\n"
      .. call:format "logits")})
end)

row("Cannot specify both process_group and device_mesh", function (r)
  local ranks = ranks_or(r, 2)
  local head = "from torch.nn.parallel import DistributedDataParallel as DDP\n"
  return scene(ranks, head, line(ranks, "dp"), "DDP(nn.Linear(4, 4), "
    .. "device_mesh=mesh, process_group=dist.group.WORLD)", {
    fix("one of the two", "DDP(nn.Linear(4, 4), device_mesh=mesh)")})
end)

-- ---- checkpoints -------------------------------------------------------

-- The planners alone: what is saved and loaded needs no file.
local PLANS <const> = [[
from torch.distributed.checkpoint.default_planner import (
    create_default_global_save_plan, create_default_local_load_plan,
    create_default_local_save_plan)


def saved(state):
    plan = create_default_local_save_plan(state, True)
    return create_default_global_save_plan([plan])[1]


]]

row("(FSDP does not support deepcopy)", function (r)
  local ranks = ranks_or(r, 2)
  local head = programs.FSDP .. "import copy\n"
  local wrapped = "model = nn.Linear(4, 4)\nfully_shard(model, mesh=mesh)\n"
  return scene(ranks, head, programs.line(ranks, "fsdp") .. wrapped,
    "copy.deepcopy(model)", {
    fix("keep a clone of each parameter, a DTensor like it, in place of a second model",
      "ema = {n: p.detach().clone() for n, p in model.named_parameters()}\n"
      .. "for n, p in model.named_parameters():\n    ema[n].lerp_(p.detach(), 0.1)"),
    anew("or copy the model before it is wrapped, and wrap both alike",
      programs.line(ranks, "fsdp") .. "model = nn.Linear(4, 4)\n"
      .. "ema = copy.deepcopy(model)\n"
      .. "fully_shard(model, mesh=mesh)\nfully_shard(ema, mesh=mesh)")})
end)

row("cannot pickle '(torch%._C%._distributed_c10d%.ProcessGroup)%a*' object",
  function (r)
  local ranks = ranks_or(r, 2)
  local copies = r.doc.flat:find("deepcopy", 1, true)
  local call = copies and "copy.deepcopy(%s)" or "torch.save(%s, io.BytesIO())"
  local head = copies and "import copy\n" or "import io\n"
  local made = "model = nn.Linear(4, 4)\nmodel.%s\n"
  return scene(ranks, head, programs.line(ranks, "dp")
    .. made:format "group = mesh.get_group()", call:format "model", {
    anew("keep the mesh in the module, and ask it for the group where that is used",
      programs.line(ranks, "dp") .. made:format "mesh = mesh"
      .. call:format "model" .. "\nmodel.mesh.get_group()"),
    fix("or copy and save the state dict, in which there is no group",
      call:format "model.state_dict()")})
end)

-- The name that a compiled model saves a parameter under.
local function of_compiled(key)
  local name, n = key:gsub("%f[%w]layers%.%d+%.", "%0_orig_mod.", 1)
  return n > 0 and name or "_orig_mod." .. key
end

local function is_compiled(r)
  local flat = r.doc.flat
  return flat:find("torch.compile", 1, true) or flat:find("training.compile", 1, true)
    or flat:find("_orig_mod", 1, true)
end

-- The planner's own check came later: older ones let Python say it.
row("default_planner%.py.-KeyError: ['\"]([%a_][%w_%.]*)['\"]", function (_, key)
  local load = "create_default_local_load_plan(state, saved({%s}))"
  local s = scene(1, PLANS, ("state = {%q: torch.ones(4)}\n"):format(key),
    load:format "", {
    fix("save and load through the same state-dict helper and planner",
      load:format(("%q: torch.ones(4)"):format(key))),
    fix("allow a partial load: keys that are not saved keep their values",
      "create_default_local_load_plan(state, saved({}), strict=False)")})
  s.expects = "Missing key in checkpoint state_dict: " .. key
  return s
end)

row("Missing key in checkpoint state_dict: ([%a_][%w_%.%-]*[%w_])", function (r,
  key)
  if is_compiled(r) and not key:find("_orig_mod", 1, true) then
    return scene(1, PLANS, ("state = {%q: torch.ones(4)}\nstored = {%q: "
      .. "torch.ones(4)}\n"):format(key, of_compiled(key)),
      "create_default_local_load_plan(state, saved(stored))", {
      fix("strip wrapper prefixes (_checkpoint_wrapped_module, _orig_mod) from the "
        .. "keys before saving and loading",
        "stored = {k.replace(\"_orig_mod.\", \"\"): v for k, v in "
        .. "stored.items()}\ncreate_default_local_load_plan(state, saved(stored))")})
  end
  local load = "create_default_local_load_plan(state, saved({%s}))"
  return scene(1, PLANS, ("state = {%q: torch.ones(4)}\n"):format(key),
    load:format "", {
    fix("allow a partial load: keys that are not saved keep their values",
      "create_default_local_load_plan(state, saved({}), strict=False)"),
    fix("save and load through the same state-dict helper and planner",
      load:format(("%q: torch.ones(4)"):format(key)))})
end)

row("Size mismatch between saved torch%.Size%(%[([%d, ]*)%]%) and current: "
  .. "torch%.Size%(%[([%d, ]*)%]%) for ([%a_][%w_%.%-]*[%w_])",
  function (_, have, want, key)
  have, want = integers(have), integers(want)
  -- one rank's piece of a vector that holds the whole
  local pieces = #want == 1 and want[1] > 0 and product(have) / want[1] or 0
  local text = #have > 1 and pieces >= 2 and pieces % 1 == 0
    and "what the model gives now is one rank's flat piece of FSDP1: take the "
    .. "state through the helper for both" or "a model of the saved sizes, or "
    .. "the same padding"
  -- on meta, where no size costs memory
  have, want = tuple(have), tuple(want)
  local empty = "{%q: torch.empty(%s, device=\"meta\")}"
  local load = "create_default_local_load_plan(" .. empty .. ", stored)"
  return scene(1, PLANS, ("stored = saved(" .. empty .. ")\n"):format(key, have),
    load:format(key, want), {
    {text = text, lines = load:format(key, have), said = pieces >= 2
      and "state = get_model_state_dict(model)\ndcp.load({\"model\": state}, "
      .. "checkpoint_id=path)" or nil}})
end)

row("size mismatch for ([%a_][%w_%.]*): copying a param with shape torch%.Size"
  .. "%(%[([%d, ]*)%]%) from checkpoint, the shape in current model is torch%.Size"
  .. "%(%[([%d, ]*)%]%)", function (r, key, have, want)
  -- on meta, where no size costs memory
  have, want = tuple(integers(have)), tuple(integers(want))
  local class = r.doc.flat:match "loading state_dict for ([%a_][%w_]*)" or "Model"
  local tensor = "torch.empty(%s, device=\"meta\")"
  local load = "model.load_state_dict({%q: " .. tensor .. "})"
  -- the first fix of what the report is told: a gathered parameter is whole
  local told = r.neighbour and r.neighbour.fixes[1]
  local cured = want == "(0,)"
    and parameter(key, tensor:format(have)) .. load:format(key, have)
    or load:format(key, want)
  return scene(1, "", ("class %s(nn.Module):\n    pass\n\n\nmodel = %s()\n")
    :format(class, class) .. parameter(key, tensor:format(want)),
    load:format(key, have), {
    {text = told and told[1] or "save and load full tensors, or distributed checkpoints",
      lines = cured, said = told and told.torch}})
end)

-- A name of the model that the state of another model, or one that holds tied
-- parameters once, does not have.
row("KeyError: ['\"]([%a_][%w_%.]*%.weight)['\"]", function (r, key)
  if r.class.id ~= "fsdp2-full-state-dict-key" then return nil end
  local ranks = ranks_or(r, 2)
  local load = "for name in model.state_dict():\n"
    .. "    loaded[name] = distribute_tensor(full[name], mesh, [Shard(0)])"
  return scene(ranks, FSDP, line(ranks, "fsdp")
    .. "model = nn.Sequential(nn.Embedding(8, 4), nn.Linear(4, 4))\n"
    .. programs.attach(key, "model[0].weight")
    .. "full = {name: p.detach() for name, p in model.named_parameters()}\n"
    .. "fully_shard(model, mesh=mesh)\nloaded = {}\n", load, {
    fix("the names that state_dict() of the whole model has",
      load:gsub("full%[name%]", "full.get(name, full[\"0.weight\"])"))})
end)

return rows

-- SPDX-License-Identifier: MIT
-- dt/diagnose/pyscenes.lua: scenes written in Python, which the project's
-- reader of Python runs in the sandbox; `--export` writes the same lines for
-- PyTorch.  A scene is {ranks=, lines=, fails=, fixes=}: what comes before,
-- the lines that raise, and for each fix {text=, lines=, setup=}: the lines
-- that do not (`setup` when what comes before differs too).  What a report
-- says (attribute, keyword, operator, names, sizes) goes into them; only
-- names and numbers that were parsed do.

local messages = require "dt.diagnose.messages"
local silent = require "dt.diagnose.silent"

local M, scenes = {}, {}

local NAME = "[%a_][%w_]*"

local FSDP <const> = "from torch.distributed.fsdp import fully_shard\n"
local TP <const> = "from torch.distributed.tensor.parallel import (\n"
  .. "    ColwiseParallel, RowwiseParallel, loss_parallel, parallelize_module)\n"

-- The report's first mesh, when it is one of a few ranks; else `n` ranks.
local function mesh_of(r, n, name, fixed)
  local m = not fixed and r.meshes[1]
  local size = m and #m.shape == 1 and m.shape[1]
  local names = m and m.names or {}
  if not size or size < 2 or size > 8 then size, names = n, {} end
  local said = type(names[1]) == "string" and names[1]:find "^[%a_][%w_]*$"
    and #names[1] < 40 and names[1] or name
  return ('mesh = init_device_mesh("cpu", (%d,), mesh_dim_names=("%s",))\n')
    :format(size, said), size
end

-- With `fixed` ranks the mesh is not the report's: sizes decide the outcome.
local function scene(r, name, head, lines, fails, fixes, fixed)
  local mesh, ranks = mesh_of(r, fixed or 2, name, fixed)
  return {ranks = ranks, lines = head .. mesh .. lines, fails = fails,
    fixes = fixes, head = head .. mesh}
end

-- ---- tensors -----------------------------------------------------------

local raw = {broadcast_ = "dist.broadcast(%s, 0)",
  allreduce_ = "dist.all_reduce(%s)",
  reduce_ = "dist.reduce(%s, 0)"}

scenes["raw-collective-on-dtensor"] = function (r)
  local name = r.op and r.op:match "^c10d%.([%w_]+)%."
  local call = raw[name or "broadcast_"]
  if not call then return nil end
  return scene(r, "dp", "",
    "x = distribute_tensor(torch.ones(8, 4), mesh, [Shard(0)])\n",
    call:format "x", {
    {text = "the local tensor", lines = call:format "x.to_local()"},
    {text = "functional collectives, or redistribute",
      lines = "x.redistribute(mesh, [Replicate()])"}})
end

scenes["pin-memory-dtensor"] = function (r)
  if not r.doc.flat:find("_pin_memory", 1, true) then return nil end
  return scene(r, "dp", "",
    "x = distribute_tensor(torch.ones(8, 4), mesh, [Shard(0)])\n",
    "x.pin_memory()", {
    {text = "pin the local tensor", lines = "x.to_local().pin_memory()"}})
end

local attributes = {to_local = "w.to_local()", full_tensor = "w.full_tensor()",
  device_mesh = "w.device_mesh", placements = "w.placements",
  _local_tensor = "w._local_tensor"}

scenes["fsdp2-plain-entry-in-sharded-state-dict"] = function (r)
  local name = r.doc.flat:match
    "'Tensor' object has no attribute '([%w_]+)'"
  local read = name and attributes[name]
  if not read then return nil end
  return scene(r, "fsdp", "", "w = torch.ones(8, 4)\n", read, {
    {text = "distribute the plain entry first",
      lines = "w = distribute_tensor(w, mesh, [Shard(0)])\n" .. read},
    {text = "branch: a state dict may hold plain entries beside DTensors",
      lines = "y = " .. read .. " if isinstance(w, DTensor) else w"}})
end

scenes["async-result-not-waited"] = function (r)
  if not r.doc.flat:find("has no attribute 'wait'", 1, true) then return nil end
  return scene(r, "tp", "import torch.distributed._functional_collectives as "
    .. "funcol\n", "x = torch.ones(4)\n", "x.wait()", {
    {text = "wait for what a functional collective returns",
      lines = "funcol.wait_tensor(funcol.all_reduce(x, \"sum\", mesh))"}})
end

scenes["placement-kind-assumed"] = function (r)
  local kind, name = r.doc.flat:match
    "'(%a+)' object has no attribute '([%w_]+)'"
  local made = ({Replicate = "Replicate()", Shard = "Shard(0)",
    Partial = "Partial()"})[kind]
  if not made or not name:find("^" .. NAME .. "$") then return nil end
  return scene(r, "tp", "", ("p = %s\n"):format(made), "p." .. name, {
    {text = "ask for the kind before its attribute", lines = ("p.%s if isinstance(p, Shard) and "
      .. "hasattr(p, %q) else None"):format(name, name)}})
end

local MAP <const> = "from torch.distributed.tensor.experimental import "
  .. "local_map\n"

scenes["local-map-placements"] = function (r)
  local flat = r.doc.flat
  local function call(body, places, args)
    return ("local_map(%s, out_placements=[Shard(0)],\n          "
      .. "in_placements=(%s), device_mesh=mesh)(%s)"):format(body, places, args)
  end
  local before = "x = distribute_tensor(torch.ones(8, 4), mesh, [Shard(0)])\n"
  local text = "one entry each, None where it is no tensor"
  if flat:find("expects placements but received None", 1, true) then
    return scene(r, "tp", MAP, before, call("lambda t: t * 2", "None,", "x"),
      {{text = text, lines = call("lambda t: t * 2", "[Shard(0)],", "x")}})
  end
  local given = flat:match "Non%-Tensor input (%d+) expects None placements"
  if not given or #given > 9 then return nil end
  local body = "lambda t, n: t * n"
  return scene(r, "tp", MAP, before, call(body, "[Shard(0)], [Replicate()]",
    "x, " .. given), {{text = text, lines = call(body, "[Shard(0)], None",
    "x, " .. given)}})
end

scenes["dtensor-serialization"] = function (r)
  if not r.doc.flat:find("data pointer on an invalid python storage", 1, true)
  then
    return nil
  end
  return scene(r, "fsdp", "",
    "x = distribute_tensor(torch.ones(8, 4), mesh, [Shard(0)])\n",
    "x.untyped_storage().data_ptr()", {
    {text = "save full tensors or use distributed checkpoints",
      lines = "x.full_tensor().untyped_storage().data_ptr()"}})
end

scenes["fsdp2-non-float-parameter"] = function (r)
  if not r.doc.flat:lower():find "only tensors of floating point" then
    return nil
  end
  return scene(r, "fsdp", "", "q = torch.ones(4, dtype=torch.int8)\n",
    "nn.Parameter(q)", {
    {text = "store as floating point, or keep the flag",
      lines = "nn.Parameter(q, requires_grad=False)"}})
end

-- ---- fully_shard -------------------------------------------------------

local pair = "model = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 4))\n"

scenes["meta-device-not-materialised"] = function (r)
  if not r.doc.flat:find("materialized from meta", 1, true)
    and not r.doc.flat:find("still on meta", 1, true) then
    return nil
  end
  local made = 'with torch.device("meta"):\n    ' .. pair
    .. "fully_shard(model, mesh=mesh)\n"
  return scene(r, "fsdp", FSDP, made, "model(torch.ones(2, 4))", {
    {text = "to_empty and reset_parameters after fully_shard",
      lines = 'model.to_empty(device="cpu")\nfor layer in model:\n'
        .. "    layer.reset_parameters()\nmodel(torch.ones(2, 4))"}})
end

local usage = {
  {"does not support containers", "layers = nn.ModuleList([nn.Linear(4, 4)])\n",
    "fully_shard(layers, mesh=mesh)",
    "for layer in layers:\n    fully_shard(layer, mesh=mesh)",
    "wrap the items of a ModuleList, not the list"},
  {"already been lazily initialized", pair .. "fully_shard(model[0], mesh=mesh)\n"
    .. "model[0](torch.ones(2, 4))\nfully_shard(model, mesh=mesh)\n",
    "model(torch.ones(2, 4))", pair .. "fully_shard(model[0], mesh=mesh)\n"
    .. "fully_shard(model, mesh=mesh)\nmodel(torch.ones(2, 4))",
    "blocks first, then the root, then a forward through the root"},
  {"non-contiguous parameters", "model = nn.Linear(4, 4)\nmodel.weight = "
    .. "nn.Parameter(torch.ones(4, 8)[:, ::2])\n",
    "fully_shard(model, mesh=mesh)", "model.weight = nn.Parameter("
    .. "model.weight.detach().contiguous())\nfully_shard(model, mesh=mesh)",
    "make a transposed or expanded parameter contiguous before wrapping"},
  {"can only be applied to a module once", "model = nn.Linear(4, 4)\n"
    .. "fully_shard(model, mesh=mesh)\n", "fully_shard(model, mesh=mesh)",
    "model(torch.ones(2, 4))", "apply it once to each module"},
  {"should be a factor of", "model = nn.Linear(4, 4)\n",
    "fully_shard(model, mesh=mesh, reshard_after_forward=3)",
    "fully_shard(model, mesh=mesh, reshard_after_forward=2)",
    "an integer that divides the number of ranks"},
}

scenes["fsdp2-usage"] = function (r)
  for _, u in ipairs(usage) do
    if r.doc.flat:find(u[1], 1, true) then
      return scene(r, "fsdp", FSDP, u[2], u[3], {{text = u[5], lines = u[4],
        fresh = u[4]:find "^model = " ~= nil}})
    end
  end
end

scenes["fsdp-tied-params-two-groups"] = function (r)
  if not r.doc.flat:find("FSDP group", 1, true) then return nil end
  local net = [[
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(8, 4)
        self.lm_head = nn.Linear(4, 8, bias=False)
        self.lm_head.weight = self.embed.weight

    def forward(self, x):
        return self.lm_head(self.embed(x))


model = Net()
]]
  local last = "fully_shard(model, mesh=mesh)\nmodel(torch.tensor([1, 2]))"
  return scene(r, "fsdp", FSDP, net, "fully_shard(model.embed, mesh=mesh)\n"
    .. "fully_shard(model.lm_head, mesh=mesh)\n" .. last, {
    {text = "one group", lines =
      "fully_shard([model.embed, model.lm_head], mesh=mesh)\n" .. last},
    {text = "leave both to the root", lines = last}})
end

scenes["fsdp-tp-mesh-relationship"] = function (r)
  if not r.doc.flat:find("same parent mesh", 1, true)
    and not r.doc.flat:find("Cannot concatenate", 1, true) then
    return nil
  end
  local head = FSDP .. TP
  return {ranks = 4, head = head, lines = head
    .. 'dp = init_device_mesh("cpu", (4,), mesh_dim_names=("dp",))\n'
    .. 'tp = init_device_mesh("cpu", (4,), mesh_dim_names=("tp",))\n'
    .. "model = nn.Linear(4, 4)\n"
    .. "parallelize_module(model, tp, ColwiseParallel())\n",
    fails = "fully_shard(model, mesh=dp)", fixes = {
      {text = "slice both from one root mesh", fresh = true, lines =
        'root = init_device_mesh("cpu", (2, 2), mesh_dim_names=("dp", "tp"))\n'
        .. "model = nn.Linear(4, 4)\n"
        .. 'parallelize_module(model, root["tp"], ColwiseParallel())\n'
        .. 'fully_shard(model, mesh=root["dp"])'}}}
end

scenes["wrapper-setting-of-another"] = function (r)
  local word = r.doc.flat:match
    "fully_shard%(%) got an unexpected keyword argument '([%a_][%w_]*)'"
  local method = r.doc.flat:match
    "'FSDP%u%w*' object has no attribute '([%a_][%w_]*)'"
  local lines = "model = nn.Linear(4, 4)\n"
  if word then
    return scene(r, "fsdp", FSDP, lines,
      ("fully_shard(model, mesh=mesh, %s=None)"):format(word), {
      {text = "leave the setting out", lines =
        "fully_shard(model, mesh=mesh)"}})
  elseif method then
    return scene(r, "fsdp", FSDP, lines .. "fully_shard(model, mesh=mesh)\n",
      ("model.%s"):format(method), {
      {text = "the function that works on DTensors", lines =
        "torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)"}})
  end
end

-- ---- meshes, plans, losses --------------------------------

scenes["mesh-arguments"] = function (r)
  if r.doc.flat:find("if passing multiple ProcessGroups", 1, true) then
    local call = "DeviceMesh.from_group([dist.group.WORLD, dist.group.WORLD],"
      .. ' "cpu",\n                      mesh=[[0], [1]]%s)'
    return scene(r, "dp",
      "from torch.distributed.device_mesh import DeviceMesh\n", "",
      call:format "", {{text = "a name for each dimension, mesh_dim_names",
      lines = call:format ', mesh_dim_names=("dp", "tp")'}})
  end
  if not r.doc.flat:find("index is not supported", 1, true) then return nil end
  return {ranks = 2, head = "", lines = "",
    fails = 'init_device_mesh("cpu:0", (2,))', fixes = {
      {text = "the type alone", lines = 'init_device_mesh("cpu", (2,))'}}}
end

scenes["tp-hook-kwargs-only"] = function (r)
  return scene(r, "tp", TP, "model = parallelize_module(nn.Linear(4, 4), mesh, "
    .. "ColwiseParallel())\n", "model(input=torch.ones(2, 4))", {
    {text = "pass the tensor positionally",
      lines = "model(torch.ones(2, 4))"}})
end

scenes["loss-parallel-preconditions"] = function (r)
  if not r.doc.flat:find("loss_parallel() ", 1, true) then return nil end
  local call = "with loss_parallel():\n    F.cross_entropy(logits, "
    .. "torch.zeros(4, dtype=torch.long))"
  return scene(r, "tp", TP, "logits = distribute_tensor(torch.ones(4, 8), "
    .. "mesh, [Replicate()])\n", call, {
    {text = "shard the class dimension", lines = "logits = logits.redistribute("
      .. "mesh, [Shard(1)])\n" .. call},
    {text = "no loss_parallel for whole logits", lines =
      "F.cross_entropy(logits.to_local(), torch.zeros(4, dtype=torch.long))"}})
end

-- ---- whole programs ----------------------------------------------------

local HEAD <const> = [[
import torch
import torch.distributed as dist
import torch.nn as nn
import torch.nn.functional as F
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import (
    DTensor, Partial, Replicate, Shard, distribute_tensor)
]]

local function whole(before, lines)
  return HEAD .. before .. lines:gsub("\n$", "") .. "\n"
end

-- A scene with its programs: {ranks=, program=, fixes={{text=, program=}}}.
local function complete(s)
  local out = {ranks = s.ranks, silent = s.silent, expects = s.expects,
    behind = s.behind, warns = s.warns,
    program = whole(s.lines, s.fails), fixes = {}}
  for i, f in ipairs(s.fixes) do
    out.fixes[i] = {text = f.text, python = f.said or not f.fresh and f.lines,
      program = whole(f.fresh and s.head or s.lines, f.lines)}
  end
  return out
end

-- The scene that the message says, or nil.
function M.of_message(r)
  local s = messages.find(r)
  return s and complete(s)
end

-- The scene of the class, or nil.
function M.of_class(r)
  local make, quiet = scenes[r.class.id], silent[r.class.id]
  local s = make and make(r)
  if not s and quiet and #r.exceptions == 0 then
    s = scene(r, quiet.name, "", quiet.lines, quiet.fails, quiet.fixes, 2)
    s.silent = quiet.what
  end
  return s and complete(s)
end

return M

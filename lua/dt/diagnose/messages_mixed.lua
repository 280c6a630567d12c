-- SPDX-License-Identifier: MIT
-- dt/diagnose/messages_mixed.lua: rows of messages.lua about plain and
-- distributed tensors that meet inside a wrapper: a weight of fully_shard that
-- is read beside its hooks, a checkpoint that runs again, lists of an optimizer
-- and of clipping.  The operator is the report's; a layer stands for it that
-- ends in it.

local names = require "dt.diagnose.names"
local programs = require "dt.diagnose.programs"

local line, fix, anew = programs.line, programs.fix, programs.anew
local scene, ranks_or = programs.scene, programs.ranks_or
local mesh_line, integer = programs.mesh_line, programs.integer

local rows = {}

local function row(pattern, write) rows[#rows + 1] = {pattern, write} end

local FSDP <const> = "from torch.distributed.fsdp import (\n"
  .. "    fully_shard, register_fsdp_forward_method)\n"
local FLOATS <const> = "torch.ones(2, 4)"

-- ---- layers --------------------------------------------------------------

-- What reads a weight by an operator: {layer, input}.  A layer that has a space
-- in it is what its forward returns.
local layers <const> = {
  ["aten.mm.default"] = {"nn.Linear(4, 4, bias=False)"},
  ["aten.addmm.default"] = {"nn.Linear(4, 4)"},
  ["aten.embedding.default"] = {"nn.Embedding(8, 4)", "torch.tensor([1, 2])"},
  ["aten.convolution.default"] = {"nn.Conv2d(4, 4, 1)",
    "torch.ones(2, 4, 3, 3)"},
  ["aten.native_layer_norm.default"] = {"nn.LayerNorm(4)"},
  ["aten._fused_rms_norm.default"] = {"nn.RMSNorm(4)"},
  ["aten.native_group_norm.default"] = {"nn.GroupNorm(2, 4)",
    "torch.ones(2, 4, 3)"},
  ["aten.add.Tensor"] = {"x + self.weight"},
  ["aten.sub.Tensor"] = {"x - self.weight"},
  ["aten.mul.Tensor"] = {"x * self.weight"},
  ["aten.div.Tensor"] = {"x / self.weight"},
  ["aten.cat.default"] = {"torch.cat([x, self.weight])"},
  ["aten.index.Tensor"] = {"self.weight[x, x]", "torch.tensor([1, 2])"},
}

-- The lines that define the layer of an operator, how it is made and what goes
-- into it; nil where none is known.
local function layer_of(op)
  local found = layers[op]
  if not found then return nil end
  local made, input = found[1], found[2] or FLOATS
  if made:find "^nn%." then return "", made, input end
  return ("class Layer(nn.Module):\n    def __init__(self):\n"
    .. "        super().__init__()\n"
    .. "        self.weight = nn.Parameter(torch.ones(2, 4))\n\n"
    .. "    def forward(self, x):\n        return %s\n\n\n"):format(made),
    "Layer()", input
end

-- ---- fully_shard ---------------------------------------------------------

-- A method of the model beside forward that runs a layer.
local function beside_forward(r)
  local class, layer, input = layer_of(r.op)
  if not class then return nil end
  local ranks, method = ranks_or(r, 2), names.entry(r) or "generate"
  local lines = line(ranks, "fsdp") .. "\n\n" .. class .. ([[
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = %s

    def forward(self, x):
        return self.layer(x)

    def %s(self, x):
        return self.layer(x)


model = Model()
fully_shard(model, mesh=mesh)
x = %s
]]):format(layer, method, input)
  local call = ("model.%s(x)"):format(method)
  return scene(ranks, FSDP, lines, call, {
    fix("tell FSDP2 about the method",
      ("register_fsdp_forward_method(model, %q)\n"):format(method) .. call),
    fix("gather around the region that uses the weight, and reshard after it",
      "model.unshard()\n" .. call .. "\nmodel.reshard()"),
    fix("keep code that needs a weight inside the wrapped module's forward",
      "model(x)")})
end

local CHECKPOINTED <const> = [[
class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = %s
        self.second = %s

    def forward(self, x):
        return self.second(self.first(x))


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.block = Block()

    def forward(self, x):
        return checkpoint(self.block, x, use_reentrant=False)


model = Model()
for layer in (model.block.first, model.block.second):
    fully_shard(layer, mesh=mesh)
fully_shard(model, mesh=mesh)
x = torch.ones(2, 4, requires_grad=True)
]]

-- Two forwards before one backward: the second recomputation of a unit comes
-- after its first backward has freed the parameters.
local function recomputed(r)
  local class, layer, input = layer_of(r.op)
  if not class or input ~= FLOATS then return nil end
  local ranks = ranks_or(r, 2)
  local lines = line(ranks, "fsdp") .. "\n\n" .. class
    .. CHECKPOINTED:format(layer, layer)
  local call = "(model(x).sum() + model(2 * x).sum()).backward()"
  return scene(ranks, FSDP .. "from torch.utils.checkpoint import checkpoint\n",
    lines, call, {
    fix("one backward for each forward, or concatenate the batches",
      "model(x).sum().backward()\nmodel(2 * x).sum().backward()"),
    fix("keep the parameters after backward, too", "for layer in "
      .. "(model.block.first, model.block.second):\n    layer."
      .. "set_reshard_after_backward(False)\n" .. call)})
end

-- ---- lists of parameters -------------------------------------------------

-- The steps whose first call over all parameters is this one.
local steps <const> = {
  ["aten._fused_adamw_.default"] = {"AdamW", "fused=True"},
  ["aten._fused_adam_.default"] = {"Adam", "fused=True"},
  ["aten._fused_sgd_.default"] = {"SGD", "fused=True"},
  ["aten._foreach_mul_.Scalar"] = {"AdamW", "foreach=True"},
  ["aten._foreach_lerp_.Scalar"] = {"Adam", "foreach=True"},
  ["aten._foreach_add_.List"] = {"SGD", "foreach=True"},
}

local PARTS <const> = [[
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.proj = nn.Linear(4, 4, bias=False)
        self.norm = nn.LayerNorm(4)

    def forward(self, x):
        return self.norm(self.proj(x))


model = Model()
]]
local GRADIENTS <const> = "for p in model.parameters():\n"
  .. "    p.grad = torch.ones_like(p)\n"
local STRAGGLERS <const> = "distribute_module(model.norm, mesh)\n" .. GRADIENTS

-- A model of which one part is wrapped as the report says.
local function half_wrapped(r)
  local ranks, flat = ranks_or(r, 2), r.doc.flat
  local head = "from torch.distributed.tensor import distribute_module\n"
  local wrap = "fully_shard(model.proj, mesh=mesh)\n"
  local name = "fsdp"
  if flat:find "[Tt]ensor.[Pp]arallel" or flat:find "wiseParallel"
    or flat:find "%f[%w]TP%f[%W]" and not flat:find "fully_shard" then
    name = "tp"
    head = head .. "from torch.distributed.tensor.parallel import (\n"
      .. "    ColwiseParallel, parallelize_module)\n"
    wrap = "parallelize_module(model, mesh, {\"proj\": ColwiseParallel()})\n"
  else
    head = head .. "from torch.distributed.fsdp import fully_shard\n"
  end
  return ranks, head, line(ranks, name) .. "\n\n" .. PARTS .. wrap .. GRADIENTS
end

local function clipped(r)
  local ranks, head, lines = half_wrapped(r)
  local call = "torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)"
  return scene(ranks, head .. "from torch.nn.utils import get_total_norm\n",
    lines, call, {
    fix("put the stragglers on the mesh", STRAGGLERS .. call),
    fix("a norm for each kind, then combine",
      "cut = get_total_norm([model.proj.weight.grad]).full_tensor()\n"
      .. "whole = get_total_norm([p.grad for p in model.norm.parameters()])\n"
      .. "norm = (cut**2 + whole**2).sqrt()\n"
      .. "for p in model.parameters():\n"
      .. "    p.grad.mul_(min(1.0, 1.0 / norm.item()))")})
end

local function stepped(r)
  local step = steps[r.op]
  if not step then return nil end
  local ranks, head, lines = half_wrapped(r)
  local rate = step[1] == "SGD" and ", lr=0.1" or ""
  local function call(params, how)
    return ("optimizer = torch.optim.%s(%s%s, %s)\noptimizer.step()"):format(
      step[1], params, rate, how)
  end
  local fails = call("model.parameters()", step[2])
  return scene(ranks, head, lines, fails, {
    fix("separate groups for plain and distributed parameters", call("[\n"
      .. "    {\"params\": list(model.proj.parameters())},\n"
      .. "    {\"params\": list(model.norm.parameters())}]", step[2])),
    fix("one parameter at a time", call("model.parameters()",
      step[2] == "fused=True" and "foreach=False, fused=False"
      or "foreach=False")),
    fix("put the stragglers on the mesh", STRAGGLERS .. fails)})
end

local by_class <const> = {
  ["mixed-fsdp2-non-forward-entry"] = beside_forward,
  ["mixed-activation-checkpoint-recompute"] = recomputed,
  ["mixed-optimizer-group"] = function (r)
    if r.op == "aten._foreach_norm.Scalar" then return clipped(r) end
    return stepped(r)
  end,
}

row("got mixed (torch%.Tensor) and DTensor", function (r)
  local write = r.op and by_class[r.class.id]
  return write and write(r)
end)

-- ---- several meshes ------------------------------------------------------

-- A mesh of one named dimension among `world` ranks.
local function one_of(name, size, world)
  if size == world then return mesh_line({world}, {name}, "mesh_" .. name) end
  return mesh_line({world // size, size}, {"rest", name}, "mesh_" .. name)
    :gsub("\n$", ("[%q]\n"):format(name))
end

row("across different mesh: Found DeviceMesh%(%(([%a_][%w_]*)=(%d+)%).-"
  .. " and DeviceMesh%(%(([%a_][%w_]*)=(%d+)%)", function (r, a, n, b, m)
  n, m = integer(n), integer(m)
  local world = math.max(n or 0, m or 0)
  if a == b or #a + #b > 60 or world < 2 or world > 64 or n < 1 or m < 1
    or world % n ~= 0 or world % m ~= 0 then
    return nil
  end
  local made = one_of(a, n, world) .. one_of(b, m, world)
    .. ("x = distribute_tensor(torch.ones(%d), mesh_%s, [Shard(0)])\n")
      :format(world, a)
    .. ("y = distribute_tensor(torch.ones(%d), mesh_%s, [Shard(0)])\n")
      :format(world, b)
  if r.class.id:find "^clip" or r.class.id:find "^optimizer" then
    return scene(world, "", made .. "coef = torch.tensor(0.5)\n",
      "torch._foreach_mul_([y, x], coef)", {
      fix("a norm for each mesh, then combine",
        "torch._foreach_mul_([x], coef)\ntorch._foreach_mul_([y], coef)")})
  end
  return scene(world, "", made, "x + y", {
    fix("bring both to one mesh", ("x + distribute_tensor(y.full_tensor(), "
      .. "mesh_%s, [Shard(0)])"):format(a))})
end)

return rows

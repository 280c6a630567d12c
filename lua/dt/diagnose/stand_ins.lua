-- SPDX-License-Identifier: MIT
-- dt/diagnose/stand_ins.lua: what stands in for a name that a fragment of a
-- report's code does not define: the import it comes from, the mesh that its
-- names and the report's facts tell, the rank, and, where nothing is said, a
-- model or a tensor of a size that does not matter.

local code = require "dt.diagnose.code"
local programs = require "dt.diagnose.programs"
local stated = require "dt.diagnose.stated"

local M = {}

-- ---- imports -------------------------------------------------------------

local whole <const> = {torch = "import torch", os = "import os", sys = "import sys",
  math = "import math", time = "import time", copy = "import copy",
  functools = "import functools", itertools = "import itertools",
  random = "import random", contextlib = "import contextlib",
  json = "import json", logging = "import logging", typing = "import typing",
  argparse = "import argparse", warnings = "import warnings",
  tempfile = "import tempfile", datetime = "import datetime",
  dist = "import torch.distributed as dist", nn = "import torch.nn as nn",
  F = "import torch.nn.functional as F", mp = "import torch.multiprocessing as mp",
  optim = "import torch.optim as optim", np = "import numpy as np",
  dcp = "import torch.distributed.checkpoint as dcp",
  dist_cp = "import torch.distributed.checkpoint as dist_cp",
  DCP = "import torch.distributed.checkpoint as DCP",
  funcol = "import torch.distributed._functional_collectives as funcol",
  aten = "aten = torch.ops.aten",
  DDP = "from torch.nn.parallel import DistributedDataParallel as DDP",
  FSDP = "from torch.distributed.fsdp import FullyShardedDataParallel as FSDP",
  S = "S = Shard", R = "R = Replicate()", P = "P = Partial()"}

-- What a line above needs of another name.
local needs <const> = {aten = {"torch"}, S = {"Shard"}, R = {"Replicate"},
  P = {"Partial"}}

local modules <const> = {
  ["torch.distributed.device_mesh"] = "init_device_mesh DeviceMesh",
  ["torch.distributed.tensor"] = "DTensor Partial Placement Replicate Shard "
    .. "distribute_module distribute_tensor",
  ["torch.distributed.tensor.placement_types"] = "_StridedShard _Partial",
  ["torch.distributed.tensor._dtensor_spec"] = "DTensorSpec TensorMeta",
  ["torch.distributed.tensor.parallel"] = "ColwiseParallel RowwiseParallel "
    .. "SequenceParallel PrepareModuleInput PrepareModuleOutput "
    .. "PrepareModuleInputOutput ParallelStyle loss_parallel "
    .. "parallelize_module",
  ["torch.distributed.tensor.experimental"] = "context_parallel "
    .. "implicit_replication local_map register_sharding",
  ["torch.distributed.tensor.experimental._attention"] =
    "context_parallel_unshard set_rotate_method",
  ["torch.distributed.tensor.debug"] = "CommDebugMode visualize_sharding",
  ["torch.distributed.fsdp"] = "CPUOffloadPolicy FSDPModule "
    .. "FullyShardedDataParallel MixedPrecisionPolicy OffloadPolicy "
    .. "fully_shard register_fsdp_forward_method ShardingStrategy",
  ["torch.distributed._composable.replicate"] = "replicate",
  ["torch.distributed.checkpoint.state_dict"] = "StateDictOptions "
    .. "get_model_state_dict get_optimizer_state_dict get_state_dict "
    .. "set_model_state_dict set_optimizer_state_dict set_state_dict",
  ["torch.utils.checkpoint"] = "checkpoint",
  ["torch.distributed.algorithms._checkpoint.checkpoint_wrapper"] =
    "apply_activation_checkpointing checkpoint_wrapper",
  ["torch.nn.attention"] = "SDPBackend sdpa_kernel",
  ["torch.nn.parallel"] = "DistributedDataParallel",
  ["torch.nn.utils"] = "clip_grad_norm_",
  ["torch"] = "Tensor",
  ["functools"] = "partial wraps lru_cache", ["copy"] = "deepcopy",
  ["dataclasses"] = "dataclass field", ["contextlib"] = "nullcontext "
    .. "contextmanager",
  ["typing"] = "Any Callable Dict Iterable List Optional Sequence Tuple Union",
  ["torch.testing._internal.distributed.fake_pg"] = "FakeStore",
}

M.modules = modules                 -- for the test, which imports them all

local from_module = {}
for module, names in pairs(modules) do
  for name in names:gmatch "%S+" do from_module[name] = module end
end

-- The module that has all the names which the code reads of `name`, where it
-- calls a module by a name of its own; nil when there is none.
local function module_of(name, tree)
  local module
  local wanted = {}
  code.visit(tree, function (t)
    if t.kind == "attr" and t.value.kind == "name" and t.value.name == name then
      wanted[#wanted + 1] = t.name
    end
  end)
  for _, one in ipairs(wanted) do
    if not from_module[one] or module and from_module[one] ~= module then
      return nil
    end
    module = from_module[one]
  end
  return module
end

-- ---- values --------------------------------------------------------------

local function pattern_of(name, list)
  for _, row in ipairs(list) do
    for p in row[1]:gmatch "%S+" do
      if name:find("^" .. p .. "$") then return row[2] end
    end
  end
end

-- Facts of the launch: they decide nothing.
local launched <const> = {
  {"rank global_rank my_rank RANK", 'int(os.environ["RANK"])'},
  {"local_rank LOCAL_RANK gpu_id device_id", 'int(os.environ["LOCAL_RANK"])'},
  {"world_size WORLD_SIZE num_gpus n_gpus ngpus nprocs num_ranks",
    'int(os.environ["WORLD_SIZE"])'},
  {"device dev DEVICE device_type DEVICE_TYPE", '"cpu"'},
}

local TOKENS <const> = "tokens input_ids ids token_ids"

-- Made up, by what the name says it is.
local made_up <const> = {
  {"dtype", "torch.float32"},
  {"dim hidden hidden_size hidden_dim d_model embed_dim D H", "16"},
  {"batch_size bs bsz B batch", "4"},
  {"seq_len seqlen seq_length T L", "8"},
  {"vocab_size vocab V", "32"},
  {"n_layers num_layers n_heads num_heads", "2"},
  {TOKENS, "torch.zeros(2, 8, dtype=torch.long)"},
  {"idx indices index labels target targets",
    "torch.zeros(2, 8, dtype=torch.long)"},
  {"q k v query key value xq xk xv", "torch.ones(2, 4, 8, 16)"},
  {"param parameter p", "nn.Parameter(torch.ones(8, 8))"},
  {"buf buffer", "torch.empty(8, 8)"},
  {"mask attn_mask attention_mask", "torch.ones(8, 8, dtype=torch.bool)"},
  {"x y z a b c t u w inp input inputs tensor data x%d a%d b%d t%d h "
    .. "hidden_states local_tensor full_tensor global_tensor weight bias grad "
    .. "logits out output src [%a_]+_tensor [%a_]+_input [%a_]+_inputs [%a_]+_x",
    "torch.ones(8, 8)"},
  {"fsdp_kwargs fsdp_config kwargs", "{}"},
  {"mp_policy", "MixedPrecisionPolicy(param_dtype=torch.bfloat16)"},
  {"path ckpt checkpoint_dir ckpt_dir save_dir CHECKPOINT_DIR", '"checkpoint"'},
}

local MODEL <const> = "model net module mod m toy toy_model sharded_model "
  .. "fsdp_model tp_model my_model transformer actor policy"
local LAYER <const> = "layer linear fc mlp block lin"
local OPTIMIZER <const> = "optimizer optim opt"

local function is_one_of(name, words)
  return (" " .. words .. " "):find(" " .. name .. " ", 1, true) ~= nil
end

-- Does the code call something with **name?
local function is_unpacked(name, tree)
  local found = false
  code.visit(tree, function (t)
    for _, a in ipairs(t.kind == "call" and t.args or {}) do
      found = found or a.star == 2 and a.value.kind == "name"
        and a.value.name == name
    end
  end)
  return found
end

-- ---- meshes --------------------------------------------------------------

local AXES <const> = {tp = true, dp = true, cp = true, ep = true, pp = true,
  sp = true, fsdp = true, ddp = true, hsdp = true, replicate = true,
  shard = true, dp_shard = true, dp_replicate = true}

-- Names that the code slices or asks `name` for, in their order.
local function names_asked(name, tree)
  local list, seen = {}, {}
  local function add(t)
    if t.kind == "const" and type(t.value) == "string" and not seen[t.value]
      and t.value:find "^[%a_][%w_]*$" then
      seen[t.value] = true
      list[#list + 1] = t.value
    end
  end
  code.visit(tree, function (t)
    if t.kind == "item" and t.value.kind == "name" and t.value.name == name then
      if t.index.kind == "tuple" then
        for _, i in ipairs(t.index.items) do add(i) end
      else
        add(t.index)
      end
    end
  end)
  return list
end

-- The shape and the names of a mesh that the code calls `name`.
local function mesh_of(name, tree, r)
  local asked = names_asked(name, tree)
  local said = r.meshes[1]
  if #asked == 0 then
    local axis = name:match "^([%a_]+)_mesh$"
    if axis and AXES[axis] then asked = {axis} end
  end
  if said and #said.shape > 0 and #said.shape <= 4
    and (#asked == 0 or #asked <= #said.shape) then
    local names, n = {}, 1
    for i, size in ipairs(said.shape) do
      names[i] = said.names and said.names[i] or asked[i] or "m" .. i - 1
      n = n * size
    end
    if n >= 2 and n <= 8 then return said.shape, names end
  end
  local dims = #asked > 0 and math.min(#asked, 3)
    or name:find "2d" and 2 or name:find "3d" and 3 or 1
  local shape = {}
  for i = 1, dims do
    shape[i] = 2
    asked[i] = asked[i] or dims == 1 and "tp" or ("m%d"):format(i - 1)
  end
  return shape, asked
end

local function mesh_line(name, tree, r)
  local shape, names = mesh_of(name, tree, r)
  local sizes, quoted, n = {}, {}, 1
  for i, size in ipairs(shape) do
    n = n * size
    sizes[i] = ("%d,"):format(size)
    quoted[i] = ("%q,"):format(names[i])
  end
  return ('%s = init_device_mesh("cpu", (%s), mesh_dim_names=(%s))'):format(name,
    table.concat(sizes, " "), table.concat(quoted, " ")), n
end

-- ---- models --------------------------------------------------------------

-- What an attribute of a model is, by its name.
local parts <const> = {
  {"layers blocks h", "nn.ModuleList([nn.Linear(16, 16) for _ in range(2)])"},
  {"embed_tokens tok_embeddings embed embedding wte embeddings",
    "nn.Embedding(32, 16)"},
  {"norm ln ln_f final_norm layer_norm", "nn.LayerNorm(16)"},
  {"lm_head output head out_proj classifier", "nn.Linear(16, 32, bias=False)"},
}

-- Methods by which a model is entered beside forward.
local ENTRIES <const> = "generate encode sample prefill embed_text"
local ENTRY <const> = "    def %s(self, *args, **kwargs):\n        return self."
  .. "forward(torch.zeros(2, 8, dtype=torch.long))"

-- Embeddings come first, what gives logits last.
local function place_of(made)
  if made == ENTRY or made == pattern_of("embed", parts) then return 1 end
  return made == pattern_of("lm_head", parts) and 3 or 2
end

-- The attributes that the code reads of `path`, modules by their names:
-- {{name, how it is made}, ...}; a model inside the model has its own.
local function attributes_of(path, tree)
  local list, seen = {}, {}
  code.visit(tree, function (t)
    if t.kind ~= "attr" or seen[t.name] or code.dotted(t.value) ~= path then
      return
    end
    seen[t.name] = true
    local inner = t.name == "model" and attributes_of(path .. ".model", tree)
    local made = is_one_of(t.name, ENTRIES) and ENTRY
      or pattern_of(t.name, parts) or (t.name:find "^[%a_]*%d$" or is_one_of(t.name, LAYER))
      and "nn.Linear(16, 16)" or inner and #inner > 0 and inner
    if made then list[#list + 1] = {t.name, made, at = #list} end
  end)
  table.sort(list, function (a, b)
    local x, y = place_of(a[2]), place_of(b[2])
    return x < y or x == y and a.at < b.at
  end)
  return list
end

-- The lines of a class of such attributes, those inside it first; with `is_tied`
-- its logits use the weight of its embedding.
local function class_lines(class, list, out, is_tied)
  local init, runs, entries, embedding = {}, {}, {}, nil
  for _, part in ipairs(list) do
    local name, made = part[1], part[2]
    if made == ENTRY then
      entries[#entries + 1] = made:format(name)
      name, made = "embed_tokens", "nn.Embedding(32, 16)"
    elseif type(made) == "table" then
      class_lines("Inner" .. class, made, out, is_tied)
      made = "Inner" .. class .. "()"
    end
    init[#init + 1] = ("        self.%s = %s"):format(name, made)
    if made:find "^nn.Embedding" then embedding = embedding or name end
    if made:find "^nn.Linear%(16, 32" and is_tied and embedding then
      init[#init + 1] = ("        self.%s.weight = self.%s.weight"):format(name,
        embedding)
    end
    runs[#runs + 1] = made:find "ModuleList"
      and ("        for part in self.%s:\n            x = part(x)"):format(name)
      or ("        x = self.%s(x)"):format(name)
  end
  for _, line in ipairs {"", ("class %s(nn.Module):"):format(class),
    "    def __init__(self, *args, **kwargs):", "        super().__init__()",
    table.concat(init, "\n"), "    def forward(self, x):",
    table.concat(runs, "\n"), "        return x", table.concat(entries, "\n"),
    ""} do
    out[#out + 1] = line
  end
  return out
end

-- An expression for a model without attributes that are asked for; it begins
-- with an embedding where it is fed tokens.
local function sequential(of_tokens)
  return ("nn.Sequential(%s, nn.ReLU(), nn.Linear(8, 8))"):format(of_tokens
    and "nn.Embedding(32, 8)" or "nn.Linear(8, 8)")
end

local TOKENS_MADE <const> = "torch.zeros(2, 8, dtype=torch.long)"

-- Its lines, and a batch that it takes.
local function model_lines(name, tree, of_tokens, is_tied)
  local list = attributes_of(name, tree)
  if #list == 0 then
    return {name .. " = " .. sequential(of_tokens)},
      of_tokens and TOKENS_MADE or "torch.ones(2, 8)"
  end
  local lines = class_lines("Net", list, {}, is_tied)
  lines[#lines + 1] = name .. " = Net()"
  return lines, place_of(list[1][2]) == 1 and TOKENS_MADE or "torch.ones(2, 16)"
end

-- Is `name` called in the code, itself or through a method that runs it?
local function is_called(name, tree)
  local found = false
  code.visit(tree, function (t)
    if t.kind == "call" and t.fn then
      local path = code.dotted(t.fn)
      found = found or path == name or path == name .. ".forward"
        or is_one_of(path:match("^" .. name .. "%.(%w+)$") or "-", ENTRIES)
    end
  end)
  return found
end

-- What the code assigns a call of `class` to, or nil.
local function instance_of(class, tree)
  local found
  code.visit(tree, function (n)
    if n.kind == "assign" and n.targets[1].kind == "name" then
      for _, c in ipairs(code.calls(n.value)) do
        if c.path == class or c.path:match "^(.*)%.from_%w+$" == class then
          found = found or n.targets[1].name
        end
      end
    end
  end)
  return found
end

-- A class of modules that is made but not shown.
local function model_class_lines(class, tree, of_tokens)
  local instance = instance_of(class, tree)
  if not instance then return nil end
  local list = attributes_of(instance, tree)
  local lines = #list > 0 and class_lines(class, list, {})
    or {"", ("class %s(nn.Sequential):"):format(class),
      "    def __init__(self, *args, **kwargs):",
      ("        super().__init__(*%s)"):format(sequential(of_tokens)), ""}
  if class:find "^AutoModel" then
    for _, maker in ipairs {"from_pretrained", "from_config"} do
      lines[#lines] = ("    @classmethod\n    def %s(cls, *args, **kwargs):\n"
        .. "        return cls()\n"):format(maker)
      lines[#lines + 1] = ""
    end
  end
  return lines
end

-- ---- all together ----------------------------------------------------------

-- What a test's `self` has, by the attribute that is asked for.
local SELF <const> = {device_type = '    device_type = "cpu"',
  rank = '    rank = int(os.environ["RANK"])',
  world_size = '    world_size = int(os.environ["WORLD_SIZE"])',
  build_device_mesh = '    def build_device_mesh(self):\n        return '
    .. 'init_device_mesh("cpu", (int(os.environ["WORLD_SIZE"]),))',
  assertEqual = "    def assertEqual(self, a, b):\n        assert a == b"}

local function self_lines(tree)
  local lines, seen = {"", "class Case:"}, {}
  code.visit(tree, function (t)
    if t.kind == "attr" and code.dotted(t.value) == "self" and SELF[t.name]
      and not seen[t.name] then
      seen[t.name] = true
      lines[#lines + 1] = SELF[t.name]
    end
  end)
  if #lines == 2 then lines[3] = "    pass" end
  lines[#lines + 1] = "\nself = Case()"
  return lines
end

-- Settings of which nothing is known: each is None.
local SETTINGS <const> = "args config cfg"
local function settings_lines(name)
  return {"", "class Settings:", "    def __getattr__(self, name):",
    "        return None", "", name .. " = Settings()"}
end

local State = {}
State.__index = State

function State:import(name)
  if self.done[name] then return true end
  local line = whole[name]
  if line then
    for _, other in ipairs(needs[name] or {}) do self:import(other) end
    self.done[name] = true
    self.lines[#self.lines + 1] = line
    return true
  end
  local module = from_module[name]
  if not module then return false end
  self.done[name] = true
  if not self.names[module] then
    self.names[module] = {}
    self.lines[#self.lines + 1] = self.names[module]
    self.names[module].module = module
  end
  table.insert(self.names[module], name)
  return true
end

function State:add(line, ...)
  for _, name in ipairs {...} do self:import(name) end
  self.values[#self.values + 1] = line
end

-- The mesh that tensors of `dims` placements are on: the one that the code names,
-- else one made for them.
function State:mesh_for(dims, r)
  if self.mesh then return self.mesh end
  local ranks, shape = programs.ranks_or(r, 2), {}
  for i = 1, dims do shape[i] = dims == 1 and ranks or 2 end
  self.ranks = math.max(self.ranks or 1, math.tointeger(programs.product(shape)))
  self.mesh = "mesh"
  self:add((programs.mesh_line(shape, nil):gsub("\n$", "")), "init_device_mesh")
  return self.mesh
end

-- A tensor of which the report says its placements; nothing else is made up where
-- it says the sizes, too.
function State:stated(name, tree, r)
  local t = stated.tensor(name, r.doc.flat)
  if not t then return false end
  local mesh = self:mesh_for(#t.placements, r)
  local whole = ("torch.ones(%s)"):format(t.shape and table.concat(t.shape, ", ")
    or "8, 8")
  local list = "[" .. table.concat(t.placements, ", ") .. "]"
  local made = list:find "Partial" and "DTensor.from_local" or "distribute_tensor"
  for p in list:gmatch "%u%l+" do self:import(p) end
  self:add(("%s = %s(%s, %s, %s)"):format(name, made, whole, mesh, list), "torch",
    made:match "^%w+%f[%.]" or made)
  self.invented = self.invented or not t.shape
  self.said = true
  return true
end

-- What `name` is given, or nothing where its name says nothing.
function State:value(name, tree, r)
  if self:stated(name, tree, r) then return end
  local expr = pattern_of(name, launched)
  if expr then return self:add(name .. " = " .. expr, "os") end
  if name == "self" then
    for _, line in ipairs(self_lines(tree)) do
      self:add(line, "os", "init_device_mesh")
    end
    return
  end
  if name:find "mesh$" or name:find "^mesh_?%d" or name:find "^mesh_%dd" then
    local line, n = mesh_line(name, tree, r)
    self.ranks = math.max(self.ranks or 1, n)
    return self:add(line, "init_device_mesh")
  end
  if name == "with_comms" or name:find "^skip_" then
    return self:add(("def %s(f=None, *a, **k): return f if callable(f) else "
      .. "(lambda g: g)"):format(name))
  end
  expr = is_unpacked(name, tree) and "{}" or pattern_of(name, made_up)
  if is_one_of(name, MODEL) or name:find "_model$" then
    local is_tied = r.doc.flat:find "[Tt]ied?[_ ]" ~= nil
      or r.doc.flat:find("shared/tied", 1, true) ~= nil
    local lines, batch = model_lines(name, tree, self.of_tokens, is_tied)
    for _, line in ipairs(lines) do self:add(line, "nn") end
    if not self.model and not is_called(name, tree) then
      self:import "torch"
      self.tail = ("%s(%s)"):format(name, batch)
    end
    self.model = self.model or name
  elseif is_one_of(name, LAYER) then
    self:add(name .. " = nn.Linear(8, 8)", "nn")
  elseif is_one_of(name, SETTINGS) then
    for _, line in ipairs(settings_lines(name)) do self:add(line) end
  elseif name:find "^AutoConfig$" or name:find "^AutoTokenizer$" then
    self:add(("\nclass %s:\n    @staticmethod\n    def from_pretrained("
      .. "*args, **kwargs):\n        return None\n"):format(name))
  elseif name:find "^%u%w*%l" and model_class_lines(name, tree) then
    for _, line in ipairs(model_class_lines(name, tree, self.of_tokens)) do
      self:add(line, "nn")
    end
  elseif module_of(name, tree) then
    return self:add(("import %s as %s"):format(module_of(name, tree), name))
  elseif is_one_of(name, OPTIMIZER) and self.model then
    self:add(("%s = torch.optim.AdamW(%s.parameters(), lr=1e-3)"):format(name,
      self.model), "torch")
  elseif expr then
    if expr:find "^MixedPrecisionPolicy" then self:import "MixedPrecisionPolicy" end
    self:add(name .. " = " .. expr, "torch", expr:find "^nn" and "nn" or nil)
  else
    return
  end
  self.invented = true
end

-- The lines that define `missing`; whether any value is made up; how many ranks
-- the meshes among them need; the call of a made-up model that no line calls;
-- whether the report says the placements of one.
function M.lines(missing, tree, r)
  local s = setmetatable({lines = {}, values = {}, done = {},
    names = {}}, State)
  for _, name in ipairs(missing) do
    s.of_tokens = s.of_tokens or is_one_of(name, TOKENS)
  end
  -- the mesh comes before what lies on it
  for _, name in ipairs(missing) do
    if not s.mesh and not from_module[name] and (name:find "mesh$" or name:find "^mesh_?%d") then
      s:value(name, tree, r)
      s.mesh, s.done[name] = name, true
    end
  end
  for _, name in ipairs(missing) do
    if not s:import(name) then s:value(name, tree, r) end
  end
  for i, line in ipairs(s.lines) do
    if type(line) == "table" then
      s.lines[i] = ("from %s import %s"):format(line.module,
        table.concat(line, ", "))
    end
  end
  for _, line in ipairs(s.values) do s.lines[#s.lines + 1] = line end
  return s.lines, s.invented or false, s.ranks, s.tail, s.said or false
end

return M

-- TEST: ranks=4 needs=data tags=quick,one_thread
-- SPDX-License-Identifier: MIT
-- Every public name has a page whose example runs; operators have theirs from
-- their definitions.

local T = require "tests.lua.lib.check"
local pages = require "repl.pages"
local python_operators = require "repl.python_operators"

for _, name in ipairs(pages.names()) do
  local text = pages.page(name)
  T.has(text, pages.example(name), name .. ": the example is on the page")
  local python = pages.example(name):match("^:python (.*)$")
  local run = python and function () dt.debug.command("python", python) end
    or load("return " .. pages.example(name))
  T.ok(run, name .. ": the example is an expression")
  local ok, e = pcall(run)
  T.ok(ok, name .. ": the example runs" .. (ok and "" or ": " .. tostring(e)))
end

-- Each page as Python has it, or none: names that Lua alone has.  All examples
-- are one program: an error names its line.
local lua_only, program = {}, {}
for _, name in ipairs(pages.names()) do
  local text = pages.page(name, true)
  if text:find("^In Lua:") then
    lua_only[#lua_only + 1] = name
  else
    program[#program + 1] = text:match("Example: (.-)\n$") .. "  # " .. name
  end
end
local ran, e = pcall(dt.debug.command, "python", table.concat(program, "\n"))
T.ok(ran, "examples in Python run: " .. tostring(e))
T.ok(#lua_only < 40, "most names are Python's, too: " .. table.concat(lua_only, " "))
local function in_python(name)
  return (pages.page(name, true) or pages.python_operator(name)):gsub("\n.*", "")
end
for name, call in next, {["aten.mm.default"] = "torch.mm(input, mat2, *, out=None)",
  ["aten.view.default"] = "x.view(size)", ["aten.dim.default"] = "x.dim()",
  ["aten.zero_.default"] = "torch.zero_(input)",
  ["aten.clamp_max_.default"] = "x.clamp_max_(max)",
  ["aten.gelu_.default"] = 'torch.ops.aten.gelu_(self, *, approximate="none")',
  ["aten.alpha_dropout_.default"] = "torch.alpha_dropout_(input, p, train)",
  ["aten.linalg_inv.default"] = "torch.linalg.inv(A, *, out=None)",
  ["aten.gelu_backward.default"] =
    'torch.ops.aten.gelu_backward(grad_output, self, *, approximate="none")',
  ["optim.SGD"] = "torch.optim.SGD(params, lr=0.001, momentum=0, dampening=0, "
    .. "weight_decay=0, nesterov=False, *, maximize=False, foreach=None, "
    .. "differentiable=False, fused=None)",
  init_device_mesh = "init_device_mesh(device_type, mesh_shape, *, "
    .. "mesh_dim_names=None, backend_override=None)",
  no_grad = "with torch.no_grad(): …", is_dtensor = "In Lua:"} do
  T.eq(in_python(name), call, name .. " in Python")
end
T.has(pages.page("nn.Linear", true), "Example: nn.Linear(4, 2)(torch.ones(3, 4))",
  "an example in Python")
T.has(pages.page("distribute_tensor", true),
  "from torch.distributed.tensor import distribute_tensor", "where it is imported from")

-- The page on an overload has its example in the language asked for; each rank
-- looks at some.
local full_names, own = {}, {}
for _, name in ipairs(dt._op_names()) do
  local ns, base = name:match("^([^.]+)%.(.*)$")
  for _, overload in ipairs(python_operators.overloads(dt.ops[ns][base])) do
    full_names[#full_names + 1] = name .. "." .. overload
  end
end
local function python_example(full)
  local text = pages.operator(full, true)
  return text:match("Example: (torch[^\n]*)") or text:match("Example: (getattr[^\n]*)")
end
for i = 1 + dt.rank(), #full_names, 29 do
  local example = python_example(full_names[i])
  T.ok(example or not pages.operator(full_names[i]):find("Example: ", 1, true),
    full_names[i] .. ": an example in Python")
  own[#own + 1] = example
end
for _, full in ipairs {"aten.repeat.default", "aten.random_.from",
  "aten.nll_loss_nd.default"} do
  own[#own + 1] = python_example(full)
end
local called, why = pcall(dt.debug.command, "python",
  "import torch\n" .. table.concat(own, "\n"))
T.ok(called, "examples of overloads in Python run: " .. tostring(why))

-- What is asked for is answered as :help answers it.
local function help(name)
  local ok, answer = pcall(dt.debug.command, "help", name)
  return ok and answer.text or nil
end

-- Each rank asks for its share.
local missing, asked = {}, 0
local function wanted(name, pattern, other)
  asked = asked + 1
  if asked % dt.world_size() ~= dt.rank() then return end
  local text = help(name)
  if not text or not text:find(pattern or "Example: ")
     and not text:find(other or pattern or "Example: ") then
    missing[#missing + 1] = name
  end
end

-- The public names of a table.  `own` are not PyTorch's: helpers of the
-- library's other files that happen to be reached by them.
local function all_of(list, before, own)
  for name in pairs(list) do
    if type(name) == "string" and not name:match("^_")
        and not (own and own[name]) then
      wanted(before .. name)
    end
  end
end

local function set(text)
  local out = {}
  for word in text:gmatch("%S+") do out[word] = true end
  return out
end

for _, name in ipairs(dt._lazy_names()) do wanted("dt." .. name) end
all_of(nn, "nn.", set "set_tuple")
all_of(dt.F, "F.", set "additive_mask")
all_of(nn.init, "nn.init.")
all_of(nn.utils, "nn.utils.")
all_of(nn.parallel, "nn.parallel.")
all_of(nn.Module, "nn.Module.")
all_of(dt.optim, "optim.", set "base")
all_of(dt.optim.lr_scheduler, "lr_scheduler.")
all_of(dt.tensor_parallel, "tensor.parallel.", set "as_style derived")
all_of(dt.fsdp, "fsdp.")
all_of(dt.FSDPModule, "module:")
all_of(dt.distributed, "distributed.")
all_of(dt.spmd, "spmd.")
all_of(dt.float8, "float8.", set "cast_grad gather_as_float8")
all_of(dt.Tensor, "x:")
all_of(dt.DTensor, "DTensor.")
all_of(DeviceMesh, "DeviceMesh.")
for _, name in ipairs(dt._attr_names()) do
  if not name:match("^_") then wanted("x." .. name) end
end
for name in ("device_type mesh_dim_names ndim shape"):gmatch("%S+") do
  wanted("mesh." .. name)
end
for name in ("size ranks get_coordinate get_local_rank get_rank get_group _flatten "
  .. "_unflatten _get_root_mesh"):gmatch("%S+") do
  wanted("mesh:" .. name)
end
for name in next, dt do
  if type(name) == "string" and not name:match("^_") and name ~= "debug" then
    wanted("dt." .. name)
  end
end

-- Operators, commands, errors: a page from their definitions.
for _, name in ipairs(dt._op_names()) do wanted(name, "::") end
for name in pairs(dt.debug._commands) do wanted(":" .. name, "^:") end

-- What Python programs import: all that these modules have but modules, and
-- but what these imported themselves.
local inner = set [[contextmanager namedtuple Counter DOCS bisect_right chain
  EPOCH_DEPRECATION_WARNING copy deepcopy call_sample numbers ELLIPSIS Pattern REDUCTIONS
  sizes_of split_pattern TYPE_CHECKING zero_redundancy_optimizer re math string
  warnings OrderedDict Enum Future dataclass]]
for name in ([[torch torch.nn torch.nn.utils torch.nn.utils.parametrize
    torch.nn.utils.rnn torch.optim torch.optim.lr_scheduler torch.optim.swa_utils
    torch.distributed torch.distributed.tensor torch.distributed.tensor.parallel
    torch.distributed.tensor.experimental torch.distributed.tensor.debug
    torch.distributed.fsdp torch.distributed.checkpoint
    torch.distributed.checkpoint.state_dict torch.distributed.device_mesh
    torch.distributed.optim torch.distributed.nn.functional torch.utils.data
    torch.utils.checkpoint torch.autograd torch.autograd.functional
    torch.distributions torch.func torch.linalg torch.fft torch.special torch.cuda
    torch.amp torch.random torch.testing torch.compiler torch.profiler
    torch.library torch.accelerator torch.version einops spmd_types]])
    :gmatch("%S+") do
  local list = dt.debug.command("python", ("(lambda m: [n for n in dir(m) if "
    .. "n[0] != '_' and type(getattr(m, n)).__name__ != 'module'])(__import__("
    .. "'%s', fromlist=['x']))"):format(name)).text
  for n in list:gmatch("'([%w_]+)'") do
    if not inner[n] then wanted(name .. "." .. n, nil, "::") end
  end
end

-- Names as PyTorch's users spell them.
for name in ([[torch.nn.Linear torch.nn.functional.gelu torch.Tensor.view
    torch.distributed.all_reduce torch.optim.AdamW torch.einsum torch.float32
    torch.linalg.inv torch.randn torch.distributed.tensor.distribute_tensor
    torch.distributed.tensor.parallel.ColwiseParallel torch.nn.init.normal_
    torch.distributed.fsdp.fully_shard torch.optim.lr_scheduler.StepLR
    nn.functional.silu Tensor.sum x:sum x:item DTensor.from_local device_mesh
    DTensor.redistribute redistribute full_tensor to_local F.linear gelu
    nn.GELU optim.Adam dt.sum PrepareModuleInput]])
    :gmatch("%S+") do
  wanted(name)
end
table.sort(missing)
T.eq(table.concat(missing, " "), "", "names without a page")
T.eq(help("nosuch"), nil, "no page on what is not there")

-- What a page tries leaves no trace: number, generator, record.
dt.manual_seed(3)
local first = dt.randn(4)
local gap = dt.ones(1).origin.seq - first.origin.seq
dt.manual_seed(3)
T.has(help("aten.cholesky"), "Example: dt.ops.aten.cholesky.default(dt.eye(4))",
  "an example that ran")
local second = dt.randn(4)
T.ok(dt.equal(second, first), "no number was drawn")
T.eq(second.origin.seq, first.origin.seq + 2 * gap,
  "no operator was counted")
T.has(help("mm"), "S(1), S(0) -> P(sum)", "placements in and out")
T.finish()

-- TEST: ranks=4 world={threads} needs=data
-- SPDX-License-Identifier: MIT
-- Python programs are refused where PyTorch 2.13 refuses them, with its class
-- and its text: what each line says was captured there.

local T = require "tests.lua.lib.check"
local dt = require "dt"
local python = require "torch"

local head = [[
m = init_device_mesh("cpu", (2, 2), mesh_dim_names=("a", "b"))
R = Replicate()
def D(*pl): return distribute_tensor(torch.ones(4, 4), m, list(pl))
]]

local function refusal(text)
  local env = python.environment()
  python.run(head, env)
  local ok, e = pcall(python.run, text, env)
  if ok then return "no error" end
  return type(e) == "table" and e.class .. ": " .. e.message or tostring(e)
end

-- {program, class and text}
local rows = {
  {"m[0]", "TypeError: 'int' object is not iterable"},
  {"m.size(4)", "IndexError: tuple index out of range"},
  {"m.get_group(1.5)",
    "AssertionError: mesh_dim must be an int, got <class 'float'>"},
  {"assert m.get_group('a').rank() == torch.distributed.get_rank() // 2",
    "no error"},
  {"assert m.get_group('b').rank() == torch.distributed.get_rank() % 2",
    "no error"},
  {"assert m.get_group('b').size() == 2", "no error"},
  -- recomputing ends with the last value that backward needs
  {[[
calls = []
def f(x):
    calls.append("a")
    y = x.sin()
    calls.append("b")
    return y.add(1)
x = torch.ones(3, requires_grad=True)
torch.utils.checkpoint.checkpoint(f, x, use_reentrant=False).sum().backward()
assert calls == ["a", "b", "a"], calls
assert torch.equal(x.grad, x.detach().cos())
]], "no error"},
  {"m.zz", "AttributeError: 'DeviceMesh' object has no attribute 'zz'"},
  {"DeviceMesh('cpu')", "TypeError: The mesh argument is required except for "
    .. "PRIVATE USAGE ONLY!"},
  {"DeviceMesh.from_group([], 'cpu')",
    "ValueError: Expects at least one ProcessGroup to be passed"},
  {"distribute_tensor(3.0, m, [R, R])",
    "AttributeError: 'float' object has no attribute 'is_leaf'"},
  {"distribute_tensor(torch.ones(4), m, ['R', R])", "RuntimeError: Trying to "
    .. "distribute tensor with unsupported placements R on device mesh "
    .. "dimension 0!"},
  {"distribute_tensor(torch.ones(4))",
    "RuntimeError: No device mesh is currently active!"},
  {"D(R, R).redistribute(m)",
    "RuntimeError: placements is needed for redistribute!"},
  {"D(R, R).redistribute(m, ['R', R])",
    "AttributeError: 'str' object has no attribute 'is_partial'"},
  {"D(R, R).to_local(R)", "TypeError: DTensor.to_local() takes 1 positional "
    .. "argument but 2 were given"},
  {"DTensor.from_local(torch.ones(4), m, [R, R], stride=(1,))",
    "RuntimeError: ('Found shape:None, stride:(1,).', 'Please pass both shape "
    .. "and stride at the same time.')"},
  {"Shard(foo=2)", "TypeError: __init__(): incompatible constructor arguments."
    .. " The following argument types are supported:\n    1. "
    .. "torch._C._distributed.Shard(dim: typing.SupportsInt | "
    .. "typing.SupportsIndex)\n\nInvoked with: kwargs: foo=2"},
  {"bool(D(R, R))", "RuntimeError: Boolean value of Tensor with more than one "
    .. "value is ambiguous"},
  {"D(R, R).numpy()",
    "RuntimeError: .numpy() is not supported for tensor subclasses."},
  {"dist.all_reduce(D(R, R))", "NotImplementedError: Operator "
    .. "c10d.allreduce_.default does not have a sharding strategy registered."},
  {"x = nn.Parameter(D(R, R)); x.grad = torch.ones(2)", "RuntimeError: "
    .. "attempting to assign a gradient of size '[2]' to a tensor of size "
    .. "'[4, 4]'. Please ensure that the gradient and the tensor are the same "
    .. "size"},
  {"import copy; copy.deepcopy(torch.ones(2, requires_grad=True) * 2)",
    "RuntimeError: Only Tensors created explicitly by the user (graph leaves) "
    .. "support the deepcopy protocol at the moment.  If you were attempting "
    .. "to deepcopy a module, this may be because of a "
    .. "torch.nn.utils.weight_norm usage, see "
    .. "https://github.com/pytorch/pytorch/pull/103001"},
  {"fully_shard(nn.Linear(4, 4), mesh=m['a'], shard_placement_fn=lambda p: R)",
    "ValueError: Invalid shard_placement_fn result: R"},
}

for _, row in ipairs(rows) do T.eq(refusal(row[1]), row[2], row[1]) end

-- What was allowed before stays allowed.
T.eq(refusal "with m: distribute_tensor(torch.ones(4))", "no error",
  "the mesh of a with")
T.eq(refusal "assert [p.is_replicate() for p in D(R, R).placements][1]",
  "no error", "placements are a tuple")
T.eq(refusal "l = nn.Linear(1, 1); assert l.cuda() is l", "no error",
  "a module goes where its tensors' cuda() lets them")
T.eq(dt.rank() < 4, true, "all ranks came here")
T.finish()

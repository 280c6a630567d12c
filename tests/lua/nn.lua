-- TEST: ranks={1,2} needs=data tags=quick
-- SPDX-License-Identifier: MIT
-- Modules: registration, walking, hooks, state, printing; optimizers against
-- the mathematics of one step.

local C = require "tests.lua.lib.check"
local check, raises = C.ok, C.throws
local close = dt.testing.assert_close

local Net = nn.Module:extend("Net")
function Net:__init__()
  self.a = nn.Linear(4, 3)
  self.layers = nn.ModuleList {nn.Linear(3, 3), nn.ReLU()}
  self:register_buffer("count", dt.zeros(2))
  self.scale = 2
end
function Net:forward(x)
  x = self.a(x)
  for _, layer in pairs(self.layers) do x = layer(x) end
  return x * self.scale
end

local net = Net()
local names = {}
for name in net:named_parameters() do names[#names + 1] = name end
check(table.concat(names, " ")
  == "a.weight a.bias layers.0.weight layers.0.bias", "order of parameters")
names = {}
for name in net:named_modules() do names[#names + 1] = name end
check(table.concat(names, " ") == " a layers layers.0 layers.1",
  "order of modules")
check(#net.layers == 2 and net.layers[0] == net.layers[-2], "counted from 0")
check(tostring(net) == [[
Net(
  (a): Linear(in_features=4, out_features=3, bias=True)
  (layers): ModuleList(
    (0): Linear(in_features=3, out_features=3, bias=True)
    (1): ReLU()
  )
)]], "printed as PyTorch prints it")
check(net.a.weight.is_parameter and net.a.weight.requires_grad, "parameter")
check(net.a.nothing == nil, "a field that is not there")

-- values by hand
local lin = nn.Linear(2, 2)
lin:load_state_dict {weight = dt.tensor {{1.0, 2.0}, {3.0, 4.0}},
  bias = dt.tensor {10.0, 20.0}}
close(lin(dt.tensor {{1.0, 1.0}}), dt.tensor {{13.0, 27.0}})
local bound = 1 / math.sqrt(4)
for _, p in ipairs {net.a.weight, net.a.bias} do
  check(p:detach():abs():max():tolist() <= bound, "default initialisation")
end

-- hooks: order, prepend, replaced arguments and outputs
local log = {}
local m = nn.Identity()
m:register_forward_pre_hook(function (_, args)
  log[#log + 1] = "pre"
  return args[1] + 1
end)
m:register_forward_pre_hook(function () log[#log + 1] = "first" end,
  {prepend = true})
local handle = m:register_forward_hook(function (_, args, out)
  log[#log + 1] = "post"
  check(args.n == 1, "hook sees the arguments")
  return out * 10
end)
close(m(dt.ones(1)), dt.tensor {20.0})
check(table.concat(log, " ") == "first pre post", "hooks in order")
handle.remove()
close(m(dt.ones(1)), dt.tensor {2.0})

-- state
local state = net:state_dict()
check(state.count ~= nil and state["layers.0.bias"] ~= nil, "state_dict")
state["a.bias"] = nil
state.more = dt.ones(1)
raises("RuntimeError", "Missing key(s) in state_dict: \"a.bias\"",
  net.load_state_dict, net, state)
raises("RuntimeError", "Unexpected key(s) in state_dict: \"more\"",
  net.load_state_dict, net, state)
local got = net:load_state_dict(state, {strict = false})
check(got.missing_keys[1] == "a.bias" and got.unexpected_keys[1] == "more",
  "not strict")
state = net:state_dict()
state["a.bias"] = dt.ones(7)
raises("RuntimeError", "size mismatch for a.bias", net.load_state_dict, net,
  state)
raises("TypeError", "cannot assign", function () net.a.weight = dt.ones(2) end)

-- modes and dtypes
net:eval()
check(net.training == false and net.a.training == false, "eval")
close(nn.Dropout(0.5):eval()(dt.ones(4)), dt.ones(4))
net:train():to(dt.float64)
check(net.a.weight.dtype == dt.float64, "to a dtype")
net:float():zero_grad()

-- a step of each optimizer, by formula; w = 1, gradient = 2
local function one_step(make, want)
  local p = nn.Parameter(dt.ones(2))
  local o = make {p}
  p.grad = dt.full({2}, 2.0)
  o:step()
  close(p:detach(), dt.full({2}, want))
  o:zero_grad()
  check(p.grad == nil, "zero_grad")
end
local optim = dt.optim
for _, foreach in ipairs {false, true} do
  one_step(function (ps)
    return optim.SGD(ps, {lr = 0.1, foreach = foreach})
  end, 1 - 0.1 * 2)
  one_step(function (ps)
    return optim.SGD(ps, {lr = 0.1, momentum = 0.9, weight_decay = 0.5,
      foreach = foreach})
  end, 1 - 0.1 * (2 + 0.5))
  -- first step: both corrected moments are g and g^2: the step is lr
  one_step(function (ps)
    return optim.Adam(ps, {lr = 0.1, foreach = foreach})
  end, 1 - 0.1)
  one_step(function (ps)
    return optim.AdamW(ps, {lr = 0.1, weight_decay = 0.5, foreach = foreach})
  end, 1 * (1 - 0.1 * 0.5) - 0.1)
end
raises("ValueError", "Invalid learning rate: -1", optim.SGD,
  {nn.Parameter(dt.ones(1))}, {lr = -1})
raises("ValueError", "empty parameter list", optim.SGD, {})

-- clipping: norm of (3, 4) is 5
local p = nn.Parameter(dt.zeros(2))
p.grad = dt.tensor {3.0, 4.0}
close(nn.utils.clip_grad_norm_({p}, 1.0), dt.tensor(5.0))
close(p.grad, dt.tensor {0.6, 0.8})

-- memory nobody has written: where, and of which modules
local here = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2))
raises("TypeError", "Module.to_empty() missing 1 required keyword-only "
  .. "argument: 'device'", here.to_empty, here)
raises("TypeError", "Module.to_empty() takes 1 positional argument but 2 were "
  .. "given", here.to_empty, here, "cpu")
local far = nn.Linear(2, 2, {device = "meta"})
local deep = nn.Sequential(far)
deep:to_empty {device = "cpu", recurse = false}
check(far.weight.device == "meta", "a child's is left")
far:to_empty {device = dt.None}
check(far.weight.device == "meta", "None: where it is")
far:to_empty {device = "cpu", recurse = false}
check(far.weight.device == "cpu", "its own is made")

-- batch norm: the input's dims, and the mean of all batches
raises("ValueError", "expected 4D input (got 3D input)", nn.BatchNorm2d(3),
  dt.ones {2, 3, 4})
raises("ValueError", "expected 2D or 3D input (got 4D input)",
  nn.BatchNorm1d(3), dt.ones {2, 3, 4, 4})
raises("ValueError", "Expected more than 1 value per channel when training, "
  .. "got input size torch.Size([1, 3])", nn.BatchNorm1d(3), dt.ones {1, 3})
local mean_of_all = nn.BatchNorm1d(2, {momentum = dt.None})
mean_of_all(dt.tensor {{1.0, 2}, {3, 4}})
mean_of_all(dt.ones {2, 2})
close(mean_of_all.running_mean, dt.tensor {1.5, 2.0})

-- addmm names what differs
raises("RuntimeError", "mat1 and mat2 must have the same dtype, but got Float "
  .. "and BFloat16", function ()
    nn.Linear(2, 2, {dtype = dt.bfloat16})(dt.ones {3, 2})
  end)

raises("TypeError", "unexpected keyword argument 'wrong'", nn.Linear, 2, 2,
  {wrong = 1})

C.finish()

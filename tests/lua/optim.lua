-- TEST: ranks=1 world=threads tags=quick
-- SPDX-License-Identifier: MIT
-- What optimizers accept and refuse, with PyTorch 2.13's texts; steps whose
-- learning rate is a tensor; L-BFGS with and without its line search.

local nn, optim = dt.nn, dt.optim

local function params() return {nn.Parameter(dt.ones({2, 2}))} end

local function raises(class, text, f, ...)
  local ok, e = pcall(f, ...)
  assert(not ok, text .. ": nothing was raised")
  assert(type(e) == "table", tostring(e))
  assert(e.class == class and e.message == text,
    ("%s: %s\nwanted %s: %s"):format(e.class, e.message, class, text))
end

-- ---- a tensor as the rate ----

local names = {"SGD", "Adam", "AdamW", "Adagrad", "Adadelta", "Adamax",
  "NAdam", "RAdam", "RMSprop", "Rprop", "ASGD", "Muon", "Adafactor", "LBFGS"}
for _, name in ipairs(names) do
  local C = optim[name]
  local text = (name == "Muon" or name == "Adafactor")
    and "Learning rate should be >= 0 but is: " or "Invalid learning rate: "
  raises("ValueError", text .. "-0.1", C, params(), {lr = -0.1})
  raises("ValueError", text .. "-0.10000000149011612", C, params(),
    {lr = dt.tensor(-0.1)})
  raises("ValueError", text .. "tensor([-0.1000])", C, params(),
    {lr = dt.tensor {-0.1}})
  raises("ValueError", "Tensor lr must be 1-element", C, params(),
    {lr = dt.tensor {0.1, 0.2}})
end

local function stepped(name, kw, shape)
  local ps = shape and {nn.Parameter(dt.ones(shape))} or params()
  local o = optim[name](ps, kw)
  ps[1].grad = dt.ones(shape or {2, 2})
  o:step()
  return ps[1]:tolist()[1][1]
end

-- name, arguments, what one step of gradient 1 makes of 1
local after = {
  {"SGD", {foreach = true}, 0.8999999761581421},
  {"SGD", {fused = true}, 0.8999999761581421},
  {"Adam", {}, 0.9000000357627869}, {"AdamW", {}, 0.8990000486373901},
  {"Adagrad", {foreach = true}, 0.8999999761581421},
  {"Adadelta", {foreach = true}, 0.9996837973594666},
  {"NAdam", {foreach = true}, 0.8943548798561096},
  {"NAdam", {}, 0.8943548202514648},
  {"RMSprop", {foreach = true}, 5.960464477539063e-08},
  {"ASGD", {}, 0.8999899625778198}, {"Muon", {}, 0.9556249976158142},
  {"Adafactor", {foreach = true}, 0.8999999761581421},
}
for _, c in ipairs(after) do
  local name, kw, want = table.unpack(c)
  kw.lr = dt.tensor(0.1)
  local got = stepped(name, kw)
  assert(math.abs(got - want) <= 1.2e-7, ("%s: %.17g"):format(name, got))
end

-- how Muon fits the rate to the shape, by PyTorch 2.15
local fits = {{nil, 0.9557932615280151, 0.9620703458786011},
  {"original", 0.9557932615280151, 0.9620703458786011},
  {"match_rms_adamw", 0.9803248643875122, 0.9803248643875122},
  {"spectral_unclamped", 0.9557932615280151, 0.9671955108642578}}
for _, c in ipairs(fits) do
  for i, shape in ipairs {{3, 2}, {2, 3}} do
    local got = stepped("Muon", {lr = 0.1, adjust_lr_fn = c[1]}, shape)
    assert(math.abs(got - c[i + 1]) <= 1.2e-7,
      ("%s: %.17g"):format(tostring(c[1]), got))
  end
end

-- ---- defaults, as PyTorch's constructors have them ----

local betas = {0.9, 0.999}
local defaults = {
  SGD = {lr = 0.001, momentum = 0, dampening = 0, weight_decay = 0,
    nesterov = false, maximize = false},
  Adam = {lr = 0.001, betas = betas, eps = 1e-8, weight_decay = 0,
    amsgrad = false, maximize = false},
  AdamW = {lr = 0.001, betas = betas, eps = 1e-8, weight_decay = 0.01,
    amsgrad = false, maximize = false},
  Adagrad = {lr = 0.01, lr_decay = 0, eps = 1e-10, weight_decay = 0,
    initial_accumulator_value = 0, maximize = false},
  Adadelta = {lr = 1.0, rho = 0.9, eps = 1e-6, weight_decay = 0,
    maximize = false},
  Adamax = {lr = 0.002, betas = betas, eps = 1e-8, weight_decay = 0,
    maximize = false},
  NAdam = {lr = 0.002, betas = betas, eps = 1e-8, weight_decay = 0,
    momentum_decay = 0.004, decoupled_weight_decay = false, maximize = false},
  RAdam = {lr = 0.001, betas = betas, eps = 1e-8, weight_decay = 0,
    decoupled_weight_decay = false, maximize = false},
  RMSprop = {lr = 0.01, momentum = 0, alpha = 0.99, eps = 1e-8,
    centered = false, weight_decay = 0, maximize = false},
  Rprop = {lr = 0.01, etas = {0.5, 1.2}, step_sizes = {1e-6, 50},
    maximize = false},
  ASGD = {lr = 0.01, lambd = 1e-4, alpha = 0.75, t0 = 1e6, weight_decay = 0,
    maximize = false},
  Muon = {lr = 0.001, weight_decay = 0.1, momentum = 0.95, nesterov = true,
    ns_coefficients = {3.4445, -4.775, 2.0315}, eps = 1e-7, ns_steps = 5},
  Adafactor = {lr = 0.01, beta2_decay = -0.8, eps = {dt.None, 0.001}, d = 1.0,
    weight_decay = 0.0, maximize = false},
  LBFGS = {lr = 1, max_iter = 20, max_eval = 25, tolerance_grad = 1e-7,
    tolerance_change = 1e-9, history_size = 100, maximize = false},
}
for _, name in ipairs(names) do
  local group = optim[name](params(), {}).param_groups[1]
  for key, want in pairs(defaults[name]) do
    local got, what = group[key], name .. "." .. key
    if type(want) ~= "table" then got, want = {got}, {want} end
    assert(type(got) == "table" and #got == #want, what)
    for i, w in ipairs(want) do
      assert(got[i] == w, ("%s is %s"):format(what, got[i]))
    end
  end
end

-- ---- arguments that do not go together ----

for _, name in ipairs {"Adam", "AdamW"} do
  raises("ValueError", "lr as a Tensor is not supported for capturable=False "
    .. "and foreach=True", optim[name], params(),
    {lr = dt.tensor(0.1), foreach = true})
  assert(stepped(name, {lr = 0.1, fused = true, capturable = true}) < 0.91,
    "fused steps may be captured anywhere")
  raises("RuntimeError", "`fused` does not support `differentiable`",
    optim[name], params(), {fused = true, differentiable = true})
end
raises("RuntimeError", "`fused` and `foreach` cannot be `True` together.",
  optim.SGD, params(), {fused = true, foreach = true})
raises("ValueError", "optimizer got an empty parameter list", optim.SGD, {},
  {fused = true, foreach = true})
local devices = "must be on supported devices: ['cuda', 'xpu', 'hpu', "
  .. "'privateuseone'%s]."
raises("AssertionError", "If capturable=True, params, mu_products, and "
  .. "state_steps " .. devices:format "", stepped, "NAdam",
  {capturable = true, foreach = true})
raises("AssertionError", "If capturable=True, params, mu_products and "
  .. "state_steps " .. devices:format ", 'xla'", stepped, "NAdam",
  {capturable = true})

-- ---- other arguments ----

local wrong = {
  {"Rprop", {etas = {1.5, 1.2}}, "Invalid eta values: 1.5, 1.2"},
  {"Rprop", {etas = {0.5, 0.9}}, "Invalid eta values: 0.5, 0.9"},
  {"Adam", {betas = {1.0, 0.9}, weight_decay = -1},
    "Invalid beta parameter at index 0: 1.0"},
  {"Adam", {betas = {0, 0.9}},
    "betas must be either both floats or both Tensors"},
  {"Adam", {betas = {dt.tensor(0.9), dt.tensor(0.9)}, foreach = true},
    "betas[0] as a Tensor is not supported for capturable=False and "
    .. "foreach=True"},
  {"Adafactor", {eps = {dt.None, -1.0}}, "epsilon2 should be >= 0 but is: -1.0"},
  {"Adafactor", {eps = {-1.0, 1.0}}, "epsilon1 should be >= 0 but is: -1.0"},
  {"Adafactor", {d = 0.5}, "Clipping threshold d should be >= 1 but is: 0.5"},
  {"Adafactor", {beta2_decay = 0.5}, "beta2_decay should be <= 0 but is: 0.5"},
  {"Adadelta", {rho = 1.5}, "Invalid rho value: 1.5"},
  {"Muon", {weight_decay = -1.0}, "weight decay should be >= 0 but is: -1.0"},
  {"SGD", {weight_decay = -1}, "Invalid weight_decay value: -1"},
}
for _, c in ipairs(wrong) do
  raises("ValueError", c[3], optim[c[1]], params(), c[2])
end
raises("ValueError", "Coefficients must be a tuple of exactly 3 values",
  stepped, "Muon", {ns_coefficients = {1, 2}})
raises("TypeError", "object of type 'float' has no len()", stepped, "Muon",
  {ns_coefficients = 3.0})

-- ---- L-BFGS: the valley of Rosenbrock, started at (-1, 1.5) ----

local function valley(kw, steps)
  local p = nn.Parameter(dt.tensor({-1.0, 1.5}, {dtype = dt.float64}))
  local o = optim.LBFGS({p}, kw)
  local function closure()
    o:zero_grad()
    local x, y = p[{0}], p[{1}]
    local loss = (1 - x) * (1 - x) + 100 * (y - x * x) * (y - x * x)
    if kw.maximize then loss = -loss end
    loss:backward()
    return loss
  end
  local loss
  for _ = 1, steps do loss = o:step(closure):item() end
  return loss, p:tolist(), o.state[p._id]
end
-- loss before the last step, place, evaluations, iterations: PyTorch 2.13's, and
-- 2.15's of the valley turned over, whose top is looked for
local valleys = {
  {{line_search_fn = "strong_wolfe", max_iter = 6}, 3, 2.566782827043285,
    {0.06528139306020549, -0.03805073933283935}, 22, 15},
  {{line_search_fn = "strong_wolfe", max_iter = 6, history_size = 2}, 8,
    1.0372091196778697e-05, {0.999999105709549, 0.9999979490976165}, 55, 37},
  {{max_iter = 5, lr = 0.01}, 2, 25.287723334139123,
    {-1.0306788103193358, 1.4946907548284611}, 10, 10},
  {{line_search_fn = "strong_wolfe", max_iter = 6, maximize = true}, 3,
    -2.566782827043285, {0.06528139306020549, -0.03805073933283935}, 22, 15},
  {{max_iter = 5, lr = 0.01, maximize = true}, 2, -25.287723334139123,
    {-1.0306788103193358, 1.4946907548284611}, 10, 10},
}
local function close(a, b) return math.abs(a - b) <= 1e-6 * math.abs(b) end
for i, c in ipairs(valleys) do
  local loss, at, state = valley(c[1], c[2])
  assert(close(loss, c[3]) and close(at[1], c[4][1]) and close(at[2], c[4][2]),
    ("valley %d: %.17g at %.17g, %.17g"):format(i, loss, at[1], at[2]))
  assert(state.func_evals == c[5] and state.n_iter == c[6],
    ("valley %d: %d evaluations"):format(i, state.func_evals))
end

raises("ValueError",
  "LBFGS doesn't support per-parameter options (parameter groups)",
  optim.LBFGS, {{params = params()}, {params = params()}})
raises("TypeError",
  "LBFGS.step() missing 1 required positional argument: 'closure'",
  function () optim.LBFGS(params()):step() end)
raises("RuntimeError", "only 'strong_wolfe' is supported", valley,
  {line_search_fn = "armijo"}, 1)
raises("TypeError", "'int' object is not subscriptable", function ()
  optim.Adam(params(), {betas = 3})
end)
raises("TypeError", "'int' object is not iterable", function ()
  optim.SGD(3)
end)

-- A fused step on tensors whose memory has gaps or elements twice.
for _, c in ipairs {
  {dt.ones(2, 3), dt.ones(1, 1):expand(2, 3)},
  {dt.ones(4, 3):narrow(1, 0, 2), dt.ones(4, 2)},
} do
  local p, g = c[1], c[2]
  local q, zeros = p:clone(), function () return dt.zeros(p:size()) end
  for x, y in pairs {[p] = g, [q] = g:clone()} do
    dt._fused_adamw_({x}, {y}, {zeros()}, {zeros()}, {}, {dt.tensor(1.0)},
      {lr = 0.1, beta1 = 0.9, beta2 = 0.999, weight_decay = 0.01, eps = 1e-8,
        amsgrad = false, maximize = false})
  end
  assert(p:equal(q) and p:lt(0.9):all():item(), "a fused step in place")
end

-- What is no optimizer; a momentum that goes against the rate (PyTorch 2.15's
-- numbers).
raises("TypeError", "int is not an Optimizer", optim.lr_scheduler.StepLR, 3,
  {step_size = 1})
do
  local opt = optim.SGD(params(), {lr = 0.1, momentum = 0.9})
  local cycle = optim.lr_scheduler.CyclicLR(opt, {base_lr = 0.1, max_lr = 0.5,
    step_size_up = 2, step_size_down = 3, base_momentum = 0.6,
    max_momentum = 0.8})
  for i, want in ipairs {{0.1, 0.8}, {0.3, 0.7}, {0.5, 0.6},
      {0.36667, 0.66667}, {0.23333, 0.73333}, {0.1, 0.8}} do
    local g = opt.param_groups[1]
    assert(math.abs(g.lr - want[1]) < 1e-5, "the rate of step " .. i)
    assert(math.abs(g.momentum - want[2]) < 1e-5, "the momentum of step " .. i)
    opt:step()
    cycle:step()
  end
end

-- TEST: ranks=4 world={threads,mpi} torch=2.13 needs=data timeout=120
-- SPDX-License-Identifier: MIT
-- Founding case b: every step of tests/parity/2.13/seeds/seed2.jsonl: a toy
-- MLP by parallelize_module and by hand; optimizers and clipping over mixed
-- parameters; an xla mesh without torch_xla.

local T = require "tests.lua.lib.seeds"
local tp = require "dt.parallel"
local data = T.load "seed2"
local fill = dt.testing.fill

local mesh = dt.init_device_mesh("cpu", {4}, {mesh_dim_names = {"tp"}})
local names = {"in_proj.weight", "in_proj.bias", "out_proj.weight",
  "out_proj.bias"}

local Toy = nn.Module:extend("ToyModel")
function Toy:__init__()
  self.in_proj = nn.Linear(10, 32)
  self.relu = nn.ReLU()
  self.out_proj = nn.Linear(32, 5)
end
function Toy:forward(x)
  return self.out_proj(self.relu(self.in_proj(x)))
end

local function new_model()
  local m = Toy()
  m:load_state_dict {
    ["in_proj.weight"] = fill({32, 10}, 7, 3, 8),
    ["in_proj.bias"] = fill({32}, 5, 2, 4),
    ["out_proj.weight"] = fill({5, 32}, 11, 5, 16),
    ["out_proj.bias"] = fill({5}, 3, 1, 2),
  }
  return m
end

local function new_input() return fill({8, 10}, 13, 6, 4) end

local function parameter(model, name)
  local module, leaf = name:match("^(.-)%.(.*)$")
  return model[module][leaf]
end

-- The record of a program's step, or nil.
local function record(program, step)
  for _, rec in pairs(data) do
    if rec.id:match("^seed2/(%d+)") == program and rec.step == step then
      return rec
    end
  end
end

-- Note what each child's forward sees.
local function watch(model, log)
  for name, child in model:named_children() do
    child:register_forward_hook(function (_, args, out)
      log[#log + 1] = {module = name, ["in"] = args[1], out = out}
    end)
  end
end

local function check_modules(log, want, what)
  T.check(#log == #want, what .. ": modules", #log, #want)
  for i, w in ipairs(want) do
    if log[i] then
      local name = what .. " module " .. w.module
      T.check(log[i].module == w.module, name, log[i].module, w.module)
      T.tensor(log[i]["in"], w["in"], name .. " in")
      T.tensor(log[i].out, w.out, name .. " out")
    end
  end
end

local function check_parameters(model, rec, what)
  if rec == nil then return end
  T.tensors(function (n) return parameter(model, n) end,
    rec["local"] or rec.params, what)
end

local function full(t) return t.is_dtensor and t:full_tensor() or t end

-- Forward, loss, backward of a placed model against its records.
local function train(program, model, x)
  local what = "seed2/" .. program
  local log = {}
  watch(model, log)
  local failed = record(program, "failed")
  local y, err, colls = T.run(function () return model(x) end)
  if failed then
    T.outcome(failed, err, what)
    if failed.modules then check_modules(log, failed.modules, what) end
    return
  end
  local rec = record(program, "forward")
  if not T.outcome(rec, err, what .. " forward") then return end
  T.tensor(x, rec.input, what .. " input")
  check_modules(log, rec.modules, what)
  T.collectives(colls, rec.collectives, what .. " forward")
  T.tensor(y, rec.output, what .. " output")
  rec = record(program, "full_output")
  if rec then
    local whole, _, c = T.run(function () return y:full_tensor() end)
    T.collectives(c, rec.collectives, what .. " full_output")
    T.tensor(whole, rec.output, what .. " full_output")
  end
  rec = record(program, "loss")
  local loss, _, lc = T.run(function ()
    return (y * y):sum()
  end)
  T.tensor(loss, rec.loss, what .. " loss")
  if rec.full then
    local whole = full(loss)
    T.same_numbers({whole:item()}, rec.full, what .. " full loss")
  end
  T.collectives(lc, rec.collectives, what .. " loss")
  rec = record(program, "backward")
  local _, berr, bc = T.run(function () loss:backward() end)
  if not T.outcome(rec, berr, what .. " backward") then return end
  T.collectives(bc, rec.collectives, what .. " backward")
  if rec.grad_input then
    T.tensor(x.grad, rec.grad_input, what .. " grad_input")
  end
  T.tensors(function (n) return parameter(model, n).grad end, rec.grads or {},
    what .. " grad")
  rec = record(program, "full_grads")
  if rec then
    T.tensors(function (n) return full(parameter(model, n).grad) end,
      rec.grads, what .. " full grad")
  end
end

local function reference()
  local rec = data["seed2/00/00"]
  local m, x = new_model(), new_input():requires_grad_()
  local y = m(x)
  local loss = (y * y):sum()
  loss:backward()
  T.tensor(y, rec.output, "reference output")
  T.same_numbers({loss:item()}, {rec.loss}, "reference loss")
  T.tensors(function (n) return parameter(m, n) end, rec.params, "reference")
  T.tensors(function (n) return parameter(m, n).grad end, rec.grads,
    "reference grad")
  T.tensor(x.grad, rec.grad_input, "reference grad_input")
end

local function parallel(program, plan, x)
  local what = "seed2/" .. program
  local model = new_model()
  local rec = record(program, "parallelize_module")
  local _, err, colls = T.run(function ()
    return tp.parallelize_module(model, mesh, plan)
  end)
  if not T.outcome(rec, err, what .. " parallelize_module") then return end
  if rec.collectives then T.collectives(colls, rec.collectives, what) end
  check_parameters(model, record(program, "parameters"), what)
  train(program, model, x or new_input():requires_grad_())
end

local function parallel_programs()
  local C, R = tp.ColwiseParallel, tp.RowwiseParallel
  parallel("01", {in_proj = C(), out_proj = R()})
  parallel("02", {in_proj = C {use_local_output = false},
    out_proj = R {use_local_output = false}})
  parallel("03", {in_proj = C(), out_proj = R {output_layouts = Shard(0)}})
  local own = new_input():narrow(0, dt.rank() * 2, 2):clone()
  parallel("04", {in_proj = C {input_layouts = Shard(0)},
    out_proj = R {output_layouts = Shard(0)}}, own:requires_grad_())
  parallel("05", {in_proj = C()})
  parallel("06", {in_proj = C {output_layouts = Replicate()}})
  parallel("07", {in_proj = C {use_local_output = false}})
  parallel("08", {out_proj = R()})
  parallel("09", {out_proj = R {input_layouts = Replicate()}})
  parallel("10", {no_such_layer = C(),
    out_proj = R {input_layouts = Replicate()}})
  parallel("11", {relu = C()})
end

local by_hand = {["in_proj.weight"] = "S(0)", ["in_proj.bias"] = "S(0)",
  ["out_proj.weight"] = "S(1)", ["out_proj.bias"] = "R"}

-- Place a model by hand; `leave` names what stays plain.
local function place(model, leave, all)
  for _, name in ipairs(names) do
    if not (leave and name:find(leave, 1, true) == 1) then
      local module, leaf = name:match("^(.-)%.(.*)$")
      model[module][leaf] = nn.Parameter(dt.distribute_tensor(
        parameter(model, name):detach(), mesh, all or by_hand[name]))
    end
  end
end

local function manual(program, input, leave, all)
  local model = new_model()
  local rec = record(program, "distribute_tensor")
  local what = "seed2/" .. program
  local _, err, colls = T.run(function () place(model, leave, all) end)
  if not T.outcome(rec, err, what) then return end
  if rec.collectives then
    T.collectives(colls, rec.collectives, what .. " distribute_tensor")
  end
  check_parameters(model, rec, what)
  local x = new_input()
  if input then x = dt.distribute_tensor(x, mesh, input) end
  train(program, model, x:requires_grad_())
end

local function manual_programs()
  manual("12", "R")
  manual("13", "S(0)")
  manual("14", "S(1)")
  manual("15", nil)
  manual("16", "R", "in_proj.bias")
  manual("17", "R", "out_proj.bias")
  manual("18", "R", "out_proj")
  manual("19", "R", nil, "R")
end

-- Optimizers and clipping: all distributed (20), one parameter plain (21).
local function optimizer_programs()
  local function model_with_grads(mixed)
    local m = new_model()
    for _, name in ipairs(names) do
      local module, leaf = name:match("^(.-)%.(.*)$")
      if not (mixed and name == "out_proj.bias") then
        m[module][leaf] = nn.Parameter(dt.distribute_tensor(
          parameter(m, name):detach(), mesh, by_hand[name]))
      end
      local p = m[module][leaf]
      p.grad = dt.ones_like(p:detach())
    end
    return m
  end
  local optim = dt.optim
  local steps = {
    ["SGD.step {'foreach': True}"] = function (m)
      optim.SGD(m:parameters(), {lr = 0.1, foreach = true}):step()
    end,
    ["SGD.step {'foreach': False}"] = function (m)
      optim.SGD(m:parameters(), {lr = 0.1, foreach = false}):step()
    end,
    ["AdamW.step {'foreach': True}"] = function (m)
      optim.AdamW(m:parameters(), {lr = 0.1, foreach = true}):step()
    end,
    ["AdamW.step {'foreach': False}"] = function (m)
      optim.AdamW(m:parameters(), {lr = 0.1, foreach = false}):step()
    end,
    ["AdamW.step fused"] = function (m)
      optim.AdamW(m:parameters(), {lr = 0.1, fused = true}):step()
    end,
    ["clip_grad_norm_ {'foreach': True}"] = function (m)
      nn.utils.clip_grad_norm_(m:parameters(), 1.0, {foreach = true})
    end,
    ["clip_grad_norm_ {'foreach': False}"] = function (m)
      nn.utils.clip_grad_norm_(m:parameters(), 1.0, {foreach = false})
    end,
  }
  for program, mixed in pairs {["20"] = false, ["21"] = true} do
    for step, f in pairs(steps) do
      local rec = record(program, step)
      local m = model_with_grads(mixed)
      local _, err = T.run(function () f(m) end)
      T.outcome(rec, err, ("%s %s"):format(rec.id, step))
    end
  end
end

local function xla_programs()
  local xla, err = T.run(function ()
    return dt.init_device_mesh("xla", {4})
  end)
  T.outcome(data["seed2/22/00"], err, "seed2/22/00")
  local cases = {
    ["seed2/22/02"] = function ()
      dt.distribute_tensor(new_input(), xla, {Replicate()})
    end,
    ["seed2/22/03"] = function () dt.distribute_module(new_model(), xla) end,
    ["seed2/22/04"] = function ()
      tp.parallelize_module(new_model(), xla, {in_proj = tp.ColwiseParallel()})
    end,
  }
  for id, f in pairs(cases) do
    local _, e = T.run(f)
    T.outcome(data[id], e, id)
  end
end

reference()
parallel_programs()
manual_programs()
optimizer_programs()
xla_programs()
T.finish()

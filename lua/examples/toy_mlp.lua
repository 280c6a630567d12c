-- dtrepl: ranks=4
-- TEST: ranks=4 world={threads,mpi} needs=data same=1
-- SPDX-License-Identifier: MIT
--
-- Founding case 2.  A toy MLP, 10 -> 32 -> relu -> 32 -> 5, made tensor
-- parallel.  On an xla mesh parallelize_module fails inside the library that
-- replaces parameters; placing the four parameters by hand works there too.

local fill = dt.testing.fill
local tp = require "dt.parallel"

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

local x = fill({8, 10}, 13, 6, 4)

-- Loss and whole gradients of one forward and backward.
local function train(model, input)
  local y = model(input)
  local loss = (y * y):sum()
  loss:backward()
  local grads = {}
  for name, p in model:named_parameters() do
    grads[name] = p.grad.is_dtensor and p.grad:full_tensor() or p.grad
  end
  if loss.is_dtensor then loss = loss:full_tensor() end
  return loss:item(), grads, y
end

local want_loss, want_grads = train(new_model(), x)
print(("one device: loss %.6f"):format(want_loss))

local function compare(what, model, input)
  local loss, grads = train(model, input)
  for name, g in pairs(want_grads) do
    dt.testing.assert_close(grads[name], g)
  end
  print(("%s: loss %.6f, all gradients equal one device"):format(what, loss))
end

local function show(model)
  for name, p in model:named_parameters() do
    print("  " .. name .. "  " .. (p.is_dtensor and p:_header()
      or "plain " .. tostring(p.shape)))
  end
end

local plan = {
  in_proj = tp.ColwiseParallel(),
  out_proj = tp.RowwiseParallel(),
}

-- The article's cure: four calls of distribute_tensor.
local function place_by_hand(model, mesh)
  local function put(module, name, placement)
    module[name] = nn.Parameter(
      dt.distribute_tensor(module[name]:detach(), mesh, {placement}))
  end
  put(model.in_proj, "weight", Shard(0))
  put(model.in_proj, "bias", Shard(0))
  put(model.out_proj, "weight", Shard(1))
  put(model.out_proj, "bias", Replicate())
  return model
end

print "\n== 1 an xla mesh, with torch_xla: parallelize_module"
dt._set_profile(nil, "xla")
local xla = dt.init_device_mesh("xla", {4}, {mesh_dim_names = {"tp"}})
local ok, err = pcall(tp.parallelize_module, new_model(), xla, plan)
print("parallelize_module " .. (ok and "works" or "fails:"))
if not ok then print(tostring(err)) end

print "\n== 2 cured: placed by hand on the same mesh"
local model = place_by_hand(new_model(), xla)
show(model)
compare("by hand, input replicated", model,
  dt.distribute_tensor(x, xla, {Replicate()}))

print "\n== 3 on a cpu or cuda mesh both ways work"
dt._set_profile(nil, "cpu")
local mesh = dt.init_device_mesh("cpu", {4}, {mesh_dim_names = {"tp"}})
model = tp.parallelize_module(new_model(), mesh, plan)
show(model)
compare("parallelize_module", model, x)
compare("by hand", place_by_hand(new_model(), mesh),
  dt.distribute_tensor(x, mesh, {Replicate()}))

print "\n== 4 one thing left plain: the mixed error"
model = place_by_hand(new_model(), mesh)
ok, err = pcall(model, x)
print("plain input " .. (ok and "works" or "fails:"))
if not ok then print(tostring(err)) end

-- dtrepl: ranks=8
-- TEST: ranks=8 world={threads,mpi} needs=data same=1
-- SPDX-License-Identifier: MIT
--
-- Founding case 3.  A 3-D mesh (ddp, fsdp, abcd); FSDP2 shards on the slice
-- (ddp, fsdp); weights travel as float8.  The float8 hook wants the 1-D fsdp
-- mesh, and in some releases FSDP2 got it by slicing the slice: "Cannot
-- create a submesh from a submesh".  Three ways out.

local fill = dt.testing.fill
local float8 = dt.float8

local Net = nn.Module:extend("Net")

function Net:__init__()
  self.a = nn.Linear(8, 16)
  self.b = nn.Linear(16, 6)
end

function Net:forward(x) return self.b(F.relu(self.a(x))) end

local function new_net()
  local m = Net()
  m:load_state_dict {
    ["a.weight"] = fill({16, 8}, 7, 3, 8), ["a.bias"] = fill({16}, 5, 2, 4),
    ["b.weight"] = fill({6, 16}, 11, 5, 16), ["b.bias"] = fill({6}, 3, 1, 2),
  }
  return m
end

-- One training step of a net sharded on `mesh`.  Every rank has the same batch,
-- so that the loss can be compared with one device's; in training that would be
-- a mistake, and dtrepl says so when the script ends (DT1057).
local function step(mesh, all_gather)
  local m = new_net()
  float8.convert_to_float8_training(m, {config = float8.Float8LinearConfig {
    enable_fsdp_float8_all_gather = all_gather}})
  for _, layer in ipairs {m.a, m.b} do
    dt.fully_shard(layer, {mesh = mesh})
  end
  dt.fully_shard(m, {mesh = mesh})
  local y = m(fill({4, 8}, 13, 6, 4))
  local loss = (y * y):sum()
  loss:backward()
  return loss:item(), m
end

local function attempt(what, f)
  local ok, loss, m = pcall(f)
  if ok then
    print(("%s: works, loss %.4f"):format(what, loss))
    print("  a.weight " .. m.a.weight:_header())
  else
    print(what .. " fails:")
    print(tostring(loss))
  end
end

local y = new_net()(fill({4, 8}, 13, 6, 4))
print(("one device, float32: loss %.4f"):format((y * y):sum():item()))

local function cube()
  return dt.init_device_mesh("cpu", {2, 2, 2},
    {mesh_dim_names = {"ddp", "fsdp", "abcd"}})
end

print "\n== PyTorch 2.6: three dimensions, float8 all-gather"
dt._set_profile("2.6", nil)
local mesh = cube()
attempt("mesh['ddp','fsdp'] of 3-D", function ()
  return step(mesh[{"ddp", "fsdp"}], true)
end)

print "\n== way out 1: drop the third dimension"
local flat = dt.init_device_mesh("cpu", {4, 2},
  {mesh_dim_names = {"ddp", "fsdp"}})
attempt("a 2-D mesh", function () return step(flat, true) end)

print "\n== way out 2: no float8 all-gather"
attempt("enable_fsdp_float8_all_gather = false", function ()
  return step(mesh[{"ddp", "fsdp"}], false)
end)

print "\n== way out 3: a newer release"
for _, release in ipairs {"2.7", "2.10", "2.13"} do
  dt._set_profile(release, nil)
  local m3 = cube()
  attempt("PyTorch " .. release, function ()
    return step(m3[{"ddp", "fsdp"}], true)
  end)
end

-- TEST: ranks=8 world={threads,mpi} needs=data timeout=120
-- SPDX-License-Identifier: MIT
-- Founding case c: every step of tests/parity/2.13/seeds/seed3.jsonl: slices of
-- a 3-D mesh, fully_shard on them with and without float8 all-gather; and
-- the slices of each release in submesh_by_release.jsonl.

local T = require "tests.lua.lib.seeds"
local data = T.load "seed3"
local fill = dt.testing.fill

local function cube()
  return dt.init_device_mesh("cpu", {2, 2, 2},
    {mesh_dim_names = {"ddp", "fsdp", "abcd"}})
end
local mesh = cube()

local function flat_text(list)
  local out = {}
  local function walk(v)
    if type(v) == "table" then for _, x in ipairs(v) do walk(x) end
    else out[#out + 1] = tostring(v) end
  end
  walk(list)
  return table.concat(out, " ")
end

local function check_mesh(m, want, what)
  T.check(tostring(m) == want.repr, what .. ": repr", tostring(m), want.repr)
  T.check(flat_text(m.shape) == flat_text(want.shape), what .. ": shape")
  T.check(flat_text(m.mesh_dim_names) == flat_text(want.names),
    what .. ": names")
  T.check(flat_text(m:ranks()) == flat_text(want.ranks), what .. ": ranks",
    flat_text(m:ranks()), flat_text(want.ranks))
  T.check(flat_text(m:get_coordinate()) == flat_text(want.coordinate),
    what .. ": coordinate")
end

local function slices()
  local cases = {
    function () return mesh end,
    function () return mesh[{"ddp", "fsdp"}] end,
    function () return mesh["fsdp"] end,
    function () return mesh[{"ddp", "fsdp"}]["fsdp"] end,
    function () return mesh[{"ddp", "fsdp"}]["ddp"] end,
    function () return mesh[{"ddp", "fsdp"}]["abcd"] end,
    function () return mesh[{"fsdp", "ddp"}] end,
    function () return mesh[{"ddp", "abcd"}] end,
    function () return mesh["nope"] end,
    function () return mesh[{"ddp", "fsdp"}]:_flatten("dp") end,
    function () return mesh["dp"] end,
    function () return mesh[{"dp", "abcd"}] end,
    function () return mesh[{"ddp", "abcd"}]:_flatten() end,
  }
  for i, f in ipairs(cases) do
    local id = ("seed3/00/%02d"):format(i - 1)
    local m, err = T.run(f)
    if T.outcome(data[id], err, id) then check_mesh(m, data[id].mesh, id) end
  end
  local two = cube()[{"ddp", "fsdp"}]
  local api = {
    function () return two:get_group() end,
    function () return two:get_local_rank() end,
    function () return mesh:get_group("fsdp") end,
    function () return mesh:get_group("zzz") end,
    function () return mesh:get_group(5) end,
  }
  for i, f in ipairs(api) do
    local id = ("seed3/07/%02d"):format(i - 1)
    local _, err = T.run(f)
    T.outcome(data[id], err, id)
  end
end

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

-- Number of this rank's replica: its coordinate, row-major.
local function replica(m)
  local n, c = 0, m:get_coordinate()
  for i = 1, m.ndim do n = n * m.shape[i] + c[i] end
  return n
end

local function parameter(m, name)
  local module, leaf = name:match("^(.-)%.(.*)$")
  return m[module][leaf]
end

local function check_hooks(log, want, what)
  if want == nil then return end
  T.check(#log == #want, what .. ": hooks", #log, #want)
  for i, w in ipairs(want) do
    if log[i] then
      T.check(tostring(log[i]) == w.mesh, what .. ": hook mesh",
        tostring(log[i]), w.mesh)
      T.check(flat_text(log[i]:ranks()) == flat_text(w.ranks),
        what .. ": hook ranks")
    end
  end
end

-- The capture's weight: one scale over the shard mesh, float8 on the way, the
-- compute type again behind the gather.
local function float8_gather(p, log)
  function p.fsdp_pre_all_gather(shard, on)
    log[#log + 1] = on
    local amax = dt._coll("all_reduce", shard:abs():max(), on, 0, {op = "max"})
    local scale = 448.0 / amax
    return {(shard * scale):to(dt.float8_e4m3fn)}, {scale = scale}
  end
  function p.fsdp_post_all_gather(_, outputs, meta, dtype)
    return outputs[1]:to(dtype) / meta.scale
  end
end

local function fsdp(program, on, float8)
  local id = "seed3/" .. program .. "/"
  local rec = data[id .. "00"]
  local net, log = new_net(), {}
  if float8 then
    for _, layer in ipairs {net.a, net.b} do
      float8_gather(layer.weight, log)
    end
  end
  local _, err, colls = T.run(function ()
    for _, layer in ipairs {net.a, net.b} do
      dt.fully_shard(layer, {mesh = on})
    end
    dt.fully_shard(net, {mesh = on})
  end)
  if not T.outcome(rec, err, id .. " fully_shard") then return end
  T.collectives(colls, rec.collectives, id .. " fully_shard")
  check_mesh(on, rec.mesh, id)
  T.tensors(function (n) return parameter(net, n) end, rec.params, id)
  for name, want in pairs(rec.params) do
    local m = parameter(net, name).device_mesh
    T.check(tostring(m) == want.mesh, id .. name .. ": mesh", tostring(m),
      want.mesh)
  end
  local x = fill({4, 8}, 13, 6, 4) + 0.25 * replica(on)
  rec = data[id .. "01"]
  local y, ferr, fc = T.run(function () return net(x) end)
  if not T.outcome(rec, ferr, id .. " forward") then return end
  T.tensor(x, rec.input, id .. " input")
  T.collectives(fc, rec.collectives, id .. " forward")
  T.tensor(y, rec.output, id .. " output")
  check_hooks(log, rec.hooks, id .. " forward")
  rec = data[id .. "02"]
  local _, berr, bc = T.run(function () (y * y):sum():backward() end)
  if not T.outcome(rec, berr, id .. " backward") then return end
  T.collectives(bc, rec.collectives, id .. " backward")
  T.tensors(function (n) return parameter(net, n).grad end, rec.grads,
    id .. " grad")
end

local function reference()
  local net = new_net()
  for i, want in ipairs(data["seed3/06/00"].replicas) do
    net:zero_grad()
    local y = net(fill({4, 8}, 13, 6, 4) + 0.25 * (i - 1))
    local loss = (y * y):sum()
    loss:backward()
    T.same_numbers(y:detach():tolist(), want.output, "replica output")
    T.tensors(function (n) return parameter(net, n).grad end, want.grads,
      "replica grad")
  end
end

-- Expressions of submesh_by_release.jsonl that are about slices.
local function releases()
  local flat
  local exprs = {
    ["mesh['ddp','fsdp']"] = function (m) return m[{"ddp", "fsdp"}] end,
    ["mesh['fsdp']"] = function (m) return m["fsdp"] end,
    ["mesh['ddp','fsdp']['fsdp']"] = function (m)
      return m[{"ddp", "fsdp"}]["fsdp"]
    end,
    ["mesh['ddp','fsdp']['ddp']"] = function (m)
      return m[{"ddp", "fsdp"}]["ddp"]
    end,
    ["mesh2['fsdp']"] = function () return flat["fsdp"] end,
  }
  for line in io.lines("tests/parity/2.13/seeds/submesh_by_release.jsonl") do
    local rec = dt._json_decode(line)
    local f = exprs[rec.expr]
    if f then
      dt._set_profile(rec.release, nil)
      local m = cube()
      flat = dt.init_device_mesh("cpu", {4, 2},
        {mesh_dim_names = {"ddp", "fsdp"}})
      local _, err = T.run(function () return f(m) end)
      T.outcome(rec, err, rec.id .. " " .. rec.expr)
    end
  end
  dt._set_profile("2.13", nil)
end

-- fully_shard with float8 by release: 2.5 and 2.6 slice the slice.
local function float8_by_release()
  for release, fails in pairs {["2.4"] = false, ["2.5"] = true,
      ["2.6"] = true, ["2.7"] = false, ["2.8"] = false, ["2.9"] = false,
      ["2.10"] = false} do
    dt._set_profile(release, nil)
    local net = new_net()
    float8_gather(net.a.weight, {})
    dt.fully_shard(net, {mesh = cube()[{"ddp", "fsdp"}]})
    local _, err = T.run(function () return net(fill({4, 8}, 13, 6, 4)) end)
    if fails then
      T.raises(err, {class = "RuntimeError",
        text = "Cannot create a submesh from a submesh."}, release)
    else
      T.check(err == nil, release .. " works", err and err.torch)
    end
  end
  dt._set_profile("2.13", nil)
end

slices()
local root = cube()
fsdp("01", root[{"ddp", "fsdp"}], false)
fsdp("02", root[{"ddp", "fsdp"}], true)
fsdp("03", root["fsdp"], true)
fsdp("04", root, true)
fsdp("05", dt.init_device_mesh("cpu", {4, 2},
  {mesh_dim_names = {"ddp", "fsdp"}}), true)
reference()
releases()
float8_by_release()
T.finish()

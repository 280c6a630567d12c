-- TEST: ranks=4 world={threads,mpi} needs=data same=1
-- SPDX-License-Identifier: MIT
-- Plain and distributed tensors in one call: every way it is raised, the ways
-- it is not, and the report, word by word.

local T = require "tests.lua.lib.check"

local mesh = dt.init_device_mesh("cpu", {4}, {mesh_dim_names = {"tp"}})
local square = dt.init_device_mesh("cpu", {2, 2})
local p = dt.ones(8, 8)
local x = dt.distribute_tensor(p, mesh, {Shard(0)})

-- What PyTorch says, the operator's full name in front.
local TEXT = " got mixed torch.Tensor and DTensor, need to convert all "
  .. "torch.Tensor to DTensor before calling distributed operators!"

local function mixed(op, f)
  local e = T.raises("MIXED", op .. TEXT, f)
  T.eq(e.op, op, "op of the object")
  T.eq(e.message, op .. TEXT, "the whole message")
end

local function every_way()
  mixed("aten.add.Tensor", function () local y = x + p return y end)
  mixed("aten.add.Tensor", function () local y = p + x return y end)
  mixed("aten.mm.default", function () local y = x:mm(p) return y end)
  mixed("aten.cat.default", function () local y = dt.cat({x, p}) return y end)
  mixed("aten.stack.default", function ()
    local y = dt.stack({p, x}) return y end)
  mixed("aten._foreach_add.List", function ()
    local y = dt._foreach_add({x, x}, {p, p}) return y end)
  mixed("aten._foreach_add.Scalar", function ()
    local y = dt._foreach_add({x, p}, 1) return y end)
  mixed("aten.add_.Tensor", function () x:add_(p) end)
  mixed("aten.add_.Tensor", function () p:add_(x) end)
  mixed("aten.add.out", function () dt.add(x, x, {out = p}) end)
  mixed("aten.masked_fill.Scalar", function ()
    local y = x:masked_fill(p:gt(0), 0) return y end)
  mixed("aten.where.self", function ()
    local y = dt.where(x:gt(0), x, p) return y end)
  local e = T.raises("CROSSMESH", "Cannot run aten.add.Tensor on inputs with "
    .. "different meshes", function ()
      local y = x + dt.distribute_tensor(p, square, "S(0) R") return y end)
  T.has(e.message, "(2, 2)", "the other mesh")
  T.raises("NOMESH", "Cannot find device mesh from args for op : "
    .. "aten::add.out", function () dt.add(p, p, {out = x}) end)
end

-- In backward: the gradient of y is plain.
local function backward()
  local w = x:detach():requires_grad_()
  local y = w * w
  local e = T.raises("MIXED", TEXT, function () y:backward(p) end)
  T.ok(w.grad == nil, "no gradient was stored")
  T.has(e, "(backward)", "the report says where it was")
end

local function exceptions()
  T.eq((x + 1):full_tensor():sum():item(), 128, "numbers")
  T.eq((x + dt.tensor(2.0)):full_tensor():sum():item(), 192, "no dimension")
  T.eq((x * dt.ones(1, 1)):full_tensor():sum():item(), 64, "one element")
  local y
  dt.implicit_replication(function () y = x + p end)
  T.eq(tostring(y.placements[1]), "S(0)", "implicit replication")
  T.eq(y:full_tensor():sum():item(), 128, "its value")
  mixed("aten.add.Tensor", function () local z = x + p return z end)
end

local function lines_with(text, part)
  local list = {}
  for line in text:gmatch("[^\n]+") do
    if line:find(part, 1, true) then list[#list + 1] = line end
  end
  return table.concat(list, "\n")
end

-- The report, and that it tells the truth about it.
local function report()
  local h, mask = x:mm(dt.distribute_tensor(p, mesh, "R")), p:tril()
  local ok, e = pcall(function ()
    return (h + mask) end)
  T.eq(ok, false, "raised")
  local text = tostring(e)
  print(text)
  local head = text:match("[^\n]+")
  T.has(head, "DT0101 mixed torch.Tensor and DTensor in aten.add.Tensor",
    "head")
  T.has(head, "mixed.lua:", "script line")
  local line = lines_with(text, "arg 0")
  T.has(line, "self  h", "name of the variable")
  T.has(line, "dt: f32[8, 8]| S(0)  mesh (tp=4)", "its spec")
  T.has(line, "by aten.mm.default #", "which operator made it")
  line = lines_with(text, "arg 1")
  T.has(line, "other  mask", "name of the plain one")
  T.has(line, "t: f32[8, 8]", "it is plain")
  T.has(line, "by aten.tril.default #", "its maker")
  T.has(text, "mask on ranks 0-3: bitwise equal", "equality over the ranks")
  T.has(text, "PyTorch 2.15 says: aten.add.Tensor" .. TEXT, "PyTorch's text")
  T.eq(#e.fixes, 4, "four repairs")
  local want = (h:full_tensor() + mask):sum():item()
  local y = h + dt.distribute_tensor(mask, mesh, "S(0)")
  T.eq(e.fixes[1].lua, 'distribute_tensor(mask, mesh, "S(0)")', "first repair")
  T.eq(e.fixes[1].verdict, "equal", "it was tried")
  T.has(y:_header(), e.fixes[1].result, "what it gives")
  T.eq(y:full_tensor():sum():item(), want, "and it does")
  T.eq(e.fixes[1].bytes, 0, "without communication")
  T.eq(e.fixes[3].lua, "h:full_tensor()", "third repair")
  -- each rank sends its quarter of 8 x 8 floats
  T.eq(e.fixes[3].bytes, 64, "what gathering costs")
  T.eq(e.fixes[4].warned, true, "switching the check off is no advice")
end

-- A plain tensor that differs: treating it as replicated would be wrong.
local function different()
  local mine = dt.full({8, 8}, dt.rank() + 1.0)
  local ok, e = pcall(function () local y = x + mine return y end)
  T.eq(ok, false, "raised")
  local text = tostring(e)
  T.ok(not text:find("bitwise equal", 1, true), "the ranks are not equal")
  for _, fix in ipairs(e.fixes) do
    if fix.lua:find("implicit", 1, true) then
      T.ok(fix.verdict ~= "equal", "implicit replication is not called equal")
    end
  end
  T.eq(mine:sum():item(), 64 * (dt.rank() + 1), "the input is untouched")
end

-- Trials change nothing: neither operands nor numbers nor the generator.
local function no_trace()
  dt.manual_seed(3)
  local a = dt.rand(4):tolist()
  dt.manual_seed(3)
  local y = dt.distribute_tensor(dt.ones(8, 8), mesh, "S(0)")
  pcall(function () y:add_(p) end)
  T.eq(y:full_tensor():sum():item(), 64, "in place: not done")
  T.close(dt.rand(4), a, "the generator stands where it stood")
end

every_way()
backward()
exceptions()
report()
different()
no_trace()
T.finish()

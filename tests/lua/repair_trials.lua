-- TEST: ranks=4 world={threads,mpi} needs=data tags=quick
-- SPDX-License-Identifier: MIT
-- A report tries its repairs and leaves no trace: what lists of tensors hold
-- stays what it was, and an error that one rank catches does not hold up the
-- others.

local T = require "tests.lua.lib.check"

local mesh = dt.init_device_mesh("cpu", {4})
local a = dt.distribute_tensor(dt.arange(32, {dtype = dt.f32}):view(8, 4), mesh, "S(0)")
local p = dt.ones(8, 4)

local function writes_a_list()
  local e = T.raises("MIXED", "aten._foreach_add_.List", function ()
    dt._foreach_add_({a, a}, {p, p})
  end)
  T.has(tostring(e), "equals one device", "repairs were tried")
  T.eq(a:full_tensor():sum():item(), 496, "on copies")
end

-- What a call writes into a replacement, the program sees only by its name.
local function written_replacements()
  local w, shadow = a:clone(), dt.zeros(8, 4)
  local e = tostring(T.raises("MIXED", "aten.add_.Tensor", function ()
    w:add_(p)
  end))
  T.has(e, "equals one device if assigned to w first (the call writes it)",
        "w.full_tensor() is another tensor")
  T.has(e, "equals one device, gives", "distributing p is enough")
  e = tostring(T.raises("MIXED", "aten.lerp_.Scalar", function ()
    shadow:lerp_(w, 0.1)
  end))
  T.has(e, "equals one device if assigned to shadow first", "so is shadow")
  T.has(e:match("w:full_tensor%(%)[^\n]*") or "", "equals one device, gives",
        "a plain shadow is written in place")
  T.has(e, "fails without a message", "a silent assert is told")
end

local function view() local y = a:view(2, 16) return y end

local function one_rank()
  if dt.rank() == 1 then
    local ok, e = pcall(view)
    T.ok(not ok, "it fails")
    T.eq(tostring(e):find("could not be tried", 1, true), nil, "in peace")
  end
  T.eq(a:full_tensor():sum():item(), 496, "the others went on")
  local _, e = pcall(view)
  T.has(tostring(e), "fixes (tried)", "all together")
end

-- A mesh of some ranks: the others neither try nor are waited for.
local function some_ranks()
  local half = dt.DeviceMesh("cpu", {2, 1})
  local x = dt.distribute_tensor(dt.ones(8, 4), half, "S(0)")
  local function mixed() return x * p end
  local function view_of_it() return x:view(2, 16) end
  local mine = dt.rank() == 1 or dt.rank() == 2
  for _, f in ipairs {mixed, function () return dt.add(x, p) end} do
    if mine then
      local _, e = pcall(f)
      T.has(tostring(e), "p on ranks 1-2: bitwise equal", "they compare")
      T.has(tostring(e), "equals one device", "and try")
    end
  end
  if dt.rank() == 2 then
    local ok, e = pcall(mixed)
    T.ok(not ok, "one of them alone fails")
    T.eq(tostring(e):find("fixes", 1, true), nil, "and tries nothing")
  end
  if mine then view_of_it() end
  T.eq(a:full_tensor():sum():item(), 496, "all went on")
end

-- distribute_tensor() takes leaves only; the gradient goes through from_local.
local function not_a_leaf()
  local y = dt.ones(8, 4):requires_grad_() * 2
  local e = tostring(T.raises("MIXED", "aten.add.Tensor", function ()
    return y + a
  end))
  T.has(e, "DTensor.from_local(y, mesh, ", "a repair that PyTorch takes")
  T.eq(e:find("distribute_tensor(y", 1, true), nil, "not one it refuses")
  local own = dt.ones(8, 4):requires_grad_() * (dt.rank() + 1)
  e = tostring(T.raises("MIXED", "aten.add.Tensor", function ()
    return own + a
  end))
  T.has(e, "differs between ranks", "each rank has its own")
  T.eq(e:find("from_local", 1, true), nil, "and it is called no Replicate")
  -- Made by autograd on one rank only: all try the same.
  local x = dt.ones(8, 4)
  if dt.rank() == 1 then x:requires_grad_() end
  local some = x * 2
  e = tostring(T.raises("MIXED", "aten.add.Tensor", function ()
    return some + a
  end))
  T.has(e, "DTensor.from_local(some, mesh, ", "on every rank")
  T.eq(e:find("different paths", 1, true), nil, "no rank waits for another")
  T.eq(e:find("differs from one device", 1, true), nil, "and all are right")
end

writes_a_list()
not_a_leaf()
written_replacements()
one_rank()
some_ranks()
T.finish()

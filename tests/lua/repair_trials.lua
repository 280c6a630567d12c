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

writes_a_list()
one_rank()
T.finish()

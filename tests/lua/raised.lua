-- TEST: ranks=2 world={threads} needs=data
-- SPDX-License-Identifier: MIT
-- What a call that raised was given is kept until the program goes on, not
-- longer.

local T = require "tests.lua.lib.check"

local x = dt.ones(4)
local weak = setmetatable({}, {__mode = "v"})

local function fail()
  local names = {"a", "b", "c"}
  weak[1] = names
  return pcall(dt.init_device_mesh, "cpu", {2}, {mesh_dim_names = names})
end

T.eq(dt.debug.raised(), nil)
T.eq((fail()), false)
collectgarbage()
collectgarbage()
T.ok(dt.debug.raised().code and weak[1], "the call is known")
local y = x + 1
y = y * 2
T.eq(dt.debug.raised(), nil)
collectgarbage()
collectgarbage()
T.eq(weak[1], nil)
for _ = 1, 3 do
  fail()
  T.ok(dt.debug.raised(), "known again")
  y = y:neg()
end
T.finish("raised")

-- TEST: ranks={1} world={threads} torch=2.13
-- SPDX-License-Identifier: MIT
-- Bounds of clamp beyond the range of a tensor of integers become values of its
-- type first: small negative ones of uint8 wrap, others are refused.

local T = require "tests.lua.lib.check"
local F = require "dt.functional"

local function same(x, want, what)
  T.eq(table.concat(x:tolist(), " "), table.concat(want, " "), what)
end
local function fails(f, part) T.throws("RuntimeError", part, f) end

local u8 = dt.tensor({1, 2, 3}, {dtype = dt.uint8})
same(dt.clamp(u8, -3, -2), {253, 253, 253}, "both wrap")
same(dt.clamp(u8, -1, dt.None), {255, 255, 255}, "min wraps")
same(dt.clamp_max(u8, -1), {1, 2, 3}, "max wraps")
for bound, name in pairs {[300] = "uint8_t", [-300] = "uint8_t"} do
  fails(function () return dt.clamp(u8, bound, dt.None) end,
    "value cannot be converted to type " .. name .. " without overflow")
end
fails(function () return F.hardtanh(u8, 0, 300) end, "without overflow")
local i8 = dt.tensor({1, 2, 3}, {dtype = dt.int8})
same(dt.clamp(i8, -3, -2), {-2, -2, -2}, "no wrap")
fails(function () return dt.clamp(i8, dt.None, 128) end, "type int8_t")
same(dt.clamp(i8, dt.None, 127), {1, 2, 3}, "the greatest")
T.finish()

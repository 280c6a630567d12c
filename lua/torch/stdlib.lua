-- SPDX-License-Identifier: MIT
-- torch/stdlib.lua: the modules of Python's own that programs over torch
-- name: copy, pickle (io: serialize.lua).  A pickle is the object itself in a box: it
-- is never written down.

local dt = require "dt"
local util = require "dt.util"
local V = require "python.values"
local attrs = require "python.attrs"
local attributes = require "torch.attributes"
local tensors = require "torch.tensor"
local serialize = require "torch.serialize"

local M = {}
local namespace, builtin = attrs.namespace, V.builtin

-- ---- pickle, torch.save ----

local box_mt = {__name = "bytes"}

local deep = require("python.std.copy").deep

local function pickled(v) return setmetatable({deep(v, {})}, box_mt) end

local function unpickled(box)
  if getmetatable(box) ~= box_mt then
    util.raise("TypeError", "a bytes-like object is required, not '%s'",
      V.type_name(box))
  end
  return deep(box[1], {})
end

attrs.provide("pickle", namespace {
  HIGHEST_PROTOCOL = 5, DEFAULT_PROTOCOL = 4,
  dumps = builtin(function (a) return pickled(a[1]) end, "dumps"),
  loads = builtin(function (a) return unpickled(a[1]) end, "loads"),
})

M.save, M.load = serialize.define(pickled, unpickled)

M.tensors = tensors
return M

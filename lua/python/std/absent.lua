-- SPDX-License-Identifier: MIT
-- python/std/absent.lua: _absent.error(text), what a file of pylib raises where
-- it has not what Python or PyTorch has: a NotImplementedError with the reason
-- that util.refuse() gives.

local attrs = require "python.attrs"
local exceptions = require "python.exceptions"
local V = require "python.values"

attrs.provide("_absent", attrs.namespace {
  error = V.builtin(function (a, kw)
    local e = exceptions.classes.NotImplementedError.make(a, kw)
    e.reason = "absent"
    return e
  end, "error")})

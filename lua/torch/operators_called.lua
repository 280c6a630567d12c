-- SPDX-License-Identifier: MIT
-- torch/operators_called.lua: the operators that a program's calls come to, as
-- PyTorch's dispatcher sees them: for Python code of the library (import
-- _operators_called).

local dt = require "dt"
local V = require "python.values"
local attrs = require "python.attrs"
local kinds = require "torch.kinds"

-- An argument as a record keeps it: of a tensor its shape and type.
local function argument(x)
  if type(x) ~= "table" or getmetatable(x) ~= nil then return V.from_lua(x) end
  local dtype = x.t or x.dt
  if x.re then return V.complex(x.re, x.im) end
  if dtype then return dt.empty(x.shape, {dtype = dt[dtype], device = "meta"}) end
  if x.dtype then return dt[x.dtype:match("[%w_]+$")] end
  local name = x.layout or x.memory_format
  if name then return attrs.get(attrs.module "torch", name:match("[%w_]+$")) end
  if x.device then return kinds.device(x.device) end
  local out = {}
  for i, part in ipairs(x) do out[i] = argument(part) end
  return V.list(out)
end

local function keywords(row)
  local out = V.dict()
  for name, x in pairs(row.kw or {}) do V.dict_set(out, name, argument(x)) end
  return out
end

-- recorder(): an object with start() and stop(), which gives a list of
-- ("aten.mm.default", arguments, keywords) of the forward's operators, in order.
local function recorder()
  local record = dt._record()
  return attrs.namespace {
    start = V.builtin(function ()
      record:take()
      record(true)
      return dt.None
    end, "start"),
    stop = V.builtin(function ()
      record(false)
      local out = {}
      for _, row in ipairs(record:take()) do
        if not row.backward and (row.plain and not row.coll or row.dtensors) then
          out[#out + 1] = V.tuple {row.op, argument(row["in"] or {}),
            keywords(row)}
        end
      end
      return V.list(out)
    end, "stop")}
end

local M = {argument = argument}

attrs.provide("_operators_called",
  attrs.namespace {recorder = V.builtin(recorder, "recorder")})

return M

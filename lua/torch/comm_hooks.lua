-- SPDX-License-Identifier: MIT
-- torch/comm_hooks.lua: DistributedDataParallel.register_comm_hook with a hook
-- of Python's: it takes a GradBucket and gives a future.

local dt = require "dt"
local util = require "dt.util"
local V = require "python.values"
local args = require "python.args"
local attrs = require "python.attrs"
local attributes = require "torch.attributes"

local builtin = V.builtin

-- GradBucket, of what the reducer tells of a bucket.
local function grad_bucket(b)
  local own = attrs.namespace(setmetatable({}, {__name = "GradBucket"}))
  local function answer(name, f) own[name] = builtin(f, name) end
  answer("index", function () return b.index end)
  answer("is_last", function () return b.is_last end)
  answer("buffer", function () return b.buffer end)
  answer("gradients", function () return V.list(b.gradients()) end)
  answer("parameters", function ()
    return V.list(table.move(b.parameters, 1, #b.parameters, 1, {}))
  end)
  answer("set_buffer", function (a)
    b.buffer = a[1]
    return dt.None
  end)
  return own
end

-- The tensor in what a hook gave: a future's value, in a list or by itself.
local function tensor_of(result)
  if not util.is_tensor(result) then
    result = V.call(attrs.get(result, "wait"), V.list({}, 0))
  end
  return V.is_seq(result) and result[1] or result
end

attributes.of_some_modules.register_comm_hook = args.method(
  "DistributedDataParallel.register_comm_hook", {"state", "hook"},
  function (m, a)
    m:register_comm_hook(a.state, function (state, bucket)
      return tensor_of(V.call(a.hook, V.list {state, grad_bucket(bucket)}))
    end)
    return dt.None
  end)

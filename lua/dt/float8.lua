-- SPDX-License-Identifier: MIT
-- dt/float8.lua: float8 training in the manner of torchao, as far as FSDP2
-- sees it: the weights of Linear layers are gathered as float8 when
-- enable_fsdp_float8_all_gather is set.  Dynamic tensorwise scaling: the
-- largest absolute value over the shard mesh decides the scale.

local dt = require "dt"
local util = require "dt.util"
local nnm = require "dt.nn.module"

local M = {}

local MAX = 448.0                    -- largest float8_e4m3fn

-- Float8LinearConfig{enable_fsdp_float8_all_gather = false}
function M.Float8LinearConfig(...)
  return util.bind("Float8LinearConfig", {"enable_fsdp_float8_all_gather"},
    {enable_fsdp_float8_all_gather = false}, ...)
end

-- fsdp_pre_all_gather: scale and cast the shard; float8 is what travels.
function M.pre_all_gather(shard, mesh)
  local amax = shard:abs():max()
  amax = dt._coll("all_reduce", amax, mesh, 0, {op = "max"})
  local scale = MAX / amax
  local data = (shard * scale):to(dt.float8_e4m3fn)
  return {data}, {scale = scale, mesh = mesh}
end

-- fsdp_post_all_gather: back to the compute dtype.
function M.post_all_gather(_, outputs, meta, dtype)
  return outputs[1]:to(dtype) / meta.scale
end

-- enable_all_gather(parameter [, log]): gather it as float8 under
-- fully_shard.  `log(mesh)` is told which mesh the hook got.
function M.enable_all_gather(p, log)
  p.fsdp_pre_all_gather = function (shard, mesh)
    if log then log(mesh) end
    return M.pre_all_gather(shard, mesh)
  end
  p.fsdp_post_all_gather = M.post_all_gather
  return p
end

-- convert_to_float8_training(module, {config = Float8LinearConfig{...}})
function M.convert_to_float8_training(module, kw)
  local config = kw and kw.config or M.Float8LinearConfig()
  if config.enable_fsdp_float8_all_gather then
    for sub in module:modules() do
      if nnm.isinstance(sub, require("dt.nn").Linear) then
        M.enable_all_gather(sub.weight, config.log)
      end
    end
  end
  return module
end

return M

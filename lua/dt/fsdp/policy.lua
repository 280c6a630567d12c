-- SPDX-License-Identifier: MIT
-- dt/fsdp/policy.lua: MixedPrecisionPolicy, and what of it holds for one
-- parameter.

local dt = require "dt"
local util = require "dt.util"
local checks = require "dt.fsdp.checks"

local M = {}

local fields = {"param_dtype", "reduce_dtype", "output_dtype",
  "cast_forward_inputs"}

-- As Python's dataclass prints it.
local Policy = {__name = "MixedPrecisionPolicy"}

function Policy:__tostring()
  local parts = {}
  local function add(name)
    local v = self[name]
    if type(v) == "boolean" then v = v and "True" or "False"
    elseif type(v) == "string" then v = "'" .. v .. "'" end
    parts[#parts + 1] = name .. "=" .. (v == nil and "None" or tostring(v))
  end
  for _, name in ipairs(fields) do add(name) end
  if dt._switch("FSDP_FINALIZES") ~= 0 then add "param_dtype_override_fn" end
  return "MixedPrecisionPolicy(" .. table.concat(parts, ", ") .. ")"
end

-- MixedPrecisionPolicy{param_dtype=, reduce_dtype=, output_dtype=,
-- cast_forward_inputs=true}; in later releases also param_dtype_override_fn, by
-- keyword only.
function M.new(...)
  local pos, kw = util.split(...)
  local override
  if kw.param_dtype_override_fn ~= nil and dt._switch("FSDP_FINALIZES") ~= 0 then
    override, kw.param_dtype_override_fn = kw.param_dtype_override_fn, nil
  end
  if pos.n > #fields then
    util.raise("TypeError", "MixedPrecisionPolicy.__init__() takes from 1 to %d "
      .. "positional arguments but %d were given", #fields + 1, pos.n + 1)
  end
  pos[pos.n + 1] = kw
  local out = util.bind("MixedPrecisionPolicy", fields,
    {cast_forward_inputs = true}, table.unpack(pos, 1, pos.n + 1))
  if not util.is_none(override) then out.param_dtype_override_fn = override end
  return setmetatable(out, Policy)
end

-- check(mp): refuse what fully_shard is given as mp_policy and is none.
function M.check(mp)
  if not util.is_none(mp) and getmetatable(mp) ~= Policy then
    util.raise("TypeError", "replace() should be called on dataclass instances")
  end
end

-- The policy for parameter p: the user's function may keep it in its own dtype.
function M.resolve(mp, p)
  for _, name in ipairs {"param_dtype", "reduce_dtype"} do
    if not util.is_none(mp[name]) and not util.is_dtype(mp[name]) then
      util.raise("AttributeError", "MixedPrecisionPolicy: %s is no dtype: '%s' "
        .. "object has no attribute 'is_floating_point'", name,
        checks.type_text(mp[name]):match("'(.-)'") or type(mp[name]))
    end
  end
  if not mp.param_dtype_override_fn then return mp end
  local out = {}
  for key, value in pairs(mp) do out[key] = value end
  out.param_dtype_override_fn = nil
  local dtype = mp.param_dtype_override_fn(p)
  if util.is_none(dtype) then return out end
  if not util.is_dtype(dtype) then
    util.raise("ValueError", "param_dtype_override_fn must return a torch.dtype "
      .. "or None but got %s", checks.type_text(dtype))
  elseif dtype ~= mp.param_dtype and dtype ~= p.dtype then
    util.raise("ValueError", "param_dtype_override_fn must return None, "
      .. "param_dtype, or the parameter's original dtype but got %s for a "
      .. "parameter with dtype %s and param_dtype %s", tostring(dtype),
      tostring(p.dtype), mp.param_dtype and tostring(mp.param_dtype) or "None")
  end
  out.param_dtype = dtype
  return out
end

return M

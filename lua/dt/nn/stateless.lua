-- SPDX-License-Identifier: MIT
-- dt/nn/stateless.lua: torch.func.functional_call: a module's forward with
-- other tensors in the place of its parameters and buffers, for this call.

local util = require "dt.util"

local M = {}

-- The table (parameters or buffers) and the name in it of a dotted path.
local function place_of(module, path)
  local leaf = path:match("[^.]+$")
  local m = module:get_submodule(path:match("^(.*)%.[^.]+$") or "")
  for _, field in ipairs {m._parameters, m._buffers} do
    if field.map[leaf] ~= nil then return field, leaf end
  end
  return util.raise("AttributeError", "%s has no attribute `%s`",
    m._class.__name, leaf)
end

-- Where else the module has the tensor that lies there.
local function ties(module, t, f)
  for sub in module:modules() do
    for _, field in ipairs {sub._parameters, sub._buffers} do
      for name, v in field:each() do
        if v == t then f(field, name) end
      end
    end
  end
end

-- functional_call(module, {name = tensor}, args [, kwargs], {kwargs=,
-- tie_weights = true}): args is a list, or one argument.
function M.functional_call(module, state, args, kw)
  kw = kw or {}
  local given = kw.kwargs
  if given == nil and kw.tie_weights == nil and kw.strict == nil then
    given = next(kw) and kw or nil
  end
  local old = {}
  local guard <close> = util.guard(function () -- luacheck: ignore guard
    for i = #old, 1, -1 do old[i][1]:set(old[i][2], old[i][3]) end
  end)
  for _, path in ipairs(util.sorted_keys(state)) do
    local field, leaf = place_of(module, path)
    local t = field.map[leaf]
    local function put(where, name)
      old[#old + 1] = {where, name, where.map[name]}
      where:set(name, state[path])
    end
    if kw.tie_weights == false then put(field, leaf)
    else ties(module, t, put) end
  end
  local list = {}
  if util.is_tensor(args) then list[1] = args
  elseif not util.is_none(args) then
    for i = 1, #args do list[i] = args[i] end
  end
  if not util.is_none(given) then list[#list + 1] = given end
  return module(table.unpack(list))
end

return M

-- SPDX-License-Identifier: MIT
-- dt/nn/stateless.lua: torch.func.functional_call: a module's forward with
-- other tensors in the place of its parameters and buffers, for this call.

local util = require "dt.util"

local M = {}

-- The table (parameters or buffers) and the name in it of a dotted path; nil
-- where its module has none of this name.
local function place_of(module, path)
  local leaf = path:match("[^.]+$")
  local m = module:get_submodule(path:match("^(.*)%.[^.]+$") or "")
  for _, field in ipairs {m._parameters, m._buffers} do
    if field.map[leaf] ~= nil then return field, leaf end
  end
end

-- f(table, name, path) wherever the module has the tensor that lies there.
local function ties(module, t, f)
  for prefix, sub in module:named_modules() do
    for _, field in ipairs {sub._parameters, sub._buffers} do
      for name, v in field:each() do
        if rawequal(v, t) then
          f(field, name, prefix == "" and name or prefix .. "." .. name)
        end
      end
    end
  end
end

-- Tensors that are one in the module are one in `state`.
local function check_tied(module, state, t)
  local paths, first, parted = {}, nil, false
  ties(module, t, function (_, _, path)
    local v = state[path]
    paths[#paths + 1] = "'" .. path .. "'"
    parted = parted or v ~= nil and first ~= nil and not rawequal(v, first)
    first = first or v
  end)
  if parted then
    table.sort(paths)
    util.raise("ValueError", "functional_call got multiple values for keys "
      .. "[%s], which are tied. Consider using tie_weights=False",
      table.concat(paths, ", "))
  end
end

local function check_strict(module, state)
  local known, missing, unexpected, errors = {}, {}, {}, {}
  local function see(path, t)
    local there = false
    ties(module, t, function (_, _, other)
      known[other] = true
      there = there or state[other] ~= nil
    end)
    if not there then missing[#missing + 1] = "'" .. path .. "'" end
  end
  for path, t in module:named_parameters() do see(path, t) end
  for path, t in module:named_buffers() do see(path, t) end
  for _, path in ipairs(util.sorted_keys(state)) do
    if not known[path] then unexpected[#unexpected + 1] = "'" .. path .. "'" end
  end
  for _, row in ipairs {{"Unexpected", unexpected}, {"Missing", missing}} do
    if #row[2] > 0 then
      errors[#errors + 1] = ("%s key(s): %s."):format(row[1],
        table.concat(row[2], ", "))
    end
  end
  if #errors > 0 then
    util.raise("RuntimeError", "Error(s) in reparametrizing for %s:\n\t%s",
      module._class.__name, table.concat(errors, "\n\t"))
  end
end

-- Several tables of tensors as one; a name is in one of them.
local function joined(state)
  if #state == 0 then return state end
  local out, twice = {}, {}
  for _, part in ipairs(state) do
    for name, t in pairs(part) do
      if out[name] ~= nil then twice[#twice + 1] = "'" .. name .. "'" end
      out[name] = t
    end
  end
  table.sort(twice)
  if #twice > 0 then
    util.raise("ValueError", "[%s] appeared in multiple dictionaries; behavior "
      .. "of functional call is ambiguous", table.concat(twice, ", "))
  end
  return out
end

-- functional_call(module, {name = tensor}, args [, kwargs], {kwargs=,
-- tie_weights = true, strict = false}): args is a list, or one argument;
-- several tables of tensors may be in a list.  Names that a module does not
-- have are passed over unless `strict`.
function M.functional_call(module, state, args, given, kw)
  if type(args) == "table" and getmetatable(args) == nil
     and (args.kwargs ~= nil or args.args ~= nil) then
    args, given = args.args, args
  end
  if not kw and not util.is_none(given) and (given.kwargs ~= nil
     or given.tie_weights ~= nil or given.strict ~= nil
     or given.args ~= nil) then
    given, kw = given.kwargs, given
  end
  kw = kw or {}
  state = joined(state)
  if kw.strict == true then check_strict(module, state) end
  local old = {}
  local guard <close> = util.guard(function () -- luacheck: ignore guard
    for i = #old, 1, -1 do old[i][1]:set(old[i][2], old[i][3]) end
  end)
  local places = {}
  for _, path in ipairs(util.sorted_keys(state)) do
    local field, leaf = place_of(module, path)
    if field then
      local function put(where, name)
        places[#places + 1] = {where, name, state[path]}
      end
      if kw.tie_weights == false then put(field, leaf)
      else
        check_tied(module, state, field.map[leaf])
        ties(module, field.map[leaf], put)
      end
    end
  end
  for _, p in ipairs(places) do
    old[#old + 1] = {p[1], p[2], p[1].map[p[2]]}
    p[1]:set(p[2], p[3])
  end
  local list = {}
  if util.is_tensor(args) or type(args) == "table" and rawget(args, "_class") then
    list[1] = args                      -- a tensor, or what stands for one
  elseif not util.is_none(args) then
    for i = 1, #args do list[i] = args[i] end
  end
  if not util.is_none(given) then list[#list + 1] = given end
  return module(table.unpack(list))
end

return M

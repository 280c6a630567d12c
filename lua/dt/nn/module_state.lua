-- SPDX-License-Identifier: MIT
-- dt/nn/module_state.lua: what nn.Module's state_dict() and load_state_dict()
-- do.

local dt = require "dt"
local loaded = require "dt.nn.loaded"
local util = require "dt.util"

local M = {}

-- The name of a member below `prefix`, the name of its module.
function M.join(prefix, name)
  return prefix == "" and name or prefix .. "." .. name
end

-- Names grow with the depth: a module that holds itself would fill memory with
-- them before the stack ends.
local DEEPEST = 900

-- The child that no name in a state_dict says: what a wrapper has inside.
local function unnamed(m) return m._class.unnamed_in_states end

-- renamed(name, path, child): a name of a state_dict with the child, which is
-- below `path`, in it.
local function renamed(name, path, child)
  local prefix = path == "" and "" or path .. "."
  if name:sub(1, #prefix) ~= prefix then return name end
  return prefix .. child .. "." .. name:sub(#prefix + 1)
end

-- with_wrappers(m, state, order): a state, and the order of its names, with the
-- names that members have, wrappers among them.
local function with_wrappers(m, state, order)
  for path, sub in m:named_modules() do
    if unnamed(sub) then
      local all, names = {}, {}
      for name, v in pairs(state) do all[renamed(name, path, unnamed(sub))] = v end
      for i, name in ipairs(order) do
        names[i] = renamed(name, path, unnamed(sub))
      end
      state, order = all, names
    end
  end
  return state, order
end

local function collect_into(m, prefix, out, depth)
  if depth > DEEPEST then
    util.raise("RecursionError",
      "maximum recursion depth exceeded while calling a Python object")
  end
  for _, hook in ipairs(m._attrs._state_dict_pre_hooks or {}) do hook(m) end
  for name, p in m._parameters:each() do
    if p then out[M.join(prefix, name)] = p:detach() end
  end
  for name, b in m._buffers:each() do
    if b and not m._transient[name] then
      out[M.join(prefix, name)] = b:detach()
    end
  end
  for name, child in m._modules:each() do
    local path = name == unnamed(m) and prefix or M.join(prefix, name)
    if child then collect_into(child, path, out, depth + 1) end
  end
  return out
end

-- collect(m): a table from names to tensors that share the data; what a wrapper
-- has inside is named without it.
function M.collect(m) return collect_into(m, "", {}, 1) end

-- A text as Python's repr() has it.
local function quoted_text(s)
  local q = s:find("'", 1, true) and not s:find('"', 1, true) and '"' or "'"
  return q .. s:gsub("\\", "\\\\"):gsub("\n", "\\n") .. q
end

-- Put `value` in the place of parameter or buffer `p` of module `m`: an optimizer that
-- holds `p` does not see it.  What is there now.
local function put(m, name, p, value)
  local at = m:get_submodule(name:match("^(.*)%.[^.]+$") or "")
  if p.is_parameter and not value.is_parameter then
    value = dt._make_param(value, p.requires_grad)
  elseif p.is_parameter then
    value.requires_grad = p.requires_grad
  end
  at[name:match("[^.]+$")] = value
  return value
end

-- What is wrong with it; or nil, and the tensor that the module has now.
local function load_one(m, name, p, value, assign)
  if #value.shape ~= #p.shape or value.shape ~= p.shape then
    return ("size mismatch for %s: copying a param with shape %s from "
      .. "checkpoint, the shape in current model is %s."):format(name,
      tostring(value.shape), tostring(p.shape))
  end
  local ok, err = pcall(function ()
    local guard <close> = dt.no_grad()          -- luacheck: ignore guard
    return assign and put(m, name, p, value) or p:copy_(value)
  end)
  if not ok then
    return ("While copying the parameter named \"%s\", whose dimensions in "
      .. "the model are %s and whose dimensions in the checkpoint are %s, an "
      .. "exception occurred : (%s,)."):format(name, tostring(p.shape),
      tostring(value.shape), quoted_text(type(err) == "table" and err.message
      or tostring(err)))
  end
  return nil, err
end

local function quoted(names)
  local out = {}
  for i, n in ipairs(names) do out[i] = '"' .. n .. '"' end
  return table.concat(out, ", ") .. ". "
end

-- Members in the order of the modules that they are of; a name that none has
-- counts to the deepest module on its path.
local function by_module(m, list)
  local place, n = {}, 0
  for path in m:named_modules {remove_duplicate = false} do
    n = n + 1
    place[path] = n
  end
  local rank = {}
  for i, item in ipairs(list) do
    local path = item[1]
    repeat path = path:match("^(.*)%.[^.]*$") or "" until place[path]
    rank[item] = place[path] * (#list + 1) + i
  end
  table.sort(list, function (a, b) return rank[a] < rank[b] end)
  return list
end

-- The members that a state_dict holds, one that has several names under each:
-- all parameters, and the buffers that were registered to be kept.
local function kept_members(m, members)
  local all = {remove_duplicate = false}
  local own = members(m, "_parameters", all)
  for _, item in ipairs(members(m, "_buffers", all)) do
    local leaf = item[1]:match("[^.]+$")
    local at = m:get_submodule(item[1]:match("^(.*)%.[^.]+$") or "")
    if not at._transient[leaf] then own[#own + 1] = item end
  end
  return by_module(m, own)
end

-- Raise what PyTorch raises of all that did not fit, its lines in its order.
local function complain(m, errors, missing, unexpected, strict)
  if strict and #unexpected > 0 then
    table.insert(errors, 1, "Unexpected key(s) in state_dict: "
      .. quoted(unexpected))
  end
  if strict and #missing > 0 then
    table.insert(errors, 1, "Missing key(s) in state_dict: "
      .. quoted(missing))
  end
  if #errors > 0 then
    util.raise("RuntimeError", "%s", ("Error(s) in loading state_dict for %s:"
      .. "\n\t%s"):format(m._class.__name, table.concat(errors, "\n\t")))
  end
end

-- The names of a state that no member has.
local function unexpected_of(m, order, known)
  local list, out = {}, {}
  for _, name in ipairs(order) do
    if not known[name] then list[#list + 1] = {name} end
  end
  for i, item in ipairs(by_module(m, list)) do out[i] = item[1] end
  return out
end

-- load(m, state, {strict = true, assign = false}, members): copies values in
-- place; kw.order lists the names of the state, where they have an order.  members(m, field) is a list of {name, tensor}; it is asked after the
-- hooks, since those of a wrapper (FSDP) put other parameters there.  Returns
-- the missing and the unexpected names.
function M.load(m, state, kw, members)
  for sub in m:modules() do
    for _, hook in ipairs(sub._attrs._state_dict_pre_hooks or {}) do
      hook(sub)
    end
  end
  local order
  state, order = with_wrappers(m, state, kw.order or util.sorted_keys(state))
  local missing, errors = {}, {}
  local own = kept_members(m, members)
  local known = {}
  dt._restoring()
  for _, item in ipairs(own) do
    known[item[1]] = true
    local value = state[item[1]]
    if value == nil then
      missing[#missing + 1] = item[1]
    else
      local text, now = load_one(m, item[1], item[2], value, kw.assign)
      errors[#errors + 1] = text
      if not kw.assign then
        loaded.look_at_meta(item[1], item[2], "load_state_dict")
      end
      dt._loaded(now or item[2])
      dt._restored(now or item[2], item[1])
    end
  end
  local unexpected = unexpected_of(m, order, known)
  complain(m, errors, missing, unexpected, kw.strict ~= false)
  loaded.look(own, missing, unexpected, state, "load_state_dict")
  return {missing_keys = missing, unexpected_keys = unexpected}
end

return M

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
    if child then collect_into(child, M.join(prefix, name), out, depth + 1) end
  end
  return out
end

-- collect(m): a table from names to tensors that share the data.
function M.collect(m) return collect_into(m, "", {}, 1) end

-- A text as Python's repr() has it.
local function quoted_text(s)
  local q = s:find("'", 1, true) and not s:find('"', 1, true) and '"' or "'"
  return q .. s:gsub("\\", "\\\\"):gsub("\n", "\\n") .. q
end

local function load_one(name, p, value, assign)
  if #value.shape ~= #p.shape or value.shape ~= p.shape then
    return ("size mismatch for %s: copying a param with shape %s from "
      .. "checkpoint, the shape in current model is %s."):format(name,
      tostring(value.shape), tostring(p.shape))
  end
  local ok, err = pcall(function ()
    local guard <close> = dt.no_grad()          -- luacheck: ignore guard
    if assign then dt._set_data(p, value) else p:copy_(value) end
  end)
  if not ok then
    return ("While copying the parameter named \"%s\", whose dimensions in "
      .. "the model are %s and whose dimensions in the checkpoint are %s, an "
      .. "exception occurred : (%s,)."):format(name, tostring(p.shape),
      tostring(value.shape), quoted_text(type(err) == "table" and err.message
      or tostring(err)))
  end
end

local function quoted(names)
  local out = {}
  for i, n in ipairs(names) do out[i] = '"' .. n .. '"' end
  return table.concat(out, ", ") .. ". "
end

-- The members that a state_dict holds: all parameters, and the buffers that
-- were registered to be kept.
local function kept_members(m, members)
  local own = members(m, "_parameters")
  for _, item in ipairs(members(m, "_buffers")) do
    local leaf = item[1]:match("[^.]+$")
    local at = m:get_submodule(item[1]:match("^(.*)%.[^.]+$") or "")
    if not at._transient[leaf] then own[#own + 1] = item end
  end
  return own
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

-- load(m, state, {strict = true, assign = false}, members): copies values in
-- place.  members(m, field) is a list of {name, tensor}; it is asked after the
-- hooks, since those of a wrapper (FSDP) put other parameters there.  Returns
-- the missing and the unexpected names.
function M.load(m, state, kw, members)
  for sub in m:modules() do
    for _, hook in ipairs(sub._attrs._state_dict_pre_hooks or {}) do
      hook(sub)
    end
  end
  local missing, unexpected, errors = {}, {}, {}
  local own = kept_members(m, members)
  local known = {}
  dt._restoring()
  for _, item in ipairs(own) do
    known[item[1]] = true
    local value = state[item[1]]
    if value == nil then
      missing[#missing + 1] = item[1]
    else
      errors[#errors + 1] = load_one(item[1], item[2], value, kw.assign)
      if not kw.assign then
        loaded.look_at_meta(item[1], item[2], "load_state_dict")
      end
      dt._loaded(item[2])
      dt._restored(item[2], item[1])
    end
  end
  for _, name in ipairs(util.sorted_keys(state)) do
    if not known[name] then unexpected[#unexpected + 1] = name end
  end
  complain(m, errors, missing, unexpected, kw.strict ~= false)
  loaded.look(own, missing, unexpected, state, "load_state_dict")
  return {missing_keys = missing, unexpected_keys = unexpected}
end

return M

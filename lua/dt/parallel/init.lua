-- SPDX-License-Identifier: MIT
-- dt/parallel/init.lua: torch.distributed.tensor.parallel.

local dt = require "dt"
local util = require "dt.util"
local ties = require "dt.nn.ties"
local style = require "dt.parallel.style"
local distribute = require "dt.parallel.distribute"

local M = {
  distribute_module = distribute.distribute_module,
  local_map = distribute.local_map,
}
for name, value in pairs(style) do
  if name ~= "is_style" then M[name] = value end
end

-- A shell pattern (* ? [..]) as a Lua pattern for one token.
local function glob(token)
  local out = token:gsub("[%^%$%(%)%%%.%+%-%*%?]", function (c)
    if c == "*" then return ".*" end
    if c == "?" then return "." end
    if c == "-" then return "-" end
    return "%" .. c
  end)
  return "^" .. out:gsub("%[!", "[^") .. "$"
end

-- The child called `name`; one that came under another name before is not
-- looked at again, as in named_children.
local function child_called(module, name)
  local map, keys = module._modules.map, module._modules.keys
  local child = map[name]
  if not child then return nil end
  for i = 1, #keys do
    local key = keys[i]
    if key == name then return child end
    if map[key] == child then return nil end
  end
end

local function matching(module, token)
  if not token:find "[*?[]" then return {child_called(module, token)} end
  local list, pattern = {}, glob(token)
  for name, child in module:named_children() do
    if name:find(pattern) then list[#list + 1] = child end
  end
  return list
end

local apply_plan

-- One entry of a plan: a path whose tokens match children's names.
local function apply_entry(module, mesh, path, what, src)
  if path == "" then
    apply_plan(module, mesh, what, 0)
    return
  end
  local token, rest = path:match("^([^.]*)%.?(.*)$")
  local children = matching(module, token)
  if #children == 0 then
    dt._warn(("Parallelize plan key '%s' could not be resolved: no submodule "
      .. "matching token '%s' in module %s, skipping this plan entry.")
      :format(path, token, tostring(module)))
    return
  end
  for _, child in ipairs(children) do
    if rest ~= "" then
      apply_plan(child, mesh, {[rest] = what}, src)
    else
      apply_plan(child, mesh, what, src)
    end
  end
end

-- Entries of a plan in order: a list {{"path", style}, ...} as written, a
-- map {path = style} in pairs' order.
local function entries(plan)
  local list = {}
  for key, what in pairs(plan) do
    if type(key) == "number" then list[#list + 1] = what
    else list[#list + 1] = {key, what} end
  end
  return list
end

local no_plan = "No parallelize_plan is provided and auto-parallel is not "
  .. "supported at the moment, so this parallelize_module call will do "
  .. "nothing."

-- Python's name of what stands where a style should.
local function class_text(v)
  local mt = getmetatable(v)
  if type(v) == "table" and type(mt) == "table" and mt.__call then
    return "abc.ABCMeta"
  end
  return util.type_text(v)
end

function apply_plan(module, mesh, plan, src)
  if util.is_none(plan) then
    dt._warn(no_plan)
    return module
  end
  if style.is_style(plan) then
    plan.src_data_rank = src
    return plan:apply(module, mesh)
  end
  if type(plan) ~= "table" or getmetatable(plan) ~= nil then
    util.raise("TypeError", "Expect Union[ParallelStyle, Dict[str, "
      .. "ParallelStyle]] for parallelize_plan, <class '%s'> found!",
      class_text(plan))
  end
  for _, entry in ipairs(entries(plan)) do
    apply_entry(module, mesh, entry[1], entry[2], src)
  end
  return module
end

-- What is legal where a plan was refused: styles place one mesh dimension.
local function advice(module, mesh)
  return function (e)
    local said = {}
    for name, p in module:named_parameters() do
      said[#said + 1] = ("%s %s"):format(name, tostring(p.shape))
    end
    local text = ("the parameters here are %s; the mesh is %s"):format(
      #said > 0 and table.concat(said, ", ") or "none", tostring(mesh))
    if mesh.ndim > 1 then
      text = text .. "; a style takes a mesh of one dimension: "
      for i, name in ipairs(mesh.mesh_dim_names or {}) do
        text = text .. (i > 1 and " or " or "") .. ('mesh["%s"]'):format(name)
      end
    elseif e.reason == "module class" then
      text = text .. "; other modules take SequenceParallel, "
        .. "PrepareModuleInput, PrepareModuleOutput or distribute_module"
    elseif e.reason == "applied twice" then
      text = text .. "; give each module one entry of one plan"
    end
    return text
  end
end

-- The mesh where none is given: there is none, but in a language that has
-- scopes of meshes.
function M.current_mesh()
  util.raise("RuntimeError", "No device mesh is currently active!")
end

-- parallelize_module(module, mesh, plan, {src_data_rank = 0}): a style, or a
-- table from paths (with * ? [..]) to styles.
function M.parallelize_module(module, mesh, plan, kw)
  if util.is_none(plan) then
    dt._warn(no_plan)
    return module
  end
  if not util.is_mesh(mesh) then
    mesh = M.current_mesh()
  end
  local src = 0
  if kw and kw.src_data_rank ~= nil then src = kw.src_data_rank end
  local tied = ties.of(module)
  local out = util.explained(advice(module, mesh), apply_plan, module, mesh,
    plan, src)
  ties.check(tied)
  return out
end

return M

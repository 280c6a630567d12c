-- SPDX-License-Identifier: MIT
-- dt/torch/library.lua: operators of the user's own, and their sharding.

local dt = require "dt"
local util = require "dt.util"

local M = {}

local defined = {}              -- by full name: {schema, module, unfaked}

-- dt.library.define(schema, {impl=, meta=, backward=, fake=}) or (schema, impl):
-- impl(args...) computes on plain local tensors; meta(args...) gives the
-- shapes (default: impl without data), and fake(args...) those of a call on
-- DTensors (default: meta); backward(ctx, grads...) returns a gradient per
-- argument, ctx.args and ctx.outputs are those of the call.
-- The operator is then dt.ops.<namespace>.<name>.  For programs that dt.debug
-- writes, `module` names the module whose loading defines it, and unfaked()
-- gives the name of the function that stands for it while it has no fake.
function M.define(schema, how)
  if type(schema) ~= "string" then
    util.raise("TypeError", "define(schema, how): schema must be a string, "
      .. "got %s", util.type_text(schema))
  end
  if type(how) == "function" then how = {impl = how} end
  if type(how) ~= "table" or type(how.impl) ~= "function" then
    util.raise("TypeError",
      "define(schema, how): how.impl must be a function")
  end
  local op = dt.library._define(schema, how.impl, how.meta, how.backward,
    how.fake)
  local name = schema:match("^[^(]+"):gsub("::", "."):gsub("%s", "")
  if select(2, name:gsub("%.", "")) == 1 then name = name .. ".default" end
  defined[name] = {schema = schema, module = how.module, unfaked = how.unfaked}
  return op
end

-- definition("ns.op.default") -> {schema, module, unfaked} of an operator that
-- define() made, or nil.
function M.definition(name) return defined[name] end

-- Full name of an overload given as an object or as text.
local function overload_name(op)
  local name = type(op) == "string" and op or op.name
  name = name:gsub("::", ".")
  if select(2, name:gsub("%.", "")) == 1 then name = name .. ".default" end
  return name
end

-- dt.register_sharding(op or list, fn): fn gets the call's arguments, specs
-- in place of tensors, and returns a list of {outputs, inputs}: placements on
-- one mesh dimension, dt.None for what is no tensor.  Without fn: returns a
-- function that takes it, as PyTorch's decorator.
function M.register_sharding(op, fn)
  if fn == nil then
    return function (f) return M.register_sharding(op, f) end
  end
  local list = {op}
  if type(op) == "table" and op.name == nil then list = op end
  for _, one in ipairs(list) do
    dt._register_sharding(overload_name(one), fn)
  end
  return fn
end

return M

-- SPDX-License-Identifier: MIT
-- dt/torch/library.lua: operators of the user's own, and their sharding.

local dt = require "dt"
local util = require "dt.util"

local M = {}

local defined = {}              -- by full name: {schema, module, unfaked}
local rules = {}                -- by full name: {{rows, text}, ...}: what each answered

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

-- rule("ns.op.overload") -> the answer of the sharding rule that the program
-- registered for it, as rows {outputs, inputs} of placements as text, "None"
-- for what is no tensor; false where it gave several, or none; nil without a
-- rule, and where it was not asked so far: nothing was decided by it.
function M.rule(name)
  local seen = rules[name]
  if not seen or not seen.asked then return nil end
  return #seen == 1 and seen[1].rows or false
end

-- One side of a row that a rule gave, as text.
local function side(list)
  local out = {}
  for i = 1, #list do
    out[i] = list[i] == dt.None and "None" or tostring(list[i])
  end
  return out
end

-- Remember what the rule of `name` answered: each answer once.
local function note(name, answer)
  local rows, texts = {}, {}
  for i, row in ipairs(answer) do
    rows[i] = {side(row[1]), side(row[2])}
    texts[i] = table.concat(rows[i][1], " ") .. " < " .. table.concat(rows[i][2], " ")
  end
  local text = table.concat(texts, "; ")
  for _, a in ipairs(rules[name]) do
    if a.text == text then return end
  end
  table.insert(rules[name], {rows = rows, text = text})
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
    local name = overload_name(one)
    rules[name] = {}
    dt._register_sharding(name, function (...)
      rules[name].asked = true
      local answer = fn(...)
      -- what is no list of rows is refused by its reader
      pcall(note, name, answer)
      return answer
    end)
  end
  return fn
end

return M

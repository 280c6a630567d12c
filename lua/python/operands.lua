-- SPDX-License-Identifier: MIT
-- python/operands.lua: what stands in the program's line for the inputs of a
-- call that failed and that no variable holds: self.pos[:n], batch["x"],
-- F.softmax(t, dim=-1).  A fix that says so can be typed.
--
-- Nothing of the program runs: names, attributes and items are read raw, other
-- expressions are known by the operator that they are.

local dt = require "dt"
local util = require "dt.util"
local V = require "python.values"
local parser = require "python.parser"

local M = {texts = {}}              -- texts: eval.lua's, by the name of a file

local LONGEST <const> = 72          -- bytes of an expression that is shown

-- ---- expressions as text -----------------------------------------------------

local text_of

-- The texts of nodes with a comma between; nil when one has none.
local function texts_of(list)
  local out = {}
  for i, n in ipairs(list) do
    out[i] = text_of(n)
    if not out[i] then return nil end
  end
  return table.concat(out, ", ")
end

local function argument_text(a)
  local value = text_of(a.value)
  if not value then return nil end
  local stars = ("*"):rep(math.tointeger(a.star) or 0)
  return (a.name and a.name .. "=" or stars) .. value
end

-- The operand of a sign or of a dot: in brackets where it is an operation.
local LOOSE = {binary = true, compare = true, unary = true, cond = true,
  ["and"] = true, ["or"] = true, ["not"] = true}
local function tight(n)
  local text = text_of(n)
  return text and (LOOSE[n.kind] and "(" .. text .. ")" or text)
end

local write = {}

function write.name(n) return n.name end
write.literal = write.name
function write.const(n)
  if type(n.value) == "number" then
    return math.type(n.value) == "integer" and ("%d"):format(n.value)
      or ("%.15g"):format(n.value)
  end
  return type(n.value) == "string" and not n.value:find('[%c"\\]')
    and '"' .. n.value .. '"' or nil
end
function write.attr(n)
  local value = tight(n.value)
  return value and value .. "." .. n.name
end
function write.item(n)
  local value = tight(n.value)
  local index = n.index.kind == "tuple" and #n.index.items > 1
    and texts_of(n.index.items) or text_of(n.index)
  return value and index and value .. "[" .. index .. "]"
end
function write.slice(n)
  local from = n.start and text_of(n.start) or ""
  local to = n.stop and text_of(n.stop) or ""
  local step = n.step and text_of(n.step)
  if n.start and from == nil or n.stop and to == nil then return nil end
  return step and from .. ":" .. to .. ":" .. step or from .. ":" .. to
end
function write.ellipsis() return "..." end
function write.call(n)
  local fn, args = tight(n.fn), {}
  for i, a in ipairs(n.args) do
    args[i] = argument_text(a)
    if not args[i] then return nil end
  end
  return fn and fn .. "(" .. table.concat(args, ", ") .. ")"
end
function write.binary(n)
  local a, b = tight(n.a), tight(n.b)
  return a and b and ("%s %s %s"):format(a, n.op, b)
end
function write.unary(n)
  local a = tight(n.a)
  return a and n.op .. a
end
function write.list(n)
  local items = texts_of(n.items)
  return items and "[" .. items .. "]"
end
function write.tuple(n)
  local items = texts_of(n.items)
  return items and "(" .. items .. (#n.items == 1 and ",)" or ")")
end

-- The text of an expression, or nil: longer ones, and rare kinds.
function text_of(n)
  local f = write[n.kind]
  local text = f and f(n)
  return text and #text <= LONGEST and text or nil
end

-- Of tensors == says whether they are one.
local function same(a, b) return util.is_tensor(a) and a == b end

-- ---- values, read raw ---------------------------------------------------------

local function name_value(env, name)
  while env do
    local v = rawget(env.vars, name)
    if v ~= nil then return v end
    env = env.up
  end
end

local MAPS = {"_parameters", "_buffers", "_modules"}

local function field(v, name)
  if util.is_tensor(v) then
    if name == "grad" then return v.grad end
    return nil
  end
  if type(v) ~= "table" then return nil end
  local attrs = rawget(v, "_attrs")
  local found = attrs and rawget(attrs, name)
  for _, maps in ipairs(MAPS) do
    local m = rawget(v, maps)
    m = type(m) == "table" and rawget(m, "map")
    if found == nil and type(m) == "table" then found = rawget(m, name) end
  end
  if found == nil and name:sub(1, 1) ~= "_" then found = rawget(v, name) end
  return found
end

local function item(v, index)
  if V.is_seq(v) and math.type(index) == "integer" then
    return v[index < 0 and v.n + index + 1 or index + 1]
  elseif V.is_dict(v) and type(index) == "string" then
    return rawget(v, "map")[index]
  elseif type(v) == "table" and math.type(index) == "integer" then
    return field(v, tostring(index))      -- of a list of modules or parameters
  end
end

-- The value of an expression, and whether it is one that is read raw.
local function raw(n, env)
  if n.kind == "const" then return n.value, true end
  if n.kind == "name" then return name_value(env, n.name), true end
  if n.kind == "unary" and n.op == "-" and n.a.kind == "const"
     and type(n.a.value) == "number" then
    return -n.a.value, true
  end
  local owner = (n.kind == "attr" or n.kind == "item") and raw(n.value, env)
  if not owner then return nil, false end
  if n.kind == "attr" then return field(owner, n.name), true end
  local index, pure = raw(n.index, env)
  if pure then return item(owner, index), true end
  return nil, false
end

-- ---- operators and what they are written as ------------------------------------

-- "aten._softmax.default" -> "softmax": what the overloads, the forms in place
-- and the parts of composites have in common.
local function plain_name(op)
  local name = op:match("^[%w_]+%.([%w_]+)") or op
  name = name:gsub("^_+", ""):gsub("_+$", "")
  return (name:gsub("^native_", ""):gsub("_forward$", "")
    :gsub("^foreach_", ""))
end

local SIGNS = {["+"] = "add", ["-"] = "sub", ["*"] = "mul", ["/"] = "div",
  ["@"] = "mm bmm matmul addmm mv dot", ["**"] = "pow", ["%"] = "remainder",
  ["//"] = "floor_divide div", ["&"] = "and bitwise_and",
  ["|"] = "or bitwise_or", ["=="] = "eq", ["!="] = "ne", ["<"] = "lt",
  [">"] = "gt", ["<="] = "le", [">="] = "ge"}
local CALLS = {matmul = SIGNS["@"], linear = "addmm mm bmm", float = "to_copy",
  double = "to_copy", half = "to_copy", bfloat16 = "to_copy", to = "to_copy",
  permute = "permute view", reshape = "view clone", flatten = "view",
  scaled_dot_product_attention = "scaled_dot_product_flash_attention_for_cpu",
  transpose = "transpose", chunk = "split slice", rand_like = "rand_like"}
local FIELDS = {T = "t permute transpose numpy_T", mT = "transpose"}

local function has_word(list, word)
  return (" " .. list .. " "):find(" " .. word .. " ", 1, true) ~= nil
end

-- Does the node itself, not what is in it, do operator `op`?  nil: nobody knows.
local function is_written(n, op)
  local name = plain_name(op)
  if n.kind == "binary" or n.kind == "augment" then
    return has_word(SIGNS[n.op] or "", name)
  elseif n.kind == "compare" then
    return #n.ops == 1 and has_word(SIGNS[n.ops[1]] or "", name)
  elseif n.kind == "item" then
    return has_word("slice select index unsqueeze", name)
  elseif n.kind == "attr" and FIELDS[n.name] then
    return has_word(FIELDS[n.name], name)
  elseif n.kind == "call" then
    local head = n.fn.name and plain_name(n.fn.name)
    return head == name or has_word(CALLS[head] or "", name) or nil
  end
end

-- ---- the statement ---------------------------------------------------------------

local STATEMENTS = {}
for kind in ("def class if for while with try return pass break continue raise "
  .. "global nonlocal assert import from del augment annotation expr assign "
  .. "match"):gmatch("%S+") do
  STATEMENTS[kind] = true
end

-- The nodes of the statements that begin at each line, each after its parts.
local function index_nodes(tree)
  local at, seen = {}, {}
  local function visit(n, line)
    if seen[n] then return end
    seen[n] = true
    if STATEMENTS[n.kind] then line = n.first or n.line end
    for _, part in pairs(n) do
      if type(part) == "table" then visit(part, line) end
    end
    if line and n.kind then
      at[line] = at[line] or {}
      at[line][#at[line] + 1] = n
    end
  end
  visit(tree)
  return at
end

-- Of the text that was asked for last: a program that catches many errors asks
-- for each, and to read it again takes longer than all else.
local last = {}

-- The nodes of a line of a text, or nil where it is no program.
local function nodes_at(text, line)
  if last.text ~= text then
    local ok, tree = pcall(parser.parse, text)
    last = {text = text, at = ok and index_nodes(tree)}
  end
  return last.at and (last.at[line] or {})
end

-- The expressions that a node takes: of a sign its two sides, of a call what
-- stands before the dot and the arguments; `named` are those with a keyword.
local function taken_by(n, env)
  local list, named = {}, {}
  if n.kind == "binary" then list = {n.a, n.b}
  elseif n.kind == "augment" then list = {n.target, n.value}
  elseif n.kind == "compare" then list = n.items
  elseif n.kind == "call" then
    local owner = n.fn.kind == "attr" and n.fn.value
    if owner then
      local value, pure = raw(owner, env)
      if not pure or util.is_tensor(value) then list[1] = owner end
    end
    for _, a in ipairs(n.args) do
      if a.star then break end
      if a.name then named[a.name] = a.value else list[#list + 1] = a.value end
    end
  end
  return list, named
end

-- Operators by which a function makes its argument what it needs: element by
-- element, so that what is done to the argument is done to the result.
local CONVERTS = {where = true, _to_copy = true, clone = true}

-- Is the tensor of input `t` what the expression gives?  true, false, or nil:
-- nobody knows.
local function gives(n, t, env, here)
  local value, pure = raw(n, env)
  if pure and util.is_tensor(value) and here(t)
     and CONVERTS[t.op:match("^[%w_]+%.([%w_]+)") or ""] and not same(value, t.tensor) then
    return nil                            -- by the function that was called
  end
  if pure and value ~= nil then return same(value, t.tensor) end
  if pure then return nil end
  if not here(t) then return nil end
  local its = is_written(n, t.op)
  if n.kind == "call" then return its or nil end
  return its == true
end

-- ---- names -----------------------------------------------------------------------

-- Parameters of a module that the line calls are held by it.
local function hold_parameters(v, text, held, deep)
  local function each(maps, f)
    local m = rawget(v, maps)
    m = type(m) == "table" and rawget(m, "map")
    for name, x in next, type(m) == "table" and m or {} do
      if type(name) == "string" then
        f(x, name:find("^%d") and ("%s[%s]"):format(text, name)
          or text .. "." .. name)
      end
    end
  end
  each("_parameters", function (x, name) held[#held + 1] = {x, name, true} end)
  if deep < 8 then
    each("_modules", function (x, name)
      if type(x) == "table" then hold_parameters(x, name, held, deep + 1) end
    end)
  end
end

-- Names for inputs that a part of the line holds, or has among its items; all
-- tensors that it holds are put into `held`, {tensor, text}.
local function name_held(nodes, inputs, env, held)
  local function offer(value, text)
    if text and util.is_tensor(value) then held[#held + 1] = {value, text} end
    for _, t in ipairs(inputs) do
      if text and same(value, t.tensor)
         and (not t.text or #text < #t.text) then t.text = text end
    end
  end
  for _, n in ipairs(nodes) do
    local value, pure = raw(n, env)
    local text = pure and value ~= nil and n.kind ~= "const" and text_of(n)
    if text and util.is_tensor(value) then offer(value, text)
    elseif text and V.is_seq(value) then
      for i = 1, value.n do offer(value[i], ("%s[%d]"):format(text, i - 1)) end
    elseif text and type(value) == "table" and rawget(value, "_parameters") then
      hold_parameters(value, text, held, 0)
    elseif text and V.is_dict(value) then
      for key, x in next, rawget(value, "map") do
        if type(key) == "string" then offer(x, ('%s["%s"]'):format(text, key)) end
      end
    end
  end
end

-- The expression that a node takes for an input of its operator.
local function operand(t, list, named)
  local n = named[t.arg] or list[t.pos + 1]
  if n and t.at then n = (n.kind == "list" or n.kind == "tuple") and n.items[t.at + 1] end
  return n or nil
end

-- The one node that is the failed operator: some of what it takes is known to be
-- its inputs, nothing is known not to be.
local function failed_node(nodes, op, inputs, env, here)
  local found
  for _, n in ipairs(nodes) do
    if is_written(n, op) then
      local list, named = taken_by(n, env)
      local known, against = false, false
      for _, t in ipairs(inputs) do
        local e = operand(t, list, named)
        local yes = e and gives(e, t, env, here)
        known, against = known or yes == true, against or yes == false
      end
      if known and not against then
        if found then return nil end
        found = n
      end
    end
  end
  return found
end

-- Names from where the inputs stand in the failed operator's own node.
local function name_by_node(n, inputs, env)
  local list, named = taken_by(n, env)
  for _, t in ipairs(inputs) do
    local e = not t.text and operand(t, list, named)
    if e then t.text = tight(e) end
  end
end

-- Names of inputs that were made in the line, by an operator that is written
-- there once, as an argument of a call.
local function name_by_origin(nodes, inputs, here)
  for _, t in ipairs(inputs) do
    local found, count = nil, 0
    for _, n in ipairs(here(t) and not t.text and nodes or {}) do
      for _, a in ipairs(n.kind == "call" and n.args or {}) do
        if not a.star and is_written(a.value, t.op) then
          found, count = a.value, count + 1
        end
      end
    end
    if count == 1 then t.text = tight(found) end
  end
end

-- names(scope, file, line, op, inputs) -> {text or false} for each of `inputs`,
-- {{tensor, text}} of what the line holds.  An input is {tensor =, arg =, pos =,
-- at =, op =, line =}: its argument's name, number and place in a list, and the
-- operator and line that made it (of the same file).
function M.names(scope, file, line, op, inputs)
  local out, held = {}, {}
  for i, t in ipairs(inputs) do out[i], t.text = false, nil end
  local nodes = nodes_at(M.texts[file] or "", line)
  if not nodes then return out, held end
  local function here(t) return t.line == line and t.op ~= nil end
  name_held(nodes, inputs, scope, held)
  local n = failed_node(nodes, op, inputs, scope, here)
  if n then name_by_node(n, inputs, scope)
  else name_by_origin(nodes, inputs, here) end
  for i, t in ipairs(inputs) do out[i] = t.text or false end
  return out, held
end

dt._python_operands(M.names)

return M

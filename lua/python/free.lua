-- SPDX-License-Identifier: MIT
-- python/free.lua: the names that a text reads before it binds them: what a
-- fragment of a program needs from the lines that are not shown.
--
-- Statements outside functions count in their order; a function's body runs
-- later, so that what any line binds is there for it.

local scope = require "python.scope"

local M = {}

local visit

-- Names that the parameters of `n` and its body bind are no one else's.
local function visit_function(n, bound, out)
  for _, p in ipairs(n.params) do
    if p.default then visit(p.default, bound, out) end
    if p.note then visit(p.note, bound, out) end
  end
  for _, d in ipairs(n.decorators or {}) do visit(d, bound, out) end
  local body = n.kind == "lambda" and {n.body} or n.body
  local inner = setmetatable(scope.locals_of(n.params, body), {__index = bound})
  for _, b in ipairs(body) do visit(b, inner, out) end
end

local function visit_comprehension(n, bound, out)
  local own = {}
  for _, f in ipairs(n.fors) do scope.bind_target(f.target, own) end
  local inner = setmetatable(own, {__index = bound})
  for key, part in pairs(n) do
    if key ~= "fors" and type(part) == "table" then visit(part, inner, out) end
  end
  for _, f in ipairs(n.fors) do
    visit(f.iter, inner, out)
    for _, c in ipairs(f.ifs) do visit(c, inner, out) end
  end
end

local function visit_class(n, bound, out)
  for _, d in ipairs(n.decorators or {}) do visit(d, bound, out) end
  for _, b in ipairs(n.bases) do visit(b, bound, out) end
  for _, k in ipairs(n.keywords) do visit(k.value, bound, out) end
  local inner = setmetatable(scope.locals_of({}, n.body), {__index = bound})
  for _, b in ipairs(n.body) do visit(b, inner, out) end
end

local VISITS = {["def"] = visit_function, lambda = visit_function,
  class = visit_class, generator = visit_comprehension,
  listcomp = visit_comprehension, setcomp = visit_comprehension,
  dictcomp = visit_comprehension}

function visit(n, bound, out)
  if n.kind == "name" then
    if not bound[n.name] then out[#out + 1] = n.name end
    return
  end
  local f = VISITS[n.kind]
  if f then return f(n, bound, out) end
  local keys = {}
  for key, part in pairs(n) do
    if type(part) == "table" then keys[#keys + 1] = key end
  end
  table.sort(keys, function (a, b) return tostring(a) < tostring(b) end)
  for _, key in ipairs(keys) do visit(n[key], bound, out) end
end

local LATER <const> = {["def"] = true, class = true}

-- What a statement other than a function reads, without what it assigns to:
-- "x = f(x)" reads x.
local function visit_statement(n, bound, out)
  local own = scope.locals_of({}, {n})
  if n.kind == "augment" then
    visit(n.target, bound, out)
    visit(n.value, bound, out)
  elseif n.kind == "assign" then
    visit(n.value, bound, out)
    for _, t in ipairs(n.targets) do
      visit(t, setmetatable({}, {__index = function (_, k)
        return own[k] or bound[k] end}), out)
    end
  elseif LATER[n.kind] then
    visit(n, bound, out)
  else
    visit(n, setmetatable(own, {__index = bound}), out)
  end
end

-- of_function(n): what the body of a function or lambda reads beside the names
-- that it binds itself, as often as it does.
function M.of_function(n)
  local params, out = {}, {}
  for i, p in ipairs(n.params) do params[i] = {name = p.name} end
  visit_function({kind = n.kind, params = params, body = n.body}, {}, out)
  return out
end

-- The names in their first order, each once; `list` are the statements.
function M.names(list)
  local all, bound, out = scope.locals_of({}, list), {}, {}
  for _, n in ipairs(list) do
    visit_statement(n, LATER[n.kind] and all or bound, out)
    for name in pairs(scope.locals_of({}, {n})) do bound[name] = true end
  end
  local seen, names = {}, {}
  for _, name in ipairs(out) do
    if not seen[name] then names[#names + 1] = name end
    seen[name] = true
  end
  return names
end

return M

-- SPDX-License-Identifier: MIT
-- python/annotations.lua: __annotations__ of classes and functions.  The
-- trees of the annotations are kept; their values are made when the program
-- asks for them, in the scope where they are written; after `from __future__
-- import annotations` they are texts.

local util = require "dt.util"
local V = require "python.values"
local attrs = require "python.attrs"
local calls = require "python.call"
local expr = require "python.expr"
local parser = require "python.parser"

local None = require("dt").None
local M = {}

local text

local function joined(list)
  local out = {}
  for i, n in ipairs(list) do out[i] = text(n) end
  return table.concat(out, ", ")
end

local UNPARSE = {
  name = function (n) return n.name end,
  attr = function (n) return text(n.value) .. "." .. n.name end,
  const = function (n) return V.repr(n.value) end,
  literal = function (n) return n.name end,
  ellipsis = function () return "..." end,
  unary = function (n) return n.op .. text(n.a) end,
  call = function (n)
    local out = {}
    for i, arg in ipairs(n.args) do
      out[i] = (arg.name and arg.name .. "=" or ("*"):rep(arg.star or 0))
        .. text(arg.value)
    end
    return text(n.fn) .. "(" .. table.concat(out, ", ") .. ")"
  end,
  list = function (n) return "[" .. joined(n.items) .. "]" end,
  tuple = function (n)
    return "(" .. joined(n.items) .. (#n.items == 1 and ",)" or ")")
  end,
  binary = function (n) return text(n.a) .. " " .. n.op .. " " .. text(n.b) end,
  item = function (n)
    local index = n.index
    return text(n.value) .. "[" .. (index.kind == "tuple" and #index.items > 1
      and joined(index.items) or text(index)) .. "]"
  end,
}

-- text(n): an annotation as ast.unparse writes it.
function text(n)
  local f = UNPARSE[n.kind]
  if f then return f(n) end
  return util.refuse("the text of an annotation of this "
    .. "kind (%s) is not part of dtrepl", n.kind)
end

-- What the text of an annotation means, which may mean a text again.
local function meaning(v, env)
  while type(v) == "string" and env do
    v = expr.compile(parser.expression(v))(env)
  end
  return v == nil and None or v
end

-- value(n, env, evaluate): what the annotation is.
local function value(n, env, evaluate)
  if n.future and not evaluate then return text(n) end
  local v = expr.compile(n)(env)
  if evaluate then v = meaning(v, env) end
  return v == nil and None or v
end
calls.set_note_value(value)

-- A copy of a dict of annotations, with what its texts mean where `evaluate`.
local function copied(written, env, evaluate)
  local d = V.dict()
  for k, v in V.each(written) do
    V.dict_set(d, k, evaluate and meaning(v, env) or v)
  end
  return d
end

-- The dict that the program, or one who asked, has made of a class's annotations;
-- nil where there is none, or one that its body wrote beside them.
local function kept(class)
  local written = rawget(class, "__annotations__")
  local beside = (rawget(class, "__noted") or {}).written
  return not rawequal(written, beside) and written or nil, beside
end

-- of_class(class, evaluate): a dict of what the body of a class annotates.
function M.of_class(class, evaluate)
  local env, all, beside = rawget(class, "__note_env"), kept(class)
  if all then return copied(all, env, evaluate) end
  local d, notes = V.dict(), rawget(class, "__notes")
  for _, name in ipairs(rawget(class, "__noted") or {}) do
    V.dict_set(d, name, value(notes[name], env, evaluate))
  end
  for k, v in V.each(copied(beside or V.dict(), env, evaluate)) do
    V.dict_set(d, k, v)
  end
  return d
end

-- of_function(f, evaluate): those of the parameters, then of the result.
function M.of_function(f, evaluate)
  local d, written = V.dict(), rawget(f, "__annotations__")
  if written then return evaluate and copied(written, f.env, true) or written end
  for _, p in ipairs(rawget(f, "params") or {}) do
    if p.note then V.dict_set(d, p.name, value(p.note, f.env, evaluate)) end
  end
  if rawget(f, "note") then
    V.dict_set(d, "return", value(f.note, f.env, evaluate))
  end
  return d
end

-- One dict for all who ask, which may be changed.
attrs.class_fact.__annotations__ = function (c)
  local d = kept(c)
  if not d then
    d = M.of_class(c)
    rawset(c, "__annotations__", d)
  end
  return d
end
attrs.function_fact.__annotations__ = function (f)
  local d = M.of_function(f)
  rawset(f, "__annotations__", d)
  return d
end

return M

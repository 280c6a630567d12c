-- SPDX-License-Identifier: MIT
-- python/eval.lua: runs Python texts.  Every node of the tree becomes a
-- closure once (expr.lua, call_expr.lua, target.lua, stmt.lua); names live in
-- environments (env.lua).
--
-- What Python is not done here, and said by name: async; integers of
-- more than 200,000 bits.

local util = require "dt.util"
local V = require "python.values"
local lexer = require "python.lexer"
local parser = require "python.parser"
local syntax = require "python.syntax"
local calls = require "python.call"
local attrs = require "python.attrs"
local env_of = require "python.env"
local expr = require "python.expr"
local call_expr = require "python.call_expr"
local stmt = require "python.stmt"
require "python.annotations"
local operands = require "python.operands"
local builtin_names = require "python.builtin_names"

local None = require("dt").None
local M = {call = calls.call, getattr = attrs.get}

M.texts = {}                        -- what was run, by the name of its file
operands.texts = M.texts

-- on_text(f): f(text) hears of each text of a file before it runs.
local heard
function M.on_text(f) heard = f end

-- The statements of a whole program.
local function program(text)
  syntax.check_start(text)
  return parser.parse(text)
end

-- Run a text in an environment {vars = ...}; `name` is that of its file, `list`
-- its statements where they are at hand; `whole`: it is a whole program, whose first
-- statement may not be indented.
function M.run(text, env, name, list, whole)
  if name then
    M.texts[name] = text
    if heard then heard(text) end
  end
  local ok = true
  if not list then ok, list = pcall(whole and program or parser.parse, text) end
  if not ok then
    if type(list) == "table" and list.lineno and name then
      list.filename, list.explain = name, syntax.shown(list, name)
    end
    error(list, 0)
  end
  local first = list[1]
  if env.vars.__doc__ == None and first and first.kind == "expr"
     and first.value.kind == "const" and type(first.value.value) == "string" then
    env.vars.__doc__ = first.value.value
  end
  return stmt.block(list, name)(env)
end

-- Run a text (of the file of that name, or nil), whose statements may be at
-- hand; returns the value of the last one where that is an expression, else nil.
function M.last(text, env, name, list)
  list = list or parser.parse(text)
  local final = list[#list]
  if final and final.kind == "expr" then final.kind = "return" end
  local _, value = stmt.block(list, name)(env)
  return value
end

-- The value of one expression.
function M.value(text, env)
  return expr.compile(parser.expression(text))(env)
end

-- An environment of the names in a dict; `root`: the program's outermost one,
-- whose builtins it shares, but not its names.
local function env_of_dict(d, root)
  local mt = getmetatable(root.vars) or {}
  local vars = env_of.module_vars(mt.__index, {asked = mt.asked})
  for k, v in V.each(d) do vars[k] = v end
  vars.__name__ = vars.__name__ or "builtins"
  return {vars = vars}
end

-- What a text bound goes back into the dict.
local function write_back(env, d)
  for k, v in V.each(call_expr.dict_of(env)) do
    if k ~= "__name__" or V.dict_get(d, k) ~= nil then V.dict_set(d, k, v) end
  end
end

-- ---- compile ----

local code_mt = {__name = "code", __tostring = function (c)
  return ('<code object %s at 0x%x, file "%s", line 1>'):format(c.co_name,
    V.identity(c), c.co_filename)
end}

local MODES <const> = {exec = true, eval = true, single = true}
local PARAMS <const> = {"source", "filename", "mode"}

-- The text of what is to be compiled or run, from a text or bytes.
local function source_of(v, what)
  if V.is_bytes(v) then v = v.s end
  v = V.unbox(v)
  if type(v) ~= "string" then
    util.raise("TypeError", what .. " a string, bytes or %s object",
      what:find("^compile") and "AST" or "code")
  end
  return v
end

-- In mode "single" sys.displayhook gets what an expression gives.
local function show_values(n)
  if type(n) ~= "table" or n.kind == "def" or n.kind == "class"
     or n.kind == "lambda" then
    return
  elseif n.kind == "expr" then
    local value = n.value
    n.value = parser.expression("__import__('sys').displayhook(0)")
    n.value.args[1].value = value
    return
  end
  for _, part in pairs(n) do show_values(part) end
end

-- A text made ready to run: a function of its environment.
local function ready(text, mode, file)
  if mode == "eval" then
    local tree = syntax.for_eval(parser.expression, text:match("^%s*(.*)$"), file)
    return expr.compile(tree)
  end
  return syntax.for_eval(function (s)
    local list = program(s)
    if mode == "single" then
      local last = list[#list]
      if last and last.first ~= list[1].first then
        lexer.refuse(1, "multiple statements found while compiling a single "
          .. "statement")
      end
      show_values(list)
    end
    return stmt.block(list)
  end, text, file)
end

-- The text of a file's name: of a str, of bytes or of a path.
local function file_of(v)
  local path = V.special(v, "__fspath__")
  local text = V.unbox(path and path() or v)
  if V.is_bytes(text) then text = text.s end
  if type(text) == "string" then return text end
  return util.raise("TypeError", "expected str, bytes or os.PathLike object, not %s",
    V.type_name(v))
end

local function compile_text(a, kw)
  local function arg(i, name)
    local v = a[i]
    if v == nil and kw then v = V.dict_get(kw, name) end
    return v
  end
  for i, name in ipairs(PARAMS) do
    if arg(i, name) == nil then
      util.raise("TypeError", "compile() missing required argument '%s' (pos %d)",
        name, i)
    end
  end
  local mode, flags = V.unbox(arg(3, "mode")), arg(4, "flags")
  if not MODES[mode] then
    util.raise("ValueError", "compile() mode must be 'exec', 'eval' or 'single'")
  elseif flags ~= nil and flags ~= 0 then
    util.refuse("compile() with flags is not part of dtrepl")
  end
  local file = file_of(arg(2, "filename"))
  local text = source_of(arg(1, "source"), "compile() arg 1 must be")
  return attrs.namespace(setmetatable({mode = mode, co_filename = file,
    co_name = "<module>", run = ready(text, mode, file)}, code_mt))
end
builtin_names.compile = V.builtin(compile_text, "compile")

-- eval(text), exec(text): in the caller's scope; with a dict, in its names;
-- with two, what it binds is in the second.
local function run_text(what)
  return function (env, a)
    local code = getmetatable(a[1]) == code_mt and a[1]
    local text = not code and source_of(a[1], what .. "() arg 1 must be")
    local root = env
    while root.up do root = root.up end
    local globals, locals = V.is_dict(a[2]) and a[2], V.is_dict(a[3]) and a[3]
    local place = globals and env_of_dict(globals, root) or env
    if locals then
      local inner = env_of_dict(locals, root)
      inner.vars = setmetatable(inner.vars, nil)
      inner.vars.__name__ = V.dict_get(locals, "__name__")
      inner.up, inner.class, place = place, true, inner
    end
    local run = code and code.run or ready(text, what, "<string>")
    if what == "eval" and (not code or code.mode == "eval") then return run(place) end
    run(place)
    if globals then write_back(locals and place.up or place, globals) end
    if locals then write_back(place, locals) end
    return None
  end
end

-- The environment of the program's statement under way.
local function at_hand()
  local level = 2
  while true do
    local info = debug.getinfo(level, "S")
    if not info then return {vars = {}} end
    local name, env = debug.getlocal(level, 1)
    if name == "python_scope" and not info.source:find("^=") then return env end
    level = level + 1
  end
end

for _, what in ipairs {"eval", "exec"} do
  local run = run_text(what)
  call_expr.texts[what] = run
  builtin_names[what] = V.builtin(function (a) return run(at_hand(), a) end, what)
end

return M

-- SPDX-License-Identifier: MIT
-- python/std/frames.lua: which statement of the program is under way, for the
-- modules that say so (logging).  A statement runs in a Lua function of its
-- line (stmt.lua), whose first variable is its environment.

local dt = require "dt"
local util = require "dt.util"
local V = require "python.values"
local attrs = require "python.attrs"
local protect = require "python.protect"
local eval = require "python.eval"
local sources = require "python.sources"
local env_of = require "python.env"
local exceptions = require "python.exceptions"

-- The function's environment of one of a comprehension in it.
local function of_function(env)
  while env.inner do env = env.up end
  return env
end

-- The file of a statement's function, as Python calls it.
local function file_of(info)
  return sources.path((info.source:gsub("^@", "", 1)))
end

-- caller(n): the file, line and name of the function that stands n calls above
-- the library's: of the program's own, 1 is the innermost; None beyond them.
local function caller(a)
  local left, last = V.index_of(a[1]), nil
  local level = 2
  while true do
    local info = debug.getinfo(level, "Sl")
    if not info then return dt.None end
    local name, env = debug.getlocal(level, 1)
    if name == "python_scope" and not rawequal(of_function(env), last) then
      last = of_function(env)
      left = left - 1
      if left == 0 then
        local called = rawget(last, "name")
        return V.tuple {file_of(info), info.currentline,
          called and called:match("[^.]+$") or "<module>"}
      end
    end
    level = level + 1
  end
end

-- The name of the module whose statement is under way.
local function module_name()
  local level = 2
  while true do
    if not debug.getinfo(level, "l") then return "__main__" end
    local name, env = debug.getlocal(level, 1)
    if name == "python_scope" then return env_of.module_name(env) end
    level = level + 1
  end
end

local MOST <const> = 4000            -- levels of Lua's stack that are looked at

-- The statements under way, innermost first, as rows {file, line, name, env}
-- that are added to `rows`; of the coroutine co, where it is given.
local function add_frames(rows, co, level)
  local last
  for at = level, MOST do
    local info = co and debug.getinfo(co, at, "Sl")
      or not co and debug.getinfo(at + 1, "Sl")
    if not info then return rows end
    local name, env
    if co then name, env = debug.getlocal(co, at, 1)
    else name, env = debug.getlocal(at + 1, 1) end
    if name == "python_scope" and not rawequal(of_function(env), last) then
      last = of_function(env)
      local called = rawget(last, "name")
      if not rawequal(rawget(rows[#rows] or {}, "env"), last) then
        rows[#rows + 1] = {file = (info.source:gsub("^@", "", 1)),
          line = info.currentline, env = last,
          name = called and called:match("[^.]+$") or "<module>"}
      end
    end
  end
  return rows
end

-- note(e, co): the error keeps where it is raised, the first time that it is
-- seen; of one that ended a coroutine, whose frames are not there any more.
local function note(e, co)
  if type(e) ~= "table" or not rawget(e, "class") or rawget(e, "frames") then
    return e
  end
  local rows = co and add_frames({}, co, 0) or {}
  e.frames = add_frames(rows, nil, 3)
  return e
end

local frame_of                      -- below

local lines_of = {}                 -- {text, its lines}, by file

-- The line of a file of the program, or None.
local function line_of(file, n)
  local text, held = eval.texts[file], lines_of[file]
  if not text then return dt.None end
  if not held or held[1] ~= text then
    held = {text, {}}
    for line in text:gmatch("([^\n]*)\n?") do held[2][#held[2] + 1] = line end
    lines_of[file] = held
  end
  return held[2][n] or dt.None
end

-- text(file): the text of a file of the program by its path, or None.
local function text_of(a)
  for file, text in pairs(eval.texts) do
    if file == a[1] or sources.path(file) == a[1] then return text end
  end
  return dt.None
end

-- The rows as tuples of file, line, name and text, outermost first; from
-- `first`, the outermost.
local function tuples(rows, first)
  local out = {}
  for i = first, 1, -1 do
    local r = rows[i]
    out[#out + 1] = V.tuple {sources.path(r.file), r.line, r.name,
      line_of(r.file, r.line)}
  end
  return V.list(out)
end

-- of(traceback): what its error came through, up to where it was caught.
local function of(a)
  local e = type(a[1]) == "table" and rawget(a[1], "error")
  local rows = e and rawget(e, "frames")
  if not rows then return V.list({}, 0) end
  local caught = rawget(e, "caught_in")
  caught = caught and of_function(caught)
  for i = 1, #rows do
    if rawequal(rows[i].env, caught) then return tuples(rows, i) end
  end
  return tuples(rows, #rows)
end

-- What is known of a traceback that stands at row `at` of its error's, outermost
-- first; one without a row stands where the error was caught.
local function trace_fact(t, name)
  local e = rawget(t, "error")
  local rows = rawget(e, "frames")
  if not rows or type(name) ~= "string" or not name:find "^tb_[lnf]" then
    return nil
  end
  local at, caught = rawget(t, "at"), rawget(e, "caught_in")
  if not at then
    at, caught = #rows, caught and of_function(caught)
    for i = 1, #rows do
      if rawequal(rows[i].env, caught) then at = i end
    end
  end
  if not rows[at] then return nil end
  if name == "tb_lineno" then return rows[at].line end
  if name == "tb_frame" then return frame_of(rows, at) end
  if name ~= "tb_next" or at == 1 then return nil end
  return setmetatable({tb_lasti = -1, error = e, at = at - 1}, exceptions.trace_mt)
end
exceptions.set_trace_facts(trace_fact)

-- stack(): the statements under way, without that of the library's text.
local function stack()
  local rows = add_frames({}, nil, 2)
  while #rows > 0 and rows[1].file:find("^=") do table.remove(rows, 1) end
  return tuples(rows, #rows)
end

-- ---- frames as a program reads them ----

-- The names of an environment, which stay its own.
local function names_in(env)
  local d = V.dict()
  for _, name in ipairs(env_of.names(env.vars)) do
    if name ~= "__class__" then V.dict_set(d, name, env.vars[name]) end
  end
  d.changed = function (name, x) env.vars[name] = x end
  return d
end

local FACT <const> = {
  f_lineno = function (r)           -- where it is now, while it is under way
    for _, now in ipairs(add_frames({}, nil, 3)) do
      if rawequal(now.env, r.env) then return now.line end
    end
    return r.line
  end,
  f_locals = function (r) return names_in(r.env) end,
  f_globals = function (r)
    local env = r.env
    while env.up do env = env.up end
    return names_in(env)
  end,
  f_code = function (r)
    return attrs.namespace(setmetatable({co_name = r.name,
      co_qualname = rawget(r.env, "name") or r.name,
      co_filename = sources.path(r.file)},
      {__name = "code", __index = function (_, name)
        if type(name) == "string" and name:find("^co_") then
          util.refuse("%s of a frame's code is not part of dtrepl", name)
        end
      end}))
  end,
}

-- The frame of row i of those under way, innermost first.
local function frame(rows, i)
  local r = rows[i]
  return attrs.namespace(setmetatable({}, {__name = "frame",
    __index = function (_, name)
      if FACT[name] then return FACT[name](r) end
      if name == "f_back" then
        if rows[i + 1] then return frame(rows, i + 1) end
        if r.name == "<module>" then return dt.None end
        util.refuse("the frame from which a generator runs is not part of dtrepl")
      elseif type(name) == "string" and name:find("^f_") then
        util.refuse("%s of a frame is not part of dtrepl", name)
      end
    end}))
end

frame_of = frame

-- A text that reads tracebacks needs them kept.
eval.on_text(function (text)
  if text:find("%f[%w_]tb_[lnf]") then protect.set_tracer(note) end
end)

-- _getframe(depth): the frame of the statement under way, or of one around it.
local function get_frame(a)
  local depth = a[1] and V.index_of(a[1]) or 0
  local rows = add_frames({}, nil, 2)
  while #rows > 0 and rows[1].file:find("^=") do table.remove(rows, 1) end
  if not rows[depth + 1] then
    if #rows == 0 or rows[#rows].name == "<module>" then
      util.raise("ValueError", "call stack is not deep enough")
    end
    util.refuse("the frame from which a generator runs is not part of dtrepl")
  end
  return frame(rows, depth + 1)
end
attrs.provide("_frames", attrs.namespace {
  caller = V.builtin(caller, "caller"), of = V.builtin(of, "of"),
  stack = V.builtin(stack, "stack"), text = V.builtin(text_of, "text"),
  keep = V.builtin(function ()
    protect.set_tracer(note)
    return dt.None
  end, "keep")})

return {module_name = module_name, get_frame = get_frame}

-- SPDX-License-Identifier: MIT
-- repl/editor.lua: what a debug adapter (repl/dap) asks a session: the stop,
-- frames, values that unfold, breakpoints.  A question is a table
-- {id, ask = name, ...}; every rank answers, rank 0 passes all answers on.
--
-- A value is named by a root (a frame, the operator, the past, an expression)
-- and a path from it, so that nothing is kept between questions and each rank
-- finds its own.

local dt = require "dt"
local inspect = require "dt.tensor.inspect"
local pages = require "repl.pages"
local util = require "dt.util"

local M = {}

local MOST = 200                -- children shown at once
local WIDE = 160                -- characters of a value in one line

local function cut(text)
  text = text:gsub("%s*\n%s*", " ")
  if utf8.len(text) and utf8.len(text) > WIDE then
    text = text:sub(1, utf8.offset(text, WIDE) - 1) .. "…"
  end
  return text
end

-- ---- values ----

local function is_module(v)
  return type(v) == "table" and require("dt.nn.module").is_module(v)
end

-- Python's objects are tables with a class; so are Lua's with a metatable.
local function object_text(v)
  local mt = getmetatable(v)
  if type(mt) == "table" and mt.__tostring then return tostring(v) end
  return inspect.text(v)
end

local function text_of(v)
  if util.is_tensor(v) then
    local head = v:_header()
    if v.ndim == 0 and not v.is_dtensor then
      local ok, n = pcall(v.item, v)
      if ok then head = head .. " = " .. tostring(n) end
    end
    return head
  end
  if is_module(v) then return (tostring(v):match("^[^\n]*")) end
  if type(v) == "string" then return ("%q"):format(v):gsub("\\\n", "\\n") end
  local ok, text = pcall(object_text, v)
  return ok and text or type(v)
end

local function unfolds(v)
  if util.is_tensor(v) or util.is_mesh(v) then return true end
  return type(v) == "table" and v ~= dt.None and next(v) ~= nil
end

local function type_of(v)
  if util.is_tensor(v) then return v.is_dtensor and "DTensor" or "Tensor" end
  if util.is_mesh(v) then return "DeviceMesh" end
  if is_module(v) then return "Module" end
  return type(v)
end

local function child(name, v, key)
  return {name = name, value = cut(text_of(v)), type = type_of(v),
    unfolds = unfolds(v), key = key == nil and name or key}
end

local function fact(name, text) return {name = name, value = cut(text)} end

local function tensor_parts(t)
  local out = {}
  if t.is_dtensor then
    local list = {}
    for i, p in ipairs(t.placements) do list[i] = tostring(p) end
    out[1] = fact("placements", table.concat(list, ", "))
    out[2] = child("mesh", t.device_mesh, "@mesh")
  end
  out[#out + 1] = fact("shape", inspect.text(t.shape))
  out[#out + 1] = fact("dtype", tostring(t.dtype))
  if t.requires_grad then out[#out + 1] = fact("requires_grad", "true") end
  local from = t.origin
  if type(from) == "table" and from.op then
    out[#out + 1] = fact("made at", ("%s:%s by %s #%s"):format(
      tostring(from.file), tostring(from.line), from.op, tostring(from.seq)))
  end
  if t.is_dtensor then
    out[#out + 1] = {name = "ranks", value = "its part on each rank",
      unfolds = true, key = "@ranks"}
    out[#out + 1] = child("local", t:to_local(), "@local")
  else
    out[#out + 1] = {name = "values", value = cut(t:_local_text()),
      unfolds = t.ndim > 0, key = "@values"}
  end
  if t.is_leaf and t.grad ~= nil and t.grad ~= dt.None then
    out[#out + 1] = child("grad", t.grad, "@grad")
  end
  return out
end

-- Elements of a vector, rows of the others.
local function elements(t, start, count)
  local out = {}
  local n = t.ndim > 0 and t.shape[1] or 0
  for i = start, math.min(n, start + count) - 1 do
    local row = t[{i}]
    out[#out + 1] = {name = ("[%d]"):format(i), key = i,
      value = cut(row.ndim == 0 and tostring(row:item()) or row:_local_text()),
      unfolds = row.ndim > 0}
  end
  return out
end

local function module_parts(m)
  local out = {}
  for name, p in m:named_parameters{recurse = false} do
    out[#out + 1] = child(name, p)
  end
  for name, part in m:named_children() do out[#out + 1] = child(name, part) end
  return out
end

local function table_parts(v, start, count)
  local out, n = {}, 0
  for k, x in next, v do
    if type(k) == "string" or math.type(k) == "integer" then
      n = n + 1
      if n > start and #out < count then
        out[#out + 1] = child(math.type(k) and ("[%d]"):format(k) or k, x, k)
      end
    end
  end
  return out
end

local function mesh_parts(m)
  return {fact("shape", inspect.text(m.shape)),
    fact("mesh_dim_names", inspect.text(m.mesh_dim_names or {})),
    fact("device_type", m.device_type),
    fact("coordinate", inspect.text(m:get_coordinate() or {}))}
end

local function parts(v, start, count)
  if util.is_tensor(v) then return tensor_parts(v) end
  if util.is_mesh(v) then return mesh_parts(v) end
  if is_module(v) then return module_parts(v) end
  if type(v) == "table" then return table_parts(v, start, count) end
  return {}
end

-- The script's frames, without this file's own.
local function frames()
  local all, out = dt.debug.frames(), {}
  for _, f in ipairs(all) do
    if not f.file:find("^%[repl%.") then out[#out + 1] = f end
  end
  return out
end

-- ---- where a value is ----

local function gone() error("this variable is gone", 0) end

local function step(v, key)
  if v == nil then gone() end
  if util.is_tensor(v) then
    if key == "@local" then return v:to_local() end
    if key == "@grad" then return v.grad end
    if key == "@mesh" then return v.device_mesh end
    if key == "@values" then return v end
    if math.type(key) == "integer" then return v[{key}] end
    gone()
  end
  if type(v) ~= "table" then gone() end
  if is_module(v) then
    for name, p in v:named_parameters{recurse = false} do
      if name == key then return p end
    end
    for name, m in v:named_children() do if name == key then return m end end
  end
  return rawget(v, key)
end

-- The names of a root, in order, and what they hold.
local function root_of(q, past)
  if q.root == "op" then
    local stop = dt.debug.stop() or {}
    local out, names = {}, {}
    for i, v in ipairs(stop.inputs or {}) do
      names[i] = ("arg %d"):format(i - 1)
      out[names[i]] = v
    end
    for i, v in ipairs(stop.outputs or {}) do
      names[#names + 1] = ("result %d"):format(i - 1)
      out[names[#names]] = v
    end
    return out, names
  end
  if past ~= 0 then
    local out, names = dt.debug.at(past), {}
    for name in next, out do names[#names + 1] = name end
    table.sort(names)
    return out, names
  end
  local f = frames()[(q.frame or 0) + 1]
  if f then return f.locals, f.locals end
  local out, names = {}, {}     -- no frame: what the prompt's lines left
  for name, v in next, _G do
    if type(name) == "string" and (util.is_tensor(v) or util.is_mesh(v)
        or is_module(v)) then
      out[name] = v
      names[#names + 1] = name
    end
  end
  table.sort(names)
  return out, names
end

local function value_of(q, past)
  local v, first = nil, 1
  if q.root == "value" then
    dt.debug._select(q.frame or 0)
    v = dt.debug._value(q.text)
  else
    v = root_of(q, past)[q.path[1]]
    first = 2
  end
  for i = first, #q.path do
    if q.path[i] == "@ranks" then return v, true end
    v = step(v, q.path[i])
  end
  return v
end

-- ---- the questions ----

local ask = {}

-- Python's own prompt, which loads when a program needs it.
local function python_prompt() return require("torch.prompt") end

local function past_frame(seq)
  for _, e in ipairs(dt.debug.history()) do
    if e.seq == seq then
      return {name = ("before %s #%d, in the past"):format(e.op, seq),
        file = e.file, line = e.line}
    end
  end
  return {name = ("before #%d, in the past"):format(seq)}
end

function ask.stop(_, past)
  local s = dt.debug.stop()
  if not s then return {past = past} end
  return {why = s.why, kind = s.kind, file = s.file, line = s.line,
    seq = s.seq, note = s.note, message = s.message, op = s.op,
    breakpoints = s.breakpoints, past = past,
    text = past ~= 0 and past_frame(past).name or s.text:match("^[^\n]*")}
end

function ask.stack(_, past)
  if past ~= 0 then return {frames = {past_frame(past)}, past = past} end
  local out = {}
  for i, f in ipairs(frames()) do
    out[i] = {name = f.name, file = f.file, line = f.line}
  end
  local s = dt.debug.stop()
  local op = s and s.op and s.kind ~= "LINE"
    and ("%s #%d"):format(s.op, s.seq) or nil
  return {frames = out, op = op, file = s and s.file, line = s and s.line,
    past = 0}
end

function ask.vars(q, past)
  local start, count = q.start or 0, math.min(q.count or MOST, MOST)
  if not q.path or (#q.path == 0 and q.root ~= "value") then
    local values, names = root_of(q, past)
    local out = {}
    for _, name in ipairs(names) do
      if #out == MOST then break end
      if values[name] ~= nil then
        out[#out + 1] = child(name, values[name])
      end
    end
    return {list = out}
  end
  local v, ranks = value_of(q, past)
  if v == nil then gone() end
  if ranks then
    local mine = v:to_local()
    return {own = {value = cut(mine:_header() .. " " .. mine:_local_text()),
      unfolds = true}}
  end
  local last = q.path[#q.path]
  if util.is_tensor(v) and (last == "@values" or math.type(last)
      and not v.is_dtensor) then
    return {list = elements(v, start, count)}
  end
  return {list = parts(v, start, count)}
end

-- Over the name of a function an editor shows its page.
local function page_of(q, v)
  local is_call = v == nil or type(v) == "function" or type(v) == "table"
    and not is_module(v) and not util.is_mesh(v)
  if not q.hover or not is_call or not q.text:match("^[%a_][%w_.:]*$") then
    return nil
  end
  local text = pages.hover(q.text, q.python)
  return text and {value = text, type = "text"}
end

function ask.value(q, past)
  local ok, v
  if past ~= 0 and q.text:match("^[%a_][%w_]*$") then
    v = dt.debug.at(past)[q.text]
    if v == nil then gone() end
  elseif q.python and not q.text:match("^[%a_][%w_.]*$") then
    dt.debug._select(q.frame or 0)
    v = python_prompt().python(q.text)
    return {value = cut(tostring(v)), type = "text"}
  else
    dt.debug._select(q.frame or 0)
    ok, v = pcall(dt.debug._value, q.text)
    local page = page_of(q, ok and v or nil)
    if page then return page end
    if not ok then error(v, 0) end
    if v == nil and q.python then
      error(("name '%s' is not defined"):format(q.text), 0)
    end
  end
  return {value = cut(text_of(v)), type = type_of(v), unfolds = unfolds(v)}
end

function ask.complete(q)
  if q.python and not q.text:match("^%s*[:?@]") then
    local word = q.text:match("[%a_][%w_.]*$") or ""
    local path, prefix = word:match("^(.-)([%w_]*)$")
    return {list = {table.unpack(python_prompt().complete(path, prefix), 1,
      100)}, start = #q.text - #word}
  end
  local out = {}
  for i, word in ipairs((dt.debug.complete(q.text))) do
    if i > 100 then break end
    out[i] = word
  end
  local _, start = dt.debug.complete(q.text)
  return {list = out, start = start}
end

-- How often a condition was asked at this breakpoint, this time included.
local passes = {}
function dt.debug._passes(id)
  passes[id] = (passes[id] or 0) + 1
  return passes[id]
end

-- A breakpoint: a function of the program is meant before an operator.
local function set_break(b, q)
  local place, why
  if b.name then
    place, why = require("repl.places").find(b.name, q.program, q.text)
  end
  if why then error(why, 0) end
  return dt.debug.breakpoint(place or b.text)
end

-- All breakpoints anew; each {text, condition, ignore, commands, name}; `text`:
-- that of the program.
function ask.breaks(q)
  dt.debug.delete()
  local out = {}
  for i, b in ipairs(q.list) do
    local ok, set = pcall(set_break, b, q)
    if ok then
      if b.condition then
        local fine, e = pcall(dt.debug.condition, set.id, b.condition)
        if not fine then
          dt.debug.delete(set.id)
          ok, set = false, e
        end
      end
    end
    if ok then
      if b.ignore then dt.debug.ignore(set.id, b.ignore) end
      if b.commands then dt.debug.commands(set.id, b.commands) end
      out[i] = {id = set.id}
    else
      out[i] = {why = tostring(set):match("^[^\n]*")}
    end
  end
  return {list = out}
end

function ask.select(q)
  dt.debug._select(q.frame or 0)
  return {done = true}
end

function ask.kinds()
  return {list = dt.debug.kinds()}
end

-- The fixes of the error that is stopped at, as :fix lists them; of another
-- stop, none.
function ask.fixes()
  local ok, answer = pcall(dt.debug.command, "fix")
  return {text = ok and answer.text or ""}
end

-- The last operator before `from` on one of these lines, or called like one of
-- these patterns; else the first of the record.
function ask.earlier(q, past)
  local stop = dt.debug.stop()
  local from = past ~= 0 and past or stop and stop.seq or math.maxinteger
  local found, first
  for _, e in ipairs(dt.debug.history()) do
    if e.seq < from then
      first = first or e.seq
      for _, b in ipairs(q.list) do
        if b.line == e.line and b.file == e.file
            or b.op and e.op:match(b.op) then
          found = e.seq
        end
      end
    end
  end
  return {seq = found or first, hit = found ~= nil}
end

-- answer(text, past) -> the line for the adapter (rank 0's counts), and a line
-- to be run.  Collective.
function M.answer(text, past)
  local q = dt._json_decode(text)
  if q.run then return nil, q.run end
  local ok, reply
  if ask[q.ask] then
    ok, reply = dt.debug.quietly(function ()
      return pcall(ask[q.ask], q, past)
    end)
  else
    ok, reply = false, "no such question"
  end
  if not ok then reply = {failed = tostring(reply):match("^[^\n]*")} end
  local all = dt._gather_text(dt.debug.json(reply))
  return ('{"id":%d,"replies":[%s]}'):format(q.id, table.concat(all, ","))
end

return M

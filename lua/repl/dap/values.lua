-- SPDX-License-Identifier: MIT
-- repl/dap/values.lua: stacks, scopes and values for an editor.  A reference is
-- a number for a root and a path from it (repl/editor.lua); it holds until the
-- program goes on.

local wire = require "repl.dap.wire"

local M = {}
M.__index = M

local FRAMES = 1000             -- frames of a rank, in the numbers of frames

function M.new() return setmetatable({list = {}, frames = {}}, M) end

function M:forget() self.list, self.frames = {}, {} end

function M:ref(r)
  self.list[#self.list + 1] = r
  return #self.list
end

-- The reply of a rank, or why there is none.
local function reply_of(replies, why, rank)
  local r = replies and (replies[rank + 1] or replies[1])
  if not r then return nil, why or "no answer" end
  if r.failed then return nil, r.failed end
  return r
end

-- ask(s, q, question, rank, f): f(reply, all), or the request is refused.
local function ask(s, q, question, rank, f)
  s.session:ask(question, function (replies, why)
    local r, wrong = reply_of(replies, why, rank)
    if not r then return s:refuse(q, wrong) end
    f(r, replies)
  end)
end

local function source_of(file, cwd)
  if not file or file == "" or file == "prompt" then return nil end
  local path = file
  if file:sub(1, 1) ~= "/" and cwd then path = cwd .. "/" .. file end
  return {name = file:match("[^/]*$"), path = path}
end

-- Frames are numbered by rank; 0 of a rank is the operator's.
local function frame_id(rank, i) return rank * FRAMES + i + 1 end

local function frame_of(id)
  id = math.tointeger(id) or 1
  return (id - 1) // FRAMES, (id - 1) % FRAMES
end

function M:stack(s, q, a)
  local rank = (math.tointeger(a.threadId) or 1) - 1
  ask(s, q, {ask = "stack"}, rank, function (r)
    local out, cwd = wire.list{}, s.launched.cwd
    if r.op then
      out[1] = {id = frame_id(rank, 0), name = r.op, line = r.line or 0,
        column = 1, source = source_of(r.file, cwd),
        presentationHint = "subtle"}
    end
    for i, f in ipairs(r.frames or {}) do
      out[#out + 1] = {id = frame_id(rank, i), name = f.name,
        line = (f.line or 1) - 1 + s.first_line, column = 1,
        source = source_of(f.file, cwd)}
    end
    local n, from = #out, math.tointeger(a.startFrame) or 0
    local most = math.tointeger(a.levels) or 0
    local shown = wire.list{}
    for i = from + 1, most > 0 and math.min(from + most, n) or n do
      shown[#shown + 1] = out[i]
    end
    for _, f in ipairs(out) do self.frames[f.id] = true end
    s:reply(q, {stackFrames = shown, totalFrames = n})
  end)
end

function M:scopes(s, q, a)
  if not self.frames[math.tointeger(a.frameId) or 0] then
    return s:refuse(q, "this frame is gone, or never was")
  end
  local rank, i = frame_of(a.frameId)
  local function scope(name, root)
    return {name = name, expensive = false, variablesReference =
      self:ref{rank = rank, root = root, frame = math.max(i - 1, 0),
        path = {}}}
  end
  local out = wire.list{}
  if i == 0 then out[1] = scope("Operator", "op") end
  out[#out + 1] = scope("Locals", "frame")
  s:reply(q, {scopes = out})
end

local function extended(path, key)
  local out = {table.unpack(path)}
  out[#out + 1] = key
  return out
end

local function question_of(r, a)
  return {ask = "vars", root = r.root, frame = r.frame, text = r.text,
    path = wire.list(r.path), start = math.tointeger(a.start),
    count = a.count ~= 0 and math.tointeger(a.count) or nil}
end

-- "ranks" unfolds into what each rank has.
function M:of_ranks(s, q, r, replies)
  local out = wire.list{}
  local path = {table.unpack(r.path, 1, #r.path - 1)}
  for i, reply in ipairs(replies) do
    local own = reply.own or {value = reply.failed or "nothing"}
    out[i] = {name = "rank " .. (i - 1), value = own.value,
      variablesReference = own.unfolds and self:ref{rank = i - 1,
        root = r.root, frame = r.frame, text = r.text,
        path = extended(path, "@local")} or 0}
  end
  s:reply(q, {variables = out})
end

function M:variables(s, q, a)
  local r = self.list[math.tointeger(a.variablesReference) or 0]
  if not r then
    return s:refuse(q, "these variables are gone: the program has gone on")
  end
  ask(s, q, question_of(r, a), r.rank, function (reply, all)
    if r.path[#r.path] == "@ranks" then
      return self:of_ranks(s, q, r, all)
    end
    local out = wire.list{}
    for i, v in ipairs(reply.list or {}) do
      local top = #r.path == 0 and r.root == "frame"
      out[i] = {name = v.name, value = v.value, type = v.type,
        evaluateName = top and v.name or nil,
        variablesReference = v.unfolds and self:ref{rank = r.rank,
          root = r.root, frame = r.frame, text = r.text,
          path = extended(r.path, v.key)} or 0}
    end
    s:reply(q, {variables = out})
  end)
end

local function is_python(s)
  return (s.launched.program or ""):match("%.py$") ~= nil
end

M.is_python = is_python

-- A line of the editor's console is one of the prompt.
local function typed(s, q, text)
  local line = text
  if is_python(s) and not text:match("^%s*[:?@=]") then
    line = ":python " .. text
  elseif is_python(s) and text:match("^%s*%?") then
    s.session:run(":set python on", function () end)    -- help in its words
  end
  s.session:run(line, function (out)
    s:reply(q, {result = (out:gsub("\n$", "")), variablesReference = 0})
    if s.session and s.session.where == "stop" then s:look_at_stop(false) end
  end)
end

function M:evaluate(s, q, a)
  local text = tostring(a.expression or "")
  if not a.context or a.context == "repl" then return typed(s, q, text) end
  local rank, i = frame_of(a.frameId)
  local frame = math.max(i - 1, 0)
  ask(s, q, {ask = "value", text = text, frame = frame,
    python = is_python(s), hover = a.context == "hover"}, rank, function (r)
    local ref = r.unfolds and self:ref{rank = rank, root = "value",
      frame = frame, text = text, path = {}} or 0
    s:reply(q, {result = r.value, type = r.type, variablesReference = ref})
  end)
end

-- A variable of a frame is set on every rank: they run the same program.
function M:set(s, q, a)
  local r = self.list[math.tointeger(a.variablesReference) or 0]
  if not r then return s:refuse(q, "these variables are gone") end
  local name, value = tostring(a.name), tostring(a.value)
  if r.root ~= "frame" or #r.path > 0 or not name:match("^[%a_][%w_]*$") then
    return s:refuse(q, "only variables of a function can be set; "
      .. "the console takes x.field = value")
  end
  local line = ("%s%s = %s"):format(is_python(s) and ":python " or "", name,
    value)
  s.session:ask({ask = "select", frame = r.frame}, function () end)
  s.session:run(line, function (out)
    if out:match("%S") then return s:refuse(q, out) end
    ask(s, q, {ask = "value", text = name, frame = r.frame}, r.rank,
      function (v)
        s:reply(q, {value = v.value, type = v.type, variablesReference =
          v.unfolds and self:ref{rank = r.rank, root = "frame",
            frame = r.frame, path = {name}} or 0})
      end)
  end)
end

return M

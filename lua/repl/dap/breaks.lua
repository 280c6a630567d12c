-- SPDX-License-Identifier: MIT
-- repl/dap/breaks.lua: an editor's breakpoints as those of a session: by file
-- and line, by function (an operator, or a kind of event), by data, by
-- exception.

local wire = require "repl.dap.wire"

local M = {}
M.__index = M

-- What an editor offers to stop at: {name, what is said of it, set at first}.
local filters = {
  {"error", "errors, where they are raised", true},
  {"mixed", "plain and distributed tensors mixed"},
  {"missing", "operators without a sharding strategy"},
  {"nan", "NaN or infinity is born"},
  {"warning", "findings"},
  {"diverge", "ranks that take different paths"},
  {"uneven", "uneven shards"},
}

function M.filters()
  local out = wire.list{}
  for i, f in ipairs(filters) do
    out[i] = {filter = f[1], label = f[2], default = f[3] == true}
  end
  return out
end

function M.new()
  return setmetatable({files = {}, order = {}, named = {}, watched = {},
    raised = {}, no_errors = false, next_id = 1, by_child = {}}, M)
end

-- "5", "> 5", ">= 5", "== 5", "% 5": how many hits to pass over, or what their
-- number must be.
local function hits_of(text)
  if type(text) ~= "string" or text:match("^%s*$") then return nil end
  local op, n = text:match("^%s*([<>=%%]*)%s*(%d+)%s*$")
  n = tonumber(n)
  if not n then return nil, nil, "a count is written as 5, >= 5 or % 5" end
  if op == "" or op == ">=" then return math.max(n - 1, 0) end
  if op == ">" then return n end
  if op == "%" then return nil, ("%% %d == 0"):format(n) end
  if op == "==" or op == "=" then return nil, ("== %d"):format(n) end
  if op == "<" or op == "<=" then return nil, ("%s %d"):format(op, n) end
  return nil, nil, "a count is written as 5, >= 5 or % 5"
end

-- "x is {x}" as a line that prints it, in the program's language.
local function log_line(text, python)
  local parts = {}
  local rest = text:gsub("{([^{}]+)}", function (expr)
    return "\1" .. expr .. "\1"
  end)
  local code = false
  for piece in (rest .. "\1"):gmatch("(.-)\1") do
    if piece ~= "" then
      parts[#parts + 1] = code and (python and "str(%s)" or "tostring(%s)")
        :format(piece) or ("%q"):format(piece):gsub("\\\n", "\\n")
    end
    code = not code
  end
  return ("%sprint(%s)\n:continue"):format(python and ":python " or "", #parts > 0
    and table.concat(parts, python and " + " or " .. ") or '""')
end

local function entry(self, text, b, more)
  local ignore, on_hits, wrong = hits_of(b.hitCondition)
  local condition = type(b.condition) == "string"
    and b.condition:match("%S") and b.condition or nil
  if on_hits then
    on_hits = ("dt.debug._passes(%d) %s"):format(self.next_id, on_hits)
    condition = condition and ("(%s) and %s"):format(condition, on_hits)
      or on_hits
  end
  local e = {id = self.next_id, text = text, ignore = ignore,
    condition = condition, why = wrong, commands = b.logMessage
    and log_line(tostring(b.logMessage), self.python) or nil}
  self.next_id = self.next_id + 1
  for k, v in pairs(more or {}) do e[k] = v end
  return e
end

local function listed(v)
  return ipairs(type(v) == "table" and v or {})
end

-- How many lines a file has; nil where it cannot be read.
local function count_lines(path)
  local f = io.open(path, "r")
  if not f then return nil end
  local n = 0
  for _ in f:lines() do n = n + 1 end
  f:close()
  return n
end

function M:lines(a, first)
  local path = a.source and a.source.path
  assert(type(path) == "string", "a source without a path")
  local list, most = {}, count_lines(path)
  for i, b in listed(a.breakpoints) do
    local line = math.tointeger(b.line) or 0
    line = line + 1 - first
    local e = entry(self, ("%s:%d"):format(path, line), b,
      {line = line, file = path})
    if most and (line < 1 or line > most) then
      e.wrong = true                    -- it is not sent to the session
      e.why = e.why or ("the file has %d lines"):format(most)
    end
    list[i] = e
  end
  if not self.files[path] then self.order[#self.order + 1] = path end
  self.files[path] = list
  return list
end

-- Words that are kinds of breakpoints of their own.
local kinds = {}
for word in ("op collective redistribute module placement backward cast "
  .. "uneven mixed missing nan diverge warning error"):gmatch("%S+") do
  kinds[word] = true
end

-- A pattern of Lua for a name with * and ?.
local function pattern(glob)
  return "^" .. glob:gsub("[^%w*?]", "%%%0"):gsub("%*", ".*"):gsub("%?", ".")
    .. "$"
end

function M:functions(a)
  local list = {}
  for i, b in listed(a.breakpoints) do
    local name = tostring(b.name or "")
    local kind = kinds[name:match("^%a+") or ""]
    local glob = name:match("^op%s+(%S+)$") or not kind and name or nil
    if glob and not kind and not glob:find(".", 1, true) then
      glob = "aten." .. glob .. (glob:find("*", 1, true) and "" or "*")
    end
    list[i] = entry(self, glob and "op " .. glob or name, b,
      {how = "function breakpoint", op = glob and pattern(glob),
      name = not kind and name:match("^[%a_][%w_.:]*$") or nil})
  end
  self.named = list
  return list
end

function M:data(a)
  local list = {}
  for i, b in listed(a.breakpoints) do
    list[i] = entry(self, "watch " .. tostring(b.dataId), b,
      {how = "data breakpoint"})
  end
  self.watched = list
  return list
end

function M:exceptions(a)
  local list, errors, known = {}, false, {}
  for _, f in ipairs(filters) do known[f[1]] = true end
  for _, name in listed(a.filters) do
    if name == "error" then errors = true end
    list[#list + 1] = name == "error" and {text = nil} or entry(self,
      tostring(name), {}, {how = "exception",
        why = not known[name] and "no such filter" or nil})
  end
  self.raised, self.no_errors = list, not errors
  return list
end

-- All of them, in one order.
function M:all()
  local out = {}
  local function add(list)
    for _, e in ipairs(list) do
      if e.text and not e.wrong then out[#out + 1] = e end
    end
  end
  for _, path in ipairs(self.order) do add(self.files[path]) end
  add(self.named)
  add(self.watched)
  add(self.raised)
  return out
end

-- The program's text, in which functions are looked for.
local function text_of(path)
  local f = io.open(path, "rb")
  local text = f and f:read("a")
  if f then f:close() end
  return text
end

-- set_program(path, folder): what is launched, and where.
function M:set_program(path, folder)
  self.program, self.path = path, path
  self.python = path ~= nil and path:find("%.py$") ~= nil
  if path and folder and path:sub(1, 1) ~= "/" then
    self.path = folder .. "/" .. path
  end
end

function M:question()
  self.sent = self:all()
  local list = wire.list{}
  for i, e in ipairs(self.sent) do
    list[i] = {text = e.text, condition = e.condition, ignore = e.ignore,
      commands = e.commands, name = e.name}
  end
  return {ask = "breaks", list = list, program = self.program,
    text = #self.named > 0 and self.path and text_of(self.path) or nil}
end

-- What the session said to them.
function M:learn(reply)
  self.by_child = {}
  for i, e in ipairs(self.sent or {}) do
    local r = reply and reply.list and reply.list[i] or {}
    e.told, e.child = r.why, r.id
    if r.id then self.by_child[r.id] = e end
  end
end

function M:told(list)
  local out = wire.list{}
  for i, e in ipairs(list) do
    local why = e.why or e.told
    out[i] = {id = e.id, verified = why == nil, message = why, line = e.line,
      source = e.file and {path = e.file} or nil}
  end
  return out
end

function M:hit(ids)
  local out = wire.list{}
  for _, id in ipairs(ids or {}) do
    local e = self.by_child[id]
    if e and e.id then out[#out + 1] = e.id end
  end
  return out
end

-- The reason of a stop at these.
function M:reason(ids)
  local e = self.by_child[(ids or {})[1]]
  return e and e.how
end

-- The question for the last operator that a breakpoint means.
function M:earlier()
  local list = wire.list{}
  for _, e in ipairs(self:all()) do
    if e.line then list[#list + 1] = {line = e.line, file = e.file} end
    if e.op then list[#list + 1] = {op = e.op} end
  end
  return {ask = "earlier", list = list}
end

return M

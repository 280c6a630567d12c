-- SPDX-License-Identifier: MIT
-- repl/dap/session.lua: the requests of the Debug Adapter Protocol.  Threads
-- are ranks; a step back is a look into the record.

local breaks = require "repl.dap.breaks"
local child = require "repl.dap.child"
local values = require "repl.dap.values"
local wire = require "repl.dap.wire"

local M = {}
M.__index = M

function M.new(tool, fd, words)
  local s = setmetatable({tool = tool, fd = fd, words = words, seq = 0,
    ranks = 1}, M)
  s.breaks, s.values = breaks.new(), values.new()
  return s
end

-- ---- messages ----

function M:send(message)
  self.seq = self.seq + 1
  message.seq = self.seq
  if not self.deaf and not self.tool.write(self.fd, wire.frame(message)) then
    self.deaf, self.done = true, true
  end
end

function M:event(name, body)
  self:send{type = "event", event = name, body = body}
end

function M:reply(request, body)
  self:send{type = "response", request_seq = request.seq, success = true,
    command = request.command, body = body}
end

function M:refuse(request, why)
  self:send{type = "response", request_seq = request.seq, success = false,
    command = request.command, message = why,
    body = {error = {id = 1, format = why, showUser = true}}}
end

function M:complain(text)
  self:event("output", {category = "important",
    output = "dtrepl --dap: " .. text .. "\n"})
end

-- ---- progress ----

-- The program runs: said to editors that show it.
function M:begin_progress()
  if not self.shows_progress or self.progress then return end
  self.progress_id = (self.progress_id or 0) + 1
  self.progress = ("run %d"):format(self.progress_id)
  self:event("progressStart", {progressId = self.progress,
    title = (self.launched.program or "dtrepl"):match("[^/]*$") .. " runs",
    cancellable = false})
end

function M:end_progress()
  if not self.progress then return end
  self:event("progressEnd", {progressId = self.progress})
  self.progress = nil
end

-- ---- the session that runs the program ----

local why_text = {start = "entry", step = "step", breakpoint = "breakpoint",
  error = "exception", lua = "exception", call = "breakpoint",
  interrupt = "pause", asked = "pause", ["end"] = "pause", none = "step"}

-- What distinguishes one stop from another.
local function mark_of(stop)
  return ("%s %s %s %s %s"):format(stop.why, stop.seq, stop.file, stop.line,
    stop.past)
end

local function reason_of(self, stop)
  if stop.past and stop.past ~= 0 then return "goto" end
  local reason = why_text[stop.why] or "step"
  if reason == "breakpoint" then
    return self.breaks:reason(stop.breakpoints) or reason
  end
  return reason
end

function M:tell_stopped(stop)
  self.stop, self.mark = stop, mark_of(stop)
  self.values:forget()
  self:end_progress()
  self:event("stopped", {reason = reason_of(self, stop), threadId = 1,
    allThreadsStopped = true,
    description = ((stop.text or "in the past"):gsub("  +", "  ")),
    text = stop.message or stop.note or nil,
    hitBreakpointIds = self.breaks:hit(stop.breakpoints)})
end

-- The stop is another one than the editor knows: said, or passed over.
function M:look_at_stop(always)
  self.session:ask({ask = "stop"}, function (replies)
    local stop = replies and replies[1]
    if not stop or not stop.why then return end
    if stop.why == "interrupt" and self.silent then
      self.silent = false
      self.session:run(":continue")
      return
    end
    self.silent = false
    if (stop.why == "error" or stop.why == "lua") and self.breaks.no_errors then
      self.session:run(":continue")
      return
    end
    if always or mark_of(stop) ~= self.mark then self:tell_stopped(stop) end
  end)
end

function M:on_ready(where, frame)
  self.ranks = frame.ranks or self.ranks
  self.code = frame.code
  if where == "begin" then
    if not self.told then
      self.told = true
      self:event("initialized")
    end
  elseif where == "stop" then
    if self.goes then
      self.goes = false
      self:look_at_stop(true)
    end
  elseif self.goes or self.begun and not self.ended then
    self.goes, self.ended = false, true
    self.values:forget()
    self:end_progress()
    if self.stays then
      self:event("output", {category = "console",
        output = "the program has ended; the prompt is here\n"})
    else
      self.session:close_input()
    end
  elseif not self.told then
    self.told = true
    self:event("initialized")
  end
end

-- An exit code is all that a launcher leaves of a signal.
local function tell_killed(self, code)
  if code <= 128 or self.kills then return end
  self:event("output", {category = "important", output =
    ("dtrepl: a signal, %d, killed the program; the session is over\n")
      :format(code - 128)})
end

function M:on_ended(code)
  if self.restarting then
    self.restarting()
    return
  end
  self:end_progress()
  tell_killed(self, code)
  if self.ended and code == 0 then code = self.code or 0 end
  self:event("exited", {exitCode = code})
  self:event("terminated")
  self.session = nil
end

local function words_of(self, a)
  local out = {table.unpack(self.words)}
  local function add(...) for _, w in ipairs{...} do out[#out + 1] = w end end
  if math.type(a.ranks) == "integer" then
    add(a.world == "mpi" and "--mpi" or a.world == "fake" and "--fake" or "-n",
      tostring(a.ranks))
  end
  if type(a.torch) == "string" then add("--torch", a.torch) end
  if type(a.device) == "string" then add("--device", a.device) end
  if a.trust == true then add("--trust") end
  for _, w in ipairs(type(a.options) == "table" and a.options or {}) do
    add(tostring(w))
  end
  if type(a.program) == "string" then add(a.program) end
  for _, w in ipairs(type(a.args) == "table" and a.args or {}) do
    add(tostring(w))
  end
  return out
end

function M:start()
  self.told, self.begun, self.ended, self.goes = false, false, false, false
  self.stop, self.mark, self.rank_set = nil, nil, false
  local c, why = child.start(self.tool, words_of(self, self.launched),
    self.launched.cwd, {
      output = function (category, text)
        if category == "stderr" then self.said = (self.said or "") .. text end
        self:event("output", {category = category, output = text})
      end,
      ready = function (...) self:on_ready(...) end,
      ended = function (code) self:on_ended(code) end,
    })
  self.session = c
  if c then c.launcher = self.launched.world == "mpi" end
  return c ~= nil, why
end

-- Let the program go on by a command of the prompt.
function M:go(line)
  self.goes, self.said = true, nil
  self.values:forget()
  self:begin_progress()
  self.session:run(line)
end

function M:stopped()
  return self.session and not self.goes
    and (self.session.where == "stop" or self.session.where == "prompt")
end

-- ---- requests ----

local does = {}

function does:initialize(q)
  local a = q.arguments or {}
  self.first_line = a.linesStartAt1 == false and 0 or 1
  self.shows_progress = a.supportsProgressReporting == true
  self:reply(q, {supportsConfigurationDoneRequest = true,
    supportsFunctionBreakpoints = true, supportsConditionalBreakpoints = true,
    supportsHitConditionalBreakpoints = true, supportsLogPoints = true,
    supportsDataBreakpoints = true, supportsEvaluateForHovers = true,
    supportsStepBack = true, supportsSetVariable = true,
    supportsRestartRequest = true, supportsCompletionsRequest = true,
    supportsExceptionInfoRequest = true, supportsTerminateRequest = true,
    supportsExceptionOptions = false, supportsSteppingGranularity = true,
    supportTerminateDebuggee = true, supportsDelayedStackTraceLoading = true,
    completionTriggerCharacters = wire.list{".", ":", "?"},
    exceptionBreakpointFilters = breaks.filters()})
end

function does:launch(q)
  local a = q.arguments or {}
  if self.session then return self:refuse(q, "a program runs already") end
  if q.command == "launch" and type(a.program) ~= "string" then
    return self:refuse(q, "launch wants \"program\", a file of Lua or Python")
  end
  if a.ranks ~= nil and math.type(a.ranks) ~= "integer" then
    return self:refuse(q, "\"ranks\" is a number, not " .. wire.encode(a.ranks))
  end
  if a.program then
    local f = io.open((a.program:sub(1, 1) == "/" or not a.cwd) and a.program
      or a.cwd .. "/" .. a.program, "rb")
    if not f then
      return self:refuse(q, "cannot read the program " .. a.program)
    end
    f:close()
  end
  self.launched, self.stays = a, a.stayAtEnd == true or not a.program
  self.breaks:set_program(a.program, a.cwd)
  local ok, why = self:start()
  if not ok then return self:refuse(q, "dtrepl does not start: " .. why) end
  self:reply(q)
end

-- A session without a program: what is typed in the editor's console.
does.attach = does.launch

-- Breakpoints of one sort have come: all are set anew, now or at the next stop.
function M:set_breaks(q, list)
  local function answer() self:reply(q, {breakpoints = self.breaks:told(list)}) end
  if not self.session then return answer() end
  if self.goes and self.begun then
    self.silent = true
    self.session:interrupt()
  end
  self.session:ask(self.breaks:question(), function (replies)
    self.breaks:learn(replies and replies[1])
    answer()
  end)
end

function does:setBreakpoints(q)
  self:set_breaks(q, self.breaks:lines(q.arguments, self.first_line))
end
function does:setFunctionBreakpoints(q)
  self:set_breaks(q, self.breaks:functions(q.arguments))
end
function does:setDataBreakpoints(q)
  self:set_breaks(q, self.breaks:data(q.arguments))
end
function does:setExceptionBreakpoints(q)
  self:set_breaks(q, self.breaks:exceptions(q.arguments))
end

function does:dataBreakpointInfo(q)
  local name = q.arguments.name
  if type(name) == "string" and name:match("^[%a_][%w_]*$") then
    self:reply(q, {dataId = name, accessTypes = wire.list{"write"},
      description = name .. ": another tensor, or other values or placements"})
  else
    self:reply(q, {description = "only variables can be watched"})
  end
end

function does:configurationDone(q)
  self:reply(q)
  if self.session and self.launched.program then
    self.begun = true
    self:go(self.launched.stopOnEntry and "!entry" or "!run")
  elseif self.session then
    self.begun = true
  end
end

function does:threads(q)
  local out = wire.list{}
  for i = 1, self.ranks do
    out[i] = {id = i, name = "rank " .. (i - 1)}
  end
  self:reply(q, {threads = out})
end

-- Questions that need a session that waits.
local function asks(name, f)
  does[name] = function (self, q)
    if not self.session then return self:refuse(q, "no program runs") end
    if not self:stopped() then
      return self:refuse(q, "the program runs: pause it first")
    end
    f(self, q, q.arguments or {})
  end
end

asks("stackTrace", function (self, q, a) self.values:stack(self, q, a) end)
asks("scopes", function (self, q, a) self.values:scopes(self, q, a) end)
asks("variables", function (self, q, a) self.values:variables(self, q, a) end)
asks("evaluate", function (self, q, a) self.values:evaluate(self, q, a) end)
asks("setVariable", function (self, q, a) self.values:set(self, q, a) end)

asks("completions", function (self, q, a)
  local text = tostring(a.text or ""):sub(1, math.max((a.column or 1) - 1, 0))
  self.session:ask({ask = "complete", text = text,
    python = self.values.is_python(self)}, function (replies, why)
    local r = replies and replies[1]
    if not r or r.failed then return self:refuse(q, why or r.failed) end
    local out = wire.list{}
    for i, word in ipairs(r.list or {}) do
      out[i] = {label = word, start = r.start, length = #text - (r.start or 0)}
    end
    self:reply(q, {targets = out})
  end)
end)

asks("exceptionInfo", function (self, q)
  local stop = self.stop or {}
  self.session:ask({ask = "fixes"}, function (replies)
    local fixes = replies and replies[1] and replies[1].text or ""
    local message = stop.message or stop.note or stop.text or ""
    self:reply(q, {exceptionId = message:match("DT%d+") or stop.why or "stop",
      description = message, breakMode = "always",
      details = {message = message,
        stackTrace = (self.said or "") .. "\n" .. fixes}})
  end)
end)

local function steps(name, line, by_operator)
  asks(name, function (self, q, a)
    if self.session.where ~= "stop" then
      return self:refuse(q, "the program has ended")
    end
    self:reply(q, name == "continue" and {allThreadsContinued = true} or nil)
    self:go(a.granularity == "instruction" and by_operator or line)
  end)
end

steps("continue", ":continue")
steps("next", ":line", ":next")
steps("stepIn", ":step")
steps("stepOut", ":finish")
steps("stepBack", ":back")

asks("reverseContinue", function (self, q)
  self.session:ask(self.breaks:earlier(), function (replies, why)
    local r = replies and replies[1]
    if not r or not r.seq then
      return self:refuse(q, why or "nothing was recorded before this")
    end
    self:reply(q)
    self:go((":goto #%d"):format(r.seq))
  end)
end)

function does:pause(q)
  if self.session then
    self.silent = false
    self.session:interrupt()
  end
  self:reply(q)
end

does["goto"] = function (self, q) self:refuse(q, "use step back") end

function does:restart(q)
  if not self.session then return self:refuse(q, "no program runs") end
  local again = q.arguments and q.arguments.arguments
  if type(again) == "table" and again.program then
    self.launched = again
    self.breaks:set_program(again.program, again.cwd)
  end
  self.restarting = function ()
    self.restarting = nil
    local ok, why = self:start()
    if not ok then return self:refuse(q, "dtrepl does not start: " .. why) end
    self.again = true
    self.session:ask(self.breaks:question(), function (replies)
      self.breaks:learn(replies and replies[1])
      self:reply(q)
      self.begun = true
      self:go(self.launched.stopOnEntry and "!entry" or "!run")
    end)
    self.told = true
  end
  self.session:kill()
end

function does:terminate(q)
  self:reply(q)
  self.kills = true
  if self.session then self.session:kill() end
end

function does:disconnect(q)
  self.kills = true
  if self.session then self.session:kill() end
  self:reply(q)
  self.done = true
end

-- Nothing to do, but editors ask.
local function nothing(self, q) self:reply(q) end
does.loadedSources = function (self, q) self:reply(q, {sources = wire.list{}}) end
does.modules = function (self, q) self:reply(q, {modules = wire.list{}}) end
does.cancel = nothing

function does:source(q)
  self:refuse(q, "only files have a text")
end

function M:hear(message)
  if message.type ~= "request" or type(message.command) ~= "string"
      or math.type(message.seq) ~= "integer" then
    return self:complain("a message that is no request is passed over")
  end
  if message.arguments ~= nil and type(message.arguments) ~= "table" then
    return self:refuse(message, "the arguments are no object")
  end
  local f = does[message.command]
  if not f then
    return self:refuse(message, "no request is called " .. message.command)
  end
  message.arguments = message.arguments or {}
  local ok, why = pcall(f, self, message)
  if not ok then
    self:refuse(message, "wrong arguments: "
      .. tostring(why):gsub("^%[[%w.]+%]:%d+: ", ""))
  end
end

function M:sources(list)
  if self.session then self.session:sources(list) end
end

function M:child_hears(fd)
  if self.session then self.session:hear(fd) end
end

-- The editor has gone: nothing of the program is left.
function M:leave()
  self.deaf = true
  local c = self.session
  if c then
    c.on.ended = function () end
    c:kill()
    c.tool.reap(c.pid)
  end
  return 0
end

return M

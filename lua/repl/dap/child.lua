-- SPDX-License-Identifier: MIT
-- repl/dap/child.lua: the session that runs the program: started, asked,
-- interrupted, ended.  What it says is in repl_editor.c.
--
-- It takes one line at a time, when it waits for one; what is asked before is
-- kept in order.

local wire = require "repl.dap.wire"

local M = {}
M.__index = M

local function random_word()
  local f = assert(io.open("/dev/urandom", "rb"))
  local bytes = f:read(12)
  f:close()
  return (bytes:gsub(".", function (c) return ("%02x"):format(c:byte()) end))
end

-- start(tool, words, folder, on) -> the session, or nil and why.  `on` has
-- output(category, text), ready(where, frame), ended(code).
function M.start(tool, words, folder, on)
  local word = random_word()
  tool.setenv("DTREPL_EDITOR", word)
  local argv = {tool.program(), "-d", "-q", "--no-history", "--color", "never"}
  for _, w in ipairs(words) do argv[#argv + 1] = w end
  local pid, input, out, err = tool.spawn(argv, folder)
  if not pid then return nil, input end
  return setmetatable({tool = tool, pid = pid, input = input, out = out,
    err = err, word = word, on = on, buffer = "", waiting = {}, asked = {},
    next_id = 1, ready = false}, M)
end

-- Send the next line, if one is wanted and there is one.
function M:advance()
  if not self.ready or not self.input or #self.waiting == 0 then return end
  local job = table.remove(self.waiting, 1)
  self.ready = false
  self.running = job.done and job or nil
  if job.goes then self.where = "running" end
  self.tool.write(self.input, "\1" .. wire.encode(job.question) .. "\n")
end

-- ask(question, done): done(replies, why) gets what each rank answers.
function M:ask(question, done)
  question.id = self.next_id
  self.next_id = self.next_id + 1
  self.asked[question.id] = done
  self.waiting[#self.waiting + 1] = {question = question}
  self:advance()
end

-- run(line, done): a line as if typed; done(what it wrote) at its end.
function M:run(line, done)
  self.waiting[#self.waiting + 1] = {question = {run = line}, done = done,
    text = {}, goes = not done}
  self:advance()
end

function M:put(category, text)
  if text == "" then return end
  if self.running then
    table.insert(self.running.text, text)
  else
    self.on.output(category, text)
  end
end

local function answered(self, frame)
  local done = self.asked[frame.id]
  self.asked[frame.id] = nil
  if done then done(frame.replies) end
end

-- A line that lets the program run was sent, or waits to be.
local function is_going(self)
  if self.where == "running" then return true end
  for _, job in ipairs(self.waiting) do
    if job.goes then return true end
  end
  return false
end

-- It waits for a line: what the last one wrote is complete.
local function is_ready(self, frame)
  self:drain(self.err, "stderr")
  local job = self.running
  self.running, self.ready, self.where = nil, true, frame.ready
  self.runs = false
  self.rank0, self.code = frame.pid, frame.code
  if job then job.done(table.concat(job.text)) end
  self.on.ready(frame.ready, frame)
  if not is_going(self) then self.stop_asked = false end
  self:advance()
end

-- Lines of ours among what the program writes.
local function take_frames(self)
  local mark = "\1" .. self.word .. " "
  while true do
    local from, to = self.buffer:find(mark, 1, true)
    local stop = from and self.buffer:find("\n", to, true)
    if not from or not stop then
      local keep = from or self.buffer:find("\1[^\n]*$") or #self.buffer + 1
      self:put("stdout", self.buffer:sub(1, keep - 1))
      self.buffer = self.buffer:sub(keep)
      return
    end
    self:put("stdout", self.buffer:sub(1, from - 1))
    local frame = self.tool.decode(self.buffer:sub(to + 1, stop - 1))
    self.buffer = self.buffer:sub(stop + 1)
    if frame and frame.ready then
      is_ready(self, frame)
    elseif frame and frame.running then
      self.runs = true
      if self.stop_asked and self.where == "running" then self:interrupt() end
    elseif frame and frame.id then
      answered(self, frame)
    end
  end
end

-- What is there now, without waiting.
function M:drain(fd, category)
  while fd and self[category == "stderr" and "err" or "out"]
      and self.tool.wait_any({fd}, true)[fd] do
    local text = self.tool.read(fd)
    if text == "" then return end
    self:put(category, text)
  end
end

-- Something can be read from `fd`, if it was not taken meanwhile.
function M:hear(fd)
  if (fd ~= self.out and fd ~= self.err)
      or not self.tool.wait_any({fd}, true)[fd] then
    return
  end
  local text = self.tool.read(fd)
  if text ~= "" then
    if fd == self.err then
      self:put("stderr", text)
    else
      self.buffer = self.buffer .. text
      take_frames(self)
    end
    return
  end
  self.tool.close(fd)
  if fd == self.err then self.err = nil end
  if fd == self.out then
    self.out = nil
    self:put("stdout", self.buffer)
    self.buffer = ""
  end
  if not self.out and not self.err then self:ended() end
end

function M:ended()
  if self.over then return end
  self.over, self.ready = true, false
  self:close_input()
  local code = self.tool.reap(self.pid)
  local job = self.running
  self.running = nil
  if job then job.done(table.concat(job.text)) end
  for id, done in pairs(self.asked) do
    self.asked[id] = nil
    done(nil, "the session has ended")
  end
  self.on.ended(code)
end

-- What one waits for of it.
function M:sources(list)
  if self.out then list[#list + 1] = self.out end
  if self.err then list[#list + 1] = self.err end
end

function M:close_input()
  if self.input then self.tool.close(self.input) end
  self.input = nil
end

-- Stop where it is, as Ctrl-C does.  A program that was let run is stopped when
-- the session says that it does: before, the signal would find nothing.
function M:interrupt()
  if self.over then return end
  if is_going(self) and not self.runs then
    self.stop_asked = true
  elseif self.rank0 and not self.ready then
    self.tool.kill(self.rank0, "int")
  end
end

function M:kill()
  if self.over then return end
  self.tool.kill(-self.pid, self.launcher and "term" or "kill")
  self:close_input()
end

return M

-- SPDX-License-Identifier: MIT
-- repl/dap/init.lua: `dtrepl --dap`: between an editor, which speaks the Debug
-- Adapter Protocol, and a session that runs the program (child.lua).
--
-- One loop waits for both.  The requests are in session.lua.

local session = require "repl.dap.session"
local wire = require "repl.dap.wire"

-- The editor's end: standard input and output, or a client of a port.
local function open(tool, args)
  local port = args[1]:match("^%-%-dap=(.*)$")
  local rest = {table.unpack(args, 2)}
  if args[1] == "--dap" then return 0, 1, rest end
  port = port and tonumber(port)
  if not port or math.type(port) ~= "integer" or port < 0 or port > 65535 then
    return nil, "wanted --dap or --dap=PORT"
  end
  local fd, given = tool.listen(port)
  if not fd then return nil, ("port %d: %s"):format(port, given) end
  io.stderr:write(("dtrepl --dap: listening on 127.0.0.1:%d\n"):format(given))
  io.stderr:flush()
  local client, why = tool.accept(fd)
  tool.close(fd)
  if not client then return nil, why end
  return client, client, rest
end

-- All whole messages of the buffer; nil when it is none of the protocol.
local function take_all(s, buffer)
  while true do
    local body, rest, why = wire.take(buffer)
    if why then
      s:complain(why .. ": the session ends")
      return nil
    end
    if not body then return rest end
    buffer = rest
    local message, wrong = s.tool.decode(body)
    if message == nil or type(message) ~= "table" then
      s:complain("a message is no JSON: " .. tostring(wrong))
    else
      s:hear(message)
    end
  end
end

return function (tool, args)
  local input, output, rest = open(tool, args)
  if not input then
    io.stderr:write("dtrepl --dap: ", output, "\n")
    return 2
  end
  local s = session.new(tool, output, rest)
  local buffer = ""
  while not s.done do
    local list = {input}
    s:sources(list)
    local some = tool.wait_any(list)
    if not some then break end
    for i = 2, #list do
      if some[list[i]] then s:child_hears(list[i]) end
    end
    if some[input] and not s.done then
      local text = tool.read(input)
      if text == "" then break end          -- the editor has gone
      buffer = take_all(s, buffer .. text)
      if not buffer then break end
    end
  end
  return s:leave()
end

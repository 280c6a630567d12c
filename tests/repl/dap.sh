#!/bin/sh
# SPDX-License-Identifier: MIT
# TEST: tags=quick timeout=120
# A debug adapter's client, message by message: programs of Lua and of Python,
# what an editor sees of distributed tensors, time travel, restart; messages
# that are none, and an editor that goes in the middle.
: "${DTREPL:=$PWD/build/dtrepl}"
export DTREPL
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
cd "$tmp" || exit 1
cat > prog.lua <<'EOF'
local mesh = dt.init_device_mesh("cpu", {2, 2}, {mesh_dim_names = {"dp", "tp"}})
local x = dt.distribute_tensor(dt.ones(8, 4), mesh, "S(0) R")
local w = dt.distribute_tensor(dt.ones(4, 4), mesh, "R S(1)")
local function f(a)
  local h = a:matmul(w)
  return h:relu()
end
local total = 0
for i = 1, 3 do
  local y = f(x)
  total = total + i
end
local plain = dt.ones(8, 4)
local z = x + plain
print("end of it", total)
EOF
cat > prog.py <<'EOF'
import torch
from torch.distributed.tensor import (distribute_tensor, Shard,
                                      init_device_mesh)

mesh = init_device_mesh("cpu", (2,), mesh_dim_names=("tp",))
x = distribute_tensor(torch.ones(8, 4), mesh, [Shard(0)])


def scale(t, by):
    out = t * by
    return out


total = 0
for i in range(3):
    y = scale(x, i)
    total += int(y.sum().full_tensor().item())
print("total", total)
EOF
cat > data.lua <<'EOF'
local mesh = dt.init_device_mesh("cpu", {2})
local x = dt.distribute_tensor(dt.arange(4):to(dt.float32), mesh, "S(0)")
x = x - 2
local y = x:sqrt()
local z = y + 1
EOF
cat > ever.lua <<'EOF'
while true do local x = dt.ones(2) + 1 end
EOF
cat > killed.lua <<'EOF'
os.execute("kill -9 $PPID")
EOF
cat > client.lua <<'EOF'
local C, passed, failed = {}, 0, 0
local function check(what, ok, text)
  if ok then passed = passed + 1 else failed = failed + 1 end
  print(("%s - %s"):format(ok and "ok" or "not ok", what))
  if not ok then print("    | " .. tostring(text):sub(1, 600)) end
end
local seq, input, output
function C.open(command)
  os.execute("rm -f in; mkfifo in")
  output = assert(io.popen(command .. " < in 2>err; echo status $?", "r"))
  input = assert(io.open("in", "wb"))
  input:setvbuf("full")
  seq = 0
end
function C.raw(text) input:write(text) input:flush() end
function C.send(command, arguments)
  seq = seq + 1
  local body = ('{"seq":%d,"type":"request","command":"%s","arguments":%s}')
    :format(seq, command, arguments or "{}")
  C.raw(("Content-Length: %d\r\n\r\n%s"):format(#body, body))
  return seq
end
function C.hear()
  local line = output:read("L")
  local n = line and line:match("^Content%-Length: (%d+)")
  if not n then return nil, line end
  output:read("L")
  return output:read(tonumber(n))
end
-- Messages up to one that has all these words; they as one text, too.
function C.until_(...)
  local all = {}
  while true do
    local m, line = C.hear()
    if not m then return nil, table.concat(all, "\n") .. tostring(line) end
    all[#all + 1] = m
    local fits = true
    for _, word in ipairs{...} do
      fits = fits and m:find(word, 1, true) ~= nil
    end
    if fits then return m, table.concat(all, "\n") end
  end
end
function C.ask(command, arguments)
  local id = C.send(command, arguments)
  return C.until_('"type":"response"', ('"request_seq":%d,'):format(id)) or ""
end
function C.has(what, text, ...)
  for _, word in ipairs{...} do
    if not (text or ""):find(word, 1, true) then
      return check(what, false, text)
    end
  end
  check(what, true)
end
function C.ref(text, name)
  return (text:match('"name":"' .. name .. '"[^{}]-"variablesReference":(%d+)'))
end
function C.close()
  input:close()
  local rest = output:read("a")
  output:close()
  return rest:match("status (%d+)")
end
function C.done()
  print(("%d passed, %d failed"):format(passed, failed))
  os.exit(failed == 0)
end
C.check = check
return C
EOF
cat > lua.lua <<'EOF'
local C = require "client"
local dir = arg[1]
local function launch(program, more)
  C.has("initialize", C.ask("initialize"), '"supportsStepBack":true')
  C.send("launch", ('{"program":"%s/%s","cwd":"%s"%s}'):format(dir, program,
    dir, more or ""))
  C.until_('"event":"initialized"')
end
C.open(os.getenv "DTREPL" .. " --dap -n 4")
launch("prog.lua")
C.has("a breakpoint by line, with a count and a log line",
  C.ask("setBreakpoints", ('{"source":{"path":"%s/prog.lua"},"breakpoints":'
  .. '[{"line":6,"hitCondition":"== 2"},{"line":11,"logMessage":"so far {total}"},'
  .. '{"line":3,"condition":"=="}]}'):format(dir)), '"id":1', '"line":6',
  '"message":', '"verified":false')
C.has("by function", C.ask("setFunctionBreakpoints",
  '{"breakpoints":[{"name":"mm","hitCondition":"== 3"}]}'),
  '"verified":true')
C.ask("setExceptionBreakpoints", '{"filters":["error"]}')
C.send("configurationDone")
local m, all = C.until_('"event":"stopped"')
C.has("the log line came, then the stop", all, "so far 0",
  '"reason":"breakpoint"', '"hitBreakpointIds":[1]')
C.has("threads are ranks", C.ask("threads"), '"name":"rank 3"')
local stack = C.ask("stackTrace", '{"threadId":3}')
C.has("the stack of rank 2", stack, "function f", '"line":6', '"line":10')
local frame = stack:match('"id":(%d+)')
local scopes = C.ask("scopes", ('{"frameId":%s}'):format(frame))
C.has("a frame that never was", C.ask("scopes", '{"frameId":12345}'),
  '"success":false', "this frame is gone")
local function vars(ref)
  return C.ask("variables", ('{"variablesReference":%s}'):format(ref))
end
local locals = C.ref(scopes, "Locals")
local v = vars(locals)
C.has("its variables", v, '"name":"a"', "f32[8, 4]| S(0)S(1)")
local h = vars(C.ref(v, "h"))
C.has("a distributed tensor unfolds", h, '"name":"placements"', "S(1)",
  '"name":"mesh"', '"name":"made at"', "aten.mm")
C.has("into what each rank has", vars(C.ref(h, "ranks")), '"name":"rank 3"',
  "f32[4, 2]")
local own = vars(C.ref(h, "local"))
C.has("into its own part", own, "[4, 2]")
local rows = vars(C.ref(own, "values"))
C.has("by rows", rows, '"name":"[3]"')
C.has("down to numbers", vars(rows:match('"variablesReference":(%d+)')),
  '"value":"4.0"')
C.has("hover", C.ask("evaluate",
  ('{"expression":"a","context":"hover","frameId":%s}'):format(frame)),
  "f32[8, 4]| S(0)R")
C.has("the console is the prompt", C.ask("evaluate",
  '{"expression":":why","context":"repl"}'), "aten.mm")
C.has("an expression that fails", C.ask("evaluate",
  '{"expression":"nope.x","context":"watch"}'), '"success":false')
C.has("completion", C.ask("completions", '{"text":"h:rel","column":6}'),
  '"label":"h:relu"')
C.has("completion within a line", C.ask("completions",
  '{"text":"f(h:rel) + 1","column":8}'), '"label":"h:relu"')
C.has("completion of nothing", C.ask("completions", '{"column":1}'),
  '"success":true')
C.has("a variable is set", C.ask("setVariable",
  ('{"variablesReference":%s,"name":"a","value":"a * 2"}'):format(locals)),
  "DTensor")
C.send("stepBack")
C.until_('"event":"stopped"')
C.has("a step back", C.ask("stackTrace", '{"threadId":1}'), "in the past",
  '"line":5')
C.has("values that are gone", vars(locals), '"success":false', "gone")
C.send("reverseContinue")
C.until_('"event":"stopped"')
C.has("back to the breakpoint before", C.ask("stackTrace", '{"threadId":1}'),
  "in the past", '"line":6')
C.send("continue")
C.until_('"event":"stopped"')
C.send("stepIn")
C.until_('"event":"stopped"')
C.has("a step goes into operators", C.ask("stackTrace", '{"threadId":1}'),
  "aten.relu.default #")
C.send("continue")
m = C.until_('"event":"stopped"')
C.has("a breakpoint on an operator", m, "function breakpoint")
C.send("next")
m = C.until_('"event":"stopped"')
C.send("continue")
m = C.until_('"event":"stopped"')
C.has("an error stops where it is raised", m, '"reason":"exception"',
  "got mixed torch.Tensor and DTensor")
C.has("with autopsy and fixes", C.ask("exceptionInfo", '{"threadId":1}'),
  '"exceptionId"', "DT0101", "distribute_tensor(plain, mesh")
C.ask("evaluate", '{"expression":":fix 2","context":"repl"}')
C.send("continue")
m, all = C.until_('"event":"exited"')
C.has("it goes on, mended", all, "end of it", '"exitCode":0')
C.until_('"event":"terminated"')
C.has("nothing runs now", C.ask("stackTrace", '{"threadId":1}'),
  '"success":false')
C.ask("disconnect")
C.check("the adapter leaves", C.close() == "0")

-- Steps over lines that only log: a call's, and the one where the step ends.
C.open(os.getenv "DTREPL" .. " --dap")
launch("prog.py", ',"ranks":2')
C.ask("setBreakpoints", ('{"source":{"path":"%s/prog.py"},"breakpoints":'
  .. '[{"line":16,"condition":"i == 1"},{"line":11,"logMessage":"in scale {by}"},'
  .. '{"line":17,"logMessage":"after {i}"}]}'):format(dir))
C.send("configurationDone")
C.until_('"event":"stopped"')
C.send("next")
m, all = C.until_('"event":"stopped"')
C.has("a step over lines that log", all, "in scale 1", "after 1")
C.has("ends where it would", C.ask("stackTrace", '{"threadId":1}'), '"line":17')
C.send("next")
C.until_('"event":"stopped"')
C.has("and the next one, too", C.ask("stackTrace", '{"threadId":1}'), '"line":16')
C.ask("disconnect", '{"terminateDebuggee":true}')
C.close()

-- Python, started again.
C.open(os.getenv "DTREPL" .. " --dap")
launch("prog.py", ',"ranks":2')
C.ask("setBreakpoints", ('{"source":{"path":"%s/prog.py"},"breakpoints":'
  .. '[{"line":11,"condition":"by == 1"}]}'):format(dir))
C.send("configurationDone")
C.until_('"event":"stopped"')
stack = C.ask("stackTrace", '{"threadId":2}')
C.has("a stack of Python", stack, '"name":"scale"', '"name":"<module>"')
frame = stack:match('"id":(%d+)')
v = vars(C.ref(C.ask("scopes", ('{"frameId":%s}'):format(frame)), "Locals"))
C.has("variables of Python", v, '"name":"by"', '"name":"out"', "DTensor")
C.has("Python in the console", C.ask("evaluate",
  '{"expression":"tuple(t.shape)","context":"repl"}'), "(8, 4)")
local function hover(text)
  return C.ask("evaluate", ('{"expression":"%s","context":"hover","frameId":%s}')
    :format(text, frame))
end
C.has("help over a function", hover("torch.mm"),
  "torch.mm(input, mat2, *, out=None)")
C.has("help in the console", C.ask("evaluate",
  '{"expression":"?nn.Linear","context":"repl"}'), "nn.Linear(4, 2)(torch.ones(3, 4))")
C.has("over one that was imported", hover("distribute_tensor"),
  "src_data_rank=0", "rank 0's data")
C.has("over a variable its value", hover("t"), '"type":"DTensor"')
C.has("a name that is none", C.ask("evaluate", ('{"expression":"nowhere","context":'
  .. '"watch","frameId":%s}'):format(frame)), '"success":false', "not defined")
C.has("Python's names are completed", C.ask("completions",
  '{"text":"sca","column":4}'), '"label":"scale"')
m = C.ask("exceptionInfo", '{"threadId":1}')
C.check("a stop without an error has no fixes", not m:find("DT0703"))
C.has("a line behind the end", C.ask("setBreakpoints",
  ('{"source":{"path":"%s/prog.py"},"breakpoints":[{"line":11},'
  .. '{"line":9999}]}'):format(dir)), '"verified":false', "the file has")
C.send("stepBack")
C.has("a step back says where it is", C.until_('"event":"stopped"'),
  '"description":"before ', "in the past")
C.send("restart")
m = C.until_('"event":"stopped"')
C.has("again from the start", m, '"reason":"breakpoint"')
C.ask("setBreakpoints", ('{"source":{"path":"%s/prog.py"},"breakpoints":[]}')
  :format(dir))
C.send("continue")
m, all = C.until_('"event":"terminated"')
C.has("to its end", all, "total 96", '"exitCode":0')
C.ask("disconnect")
C.close()

-- A function of the program's, conditions and log points in the words of Python.
C.open(os.getenv "DTREPL" .. " --dap")
launch("prog.py", ',"ranks":2')
m = C.ask("setFunctionBreakpoints", '{"breakpoints":[{"name":"scale",'
  .. '"condition":"by == 2 and t is not None"},{"name":"nosuch"}]}')
C.has("a function of the program", m, '"id":1,"verified":true', "nosuch")
m = C.ask("setBreakpoints", ('{"source":{"path":"%s/prog.py"},"breakpoints":'
  .. '[{"line":17,"logMessage":"so far {str(total).zfill(3)}, {len([i, i])}"},'
  .. '{"line":18,"condition":"total !! 3"},{"line":16,"condition":"i != 9 and False"}]}')
  :format(dir))
C.has("a condition that is none", m, '"message":"DT0703', '"id":5,"line":16,'
  .. '"source":{"path":"' .. dir .. '/prog.py"},"verified":true')
C.send("configurationDone")
m, all = C.until_('"event":"stopped"')
C.has("log points of Python", all, "so far 000, 2")
C.has("where the condition is true", m, '"hitBreakpointIds":[1]')
C.has("in the function", C.ask("stackTrace", '{"threadId":1}'), '"name":"scale"',
  '"line":10')
C.ask("disconnect", '{"terminateDebuggee":true}')
C.close()

-- What a data breakpoint, a filter and progress are; variables of Python set.
C.open(os.getenv "DTREPL" .. " --dap")
C.ask("initialize", '{"supportsProgressReporting":true}')
C.send("launch", ('{"program":"%s/data.lua","cwd":"%s","ranks":2}'):format(dir,
  dir))
C.until_('"event":"initialized"')
C.has("what can be watched", C.ask("dataBreakpointInfo", '{"name":"x"}'),
  '"dataId":"x"', '"write"')
C.has("and what not", C.ask("dataBreakpointInfo", '{"name":"x.y"}'),
  "only variables")
C.has("a data breakpoint", C.ask("setDataBreakpoints",
  '{"breakpoints":[{"dataId":"x","accessType":"write"}]}'), '"verified":true')
C.has("filters: one that is none", C.ask("setExceptionBreakpoints",
  '{"filters":["nan","error","dance"]}'), '"success":true')
C.send("configurationDone")
m, all = C.until_('"event":"stopped"')
C.has("it runs: progress, which ends at the stop", all, '"event":"progressStart"',
  "data.lua runs", '"event":"progressEnd"')
C.has("the variable is another tensor", m, "data breakpoint")
C.ask("setDataBreakpoints", '{"breakpoints":[]}')
C.send("continue")
m = C.until_('"event":"stopped"')
C.has("NaN is born", m, '"reason":"exception"', "aten.sqrt.default")
stack = C.ask("stackTrace", '{"threadId":2}')
C.has("at its line", stack, '"line":4')
C.has("why, as exception info", C.ask("exceptionInfo", '{"threadId":1}'), "NaN")
C.ask("setExceptionBreakpoints", '{"filters":["error"]}')
C.send("continue")
m, all = C.until_('"event":"terminated"')
C.has("the end", all, '"exitCode":0', '"event":"progressEnd"')
C.ask("disconnect")
C.check("left", C.close() == "0")

-- A session of the console only.
C.open(os.getenv "DTREPL" .. " --dap")
C.ask("initialize")
C.send("attach", ('{"ranks":2,"cwd":"%s"}'):format(dir))
C.until_('"event":"initialized"')
C.ask("configurationDone")
C.has("attached: the console is a prompt", C.ask("evaluate",
  '{"expression":"dt.world_size() * 21","context":"repl"}'), "42")
C.ask("evaluate", '{"expression":"held = dt.ones(3)","context":"repl"}')
C.has("with its variables", C.ask("evaluate",
  '{"expression":"held","context":"hover"}'), "f32[3]")
C.has("completed", C.ask("completions", '{"text":"hel","column":4}'),
  '"label":"held"')
C.has("stepping is refused", C.ask("next"), '"success":false')
C.ask("disconnect")
C.check("detached", C.close() == "0")

-- The program is killed: it is said, and that it is over.
C.open(os.getenv "DTREPL" .. " --dap")
C.ask("initialize")
C.send("launch", ('{"program":"%s/killed.lua","cwd":"%s","ranks":2,"trust":true}')
  :format(dir, dir))
C.until_('"event":"initialized"')
C.ask("configurationDone")
m, all = C.until_('"event":"terminated"')
C.has("killed", all, "a signal, 9, killed the program", '"exitCode":137')
C.has("it answers", C.ask("evaluate", '{"expression":"1"}'),
  '"success":false')
C.ask("disconnect")
C.check("left after it", C.close() == "0")

-- The editor goes while the program runs: the program goes, too.
C.open(os.getenv "DTREPL" .. " --dap")
C.ask("initialize")
C.send("launch", ('{"program":"%s/ever.lua","cwd":"%s","ranks":1}'):format(dir,
  dir))
C.until_('"event":"initialized"')
C.ask("configurationDone")
C.has("asked while it runs", C.ask("stackTrace", '{"threadId":1}'),
  '"success":false', "pause it first")
C.send("pause", '{"threadId":1}')
C.has("paused", C.until_('"event":"stopped"'), '"reason":"pause"')
C.send("continue")
C.check("gone in the middle", C.close() == "0")

-- Pause is taken from the start on, on every rank, also where no operator runs.
local ever = assert(io.open(dir .. "/ever.py", "w"))
ever:write("n = 0\nwhile True:\n    n += 1\n")
ever:close()
C.open(os.getenv "DTREPL" .. " --dap")
C.ask("initialize")
C.send("launch", ('{"program":"%s/ever.py","cwd":"%s","ranks":3}'):format(dir,
  dir))
C.until_('"event":"initialized"')
C.send("configurationDone")
C.send("pause", '{"threadId":1}')
C.has("paused at once", C.until_('"event":"stopped"'), '"reason":"pause"')
C.send("continue")
C.send("pause", '{"threadId":1}')
C.has("and again", C.until_('"event":"stopped"'), '"reason":"pause"')
C.check("gone after two", C.close() == "0")

-- What a program prints is an event while it runs.
local slow = assert(io.open(dir .. "/slow.lua", "w"))
slow:write('print("first line")\nlocal f repeat f = io.open("go") until f\n',
  'print("last line")\n')
slow:close()
C.open(os.getenv "DTREPL" .. " --dap")
C.ask("initialize")
C.send("launch", ('{"program":"%s/slow.lua","cwd":"%s","ranks":2}'):format(dir,
  dir))
C.until_('"event":"initialized"')
C.send("configurationDone")
C.has("output while it runs", C.until_('"event":"output"'), "first line")
assert(io.open(dir .. "/go", "w")):close()
C.has("and at its end", C.until_('"event":"output"'), "last line")
C.until_('"event":"terminated"')
C.ask("disconnect")
C.check("it has ended", C.close() == "0")

-- Messages that are none; an editor that goes in the middle.
C.open(os.getenv "DTREPL" .. " --dap")
C.has("no such request", C.ask("dance"), '"success":false', "dance")
C.raw("Content-Length: 5\r\n\r\n{nope")
m = C.until_('"event":"output"')
C.has("no JSON", m, "no JSON")
C.raw("Content-Length: 2\r\n\r\n[]")
C.has("no request", C.until_('"event":"output"'), "no request")
C.has("a program that is not there", C.ask("launch",
  '{"program":"/nonexistent.lua"}'), '"success":false', "cannot read")
C.has("wrong arguments", C.ask("setBreakpoints", '{"source":{"path":7}}'),
  '"success":false', "wrong arguments: a source without a path")
C.has("a number of ranks that is none", C.ask("launch",
  '{"program":"prog.lua","ranks":"many"}'), '"success":false', 'not \\"many')
launch("prog.lua", ',"ranks":4,"stopOnEntry":true')
C.send("configurationDone")
C.has("stopped at its first operator", C.until_('"event":"stopped"'),
  '"reason"')
C.raw("nonsense without a head, " .. ("x"):rep(5000))
C.has("what cannot be read ends it", C.until_('"event":"output"'),
  "the session ends")
C.check("and nobody is left waiting", C.close() == "0")

-- A port of this machine: what it is called stands on the error output.
local port = assert(io.popen("bash port.bash"))
C.has("on a port", port:read("a"), "Content-Length:")
port:close()
C.done()
EOF
cat > port.bash <<'EOF'
mkfifo said
"$DTREPL" --dap=0 2> said &
read -r line < said
exec 3<>"/dev/tcp/127.0.0.1/${line##*:}"
b='{"seq":1,"type":"request","command":"initialize","arguments":{}}'
printf 'Content-Length: %d\r\n\r\n%s' "${#b}" "$b" >&3
read -r head <&3
exec 3>&-
wait
echo "$head"
EOF
lua5.4 lua.lua "$tmp"

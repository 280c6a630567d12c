#!/bin/sh
# SPDX-License-Identifier: MIT
# TEST: timeout=120 tags=quick,one_thread
# A report of many lines pasted behind :import is one text, none of it Lua.
. "$(dirname "$0")/term.inc"
term_open 100 40
line "$DTREPL -q -n 4"
wait_for "dt>"
printf ':import Traceback (most recent call last):\n  File "x.py", line 3\nRuntimeError: aten.add.Tensor: got mixed torch.Tensor and DTensor, need to convert all torch.Tensor to DTensor before calling distributed operators!\n' >"$tmp/p"
t load-buffer "$tmp/p"; t paste-buffer -p; sleep 0.3; send Enter
wait_for "mixed-tensor-dtensor"
gone "SyntaxError"

# Alone, it asks; a paste is the text, whatever it looks like.
clear_screen
line ':import'
wait_for "paste the text"
printf 'It fails:\n\n>>> os.exit(7)\ndt> os.exit(7)\nRuntimeError: aten.mm.default: got mixed torch.Tensor and DTensor, need to convert all torch.Tensor to DTensor before calling distributed operators!\n\n--\nregards' >"$tmp/p"
t load-buffer "$tmp/p"; t paste-buffer -p; sleep 0.3; send Enter
wait_for "mixed-tensor-dtensor"
wait_for "aten.mm.default"
# Typed: up to a dot, or Ctrl-D; Ctrl-C forgets it.
clear_screen
line ':import'
wait_for "paste the text"
line 'something'
until_true "$PATIENCE" prompted
send C-c
wait_for "^C"
line ':import'
line 'RuntimeError: Cannot create a submesh from a submesh.'
line ''
line 'what now?'
line '.'
wait_for "submesh-of-submesh"
clear_screen
line ':import'
wait_for "paste the text"
line 'RuntimeError: Cannot create a submesh from a submesh.'
send_eof
wait_for "submesh-of-submesh"
line '"the session" .. " goes on"'
wait_for "the session goes on"

# A traceback from a terminal that sends no brackets comes line by line.
clear_screen
line 'Traceback (most recent call last):'
wait_for "a line with a dot"
line '  File "x.py", line 3, in <module>'
line '    y = x.sum(0)'
line ''
line 'RuntimeError: Cannot create a submesh from a submesh.'
line '.'
wait_for "submesh-of-submesh"
gone "SyntaxError"

# Prompts pasted with a block are no part of it.
clear_screen
printf 'dt[4]> for i = 1, 2 do\n..> print("round " .. i)\n..> end\n' >"$tmp/p"
t load-buffer "$tmp/p"; t paste-buffer -p; sleep 0.3; send Enter
wait_for "round 2"

# A session as the README shows it, with its output: the lines are run.
paste_text () {
  clear_screen
  printf '%s\n' "$1" >"$tmp/p"
  t load-buffer "$tmp/p"; t paste-buffer -p; sleep 0.3; send Enter
}
paste_text 'dtrepl 0.1.0  4 ranks (threads)  :help for help
dt> mesh = dt.init_device_mesh("cpu", {2, 2}, {mesh_dim_names = {"dp", "tp"}})
dt> x = dt.distribute_tensor(dt.ones(8, 4), mesh, "S(0) R")
dt> mask = dt.ones(8, 4):tril()
dt> y = x * mask
DT0101 mixed torch.Tensor and DTensor in aten.mul.Tensor
  arg 0 self  x
dt> :fix 1
dt> y.shape'
wait_for "goes on  prompt:"
wait_for "torch.Size([8, 4])"
gone "SyntaxError"
paste_text 'a = 41
a + 1'
wait_for "42"
gone "SyntaxError"
paste_text '-- a block whose last line is a value
local function twice(v)
  return v * 2
end

local w = twice(21)
w + 0.5'
wait_for "42.5"
paste_text '>>> import torch
>>> n = 6
>>> def f(v):
...     return v * 7 + 0.25
...
>>> f(n)
1'
wait_for "taken for Python"
wait_for "42.25"
paste_text 'import torch
def g(v):
    return v + 0.5
g(n)'
wait_for "6.5"
paste_text 'Traceback (most recent call last):
  File "train.py", line 12, in <module>
    y = x * mask
RuntimeError: aten.mul.Tensor: got mixed torch.Tensor and DTensor, need to convert all torch.Tensor to DTensor before calling distributed operators!'
wait_for "taken for a report"
wait_for "mixed-tensor-dtensor"
gone "SyntaxError"
clear_screen
paste_text '"""It said: Traceback (most recent call last): and so on."""
import torch
print(torch.ones(2) * 2.25)'
wait_for "taken for Python"
wait_for "tensor([2.2500, 2.2500])"
# A megabyte (a fourth of it under a sanitizer): all of it; many lines of Python;
# Ctrl-C in the middle of a paste drops it, also where its end never comes.
many=64000 fewer=16000
[ -n "$DTREPL_SANITIZER" ] && many=16000 fewer=4000
clear_screen
{ echo 'n = 0'; yes 'n = n + 1 -- 23' | head -n $many; echo 'print("all " .. n)'; } >"$tmp/p"
t load-buffer "$tmp/p"; t paste-buffer -p; send Enter
wait_for "all $many"
clear_screen
{ echo 'import torch'; echo 'n = 0'; yes 'n = n + 2 # 23' | head -n $fewer; echo 'print("all of", n)'; } >"$tmp/p"
t load-buffer "$tmp/p"; t paste-buffer -p; send Enter
wait_for "all of $((2 * fewer))"
# The same from a terminal without brackets: nothing is lost, and the whole of a
# traceback is there, so that no line with a dot is waited for.
clear_screen
{ echo 'n = 0'; yes 'n = n + 3 -- 23' | head -n $many; echo 'print("plain " .. n)'; } >"$tmp/p"
t load-buffer "$tmp/p"; t paste-buffer
wait_for "plain $((3 * many))"
# What a transcript has kept is pasted back: it has no colours, and lines that go
# on have a prompt.
clear_screen
line ":transcript $tmp/kept"
line 'mk = dt.init_device_mesh("cpu", {4})'
line 'function fk(a)'
line '  return a * 3'
line 'end'
line 'xk = dt.distribute_tensor(dt.ones(8, 2), mk, "S(0)")'
line 'fk(14)'
wait_for "42"
line ':transcript'
wait_prompt
check "no colours" test "$(grep -c "$(printf '\033')" "$tmp/kept")" = 0
check "what was noted" grep -q '^#.* distribute_tensor: 1 scatter_' "$tmp/kept"
paste_text "$(sed 's/14/15/' "$tmp/kept")"
wait_for "45"
gone "SyntaxError"
clear_screen
printf '%s\n' 'Traceback (most recent call last):
  File "projects/llama/scripts/pretraining/train.py", line 12, in <module>
    y = self.attention(x) * mask
RuntimeError: aten.mul.Tensor: got mixed torch.Tensor and DTensor, need to convert all torch.Tensor to DTensor before calling distributed operators!' >"$tmp/p"
t load-buffer "$tmp/p"; t paste-buffer
wait_for "taken for a report"
wait_for "mixed-tensor-dtensor"
line '"a line " .. "of its own"'
wait_for '"a line of its own"'
clear_screen
send -H 1b 5b 32 30 30 7e 6e 20 3d 0d 20 20 31 03 31
wait_for "^C"
line '"the session" .. " is alive"'
wait_for "the session is alive"
clear_screen
line 'q = dt.distribute_tensor(dt.ones(8), dt.init_device_mesh("cpu", {dt.world_size()}), "S(0)")'
wait_for "1 scatter_ on dim 0,"
send_eof
code_is 0
same_tty
done_testing

#!/bin/sh
# SPDX-License-Identifier: MIT
# TEST: timeout=60 tags=quick
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
send C-d
wait_for "submesh-of-submesh"
line '"the session" .. " goes on"'
wait_for "the session goes on"

# Prompts pasted with a block are no part of it.
clear_screen
printf 'dt[4]> for i = 1, 2 do\n..> print("round " .. i)\n..> end\n' >"$tmp/p"
t load-buffer "$tmp/p"; t paste-buffer -p; sleep 0.3; send Enter
wait_for "round 2"
send C-d
code_is 0
same_tty
done_testing

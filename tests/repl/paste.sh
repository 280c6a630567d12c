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
send C-d
code_is 0
done_testing

#!/bin/sh
# SPDX-License-Identifier: MIT
# TEST: timeout=60 tags=quick
# A terminal of forty columns: long lines go on between columns or words, not
# in the middle of one; files and pipes have whole lines.
. "$(dirname "$0")/term.inc"
term_open 40 50
line "cd $tmp; clear"
line "$DTREPL -q -n 4"
wait_for "dt>"
line ':transcript t'
line 'm = dt.init_device_mesh("cpu", {4})'
line 'x = dt.distribute_tensor(dt.ones(8, 4), m, "S(0)")'
line 'x * dt.ones(8, 4)'
wait_for "says: aten.mul.Tensor got"
wait_for "      need to convert all torch.Tensor"
wait_for '    2 distribute_tensor(other, mesh,'
wait_for "silently wrong"
clear_screen
line '"一二三四五六七八九十 一二三四五六七八九十 end"'
wait_for '    一二三四五六七八九十 end"'
clear_screen
line ':show x'
wait_for '  2  (2,)  [2, 4]  [4:6, 0:4]'
clear_screen
line ':transcript'
line ':set wrap off'
line '("word "):rep(9) .. "end"'
wait_for '"word word word word word word word word'
gone '    word end"'
send_eof
code_is 0
check "whole lines in the transcript" \
  grep -q 'says: aten.mul.Tensor got mixed .* distributed operators!' "$tmp/t"
same_tty
# Nor without a prompt; what the program prints is its own.  One rank: of several,
# what one has printed long before the others is shown under its name.
cat >"$tmp/bare.py" <<'END'
import torch
from torch.distributed.tensor import distribute_tensor, Shard, init_device_mesh
print("a line of the program that is longer than the terminal")
x = distribute_tensor(torch.ones(8, 4), init_device_mesh("cpu", (1,)), [Shard(0)])
x * torch.ones(8, 4)
END
run_shell clear
line "$DTREPL -n 1 bare.py"
wait_for "      need to convert all torch.Tensor"
wait_for "a line of the program that is longer tha"
code_is 1
done_testing

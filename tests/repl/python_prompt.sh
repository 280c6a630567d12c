#!/bin/sh
# SPDX-License-Identifier: MIT
# TEST: timeout=60 tags=quick
# A prompt of Python at a terminal: blocks, Tab, the program's language, sessions
# that are saved and pasted.
. "$(dirname "$0")/term.inc"
cd "$tmp" || exit 1
term_open 100 40
line "$DTREPL -q --python -n 2"
wait_for "py>"
line "?nn.Embedding"
wait_for "padding_idx"
check "help is no use of a name" \
  test -z "$(screen | grep 'without an import')"
line "import torch"
line "for i in range(2):"
wait_for "..>"
line "    print('round', i)"
line ""
wait_for "round 1"
line "class Net(torch.nn.Module):"
line "    def __init__(self):"
line "        super().__init__()"
line "        self.inner = torch.nn.Linear(2, 3)"
line ""
line "net = Net()"
send -l "net.inner.weig"; send Tab
wait_for "net.inner.weight"
line ".shape"
wait_for "torch.Size([3, 2])"
send -l "torch.nn.functional.scaled_"; send Tab
wait_for "scaled_dot_product_attention"
send C-u
line ":save s.dt"
wait_for "in s.dt"
line "exit"
code_is 0
check "the session says that it is Python" grep -q '^:set python on' s.dt
run_shell "printf ':load s.dt\nnet.inner.bias.shape\n' | $DTREPL -q -n 2"
wait_for "torch.Size([3])"
same_tty

# After a program the prompt has its language.
printf 'import torch\nw = torch.ones(2, 3)\n' >a.py
line "$DTREPL -q -i a.py"
wait_for "py>"
line "w[-1].tolist()"
wait_for "[1.0, 1.0, 1.0]"
printf '>>> def f(a):\n...     return a + 1\n...\n>>> f(41)\n42\n' >p
t load-buffer p; t paste-buffer -p; sleep 0.3; send Enter
wait_for "42"
line "f(42)"
wait_for "43"
line ":set python off"
wait_for "dt>"
send_eof
code_is 0
same_tty
done_testing

#!/bin/sh
# SPDX-License-Identifier: MIT
# TEST: timeout=180
# A real editor on the debug adapter: Emacs with dap-mode and the snippet that
# is installed; a Lua program on threads, a Python one on processes.  A breakpoint
# set in the editor stops, the frame is the line, a value is evaluated and unfolds,
# a step, a step back, the end.
: "${DTREPL:=$PWD/build/dtrepl}"
snippet=$PWD/lua/repl/dap/dap-dtrepl.el
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
HOME=$tmp
export DTREPL HOME
command -v emacs > /dev/null &&
  emacs -q --batch --eval "(require 'dap-mode)" > /dev/null 2>&1 || {
  echo "SKIP: no Emacs with dap-mode"
  exit 77
}
mkdir "$tmp/bin" && ln -s "$(realpath "$DTREPL")" "$tmp/bin/dtrepl"
PATH=$tmp/bin:$PATH
export PATH
cd "$tmp" || exit 1
cat > prog.lua <<'EOF2'
local mesh = dt.init_device_mesh("cpu", {2})
local x = dt.distribute_tensor(dt.ones(8, 4), mesh, "S(0)")
local y = x + 1
local z = y * 2
print("end of it")
EOF2
cat > prog.py <<'EOF2'
import torch
from torch.distributed.tensor import distribute_tensor, init_device_mesh, Shard
x = distribute_tensor(torch.ones(8, 4), init_device_mesh("cpu", (2,)), [Shard(0)]); y = x + 1
z = y * 2
print("end of it")
EOF2
cat > client.el <<EOF2
(setq lsp-session-file "$tmp/lsp" dap-breakpoints-file "$tmp/bp"
      dap-auto-configure-features nil dap-auto-show-output nil)
(load "$snippet")
(defvar over nil)
(add-hook 'dap-terminated-hook (lambda (_) (setq over t)))
(defun until (what f)
  "Wait for F, for a minute at most."
  (let ((end (+ (float-time) 60)))
    (while (and (not (funcall f)) (< (float-time) end))
      (accept-process-output nil 0.05)))
  (message "%s %s, at line %s" (if (funcall f) "ok" "FAILED") what (line))
  (unless (funcall f) (kill-emacs 1)))
(defun frame ()
  (let ((s (dap--cur-session)))
    (and s (dap--debug-session-active-frame s))))
(defun line () (and (frame) (gethash "line" (frame))))
(defun ask (command args)
  "The body of the answer to COMMAND."
  (let ((got nil))
    (dap--send-message (dap--make-request command args)
                       (lambda (r) (setq got r)) (dap--cur-session))
    (until command (lambda () got))
    (gethash "body" got)))
(find-file (getenv "PROG"))
(dap-mode 1)
(goto-char (point-min))
(forward-line 3)
(dap-breakpoint-add)
(dap-debug (list :type "dtrepl" :request "launch" :name "test"
                 :program (getenv "PROG") :ranks 2
                 :world (getenv "WORLD")))
(until "stop at line 4" (lambda () (eql (line) 4)))
(let* ((y (ask "evaluate" (list :expression "y" :context "hover"
                                :frameId (gethash "id" (frame)))))
       (parts (ask "variables" (list :variablesReference
                                     (gethash "variablesReference" y)))))
  (until "y is sharded" (lambda () (string-match-p
    "S(0)" (gethash "result" y))))
  (until "y unfolds" (lambda () (> (length (gethash "variables" parts)) 0))))
(dap-next (dap--cur-session))
(until "a step" (lambda () (eql (line) 5)))
(ask "stepBack" (list :threadId 1))
(until "a step back" (lambda () (eql (line) 4)))
(dap-continue (dap--cur-session) 1)
(until "the present" (lambda () (eql (line) 5)))
(dap-continue (dap--cur-session) 1)
(until "the end" (lambda () over))
EOF2
failed=0
for kind in "prog.lua threads" "prog.py mpi"; do
  PROG=$tmp/${kind% *} WORLD=${kind#* } emacs -q --batch -l client.el > out 2>&1
  if [ $? = 0 ]; then
    echo "ok - $kind"
  else
    echo "not ok - $kind"
    tail -40 out
    failed=$((failed + 1))
  fi
  rm -f bp
done
echo "$((2 - failed)) passed, $failed failed"
[ $failed = 0 ]

;;; dap-dtrepl.el --- dtrepl under dap-mode  -*- lexical-binding: t -*-
;; SPDX-License-Identifier: MIT

;;; Code:

(require 'dap-mode)
(require 'dap-ui)                         ; it has the filters of exceptions

(defun dap-dtrepl--populate (conf)
  "Complete the launch configuration CONF."
  (plist-put (plist-put conf :program (or (plist-get conf :program)
                                          (buffer-file-name)))
             :dap-server-path '("dtrepl" "--dap")))

(dap-register-debug-provider "dtrepl" #'dap-dtrepl--populate)
(dap-register-debug-template
 "dtrepl: this file" (list :type "dtrepl" :request "launch" :ranks 4))

(provide 'dap-dtrepl)
;;; dap-dtrepl.el ends here
